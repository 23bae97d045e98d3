// SPDX-License-Identifier: Apache-2.0
// What `check` says of kernels that do not take what the manifest passes, or that no launch can
// run.
#include <fstream>
#include <set>

#include "tests/cli/tool.hpp"
#include "tests/support/matchers.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

using testing::Ended;
using testing::Sandbox;
using testing::Words;

struct Example {
  std::string name, sizes;
};

const Example kExamples[] = {
    {"softmax", "5x700"}, {"spmv", "500x4416"},     {"histogram", "20000x256"},
    {"nbody", "300"},     {"attention", "2x50x32"}, {"jacobi", "40x50x7"},
    {"rms", "1000"},      {"grade", "700"}};

const std::filesystem::path kFolder = AUTOTUNE_SOURCE_DIR "/examples/kernels";

class ExampleKernel : public ::testing::TestWithParam<Example> {
 protected:
  /// A command, the manifest and the sizes, and more.
  Ended run(const char* command, const char* more) const {
    const auto& [name, sizes] = GetParam();
    return sandbox_.run(format("{} {}/{}/{}.target.toml --sizes {} {}", command, kFolder.string(),
                               name, name, sizes, more));
  }

  Sandbox sandbox_;
};

TEST_P(ExampleKernel, PassesItsCheckOnTheHost) {
  const Ended checked = run("check", "--device host");
  EXPECT_EQ(checked.status, 0) << checked.err << checked.out;
  EXPECT_EQ(checked.err, "");
  EXPECT_THAT(checked.out, Not(HasSubstr("warning")));
}

TEST_P(ExampleKernel, CompilesForAnH200) {
  if (!AUTOTUNE_WITH_CUDA) GTEST_SKIP() << "built without the CUDA toolkit";
  const Ended checked = run("check", "--device model:h200");
  EXPECT_EQ(checked.status, 0) << checked.err << checked.out;
  EXPECT_THAT(checked.err, Not(HasSubstr("warning")));  // how far it came is said after 10 s
}

TEST_P(ExampleKernel, IsRightInEveryConfigurationThatIsTriedOnTheHost) {
  const Ended tuned = run("tune --target", "--device host --seed 3 --strategy random --budget 8");
  EXPECT_EQ(tuned.status, 0) << tuned.err << tuned.out;
  EXPECT_THAT(tuned.err, HasSubstr("tried 8 of"));
  for (const char* failure : {"wrong", "error", "invalid", "nondeterministic"}) {
    EXPECT_THAT(tuned.err, Not(HasSubstr(failure)));
  }
}

INSTANTIATE_TEST_SUITE_P(Each, ExampleKernel, ::testing::ValuesIn(kExamples),
                         [](const auto& each) { return each.param.name; });

TEST(ExampleKernels, AreAllTested) {
  std::set<std::string> there, tested;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    if (entry.is_directory()) there.insert(entry.path().filename());
  }
  for (const Example& each : kExamples) tested.insert(each.name);
  EXPECT_EQ(there, tested);
}

class CheckedKernels : public ::testing::Test {
 protected:
  /// A target whose kernel is `scale`, with this body and scalar `a`.
  Ended check(const std::string& kernel, const std::string& a, const std::string& device,
              const std::string& options = "[]") const {
    sandbox_.write("scale.cu", kernel + R"(
extern "C" __global__ void plain(const float* x, float* y, float a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i];
})");
    sandbox_.write("scale.target.toml", R"toml(manifest = 2
name = "scale"
source = "scale.cu"
sizes = ["N"]
options = )toml" + options + R"toml(
parameters.BLOCK = [32, 64]
arguments.x = { type = "f32", length = "N" }
arguments.y = { type = "f32", length = "N", role = "output", tolerance = 2 }
arguments.a = )toml" + a + R"toml(
launch.arguments = ["x", "y", "a", "N"]
kernels.scale = { grid = "ceil_div(N, BLOCK)", block = "BLOCK", dynamic_shared_bytes = "4 * BLOCK" }
reference.kernels.plain = { grid = "ceil_div(N, 256)", block = 256 }
reference.outputs = "same"
)toml");
    return sandbox_.run(format("check ./scale.target.toml --sizes 1000 --device '{}'", device));
  }

  static std::vector<std::string> devices() {
    if (AUTOTUNE_WITH_CUDA) return {"host", "model:h200"};
    return {"host"};
  }
  /// On each device: this status, and these words in what is said.
  void expect(int status, const std::vector<const char*>& words, const std::string& kernel,
              const std::string& a = kTwo) const {
    for (const std::string& device : devices()) {
      const Ended ended = check(kernel, a, device);
      EXPECT_EQ(ended.status, status) << ended.out << ended.err;
      for (const char* const each : words) EXPECT_THAT(ended.out, HasSubstr(each));
    }
  }
  static constexpr const char* kTwo = "{ type = \"f32\", value = 2 }";

  const Sandbox sandbox_;
};

