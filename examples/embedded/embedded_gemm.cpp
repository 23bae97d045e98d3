// SPDX-License-Identifier: Apache-2.0
// Launches every tuned gemm of gemm_tuned.hpp that this GPU can run, and checks the results. It
// links to libcuda alone: no database, no compiler and no part of autotune is needed.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "gemm_tuned.hpp"

namespace {

namespace tuned = autotune_embedded;

void check(CUresult result, const char* what) {
  if (result == CUDA_SUCCESS) return;
  const char* text = "unknown error";
  cuGetErrorString(result, &text);
  std::fprintf(stderr, "error: %s: %s\n", what, text);
  std::exit(1);
}

/// A[i][k] = i % 7 and everything else 1, so that D[i][j] = K (i % 7), exactly.
std::vector<float> contents_of(const tuned::Buffer& buffer, std::int64_t k) {
  std::vector<float> values(buffer.bytes / sizeof(float), 1.0f);
  for (std::size_t i = 0; buffer.name[0] == 'A' && i < values.size(); ++i) {
    values[i] = static_cast<float>(i / static_cast<std::size_t>(k) % 7);
  }
  return values;
}

/// Whether D is right.
bool runs_right(const tuned::Row& row, CUstream stream) {
  const std::int64_t m = row.sizes[0], n = row.sizes[1], k = row.sizes[2];
  tuned::Kernel kernel;
  check(kernel.load(row), "loading the kernel");
  std::vector<CUdeviceptr> memory;
  CUdeviceptr result = 0;
  for (const tuned::Buffer& buffer : row.buffers) {
    CUdeviceptr address = 0;
    const std::vector<float> values = contents_of(buffer, k);
    check(cuMemAlloc(&address, buffer.bytes), "allocating memory");
    check(cuMemcpyHtoD(address, values.data(), buffer.bytes), "copying to the GPU");
    memory.push_back(address);
    if (buffer.name[0] == 'D') result = address;
  }
  check(kernel.launch(memory.data(), stream), "launching the kernel");
  check(cuStreamSynchronize(stream), "running the kernel");
  std::vector<float> d(static_cast<std::size_t>(m * n));
  check(cuMemcpyDtoH(d.data(), result, d.size() * sizeof(float)), "copying from the GPU");
  for (CUdeviceptr address : memory) cuMemFree(address);
  for (std::size_t i = 0; i < d.size(); ++i) {
    if (d[i] != static_cast<float>(k * (static_cast<std::int64_t>(i) / n % 7))) return false;
  }
  return true;
}

}  // namespace

int main() {
  CUdevice device = 0;
  CUcontext context = nullptr;
  CUstream stream = nullptr;
  tuned::Gpu gpu;
  check(cuInit(0), "starting CUDA");
  check(cuDeviceGet(&device, 0), "opening the GPU");
  check(tuned::describe(device, gpu), "asking for the GPU's name");
  check(cuDevicePrimaryCtxRetain(&context, device), "opening a context");
  check(cuCtxSetCurrent(context), "opening a context");
  check(cuStreamCreate(&stream, CU_STREAM_DEFAULT), "creating a stream");
  bool all_right = true;
  for (const tuned::Row& row : tuned::gemm::kRows) {
    if (tuned::gemm::find(gpu, {row.sizes[0], row.sizes[1], row.sizes[2]}) != &row) continue;
    const bool right = runs_right(row, stream);
    std::printf("%lldx%lldx%lld %s: %s\n", static_cast<long long>(row.sizes[0]),
                static_cast<long long>(row.sizes[1]), static_cast<long long>(row.sizes[2]),
                row.configuration, right ? "right" : "wrong");
    all_right = all_right && right;
  }
  return all_right ? 0 : 1;
}
