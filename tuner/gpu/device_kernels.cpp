// SPDX-License-Identifier: Apache-2.0
#include "tuner/gpu/device_kernels.hpp"

#include <algorithm>
#include <string>

#include "tuner/core/error.hpp"
#include "tuner/gpu/cuda_handles.hpp"
#include "tuner/measure/verification.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

constexpr int kThreads = 256;

}  // namespace

DeviceKernels::DeviceKernels(const CubinCompiler& compiler, int multiprocessors)
    : multiprocessors_(multiprocessors) {
  const CompiledKernel compiled = compiler.compile(device_kernels_source());
  if (compiled.outcome != Outcome::ok) {
    throw Error("the kernels that fill buffers and check results do not compile with this NVRTC: " +
                compiled.log);
  }
  cubin_ = std::make_unique<LoadedCubin>(*compiled.binary);
}

template <class... Values>
void DeviceKernels::launch(const std::string& kernel, cudaStream_t stream, std::int64_t threads,
                           Values... values) const {
  if (threads == 0) return;
  const std::int64_t blocks = (threads + kThreads - 1) / kThreads;
  cudaLaunchConfig_t config{};
  config.gridDim.x = static_cast<unsigned>(std::min<std::int64_t>(blocks, multiprocessors_ * 8));
  config.blockDim.x = kThreads;
  config.stream = stream;
  void* arguments[] = {&values...};
  check_cuda(cudaLaunchKernelExC(&config, cubin_->kernel(kernel), arguments),
             "run a kernel of the tuner's own");
}

void DeviceKernels::fill(cudaStream_t stream, ElementType type, const ElementRule& rule,
                         std::byte* to, std::int64_t count) const {
  launch(format("fill_{}", name_of(type)), stream, count, to, count, rule);
}

void DeviceKernels::compare(cudaStream_t stream, const BufferSpec& buffer, const std::byte* got,
                            const SealedAnswer& right, Finding* finding) const {
  launch(format("compare_{}_{}", name_of(buffer.type), name_of(right.type)), stream, buffer.length,
         got, right.values.get(), right.magnitudes.get(), buffer.length,
         allowance(buffer, right.type, right.exact), finding);
}

void DeviceKernels::compare_bits(cudaStream_t stream, const BufferSpec& buffer,
                                 const std::byte* one, const std::byte* other,
                                 Finding* finding) const {
  const std::byte* const no_magnitudes = nullptr;
  launch(format("compare_{0}_{0}", name_of(bits_type(buffer.type))), stream, buffer.length, one,
         other, no_magnitudes, buffer.length, Allowance{}, finding);
}

void DeviceKernels::count_other(cudaStream_t stream, const std::byte* start, std::int64_t bytes,
                                std::byte value, std::uint64_t* others) const {
  launch("count_other", stream, bytes, start, bytes, value, others);
}

void DeviceKernels::scatter(cudaStream_t stream, std::byte* to, const std::byte* from,
                            const std::int64_t* positions, std::int64_t count,
                            std::int64_t element_bytes) const {
  launch("scatter", stream, count * element_bytes, to, from, positions, count, element_bytes);
}

void DeviceKernels::hash(cudaStream_t stream, const std::byte* start, std::int64_t bytes,
                         std::uint64_t* sum) const {
  launch("hash", stream, (bytes + 3) / 4, start, bytes, sum);
}

void DeviceKernels::count_inexact(cudaStream_t stream, ElementType type, const std::byte* values,
                                  std::int64_t count, double limit, std::uint64_t* others) const {
  launch(format("count_inexact_{}", name_of(type)), stream, count, values, count, limit, others);
}

void DeviceKernels::stamp(cudaStream_t stream, Stamp* stamps) const {
  cudaLaunchConfig_t config{};
  config.gridDim.x = static_cast<unsigned>(multiprocessors_);
  config.stream = stream;
  void* arguments[] = {&stamps};
  check_cuda(cudaLaunchKernelExC(&config, cubin_->kernel("stamp"), arguments), "read its clock");
}

void DeviceKernels::copy(cudaStream_t stream, std::byte* to, const std::byte* from,
                         std::int64_t bytes) const {
  launch("copy", stream, (bytes + 15) / 16, to, from, bytes);
}

void DeviceKernels::neighbour(cudaStream_t stream, float* values, std::int64_t count) const {
  launch("neighbour", stream, count, values, count);
}

void DeviceKernels::empty(cudaStream_t stream) const {
  cudaLaunchConfig_t config{};
  config.stream = stream;
  check_cuda(cudaLaunchKernelExC(&config, cubin_->kernel("empty"), nullptr), "launch a kernel");
}

SourceUnit device_kernels_source() {
  SourceUnit unit;
  unit.name = "elements.hpp";
  unit.prelude = format("#define MOST_STAMPS {}\n", kMostStamps);
  unit.text = device_kernels_text();
  unit.options = {"-fmad=false"};  // products and sums are rounded apart, as on the host
  unit.entries = {"count_other", "scatter", "hash", "stamp", "copy", "empty", "neighbour"};
  for (const std::string& type : element_type_names()) {
    unit.entries.push_back("fill_" + type);
    unit.entries.push_back(format("compare_{0}_{0}", type));
    if (!is_floating(*element_type(type))) continue;
    unit.entries.push_back("count_inexact_" + type);
    if (type != "f64") unit.entries.push_back(format("compare_{}_f64", type));
  }
  return unit;
}

}  // namespace autotune
