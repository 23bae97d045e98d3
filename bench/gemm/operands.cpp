// SPDX-License-Identifier: Apache-2.0
#include "bench/gemm/operands.hpp"

#include <algorithm>
#include <cmath>

#include "tuner/core/error.hpp"
#include "tuner/text/format.hpp"

namespace autotune::bench {
namespace {

constexpr std::int64_t kMostCopies = 1024;
constexpr std::int64_t kFloat = sizeof(float);
constexpr std::int64_t kUnusedBytes = 256;

std::int64_t aligned(std::int64_t bytes) { return (bytes + 255) / 256 * 256; }

template <class T>
T read(cudaStream_t stream, const DeviceMemory& memory) {
  T value;
  check_kernel(cudaMemcpyAsync(&value, memory.get(), sizeof value, cudaMemcpyDeviceToHost, stream),
               "judging a result");
  check_kernel(cudaStreamSynchronize(stream), "judging a result");
  return value;
}

template <class T>
DeviceMemory written(cudaStream_t stream, const T& value) {
  DeviceMemory memory(sizeof value);
  check_cuda(cudaMemcpyAsync(memory.get(), &value, sizeof value, cudaMemcpyHostToDevice, stream),
             "copy memory");
  check_cuda(cudaStreamSynchronize(stream), "copy memory");
  return memory;
}

}  // namespace

Operands::Operands(const CudaContext& context, const BenchKernels& kernels, const Target& target,
                   const Problem& problem, const Shape& shape)
    : context_(context),
      kernels_(kernels),
      shape_(shape),
      workload_(workload_of(target, problem, context.info)),
      a_bytes_(aligned(shape.m * shape.k * kFloat)),
      b_bytes_(aligned(shape.k * shape.n * kFloat)),
      set_bytes_(a_bytes_ + b_bytes_ + aligned(shape.m * shape.n * kFloat)),
      copies_(static_cast<int>(
          std::clamp<std::int64_t>(2 * context.info.l2_bytes / set_bytes_ + 2, 2, kMostCopies))),
      sets_(set_bytes_ * copies_),
      other_(kUnusedBytes) {
  const std::int64_t count = set_bytes_ * copies_ / kFloat;
  kernels_.fill(sets_.as<float>(), count);
  right_ = run_reference();
  kernels_.make_absolute(sets_.as<float>(), count);
  magnitudes_ = run_reference();
  kernels_.fill(sets_.as<float>(), count);
  check_kernel(cudaStreamSynchronize(context_.stream.get()), "the reference kernel");
}

Matrices Operands::at(int copy) const {
  std::byte* const start = sets_.get() + set_bytes_ * copy;
  return {reinterpret_cast<float*>(start), reinterpret_cast<float*>(start + a_bytes_),
          reinterpret_cast<float*>(start + a_bytes_ + b_bytes_)};
}

std::vector<std::byte*> Operands::addresses(int copy) const {
  const Matrices set = at(copy);
  std::vector<std::byte*> all;
  for (const BufferSpec& spec : specs()) {
    float* const known = spec.name == "A" ? set.a : spec.name == "B" ? set.b : set.d;
    const bool unused = spec.name != "A" && spec.name != "B" && spec.role != Role::output;
    all.push_back(unused ? other_.get() : reinterpret_cast<std::byte*>(known));
  }
  return all;
}

const BufferSpec& Operands::output() const {
  return *std::ranges::find(specs(), Role::output, &BufferSpec::role);
}

DeviceMemory Operands::run_reference() const {
  const CompiledKernel compiled = context_.compiler.compile(workload_.reference_source);
  if (compiled.outcome != Outcome::ok) {
    throw Error(
        format("the reference kernel of {} does not compile: {}", workload_.problem, compiled.log));
  }
  DeviceMemory result(output().length * std::int64_t{sizeof(double)});
  std::vector<BufferSpec> buffers = specs();
  std::vector<std::byte*> where = addresses(0);
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    if (buffers[i].role != Role::output) continue;
    buffers[i].type = ElementType::f64;
    where[i] = result.get();
  }
  const LoadedCubin cubin(*compiled.binary);
  BoundPlan(cubin, workload_.reference, where, buffers)
      .launch(context_.stream.get(), EarlyStart::never);
  check_kernel(cudaStreamSynchronize(context_.stream.get()), "the reference kernel");
  return result;
}

Accuracy Operands::judge(const std::function<void(cudaStream_t)>& call) const {
  cudaStream_t const stream = context_.stream.get();
  const BufferSpec& spec = output();
  float* const d = at(0).d;
  check_cuda(cudaMemsetAsync(d, 0xFF, static_cast<std::size_t>(spec.bytes()), stream),
             "set memory");
  call(stream);
  const DeviceMemory finding = written(stream, Finding{});
  const DeviceMemory sums = written(stream, SquareSums{});
  const auto borrowed = [](const DeviceMemory& memory) {
    return Sealed(std::shared_ptr<void>(), memory.get());
  };
  const SealedAnswer right{0, ElementType::f64, borrowed(right_), borrowed(magnitudes_), false};
  context_.kernels->compare(stream, spec, reinterpret_cast<const std::byte*>(d), right,
                            finding.as<Finding>());
  kernels_.add_squares(d, right_.as<double>(), spec.length, sums.as<SquareSums>());
  const auto found = read<Finding>(stream, finding);
  const auto squares = read<SquareSums>(stream, sums);
  return {found.wrong, found.worst, std::sqrt(squares.difference / squares.right)};
}

}  // namespace autotune::bench
