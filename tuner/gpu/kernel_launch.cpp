// SPDX-License-Identifier: Apache-2.0
#include "tuner/gpu/kernel_launch.hpp"

#include <cuda.h>

#include <algorithm>
#include <limits>
#include <mutex>
#include <utility>

#include "tuner/core/kernel_arguments.hpp"
#include "tuner/core/refusals.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

[[noreturn]] void refuse(const std::string& entry, const std::string& why) {
  throw KernelFailure(Outcome::launch_error, format("{}: {}", written_name(entry), why));
}

unsigned narrow(std::int64_t extent, const Launch& launch) {
  if (extent < 1 || extent > std::numeric_limits<int>::max()) {
    refuse(launch.entry, format("an extent of its launch is {}", extent));
  }
  return static_cast<unsigned>(extent);
}

dim3 dim3_of(const Dim3& size, const Launch& launch) {
  dim3 result;
  result.x = narrow(size.x, launch);
  result.y = narrow(size.y, launch);
  result.z = narrow(size.z, launch);
  return result;
}

/// Points to `attributes`, the first of which are filled.
cudaLaunchConfig_t config_of(const Launch& launch, LaunchAttributes& attributes) {
  cudaLaunchConfig_t config{};
  config.gridDim = dim3_of(launch.grid, launch);
  config.blockDim = dim3_of(launch.block, launch);
  config.dynamicSmemBytes = static_cast<std::size_t>(launch.dynamic_shared_bytes);
  config.attrs = attributes.data();
  if (launch.cluster.count() > 1) {
    const dim3 shape = dim3_of(launch.cluster, launch);
    cudaLaunchAttribute& cluster = attributes[config.numAttrs++];
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim = {shape.x, shape.y, shape.z};
  }
  if (launch.cooperative) {
    cudaLaunchAttribute& cooperative = attributes[config.numAttrs++];
    cooperative.id = cudaLaunchAttributeCooperative;
    cooperative.val.cooperative = 1;
  }
  if (launch.starts_early) {
    cudaLaunchAttribute& early = attributes[config.numAttrs++];
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
  }
  return config;
}

/// Otherwise its blocks would wait for others that never start.
void require_resident(const LoadedCubin& cubin, const Launch& launch) {
  int gpu = 0, multiprocessors = 0;
  check_cuda(cudaGetDevice(&gpu), "find the GPU");
  check_cuda(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, gpu),
             "ask the GPU");
  const std::int64_t most = launch.cluster.count() > 1
                                ? resident(cubin, launch) * launch.cluster.count()
                                : std::int64_t{resident(cubin, launch)} * multiprocessors;
  const std::string why = not_resident(launch, most);
  if (!why.empty()) throw KernelFailure(Outcome::invalid, why);
}

Library load(std::string_view cubin) {
  cudaLibrary_t library = nullptr;
  check_kernel(
      cudaLibraryLoadData(&library, cubin.data(), nullptr, nullptr, 0, nullptr, nullptr, 0),
      "loading the cubin");
  return Library(library);
}

}  // namespace

LoadedCubin::LoadedCubin(std::string_view cubin) : library_(load(cubin)) {
  for (CubinKernel& kernel : kernels_of(cubin)) {
    std::string entry = kernel.resources.entry;
    kernels_.emplace(std::move(entry), std::move(kernel));
  }
}

const void* LoadedCubin::kernel(const std::string& entry) const {
  const auto known = kernels_.find(entry);
  const std::string& symbol = known == kernels_.end() ? entry : known->second.symbol;
  cudaKernel_t kernel = nullptr;
  check_kernel(cudaLibraryGetKernel(&kernel, library_.get(), symbol.c_str()), entry);
  return reinterpret_cast<const void*>(kernel);
}

void* LoadedCubin::constant(const std::string& symbol, std::int64_t bytes) const {
  if (void* const address = find_constant(symbol, bytes)) return address;
  refuse(symbol, "the source has no __constant__ variable of this name, or no kernel uses it");
}

void* LoadedCubin::find_constant(const std::string& symbol, std::int64_t bytes) const {
  void* address = nullptr;
  std::size_t there = 0;
  if (cudaLibraryGetGlobal(&address, &there, library_.get(), symbol.c_str()) != cudaSuccess) {
    cudaGetLastError();
    return nullptr;
  }
  if (std::cmp_less(there, bytes)) {
    refuse(symbol,
           format("the __constant__ variable has {} bytes, and the argument {}", there, bytes));
  }
  return address;
}