constexpr const char* kScale = R"(
extern __shared__ float tile[];
extern "C" __global__ void scale(const float* x, float* y, float a, int n) {
  const int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i >= n) return;
  tile[threadIdx.x] = a * x[i];
  __syncthreads();
  y[i] = tile[threadIdx.x];
})";

TEST_F(CheckedKernels, OfTheRightTypesAreFine) {
  for (const std::string& device : devices()) {
    const Ended ended = check(kScale, kTwo, device, "[\"-std=c++20\", \"--use_fast_math\"]");
    EXPECT_EQ(ended.status, 0) << ended.out << ended.err;
    if (device != "host") continue;
    EXPECT_THAT(ended.out, HasSubstr("note      the host device does not use these options, which "
                                     "are NVRTC's own: --use_fast_math\n"));
  }
}

TEST_F(CheckedKernels, BesideTheDefaultStayInsideOfTheirSharedArrays) {
  const Ended ended = check(R"(
extern "C" __global__ void scale(const float* x, float* y, float a, int n) {
  __shared__ float part[32];
  const int i = blockIdx.x * BLOCK + threadIdx.x;
  part[threadIdx.x] = i < n ? a * x[i] : 0;
  __syncthreads();
  if (i < n) y[i] = part[threadIdx.x];
})",
                            kTwo, "host");
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("scale writes element 32 of part, a shared array of 32 "));
  EXPECT_THAT(ended.out, HasSubstr("1 of 2 configurations and the reference are fine\n"));
}

TEST_F(CheckedKernels, ThatTakeNoEdgeProblemAreNotRun) {
  EXPECT_THAT(check(kScale, kTwo, "host").out,
              HasSubstr("the default is right on the edge problem too\n"));
  std::ofstream(sandbox_.folder() / "scale.target.toml", std::ios::app)
      << "constraints = \"N == 1000\"\n";
  EXPECT_THAT(
      sandbox_.run("check ./scale.target.toml --sizes 1000 --device host").out,
      HasSubstr("note      the default was not run: no edge problem has sizes that it takes\n"));
}

TEST_F(CheckedKernels, OfAnotherFolderIncludeStandardHeaders) {
  const std::filesystem::path other = sandbox_.folder() / "other";
  std::filesystem::create_directory(other);
  for (const std::string& device : devices()) {
    check(std::string("#include <stdio.h>\n#include <cmath>\n") + kScale, kTwo, device);
    for (const char* file : {"scale.cu", "scale.target.toml"}) {
      std::filesystem::rename(sandbox_.folder() / file, other / file);
    }
    sandbox_.done(format("check ./other/scale.target.toml --sizes 1000 --device '{}'", device));
  }
}

TEST_F(CheckedKernels, ThatLackAHeaderAreToldTheLineThatIncludesIt) {
  for (const std::string& device : devices()) {
    const Ended ended =
        check(std::string("// Doubles.\n\n#include <not_there.h>\n") + kScale, kTwo, device);
    EXPECT_EQ(ended.status, 1) << ended.out;
    EXPECT_THAT(ended.out, AllOf(HasSubstr("scale.cu"), HasSubstr("not_there.h"),
                                 Not(HasSubstr("prelude")), ContainsRegex("scale.cu[:(]3")));
  }
}

TEST_F(CheckedKernels, OfAnotherTypeAreRefusedWithBothTypes) {
  expect(1,
         {"launch_error", "argument a is i32, parameter 3 of plain is float",
          "argument a is i32, parameter 3 of scale is float: give it type = \"f32\""},
         kScale, "{ value = 2 }");
}

TEST_F(CheckedKernels, ThatWaitForTheGridAreRefused) {
  expect(1, {"needs a cooperative launch: write cooperative = true"}, R"(
#include <cooperative_groups.h>
extern "C" __global__ void scale(const float* x, float* y, float a, int n) {
  y[threadIdx.x] = a * x[threadIdx.x];
  cooperative_groups::this_grid().sync();
})");
}

TEST_F(CheckedKernels, MayBeginAsProgramsOfNvccDoAndHaveHostCode) {
  expect(0,
         {"left out as host code: main (scale.cu:20)\n",
          "replace the source's own: BLOCK (scale.cu:12)\n"},
         R"(
#include <cuda_runtime.h>
#include <algorithm>
#include <assert.h>
#include <cmath>
#include <cstdint>
#include <float.h>
#include <iostream>
#include <limits>
#include <stdio.h>
#include <vector>
#define BLOCK 16
__global__ void scale(const float* x, float* y, float a, int n) {
  const int32_t i = blockIdx.x * BLOCK + threadIdx.x;
  const size_t bytes = sizeof(uint8_t);
  assert(bytes == 1);
  const float big = std::max(std::sqrt(fabs(x[0])), fminf(FLT_MAX, INFINITY));
  if (i < n) y[i] = a * x[i] * (std::numeric_limits<float>::max() < big ? 1 : M_PI > 3);
}
int main() {
  std::vector<float> x(100);
  scale<<<1, BLOCK>>>(x.data(), x.data(), 2, 100);
  std::cout << cudaDeviceSynchronize() << std::endl;
})");
}

