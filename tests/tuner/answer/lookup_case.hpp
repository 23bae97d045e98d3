// SPDX-License-Identifier: Apache-2.0
// Look-ups of a small target in a database that a test fills.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/db/hostile.hpp"
#include "tuner/answer/target_lookup.hpp"

namespace autotune {

using db::Origin;
using db::TemporaryFolder;

/// C = A B in blocks of BM, which must divide M.
inline Target target_of(const std::string& fingerprint = "f1") {
  Target target;
  target.name = "gemm";
  target.sizes = {"M", "N", "K"};
  target.settings = {{"dtype", {"f32", "f64"}}};
  target.parameters = {{"BM", {16, 32, 64, 128}, {}, false}};
  target.constraints = {Expression::parse("M % BM == 0")};
  target.default_configuration = {{"BM", 16}};
  target.fingerprint = fingerprint;
  return target;
}

inline DeviceInfo tuned_gpu() {
  DeviceInfo info;
  info.name = "NVIDIA H200";
  info.kind = DeviceKind::cuda;
  info.compute_capability = 90;
  info.multiprocessors = 132;
  info.environment = "driver 580.82, CUDA 13.0";
  return info;
}

class TargetLookupTest : public testing::Test {
 protected:
  void tune(std::int64_t m, const std::string& configuration, const std::string& device = "",
            const std::string& provenance = "measured") {
    tune_in(path_, m, configuration, device, provenance);
  }
  static void tune_in(const std::filesystem::path& file, std::int64_t m,
                      const std::string& configuration, const std::string& device = "",
                      const std::string& provenance = "measured") {
    db::TunedStore store(file);
    db::Sample sample(store);
    if (!device.empty()) {
      db::DeviceRow row = db::h200();
      row.name = device;
      sample.key.device = store.add_device(row);
    }
    sample.key.problem = format("M={0} N={0} K={0} dtype=f32", m);
    db::DecisionRow decision = sample.decision(configuration, 10000, db::now_text());
    decision.provenance = provenance;
    store.add_decision(decision);
  }
  TargetLookup open(const std::string& fingerprint = "f1") { return open(target_of(fingerprint)); }
  TargetLookup open(const Target& target, const NamedValues& settings = {}) const {
    return {target, settings, tuned_gpu(), "l2=hot launch=graph", {{path_}}};
  }
  static std::string problem(std::int64_t m, const std::string& settings = "dtype=f32") {
    return format("M={0} N={0} K={0} {1}", m, settings);
  }
  /// What is stored of a problem: a pin, each later than the one before; a failure; a decision.
  void pin(const std::string& problem, const std::string& configuration,
           const std::string& note = "") {
    const auto [store, sample] = open_store(problem);
    store->pin(
        {"", sample.key, configuration, note, format("2026-03-01T12:{:02}:00.000Z", ++pins_)});
  }
  void fail(const std::string& problem, const std::string& configuration) const {
    const auto [store, sample] = open_store(problem);
    store->append(std::vector{sample.failure(configuration, "wrong")});
  }
  void decide(const std::string& problem, const std::string& configuration,
              const db::BaselineFigures& baseline = {}) const {
    const auto [store, sample] = open_store(problem);
    db::DecisionRow row = sample.decision(configuration, 10000, db::now_text());
    row.baseline = baseline;
    store->add_decision(row);
  }
  /// Of a problem whose three sizes are alike.
  static LookupAnswer at(TargetLookup& lookup, std::int64_t size) {
    return lookup.find(std::vector{size, size, size});
  }

  TemporaryFolder folder_;
  std::filesystem::path path_ = folder_ / "t.db";

 private:
  std::pair<std::unique_ptr<db::TunedStore>, db::Sample> open_store(
      const std::string& problem) const {
    auto store = std::make_unique<db::TunedStore>(path_);
    db::Sample sample(*store);
    sample.key.problem = problem;
    return {std::move(store), sample};
  }
  int pins_ = 1;
};

}  // namespace autotune
