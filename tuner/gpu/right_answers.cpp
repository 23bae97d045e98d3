// SPDX-License-Identifier: Apache-2.0
#include "tuner/gpu/right_answers.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <optional>
#include <string>
#include <utility>

#include "tuner/core/error.hpp"
#include "tuner/gpu/cuda_check.hpp"
#include "tuner/gpu/kernel_launch.hpp"
#include "tuner/text/compiler_log.hpp"
#include "tuner/text/format.hpp"

namespace autotune {

namespace {

/// Absolute values of real scalars, for the run on absolute inputs.
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
            const ProblemBuffers& buffers)
      : stream_(stream),
        workload_(workload),
        buffers_(buffers),
        binary_(workload.reference_binary) {
    if (binary_) return;
    binary_ = reference_binary(workload, compiler.compile(workload.reference_source));
  }

  /// Runs the reference on the current contents of the buffers of `set`. Returns its outputs.
  std::vector<DeviceMemory> run(const LaunchPlan& plan, InputSet set) const {
    std::vector<BufferSpec> specs = buffers_.specs();
    std::vector<std::byte*> addresses = buffers_.addresses(set);
    std::vector<ZonedBuffer> written;
    buffers_.reset(stream_, set);
    for (std::size_t i = 0; i < workload_.buffers.size(); ++i) {
      if (!is_compared(specs[i].role)) continue;
      specs[i].type = answer_type(workload_, specs[i]);
      written.push_back(begun(specs[i], addresses[i]));
      addresses[i] = written.back().start();
    }
    launch(plan, std::move(addresses), specs);
    return results(specs, written, set);
  }

  /// Writes the prepared inputs of `set`.
  void prepare(InputSet set) const {
    launch(workload_.preparation, buffers_.addresses(set), buffers_.specs());
  }

 private:
  /// With a workspace of its own, and waits.
  void launch(const LaunchPlan& plan, std::vector<std::byte*> addresses,
              std::vector<BufferSpec> specs) const {
    std::vector<ZonedBuffer> workspace;
    for (const BufferSpec& spec : plan.workspace) {
      fill_workspace(stream_, spec, workspace.emplace_back(stream_, spec.bytes()));
      addresses.push_back(workspace.back().start());
      specs.push_back(spec);
    }
    const LoadedCubin cubin(*binary_);
    const BoundPlan bound(cubin, plan, addresses, specs);
    bound.launch(stream_, EarlyStart::never);
    bound.check(stream_);
    check_kernel(cudaStreamSynchronize(stream_), "its reference kernel");
  }

  /// Starts like the buffer: an inout with its contents, an output with poison.
  ZonedBuffer begun(const BufferSpec& spec, const std::byte* contents) const {
    ZonedBuffer buffer(stream_, spec.bytes(), reference_slack(spec));
    if (spec.role == Role::inout) {
      copy(buffer.start(), contents, spec.bytes());
    } else {
      poison(stream_, spec, buffer.start());
    }
    return buffer;
  }

  /// The output without its zones. Throws KernelFailure if a zone of any buffer was written.
  std::vector<DeviceMemory> results(const std::vector<BufferSpec>& specs,
                                    const std::vector<ZonedBuffer>& written, InputSet set) const {
    std::vector<DeviceMemory> results;
    for (std::size_t i = 0; i < workload_.buffers.size(); ++i) {
      const bool is_result = is_compared(specs[i].role);
      const ZonedBuffer& buffer = is_result ? written[results.size()] : buffers_.buffer(i, set);
      const Verdict zones = check_reference_zones(specs[i], buffer.check_zones(specs[i]));
      if (zones.outcome != Outcome::ok) throw KernelFailure(zones.outcome, zones.message);
      if (!is_result) continue;
      copy(results.emplace_back(specs[i].bytes()).get(), buffer.start(), specs[i].bytes());
    }
    check_cuda(cudaStreamSynchronize(stream_), "copy memory");
    return results;
  }

  void copy(std::byte* to, const std::byte* from, std::int64_t bytes) const {
    check_cuda(
        cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), cudaMemcpyDefault, stream_),
        "copy memory");
  }

  cudaStream_t stream_;
  const Workload& workload_;
  const ProblemBuffers& buffers_;
  std::shared_ptr<const std::string> binary_;
};

/// As all_small_integers() of tuner/measure.
bool all_small_integers(cudaStream_t stream, const DeviceKernels& kernels, ElementType type,
                        std::int64_t length, double limit, const DeviceMemory& values) {
  const DeviceMemory count(sizeof(std::uint64_t));
  std::uint64_t others = 0;
  check_cuda(cudaMemsetAsync(count.get(), 0, sizeof others, stream), "set memory");
  kernels.count_inexact(stream, type, values.get(), length, limit, count.as<std::uint64_t>());
  check_cuda(cudaMemcpyAsync(&others, count.get(), sizeof others, cudaMemcpyDeviceToHost, stream),
             "copy memory");
  check_cuda(cudaStreamSynchronize(stream), "copy memory");
  return others == 0;
}

