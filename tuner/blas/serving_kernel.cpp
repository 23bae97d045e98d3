// SPDX-License-Identifier: Apache-2.0
#include "tuner/blas/serving_kernel.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "tuner/blas/cuda_driver.hpp"
#include "tuner/blas/warn_once.hpp"
#include "tuner/text/format.hpp"

namespace autotune::blas {
namespace {

using Operand = ServingKernel::Operand;

/// No stream has this address.
char nobody;

/// The targets call their result D, or c where they add no C.
std::optional<Operand> operand_called(const TargetProblem& problem, std::string_view name) {
  const bool is_gemm = problem.target == "gemm";
  if (name == "A" || name == "a") return Operand::first;
  if (name == "B" || name == "b") return Operand::second;
  if (is_gemm && name == "C") return Operand::added;
  if (name == "D" || (!is_gemm && name == "c")) return Operand::result;
  return std::nullopt;
}

std::optional<std::vector<Operand>> operands_of(const RuntimeLibrary& runtime,
                                                const autotune_kernel* kernel,
                                                const TargetProblem& problem) {
  std::vector<Operand> operands;
  for (std::size_t i = 0; i < runtime.buffers(kernel); ++i) {
    const auto operand = operand_called(problem, runtime.buffer(kernel, i, nullptr));
    if (!operand) return std::nullopt;
    operands.push_back(*operand);
  }
  return operands;
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

Outcome failed(std::string_view why) {
  warn_once(Topic::kernel, format("{}; cuBLAS runs instead", why));
  return Outcome::failed;
}

/// Outcome::served if the kernel of this answer is expected to win.
Outcome judge(const RuntimeLibrary& runtime, autotune_handle* handle, const TargetProblem& problem,
              const autotune_answer& answer) {
  if (answer.origin > AUTOTUNE_TRANSFERRED) {
    warn_once(Topic::not_tuned,
              format("{} {} is not tuned for {}; cuBLAS runs (autotune tune --workload tunes it)",
                     problem.target, problem.settings, runtime.device(handle)));
    return Outcome::not_tuned;
  }
  return *answer.baseline != '\0' ? Outcome::vendor_faster : Outcome::served;
}

/// Where the answer does not compile, libautotune prepares the default configuration: cuBLAS is
/// expected to be faster.
bool is_answer(const RuntimeLibrary& runtime, const autotune_kernel* kernel,
               const autotune_answer& answer) {
  return std::string_view(runtime.configuration(kernel)) == answer.configuration;
}

/// nullptr if it cannot be called in the way of cuBLAS.
ServingKernel* serving_kernel(const RuntimeLibrary& runtime, autotune_kernel* kernel,
                              const TargetProblem& problem) {
  auto operands = operands_of(runtime, kernel, problem);
  const auto scalars = takes_scalars(runtime, kernel);
  if (!operands || !scalars) return nullptr;
  auto* const made = new ServingKernel{
      &runtime, kernel, std::move(*operands), *scalars, runtime.workspace(kernel) > 0, {}};
  made->owner = &nobody;
  return made;
}

}  // namespace

bool ServingKernel::belongs_to(Stream stream) const noexcept {
  Stream before = &nobody;
  return owner.compare_exchange_strong(before, stream) || before == stream;
}

bool ServingKernel::launch(const CallValues& values, Stream stream) const noexcept {
  // The row-major problem is D^T = op(B)^T op(A)^T. Without beta, C is not read.
  const bool adds = values.beta != 0;
  const void* const places[] = {values.b, values.a, adds ? values.c : values.d, values.d};
  std::array<void*, 4> buffers{};
  if (operands.size() > buffers.size()) return false;
  std::ranges::transform(operands, buffers.begin(), [&](Operand operand) {
    return const_cast<void*>(places[static_cast<std::size_t>(operand)]);
  });
  const double scalars[] = {values.alpha, values.beta};
  return runtime->launch_with(kernel, buffers.data(), operands.size(), scalars,
                              takes_scalars ? 2 : 0, stream) == AUTOTUNE_OK;
}

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

std::variant<const ServingKernel*, Outcome> KernelMaker::make(const CallShape& shape) {
  const RelaxedThread relaxed;
  const RuntimeLibrary* const runtime = runtime_library();
  if (!runtime) return Outcome::failed;
  const TargetProblem problem = problem_of(shape);
  autotune_handle* const handle = handle_for(shape.device, problem);
  if (!handle) return Outcome::failed;
  autotune_answer answer{};
  answer.size = sizeof answer;
  const std::vector<std::int64_t>& sizes = problem.sizes;
  if (runtime->lookup(handle, sizes.data(), sizes.size(), &answer) != AUTOTUNE_OK) {
    return failed(runtime->message());
  }
  const Outcome judgement = judge(*runtime, handle, problem, answer);
  if (judgement != Outcome::served) return judgement;
  autotune_kernel* kernel = nullptr;
  if (runtime->prepare(handle, sizes.data(), sizes.size(), &kernel) != AUTOTUNE_OK) {
    return failed(runtime->message());
  }
  if (is_answer(*runtime, kernel, answer)) {
    if (const auto* const made = serving_kernel(*runtime, kernel, problem)) return made;
  }
  runtime->release(kernel);
  return failed(format("{} {} cannot be used as a product", problem.target, answer.configuration));
}

}  // namespace autotune::blas
