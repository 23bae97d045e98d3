// SPDX-License-Identifier: Apache-2.0
// Other ranks that help with the search of this one.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "tuner/ranks/help_messages.hpp"
#include "tuner/ranks/mailbox.hpp"
#include "tuner/session/search_helper.hpp"
#include "tuner/session/trial_evaluator.hpp"

namespace autotune {

/// The device of another rank. It throws Error once that rank is lost.
class RemoteHelper final : public SearchHelper {
 public:
  /// Problem `number` is searched.
  RemoteHelper(int rank, std::size_t number, Post post)
      : rank_(rank), number_(number), post_(std::move(post)) {}

  double time_default(const Loadable& default_configuration) override;
  void compare_with(double seconds) override;
  void measure(Trial& trial, const Loadable& configuration, double best_seconds) override;

  /// An answer of the rank. These two may be called from any thread.
  void take(Message answer) { answers_.put(std::move(answer)); }
  void lose() { answers_.close(); }

 private:
  Message ask(std::string question, const char* expected);

  const int rank_;
  const std::size_t number_;
  const Post post_;
  Mailbox<Message> answers_;
};

/// Each helper has a thread here, which waits for its answers. Thread-safe.
class RemoteHelpers {
 public:
  /// `post` must outlive it.
  RemoteHelpers(int own_rank, Post post) : own_rank_(own_rank), post_(std::move(post)) {}
  ~RemoteHelpers() { lose_all(); }
  RemoteHelpers(const RemoteHelpers&) = delete;
  RemoteHelpers& operator=(const RemoteHelpers&) = delete;

  /// Ranks may help with the search of a problem from now on. It must live until close().
  void open(TrialEvaluator& search, std::size_t number);
  /// After the search has dismissed its helpers: waits until all have let go of it.
  void close();

  /// Rank 0 has given this rank a helper, or lost it.
  void add(int rank);
  void lose(int rank);
  /// Nobody answers any more, because the run is over.
  void lose_all();
  /// An answer of a helper.
  void take(int from, Message answer);

 private:
  void help(int rank, RemoteHelper& helper, TrialEvaluator& search, std::size_t number);

  const int own_rank_;
  const Post post_;
  std::mutex mutex_;  // of all below
  bool is_over_ = false;
  TrialEvaluator* search_ = nullptr;
  std::size_t number_ = 0;
  std::map<int, std::unique_ptr<RemoteHelper>> helpers_;
  std::vector<std::jthread> threads_;
};

}  // namespace autotune
