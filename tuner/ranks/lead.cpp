// SPDX-License-Identifier: Apache-2.0
#include "tuner/ranks/lead.hpp"

#include <algorithm>
#include <sstream>
#include <utility>

#include "db/exchange.hpp"
#include "tuner/core/error.hpp"
#include "tuner/text/format.hpp"
#include "tuner/worker/wire.hpp"
#include "tuner/worker/worker_process.hpp"

namespace autotune {
namespace {

constexpr double kLongestWait = 0.1;  // seconds
constexpr std::size_t kMostBytes = std::size_t{4} << 20;

}  // namespace

FactInbox::FactInbox(db::TunedStore& store, std::function<void(const std::string&)> warn)
    : store_(store), warn_(std::move(warn)) {}

void FactInbox::add(std::string_view lines, double now) {
  if (lines_.empty()) first_came_ = now;
  lines_ += lines;
}

void FactInbox::store_due(double now) {
  if (now - first_came_ >= kLongestWait || lines_.size() >= kMostBytes) store_all();
}

void FactInbox::store_all() {
  if (lines_.empty()) return;
  std::istringstream text(lines_);
  const db::ImportReport report = db::import_json_lines(store_, text, "results of another rank");
  lines_.clear();
  if (!report.refused.empty()) warn_(report.refused.front());
}

using State = KnownRank::State;

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
      ranks_(transport.size(), now),
      alive_sent_(now) {}

void Lead::take(const Packet& packet, double now) {
  KnownRank& rank = ranks_.at(packet.from);
  // Ignore a rank that was declared dead: its problem was given to another rank.
  if (!rank.is_here()) return;
  rank.heard = now;
  try {
    const std::optional<Message> message = unpacked(packet.bytes);
    if (!message) throw WireError("it is not a message");
    read_message(message->header, [&](const Json&) { take(rank, *message, now); });
  } catch (const WireError& error) {
    warn(
        format("{} is left out, its message cannot be read: {}", ranks_.label(rank), error.what()));
    leave(rank, State::lost);
  } catch (const Error&) {
    fail(std::current_exception());
  } catch (const db::StoreError&) {
    fail(std::current_exception());
  }
}

void Lead::take(KnownRank& rank, const Message& message, double now) {
  const std::string what = WireValue(message.header.at("say"));
  if (what == say::kFacts) return inbox_.add(message.bytes, now);
  if (what == say::kHello) return welcome(rank, message);
  if (what == say::kDone) return take_done(rank, message);
  if (what == say::kFailed) return take_failure(rank, message);
  if (what == say::kWarning) return warn(WireValue(message.header.at("text")));
  if (what == say::kPresent) {
    rank.is_present = true;
    return;
  }
  if (what != say::kAlive) throw WireError("\"" + what + "\" is not known");
  if (message.header.contains("content") && options_.on_progress) {
    options_.on_progress(content_of<Progress>(message.header));
  }
}

void Lead::welcome(KnownRank& rank, const Message& message) {
  rank.hello = content_of<Hello>(message.header);
  if (rank.hello.build != worker_version()) {
    warn(format("{} is left out: it runs another build of autotune ({}, not {})",
                ranks_.label(rank), rank.hello.build, worker_version()));
    return leave(rank, State::gone);
  }
  LeadGroup& group = group_of(rank.hello.device);
  if (rank.hello.problems != problems_hash(target_, group.request())) {
    warn(
        format("{} is left out: it sees another target or other problems; are the files the same "
               "on all nodes?",
               ranks_.label(rank)));
    return leave(rank, State::gone);
  }
  if (ranks_.rival_for_device(rank) != nullptr) {
    warn(
        format("{} is left out: another rank has its device; start one rank for each GPU, and "
               "one more",
               ranks_.label(rank)));
    return leave(rank, State::gone);
  }
  rank.group = &group;
  rank.state = State::idle;
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
void Lead::take_done(KnownRank& rank, const Message& message) {
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
}

void Lead::take_failure(KnownRank& rank, const Message& message) {
  const auto failed = content_of<Failed>(message.header);
  const bool was_first = rank.group == nullptr || rank.group->give_back(rank.order);
  const std::string who = ranks_.label(rank);
  leave(rank, State::gone);
  if (failed.fatal) {
    if (failed.usage) return fail(std::make_exception_ptr(UsageError(failed.what)));
    return fail(std::make_exception_ptr(TargetError(failed.what)));
  }
  const bool can_go_on = was_first && ranks_.has_anyone();
  if (!can_go_on) return fail(std::make_exception_ptr(Error(failed.what)));
  warn(format("{} drops out, the other ranks continue: {}", who, failed.what));
}

void Lead::tick(double now) {
  try {
    if (!failure_) inbox_.store_due(now);
    lose_silent(now);
    if (stopped() && !stop_sent_) stop_ranks();
    send_alive(now);
    give_orders();
    if (!roll_called_ && work_is_over()) call_roll();
  } catch (const Error&) {
    fail(std::current_exception());
  } catch (const db::StoreError&) {
    fail(std::current_exception());
  }
}

void Lead::lose_silent(double now) {
  for (KnownRank& rank : ranks_) {
    if (!rank.is_here() || now - rank.heard < options_.deadline) continue;
    warn(format("{} is lost, it has said nothing for {:.3g} s; other ranks do its work",
                ranks_.label(rank), options_.deadline));
    leave(rank, State::lost);
  }
}

void Lead::leave(KnownRank& rank, State state) {
  if (rank.group) rank.group->give_back(rank.order);
  rank.state = state;
}

void Lead::stop_ranks() {
  stop_sent_ = true;
  for (const KnownRank& rank : ranks_) tell(rank, {{"say", say::kStop}});
}

void Lead::send_alive(double now) {
  if (now - alive_sent_ < alive_pause(options_.deadline)) return;
  alive_sent_ = now;
  for (const KnownRank& rank : ranks_) {
    if (rank.is_here()) tell(rank, {{"say", say::kAlive}});
  }
}

void Lead::tell(const KnownRank& rank, const Json& header, std::string_view bytes) {
  transport_.send(ranks_.number_of(rank), packed(header, bytes));
}

void Lead::give_orders() {
  if (ends() || stopped()) return;
  for (KnownRank& rank : ranks_) {
    if (rank.state == State::idle && rank.group->has_waiting()) give_order(rank);
  }
}

void Lead::give_order(KnownRank& rank) {
  LeadGroup& group = *rank.group;
  auto order = group.next_order(rank.order, rank.lessons, ranks_.active(group));
  if (!order) return;
  order->threads = threads_of(rank);
  inbox_.store_all();  // a problem that was given back has rows here
  tell(rank, wire_of(*order), group.facts_about(order->number));
  rank.state = State::busy;
}

/// While few problems are left, ranks have the cores of their idle neighbours.
int Lead::threads_of(const KnownRank& rank) const {
  std::size_t unfinished = 0;
  for (const auto& group : groups_) unfinished += group->unfinished();
  const auto at_once = static_cast<int>(std::min(unfinished, ranks_.neighbours(rank)));
  return std::max(rank.hello.threads, rank.hello.most_threads / std::max(1, at_once));
}

bool Lead::work_is_over() const {
  if (failure_) return true;
  if (ranks_.has(State::busy)) return false;
  if (stop_sent_) return true;
  if (ranks_.has(State::starting)) return false;
  // Nobody is busy: what still waits has no rank left.
  return std::ranges::none_of(ranks_, [](const KnownRank& rank) {
    return rank.state == State::idle && rank.group->has_waiting();
  });
}

void Lead::call_roll() {
  roll_called_ = true;
  for (const KnownRank& rank : ranks_) {
    if (rank.is_here()) tell(rank, {{"say", say::kRollCall}});
  }
}

bool Lead::is_over() const {
  return roll_called_ && std::ranges::none_of(ranks_, [](const KnownRank& rank) {
           return rank.is_here() && !rank.is_present;
         });
}

void Lead::fail(std::exception_ptr failure) {
  if (!failure_) failure_ = std::move(failure);
}

void Lead::end() {
  try {
    inbox_.store_all();  // once more, if that failed
  } catch (const db::StoreError&) {
    fail(std::current_exception());
  }
  for (const KnownRank& rank : ranks_) tell(rank, wire_of(end_of_run(rank.hello.host)));
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
    for (const KnownRank& rank : ranks_) {
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

EndOfRun Lead::end_of_run(const std::string& host) const {
  return {!ranks_.has(State::lost), ranks_.lost_processes(host), ranks_.present_processes(host)};
}

void Lead::warn(const std::string& sentence) const {
  if (options_.on_warning) options_.on_warning(sentence);
}

}  // namespace autotune
