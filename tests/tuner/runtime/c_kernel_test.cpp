// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <fstream>
#include <utility>
#include <vector>

#include "tests/support/matchers.hpp"
#include "tests/support/plugin_builder.hpp"
#include "tests/tuner/runtime/c_api_case.hpp"
#include "tuner/host/host_compiler.hpp"
#include "tuner/records/records.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

class CKernel : public CApiCase {
 protected:
  /// Opens a target of a test's own on the host.
  void open_target(const std::string& name, const char* manifest, const char* source) {
    std::ofstream(folder_ / (name + ".cu")) << source;
    target_ = (folder_ / (name + ".target.toml")).string();
    std::ofstream(target_) << manifest;
    options_.device = "host";
    options_.target = target_.c_str();
    open();
  }

 private:
  std::string target_;
};

TEST_F(CKernel, LaunchesOnTheHostWithTheCallersScalars) {
  options_.device = "host";
  options_.settings = "scale=beta";
  open();
  EXPECT_EQ(autotune_place(handle_), AUTOTUNE_ON_HOST);
  ASSERT_EQ(autotune_sizes(handle_), 3u);
  EXPECT_STREQ(autotune_size_name(handle_, 1), "N");
  EXPECT_STREQ(autotune_size_name(handle_, 3), "batch");
  EXPECT_STREQ(autotune_size_name(handle_, autotune_all_sizes(handle_)), "");
  const int64_t small[3] = {2, 3, 2};
  autotune_kernel* const kernel = prepare(small);
  alignas(16) float a[] = {1, 2, 3, 4}, b[] = {1, 0, 2, 0, 1, 3}, c[] = {1, 1, 1, 1, 1, 1},
                    d[6] = {};
  void* const buffers[] = {a, b, c, d};
  const double scalars[] = {10, 0.5};
  ASSERT_EQ(autotune_launch_with(kernel, buffers, 4, scalars, 2, nullptr), AUTOTUNE_OK)
      << autotune_message();
  EXPECT_THAT(d, testing::ElementsAre(10.5, 20.5, 80.5, 30.5, 40.5, 180.5));
  launch(kernel, buffers);
  EXPECT_THAT(d, testing::ElementsAre(1, 4, 22, 7, 10, 52)) << "the kernel's own: 3 and -2";
}

/// A library for the host that writes its scalar alpha to all of D.
const std::string kHostLibrary = testing::plugin_with({{"HOST_BASELINE", "baseline"}}, "fill", R"c(
static int supports(const char* target) { return strcmp(target, "gemm") == 0; }
static const char* open(const autotune_baseline_problem_v1* problem, void** instance) {
  static int64_t length;
  length = problem->buffers[3].length;
  *instance = &length;
  return NULL;
}
static void close(void* instance) { (void)instance; }
static uint32_t candidates(void* instance) { (void)instance; return 1; }
static const char* name(void* instance, uint32_t way) { (void)instance; (void)way; return "constant"; }
static const char* launch(void* instance, uint32_t way, void* const* addresses, void* stream) {
  (void)way;
  const float alpha = *(const float*)addresses[4];
  if (stream != NULL || alpha < 0) return "it wants a positive alpha";
  for (int64_t i = 0; i < *(const int64_t*)instance; ++i) ((float*)addresses[3])[i] = alpha;
  return NULL;
}
static const autotune_baseline_v1 baseline = {supports, open, close, candidates, name, launch};
)c");

