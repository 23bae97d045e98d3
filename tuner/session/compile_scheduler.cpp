// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/compile_scheduler.hpp"

#include <utility>

#include "tuner/core/error.hpp"
#include "tuner/hash/hash.hpp"

namespace autotune {

CompileRequests::Result CompileScheduler::compile(std::size_t index) {
  SourceUnit source = unit(index);
  readiness(index, source) = true;
  return requests_.compile(std::move(source));
}

void CompileScheduler::prefetch(std::size_t index) {
  SourceUnit source = unit(index);
  readiness(index, source);
  requests_.prefetch(std::move(source));
}

std::optional<std::vector<std::size_t>> CompileScheduler::first_compiled(
    std::vector<std::size_t> indices, std::size_t count, SearchEnd& end) {
  std::vector<CompileRequests::Result> kernels;
  for (const std::size_t index : indices) kernels.push_back(requests_.prefetch(unit(index)));
  std::vector<std::size_t> first;
  while (first.size() < count) {
    const auto compiled = requests_.wait_for_one(kernels, [&] { return end.ask(); });
    if (!compiled) return std::nullopt;
    const auto at = static_cast<std::ptrdiff_t>(*compiled);
    first.push_back(indices[*compiled]);
    indices.erase(indices.begin() + at);
    kernels.erase(kernels.begin() + at);
  }
  return first;
}

bool CompileScheduler::is_ready(std::size_t index) {
  const auto known = preludes_.find(index);
  return known != preludes_.end() ? is_ready_.at(known->second) : readiness(index, unit(index));
}

SourceUnit CompileScheduler::unit(std::size_t index) const {
  return program_.source_unit(space_.levels(index));
}

bool& CompileScheduler::readiness(std::size_t index, const SourceUnit& unit) {
  const std::uint64_t prelude = preludes_[index] = hash64(unit.prelude);
  const auto [entry, is_new] = is_ready_.try_emplace(prelude);
  if (is_new) entry->second = device_.is_cached(unit);
  return entry->second;
}

std::shared_ptr<const CompiledKernel> wait_in_search(const CompileRequests::Result& kernel,
                                                     const std::function<bool()>& is_over) {
  try {
    if (auto compiled = wait_for(kernel, is_over)) return compiled;
  } catch (const NotCompiled&) {  // a compiler that was stopped says so too
    if (!is_over()) throw;
  }
  throw SearchOver{};
}

}  // namespace autotune
