// SPDX-License-Identifier: Apache-2.0
#include "tuner/runtime/autotune.h"

#include <gmock/gmock.h>

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/db/sample.hpp"
#include "tuner/target/catalog.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

using testing::AllOf;
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
    options_.shipped_database = "";
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
  EXPECT_THAT(text, StartsWith("gemm M=512 N=512 K=512 on NVIDIA H200: KERNEL=tiled BLOCK_SIZE="));
  EXPECT_THAT(text, HasSubstr("the target's default configuration"));
  EXPECT_THAT(text, testing::Not(HasSubstr("STAGES="))) << "a tiled kernel has none";
  ASSERT_EQ(autotune_explain(handle_, sizes_, 3, text, 5), AUTOTUNE_OK);
  EXPECT_STREQ(text, "gemm");
  EXPECT_EQ(autotune_refresh(handle_), AUTOTUNE_OK);
  autotune_close(handle_);
}

TEST_F(CApi, LaunchesOnTheHostWithTheCallersScalars) {
  options_.device = "host";
  options_.settings = "scale=beta";
  ASSERT_EQ(autotune_open(&options_, &handle_), AUTOTUNE_OK) << autotune_message();
  EXPECT_EQ(autotune_place(handle_), AUTOTUNE_ON_HOST);
  ASSERT_EQ(autotune_sizes(handle_), 3u);
  EXPECT_STREQ(autotune_size_name(handle_, 1), "N");
  EXPECT_STREQ(autotune_size_name(handle_, 3), "");
  const int64_t small[3] = {2, 3, 2};
  autotune_kernel* kernel = nullptr;
  ASSERT_EQ(autotune_prepare(handle_, small, 3, &kernel), AUTOTUNE_OK) << autotune_message();
  float a[] = {1, 2, 3, 4}, b[] = {1, 0, 2, 0, 1, 3}, c[] = {1, 1, 1, 1, 1, 1}, d[6] = {};
  void* const buffers[] = {a, b, c, d};
  const double scalars[] = {10, 0.5};
  ASSERT_EQ(autotune_launch_with(kernel, buffers, 4, scalars, 2, nullptr), AUTOTUNE_OK)
      << autotune_message();
  EXPECT_THAT(d, testing::ElementsAre(10.5, 20.5, 80.5, 30.5, 40.5, 180.5));
  ASSERT_EQ(autotune_launch(kernel, buffers, 4, nullptr), AUTOTUNE_OK) << autotune_message();
  EXPECT_THAT(d, testing::ElementsAre(1, 4, 22, 7, 10, 52)) << "the kernel's own: 3 and -2";
  autotune_release(kernel);
  autotune_close(handle_);
}

class CApiOfTwo : public CApi {
 protected:
  CApiOfTwo() {
    options_.device = "NVIDIA H200";
    options_.alternative = "gemm_split";
  }

  /// Stores the default configuration of a shipped target as tuned.
  void tune(const std::string& name, double median_ns) {
    const Target target = find_target(name);
    db::TunedStore store(database_);
    db::Sample sample(store);
    sample.key.kernel = store.add_kernel({"", name, target.fingerprint, "M N K"});
    sample.key.problem =
        problem_of(target, {{"M", 512}, {"N", 512}, {"K", 512}}, {{"layout", "NT"}}).text();
    const std::string now = format("2026-03-01T12:0{}:00.000Z", ++decisions_);
    store.add_decision(sample.decision(to_text(target.default_configuration), median_ns, now));
  }
  int decisions_ = 0;

  std::string answered_target() {
    autotune_answer answer{};
    answer.size = sizeof answer;
    EXPECT_EQ(autotune_lookup(handle_, sizes_, 3, &answer), AUTOTUNE_OK) << autotune_message();
    return answer.target;
  }
};

