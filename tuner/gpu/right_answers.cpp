// SPDX-License-Identifier: Apache-2.0
#include "tuner/gpu/right_answers.hpp"

#include <cmath>
#include <fstream>
#include <string>
#include <utility>

#include "tuner/core/error.hpp"
#include "tuner/gpu/cuda_check.hpp"
#include "tuner/gpu/kernel_launch.hpp"
#include "tuner/text/compiler_log.hpp"
#include "tuner/text/format.hpp"

namespace autotune {

namespace {

bool is_output(const BufferSpec& spec) {
  return spec.role == Role::output || spec.role == Role::inout;
}

/// Real scalars without their sign, as the inputs have none.
LaunchPlan on_absolute_values(LaunchPlan plan) {
  for (Launch& launch : plan.launches) {
    for (Argument& argument : launch.arguments) {
      if (auto* scalar = std::get_if<Scalar>(&argument)) scalar->real = std::abs(scalar->real);
    }
  }
  return plan;
}

class Reference {
 public:
  Reference(cudaStream_t stream, const Workload& workload, const CubinCompiler& compiler,
            const DeviceKernels& kernels, const ProblemBuffers& buffers)
      : stream_(stream),
        workload_(workload),
        kernels_(kernels),
        buffers_(buffers),
        compiled_(compiler.compile(workload.reference_source)) {
    if (compiled_.outcome != Outcome::ok) {
      throw Error(format("the reference kernel of {} does not compile: {}", workload.problem,
                         first_error(compiled_.log)));
    }
  }

  /// Each output as doubles, for the contents that the buffers of `set` have now.
  std::vector<DeviceMemory> run(const LaunchPlan& plan, InputSet set) const {
    const LoadedCubin cubin(*compiled_.binary);
    std::vector<BufferSpec> specs = buffers_.specs();
    std::vector<std::byte*> addresses = buffers_.addresses(set);
    std::vector<DeviceMemory> doubles, others;
    buffers_.reset(stream_, set);
    for (std::size_t i = 0; i < buffers_.specs().size(); ++i) {
      if (!is_output(specs[i])) continue;
      if (writes_doubles(specs[i])) {
        doubles.push_back(as_double(specs[i], addresses[i]));
        addresses[i] = doubles.back().get();
        specs[i].type = ElementType::f64;
      } else {
        doubles.emplace_back();
      }
    }
    for (const BufferSpec& spec : plan.workspace) {
      others.push_back(workspace(spec));
      addresses.push_back(others.back().get());
      specs.push_back(spec);
    }
    BoundPlan(cubin, plan, addresses, specs).launch(stream_);
    for (std::size_t i = 0, output = 0; i < buffers_.specs().size(); ++i) {
      if (!is_output(specs[i])) continue;
      DeviceMemory& result = doubles[output++];
      if (result.get() == nullptr) result = as_double(specs[i], addresses[i]);
    }
    check_kernel(cudaStreamSynchronize(stream_), "its reference kernel");
    return doubles;
  }

 private:
  bool writes_doubles(const BufferSpec& spec) const {
    return workload_.float64_outputs && spec.type == ElementType::f32 && spec.role == Role::output;
  }

  DeviceMemory as_double(const BufferSpec& spec, const std::byte* from) const {
    DeviceMemory doubles(spec.length * std::int64_t{sizeof(double)});
    kernels_.widen(stream_, spec.type, from, spec.length, doubles.as<double>());
    return doubles;
  }

  DeviceMemory workspace(const BufferSpec& spec) const {
    DeviceMemory memory(spec.bytes());
    check_cuda(cudaMemsetAsync(memory.get(), 0, static_cast<std::size_t>(spec.bytes()), stream_),
               "set memory");
    return memory;
  }

