// SPDX-License-Identifier: Apache-2.0
// The reduction counts elements with int, and takes as many as an int counts.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>
#include <vector>

#include "tests/kernel_sources/gpu_kernels_on_the_host.hpp"
#include "tuner/host/bound_plan.hpp"
#include "tuner/target/manifest.hpp"

namespace autotune::long_reduction_test {
namespace {

using testing::host;

/// Zeros, which take no memory until they are written.
class Zeros {
 public:
  explicit Zeros(std::size_t bytes)
      : bytes_(bytes),
        address_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {}
  ~Zeros() {
    if (exist()) munmap(address_, bytes_);
  }
  Zeros(const Zeros&) = delete;
  Zeros& operator=(const Zeros&) = delete;

  bool exist() const { return address_ != MAP_FAILED; }
  std::span<std::byte> bytes() const { return {static_cast<std::byte*>(address_), bytes_}; }

 private:
  std::size_t bytes_;
  void* address_;
};

void put(std::span<std::byte> bytes, std::int64_t index, float value) {
  std::memcpy(&bytes[static_cast<std::size_t>(index) * sizeof value], &value, sizeof value);
}

TEST(LongReduction, SumsAsManyElementsAsAnIntCounts) {
  constexpr std::int64_t kLength = (std::int64_t{1} << 31) - 1;
  const Zeros x(kLength * sizeof(float));
  if (!x.exist()) GTEST_SKIP() << "there are no 8 GiB of addresses";
  put(x.bytes(), 0, 1);
  put(x.bytes(), kLength / 2, 2);
  put(x.bytes(), kLength - 1, 4);
  const Target target =
      load_manifest(AUTOTUNE_SOURCE_DIR "/kernel_sources/reduction/reduction.target.toml");
  const Problem problem = problem_of(target, {{"N", kLength}}, {});
  const ParameterSpace space =
      space_of(with_fixed(target, parse_named_values("BLOCK=1 VECTOR=1 ITEMS=8 BLOCKS=4224")),
               problem, host().info());
  ASSERT_EQ(space.size(), 1u);
  const CompiledKernel kernel =
      host().compile(source_unit(target, problem, space.at(0), host().info()));
  ASSERT_EQ(name_of(kernel.outcome), "ok") << kernel.log;
  const LaunchPlan plan = launch_plan(target, problem, space.at(0), host().info());
  float sum = 0;
  std::vector<double> partial(4224);
  const std::vector<HostMemory> memory{
      {x.bytes(), ElementType::f32},
      {std::as_writable_bytes(std::span(&sum, 1)), ElementType::f32},
      {std::as_writable_bytes(std::span(partial)), ElementType::f64}};
  const HostModule module(*kernel.binary);
  Launcher launcher(2, ThreadOrder::forward);
  HostPlan(plan, module, memory).run(launcher);
  EXPECT_EQ(sum, 7);
}

}  // namespace
}  // namespace autotune::long_reduction_test