/// gemm on this host, tuned where a library was faster.
class CKernelLostOnHost : public CKernel {
 protected:
  CKernelLostOnHost() {
    const Target target = find_target("gemm");
    db::TunedStore store(database_);
    db::Sample sample(store);
    sample.key.device = store.add_device(device_row(cpu_info()));
    sample.key.kernel = store.add_kernel({"", "gemm", target.fingerprint, "M N K batch"});
    const NamedValues sizes = {{"M", 2}, {"N", 3}, {"K", 2}};
    const Problem problem = problem_of(target, sizes, {{"scale", "alpha"}});
    sample.key.problem = problem.text();
    db::DecisionRow row =
        sample.lost_decision(to_text(valid_default(target, problem, cpu_info())), 10000);
    row.baseline.plugin = "fill";
    row.baseline.candidate = "constant";
    store.add_decision(row);
    options_.device = "host";
    options_.settings = "scale=alpha";
    setenv("AUTOTUNE_PLUGIN_PATH", workshop_.folder().c_str(), 1);
  }
  ~CKernelLostOnHost() override { unsetenv("AUTOTUNE_PLUGIN_PATH"); }

  /// D of alpha times the product of {1, 2, 3, 4} and {1, 0, 2, 0, 1, 3}.
  std::vector<float> product(double alpha) {
    alignas(16) float a[] = {1, 2, 3, 4}, b[] = {1, 0, 2, 0, 1, 3}, c[6] = {}, d[6] = {};
    void* const buffers[] = {a, b, c, d};
    const double scalars[] = {alpha, 0};
    EXPECT_EQ(autotune_launch_with(kernel_, buffers, 4, scalars, 2, nullptr), AUTOTUNE_OK)
        << autotune_message();
    return {d, d + 6};
  }

  void prepare() {
    open();
    kernel_ = CApiCase::prepare(std::vector<int64_t>{2, 3, 2});
  }

  testing::PluginWorkshop workshop_;
  autotune_kernel* kernel_ = nullptr;
};

TEST_F(CKernelLostOnHost, TheLibraryIsCalledUntilItFails) {
  workshop_.build("fill", kHostLibrary);
  prepare();
  const char* text = nullptr;
  EXPECT_EQ(autotune_kernel_engine(kernel_, &text), AUTOTUNE_VENDOR_LIBRARY);
  EXPECT_STREQ(text, "fill constant");
  EXPECT_THAT(product(7), testing::Each(7));
  EXPECT_THAT(product(-1), testing::ElementsAre(-1, -2, -8, -3, -4, -18));
  EXPECT_EQ(autotune_kernel_engine(kernel_, &text), AUTOTUNE_VENDOR_MISSING);
  EXPECT_THAT(text, HasSubstr("it wants a positive alpha"));
  EXPECT_THAT(product(1), testing::ElementsAre(1, 2, 8, 3, 4, 18)) << "not tried again";
}

TEST_F(CKernelLostOnHost, WithoutItOrWithTunedOnlyTheKernelRuns) {
  prepare();
  EXPECT_EQ(autotune_kernel_engine(kernel_, nullptr), AUTOTUNE_VENDOR_MISSING);
  EXPECT_THAT(product(1), testing::ElementsAre(1, 2, 8, 3, 4, 18));
  workshop_.build("fill", kHostLibrary);
  options_.tuned_only = 1;
  prepare();
  EXPECT_EQ(autotune_kernel_engine(kernel_, nullptr), AUTOTUNE_TUNED_KERNEL);
  EXPECT_THAT(product(1), testing::ElementsAre(1, 2, 8, 3, 4, 18));
}