const std::vector<int>& LoadedCubin::parameter_bytes(const std::string& entry) const {
  const auto found = kernels_.find(entry);
  if (found == kernels_.end()) refuse(entry, "the cubin has no such kernel");
  return *found->second.resources.parameter_bytes;
}

void allow(const void* kernel, const Launch& launch) {
  const auto bytes = launch.dynamic_shared_bytes;
  if (bytes < 0 || bytes > std::numeric_limits<int>::max()) {
    refuse(launch.entry, format("{} bytes of dynamic shared memory are out of range", bytes));
  }
  if (bytes > 0 && cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                        static_cast<int>(bytes)) != cudaSuccess) {
    cudaGetLastError();
    refuse(launch.entry,
           format("{} bytes of dynamic shared memory are more than the device allows for a block",
                  bytes));
  }
  if (launch.cluster.count() > 8) {
    check_kernel(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1),
                 launch.entry);
  }
}

BoundLaunch::BoundLaunch(const LoadedCubin& cubin, const Launch& launch,
                         std::span<std::byte* const> addresses, std::span<const BufferSpec> buffers)
    : entry_(launch.entry),
      starts_early_(launch.starts_early),
      kernel_(cubin.kernel(launch.entry)),
      values_(launch, addresses, buffers),
      config_(config_of(launch, attributes_)) {
  check_arguments(launch, cubin.parameter_bytes(entry_));
  allow(kernel_, launch);
  if (launch.cooperative) require_resident(cubin, launch);
}

cudaError_t BoundLaunch::operator()(cudaStream_t stream, bool early) const {
  cudaLaunchConfig_t config = config_;
  config.stream = stream;
  if (starts_early_ && !early) --config.numAttrs;
  if (launched_by_driver(config)) return cudaSuccess;
  // Gives a thread without a context one, or lets the runtime report the error.
  return cudaLaunchKernelExC(&config, kernel_, values_.pointers());
}

/// Calls the driver directly, without the runtime's overhead. Kernels, streams and attributes are
/// the same in both.
bool BoundLaunch::launched_by_driver(const cudaLaunchConfig_t& wanted) const {
  static const auto launch =
      reinterpret_cast<decltype(&cuLaunchKernelEx)>(driver_function("cuLaunchKernelEx"));
  if (launch == nullptr) return false;
  static_assert(sizeof(cudaLaunchAttribute) == sizeof(CUlaunchAttribute));
  CUlaunchConfig config{};
  config.gridDimX = wanted.gridDim.x;
  config.gridDimY = wanted.gridDim.y;
  config.gridDimZ = wanted.gridDim.z;
  config.blockDimX = wanted.blockDim.x;
  config.blockDimY = wanted.blockDim.y;
  config.blockDimZ = wanted.blockDim.z;
  config.sharedMemBytes = static_cast<unsigned>(wanted.dynamicSmemBytes);
  config.hStream = wanted.stream;
  config.attrs = reinterpret_cast<CUlaunchAttribute*>(wanted.attrs);
  config.numAttrs = wanted.numAttrs;
  auto* const function = reinterpret_cast<CUfunction>(const_cast<void*>(kernel_));
  return launch(&config, function, values_.pointers(), nullptr) == CUDA_SUCCESS;
}

DeviceMemory allocated_workspace(const BufferSpec& spec) {
  static const std::vector<std::byte> zeros(1 << 20);
  const std::int64_t bytes = spec.bytes();
  DeviceMemory memory(bytes);
  if (spec.fill != Fill::zero) return memory;
  const Stream stream = make_stream();
  for (std::int64_t done = 0; done < bytes; done += std::ssize(zeros)) {
    const std::int64_t part = std::min<std::int64_t>(bytes - done, std::ssize(zeros));
    check_cuda(cudaMemcpyAsync(memory.get() + done, zeros.data(), static_cast<std::size_t>(part),
                               cudaMemcpyHostToDevice, stream.get()),
               "set memory");
  }
  check_cuda(cudaStreamSynchronize(stream.get()), "set memory");
  return memory;
}

int resident(const LoadedCubin& cubin, const Launch& launch) {
  const void* const kernel = cubin.kernel(launch.entry);
  allow(kernel, launch);
  int count = 0;
  if (launch.cluster.count() > 1) {
    LaunchAttributes attributes{};
    const cudaLaunchConfig_t config = config_of(launch, attributes);
    check_kernel(cudaOccupancyMaxActiveClusters(&count, kernel, &config), launch.entry);
  } else {
    check_kernel(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
                     &count, kernel, static_cast<int>(launch.block.count()),
                     static_cast<std::size_t>(launch.dynamic_shared_bytes)),
                 launch.entry);
  }
  return count;
}