TEST_F(CApiOfTwo, AnswerWithTheFasterOne) {
  options_.settings = "layout=NT dtype=f32";
  ASSERT_EQ(autotune_open(&options_, &handle_), AUTOTUNE_OK) << autotune_message();
  EXPECT_EQ(answered_target(), "gemm") << "neither is tuned";
  tune("gemm_split", 8000);
  ASSERT_EQ(autotune_refresh(handle_), AUTOTUNE_OK) << autotune_message();
  EXPECT_EQ(answered_target(), "gemm_split") << "only this one is tuned";
  tune("gemm", 9000);
  ASSERT_EQ(autotune_refresh(handle_), AUTOTUNE_OK);
  EXPECT_EQ(answered_target(), "gemm_split");
  char text[512];
  ASSERT_EQ(autotune_explain(handle_, sizes_, 3, text, sizeof text), AUTOTUNE_OK);
  EXPECT_THAT(text, StartsWith("gemm_split M=512 N=512 K=512"));
  if (AUTOTUNE_WITH_CUDA) {
    autotune_kernel* kernel = nullptr;
    ASSERT_EQ(autotune_prepare(handle_, sizes_, 3, &kernel), AUTOTUNE_OK) << autotune_message();
    EXPECT_THAT(autotune_kernel_configuration(kernel), StartsWith("KERNEL=cores"));
    autotune_release(kernel);
  }
  const std::string pinned = to_text(find_target("gemm").default_configuration);
  ASSERT_EQ(autotune_pin(handle_, sizes_, 3, pinned.c_str()), AUTOTUNE_OK) << autotune_message();
  EXPECT_EQ(answered_target(), "gemm");
  tune("gemm", 7000);
  ASSERT_EQ(autotune_refresh(handle_), AUTOTUNE_OK);
  EXPECT_EQ(answered_target(), "gemm");
  autotune_close(handle_);
}

TEST_F(CApiOfTwo, MustHaveTheSameBuffers) {
  options_.settings = "dtype=f64";
  EXPECT_EQ(autotune_open(&options_, &handle_), AUTOTUNE_WRONG_USAGE);
  EXPECT_THAT(autotune_message(), HasSubstr("gemm and gemm_split have different buffers"));
}

/// d = a + 2 b, where a first kernel makes 2 b.
std::string target_that_prepares_b(const std::filesystem::path& folder) {
  std::ofstream(folder / "added.cu") << R"(
extern "C" __global__ void twice(const float* b, float* made) {
  made[blockIdx.x] = 2 * b[blockIdx.x];
}
extern "C" __global__ void added(const float* a, const float* made, float* d) {
  d[blockIdx.x] = a[blockIdx.x] + made[blockIdx.x];
}
extern "C" __global__ void reference(const float* a, const float* b, double* d) {
  d[blockIdx.x] = a[blockIdx.x] + 2.0 * b[blockIdx.x];
})";
  std::ofstream(folder / "added.target.toml") << R"(manifest = 2
name = "added"
source = "added.cu"
sizes = ["N"]
parameters.UNUSED = [1]
arguments.a = { type = "f32", length = "N" }
arguments.b = { type = "f32", length = "N" }
arguments.d = { type = "f32", length = "N", role = "output", tolerance = "4" }
workspace.made = { type = "f32", length = "N" }
main = "added"
launch.grid = "N"
launch.block = 1
kernels.twice = { arguments = ["b", "made"], grid_with_constant.b = 0 }
kernels.added.arguments = ["a", "made", "d"]
reference.outputs = "f64"
reference.kernels.reference = { grid = "N", block = 1, arguments = ["a", "b", "d"] }
)";
  return (folder / "added.target.toml").string();
}

TEST_F(CApi, WorkOnAConstantBufferIsDoneOnce) {
  const std::string target = target_that_prepares_b(folder_ / "");
  options_.target = target.c_str();
  options_.device = "host";
  ASSERT_EQ(autotune_open(&options_, &handle_), AUTOTUNE_OK) << autotune_message();
  const int64_t size[1] = {2};
  autotune_kernel* kernel = nullptr;
  ASSERT_EQ(autotune_prepare(handle_, size, 1, &kernel), AUTOTUNE_OK) << autotune_message();
  float a[] = {1, 2}, b[] = {10, 20}, elsewhere[] = {7, 8}, d[2] = {};
  const auto launched = [&](float* from) {
    void* const buffers[] = {a, from, d};
    EXPECT_EQ(autotune_launch(kernel, buffers, 3, nullptr), AUTOTUNE_OK) << autotune_message();
    return std::vector<float>(d, d + 2);
  };
  using testing::ElementsAre;
  EXPECT_THAT(launched(b), ElementsAre(21, 42));
  b[0] = 11;
  EXPECT_THAT(launched(b), ElementsAre(23, 42)) << "nothing was promised";

  ASSERT_EQ(autotune_hold_constant(kernel, "b"), AUTOTUNE_OK) << autotune_message();
  EXPECT_THAT(launched(b), ElementsAre(23, 42)) << "the first launch does all of its work";
  a[1] = 5, b[0] = 30;
  EXPECT_THAT(launched(b), ElementsAre(23, 45)) << "only a is read again";
  EXPECT_THAT(launched(elsewhere), ElementsAre(15, 21)) << "another buffer";
  EXPECT_THAT(launched(b), ElementsAre(61, 45));
  b[1] = 0;
  ASSERT_EQ(autotune_invalidate(kernel), AUTOTUNE_OK);
  EXPECT_THAT(launched(b), ElementsAre(61, 5));
  b[1] = 1;
  ASSERT_EQ(autotune_hold_constant(kernel, nullptr), AUTOTUNE_OK);
  EXPECT_THAT(launched(b), ElementsAre(61, 7));

  EXPECT_EQ(autotune_hold_constant(kernel, "B"), AUTOTUNE_WRONG_USAGE);
  EXPECT_THAT(autotune_message(), HasSubstr("no buffer B"));
  EXPECT_EQ(autotune_hold_constant(kernel, "d"), AUTOTUNE_WRONG_USAGE);
  autotune_release(kernel);
  autotune_close(handle_);
}

