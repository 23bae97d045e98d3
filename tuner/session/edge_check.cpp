// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/edge_check.hpp"

#include "tuner/core/edge_problem.hpp"
#include "tuner/core/error.hpp"
#include "tuner/text/compiler_log.hpp"
#include "tuner/text/format.hpp"

namespace autotune {

EdgeCheck::EdgeCheck(const Target& target, const Problem& problem, Device& device)
    : target_(target), device_(device), problem_(edge_problem(target, problem)) {
  if (problem_) program_.emplace(target_, *problem_, device_.info());
}

std::optional<SourceUnit> EdgeCheck::unit(const Configuration& configuration) const {
  const auto levels = levels_of(target_.parameters, configuration);
  if (!program_ || !levels || !program_->is_valid(*levels)) return std::nullopt;
  return program_->source_unit(*levels);
}

Verdict EdgeCheck::verify(const Configuration& configuration, const CompiledKernel& kernel) {
  const Device::Turn turn = device_.take_turn();
  Verdict verdict = verdict_or_failure([&] { return verify_there(configuration, kernel); });
  if (verdict.outcome != Outcome::ok) {
    verdict.message = format("on {}: {}", problem_text(target_, *problem_), verdict.message);
  }
  return verdict;
}

Verdict EdgeCheck::verify_there(const Configuration& configuration, const CompiledKernel& kernel) {
  if (kernel.outcome != Outcome::ok) throw KernelFailure(kernel.outcome, first_error(kernel.log));
  const LaunchPlan plan = program_->plan(program_->levels(configuration));
  return workbench().load(kernel, plan)->verify();
}

Workbench& EdgeCheck::workbench() {
  if (workbench_) return *workbench_;
  try {
    workbench_ = device_.open(prepared_workload_of(target_, *problem_, device_.info()));
  } catch (const Error& error) {
    throw Error(format("{} (this is the edge problem, see docs/manifest.md)", error.what()));
  }
  return *workbench_;
}

std::string edge_complaint(const Target& target, const Verdict& verdict) {
  const std::string size = target.sizes.empty() ? "N" : target.sizes.front();
  return format(
      "{}: the default configuration fails on the edge problem ({} {}); finalists must be right "
      "there too: check the bounds in the kernel, or let a constraint say which sizes it takes, "
      "such as \"{} % 32 == 0\" for multiples or \"{} == 17\" for one size",
      place_of(target), name_of(verdict.outcome), verdict.message, size, size);
}

}  // namespace autotune
