// SPDX-License-Identifier: Apache-2.0
#include "tuner/blas/call_report.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <numeric>

#include "tuner/blas/workload_file.hpp"
#include "tuner/text/format.hpp"
#include "tuner/text/launcher.hpp"

namespace autotune::blas {
namespace {

constexpr std::size_t kMostRows = 40;

double work_of(const CallEntry& entry) {
  return flops_of(entry.shape) * static_cast<double>(entry.calls());
}

double served_work_of(const CallEntry& entry) {
  return flops_of(entry.shape) * static_cast<double>(entry.calls(Outcome::served));
}

template <class Value>
auto sum(std::span<CallEntry* const> entries, const Value& value) {
  decltype(value(*entries[0])) total = 0;
  for (const CallEntry* entry : entries) total += value(*entry);
  return total;
}

double percent(double part, double whole) { return whole > 0 ? 100 * part / whole : 0; }

/// `served 12, being prepared 2`, over all of the entries.
std::string outcomes_of(std::span<CallEntry* const> entries) {
  std::string text;
  for (std::size_t i = 0; i < kOutcomes; ++i) {
    const auto outcome = static_cast<Outcome>(i);
    const auto calls = sum(entries, [&](const CallEntry& entry) { return entry.calls(outcome); });
    if (calls > 0) text += format("{}{} {}", text.empty() ? "" : ", ", name_of(outcome), calls);
  }
  return text;
}

/// ` of rank 3` where a launcher has numbered the processes; they may share a file.
std::string rank_text() {
  const std::string rank = launched_rank();
  return rank.empty() ? "" : format(" of rank {}", rank);
}

std::string summary_of(std::span<CallEntry* const> entries, double work) {
  const auto calls = sum(entries, [](const CallEntry& e) { return e.calls(); });
  const auto served = sum(entries, [](const CallEntry& e) { return e.calls(Outcome::served); });
  return format(
      "autotune: {} of {} calls of cuBLAS{} were served, {:.1f} % of their operations\n{}\n",
      served, calls, rank_text(), percent(sum(entries, served_work_of), work),
      outcomes_of(entries));
}

}  // namespace

std::string report_of(std::span<CallEntry* const> entries) {
  if (entries.empty()) {
    return format(
        "autotune: {}: this process{} called no matrix product of cuBLAS that can be served; a "
        "cuBLAS that is linked statically or looked up by dlsym() is out of reach\n",
        program_invocation_short_name, rank_text());
  }
  std::vector<CallEntry*> rows(entries.begin(), entries.end());
  std::ranges::stable_sort(rows, [](auto* a, auto* b) { return work_of(*a) > work_of(*b); });
  const double work = sum(entries, work_of);
  std::string text = summary_of(entries, work) + "     calls   work  call\n";
  for (std::size_t i = 0; i < std::min(rows.size(), kMostRows); ++i) {
    text += format("{:10} {:4.1f} %  {}: {}\n", rows[i]->calls(), percent(work_of(*rows[i]), work),
                   text_of(rows[i]->shape), outcomes_of({&rows[i], 1}));
  }
  if (rows.size() > kMostRows) text += format("and {} more\n", rows.size() - kMostRows);
  return text;
}

void write_report(const std::string& where, std::span<CallEntry* const> entries) {
  const std::string text = report_of(entries);
  if (where != "stderr") {
    append_text(where, text);
  } else {
    std::fwrite(text.data(), 1, text.size(), stderr);
  }
}

}  // namespace autotune::blas
