// SPDX-License-Identifier: Apache-2.0
#include "tuner/gpu/device_kernels.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "tuner/core/error.hpp"
#include "tuner/gpu/cuda_handles.hpp"
#include "tuner/measure/verification.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

constexpr int kThreads = 256;

}  // namespace

DeviceKernels::DeviceKernels(const CubinCompiler& compiler, int multiprocessors)
    : compiler_(compiler), multiprocessors_(multiprocessors) {
  begun(std::nullopt);
}

/// With the lock held, or before anyone else knows this.
DeviceKernels::State& DeviceKernels::begun(Part part) const {
  State& state = parts_[part];
  if (state.loaded || state.compiling.valid()) return state;
  state.compiling = std::async(std::launch::async, [compiler = compiler_, part] {
    return compiler.compile(part ? device_kernels_source(*part) : device_kernels_source());
  });
  return state;
}

const LoadedCubin& DeviceKernels::of(Part part) const {
  const std::lock_guard lock(mutex_);
  State& state = begun(part);
  if (state.loaded) return *state.loaded;
  const CompiledKernel compiled = state.compiling.get();
  if (compiled.outcome != Outcome::ok) {
    throw Error("the kernels that fill buffers and check results do not compile with this NVRTC: " +
                compiled.log);
  }
  state.loaded = std::make_unique<LoadedCubin>(*compiled.binary);
  return *state.loaded;
}

void DeviceKernels::begin(std::span<const BufferSpec> buffers) const {
  const std::lock_guard lock(mutex_);
  for (const BufferSpec& buffer : buffers) {
    begun(buffer.type);
    if (buffer.role != Role::input) begun(bits_type(buffer.type));
  }
}

void DeviceKernels::finish(std::span<const BufferSpec> buffers) const {
  for (const BufferSpec& buffer : buffers) {
    if (buffer.role == Role::input) continue;
    of(buffer.type);
    of(bits_type(buffer.type));
  }
}

template <class... Values>
void DeviceKernels::launch(const LoadedCubin& cubin, const std::string& kernel, cudaStream_t stream,
                           std::int64_t threads, Values... values) const {
  if (threads == 0) return;
  const std::int64_t blocks = (threads + kThreads - 1) / kThreads;
  cudaLaunchConfig_t config{};
  config.gridDim.x = static_cast<unsigned>(std::min<std::int64_t>(blocks, multiprocessors_ * 8));
  config.blockDim.x = kThreads;
  config.stream = stream;
  void* arguments[] = {&values...};
  check_cuda(cudaLaunchKernelExC(&config, cubin.kernel(kernel), arguments),
             "run a kernel of the tuner's own");
}

void DeviceKernels::fill(cudaStream_t stream, ElementType type, const ElementRule& rule,
                         std::byte* to, std::int64_t count) const {
  launch(of(type), "fill", stream, count, to, count, rule);
}

void DeviceKernels::compare(cudaStream_t stream, const BufferSpec& buffer, const std::byte* got,
                            const SealedAnswer& right, Finding* finding) const {
  launch(of(buffer.type), right.type == buffer.type ? "compare" : "compare_f64", stream,
         buffer.length, got, right.values.get(), right.magnitudes.get(), buffer.length,
         allowance(buffer, right.type, right.exact), finding);
}

void DeviceKernels::compare_bits(cudaStream_t stream, const BufferSpec& buffer,
                                 const std::byte* one, const std::byte* other,
                                 Finding* finding) const {
  const std::byte* const no_magnitudes = nullptr;
  launch(of(bits_type(buffer.type)), "compare", stream, buffer.length, one, other, no_magnitudes,
         buffer.length, Allowance{}, finding);
}

void DeviceKernels::count_other(cudaStream_t stream, const std::byte* start, std::int64_t bytes,
                                std::byte value, std::uint64_t* others) const {
  launch(of(std::nullopt), "count_other", stream, bytes, start, bytes, value, others);
}

void DeviceKernels::scatter(cudaStream_t stream, std::byte* to, const std::byte* from,
                            const std::int64_t* positions, std::int64_t count,
                            std::int64_t element_bytes) const {
  launch(of(std::nullopt), "scatter", stream, count * element_bytes, to, from, positions, count,
         element_bytes);
}

void DeviceKernels::hash(cudaStream_t stream, const std::byte* start, std::int64_t bytes,
                         std::uint64_t* sum) const {
  launch(of(std::nullopt), "hash", stream, (bytes + 3) / 4, start, bytes, sum);
}

void DeviceKernels::count_inexact(cudaStream_t stream, ElementType type, const std::byte* values,
                                  std::int64_t count, double limit, std::uint64_t* others) const {
  launch(of(type), "count_inexact", stream, count, values, count, limit, others);
}

void DeviceKernels::stamp(cudaStream_t stream, Stamp* stamps) const {
  cudaLaunchConfig_t config{};
  config.gridDim.x = static_cast<unsigned>(multiprocessors_);
  config.stream = stream;
  void* arguments[] = {&stamps};
  check_cuda(cudaLaunchKernelExC(&config, of(std::nullopt).kernel("stamp"), arguments),
             "read its clock");
}

void DeviceKernels::copy(cudaStream_t stream, std::byte* to, const std::byte* from,
                         std::int64_t bytes) const {
  launch(of(std::nullopt), "copy", stream, (bytes + 15) / 16, to, from, bytes);
}

void DeviceKernels::neighbour(cudaStream_t stream, float* values, std::int64_t count) const {
  launch(of(std::nullopt), "neighbour", stream, count, values, count);
}

void DeviceKernels::empty(cudaStream_t stream) const {
  cudaLaunchConfig_t config{};
  config.stream = stream;
  check_cuda(cudaLaunchKernelExC(&config, of(std::nullopt).kernel("empty"), nullptr),
             "launch a kernel");
}

namespace {

SourceUnit source_of(std::string prelude, std::vector<std::string> entries) {
  SourceUnit unit;
  unit.name = "elements.hpp";
  unit.prelude = std::move(prelude);
  unit.text = device_kernels_text();
  unit.options = {"-fmad=false"};  // products and sums are rounded apart, as on the host
  unit.entries = std::move(entries);
  return unit;
}

}  // namespace

SourceUnit device_kernels_source() {
  return source_of(format("#define MOST_STAMPS {}\n", kMostStamps),
                   {"count_other", "scatter", "hash", "stamp", "copy", "empty", "neighbour"});
}

SourceUnit device_kernels_source(ElementType type) {
  SourceUnit unit = source_of(format("#define ELEMENT {}\n", name_of(type)), {"fill", "compare"});
  if (!is_floating(type)) return unit;
  unit.prelude += "#define IS_FLOATING\n";
  unit.entries.insert(unit.entries.end(), {"compare_f64", "count_inexact"});
  return unit;
}

}  // namespace autotune
