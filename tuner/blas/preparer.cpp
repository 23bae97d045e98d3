// SPDX-License-Identifier: Apache-2.0
#include "tuner/blas/preparer.hpp"

#include <csignal>
#include <cstdlib>

#include "tuner/blas/forked.hpp"
#include "tuner/blas/warn_once.hpp"

namespace autotune::blas {
namespace {

/// Blocks all signals, so that the program's own threads handle them.
class NoSignals {
 public:
  NoSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~NoSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  NoSignals(const NoSignals&) = delete;
  NoSignals& operator=(const NoSignals&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace

void Preparer::request(CallEntry& entry, bool wait) {
  if (entry.is_requested.exchange(true)) return;
  if (wait) return prepare(entry);
  const std::lock_guard lock(mutex_);
  if (is_stopped_) return;
  waiting_.push_back(&entry);
  if (!thread_.joinable()) start();
  changed_.notify_one();
}

void Preparer::start() {
  std::atexit([] { preparer().stop(); });
  const NoSignals inherited;
  thread_ = std::thread([this] { run(); });
}

/// What is registered last is called first at exit: stop() comes before the ends of what
/// libautotune and NVRTC have registered.
void Preparer::load() {
  const RuntimeLibrary* const loaded = runtime_library();
  std::atexit([] { preparer().stop(); });
  const std::lock_guard lock(mutex_);
  runtime_ = loaded;
}

void Preparer::run() {
  load();
  for (;;) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return is_stopped_ || !waiting_.empty(); });
    if (is_stopped_) {
      has_ended_ = true;
      changed_.notify_all();
      return;
    }
    CallEntry& next = *waiting_.front();
    waiting_.pop_front();
    lock.unlock();
    prepare(next);
  }
}

void Preparer::prepare(CallEntry& entry) try {
  const std::lock_guard lock(making_);
  const auto made = maker_.make(entry.shape);
  if (const auto* const kernel = std::get_if<const ServingKernel*>(&made)) {
    entry.kernel.store(*kernel, std::memory_order_release);
  } else {
    entry.why_not.store(std::get<Outcome>(made), std::memory_order_relaxed);
  }
} catch (...) {  // memory is short
  entry.why_not.store(Outcome::failed, std::memory_order_relaxed);
}

void Preparer::stop() {
  if (is_forked()) return;  // the thread is not here
  std::unique_lock lock(mutex_);
  is_stopped_ = true;
  waiting_.clear();
  end_warnings();
  if (!thread_.joinable()) return;
  std::thread ended = std::move(thread_);
  if (runtime_ && runtime_->stop_compiling) runtime_->stop_compiling();
  changed_.notify_all();
  const bool has_ended = changed_.wait_for(lock, kLongestEnd, [&] { return has_ended_; });
  lock.unlock();
  has_ended ? ended.join() : ended.detach();
}

Preparer& preparer() {
  static Preparer& one = *new Preparer;  // used until the process ends
  return one;
}

}  // namespace autotune::blas
