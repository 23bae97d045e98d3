// SPDX-License-Identifier: Apache-2.0
#include "tuner/ranks/lead.hpp"

#include <algorithm>
#include <sstream>
#include <utility>

#include "db/exchange.hpp"
#include "tuner/measure/policy.hpp"
#include "tuner/records/records.hpp"
#include "tuner/search/transfer.hpp"
#include "tuner/session/trial_ledger.hpp"
#include "tuner/text/format.hpp"

namespace autotune {

void Lessons::add(const NamedValues& problem, std::string text) {
  problems_.push_back(problem);
  texts_.push_back(std::move(text));
}

std::vector<std::string> Lessons::about(const NamedValues& problem,
                                        std::set<std::size_t>& known) const {
  std::vector<std::string> texts;
  for (const std::size_t i : telling_problems(problem, problems_)) {
    if (known.insert(i).second) texts.push_back(texts_[i]);
  }
  return texts;
}

namespace {

/// Problems that a rank prepares while it tunes another.
constexpr std::size_t kAhead = 2;

ProblemQueue queue_of(const Target& target, const TuningRequest& request,
                      const DeviceInfo& device) {
  if (!request.weights.empty()) return ProblemQueue(request.problems.size());  // the heaviest first
  return ProblemQueue(longest_first(target, request.problems, device));
}

}  // namespace

LeadGroup::LeadGroup(const Target& target, db::TunedStore& store, const DeviceInfo& device,
                     TuningRequest request)
    : target_(target),
      store_(store),
      device_(device),
      request_(std::move(request)),
      device_id_(store.add_device(device_row(device))),
      kernel_id_(store.add_kernel(kernel_row(target))),
      queue_(queue_of(target, request_, device)) {}

std::optional<Order> LeadGroup::next_order(LeadOrder& order, std::set<std::size_t>& lessons,
                                           std::size_t devices) {
  for (const std::size_t number : order.ahead) prepared_.erase(number);
  std::optional<std::size_t> wanted;
  for (const std::size_t number : order.ahead) {
    if (!wanted && queue_.waits(number)) wanted = number;
  }
  order.ahead.clear();
  const std::size_t unfinished = queue_.unfinished();
  if (!wanted) {
    const auto waiting = queue_.next(prepared_.size() + 1);
    const auto is_free = [&](std::size_t number) { return !prepared_.contains(number); };
    if (const auto free = std::ranges::find_if(waiting, is_free); free != waiting.end()) {
      wanted = *free;
    }
  }
  order.problem = queue_.take(wanted);
  if (!order.problem) return std::nullopt;
  prepared_.erase(*order.problem);
  choose_ahead(order);
  Order next;
  next.number = *order.problem;
  next.ahead = order.ahead;
  next.retune = request_.retune || queue_.was_given_back(next.number);
  next.seconds = time_share(request_, next.number, unfinished, devices);
  next.learned = lessons_.about(problem(next.number).values, lessons);
  return next;
}

void LeadGroup::choose_ahead(LeadOrder& order) {
  for (const std::size_t number : queue_.next(prepared_.size() + kAhead)) {
    if (order.ahead.size() == kAhead) return;
    if (prepared_.insert(number).second) order.ahead.push_back(number);
  }
}

std::string LeadGroup::facts_about(std::size_t number) const {
  const Problem& one = problem(number);
  const db::ProblemKey here{device_id_, kernel_id_, one.text(), key_text(request_.policy)};
  std::vector<db::ProblemKey> keys = problems_elsewhere(store_, target_, one, here, device_.kind);
  keys.push_back(here);
  std::ostringstream lines;
  db::export_facts_of(store_, keys, lines);
  return std::move(lines).str();
}

void LeadGroup::finish(std::size_t number, ProblemReport report, std::string lesson) {
  queue_.done();
  lessons_.add(problem(number).values, std::move(lesson));
  reports_[number] = std::move(report);
}

bool LeadGroup::give_back(LeadOrder& order) {
  for (const std::size_t number : order.ahead) prepared_.erase(number);
  order.ahead.clear();
  const auto problem = std::exchange(order.problem, {});
  return !problem || queue_.give_back(*problem);
}

using State = KnownRank::State;

Roster::Roster(int size, double now) : ranks_(static_cast<std::size_t>(size - 1)) {
  for (KnownRank& rank : ranks_) rank.heard = now;
}

std::string Roster::label(const KnownRank& rank) const {
  const int number = number_of(rank);
  if (rank.hello.host.empty()) return format("rank {}", number);
  return format("rank {} on {}", number, rank.hello.host);
}

bool Roster::has(State state) const {
  return std::ranges::any_of(ranks_, [&](const KnownRank& one) { return one.state == state; });
}

bool Roster::has_anyone() const { return std::ranges::any_of(ranks_, &KnownRank::is_here); }

std::size_t Roster::active(const LeadGroup& group) const {
  return static_cast<std::size_t>(std::ranges::count_if(
      ranks_, [&](const KnownRank& one) { return one.group == &group && one.is_here(); }));
}

std::size_t Roster::neighbours(const KnownRank& rank) const {
  return static_cast<std::size_t>(std::ranges::count_if(ranks_, [&](const KnownRank& one) {
    return one.group && one.is_here() && one.hello.host == rank.hello.host;
  }));
}

const KnownRank* Roster::rival_for_device(const KnownRank& rank) const {
  if (rank.hello.device_text.empty()) return nullptr;
  for (const KnownRank& other : ranks_) {
    if (&other != &rank && other.group && other.is_here() && other.hello.host == rank.hello.host &&
        other.hello.device_text == rank.hello.device_text) {
      return &other;
    }
  }
  return nullptr;
}

namespace {

std::vector<std::string> processes_of(const Roster& ranks, const std::string& host,
                                      bool (*is_meant)(const KnownRank&)) {
  std::vector<std::string> processes;
  for (const KnownRank& one : ranks) {
    if (is_meant(one) && one.hello.host == host) processes.push_back(one.hello.process);
  }
  return processes;
}

}  // namespace

std::vector<std::string> Roster::lost_processes(const std::string& host) const {
  return processes_of(*this, host, [](const KnownRank& one) { return one.state == State::lost; });
}

std::vector<std::string> Roster::present_processes(const std::string& host) const {
  return processes_of(*this, host, [](const KnownRank& one) { return one.is_here(); });
}

}  // namespace autotune
