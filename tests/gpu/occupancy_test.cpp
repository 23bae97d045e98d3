// SPDX-License-Identifier: Apache-2.0
// Theoretical occupancy is the driver's.
#include "tuner/model/occupancy.hpp"

#include "tests/gpu/gpu_fixture.hpp"

namespace autotune {
namespace {

class OccupancyOfTheDriver : public Gpu {};

TEST_F(OccupancyOfTheDriver, EqualsOursForEveryBlockAndSharedMemory) {
  const GpuSpec gpu = gpu_spec(device().info());
  int compared = 0;
  for (const char* registers : {"", "__maxnreg__(40)", "__maxnreg__(104)", "__maxnreg__(200)"}) {
    const CompiledKernel kernel = compiled(saxpy_unit(
        "float v[96]; for (int j = 0; j < 96; ++j) v[j] = x[(i + j) % n];\n"
        "__syncthreads(); float s = 0; for (int j = 0; j < 96; ++j) s += v[j] * v[95 - j] + y[j];\n"
        "if (i < n) out[i] = a * s;",
        registers));
    if (kernel.outcome != Outcome::ok) continue;
    for (const int threads : {32, 96, 128, 160, 256, 288, 512, 992, 1024}) {
      for (const int shared : {0, 1000, 8 << 10, 33 << 10, 64 << 10, 113 << 10, 227 << 10}) {
        Launch launch = saxpy_plan(1 << 16, threads).launches[0];
        launch.dynamic_shared_bytes = shared;
        const auto driver = device().active_blocks(kernel, launch);
        if (!driver) continue;
        const KernelShape shape{.threads = threads,
                                .registers = kernel.resources[0].registers,
                                .static_shared_bytes = kernel.resources[0].shared_bytes,
                                .dynamic_shared_bytes = shared};
        EXPECT_EQ(occupancy(gpu, shape).active_blocks, *driver)
            << threads << " threads, " << shape.registers << " registers, " << shared << " bytes";
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 0);
}

}  // namespace
}  // namespace autotune
