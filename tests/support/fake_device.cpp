// SPDX-License-Identifier: Apache-2.0
#include "tests/support/fake_device.hpp"

#include <sstream>

namespace autotune::testing {
namespace {

/// `#define NAME NUMBER` lines; a macro that names another takes its number.
Macros macros_of(const std::string& prelude) {
  Macros macros;
  std::istringstream lines(prelude);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string define, name, value;
    words >> define >> name >> value;
    if (define != "#define" || value.empty()) continue;
    const auto other = macros.find(value);
    macros[name] = other != macros.end() ? other->second : std::strtoll(value.c_str(), nullptr, 0);
  }
  return macros;
}

class FakeCandidate final : public Candidate {
 public:
  explicit FakeCandidate(Fate fate) : fate_(std::move(fate)) {}
  Verdict verify(int, double give_up_seconds) override {
    if (fate_.outcome == Outcome::crash || fate_.outcome == Outcome::timeout ||
        fate_.outcome == Outcome::launch_error || fate_.outcome == Outcome::killed) {
      throw KernelFailure(fate_.outcome, fate_.message);
    }
    if (stopped()) return {Outcome::wrong, "C[0] is nan", 0, 0};
    if (give_up_seconds > 0 && fate_.outcome == Outcome::ok && fate_.seconds > give_up_seconds) {
      return {Outcome::pruned, "", 0, fate_.seconds};
    }
    return {fate_.outcome, fate_.message, fate_.worst_error, fate_.seconds};
  }
  TimedBatch time(int launches, L2State l2) override {
    return time_in(CallContext::chain, launches, l2);
  }
  TimedBatch time_in(CallContext context, int, L2State l2) override {
    const double factor = fate_.on_time ? fate_.on_time(context, l2, batches_) : 1;
    ++batches_;
    TimedBatch batch;
    if (fate_.has_cold) batch.l2 = l2;
    batch.seconds = factor * (stopped() ? fate_.seconds / 10 : fate_.seconds);
    return batch;
  }

  Energy energy(double least_seconds, L2State l2) override {
    if (fate_.energy_outcome != Outcome::ok) throw KernelFailure(fate_.energy_outcome, "gone");
    if (fate_.joules == 0) return Candidate::energy(least_seconds, l2);
    return {fate_.joules, 300, least_seconds, 0.01};
  }

 private:
  bool stopped() const { return fate_.stops_after > 0 && batches_ > fate_.stops_after; }

  Fate fate_;
  int batches_ = 0;
};

class FakeWorkbench final : public Workbench {
 public:
  explicit FakeWorkbench(FakeDevice& device) : device_(device) {}
  std::unique_ptr<Candidate> load(const CompiledKernel& kernel, const LaunchPlan&) override {
    device_.count_load();
    return std::make_unique<FakeCandidate>(device_.truth()(macros_of(*kernel.binary)));
  }
  double launch_floor() override { return 0; }
  std::vector<std::string> baselines(const BaselineSource&) override {
    std::vector<std::string> names;
    for (const auto& [name, fate] : device_.baselines()) names.push_back(name);
    return names;
  }
  std::unique_ptr<Candidate> load_baseline(const BaselineSource&, std::size_t number) override {
    return std::make_unique<FakeCandidate>(device_.baselines().at(number).second);
  }

 private:
  FakeDevice& device_;
};

}  // namespace

FakeDevice::FakeDevice(Truth truth) : truth_(std::move(truth)) {
  info_.name = "fake";
  info_.kind = DeviceKind::fake;
  info_.memory_bytes = std::int64_t{1} << 34;
}

CompiledKernel FakeDevice::compile(const SourceUnit& unit) {
  ++compiled_;
  CompiledKernel kernel;
  const Fate fate = truth_(macros_of(unit.prelude));
  kernel.outcome = fate.outcome == Outcome::compile_error ? fate.outcome : Outcome::ok;
  kernel.log = fate.outcome == Outcome::compile_error ? fate.message : "";
  kernel.key = "fake";
  kernel.binary = std::make_shared<const std::string>(unit.prelude);
  for (const std::string& entry : unit.entries) {
    KernelResources resources;
    resources.entry = entry;
    kernel.resources.push_back(resources);
  }
  return kernel;
}

std::unique_ptr<Workbench> FakeDevice::open(const Workload&) {
  ++opened_;
  return std::make_unique<FakeWorkbench>(*this);
}

}  // namespace autotune::testing
