// SPDX-License-Identifier: Apache-2.0
#include "tuner/host/translation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace autotune {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

TEST(ClusterDims, StandAnywhereBeforeTheNameOfAKernel) {
  for (const char* text :
       {"extern \"C\" __global__ void __cluster_dims__(2, 1, 1) scale(float* x) {}",
        "__global__ __cluster_dims__(2, 1, 1) void scale(float* x);",
        "template <int kWide>\n__cluster_dims__ (2, 1, 1) __global__ void\n"
        "__launch_bounds__(kWide * (2 + 2)) scale(float*);",
        "__global__ void __cluster_dims__(2, 1, 1)  // two blocks (a pair)\n scale() {}"}) {
    EXPECT_THAT(cluster_dims(text), ElementsAre(Pair("scale", "(2, 1, 1)"))) << text;
  }
}

TEST(ClusterDims, AreThoseOfEachKernel) {
  EXPECT_THAT(cluster_dims("__global__ void first() {}\n"
                           "__global__ void __cluster_dims__(N / (2), 2) second() { f(1); }\n"
                           "// __cluster_dims__(7)\n"
                           "__global__ void __cluster_dims__(4) third(); void fourth();\n"),
              ElementsAre(Pair("second", "(N / (2), 2)"), Pair("third", "(4)")));
}

TEST(ClusterDims, AreUnknownWhereTheirKernelIs) {
  for (const char* text :
       {"#define CLUSTERED __cluster_dims__(2)\n__global__ void CLUSTERED scale() {}",
        "__global__ void __cluster_dims__(2) scale() {}\n#ifdef __cluster_dims__\n#endif\nint f();",
        "__global__ void __cluster_dims__(2) scale();\n__global__ void __cluster_dims__(4) "
        "scale();",
        "__cluster_dims__(2", "__cluster_dims__", "int __cluster_dims__(2); void f();"}) {
    EXPECT_THAT(cluster_dims(text), IsEmpty()) << text;
  }
}

}  // namespace
}  // namespace autotune
