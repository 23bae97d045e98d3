// SPDX-License-Identifier: Apache-2.0
// Theoretical occupancy is the driver's.
#include "tuner/model/occupancy.hpp"

#include <future>

#include "tests/gpu/gpu_fixture.hpp"
#include "tuner/model/calibration.hpp"
#include "tuner/target/catalog.hpp"

namespace autotune {
namespace {

class OccupancyOfTheDriver : public Gpu {
 protected:
  /// With the groups of multiprocessors that this very board has.
  static const GpuSpec& gpu() {
    static const GpuSpec spec = calibrated(gpu_spec(device().info()), calibrate(device()));
    return spec;
  }

  /// Compares one launch of a compiled kernel.
  void compare(const CompiledKernel& kernel, const KernelResources& resources,
               const Launch& launch) {
    const auto driver = device().active_blocks(kernel, launch);
    ASSERT_TRUE(driver.has_value());
    const KernelShape shape{.threads = static_cast<int>(launch.block.count()),
                            .registers = resources.registers,
                            .static_shared_bytes = resources.shared_bytes,
                            .dynamic_shared_bytes = launch.dynamic_shared_bytes,
                            .cluster = static_cast<int>(launch.cluster.count())};
    const Occupancy ours = occupancy(gpu(), shape);
    EXPECT_EQ(shape.cluster > 1 ? ours.active_clusters : ours.active_blocks, *driver)
        << shape.threads << " threads, " << shape.registers << " registers, "
        << shape.shared_bytes() << " bytes, clusters of " << shape.cluster;
    ++compared_;
  }

  int compared_ = 0;
};

TEST_F(OccupancyOfTheDriver, EqualsOursForEveryBlockSharedMemoryAndCluster) {
  for (const char* registers : {"", "__maxnreg__(40)", "__maxnreg__(104)", "__maxnreg__(200)"}) {
    const CompiledKernel kernel = compiled(saxpy_unit(
        "float v[96]; for (int j = 0; j < 96; ++j) v[j] = x[(i + j) % n];\n"
        "__syncthreads(); float s = 0; for (int j = 0; j < 96; ++j) s += v[j] * v[95 - j] + y[j];\n"
        "if (i < n) out[i] = a * s;",
        registers));
    if (kernel.outcome != Outcome::ok) continue;
    for (const int threads : {32, 96, 128, 160, 256, 288, 512, 992, 1024}) {
      for (const int shared : {0, 1000, 8 << 10, 33 << 10, 64 << 10, 113 << 10, 227 << 10}) {
        if (shared > gpu().sm.shared_bytes_per_block) continue;
        for (int cluster = 1; cluster <= gpu().sm.max_cluster; ++cluster) {
          Launch launch = saxpy_plan(1 << 20, threads).launches[0];
          launch.grid.x = 1024 * cluster;
          launch.cluster.x = cluster;
          launch.dynamic_shared_bytes = shared;
          compare(kernel, kernel.resources[0], launch);
        }
      }
    }
  }
  EXPECT_GT(compared_, 0);
}

TEST_F(OccupancyOfTheDriver, EqualsOursForCompiledVariantsOfGemm) {
  constexpr std::size_t kVariants = 64;
  const DeviceInfo& info = device().info();
  const Target target = find_target("gemm");
  const Problem problem = problem_of(
      target, parse_sizes("512", target.sizes, "--sizes", needed_sizes(target)).front(), {});
  const ParameterSpace space = space_of(target, problem, info);
  struct Variant {
    Configuration configuration;
    std::future<CompiledKernel> kernel;
  };
  std::vector<Variant> variants;
  for (std::size_t i = 0; i < kVariants; ++i) {
    const Configuration configuration = space.at(i * space.size() / kVariants);
    variants.push_back(
        {configuration, std::async(std::launch::async, [=, &target, &problem, &info] {
           return device().compile(source_unit(target, problem, configuration, info));
         })});
  }
  for (Variant& variant : variants) {
    const CompiledKernel kernel = variant.kernel.get();
    ASSERT_EQ(kernel.outcome, Outcome::ok) << kernel.log;
    SCOPED_TRACE(to_text(variant.configuration));
    for (const Launch& launch :
         launch_plan(target, problem, variant.configuration, info).launches) {
      for (const KernelResources& resources : kernel.resources) {
        if (resources.entry == launch.entry) compare(kernel, resources, launch);
      }
    }
  }
  EXPECT_GE(compared_, static_cast<int>(kVariants));
}

}  // namespace
}  // namespace autotune
