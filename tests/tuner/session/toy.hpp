// SPDX-License-Identifier: Apache-2.0
// A target with a known optimum, and a database for each test.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "db/store.hpp"
#include "tests/support/fake_device.hpp"
#include "tests/support/scratch_folder.hpp"
#include "tuner/session/trial_evaluator.hpp"
#include "tuner/session/trial_ledger.hpp"
#include "tuner/session/tuning_request.hpp"

namespace autotune {

/// X in 1..16, Y in 1..4, X * Y <= 32; one launch over N.
inline Target two_parameters() {
  Target target;
  target.name = "toy";
  target.source_path = "toy.cu";
  target.source_text = "// toy";
  target.sizes = {"N"};
  Parameter x{.name = "X", .values = {}, .when = {}};
  Parameter y{.name = "Y", .values = {}, .when = {}};
  for (int value = 1; value <= 16; ++value) x.values.emplace_back(value);
  for (int value = 1; value <= 4; ++value) y.values.emplace_back(value);
  target.parameters = {x, y};
  target.constraints = {Expression::parse("X * Y <= 32")};
  target.default_configuration = {{"X", 1}, {"Y", 1}};
  KernelSpec kernel;
  kernel.entry = "toy";
  kernel.grid = {Expression::parse("N")};
  kernel.block = {Expression::parse("32 * X")};
  target.kernels = {kernel};
  target.reference.kernels = {kernel};
  target.flops = Expression::parse("N");
  target.fingerprint = "toy-1";
  return target;
}

/// Its kernels know N, so that those of the edge problem are others.
inline Target with_baked_sizes() {
  Target target = two_parameters();
  target.bake_sizes = Expression::parse("1");
  return target;
}

/// Best at X=11, Y=2: 10 us, plus 1 us for each step away.
inline testing::Fate bowl(const testing::Macros& macros) {
  const double distance = std::abs(static_cast<double>(macros.at("X") - 11)) +
                          std::abs(static_cast<double>(macros.at("Y") - 2));
  return {Outcome::ok, 1e-5 + distance * 1e-6, ""};
}

/// The same, but for configurations of which one macro has this value.
inline testing::FakeDevice::Truth bowl_but(const char* macro, std::int64_t value,
                                           testing::Fate fate) {
  return [=](const testing::Macros& macros) {
    return macros.at(macro) == value ? fate : bowl(macros);
  };
}

inline TuningRequest request_for(const Target& target, std::vector<std::int64_t> sizes,
                                 double evaluations = 1e6) {
  TuningRequest request;
  for (const std::int64_t size : sizes) {
    request.problems.push_back(problem_of(target, {{"N", size}}, {}));
  }
  request.strategy = "exhaustive";
  request.budget = {Budget::Kind::evaluations, evaluations};
  request.compile_threads = 2;
  return request;
}

/// Adds every warning to a list.
inline TuningCallbacks warning_to(std::vector<std::string>& warnings) {
  TuningCallbacks callbacks;
  callbacks.on_warning = [&](const std::string& sentence) { warnings.push_back(sentence); };
  return callbacks;
}

/// Trials that ended so.
inline int count(const ProblemReport& report, Outcome outcome) {
  return report.outcomes[static_cast<std::size_t>(outcome)];
}

/// One problem of a toy, N=64, on a device. Without a store nothing is kept.
class ToyRun {
 public:
  explicit ToyRun(Device& device, Target target = two_parameters(), db::TunedStore* store = nullptr,
                  bool retune = false, std::vector<BaselineSource> baselines = {})
      : target_(std::move(target)),
        baselines_(std::move(baselines)),
        recorder_(begin(store, device)),
        pool_(device, 2),
        run_({target_, device, pool_, recorder_, policy_, 1, baselines_},
             problem_of(target_, {{"N", 64}}, {}),
             space_of(target_, problem_of(target_, {{"N", 64}}, {}), device.info()), {}, retune) {}

  ProblemRun& operator*() { return run_; }
  ProblemRun* operator->() { return &run_; }
  std::size_t index(int x, int y) const { return run_.space().find({{"X", x}, {"Y", y}}).value(); }
  /// Makes the trials of the whole space.
  void search() {
    std::vector<std::size_t> all(run_.space().size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    TrialEvaluator(run_, all.size()).evaluate(all);
  }

 private:
  Recorder begin(db::TunedStore* store, const Device& device) const {
    const SessionRows rows = begin_session(store, target_, device, request_for(target_, {64}));
    return {store, rows.session, {rows.device, rows.kernel, "N=64", key_text(policy_)}, 0};
  }

  const Target target_;
  const std::vector<BaselineSource> baselines_;
  const Policy policy_;
  Recorder recorder_;
  CompilePool pool_;
  ProblemRun run_;
};

/// A database file for each test, removed at the end.
class StoreTest : public ::testing::Test {
 protected:
  db::TunedStore open_store() const { return db::TunedStore(folder_ / "tuned.db"); }

 private:
  const ScratchFolder folder_;
};

}  // namespace autotune
