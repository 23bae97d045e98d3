// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/device_group.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tuner/core/error.hpp"
#include "tuner/session/problem_run.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_between(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

/// Does something when it goes.
class AtEnd {
 public:
  explicit AtEnd(std::function<void()> action) : action_(std::move(action)) {}
  ~AtEnd() { action_(); }
  AtEnd(const AtEnd&) = delete;
  AtEnd& operator=(const AtEnd&) = delete;

 private:
  const std::function<void()> action_;
};

/// One run; a thread a device takes problems from the queue, and helps when none waits.
class DeviceGroup final : RunGroup {
 public:
  DeviceGroup(const Target& target, std::span<const std::unique_ptr<Device>> devices,
              db::TunedStore* store, const TuningRequest& request, const TuningCallbacks& callbacks)
      : target_(target),
        devices_(devices),
        store_(store),
        request_(request),
        callbacks_(callbacks),
        working_(devices.size()) {
    for (std::size_t i = 0; i < request.problems.size(); ++i) waiting_.insert(i);
  }

  TuningReport run() {
    {
      std::vector<std::jthread> threads;
      for (std::size_t i = 0; i < devices_.size(); ++i) {
        threads.emplace_back([this, i] { work_on(i); });
      }
    }
    if (failure_) std::rethrow_exception(failure_);
    for (auto& [number, one] : done_) report_.problems.push_back(std::move(one));
    report_.interrupted = report_.interrupted || stopped();
    report_.seconds = seconds();
    report_.devices = devices_.size();
    for (const auto& device : devices_) report_.busy_seconds += device->busy_seconds();
    return std::move(report_);
  }

 private:
  /// A search that is going on.
  struct Search {
    int helpers = 0;
    bool over = false;
  };

  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
  bool stopped() const { return callbacks_.stop_requested && callbacks_.stop_requested(); }

  void begins(ProblemRun& run) override {
    const std::lock_guard lock(mutex_);
    searches_[&run] = {};
    changed_.notify_all();
  }

  void ends(ProblemRun& run) override {
    std::unique_lock lock(mutex_);
    Search& search = searches_.at(&run);
    search.over = true;
    run.dismiss_helpers();
    changed_.wait(lock, [&] { return search.helpers == 0; });
    searches_.erase(&run);
  }

  std::vector<PastTrial> history() override {
    const std::lock_guard lock(mutex_);
    return history_;
  }

  void remember(std::vector<PastTrial> trials) override {
    const std::lock_guard lock(mutex_);
    history_.insert(history_.end(), trials.begin(), trials.end());
  }

  PreparedProblems& prepared() override { return prepared_; }

  void work_on(std::size_t device) {
    try {
      std::optional<db::TunedStore> store;  // each is for one thread
      if (store_) store.emplace(store_->path());
      work_with(device, store ? &*store : nullptr);
      if (store) warn_once(store->left_out());
    } catch (...) {
      fail();
    }
  }

  void work_with(std::size_t device, db::TunedStore* store) {
    for (bool healthy = true; healthy;) {
      const Work work = next_work(device);
      if (work.problem) {
        healthy = tune_one(device, store, *work.problem);
      } else if (work.run) {
        healthy = help(device, *work.run);
      } else {
        return;
      }
    }
  }

  /// What a device does next: tune a problem, help with one, or end.
  struct Work {
    std::optional<std::size_t> problem;
    ProblemRun* run = nullptr;
  };

