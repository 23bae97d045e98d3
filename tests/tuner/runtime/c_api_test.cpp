// SPDX-License-Identifier: Apache-2.0
#include "tuner/runtime/autotune.h"

#include <gmock/gmock.h>

#include "tests/db/sample.hpp"

namespace autotune {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

/// gemm of the source tree, tuned at 512 for a GPU that is not here.
class CApi : public testing::Test {
 protected:
  CApi() {
    setenv("AUTOTUNE_KERNEL_PATH", AUTOTUNE_SOURCE_DIR "/kernel_sources", 1);
    setenv("AUTOTUNE_CACHE", (folder_ / "cache").c_str(), 1);
    database_ = (folder_ / "t.db").string();
    db::TunedStore store(database_);
    db::Sample sample(store);
    sample.key.problem = "M=512 N=512 K=512 dtype=f32 layout=NN scale=none batch=1 pad=0";
    store.add_decision(sample.decision("BM=1", 10000));
    options_.size = sizeof options_;
    options_.target = "gemm";
    options_.user_database = database_.c_str();
  }

  db::TemporaryFolder folder_;
  std::string database_;
  autotune_options options_{};
  autotune_handle* handle_ = nullptr;
  const int64_t sizes_[3] = {512, 512, 512};
};

TEST_F(CApi, AnswersWithoutAGpu) {
  options_.device = "NVIDIA H200";
  ASSERT_EQ(autotune_open(&options_, &handle_), AUTOTUNE_OK) << autotune_message();
  EXPECT_STREQ(autotune_device(handle_), "NVIDIA H200");
  EXPECT_STREQ(autotune_warnings(handle_), "");
  autotune_answer answer{};
  answer.size = sizeof answer;
  ASSERT_EQ(autotune_lookup(handle_, sizes_, 3, &answer), AUTOTUNE_OK) << autotune_message();
  // The row is of another source, and no configuration of this one.
  EXPECT_EQ(answer.origin, AUTOTUNE_DEFAULT);
  EXPECT_THAT(answer.configuration, StartsWith("KERNEL="));
  EXPECT_EQ(answer.factor, 1);
  char text[512];
  ASSERT_EQ(autotune_explain(handle_, sizes_, 3, text, sizeof text), AUTOTUNE_OK);
  EXPECT_THAT(text, HasSubstr("the target's default"));
  ASSERT_EQ(autotune_explain(handle_, sizes_, 3, text, 5), AUTOTUNE_OK);
  EXPECT_STREQ(text, "gemm");
  EXPECT_EQ(autotune_refresh(handle_), AUTOTUNE_OK);
  autotune_close(handle_);
}

TEST_F(CApi, EveryWrongUseIsAStatusAndASentence) {
  EXPECT_EQ(autotune_open(nullptr, &handle_), AUTOTUNE_WRONG_USAGE);
  autotune_options old = options_;
  old.size = 4;
  EXPECT_EQ(autotune_open(&old, &handle_), AUTOTUNE_WRONG_USAGE);
  EXPECT_THAT(autotune_message(), HasSubstr("autotune_options.size"));
  autotune_options unknown = options_;
  unknown.target = "gem";
  EXPECT_NE(autotune_open(&unknown, &handle_), AUTOTUNE_OK);
  EXPECT_THAT(autotune_message(), HasSubstr("gem"));
  autotune_options nowhere = options_;
  nowhere.device = "Voodoo 2";
  EXPECT_EQ(autotune_open(&nowhere, &handle_), AUTOTUNE_NO_DEVICE);
  EXPECT_THAT(autotune_message(), HasSubstr("there is no device \"Voodoo 2\" here"));
  autotune_options setting = options_;
  setting.device = "NVIDIA H200";
  setting.settings = "colour=red";
  EXPECT_EQ(autotune_open(&setting, &handle_), AUTOTUNE_WRONG_USAGE);

  options_.device = "NVIDIA H200";
  ASSERT_EQ(autotune_open(&options_, &handle_), AUTOTUNE_OK);
  autotune_answer answer{};
  EXPECT_EQ(autotune_lookup(handle_, sizes_, 3, &answer), AUTOTUNE_WRONG_USAGE) << "size not set";
  answer.size = sizeof answer;
  EXPECT_EQ(autotune_lookup(handle_, sizes_, 2, &answer), AUTOTUNE_WRONG_USAGE);
  EXPECT_STREQ(autotune_message(), "gemm has 3 sizes, not 2");
  const int64_t zero[] = {0, 512, 512};
  EXPECT_EQ(autotune_lookup(handle_, zero, 3, &answer), AUTOTUNE_WRONG_USAGE);
  EXPECT_EQ(autotune_pin(handle_, sizes_, 3, "KERNEL=none"), AUTOTUNE_NOT_FOUND);
  EXPECT_EQ(autotune_lookup(nullptr, sizes_, 3, &answer), AUTOTUNE_WRONG_USAGE);
  autotune_close(handle_);
  autotune_close(nullptr);
  autotune_release(nullptr);
}

TEST_F(CApi, PreparesTheKernelForAGpuThatIsNotHere) {
  options_.device = "NVIDIA H200";
  ASSERT_EQ(autotune_open(&options_, &handle_), AUTOTUNE_OK) << autotune_message();
  autotune_kernel* kernel = nullptr;
  const autotune_status status = autotune_prepare(handle_, sizes_, 3, &kernel);
  if (status != AUTOTUNE_OK) {
    const std::string why = autotune_message();
    autotune_close(handle_);
    GTEST_SKIP() << why;
  }
  std::size_t bytes = 0;
  EXPECT_EQ(std::string(static_cast<const char*>(autotune_kernel_binary(kernel, &bytes)) + 1, 3),
            "ELF");
  EXPECT_GT(bytes, 1000u);
  ASSERT_EQ(autotune_kernel_launches(kernel), 1u);
  autotune_geometry geometry{};
  geometry.size = sizeof geometry;
  ASSERT_EQ(autotune_kernel_geometry(kernel, 0, &geometry), AUTOTUNE_OK);
  EXPECT_GT(geometry.grid[0], 0u);
  EXPECT_EQ(autotune_kernel_geometry(kernel, 1, &geometry), AUTOTUNE_WRONG_USAGE);
  uint64_t buffer_bytes = 0;
  EXPECT_STREQ(autotune_kernel_buffer(kernel, 0, &buffer_bytes), "A");
  EXPECT_EQ(buffer_bytes, 512u * 512 * 4);
  autotune_release(kernel);
  autotune_close(handle_);
}

}  // namespace
}  // namespace autotune
