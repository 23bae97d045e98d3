// SPDX-License-Identifier: Apache-2.0
#include "tuner/ranks/lead.hpp"

#include <algorithm>
#include <exception>
#include <sstream>
#include <utility>

#include "tuner/core/error.hpp"
#include "tuner/ranks/help_messages.hpp"
#include "tuner/session/search_helper.hpp"
#include "tuner/text/format.hpp"
#include "tuner/worker/wire_value.hpp"
#include "tuner/worker/worker_process.hpp"

namespace autotune {
namespace {

/// Ranks hear from rank 0, and rank 0 from them, so often within the deadline.
constexpr double kAlivesInDeadline = 5;
constexpr double kLongestPause = 1;

bool are_alike(const DeviceInfo& a, const DeviceInfo& b) {
  return a.kind == b.kind && a.name == b.name && a.id == b.id && a.memory_bytes == b.memory_bytes;
}

}  // namespace

double alive_pause(double deadline) {
  return std::min(kLongestPause, deadline / kAlivesInDeadline);
}

Lead::Lead(const Target& target, db::TunedStore& store, Transport& transport, LeadOptions options,
           double now)
    : target_(target),
      store_(store),
      transport_(transport),
      options_(std::move(options)),
      inbox_(store, [this](const std::string& sentence) { warn(sentence); }),
      ranks_(static_cast<std::size_t>(transport.size() - 1)),
      alive_sent_(now) {
  for (Rank& rank : ranks_) rank.heard = now;
}

void Lead::take(const Letter& letter, double now) {
  Rank& rank = this->rank(letter.from);
  // One that was given up may be back: its problem is another's by now.
  if (!is_here(rank)) return;
  rank.heard = now;
  try {
    const std::optional<Message> message = unpacked(letter.bytes);
    if (!message) throw WireError("it is not a message");
    read_message(message->header, [&](const Json&) { take(letter.from, rank, *message, now); });
  } catch (const WireError& error) {
    warn(format("{} is left out, its message cannot be read: {}", label(letter.from, rank),
                error.what()));
    leave(rank, State::lost);
  } catch (const Error&) {
    fail(std::current_exception());
  }
}

void Lead::take(int number, Rank& rank, const Message& message, double now) {
  const std::string what = WireValue(message.header.at("say"));
  if (what == say::kFacts) return inbox_.add(message.bytes, now);
  if (what == say::kHello) return welcome(number, rank, message);
  if (what == say::kDone) return take_done(rank, message);
  if (what == say::kFailed) return take_failure(number, rank, message);
  if (what == say::kWarning) return warn(WireValue(message.header.at("text")));
  if (what == say::kOpen || what == say::kClosed) {
    rank.is_open = what == say::kOpen && rank.state == State::busy;
    return;
  }
  if (what == say::kApart) return take_apart(content_of<Apart>(message.header));
  if (what == say::kFree) return take_free(rank, content_of<Free>(message.header));
  if (what != say::kAlive) throw WireError("\"" + what + "\" is not known");
  if (message.header.contains("content") && options_.on_progress) {
    options_.on_progress(content_of<Progress>(message.header));
  }
}

void Lead::welcome(int number, Rank& rank, const Message& message) {
  rank.hello = content_of<Hello>(message.header);
  if (rank.hello.build != worker_version()) {
    warn(format("{} is left out: it runs another build of autotune ({}, not {})",
                label(number, rank), rank.hello.build, worker_version()));
    return leave(rank, State::gone);
  }
  LeadGroup& group = group_of(rank.hello.device);
  if (rank.hello.problems != problems_hash(target_, group.request())) {
    warn(
        format("{} is left out: it sees another target or other problems; are the files the same "
               "on all nodes?",
               label(number, rank)));
    return leave(rank, State::gone);
  }
  for (const Rank& other : ranks_) {
    const bool shares = &other != &rank && other.group && !rank.hello.device_text.empty() &&
                        other.hello.host == rank.hello.host &&
                        other.hello.device_text == rank.hello.device_text;
    if (!shares || !is_here(other)) continue;
    warn(
        format("{} is left out: another rank has its device; start one rank for each GPU, and "
               "one more",
               label(number, rank)));
    return leave(rank, State::gone);
  }
  rank.group = &group;
  rank.state = State::idle;
  // Ranks on one host device disturb each other's times: these say nothing of each other.
  rank.is_apart = rank.hello.device.kind == DeviceKind::host;
}

LeadGroup& Lead::group_of(const DeviceInfo& device) {
  for (const auto& group : groups_) {
    if (are_alike(group->device(), device)) return *group;
  }
  groups_.push_back(
      std::make_unique<LeadGroup>(target_, store_, device, options_.request_for(device)));
  return *groups_.back();
}

/// The rows of a problem came before this message.
void Lead::take_done(Rank& rank, const Message& message) {
  auto done = content_of<Done>(message.header);
  if (rank.state != State::busy || rank.order.problem != done.number) {
    throw WireError(
        format("it reports the end of problem {}, which it was not given", done.number));
  }
  inbox_.store_all();
  if (options_.on_problem) options_.on_problem(rank.group->device(), done.report);
  rank.group->finish(done.number, std::exchange(done.report, {}), message.bytes);
  rank.order.problem.reset();
  rank.last = std::move(done);
  rank.state = State::idle;
  rank.is_open = false;
}

void Lead::take_apart(const Apart& apart) {
  Rank& one = rank(apart.rank);
  if (one.is_apart || one.group == nullptr) return;
  one.is_apart = true;
  warn(stays_apart_text(label(apart.rank, one), apart.ratio,
                        problem_text(target_, one.group->problem(apart.number))));
}

void Lead::take_free(Rank& rank, const Free& free) {
  if (rank.state != State::helping || rank.owner != free.owner) return;
  rank.state = State::idle;
  rank.last.busy_seconds = free.busy_seconds;
}

void Lead::take_failure(int number, Rank& rank, const Message& message) {
  const auto failed = content_of<Failed>(message.header);
  const bool was_first = rank.group == nullptr || rank.group->give_back(rank.order);
  const std::string who = label(number, rank);
  leave(rank, State::gone);
  if (failed.fatal) {
    if (failed.usage) return fail(std::make_exception_ptr(UsageError(failed.what)));
    return fail(std::make_exception_ptr(TargetError(failed.what)));
  }
  const bool can_go_on = was_first && std::ranges::any_of(ranks_, is_here);
  if (!can_go_on) return fail(std::make_exception_ptr(Error(failed.what)));
  warn(format("{} drops out, the other ranks continue: {}", who, failed.what));
}

void Lead::tick(double now) {
  try {
    inbox_.store_due(now);
    lose_silent(now);
    if (stopped() && !stop_sent_) stop_ranks();
    send_alive(now);
    give_orders();
  } catch (const UsageError&) {
    fail(std::current_exception());
  } catch (const Error&) {
    fail(std::current_exception());
  }
}

void Lead::lose_silent(double now) {
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    Rank& rank = ranks_[i];
    if (!is_here(rank) || now - rank.heard < options_.deadline) continue;
    warn(format("{} is lost, it has said nothing for {:.3g} s; other ranks do its work",
                label(static_cast<int>(i) + 1, rank), options_.deadline));
    leave(rank, State::lost);
  }
}