  /// Waits while others tune the last problems, for they may come back.
  Work next_work(std::size_t device) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] {
      return failure_ || !waiting_.empty() || running_ == 0 || run_for(device) != nullptr;
    });
    if (failure_ || stopped()) return {};
    if (!waiting_.empty()) {
      const std::size_t number = *waiting_.begin();
      waiting_.erase(waiting_.begin());
      ++running_;
      return {number, nullptr};
    }
    ProblemRun* const run = run_for(device);
    if (run) ++searches_.at(run).helpers;
    return {std::nullopt, run};
  }

  /// The search with the fewest helpers, where the device may help.
  ProblemRun* run_for(std::size_t device) const {
    if (unlike_.contains(device) || !devices_[device]->isolated()) return nullptr;
    ProblemRun* found = nullptr;
    int fewest = 0;
    for (const auto& [run, search] : searches_) {
      if (search.over || (found && search.helpers >= fewest)) continue;
      found = run;
      fewest = search.helpers;
    }
    return found;
  }

  /// False when the device drops out.
  bool tune_one(std::size_t device, db::TunedStore* store, std::size_t number) {
    try {
      take_over(number, tune(target_, *devices_[device], store, request_for(number),
                             callbacks_for(number), this));
      return true;
    } catch (const UsageError&) {
      throw;
    } catch (const TargetError&) {
      throw;
    } catch (const Error& error) {
      give_back(number);
      drop_out(device, error);
      return false;
    }
  }

  /// False when the device drops out.
  bool help(std::size_t device, ProblemRun& run) {
    // The run lives until its search ends, which waits for the helpers to leave.
    const AtEnd leave([&] {
      const std::lock_guard lock(mutex_);
      --searches_.at(&run).helpers;
      changed_.notify_all();
    });
    try {
      if (const auto ratio = run.help(*devices_[device])) stay_apart(device, *ratio, run.problem());
      return true;
    } catch (const Error& error) {
      drop_out(device, error);
      return false;
    }
  }

  /// Whose times differ from others' is left to whole problems.
  void stay_apart(std::size_t device, double ratio, const Problem& problem) {
    {
      const std::lock_guard lock(mutex_);
      unlike_.insert(device);
    }
    warn(
        format("{} takes {:.3g} times as long as another device for the default "
               "configuration of {}: it tunes its own problems and helps with no others",
               label(device), ratio, problem_text(target_, problem)));
  }

  /// This problem alone, with its share of cores and of what is left of the time.
  TuningRequest request_for(std::size_t number) {
    const std::lock_guard lock(mutex_);
    TuningRequest one = request_;
    one.problems = {request_.problems[number]};
    const std::size_t at_once = std::min(working_, waiting_.size() + running_);
    one.compile_threads = std::max(1, request_.compile_threads / static_cast<int>(at_once));
    // What another device measured of it is not compared with what this one will.
    one.retune = one.retune || given_up_.contains(number);
    if (one.budget.kind == Budget::Kind::seconds) {
      const double rounds = std::max(
          1.0, static_cast<double>(waiting_.size() + running_) / static_cast<double>(working_));
      one.started = Clock::now();
      one.budget.amount =
          (request_.budget.amount - seconds_between(request_.started, one.started)) / rounds;
    }
    return one;
  }

  TuningCallbacks callbacks_for(std::size_t number) {
    TuningCallbacks one;
    one.stop_requested = [this] { return stopped() || has_failed(); };
    one.on_warning = [this](const std::string& sentence) { warn(sentence); };
    if (callbacks_.on_progress) {
      one.on_progress = [this, number](Progress progress) {
        progress.problem = number;
        progress.problems = request_.problems.size();
        const std::lock_guard lock(callback_);
        callbacks_.on_progress(progress);
      };
    }
    if (callbacks_.on_problem) {
      one.on_problem = [this](const ProblemReport& report) {
        const std::lock_guard lock(callback_);
        callbacks_.on_problem(report);
      };
    }
    return one;
  }

  void take_over(std::size_t number, TuningReport report) {
    const std::lock_guard lock(mutex_);
    for (ProblemReport& problem : report.problems) done_[number] = std::move(problem);
    report_.compile.compiled += report.compile.compiled;
    report_.compile.cached += report.compile.cached;
    report_.compile.cpu_seconds += report.compile.cpu_seconds;
    // Devices compile at the same time.
    report_.compile.wall_seconds +=
        report.compile.wall_seconds / static_cast<double>(devices_.size());
    report_.interrupted = report_.interrupted || report.interrupted;
    --running_;
    changed_.notify_all();
  }

  /// A problem at which its device failed.
  void give_back(std::size_t number) {
    const std::lock_guard lock(mutex_);
    --running_;
    if (!given_up_.insert(number).second) {
      if (!failure_) failure_ = std::current_exception();
    } else {
      waiting_.insert(number);
    }
    changed_.notify_all();
  }

  void drop_out(std::size_t device, const Error& error) {
    {
      const std::lock_guard lock(mutex_);
      if (--working_ == 0 && !failure_) failure_ = std::current_exception();
      changed_.notify_all();
      if (failure_) return;
    }
    warn(format("{} drops out, the other devices continue: {}", label(device), error.what()));
  }

  /// `NVIDIA H200 (2 of 4)`.
  std::string label(std::size_t device) const {
    return format("{} ({} of {})", devices_[device]->info().name, device + 1, devices_.size());
  }

  void warn(const std::string& sentence) {
    if (!callbacks_.on_warning) return;
    const std::lock_guard lock(callback_);
    callbacks_.on_warning(sentence);
  }

  /// What several stores say of one file.
  void warn_once(const std::set<std::string>& sentences) {
    for (const std::string& sentence : sentences) {
      std::unique_lock lock(mutex_);
      const bool is_new = said_.insert(sentence).second;
      lock.unlock();
      if (is_new) warn(sentence);
    }
  }

  void fail() {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = std::current_exception();
    changed_.notify_all();
  }

  bool has_failed() {
    const std::lock_guard lock(mutex_);
    return failure_ != nullptr;
  }

  const Target& target_;
  const std::span<const std::unique_ptr<Device>> devices_;
  db::TunedStore* const store_;
  const TuningRequest& request_;
  const TuningCallbacks& callbacks_;
  const Clock::time_point start_ = Clock::now();
  PreparedProblems prepared_{target_, request_.problems};

  std::mutex callback_;  // held while one is called
  std::mutex mutex_;     // of all below
  std::condition_variable changed_;
  std::set<std::size_t> waiting_;  // problems that nobody has begun, or that were given back
  std::set<std::string> said_;
  std::set<std::size_t> given_up_;  // a device dropped out at these
  std::size_t running_ = 0;         // problems
  std::size_t working_;             // devices
  std::set<std::size_t> unlike_;    // devices that help with no problem
  std::map<ProblemRun*, Search> searches_;
  std::vector<PastTrial> history_;
  std::map<std::size_t, ProblemReport> done_;
  TuningReport report_;
  std::exception_ptr failure_;
};

}  // namespace

TuningReport tune_on_all(const Target& target, std::span<const std::unique_ptr<Device>> devices,
                         db::TunedStore* store, const TuningRequest& request,
                         const TuningCallbacks& callbacks) {
  if (devices.size() == 1) return tune(target, *devices[0], store, request, callbacks);
  return DeviceGroup(target, devices, store, request, callbacks).run();
}

}  // namespace autotune
