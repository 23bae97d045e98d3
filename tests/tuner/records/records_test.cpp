// SPDX-License-Identifier: Apache-2.0
#include "tuner/records/records.hpp"

#include "tests/support/matchers.hpp"
#include "tuner/model/gpu_specs.hpp"

namespace autotune {
namespace {

TEST(Records, ADeviceComesBackWithTheLimitsOfItsRowInTheTable) {
  DeviceInfo info = device_info(find_gpu("h200"));
  info.kind = DeviceKind::cuda;
  info.id = "10de:2335";
  const DeviceInfo back = device_of(device_row(info));
  EXPECT_EQ(device_row(back), device_row(info));
  EXPECT_EQ(back.kind, DeviceKind::cuda);
  EXPECT_EQ(back.shared_bytes_per_block, info.shared_bytes_per_block);
  EXPECT_EQ(back.clock_hz, info.clock_hz);
}

TEST(Records, ASliceOfAGpuHasItsProfileInItsRow) {
  DeviceInfo info;
  info.name = "NVIDIA H200 MIG 1g.18gb";
  EXPECT_EQ(device_row(info).mig_profile, "1g.18gb");
  EXPECT_EQ(device_row(device_of(device_row(info))), device_row(info));
  info.name = "NVIDIA H200";
  EXPECT_EQ(device_row(info).mig_profile, "");
}

TEST(Records, AGpuThatTheTableDoesNotKnowHasTheLimitsOfItsArchitecture) {
  db::DeviceRow row;
  row.name = "NVIDIA Z9000";
  row.kind = "cuda";
  row.compute_capability = 90;
  row.multiprocessors = 7;
  EXPECT_EQ(device_of(row).shared_bytes_per_block, 227 << 10);
  EXPECT_EQ(device_of(row).multiprocessors, 7);
  row.compute_capability = 999;
  EXPECT_EQ(device_of(row).compute_capability, 999);
}

TEST(Records, ACpuHasRoomForLargeTiles) {
  db::DeviceRow row;
  row.kind = "host";
  EXPECT_EQ(device_of(row).kind, DeviceKind::host);
  EXPECT_EQ(device_of(row).shared_bytes_per_block, 256 << 10);
}

TEST(Records, FinalistsAreTheBestTheDefaultAndTiesEachOnce) {
  db::BestRow best;
  best.configuration = "BM=64";
  best.default_configuration = "BM=16";
  best.ties = "BM=32\nBM=16\nBM=8";
  EXPECT_EQ(finalists_of(best), (std::vector<std::string>{"BM=64", "BM=16", "BM=32", "BM=8"}));
  best.default_configuration = best.configuration;
  best.ties.clear();
  EXPECT_EQ(finalists_of(best), std::vector<std::string>{"BM=64"});
}

TEST(Records, AnIntervalOfFewSamplesHasItsConfidence) {
  Measurement times{1.5e-3, 1e-3, 2e-3, 6};
  EXPECT_EQ(interval_text(times), "1.000 ms, 2.000 ms");
  times.samples = 5;
  EXPECT_EQ(interval_text(times), "1.000 ms, 2.000 ms: 93.8 % confidence");
  times.samples = 0;
  EXPECT_EQ(interval_text(times), "1.000 ms, 2.000 ms") << "not known";
}

db::TrialRow trial(const std::string& outcome, const std::string& message) {
  db::TrialRow row;
  row.outcome = outcome;
  row.message = message;
  return row;
}

TEST(Reasons, MessagesThatDifferInFiguresAreOneReason) {
  const auto reasons = reasons_of({trial("ok", ""), trial("compile_error", "no such name"),
                                   trial("invalid", "12 KiB over the limit"),
                                   trial("invalid", "48 KiB over the limit")});
  ASSERT_EQ(reasons.size(), 2u);
  EXPECT_EQ(reasons[0].example, "12 KiB over the limit");
  EXPECT_THAT(reasons[0].trials, ElementsAre(2, 3));
  EXPECT_EQ(reasons[1].outcome, "compile_error");
  EXPECT_EQ(reasons[1].count(), 1);
}

TEST(Reasons, OneMessageOfTwoOutcomesIsTwoReasons) {
  EXPECT_EQ(reasons_of({trial("timeout", ""), trial("crash", "")}).size(), 2u);
}

}  // namespace
}  // namespace autotune