/// 2 products of 1x2 by 2x1 in f16, with f32 results: (1 2)(1 3)' and (2 2)(1 1)'.
TEST_F(CKernel, OldNamesTakeTheirSizesInTheOldOrder) {
  const auto products = [&](const char* target, const std::vector<int64_t>& sizes) {
    options_.device = "host";
    options_.target = target;
    options_.settings = "output=f32";
    open();
    autotune_kernel* const kernel = prepare(sizes);
    alignas(16) const std::uint16_t a[] = {0x3c00, 0x4000, 0x4000, 0x4000},
                                    b[] = {0x3c00, 0x4200, 0x3c00, 0x3c00};
    alignas(16) float c[2] = {}, d[2] = {};
    void* const buffers[] = {const_cast<std::uint16_t*>(a), const_cast<std::uint16_t*>(b), c, d};
    launch(kernel, buffers);
    return std::vector<float>(d, d + 2);
  };
  EXPECT_THAT(products("gemm16", {1, 1, 2, 2}), testing::ElementsAre(7, 4));

  EXPECT_THAT(products("gemm16_batched", {2, 1, 1, 2}), testing::ElementsAre(7, 4));
  EXPECT_EQ(autotune_sizes(handle_), 4u);
  EXPECT_EQ(autotune_all_sizes(handle_), 4u);
  EXPECT_STREQ(autotune_size_name(handle_, 0), "BATCH");
  EXPECT_STREQ(autotune_size_name(handle_, 4), "");
  const int64_t sizes[4] = {2, 1, 1, 2};
  autotune_answer answer = lookup(sizes);
  EXPECT_STREQ(answer.target, "gemm");
  EXPECT_EQ(autotune_lookup(handle_, sizes, 3, &answer), AUTOTUNE_WRONG_USAGE);
  EXPECT_THAT(autotune_message(), HasSubstr("gemm16_batched has 4 sizes, not 3"));

  // Both products have the first A; C is not read, so that its sizes do not matter.
  EXPECT_THAT(products("gemm16_strided", {2, 1, 1, 2, 2, 1, 0, 1, 0, 2, 0, 1}),
              testing::ElementsAre(7, 3));
  EXPECT_EQ(autotune_sizes(handle_), 12u);
  EXPECT_STREQ(autotune_size_name(handle_, 8), "stride_a");
}

/// Three turns reverse x and add to it, with all blocks in step.
TEST_F(CKernel, TakesStructsAndRunsCooperativeKernelsInTurns) {
  open_target("turn", R"toml(manifest = 2
name = "turn"
source = "turn.cu"
sizes = ["N"]
types.Step = { by = "f32", times = "i32[2]" }
arguments.x = { type = "f32", length = "N" }
arguments.y = { type = "f32", length = "N", role = "output" }
arguments.step = { type = "Step", value = { by = 0.5, times = [1, 2] } }
workspace.a = { type = "f32", length = "N" }
parameters.UNUSED = [1]
reference.configuration = "default"
[kernels.reverse]
repeat = 3
cooperative = true
grid = "N / 4"
block = 4
arguments = ["turn == 0 ? x : turn == 1 ? y : a", "turn == 1 ? a : y", "step", "N"]
)toml",
              R"cu(
#include <cooperative_groups.h>
struct Step {
  float by;
  int times[2];
};
extern "C" __global__ void reverse(const float* from, float* to, Step step, int n) {
  const int i = blockIdx.x * 4 + threadIdx.x;
  to[i] = from[i] + step.by * step.times[1];
  cooperative_groups::this_grid().sync();
  const float other = to[n - 1 - i];
  cooperative_groups::this_grid().sync();
  to[i] = other;
}
)cu");
  const int64_t sizes[1] = {8};
  autotune_kernel* const kernel = prepare(sizes);
  ASSERT_EQ(autotune_kernel_scalars(kernel), 3u);
  EXPECT_STREQ(autotune_kernel_scalar(kernel, 2, nullptr), "step.times[1]");
  float x[8] = {1, 2, 3, 4, 5, 6, 7, 8}, y[8] = {};
  void* const buffers[] = {x, y};
  launch(kernel, buffers);
  EXPECT_THAT(y, testing::ElementsAre(11, 10, 9, 8, 7, 6, 5, 4));
  const double scalars[] = {2, 9, 3};
  ASSERT_EQ(autotune_launch_with(kernel, buffers, 2, scalars, 3, nullptr), AUTOTUNE_OK)
      << autotune_message();
  EXPECT_THAT(y, testing::ElementsAre(26, 25, 24, 23, 22, 21, 20, 19));
}

