// SPDX-License-Identifier: Apache-2.0
// Time of autotune_launch() on the caller's thread, compared with the driver's own launch of the
// same kernel. Needs a GPU. Limits: 0.3 us more than the driver with the pointers of the previous
// call, 1 us with other pointers.
#include <cuda.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "tuner/runtime/autotune.h"

namespace {

constexpr std::int64_t kLength = 1024;  // so short that the GPU keeps up
constexpr int kRounds = 300;
constexpr int kLaunches = 100;  // fewer than the driver queues

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "launch_bench: %s\n", what.c_str());
  std::exit(1);
}

void check(cudaError_t error, const char* what) {
  if (error != cudaSuccess) fail(std::string(what) + ": " + cudaGetErrorString(error));
}

void check(autotune_status status) {
  if (status != AUTOTUNE_OK) fail(autotune_message());
}

using Buffers = std::array<void*, 3>;  // of vector_add: a, b, c

Buffers allocated() {
  Buffers buffers{};
  for (void*& each : buffers) check(cudaMalloc(&each, kLength * sizeof(float)), "cudaMalloc");
  return buffers;
}

/// vector_add as libautotune prepares it.
autotune_kernel* prepared() {
  autotune_options options{};
  options.size = sizeof options;
  options.target = "vector_add";
  options.user_database = "/nonexistent/tuned.db";  // the default configuration
  autotune_handle* handle = nullptr;
  check(autotune_open(&options, &handle));
  autotune_kernel* kernel = nullptr;
  check(autotune_prepare(handle, &kLength, 1, &kernel));
  return kernel;
}

/// The same binary, launched by nothing but the driver.
class DriverLaunch {
 public:
  DriverLaunch(const autotune_kernel* kernel, const Buffers& buffers, cudaStream_t stream)
      : buffers_(buffers) {
    autotune_geometry geometry{};
    geometry.size = sizeof geometry;
    check(autotune_kernel_geometry(kernel, 0, &geometry));
    std::size_t bytes = 0;
    const void* const binary = autotune_kernel_binary(kernel, &bytes);
    cudaLibrary_t library = nullptr;
    check(cudaLibraryLoadData(&library, binary, nullptr, nullptr, 0, nullptr, nullptr, 0),
          "cudaLibraryLoadData");
    cudaKernel_t loaded = nullptr;
    check(cudaLibraryGetKernel(&loaded, library, geometry.entry), "cudaLibraryGetKernel");
    function_ = reinterpret_cast<CUfunction>(loaded);
    config_.gridDimX = geometry.grid[0];
    config_.gridDimY = geometry.grid[1];
    config_.gridDimZ = geometry.grid[2];
    config_.blockDimX = geometry.block[0];
    config_.blockDimY = geometry.block[1];
    config_.blockDimZ = geometry.block[2];
    config_.hStream = stream;
    void* launch = nullptr;
    cudaDriverEntryPointQueryResult found{};
    check(cudaGetDriverEntryPointByVersion("cuLaunchKernelEx", &launch, 12000,
                                           cudaEnableLegacyStream, &found),
          "cuLaunchKernelEx");
    launch_ = reinterpret_cast<decltype(launch_)>(launch);
  }

  void operator()() {
    void* arguments[] = {&buffers_[0], &buffers_[1], &buffers_[2], &length_};
    if (launch_(&config_, function_, arguments, nullptr) != CUDA_SUCCESS) fail("cuLaunchKernelEx");
  }

 private:
  Buffers buffers_;
  int length_ = kLength;
  CUfunction function_ = nullptr;
  CUlaunchConfig config_{};
  decltype(&cuLaunchKernelEx) launch_ = nullptr;
};

struct Way {
  std::string name;
  std::function<void()> launch;
  std::vector<double> microseconds = {};  // a call, one a round
};

void time_once(Way& way, cudaStream_t stream) {
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < kLaunches; ++i) way.launch();
  const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
  way.microseconds.push_back(took.count() / kLaunches);
}

double median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
  return values[values.size() / 2];
}

}  // namespace

int main() {
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
  const Buffers one = allocated(), other = allocated();
  autotune_kernel* const kernel = prepared();
  DriverLaunch driver(kernel, one, stream);
  const auto launch = [&](const Buffers& buffers) {
    check(autotune_launch(kernel, buffers.data(), buffers.size(), stream));
  };
  bool odd = false;
  std::vector<Way> ways = {{"cuLaunchKernelEx", [&] { driver(); }},
                           {"autotune_launch, same pointers", [&] { launch(one); }},
                           {"autotune_launch, other pointers", [&] {
                              odd = !odd;
                              launch(odd ? other : one);
                            }}};
  for (int round = 0; round < kRounds; ++round) {
    for (Way& way : ways) time_once(way, stream);
  }
  const double least = median(ways.front().microseconds);
  for (const Way& way : ways) {
    const double taken = median(way.microseconds);
    std::printf("%-32s %6.3f us a call, %+.3f us\n", way.name.c_str(), taken, taken - least);
  }
}