void Lead::leave(Rank& rank, State state) {
  const int number = number_of(rank);
  if (rank.group) rank.group->give_back(rank.order);
  if (rank.state == State::helping) {
    transport_.send(rank.owner, packed({{"say", say::kHelperLost}, {"rank", number}}));
  }
  end_help_of(number);
  rank.is_open = false;
  rank.state = state;
}

void Lead::end_help_of(int owner) {
  for (const Rank& one : ranks_) {
    if (one.state != State::helping || one.owner != owner) continue;
    transport_.send(number_of(one), help_end(owner));
  }
}

void Lead::stop_ranks() {
  stop_sent_ = true;
  for (int number = 1; number < transport_.size(); ++number) {
    transport_.send(number, packed({{"say", say::kStop}}));
  }
}

void Lead::send_alive(double now) {
  if (now - alive_sent_ < alive_pause(options_.deadline)) return;
  alive_sent_ = now;
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    if (!is_here(ranks_[i])) continue;
    transport_.send(static_cast<int>(i) + 1, packed({{"say", say::kAlive}}));
  }
}

void Lead::give_orders() {
  if (ends() || stopped()) return;
  for (Rank& rank : ranks_) {
    if (rank.state != State::idle) continue;
    if (rank.group->has_waiting()) {
      give_order(number_of(rank), rank);
    } else {
      give_help(number_of(rank), rank);
    }
  }
}

void Lead::give_order(int number, Rank& rank) {
  LeadGroup& group = *rank.group;
  auto order = group.next_order(rank.order, rank.lessons, active(group));
  if (!order) return;
  order->threads = threads_of(rank);
  inbox_.store_all();  // a problem that was given back has rows here
  transport_.send(number, packed(wire_of(*order), group.facts_about(order->number)));
  rank.state = State::busy;
}

