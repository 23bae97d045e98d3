// SPDX-License-Identifier: Apache-2.0
// A buffer whose contents stay the same between launches: autotune_hold_constant().
#pragma once

#include <cstddef>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace autotune {

/// Remembers which workspaces hold what a kernel computes from the buffer alone. A graph may be
/// launched at any time, so a workspace that a graph relies on is written for no other buffer, and
/// one that graphs write is not relied on.
class ConstantBuffer {
 public:
  /// A kernel may have this many workspaces. With only one, captured launches do all of their work.
  explicit ConstantBuffer(std::size_t most_workspaces = 1) : most_(most_workspaces) {}

  /// What a launch does: everything, or all but the work on the buffer `constant`.
  struct Call {
    std::string constant;
    std::size_t workspace = 0;  // the number of the one that it uses; each new one is the next
    operator const std::string&() const { return constant; }
  };

  /// `index` is that of the buffer `name` in the addresses below. An empty name: no buffer.
  void hold(std::string name, std::size_t index) {
    const std::lock_guard lock(mutex_);
    name_ = std::move(name);
    index_ = index;
    for (Workspace& one : workspaces_) {
      one.made_from = nullptr;
      one.is_rewritten = one.is_rewritten || one.written_from != nullptr;
    }
  }
  void invalidate() {
    const std::lock_guard lock(mutex_);
    for (Workspace& one : workspaces_) one.made_from = nullptr;
  }

  /// Calls launch(Call). If lasts() returns false, the launch is captured into a graph.
  template <class Lasts, class Launch>
  void launch(std::span<void* const> addresses, const Lasts& lasts, const Launch& launch) {
    const std::lock_guard lock(mutex_);
    const bool is_captured = !lasts();
    const void* const from = name_.empty() ? nullptr : addresses[index_];
    const std::size_t chosen = choose(addresses, from);
    Workspace& used = workspaces_[chosen];
    const bool is_made = used.has(from) && (!is_captured || can_be_kept(chosen));
    if (is_captured) note_graph(used, from, is_made);
    const void* const before = std::exchange(used.made_from, nullptr);  // if the launch throws
    launch(Call{is_made ? name_ : std::string(), chosen});
    used.made_from = is_captured ? before : from;
  }

 private:
  struct Workspace {
    const void* made_from = nullptr;  // its content, of launches outside of graphs
    // Graphs rely on what was made from this address of the buffer `kept_index`.
    const void* kept_for = nullptr;
    std::size_t kept_index = 0;
    // Graphs write what they make from this address, and perhaps from others.
    const void* written_from = nullptr;
    bool is_rewritten = false;

    bool lasts(const void* from) const {
      return !is_rewritten && (written_from == nullptr || written_from == from);
    }
    bool has(const void* from) const { return from != nullptr && made_from == from && lasts(from); }
    bool may_be_written(std::span<void* const> addresses) const {
      return kept_for == nullptr || kept_for == addresses[kept_index];
    }
  };

  /// The workspace of a launch, perhaps a new one.
  std::size_t choose(std::span<void* const> addresses, const void* from) {
    const auto is_made = [&](const Workspace& one) { return one.has(from); };
    const auto is_kept = [&](const Workspace& one) {
      return one.kept_for != nullptr && one.kept_for == from && one.kept_index == index_;
    };
    const auto lasts = [&](const Workspace& one) { return from == nullptr || one.lasts(from); };
    const auto any = [](const Workspace&) { return true; };
    const auto find = [&](const auto& fits) {
      std::size_t i = 0;
      while (i < workspaces_.size() &&
             !(workspaces_[i].may_be_written(addresses) && fits(workspaces_[i]))) {
        ++i;
      }
      return i;
    };
    const std::size_t none = workspaces_.size();
    if (const std::size_t found = find(is_made); found != none) return found;
    if (const std::size_t found = find(is_kept); found != none) return found;
    if (const std::size_t found = find(lasts); found != none) return found;
    if (none == 0 || none < most_) {
      workspaces_.emplace_back();
      return none;
    }
    return find(any);  // see can_be_kept()
  }

  /// Whether a workspace is left for launches with other addresses.
  bool can_be_kept(std::size_t chosen) const {
    if (workspaces_[chosen].kept_for != nullptr || workspaces_.size() < most_) return true;
    for (std::size_t i = 0; i < workspaces_.size(); ++i) {
      if (i != chosen && workspaces_[i].kept_for == nullptr) return true;
    }
    return false;
  }

  /// Before the launch: a part of it may be in the graph if it fails.
  void note_graph(Workspace& used, const void* from, bool is_made) const {
    if (is_made) {
      used.kept_for = from;
      used.kept_index = index_;
    } else if (from != nullptr && used.written_from == nullptr) {
      used.written_from = from;
    } else if (from == nullptr || used.written_from != from) {
      used.is_rewritten = true;
    }
  }

  const std::size_t most_;
  std::mutex mutex_;
  std::string name_;
  std::size_t index_ = 0;
  std::vector<Workspace> workspaces_;
};

}  // namespace autotune
