// SPDX-License-Identifier: Apache-2.0
#include "tuner/blas/call_table.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <functional>
#include <numeric>
#include <string_view>

#include "tuner/blas/options.hpp"
#include "tuner/text/environment.hpp"
#include "tuner/text/format.hpp"

namespace autotune::blas {
namespace {

bool is_same(const CallShape& one, const CallShape& other) {
  return std::memcmp(&one, &other, sizeof one) == 0;
}

}  // namespace

std::uint64_t CallEntry::calls() const {
  return std::transform_reduce(
      counts.begin(), counts.end(), std::uint64_t{0}, std::plus<>(),
      [](const auto& count) { return count.load(std::memory_order_relaxed); });
}

CallTable::CallTable() : slots_(std::make_unique<std::atomic<CallEntry*>[]>(kSlots)) {}

CallEntry* CallTable::find_or_add(const CallShape& shape) {
  std::unique_lock lock(adding_, std::defer_lock);
  for (std::size_t at = word_hash(shape) % kSlots;; at = (at + 1) % kSlots) {
    CallEntry* entry = slots_[at].load(std::memory_order_acquire);
    if (!entry && !lock.owns_lock()) {
      lock.lock();
      entry = slots_[at].load(std::memory_order_acquire);
    }
    if (!entry) return add(shape, slots_[at]);
    if (is_same(entry->shape, shape)) return entry;
  }
}

CallEntry* CallTable::add(const CallShape& shape, std::atomic<CallEntry*>& slot) {
  const Outcome contract = contract_of(shape);
  const bool may_be_served = contract == Outcome::served;
  if (owned_.size() >= (may_be_served ? kMostEntries : kMostRefused)) return nullptr;
  owned_.push_back(std::make_unique<CallEntry>(shape, contract));
  slot.store(owned_.back().get(), std::memory_order_release);
  return owned_.back().get();
}

std::vector<CallEntry*> CallTable::entries() const {
  const std::lock_guard lock(adding_);
  std::vector<CallEntry*> all;
  for (const auto& entry : owned_) all.push_back(entry.get());
  return all;
}

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

std::string workload_line(const CallShape& s, std::uint64_t calls) {
  const std::string factors =
      is_8_bit(s) ? format(R"("scales":"{}","sums":"{}",)", name_of(s.factors), name_of(s.sums))
                  : "";
  return format(R"({{"call":"{}","layout":"{}","m":{},"n":{},"k":{},"batch":{},)"
                R"("types":["{}","{}","{}","{}"],"compute_type":{},"math_mode":{},"scale":"{}",)"
                R"("lda":{},"ldb":{},"ldc":{},"ldd":{},"stride_a":{},"stride_b":{},"stride_c":{},)"
                R"("stride_d":{},"column_major":{},"obstacle":"{}","epilogue":{},"alignment":{},)"
                R"({}"calls":{}}})",
                name_of(s.function), layout_of(s), s.m, s.n, s.k, s.batch, type_name(s.a_type),
                type_name(s.b_type), type_name(s.c_type), type_name(s.d_type), s.compute_type,
                s.math_mode, name_of(s.scale), s.lda, s.ldb, s.ldc, s.ldd, s.stride_a, s.stride_b,
                s.stride_c, s.stride_d, s.obstacle != Outcome::order,
                s.obstacle == Outcome::served ? "" : name_of(s.obstacle), s.epilogue, s.alignment,
                factors, calls);
}

namespace {

/// Whether a file ends within a line, as a full disk leaves it.
bool is_cut(const std::string& file) {
  struct stat status {};
  if (stat(file.c_str(), &status) != 0 || !S_ISREG(status.st_mode) || status.st_size == 0) {
    return false;
  }
  const int descriptor = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  char last = '\n';
  if (descriptor >= 0 && pread(descriptor, &last, 1, status.st_size - 1) < 0) last = '\n';
  if (descriptor >= 0) close(descriptor);
  return last != '\n';
}

}  // namespace

bool append_text(const std::string& file, const std::string& added) {
  const std::string text = (!added.empty() && is_cut(file) ? "\n" : "") + added;
  const int descriptor = open(file.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
  std::string_view rest = text;
  while (descriptor >= 0 && !rest.empty()) {
    const ssize_t written = write(descriptor, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) break;
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  const bool is_written = descriptor >= 0 && rest.empty();
  if (!is_written) {
    warn_once(Topic::files, format("{}: cannot be written: {}", file, std::strerror(errno)));
  }
  if (descriptor >= 0) close(descriptor);
  return is_written;
}

void record_calls(CallEntry& entry) {
  static std::mutex& recording = *new std::mutex;
  const std::lock_guard lock(recording);
  const std::uint64_t all = entry.calls(), before = entry.recorded;
  if (all == before) return;
  if (append_text(options().record, workload_line(entry.shape, all - before) + '\n')) {
    entry.recorded = all;
  }
}

}  // namespace autotune::blas