TEST_F(CKernel, SizesWithADefaultMayBeLeftOut) {
  open_target("fill", R"toml(manifest = 2
name = "fill"
source = "fill.cu"
sizes.N = {}
sizes.times = { default = 3 }
arguments.y = { type = "f32", length = "N", role = "output" }
kernels.fill = { grid = 1, block = 1, arguments = ["y", "N", "times"] }
parameters.UNUSED = [1]
reference.configuration = "default"
)toml",
              R"cu(
extern "C" __global__ void fill(float* y, int N, int times) {
  for (int i = 0; i < N; ++i) y[i] = times;
}
)cu");
  EXPECT_EQ(autotune_sizes(handle_), 1u);
  ASSERT_EQ(autotune_all_sizes(handle_), 2u);
  EXPECT_STREQ(autotune_size_name(handle_, 1), "times");
  const int64_t sizes[3] = {2, 5, 1};
  for (const auto& [count, written] : {std::pair<std::size_t, float>{1, 3.f}, {2, 5.f}}) {
    autotune_kernel* const kernel = prepare({sizes, count});
    float y[2] = {};
    void* const buffers[] = {y};
    launch(kernel, buffers);
    EXPECT_THAT(y, testing::ElementsAre(written, written));
  }
  autotune_answer answer = lookup({sizes, 1});
  EXPECT_EQ(autotune_lookup(handle_, sizes, 0, &answer), AUTOTUNE_WRONG_USAGE);
  EXPECT_EQ(autotune_lookup(handle_, sizes, 3, &answer), AUTOTUNE_WRONG_USAGE);
}

TEST_F(CKernel, FreeSizesAreOfTheKernelAndDecideWhichConfigurationIsValid) {
  open_target("copy", R"toml(manifest = 2
name = "copy"
source = "copy.cu"
sizes = ["rows", "columns"]
free.ldx = { default = "columns" }
free.ldy = { default = "columns", least = "columns" }
parameters.VECTOR = [1, 2]
default = { VECTOR = 2 }
constraints = "gcd(columns, ldx, ldy, x_aligned / 4) % VECTOR == 0"
arguments.x = { type = "f32", dims = ["columns", "rows"], strides = ["ldx"], aligned = 8 }
arguments.shift = { type = "f32", length = "columns", when = "columns == 3" }
arguments.y = { type = "f32", dims = ["columns", "rows"], strides = ["ldy"], role = "output" }
kernels.copy = { grid = 1, block = 1, arguments = ["x", "shift", "y", "rows", "columns", "ldx", "ldy"] }
reference.configuration = "default"
)toml",
              R"cu(
extern "C" __global__ void copy(const float* x, const float* shift, float* y, int rows, int columns,
                                long long ldx, long long ldy) {
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; j += VECTOR)
      for (int k = j; k < j + VECTOR; ++k) y[i * ldy + k] = x[i * ldx + k] + (shift ? shift[k] : 0);
}
)cu");
  EXPECT_EQ(autotune_sizes(handle_), 2u);
  ASSERT_EQ(autotune_all_sizes(handle_), 5u);
  EXPECT_STREQ(autotune_size_name(handle_, 2), "ldx");
  EXPECT_STREQ(autotune_size_name(handle_, 4), "x_aligned");
  struct Case {
    std::vector<int64_t> sizes;
    const char* configuration;
    std::vector<float> expected;
  };
  const int64_t by_default = AUTOTUNE_DEFAULT_SIZE;
  for (const Case& each :
       std::vector<Case>{{{2, 2}, "VECTOR=2", {1, 2, 3, 4, 0}},
                         {{2, 2, by_default, 2, by_default}, "VECTOR=2", {1, 2, 3, 4, 0}},
                         {{2, 2, 0}, "VECTOR=2", {1, 2, 1, 2, 0}},  // one row for both
                         {{2, 2, by_default, 3}, "VECTOR=1", {1, 2, 0, 3, 4}},
                         {{2, 2, 3}, "VECTOR=1", {1, 2, 4, 5, 0}},
                         {{2, 2, by_default, by_default, 4}, "VECTOR=1", {1, 2, 3, 4, 0}}}) {
    EXPECT_STREQ(lookup(each.sizes).configuration, each.configuration);
    autotune_kernel* const kernel = prepare(each.sizes);
    EXPECT_STREQ(autotune_kernel_configuration(kernel), each.configuration);
    EXPECT_EQ(autotune_kernel_buffers(kernel), 2u) << "there is no shift";
    alignas(16) float x[] = {1, 2, 3, 4, 5};
    std::vector<float> y(5);
    void* const buffers[] = {x, y.data()};
    launch(kernel, buffers);
    EXPECT_EQ(y, each.expected);
  }
  const auto refuse = [&](std::vector<int64_t> sizes, const char* why) {
    autotune_kernel* kernel = nullptr;
    EXPECT_EQ(autotune_prepare(handle_, sizes.data(), sizes.size(), &kernel), AUTOTUNE_WRONG_USAGE);
    EXPECT_THAT(autotune_message(), HasSubstr(why));
  };
  refuse({2, 2, -2}, "copy: the size ldx=-2 is below 0; -1 means its default");
  refuse({2, 2, 2, 1}, "copy: the size ldy=1 is too small: the least is 2 (columns)");
  refuse({2, 2, 2, 2, 16}, "copy: the size x_aligned=16 is too large: the most is 8");
  refuse({2, 2, 2, 2, 8, 1}, "copy has 2 to 5 sizes, not 6");
  refuse({2, by_default}, "the size columns=-1 is not from 1");
}

