// SPDX-License-Identifier: Apache-2.0
#include "tuner/ranks/roster.hpp"

#include <algorithm>

#include "tuner/text/format.hpp"

namespace autotune {

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
