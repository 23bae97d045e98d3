// SPDX-License-Identifier: Apache-2.0
#include "tuner/answer/device_of_layers.hpp"

#include <gmock/gmock.h>

#include <fstream>

#include "tests/db/sample.hpp"

namespace autotune {
namespace {

using testing::HasSubstr;

class DeviceOfLayers : public testing::Test {
 protected:
  DeviceOfLayers() { add("NVIDIA H200", {512}); }

  /// Rows of gemm that are tuned at these sizes.
  void add(const std::string& device, const std::vector<int>& sizes) {
    db::TunedStore store(layers_[0].path);
    db::Sample sample(store);
    db::DeviceRow row = db::h200();
    row.name = device;
    sample.key.device = store.add_device(row);
    for (const int m : sizes) {
      sample.key.problem = format("M={0} N={0} K={0} dtype=f32", m);
      store.add_decision(sample.decision("BM=64", 10000, db::now_text()));
    }
  }
  std::optional<DeviceInfo> find(const std::string& target, const std::string& name = "") {
    return device_of_layers(layers_, target, name, remarks_);
  }

  db::TemporaryFolder folder_;
  std::vector<db::Layer> layers_{{folder_ / "t.db"}};
  std::vector<std::string> remarks_;
};

TEST_F(DeviceOfLayers, WithoutANameItIsTheOneWithTheMostRows) {
  EXPECT_EQ(find("gemm").value().name, "NVIDIA H200");
  EXPECT_EQ(find("gemm").value().compute_capability, 90);
  add("NVIDIA A100", {256, 1024});
  EXPECT_EQ(find("gemm").value().name, "NVIDIA A100");
  EXPECT_EQ(find("gemm", "NVIDIA H200").value().name, "NVIDIA H200");
}

TEST_F(DeviceOfLayers, AnotherTargetOrNameHasNone) {
  EXPECT_FALSE(find("conv"));
  EXPECT_FALSE(find("gemm", "NVIDIA L4"));
  EXPECT_TRUE(remarks_.empty());
}

TEST_F(DeviceOfLayers, DatabasesThatCannotBeReadAreRemarkedUpon) {
  std::ofstream(folder_ / "text.db") << std::string(5000, 'x');
  layers_ = {{folder_ / "none.db"}, {folder_ / "text.db"}, layers_[0]};
  EXPECT_EQ(find("gemm").value().name, "NVIDIA H200");
  ASSERT_EQ(remarks_.size(), 2u);
  EXPECT_THAT(remarks_[0], HasSubstr("none.db"));
  EXPECT_THAT(remarks_[1], HasSubstr("text.db: is not a database"));
}

}  // namespace
}  // namespace autotune
