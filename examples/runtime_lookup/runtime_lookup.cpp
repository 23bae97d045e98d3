// SPDX-License-Identifier: Apache-2.0
// Asks for the tuned gemm of 512 x 512 x 512, launches it on a stream of its own and checks the
// result; without a GPU it shows the configuration and what a program would get to launch.
#include <autotune/autotune.hpp>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#ifdef WITH_CUDA
#include <cuda_runtime_api.h>
#endif

namespace {

constexpr int kSize = 512;

void show(const autotune_runtime::Kernel& kernel) {
  std::size_t bytes = 0;
  kernel.binary(&bytes);
  const autotune_geometry geometry = kernel.geometry();
  std::printf("%s: %zu bytes of code, grid %ux%u, block %ux%u\n", geometry.entry, bytes,
              geometry.grid[0], geometry.grid[1], geometry.block[0], geometry.block[1]);
  std::string text;
  switch (kernel.engine(&text)) {
    case AUTOTUNE_TUNED_KERNEL:
      break;
    case AUTOTUNE_VENDOR_LIBRARY:
      std::printf("launch() calls %s, which is faster\n", text.c_str());
      break;
    case AUTOTUNE_VENDOR_MISSING:
      std::printf("a faster library is not used: %s\n", text.c_str());
      break;
  }
}

#ifdef WITH_CUDA
void check_cuda(cudaError_t error) {
  if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}

/// A[i][k] = i % 7 and B = 1, so that D[i][j] = 512 (i % 7), exactly.
std::vector<float> contents_of(const std::string& name, std::size_t count) {
  std::vector<float> values(count, name == "B" ? 1.0f : 0.0f);
  if (name == "A") {
    for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i / kSize % 7);
  }
  return values;
}

/// Whether D is right.
bool launch(const autotune_runtime::Kernel& kernel) {
  cudaStream_t stream = nullptr;
  check_cuda(cudaStreamCreate(&stream));
  std::vector<void*> buffers;
  void* result = nullptr;
  for (std::size_t i = 0; i < autotune_kernel_buffers(kernel.get()); ++i) {
    std::uint64_t bytes = 0;
    const std::string name = autotune_kernel_buffer(kernel.get(), i, &bytes);
    void* memory = nullptr;
    check_cuda(cudaMalloc(&memory, bytes));
    const std::vector<float> values = contents_of(name, bytes / sizeof(float));
    check_cuda(cudaMemcpy(memory, values.data(), bytes, cudaMemcpyHostToDevice));
    buffers.push_back(memory);
    if (name == "D") result = memory;
  }
  kernel.launch(buffers, stream);
  check_cuda(cudaStreamSynchronize(stream));
  std::vector<float> d(std::size_t{kSize} * kSize);
  check_cuda(cudaMemcpy(d.data(), result, d.size() * sizeof(float), cudaMemcpyDeviceToHost));
  for (void* memory : buffers) check_cuda(cudaFree(memory));
  check_cuda(cudaStreamDestroy(stream));
  for (std::size_t i = 0; i < d.size(); ++i) {
    if (d[i] != static_cast<float>(kSize * (i / kSize % 7))) return false;
  }
  return true;
}

bool has_gpu() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess && count > 0;
}
#else
bool launch(const autotune_runtime::Kernel&) { return true; }
bool has_gpu() { return false; }
#endif

}  // namespace

int main() try {
  autotune_runtime::Lookup gemm("gemm", "dtype=f32");
  std::printf("%s", gemm.explain({kSize, kSize, kSize}).c_str());
  try {
    const autotune_runtime::Kernel kernel = gemm.prepare({kSize, kSize, kSize});
    show(kernel);
    if (!has_gpu()) return 0;
    const bool right = launch(kernel);
    std::printf("launched: the result is %s\n", right ? "right" : "wrong");
    return right ? 0 : 1;
  } catch (const autotune_runtime::Failure& failure) {
    if (failure.status() != AUTOTUNE_NO_DEVICE) throw;
    std::printf("%s\n", failure.what());  // tuned on a host: nothing to load
  }
} catch (const std::exception& error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return 1;
}