  cudaStream_t stream_;
  const Workload& workload_;
  const DeviceKernels& kernels_;
  const ProblemBuffers& buffers_;
  CompiledKernel compiled_;
};

std::uint64_t inexact(cudaStream_t stream, const DeviceKernels& kernels, const DeviceMemory& values,
                      std::int64_t length) {
  const DeviceMemory count(sizeof(std::uint64_t));
  std::uint64_t result = 0;
  check_cuda(cudaMemsetAsync(count.get(), 0, sizeof result, stream), "set memory");
  kernels.count_inexact(stream, values.as<double>(), length, count.as<std::uint64_t>());
  check_cuda(cudaMemcpyAsync(&result, count.get(), sizeof result, cudaMemcpyDeviceToHost, stream),
             "copy memory");
  check_cuda(cudaStreamSynchronize(stream), "copy memory");
  return result;
}

std::vector<RightAnswer> answers_of(cudaStream_t stream, const Workload& workload,
                                    const Reference& reference, const DeviceKernels& kernels,
                                    const ProblemBuffers& buffers, InputSet set) {
  const auto upload_all = [&](bool absolute) {
    for (std::size_t i = 0; i < workload.buffers.size(); ++i) {
      const Role role = workload.buffers[i].role;
      if (role == Role::input || role == Role::inout) buffers.upload(stream, i, set, absolute);
    }
  };
  std::vector<DeviceMemory> values = reference.run(workload.reference, set);
  upload_all(true);
  std::vector<DeviceMemory> magnitudes = reference.run(on_absolute_values(workload.reference), set);
  upload_all(false);

  std::vector<RightAnswer> answers;
  for (std::size_t i = 0; i < workload.buffers.size(); ++i) {
    const BufferSpec& spec = workload.buffers[i];
    if (!is_output(spec)) continue;
    RightAnswer& answer = answers.emplace_back();
    const std::size_t output = answers.size() - 1;
    answer.buffer = i;
    answer.exact =
        !is_floating(spec.type) ||
        (set == InputSet::integers && inexact(stream, kernels, values[output], spec.length) == 0 &&
         inexact(stream, kernels, magnitudes[output], spec.length) == 0);
    answer.values = std::move(values[output]);
    if (!answer.exact) answer.magnitudes = std::move(magnitudes[output]);
  }
  return answers;
}

std::vector<RightAnswer> answers_in_file(cudaStream_t stream, const Workload& workload,
                                         const DeviceKernels& kernels) {
  std::ifstream file(workload.expected_file, std::ios::binary);
  if (!file) throw Error(format("{} cannot be read", workload.expected_file.string()));
  std::vector<RightAnswer> answers;
  for (std::size_t i = 0; i < workload.buffers.size(); ++i) {
    const BufferSpec& spec = workload.buffers[i];
    if (!is_output(spec)) continue;
    std::vector<char> bytes(static_cast<std::size_t>(spec.bytes()));
    if (!file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()))) {
      throw Error(format("{} ends before the {} elements of {} do", workload.expected_file.string(),
                         spec.length, spec.name));
    }
    const DeviceMemory elements(spec.bytes());
    RightAnswer& answer = answers.emplace_back();
    answer.buffer = i;
    answer.exact = !is_floating(spec.type);
    answer.values = DeviceMemory(spec.length * std::int64_t{sizeof(double)});
    check_cuda(
        cudaMemcpyAsync(elements.get(), bytes.data(), bytes.size(), cudaMemcpyDefault, stream),
        "copy memory");
    kernels.widen(stream, spec.type, elements.get(), spec.length, answer.values.as<double>());
    check_cuda(cudaStreamSynchronize(stream), "copy memory");
  }
  if (file.peek() != std::ifstream::traits_type::eof()) {
    throw Error(format("{} goes on after the outputs of {}", workload.expected_file.string(),
                       workload.problem));
  }
  return answers;
}

}  // namespace

RightAnswers right_answers(cudaStream_t stream, const Workload& workload,
                           const CubinCompiler& compiler, const DeviceKernels& kernels,
                           const ProblemBuffers& buffers) {
  RightAnswers all;
  if (!workload.expected_file.empty()) {
    all[static_cast<std::size_t>(InputSet::uniform)] = answers_in_file(stream, workload, kernels);
    return all;
  }
  const Reference reference(stream, workload, compiler, kernels, buffers);
  for (const InputSet set : kInputSets) {
    try {
      all[static_cast<std::size_t>(set)] =
          answers_of(stream, workload, reference, kernels, buffers, set);
    } catch (const KernelFailure& failure) {
      throw Error(
          format("the reference kernel of {} failed: {}", workload.problem, failure.what()));
    }
  }
  return all;
}

}  // namespace autotune
