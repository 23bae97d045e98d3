// SPDX-License-Identifier: Apache-2.0
// What is compiled of one problem, in which order, and what need not be waited for.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "tuner/core/target_program.hpp"
#include "tuner/session/compile_pool.hpp"
#include "tuner/session/search_end.hpp"

namespace autotune {

/// For one thread. Indices are those of the space.
class CompileScheduler {
 public:
  /// All must outlive it.
  CompileScheduler(const TargetProgram& program, const ParameterSpace& space, Device& device,
                   CompileRequests& requests)
      : program_(program), space_(space), device_(device), requests_(requests) {}

  /// Compiles what is measured next, ahead of everything prefetched.
  CompileRequests::Result compile(std::size_t index);
  /// Compiles what may be asked for later.
  void prefetch(std::size_t index);
  /// Compiles all of them and returns the first `count` that finish. Returns nullopt if the search
  /// ends before.
  std::optional<std::vector<std::size_t>> first_compiled(std::vector<std::size_t> indices,
                                                         std::size_t count, SearchEnd& end);

  /// Whether its binary was cached when it was first asked for, or compile() was called since. What
  /// threads have compiled meanwhile does not count, so that one seed gives one result.
  bool is_ready(std::size_t index);

 private:
  SourceUnit unit(std::size_t index) const;
  bool& readiness(std::size_t index, const SourceUnit& unit);

  const TargetProgram& program_;
  const ParameterSpace& space_;
  Device& device_;
  CompileRequests& requests_;
  std::unordered_map<std::size_t, std::uint64_t> preludes_;  // their hashes: only they differ
  std::unordered_map<std::uint64_t, bool> is_ready_;         // by hash
};

/// The search ended while a compiler was waited for.
struct SearchOver {};

/// Blocks until a kernel is compiled. Throws SearchOver when `is_over`, which is polled, returns
/// true; else throws what the device threw.
std::shared_ptr<const CompiledKernel> wait_in_search(const CompileRequests::Result& kernel,
                                                     const std::function<bool()>& is_over);

}  // namespace autotune
