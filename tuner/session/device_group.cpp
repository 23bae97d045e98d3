// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/device_group.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "tuner/core/error.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

using Clock = std::chrono::steady_clock;

/// One run; a thread a device takes problems from the queue.
class DeviceGroup {
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
      for (const auto& device : devices_) {
        threads.emplace_back([this, &device] { work_on(*device); });
      }
    }
    if (failure_) std::rethrow_exception(failure_);
    for (auto& [number, one] : done_) report_.problems.push_back(std::move(one));
    report_.interrupted = report_.interrupted || stopped();
    report_.seconds = seconds();
    return std::move(report_);
  }

 private:
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
  bool stopped() const { return callbacks_.stop_requested && callbacks_.stop_requested(); }

  void work_on(Device& device) {
    try {
      std::optional<db::TunedStore> store;  // each is for one thread
      if (store_) store.emplace(store_->path());
      while (const auto number = take()) {
        if (!tune_one(device, store ? &*store : nullptr, *number)) break;
      }
    } catch (...) {
      fail();
    }
  }

  /// The next problem; waits for those that are being tuned elsewhere, for they may come back.
  std::optional<std::size_t> take() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return failure_ || !waiting_.empty() || running_ == 0; });
    if (failure_ || waiting_.empty() || stopped()) return std::nullopt;
    const std::size_t number = *waiting_.begin();
    waiting_.erase(waiting_.begin());
    ++running_;
    return number;
  }

  /// False when the device drops out.
  bool tune_one(Device& device, db::TunedStore* store, std::size_t number) {
    try {
      take_over(number, tune(target_, device, store, request_for(number), callbacks_for(number)));
      return true;
    } catch (const UsageError&) {
      throw;
    } catch (const Error& error) {
      drop_out(device, number, error);
      return false;
    }
  }

  /// This problem alone, with its share of cores and of what is left of the time.
  TuningRequest request_for(std::size_t number) {
    const std::lock_guard lock(mutex_);
    TuningRequest one = request_;
    one.problems = {request_.problems[number]};
    one.compile_threads = std::max(1, request_.compile_threads / static_cast<int>(working_));
    // What another device measured of it is not compared with what this one will.
    one.retune = one.retune || given_up_.contains(number);
    if (one.budget.kind == Budget::Kind::seconds) {
      const double rounds = std::max(
          1.0, static_cast<double>(waiting_.size() + running_) / static_cast<double>(working_));
      one.budget.amount = (request_.budget.amount - seconds()) / rounds;
    }
    return one;
  }

  TuningCallbacks callbacks_for(std::size_t number) {
    TuningCallbacks one;
    one.stop_requested = [this] { return stopped() || has_failed(); };
    if (callbacks_.on_warning) {
      one.on_warning = [this](const std::string& sentence) {
        const std::lock_guard lock(callback_);
        callbacks_.on_warning(sentence);
      };
    }
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

  void drop_out(const Device& device, std::size_t number, const Error& error) {
    {
      const std::lock_guard lock(mutex_);
      --running_;
      --working_;
      const bool again = !given_up_.insert(number).second;
      if (again || working_ == 0) {
        if (!failure_) failure_ = std::current_exception();
      } else {
        waiting_.insert(number);
      }
      changed_.notify_all();
      if (failure_) return;
    }
    if (!callbacks_.on_warning) return;
    const std::lock_guard lock(callback_);
    callbacks_.on_warning(
        format("{} drops out, the others go on: {}", device.info().name, error.what()));
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

  std::mutex callback_;  // held while one is called
  std::mutex mutex_;     // of all below
  std::condition_variable changed_;
  std::set<std::size_t> waiting_;   // problems that nobody has begun, or that were given back
  std::set<std::size_t> given_up_;  // a device dropped out at these
  std::size_t running_ = 0;         // problems
  std::size_t working_;             // devices
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
