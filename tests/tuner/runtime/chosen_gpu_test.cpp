// SPDX-License-Identifier: Apache-2.0
#include "tuner/runtime/chosen_gpu.hpp"

#include <gmock/gmock.h>

#include <vector>

#include "tuner/core/error.hpp"

namespace autotune {
namespace {

using testing::HasSubstr;

DeviceInfo gpu_called(const std::string& name) {
  DeviceInfo info;
  info.name = name;
  return info;
}

const std::vector<DeviceInfo> kGpus{gpu_called("A100"), gpu_called("H200"), gpu_called("H200")};

TEST(ChosenGpu, ANameAndAnOrdinalBothCount) {
  EXPECT_EQ(chosen_gpu(kGpus, "H200", 0), 1) << "the first of them";
  EXPECT_EQ(chosen_gpu(kGpus, "H200", 1), 1);
  EXPECT_EQ(chosen_gpu(kGpus, "H200", 2), 2);
  EXPECT_EQ(chosen_gpu(kGpus, "A100", 0), 0);
  EXPECT_EQ(chosen_gpu(kGpus, "", 2), 2);
}

TEST(ChosenGpu, NoneIsMeantByANameThatNoneHas) {
  EXPECT_EQ(chosen_gpu(kGpus, "H100", 0), std::nullopt);
  EXPECT_EQ(chosen_gpu(kGpus, "H100", 7), std::nullopt);
  EXPECT_EQ(chosen_gpu({}, "", 3), std::nullopt);
}

TEST(ChosenGpu, ContradictionsAreErrors) {
  const auto message = [](const std::string& name, int ordinal) -> std::string {
    try {
      chosen_gpu(kGpus, name, ordinal);
      return "nothing was thrown";
    } catch (const Error& error) {
      return error.what();
    }
  };
  EXPECT_THAT(message("A100", 2), HasSubstr("GPU 2 here is called H200, not A100"));
  EXPECT_THAT(message("H200", 3), HasSubstr("there is no GPU 3 here: the last one is 2"));
  EXPECT_THAT(message("", 3), HasSubstr("there is no GPU 3 here: the last one is 2"));
}

}  // namespace
}  // namespace autotune