TEST_F(CApi, DescribesTheBuffersOfAKernel) {
  options_.device = "host";
  options_.settings = "dtype=i32";
  ASSERT_EQ(autotune_open(&options_, &handle_), AUTOTUNE_OK) << autotune_message();
  const int64_t small[3] = {2, 3, 5};
  autotune_kernel* kernel = nullptr;
  ASSERT_EQ(autotune_prepare(handle_, small, 3, &kernel), AUTOTUNE_OK) << autotune_message();
  autotune_buffer buffer{};
  buffer.size = sizeof buffer;
  ASSERT_EQ(autotune_describe_buffer(kernel, 1, &buffer), AUTOTUNE_OK) << autotune_message();
  EXPECT_STREQ(buffer.name, "B");
  EXPECT_STREQ(buffer.type, "i32");
  EXPECT_EQ(buffer.use, AUTOTUNE_READ);
  EXPECT_EQ(buffer.length, 15u);
  ASSERT_EQ(autotune_describe_buffer(kernel, 3, &buffer), AUTOTUNE_OK);
  EXPECT_EQ(buffer.use, AUTOTUNE_WRITTEN);
  EXPECT_EQ(autotune_kernel_workspace(kernel), 0u) << "the default configuration has none";
  EXPECT_EQ(autotune_describe_buffer(kernel, 4, &buffer), AUTOTUNE_WRONG_USAGE);
  autotune_release(kernel);
  autotune_close(handle_);
}

TEST_F(CApi, AGpuThatIsNotHereIsNowhere) {
  options_.device = "NVIDIA H200";
  ASSERT_EQ(autotune_open(&options_, &handle_), AUTOTUNE_OK) << autotune_message();
  const int32_t place = autotune_place(handle_);
  EXPECT_TRUE(place == AUTOTUNE_NOWHERE || place >= 0) << place;
  autotune_close(handle_);
}

/// A configuration of the sources as they are, tuned where cuBLAS was faster.
class CApiLost : public CApi {
 protected:
  CApiLost() {
    const Target target = find_target("gemm");
    db::TunedStore store(database_);
    db::Sample sample(store);
    sample.key.kernel = store.add_kernel({"", "gemm", target.fingerprint, "M N K"});
    const NamedValues sizes = {{"M", 512}, {"N", 512}, {"K", 512}};
    sample.key.problem = problem_of(target, sizes, {{"scale", "beta"}}).text();
    configuration_ = to_text(target.default_configuration);
    store.add_decision(sample.lost_decision(configuration_, 10000));
    options_.device = "NVIDIA H200";
    options_.settings = "scale=beta";
  }
  std::string configuration_;
};

