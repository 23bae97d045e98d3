// SPDX-License-Identifier: Apache-2.0
// Kernels as people write them: each passes its check on both devices, or the message says what to
// do.
#include "tests/cli/tool.hpp"
#include "tests/support/matchers.hpp"

namespace autotune::testing {
namespace {

/// In `body`, `i` is the thread's number in the grid.
struct Feature {
  std::string name, before, body;
};

const Feature kFeatures[] = {
    {"complex", "#include <cuComplex.h>\n",
     "cuFloatComplex c = cuCmulf(make_cuFloatComplex(1, 2), make_cuFloatComplex(3, 4));"
     "c = cuCdivf(cuCaddf(c, cuConjf(c)), c); if (i < n) y[i] = x[i] + cuCrealf(c) + cuCabsf(c);"},
    {"dynamic_tile", "#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;\n",
     "cg::thread_group g = cg::tiled_partition(cg::this_thread_block(), 16); g.sync();"
     "if (i < n) y[i] = x[i] + g.thread_rank() + g.size();"},
    {"tile_by_its_type", "#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;\n",
     "cg::thread_block block = cg::this_thread_block();"
     "cg::thread_block_tile<32> t = cg::tiled_partition<32>(block);"
     "float v = i < n ? x[i] : 0; v += t.shfl_down(v, 1); if (i < n) y[i] = v;"},
    {"match_and_reduce", "",
     "unsigned same = __match_any_sync(~0u, i & 3); unsigned most = __reduce_max_sync(~0u, i & 7u);"
     "if (i < n) y[i] = x[i] + __popc(same) + most + __reduce_add_sync(~0u, 1u);"},
    {"mathematics", "",
     "if (i < n) y[i] = norm3df(1, 2, x[i]) + cospif(x[i]) + rhypotf(3, 4) + __dp4a(257, 2, 3);"},
    {"pipeline", "#include <cuda_pipeline.h>\n",
     "__shared__ float s[128]; if (i < n) { __pipeline_memcpy_async(&s[threadIdx.x], x + i, 4);"
     "__pipeline_commit(); __pipeline_wait_prior(0); y[i] = s[threadIdx.x]; }"},
    {"heap", "", "float* p = (float*)malloc(4); *p = 2; if (i < n) y[i] = x[i] * *p; free(p);"},
    {"sleep_and_managed", "__managed__ int flag;\n",
     "__nanosleep(1); if (n < 0) __trap(); if (i < n) y[i] = x[i];"},
    {"short_names", "#include <cuda_runtime.h>\n",
     "uint a = 1; ushort b = 2; ulong c = 3; if (i < n) y[i] = x[i] + a + b + c;"},
};

class KernelFeature : public ::testing::TestWithParam<Feature> {};

/// What `check` of the kernel says.
Ended checked(const std::string& source, const std::string& device) {
  const Sandbox sandbox;
  sandbox.write("k.cu", source);
  sandbox.write("k.target.toml", R"toml(manifest = 2
name = "k"
source = "k.cu"
sizes = ["n"]
parameters.B = [32, 64]
arguments.x = { type = "f32", length = "n" }
arguments.y = { type = "f32", length = "n", role = "output", tolerance = 8 }
kernels.k = { grid = "ceil_div(n, B)", block = "B", arguments = ["x", "y", "n"] }
reference.configuration = "default"
)toml");
  return sandbox.run({"check", "./k.target.toml", "--sizes", "100", "--device", device});
}

std::string kernel_of(const Feature& feature) {
  return feature.before +
         "__global__ void __maxnreg__(32) k(const float* x, float* y, int n) {\n"
         "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n" +
         feature.body + "\n}\n";
}

TEST_P(KernelFeature, PassesTheCheckOnTheHost) {
  const Ended check = checked(kernel_of(GetParam()), "host");
  EXPECT_EQ(check.status, 0) << check.out << check.err;
}

TEST_P(KernelFeature, PassesTheCheckForAnH200) {
  if (!AUTOTUNE_WITH_CUDA) GTEST_SKIP() << "built without the CUDA toolkit";
  const Ended check = checked(kernel_of(GetParam()), "model:h200");
  EXPECT_EQ(check.status, 0) << check.out << check.err;
}

INSTANTIATE_TEST_SUITE_P(Kernels, KernelFeature, ::testing::ValuesIn(kFeatures),
                         [](const auto& each) { return each.param.name; });

TEST(Check, OfAKernelThatIsNotSupportedSaysWhatToDo) {
  const auto says = [](const std::string& before, const std::string& body,
                       const std::string& cure) {
    const Ended check = checked(kernel_of({"", before, body}), "host");
    EXPECT_NE(check.status, 0) << check.out;
    EXPECT_THAT(check.out + check.err, HasSubstr(cure));
  };
  says("texture<float> tex;\n", "y[i] = 0;", "take a cudaTextureObject_t as an argument");
  says("", "y[i] = __shfl_down(x[i], 1);", "write __shfl_down_sync(0xffffffff, ...)");
  says("__global__ void k(double* y) { y[0] = 1; }\n", "y[i] = 0;",
       "give the one that is launched a name of its own");
  says("", "asm volatile(\"mov.u32 %0, %%laneid;\" : \"=r\"(n)); y[i] = n;",
       "put it between #ifndef AUTOTUNE_HOST and #endif");
  says("", "y[i] = clock64();", "the host device has no clock");
}

TEST(Check, NotesDynamicSharedMemoryThatNoLaunchGives) {
  const Ended check =
      checked(kernel_of({"", "extern __shared__ float s[];\n", "y[i] = x[i];"}), "host");
  EXPECT_THAT(check.out, HasSubstr("no kernel has dynamic_shared_bytes"));
}

}  // namespace
}  // namespace autotune::testing