BoundPlan::BoundPlan(const LoadedCubin& cubin, const LaunchPlan& plan,
                     std::span<std::byte* const> addresses, std::span<const BufferSpec> buffers) {
  for (const ConstantCopy& copy : plan.constants) {
    const std::int64_t bytes = buffers[copy.buffer].bytes();
    void* const variable = copy.optional ? cubin.find_constant(copy.symbol, bytes)
                                         : cubin.constant(copy.symbol, bytes);
    if (variable == nullptr) continue;
    copies_.push_back(
        {copy.buffer, variable, addresses[copy.buffer], static_cast<std::size_t>(bytes)});
  }
  for (const Launch& launch : plan.launches) {
    launches_.emplace_back(cubin, launch, addresses, buffers);
    any_starts_early_ = any_starts_early_ || launch.starts_early;
  }
  for (const Launch& launch : plan.checks) {
    checks_.emplace_back(cubin, launch, addresses, buffers);
  }
}

void BoundPlan::launch(cudaStream_t stream, EarlyStart early) const {
  for (const Copy& copy : copies_) {
    check_kernel(cudaMemcpyAsync(copy.to, copy.from, copy.bytes, cudaMemcpyDeviceToDevice, stream),
                 "copying into constant memory");
  }
  const bool asks = any_starts_early_ && early != EarlyStart::never;
  const Ahead ahead = asks ? ahead_on(stream) : Ahead::plain_stream;
  bool now = ahead == Ahead::early_kernel ||
             (ahead == Ahead::plain_stream && early == EarlyStart::everywhere);
  for (const BoundLaunch& one : launches_) {
    check_kernel(one(stream, now), one.entry());
    now = true;
  }
  if (ahead != Ahead::plain_stream && launches_.back().starts_early()) note_tail(stream);
}

void BoundPlan::check(cudaStream_t stream) const {
  for (const BoundLaunch& one : checks_) check_kernel(one(stream, true), one.entry());
}

void BoundPlan::move(std::uint32_t buffer, std::byte* address) {
  for (Copy& copy : copies_) {
    if (copy.buffer == buffer) copy.from = address;
  }
  for (BoundLaunch& one : launches_) one.values().move(buffer, address);
}

void BoundPlan::set(const Scalar& scalar) {
  for (BoundLaunch& one : launches_) one.values().set(scalar);
}

namespace {

/// A node of a capture. The driver never uses the number of a capture again, and a capture keeps
/// its nodes, so no two kernels share both.
struct Tail {
  cuuint64_t capture = 0;  // 0: none
  CUgraphNode node = nullptr;
  friend bool operator==(const Tail&, const Tail&) = default;
};

struct Point {
  bool captured = false;
  Tail tail;  // what the next node will depend on, if that is one node
};

/// The function of CUDA 12.0. Fails if the next edge has attributes.
using GetCaptureInfo = CUresult(CUDAAPI*)(CUstream, CUstreamCaptureStatus*, cuuint64_t*, CUgraph*,
                                          const CUgraphNode**, std::size_t*);

Point point_on(cudaStream_t stream) {
  static const auto ask =
      reinterpret_cast<GetCaptureInfo>(driver_function("cuStreamGetCaptureInfo"));
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  cuuint64_t capture = 0;
  const CUgraphNode* nodes = nullptr;
  std::size_t count = 0;
  if (ask == nullptr || ask(stream, &status, &capture, nullptr, &nodes, &count) != CUDA_SUCCESS ||
      status != CU_STREAM_CAPTURE_STATUS_ACTIVE) {
    return {};
  }
  if (count != 1) return {true, {}};
  return {true, {capture, nodes[0]}};
}

/// A ring of the latest.
class Tails {
 public:
  bool has(const Tail& tail) {
    const std::lock_guard lock(mutex_);
    return std::ranges::find(ring_, tail) != ring_.end();
  }
  void add(const Tail& tail) {
    const std::lock_guard lock(mutex_);
    ring_[next_] = tail;
    next_ = (next_ + 1) % ring_.size();
  }

 private:
  std::mutex mutex_;
  std::array<Tail, 256> ring_{};
  std::size_t next_ = 0;
};

Tails& tails() {
  static Tails all;
  return all;
}

}  // namespace

Ahead ahead_on(cudaStream_t stream) {
  const Point point = point_on(stream);
  if (!point.captured) return Ahead::plain_stream;
  return point.tail.node != nullptr && tails().has(point.tail) ? Ahead::early_kernel : Ahead::other;
}

void note_tail(cudaStream_t stream) {
  const Point point = point_on(stream);
  if (point.tail.node != nullptr) tails().add(point.tail);
}

}  // namespace autotune
