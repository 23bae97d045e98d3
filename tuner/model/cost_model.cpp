// SPDX-License-Identifier: Apache-2.0
#include "tuner/model/cost_model.hpp"

#include <algorithm>
#include <future>
#include <thread>

#include "tuner/core/per_family.hpp"
#include "tuner/model/cost_formulas.hpp"

namespace autotune {
namespace {

/// Of a core, in bytes: two loads and a store of 64 bytes; of no CPU is the clock higher.
constexpr double kHostBytesPerCycle = 192, kHostClock = 6e9;
/// Of a multiprocessor: 64 bytes from L2 and 64 to it.
constexpr double kGpuBytesPerCycle = 128;

}  // namespace

double least_bytes(const TargetProgram& program) {
  double all = 0, outputs = 0;
  for (const BufferSpec& buffer : program.buffers()) {
    const auto bytes = static_cast<double>(buffer.bytes());
    if (buffer.role != Role::workspace && buffer.role != Role::checked) all += bytes;
    if (buffer.role == Role::output) outputs += bytes;
  }
  const double stated = program.work().bytes;
  return stated > 0 ? std::min(stated, all) : outputs;
}

double time_floor(const TargetProgram& program, const DeviceInfo& device) {
  const bool is_host = device.kind == DeviceKind::host;
  const double clock = is_host ? kHostClock : device.clock_hz;
  if (clock <= 0) return 0;
  const double bytes_per_cycle =
      device.multiprocessors * (is_host ? kHostBytesPerCycle : kGpuBytesPerCycle);
  return std::max(1.0, least_bytes(program) / bytes_per_cycle) / clock;
}

namespace {

constexpr std::size_t kFewestOfAThread = 4096;  // configurations: a few milliseconds of work

/// For a CPU, only the name and the number of cores, as multiprocessors.
GpuSpec modelled(const DeviceInfo& device, const Calibration& calibration) {
  if (device.kind != DeviceKind::host && device.compute_capability > 0) {
    return calibrated(gpu_spec(device), calibration);
  }
  GpuSpec spec;
  spec.name = device.name;
  spec.multiprocessors = device.multiprocessors;
  return spec;
}

CostEstimate estimate_on(const GpuSpec& gpu, const Calibration& calibration,
                         const CostInput& input) {
  const bool host = gpu.sm.compute_capability == 0;
  return host ? host_estimate(gpu.multiprocessors, input) : estimate(gpu, calibration, input);
}

}  // namespace

std::span<const std::string_view> model_quantities() { return kQuantities; }

CostModel::CostModel(const Target& target, const Problem& problem, const ParameterSpace& space,
                     const DeviceInfo& device, const Calibration& calibration)
    : formulas_(std::make_unique<const CostFormulas>(target, problem, space.parameters(), device,
                                                     SizeBinding::fixed)),
      space_(&space),
      gpu_(modelled(device, calibration)),
      calibration_(calibration) {}

CostModel::~CostModel() = default;
CostModel::CostModel(CostModel&&) noexcept = default;

CostEstimate CostModel::estimate(std::size_t index) const { return estimate(index, {}); }

CostEstimate CostModel::estimate(std::size_t index,
                                 std::span<const KernelResources> compiled) const {
  return estimate(input(index, compiled));
}

CostEstimate CostModel::estimate(const CostInput& input) const {
  return estimate_on(gpu_, calibration_, input);
}

CostInput CostModel::input(std::size_t index, std::span<const KernelResources> compiled) const {
  return formulas_->input(space_->levels(index), {}, compiled);
}

std::vector<double> CostModel::predict_all() const {
  std::vector<double> seconds(space_->size());
  const auto predict = [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) seconds[i] = estimate(i).seconds;
  };
  const std::size_t threads = std::max(1u, std::thread::hardware_concurrency());
  const std::size_t share = std::max(kFewestOfAThread, (seconds.size() + threads - 1) / threads);
  std::vector<std::future<void>> others;
  for (std::size_t first = share; first < seconds.size(); first += share) {
    const std::size_t last = std::min(first + share, seconds.size());
    others.push_back(std::async(std::launch::async, predict, first, last));
  }
  predict(0, std::min(share, seconds.size()));
  for (std::future<void>& other : others) other.get();
  return seconds;
}

struct SizedCostModel::Families {
  Families(const Target& of, const Problem& with, const DeviceInfo& on)
      : target(of), problem(with), device(on), formulas(of) {}
  const CostFormulas& at(std::size_t index) const {
    return formulas.at(index, [&](std::optional<CostFormulas>& made) {
      made.emplace(target, problem, target.parameters, device, SizeBinding::given,
                   formulas.fixed(index));
    });
  }

  const Target& target;
  const Problem problem;
  const DeviceInfo device;
  const PerFamily<CostFormulas> formulas;
};

SizedCostModel::SizedCostModel(const Target& target, const Problem& problem,
                               const DeviceInfo& device)
    : families_(std::make_unique<const Families>(target, problem, device)),
      gpu_(modelled(device, {})) {
  families_->at(0);  // throws if a name is not bound, in whichever family
}

SizedCostModel::~SizedCostModel() = default;
SizedCostModel::SizedCostModel(SizedCostModel&&) noexcept = default;

SizedCostModel::AtSizes SizedCostModel::at(std::span<const std::int64_t> sizes) const {
  return AtSizes(*this, sizes);
}

CostEstimate SizedCostModel::estimate(std::span<const std::uint16_t> levels,
                                      std::span<const std::int64_t> sizes) const {
  return at(sizes).estimate(levels);
}

double SizedCostModel::ideal_seconds(std::span<const std::uint16_t> levels,
                                     std::span<const std::int64_t> sizes) const {
  return at(sizes).ideal_seconds(levels);
}

SizedCostModel::AtSizes::AtSizes(const SizedCostModel& model, std::span<const std::int64_t> sizes)
    : model_(&model), sizes_(sizes), families_(model.families_->formulas.count()) {}

CostEstimate SizedCostModel::AtSizes::estimate(std::span<const std::uint16_t> levels) {
  return estimate_on(model_->gpu_, {}, input(levels));
}

double SizedCostModel::AtSizes::ideal_seconds(std::span<const std::uint16_t> levels) {
  const KernelWork work = input(levels).work;
  const GpuSpec& gpu = model_->gpu_;
  return work.flops / gpu.flops_per_second() + work.dram_bytes / gpu.memory_bytes_per_second;
}

CostInput SizedCostModel::AtSizes::input(std::span<const std::uint16_t> levels) {
  const std::size_t index = model_->families_->formulas.index_of(levels);
  Family& family = families_[index];
  if (family.formulas == nullptr) {
    family.formulas = &model_->families_->at(index);
    family.slots = family.formulas->of_sizes(sizes_);
  }
  return family.formulas->input(levels, family.slots, {});
}

}  // namespace autotune
