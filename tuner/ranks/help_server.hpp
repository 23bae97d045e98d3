// SPDX-License-Identifier: Apache-2.0
// This rank's device helps with the search of another rank.
#pragma once

#include <optional>

#include "tuner/ranks/help_messages.hpp"
#include "tuner/ranks/member.hpp"
#include "tuner/session/search_helper.hpp"

namespace autotune {

/// For one thread.
class HelpServer {
 public:
  /// All must outlive it.
  HelpServer(MemberJob& job, Post post) : job_(job), post_(std::move(post)) {}

  /// Answers a message about help. Throws Error if the device fails.
  void take(int from, const Message& message);
  /// Frees the buffers: the device has work of its own.
  void close() { help_.reset(); }

 private:
  void begin(int owner, const Message& message);
  void end(int owner);
  void measure(const Message& message);

  /// The search that the device helps with.
  struct Help {
    Help(int rank, MemberJob& job, const Problem& problem)
        : owner(rank), helper(job.device(), job.target(), problem, job.request().policy) {}
    int owner;
    LocalHelper helper;
  };

  MemberJob& job_;
  const Post post_;
  std::optional<Help> help_;
};

}  // namespace autotune
