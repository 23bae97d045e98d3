// SPDX-License-Identifier: Apache-2.0
// Look-ups of a small target in a database that a test fills.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

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
  TargetLookup open(const std::string& fingerprint = "f1") {
    return TargetLookup(target_of(fingerprint), {}, tuned_gpu(), "l2=hot launch=graph", {{path_}});
  }

  TemporaryFolder folder_;
  std::filesystem::path path_ = folder_ / "t.db";
};

}  // namespace autotune