/// While few problems are left, ranks have the cores of their idle neighbours.
int Lead::threads_of(const Rank& rank) const {
  std::size_t unfinished = 0, neighbours = 0;
  for (const auto& group : groups_) unfinished += group->unfinished();
  for (const Rank& one : ranks_) {
    neighbours += one.group && is_here(one) && one.hello.host == rank.hello.host ? 1 : 0;
  }
  const auto at_once = static_cast<int>(std::min(unfinished, neighbours));
  return std::max(rank.hello.threads, rank.hello.most_threads / std::max(1, at_once));
}

void Lead::give_help(int number, Rank& rank) {
  Rank* const owner = owner_for(rank);
  if (owner == nullptr) return;
  rank.state = State::helping;
  rank.owner = number_of(*owner);
  rank.helped.insert(*owner->order.problem);
  transport_.send(rank.owner, packed({{"say", say::kHelper}, {"rank", number}}));
}

/// The search with the fewest helpers, of those that the rank has not helped.
Lead::Rank* Lead::owner_for(const Rank& helper) {
  const auto helpers = [this](const Rank& owner) {
    return std::ranges::count_if(ranks_, [&](const Rank& one) {
      return one.state == State::helping && one.owner == number_of(owner);
    });
  };
  Rank* found = nullptr;
  for (Rank& one : ranks_) {
    const bool can_help = one.is_open && one.order.problem && one.group == helper.group &&
                          !helper.is_apart && !helper.helped.contains(*one.order.problem);
    if (can_help && (found == nullptr || helpers(one) < helpers(*found))) found = &one;
  }
  return found;
}

std::size_t Lead::active(const LeadGroup& group) const {
  return static_cast<std::size_t>(std::ranges::count_if(
      ranks_, [&](const Rank& rank) { return rank.group == &group && is_here(rank); }));
}

bool Lead::is_over() const {
  const auto has = [&](State state) {
    return std::ranges::any_of(ranks_, [state](const Rank& rank) { return rank.state == state; });
  };
  if (failure_) return true;
  if (has(State::busy)) return false;
  if (stop_sent_) return true;
  if (has(State::starting) || has(State::helping)) return false;
  // Nobody is busy: what still waits has no rank left.
  return std::ranges::none_of(ranks_, [](const Rank& rank) {
    return rank.state == State::idle && rank.group->has_waiting();
  });
}

void Lead::fail(std::exception_ptr failure) {
  if (!failure_) failure_ = std::move(failure);
}

void Lead::end() {
  inbox_.store_all();
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    EndOfRun end;
    end.finalize = !has_lost_ranks();
    end.zombies = zombies(ranks_[i].hello.host);
    transport_.send(static_cast<int>(i) + 1, packed(wire_of(end)));
  }
  if (failure_) std::rethrow_exception(failure_);
  if (stop_sent_) return;
  std::size_t left = groups_.empty() ? 1 : 0;
  for (const auto& group : groups_) left += group->unfinished();
  if (left > 0) {
    throw Error(
        "no rank is left to go on; every trial is kept, and the same command continues from here");
  }
}

std::vector<GroupReport> Lead::reports(double seconds) const {
  std::vector<GroupReport> all;
  for (const auto& group : groups_) {
    TuningReport report;
    for (const auto& [number, one] : group->reports()) report.problems.push_back(one);
    report.interrupted = stop_sent_;
    report.seconds = seconds;
    report.devices = 0;
    for (const Rank& rank : ranks_) {
      if (rank.group != group.get()) continue;
      ++report.devices;
      report.compile += rank.last.compile;
      report.busy_seconds += rank.last.busy_seconds;
    }
    report.compile.wall_seconds /= static_cast<double>(report.devices);  // at the same time
    all.push_back({group->device(), std::move(report)});
  }
  return all;
}

bool Lead::has_lost_ranks() const {
  return std::ranges::any_of(ranks_, [](const Rank& one) { return one.state == State::lost; });
}

std::vector<std::string> Lead::zombies(const std::string& host) const {
  std::vector<std::string> processes;
  for (const Rank& rank : ranks_) {
    if (rank.state != State::lost || rank.hello.host != host) continue;
    processes.push_back(rank.hello.process);
  }
  return processes;
}

std::string Lead::label(int number, const Rank& rank) const {
  if (rank.hello.host.empty()) return format("rank {}", number);
  return format("rank {} on {}", number, rank.hello.host);
}

void Lead::warn(const std::string& sentence) const {
  if (options_.on_warning) options_.on_warning(sentence);
}

}  // namespace autotune