TEST_F(CKernel, AnAddressThatIsNotAlignedIsRefused) {
  options_.device = "host";
  open();
  const int64_t small[3] = {2, 2, 2};
  autotune_kernel* const kernel = prepare(small);
  alignas(16) float a[] = {0, 1, 2, 3, 4}, b[] = {1, 0, 0, 1}, c[2] = {}, d[4] = {};
  void* buffers[] = {a + 1, b, c, d};
  EXPECT_EQ(autotune_launch(kernel, buffers, 4, nullptr), AUTOTUNE_WRONG_USAGE);
  EXPECT_THAT(autotune_message(), HasSubstr("the address of A is 0x"));
  EXPECT_THAT(autotune_message(), HasSubstr("must be a multiple of 16 bytes"));
  buffers[0] = a;
  buffers[2] = c + 1;  // without beta, it is not read
  launch(kernel, buffers);
}

TEST_F(CKernel, ACacheThatCannotBeUsedIsAWarning) {
  setenv("AUTOTUNE_CACHE", database_.c_str(), 1);  // no folder
  options_.device = "host";
  open();
  const int64_t small[3] = {2, 3, 2};
  for (int i = 0; i < 2; ++i) {
    prepare(small);
    EXPECT_EQ(autotune_warnings(handle_), "compiled kernels are not kept: the cache folder " +
                                              database_ + " cannot be used: it is not a folder\n");
  }
}

TEST_F(CKernel, DescribesTheBuffersOfAKernel) {
  options_.device = "host";
  options_.settings = "dtype=i32";
  open();
  const int64_t small[3] = {2, 3, 5};
  autotune_kernel* const kernel = prepare(small);
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
}

TEST_F(CKernel, PreparesTheKernelForAGpuThatIsNotHere) {
  if (!AUTOTUNE_WITH_CUDA) GTEST_SKIP() << "built without the CUDA toolkit";
  options_.device = "NVIDIA H200";
  options_.settings = "scale=beta units=fp32";
  open();
  autotune_kernel* const kernel = prepare(sizes_);
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
}

class CKernelLost : public CApiLostCase {};

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

TEST_F(CKernelLost, WithoutAGpuTheKernelIsTheTunedOneAndSaysWhy) {
  if (!AUTOTUNE_WITH_CUDA) GTEST_SKIP() << "built without the CUDA toolkit";
  if (runs_without_gpu()) return;
  for (const bool tuned_only : {false, true}) {
    options_.tuned_only = tuned_only ? 1 : 0;
    open();
    autotune_kernel* const kernel = prepare(sizes_);
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
  }
}

}  // namespace
}  // namespace autotune