TEST_F(CheckedKernels, ThatMeetAMacroSaySo) {
  expect(1, {"BLOCK is a macro of the manifest, and `const int BLOCK = 64;`"}, R"(
__global__ void scale(const float* x, float* y, float a, int n) {
  const int BLOCK = 64;
  const int i = threadIdx.x;
  y[i] = a;
})");
}

TEST_F(CheckedKernels, MayUseCooperativeGroupsOfABlock) {
  expect(0, {}, R"(
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
__global__ void scale(const float* x, float* y, float a, int n) {
  const auto block = cg::this_thread_block();
  const auto tile = cg::tiled_partition<16>(block);
  const int i = block.group_index().x * block.size() + block.thread_rank();
  const int sum = cg::reduce(tile, 1, cg::plus<int>());
  block.sync();
  if (i < n) y[i] = sum == 16 && tile.meta_group_rank() == threadIdx.x / 16 ? a * x[i] : -1;
})");
}

constexpr const char* kTripled = R"toml(manifest = 2
name = "tripled"
source = "tripled.cu"
family = "KERNEL"
families = ["one.toml", "two.toml"]
default = { KERNEL = ["two", "one"] }
sizes.N = {}
sizes.batch = { default = 1 }
arguments.x = { type = "f32", length = "N * batch" }
arguments.y = { type = "f32", length = "N * batch", role = "output", tolerance = 1 }
launch.arguments = ["x", "y", "N * batch"]
reference.kernels.triple_reference = { grid = "ceil_div(N * batch, 128)", block = 128 }
)toml";

constexpr const char* kTripledSource =
    R"cuda(extern "C" __global__ void triple_reference(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 3 * x[i];
}
)cuda";

constexpr const char* kFamilyOne = R"toml([families.one]
source = "one.cu"
parameters.BLOCK = [32, 64, 128]
kernels.triple_one = { grid = "ceil_div(N * batch, BLOCK)", block = "BLOCK" }
)toml";

constexpr const char* kSourceOfOne =
    R"cuda(extern "C" __global__ void triple_one(const float* x, float* y, int n) {
  const int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i < n) y[i] = 3 * x[i];
}
)cuda";

constexpr const char* kFamilyTwo = R"toml([families.two]
when = "N > 64"
source = "two.cu"
parameters.ITEMS = [1, 2, 4]
parameters.THREADS = [64, 256]
kernels.triple_two = { grid = "ceil_div(N * batch, ITEMS * THREADS)", block = "THREADS" }
)toml";

constexpr const char* kSourceOfTwo =
    R"cuda(extern "C" __global__ void triple_two(const float* x, float* y, int n) {
  for (int k = 0; k < ITEMS; ++k) {
    const int i = (blockIdx.x * ITEMS + k) * THREADS + threadIdx.x;
    if (i < n) y[i] = 3 * x[i];
  }
}
)cuda";

class FamiliesOfFiles : public ::testing::Test {
 protected:
  FamiliesOfFiles() {
    sandbox_.write("tripled.target.toml", kTripled);
    sandbox_.write("tripled.cu", kTripledSource);
    sandbox_.write("one.toml", kFamilyOne);
    sandbox_.write("one.cu", kSourceOfOne);
    sandbox_.write("two.toml", kFamilyTwo);
    sandbox_.write("two.cu", kSourceOfTwo);
  }

  Sandbox sandbox_;
};

TEST_F(FamiliesOfFiles, AreCheckedTunedQueriedAndReplayed) {
  for (const char* const device : {"host", "model:h200"}) {
    EXPECT_THAT(sandbox_.done(format("check ./tripled.target.toml --device {}", device)),
                HasSubstr("5 of 5 configurations and the reference are fine"));
  }
  const std::string of = "--target ./tripled.target.toml --device model:h200 ";
  for (const char* const search :
       {"--sizes 700x3 --strategy guided", "--sizes 600 --strategy exhaustive"}) {
    EXPECT_THAT(sandbox_.done("tune " + of + search),
                AllOf(HasSubstr("tripled N="), HasSubstr("KERNEL=")));
  }
  EXPECT_THAT(sandbox_.done("query --target ./tripled.target.toml --size 600"),
              HasSubstr("tripled N=600 batch=1"));
  EXPECT_THAT(
      sandbox_.done("replay --target ./tripled.target.toml --size 700x3 --budget 5 --seeds 2"),
      HasSubstr("tripled"));
}

TEST_F(FamiliesOfFiles, WhereAFamilyIsNotValidTheOtherAnswers) {
  sandbox_.done(
      "tune --target ./tripled.target.toml --sizes 64 --device model:h200 --strategy exhaustive");
  sandbox_.done("db export --format cpp --output answers.hpp");  // two is not valid there
  EXPECT_THAT(file_bytes(sandbox_.folder() / "answers.hpp"),
              AllOf(HasSubstr("KERNEL=one"), Not(HasSubstr("KERNEL=two"))));
}

}  // namespace
}  // namespace autotune