/// Runs the reference on absolute values of the contents of the buffers of `set`.
std::vector<DeviceMemory> magnitudes(cudaStream_t stream, const Workload& workload,
                                     const Reference& reference, const ProblemBuffers& buffers,
                                     InputSet set) {
  const auto refill_all = [&](bool absolute) {
    for (std::size_t i = 0; i < workload.buffers.size(); ++i) {
      const Role role = workload.buffers[i].role;
      if (role == Role::input || role == Role::inout) buffers.refill(stream, i, set, absolute);
    }
  };
  refill_all(true);
  std::vector<DeviceMemory> results = reference.run(on_absolute_values(workload.reference), set);
  refill_all(false);
  return results;
}

std::vector<RightAnswer> answers_of(cudaStream_t stream, const Workload& workload,
                                    const Reference& reference, const DeviceKernels& kernels,
                                    const ProblemBuffers& buffers, InputSet set) {
  std::vector<DeviceMemory> values = reference.run(workload.reference, set), scales;
  const bool any_rounds = std::ranges::any_of(workload.buffers, [](const BufferSpec& spec) {
    return is_compared(spec.role) && has_floating(spec);
  });
  const bool is_integer = set == InputSet::integers && has_integer_set(workload);
  if (any_rounds) scales = magnitudes(stream, workload, reference, buffers, set);
  std::vector<RightAnswer> answers;
  for (std::size_t i = 0; i < workload.buffers.size(); ++i) {
    const BufferSpec& spec = workload.buffers[i];
    if (!is_compared(spec.role)) continue;
    RightAnswer& answer = answers.emplace_back();
    const std::size_t output = answers.size() - 1;
    answer.buffer = i;
    answer.type = answer_type(workload, spec);
    const auto is_exact = [&](const DeviceMemory& results) {
      return spec.members.empty()
                 ? all_small_integers(stream, kernels, answer.type, spec.length,
                                      exact_integers(spec.type), results)
                 : all_small_integers(spec, downloaded(results.get(), spec.bytes()));
    };
    answer.exact =
        !has_floating(spec) || (is_integer && is_exact(values[output]) && is_exact(scales[output]));
    answer.values = std::move(values[output]);
    if (!answer.exact) answer.magnitudes = std::move(scales[output]);
  }
  return answers;
}

std::vector<RightAnswer> answers_in_file(cudaStream_t stream, const Workload& workload) {
  std::ifstream file(workload.expected_file, std::ios::binary);
  if (!file) throw Error(format("{} cannot be read", workload.expected_file.string()));
  std::vector<RightAnswer> answers;
  for (std::size_t i = 0; i < workload.buffers.size(); ++i) {
    const BufferSpec& spec = workload.buffers[i];
    if (!is_compared(spec.role)) continue;
    std::vector<char> bytes(static_cast<std::size_t>(spec.bytes()));
    if (!file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()))) {
      throw Error(format("{} ends before the {} elements of {} do", workload.expected_file.string(),
                         spec.length, spec.name));
    }
    RightAnswer& answer = answers.emplace_back();
    answer.buffer = i;
    answer.type = spec.type;
    answer.exact = !has_floating(spec);
    answer.values = DeviceMemory(spec.bytes());
    check_cuda(
        cudaMemcpyAsync(answer.values.get(), bytes.data(), bytes.size(), cudaMemcpyDefault, stream),
        "copy memory");
    check_cuda(cudaStreamSynchronize(stream), "copy memory");
  }
  if (file.peek() != std::ifstream::traits_type::eof()) {
    throw Error(format("{} is longer than the outputs of {}", workload.expected_file.string(),
                       workload.problem));
  }
  return answers;
}

void prepare_inputs(cudaStream_t stream, const Workload& workload, const Reference& reference,
                    ProblemBuffers& buffers) {
  if (workload.preparation.launches.empty()) return;
  try {
    for (const InputSet set : kInputSets) reference.prepare(set);
    buffers.keep_prepared(stream);
  } catch (const KernelFailure& failure) {
    throw Error(format("a prepare kernel of {} failed: {}", workload.problem, failure.what()));
  }
}

}  // namespace

RightAnswers right_answers(cudaStream_t stream, const Workload& workload,
                           const CubinCompiler& compiler, const DeviceKernels& kernels,
                           ProblemBuffers& buffers) {
  RightAnswers all;
  std::optional<Reference> reference;
  if (workload.runs_kernels()) {
    reference.emplace(stream, workload, compiler, buffers);
    prepare_inputs(stream, workload, *reference, buffers);
  }
  if (!workload.expected_file.empty()) {
    all[static_cast<std::size_t>(InputSet::uniform)] = answers_in_file(stream, workload);
    return all;
  }
  for (const InputSet set : kInputSets) {
    try {
      all[static_cast<std::size_t>(set)] =
          answers_of(stream, workload, *reference, kernels, buffers, set);
    } catch (const KernelFailure& failure) {
      throw Error(
          format("the reference kernel of {} failed: {}", workload.problem, failure.what()));
    }
  }
  return all;
}

}  // namespace autotune