TEST_F(CApiLost, TheAnswerNamesTheVendorsLibraryWhereItIsFaster) {
  ASSERT_EQ(autotune_open(&options_, &handle_), AUTOTUNE_OK) << autotune_message();
  autotune_answer answer{};
  answer.size = sizeof answer;
  ASSERT_EQ(autotune_lookup(handle_, sizes_, 3, &answer), AUTOTUNE_OK);
  EXPECT_EQ(answer.origin, AUTOTUNE_EXACT);
  EXPECT_EQ(answer.configuration, configuration_);
  EXPECT_STREQ(answer.baseline, "cublas cublasLt 0 (algorithm 55)");
  EXPECT_DOUBLE_EQ(answer.baseline_ns, 9000);
  char text[1024];
  ASSERT_EQ(autotune_explain(handle_, sizes_, 3, text, sizeof text), AUTOTUNE_OK);
  EXPECT_THAT(text, HasSubstr("cublas cublasLt 0 (algorithm 55) takes 9.000 us: it is faster"));

  const int64_t near[3] = {520, 512, 512};
  ASSERT_EQ(autotune_lookup(handle_, near, 3, &answer), AUTOTUNE_OK);
  EXPECT_EQ(answer.origin, AUTOTUNE_TRANSFERRED);
  ASSERT_EQ(autotune_pin(handle_, sizes_, 3, configuration_.c_str()), AUTOTUNE_OK);
  ASSERT_EQ(autotune_lookup(handle_, sizes_, 3, &answer), AUTOTUNE_OK);
  EXPECT_STREQ(answer.baseline, "") << "a pin is a configuration";

  answer.size = offsetof(autotune_answer, baseline);  // a program with an older header
  answer.baseline = "untouched";
  EXPECT_EQ(autotune_lookup(handle_, sizes_, 3, &answer), AUTOTUNE_OK);
  EXPECT_STREQ(answer.baseline, "untouched");
  answer.size = offsetof(autotune_answer, target);
  answer.target = "untouched";
  EXPECT_EQ(autotune_lookup(handle_, sizes_, 3, &answer), AUTOTUNE_OK);
  EXPECT_STREQ(answer.baseline, "");
  EXPECT_STREQ(answer.target, "untouched");
  autotune_close(handle_);
}

/// Runs the test in a process for which this machine has no GPU. False where that is this one.
bool runs_without_gpu() {
  const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
  if (visible != nullptr && *visible == '\0') return false;
  const testing::TestInfo& test = *testing::UnitTest::GetInstance()->current_test_info();
  const std::string command =
      format("CUDA_VISIBLE_DEVICES= {} --gtest_brief=1 --gtest_filter={}.{}",
             std::filesystem::read_symlink("/proc/self/exe").string(), test.test_suite_name(),
             test.name());
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
  return true;
}

TEST_F(CApiLost, WithoutAGpuTheKernelIsTheTunedOneAndSaysWhy) {
  if (!AUTOTUNE_WITH_CUDA) GTEST_SKIP() << "built without the CUDA toolkit";
  if (runs_without_gpu()) return;
  for (const bool tuned_only : {false, true}) {
    options_.tuned_only = tuned_only ? 1 : 0;
    ASSERT_EQ(autotune_open(&options_, &handle_), AUTOTUNE_OK) << autotune_message();
    autotune_kernel* kernel = nullptr;
    ASSERT_EQ(autotune_prepare(handle_, sizes_, 3, &kernel), AUTOTUNE_OK) << autotune_message();
    EXPECT_EQ(autotune_kernel_configuration(kernel), configuration_);
    const char* text = nullptr;
    const autotune_engine engine = autotune_kernel_engine(kernel, &text);
    EXPECT_EQ(engine, tuned_only ? AUTOTUNE_TUNED_KERNEL : AUTOTUNE_VENDOR_MISSING);
    EXPECT_THAT(text,
                HasSubstr(tuned_only ? "" : "cublas cublasLt 0 (algorithm 55): there is no GPU"));

    ASSERT_EQ(autotune_kernel_scalars(kernel), 2u);
    double beta = 0;
    EXPECT_STREQ(autotune_kernel_scalar(kernel, 1, &beta), "beta");
    EXPECT_EQ(beta, -2);
    void* buffers[4] = {};
    const double scalars[] = {1, 0};
    EXPECT_EQ(autotune_launch_with(kernel, buffers, 4, scalars, 1, nullptr), AUTOTUNE_WRONG_USAGE);
    EXPECT_THAT(autotune_message(), HasSubstr("a value for each of its scalars"));
    EXPECT_EQ(autotune_launch_with(kernel, buffers, 4, scalars, 2, nullptr), AUTOTUNE_NO_DEVICE);
    autotune_release(kernel);
    autotune_close(handle_);
  }
}

TEST_F(CApi, OptionsOfAnOlderHeaderAreTakenAndNothingBehindThemIsRead) {
  options_.device = "NVIDIA H200";
  options_.size = offsetof(autotune_options, early_start);
  options_.early_start = -1;  // not part of it
  ASSERT_EQ(autotune_open(&options_, &handle_), AUTOTUNE_OK) << autotune_message();
  autotune_close(handle_);
}

