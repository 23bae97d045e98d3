// SPDX-License-Identifier: Apache-2.0
// Asks for the tuned gemm of 512 x 512 x 512 and shows what a program gets to load and launch.
#include <autotune/autotune.hpp>
#include <cstdio>
#include <exception>

int main() try {
  autotune_runtime::Lookup gemm("gemm", "dtype=f32");
  std::printf("%s", gemm.explain({512, 512, 512}).c_str());
  try {
    const autotune_runtime::Kernel kernel = gemm.prepare({512, 512, 512});
    std::size_t bytes = 0;
    kernel.binary(&bytes);
    const autotune_geometry geometry = kernel.geometry();
    std::printf("%s: %zu bytes of code, grid %ux%u, block %ux%u\n", geometry.entry, bytes,
                geometry.grid[0], geometry.grid[1], geometry.block[0], geometry.block[1]);
  } catch (const autotune_runtime::Failure& failure) {
    if (failure.status() != AUTOTUNE_NO_DEVICE) throw;
    std::printf("%s\n", failure.what());
  }
} catch (const std::exception& error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return 1;
}
