// SPDX-License-Identifier: Apache-2.0
#include "tuner/ranks/remote_helpers.hpp"

#include <optional>
#include <utility>

#include "tuner/core/error.hpp"
#include "tuner/text/format.hpp"
#include "tuner/worker/wire_value.hpp"

namespace autotune {

double RemoteHelper::time_default(const Loadable& default_configuration) {
  const Message answer = ask(help_begin(number_, default_configuration), say::kHelpTime);
  return WireValue(answer.header.at("seconds"));
}

void RemoteHelper::compare_with(double seconds) {
  post_(rank_, packed({{"say", say::kHelpCompare}, {"seconds", seconds}}));
}

void RemoteHelper::measure(Trial& trial, const Loadable& configuration, double best_seconds) {
  note_measured(trial, ask(help_measure(configuration, best_seconds), say::kHelpTrial));
}

Message RemoteHelper::ask(std::string question, const char* expected) {
  post_(rank_, std::move(question));
  std::optional<Message> answer = answers_.wait();
  const bool is_expected = answer && answer->header.at("say") == expected;
  if (!is_expected) throw Error(format("rank {} helps no more", rank_));
  return *std::move(answer);
}

void RemoteHelpers::open(TrialEvaluator& search, std::size_t number) {
  const std::lock_guard lock(mutex_);
  search_ = &search;
  number_ = number;
  post_(0, packed({{"say", say::kOpen}}));
}

void RemoteHelpers::close() {
  std::vector<std::jthread> threads;
  {
    const std::lock_guard lock(mutex_);
    search_ = nullptr;
    threads = std::exchange(threads_, {});
    post_(0, packed({{"say", say::kClosed}}));
  }
  threads.clear();
  const std::lock_guard lock(mutex_);
  helpers_.clear();
}

void RemoteHelpers::add(int rank) {
  const std::lock_guard lock(mutex_);
  if (search_ == nullptr || is_over_ || helpers_.contains(rank)) {
    post_(rank, help_end(own_rank_));
    return;
  }
  auto& helper = helpers_[rank] = std::make_unique<RemoteHelper>(rank, number_, post_);
  threads_.emplace_back([this, rank, &helper = *helper, &search = *search_, number = number_] {
    help(rank, helper, search, number);
  });
}

/// The body of a helper's thread.
void RemoteHelpers::help(int rank, RemoteHelper& helper, TrialEvaluator& search,
                         std::size_t number) {
  try {
    const std::optional<double> ratio = search.help(helper);
    if (ratio) post_(0, packed(wire_of(Apart{rank, *ratio, number})));
  } catch (const std::exception&) {  // rank 0 knows why; another device makes the trial
  }
  post_(rank, help_end(own_rank_));
}

void RemoteHelpers::lose(int rank) {
  const std::lock_guard lock(mutex_);
  const auto found = helpers_.find(rank);
  if (found != helpers_.end()) found->second->lose();
}

void RemoteHelpers::lose_all() {
  const std::lock_guard lock(mutex_);
  is_over_ = true;
  for (const auto& [rank, helper] : helpers_) helper->lose();
}

void RemoteHelpers::take(int from, Message answer) {
  const std::lock_guard lock(mutex_);
  const auto found = helpers_.find(from);
  if (found != helpers_.end()) found->second->take(std::move(answer));
}

}  // namespace autotune