TEST_F(CApi, AFirstUseIsNotRacedForAGpuThatIsNotHereNorInNegativeTime) {
  options_.device = "NVIDIA H200";
  for (const int64_t milliseconds : {-5, 5}) {
    options_.first_use_ms = milliseconds;
    ASSERT_EQ(autotune_open(&options_, &handle_), AUTOTUNE_OK) << autotune_message();
    const bool is_negative = milliseconds < 0;
    EXPECT_THAT(autotune_warnings(handle_),
                HasSubstr(is_negative ? "autotune_options.first_use_ms is negative" : ""));
    autotune_kernel* kernel = nullptr;
    if (AUTOTUNE_WITH_CUDA && !is_negative) {
      EXPECT_EQ(autotune_prepare(handle_, sizes_, 3, &kernel), AUTOTUNE_OK) << autotune_message();
      EXPECT_STREQ(autotune_warnings(handle_), "");
    }
    autotune_release(kernel);
    autotune_close(handle_);
  }
}

TEST_F(CApi, EveryWrongUseIsAStatusAndASentence) {
  EXPECT_EQ(autotune_open(nullptr, &handle_), AUTOTUNE_WRONG_USAGE);
  autotune_options old = options_;
  old.size = 4;
  EXPECT_EQ(autotune_open(&old, &handle_), AUTOTUNE_WRONG_USAGE);
  EXPECT_THAT(autotune_message(), HasSubstr("autotune_options.size"));
  old.size = offsetof(autotune_options, early_start) - 1;
  EXPECT_EQ(autotune_open(&old, &handle_), AUTOTUNE_WRONG_USAGE);
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

  for (const char* text : {"junk", "=", "dtype=", "dtype=f32 dtype=f64", "dtype=\x1b[31m"}) {
    setting.settings = text;
    EXPECT_EQ(autotune_open(&setting, &handle_), AUTOTUNE_WRONG_USAGE) << text;
    EXPECT_THAT(autotune_message(), testing::Not(HasSubstr("\x1b")));
  }

  autotune_options policy = options_;
  policy.policy = "junk";
  EXPECT_EQ(autotune_open(&policy, &handle_), AUTOTUNE_WRONG_USAGE);
  EXPECT_THAT(autotune_message(), AllOf(HasSubstr("autotune_options.policy"), HasSubstr("\"junk\""),
                                        HasSubstr("l2=cold or launch=stream")));
  policy.policy = "l2=hot launch=graph objective=edp context=between";
  EXPECT_EQ(autotune_open(&policy, &handle_), AUTOTUNE_OK) << autotune_message();
  autotune_close(std::exchange(handle_, nullptr));
  autotune_options ordinal = options_;
  ordinal.ordinal = -5;
  EXPECT_EQ(autotune_open(&ordinal, &handle_), AUTOTUNE_WRONG_USAGE);
  EXPECT_THAT(autotune_message(), HasSubstr("autotune_options.ordinal is negative"));

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

TEST_F(CApi, ADatabaseThatCannotBeReadIsNamed) {
  const std::string damaged = (folder_ / "text.db").string();
  std::ofstream(damaged) << std::string(5000, 'x');
  options_.device = "NVIDIA A100";
  options_.site_database = damaged.c_str();
  EXPECT_EQ(autotune_open(&options_, &handle_), AUTOTUNE_NO_DEVICE);
  EXPECT_THAT(autotune_message(), HasSubstr("text.db: is not a database"));

  options_.device = "NVIDIA H200";
  ASSERT_EQ(autotune_open(&options_, &handle_), AUTOTUNE_OK) << autotune_message();
  EXPECT_THAT(autotune_warnings(handle_), HasSubstr("text.db: is not a database"));
  EXPECT_EQ(autotune_refresh(handle_), AUTOTUNE_FAILED);
  EXPECT_THAT(autotune_message(), HasSubstr("text.db: is not a database"));
  autotune_close(handle_);
}

TEST_F(CApi, PreparesTheKernelForAGpuThatIsNotHere) {
  if (!AUTOTUNE_WITH_CUDA) GTEST_SKIP() << "built without the CUDA toolkit";
  options_.device = "NVIDIA H200";
  ASSERT_EQ(autotune_open(&options_, &handle_), AUTOTUNE_OK) << autotune_message();
  autotune_kernel* kernel = nullptr;
  ASSERT_EQ(autotune_prepare(handle_, sizes_, 3, &kernel), AUTOTUNE_OK) << autotune_message();
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
