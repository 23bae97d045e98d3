// SPDX-License-Identifier: Apache-2.0
#include "tuner/blas/kernel_maker.hpp"

#include <optional>

#include "tuner/blas/cublas_abi.hpp"
#include "tuner/blas/cuda_driver.hpp"
#include "tuner/blas/runtime_library.hpp"
#include "tuner/blas/warn_once.hpp"
#include "tuner/text/format.hpp"

namespace autotune::blas {
namespace {

using Operand = ServingKernel::Operand;

/// The targets call their result D, or c where they add no C.
std::optional<Operand> operand_called(std::string_view target, std::string_view name) {
  const bool is_batched = target == "gemm_batched";
  if (name == "A" || name == "a") return Operand::first;
  if (name == "B" || name == "b") return Operand::second;
  if (!is_batched && name == "C") return Operand::added;
  if (name == "D" || (is_batched && name == "c")) return Operand::result;
  return std::nullopt;
}

/// nullopt if its scalars are others than alpha and beta.
std::optional<bool> takes_scalars(const RuntimeLibrary& runtime, const autotune_kernel* kernel) {
  const std::size_t count = runtime.scalars(kernel);
  if (count == 0) return false;
  const auto is_called = [&](std::size_t index, std::string_view name) {
    return runtime.scalar(kernel, index, nullptr) == name;
  };
  if (count == 2 && is_called(0, "alpha") && is_called(1, "beta")) return true;
  return std::nullopt;
}

/// nullopt if it cannot be called in the way of cuBLAS.
std::optional<ServingKernel::Arguments> arguments_of(const RuntimeLibrary& runtime,
                                                     const autotune_kernel* kernel,
                                                     std::string_view target) {
  ServingKernel::Arguments arguments;
  for (std::size_t i = 0; i < runtime.buffers(kernel); ++i) {
    const auto operand = operand_called(target, runtime.buffer(kernel, i, nullptr));
    if (!operand) return std::nullopt;
    arguments.operands.push_back(*operand);
  }
  const auto scalars = takes_scalars(runtime, kernel);
  if (!scalars) return std::nullopt;
  arguments.takes_scalars = *scalars;
  return arguments;
}

Outcome failed(std::string_view why) {
  warn_once(Topic::kernel, format("{}; cuBLAS runs instead", why));
  return Outcome::failed;
}

/// Outcome::served if the kernel of this answer is expected to win.
Outcome judge(const autotune_answer& answer) {
  if (answer.origin > AUTOTUNE_TRANSFERRED) return Outcome::not_tuned;
  return *answer.baseline != '\0' ? Outcome::vendor_faster : Outcome::served;
}

/// Why a configuration of packed matrices cannot be taken over.
Outcome obstacle_of(const CallShape& shape) {
  if (!is_packed(shape)) return Outcome::leading_dimension;
  return shape.epilogue != kNoEpilogue ? Outcome::epilogue : Outcome::not_tuned;
}

}  // namespace

autotune_handle* KernelMaker::handle_for(std::int32_t device, const TargetProblem& problem) {
  const auto [found, is_new] =
      handles_.try_emplace(Key{device, problem.target, problem.settings}, nullptr);
  if (!is_new) return found->second;
  autotune_options wanted{};
  wanted.size = sizeof wanted;
  wanted.target = problem.target.c_str();
  wanted.settings = problem.settings.c_str();
  wanted.ordinal = device;
  wanted.tuned_only = 1;  // the program has a cuBLAS handle of its own
  const RuntimeLibrary& runtime = *runtime_library();
  autotune_handle* opened = nullptr;
  if (runtime.open(&wanted, &opened) != AUTOTUNE_OK) {
    failed(runtime.message());
  } else if (runtime.device(opened) != device_name(device)) {  // a libautotune without CUDA
    failed(format("libautotune does not see {}", device_name(device)));
    runtime.close(opened);
  } else {
    if (const std::string_view warnings = runtime.warnings(opened); !warnings.empty()) {
      warn_once(Topic::database, warnings);
    }
    found->second = opened;
  }
  return found->second;
}

KernelMaker::Choice KernelMaker::look_up(std::int32_t device, const TargetProblem& problem) {
  autotune_handle* const handle = handle_for(device, problem);
  if (!handle) return {Outcome::failed, problem, {}};
  autotune_answer answer{};
  answer.size = sizeof answer;
  const RuntimeLibrary& runtime = *runtime_library();
  const auto& sizes = problem.sizes;
  if (runtime.lookup(handle, sizes.data(), sizes.size(), &answer) != AUTOTUNE_OK) {
    return {failed(runtime.message()), problem, {}};
  }
  return {judge(answer), problem, answer.configuration};
}

/// A configuration for D = A B is good for D = alpha A B + beta C, too, where that is not tuned.
KernelMaker::Choice KernelMaker::choose(const CallShape& shape) {
  const Choice exact = look_up(shape.device, problem_of(shape));
  if (exact.outcome != Outcome::not_tuned) return exact;
  if (shape.scale != Scale::none) {
    CallShape plain = shape;
    plain.scale = Scale::none;
    const TargetProblem simpler = problem_of(plain);
    if (simpler.target == exact.problem.target) {
      const Choice second = look_up(shape.device, simpler);
      if (second.outcome != Outcome::not_tuned) return second;
    }
  }
  warn_once(Topic::not_tuned,
            format("{} {} is not tuned for {}; cuBLAS runs (autotune tune --workload tunes it)",
                   exact.problem.target, exact.problem.settings, device_name(shape.device)));
  return exact;
}

std::variant<const ServingKernel*, Outcome> KernelMaker::prepare(const CallShape& shape,
                                                                 const Choice& choice) {
  const RuntimeLibrary& runtime = *runtime_library();
  const TargetProblem wanted = launched_problem_of(shape);
  autotune_handle* const handle = handle_for(shape.device, wanted);
  if (!handle) return Outcome::failed;
  const auto& sizes = wanted.sizes;
  if (wanted != choice.problem && runtime.pin(handle, sizes.data(), sizes.size(),
                                              choice.configuration.c_str()) != AUTOTUNE_OK) {
    return obstacle_of(shape);
  }
  PreparedProblem problem{&runtime, handle, sizes};
  autotune_kernel* const kernel = problem.prepare();
  if (!kernel) return failed(runtime.message());
  // Where a configuration does not compile, libautotune prepares the default one: cuBLAS is
  // expected to be faster.
  auto arguments = arguments_of(runtime, kernel, wanted.target);
  if (arguments && runtime.configuration(kernel) == choice.configuration) {
    return new ServingKernel(std::move(problem), kernel, std::move(*arguments));
  }
  runtime.release(kernel);
  return failed(format("{} {} cannot be used as a product", wanted.target, choice.configuration));
}

std::variant<const ServingKernel*, Outcome> KernelMaker::make(const CallShape& shape) {
  const RelaxedThread relaxed;
  if (!runtime_library()) return Outcome::failed;
  const Choice choice = choose(shape);
  if (choice.outcome != Outcome::served) return choice.outcome;
  return prepare(shape, choice);
}

}  // namespace autotune::blas
