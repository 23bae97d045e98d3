// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/tuning_request.hpp"

#include <algorithm>
#include <exception>
#include <future>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "tuner/core/deadline.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/target_program.hpp"
#include "tuner/session/problem_run.hpp"
#include "tuner/session/problem_tuner.hpp"
#include "tuner/session/trial_evaluator.hpp"
#include "tuner/session/work_queue.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

using Clock = std::chrono::steady_clock;

/// Problems that are prepared ahead, and one more for each place: a large space takes longer to
/// build than a small one to measure.
constexpr std::size_t kAhead = 2;

/// Refuses what can never be allocated before anything is compiled.
void expect_to_fit(const Target& target, const Problem& problem, const Device& device) {
  const std::int64_t limit = device.info().memory_bytes;
  const std::int64_t bytes = buffer_bytes(target, problem, device.info());
  if (limit <= 0 || bytes <= limit || !device.runs()) return;
  throw Error(format("{} {}: its buffers take {}, {} has {}; give smaller sizes", target.name,
                     problem_text(target, problem), bytes_text(bytes), device.info().name,
                     bytes_text(limit)));
}

double busy_seconds(std::span<Device* const> devices) {
  double seconds = 0;
  for (Device* const device : devices) seconds += device->busy_seconds();
  return seconds;
}

/// With what `work` returns, or throws, so that nobody waits for ever.
template <class Value, class Work>
void fulfil(std::promise<Value>& promise, const Work& work) try {
  promise.set_value(work());
} catch (...) {
  promise.set_exception(std::current_exception());
  throw;
}

/// One run. Each place of a device has a thread, which takes problems from the queue. Devices whose
/// first place finds none help others.
class TuningSession {
 public:
  TuningSession(const Target& target, std::vector<Device*> devices, db::TunedStore* store,
                const TuningRequest& request, const TuningCallbacks& callbacks)
      : target_(target),
        devices_(std::move(devices)),
        store_(store),
        request_(request),
        callbacks_(callbacks),
        places_(devices_.size() * places_of_each(target, request, devices_)),
        queue_(queue_of(target, request, devices_[0]->info(), places_), devices_.size(),
               callbacks.stop_requested) {}

  TuningReport run() {
    if (request_.policy.objective != Objective::time) expect_energy();
    for (const Problem& problem : request_.problems) {
      expect_to_fit(target_, problem, *devices_[0]);
    }
    // They are alike: what one compiles runs on all.
    CompilePool pool(*devices_[0], request_.compile_threads);
    CompileRequests defaults(pool);
    std::promise<Calibration> calibration;
    PreparedProblems problems(target_, request_.problems, devices_[0]->info(),
                              calibration.get_future().share());
    fulfil(calibration, [&] {
      if (needs_calibration(store_, *devices_[0])) {
        problems.begin(queue_.next_problems(places_ + kAhead));
        compile_defaults(defaults);
      }
      return calibration_of(store_, *devices_[0]);
    });
    const SharedByDevices shared{target_, request_, problems, queue_, pool};
    {
      std::vector<std::jthread> others;
      for (std::size_t place = 1; place < places_; ++place) {
        others.emplace_back([this, &shared, place] { work_with_own_store(place, shared); });
      }
      work(0, store_, shared);
    }
    compile_ = pool.statistics();
    if (failure_) std::rethrow_exception(failure_);
    warn_of_left_out();
    return report();
  }

 private:
  /// Before anything is tuned: the objective needs the energy of every device.
  void expect_energy() const {
    for (Device* const device : devices_) {
      if (const std::string why = device->no_energy(); !why.empty()) throw Error(why);
    }
  }

  /// Of the first problems, and their references. The compilers have nothing else to do while a
  /// device is calibrated.
  /// What is wrong with a target is said where the problem is tuned.
  void compile_defaults(CompileRequests& requests) try {
    const auto most = static_cast<std::size_t>(std::max(1, request_.compile_threads));
    for (const std::size_t number : queue_.next_problems(most)) {
      const TargetProgram program(target_, request_.problems[number], devices_[0]->info());
      const auto valid = program.first_valid_default();
      if (valid) requests.prefetch(program.source_unit(*valid));
      const Workload workload =
          workload_of(target_, request_.problems[number], devices_[0]->info());
      if (workload.runs_kernels()) requests.prefetch(workload.reference_source);
    }
  } catch (const Error&) {
  } catch (const KernelFailure&) {
  }

  TuningReport report() {
    TuningReport report;
    for (auto& [number, one] : reports_) report.problems.push_back(std::move(one));
    report.compile = compile_;
    report.interrupted = stopped();
    report.seconds = seconds_since(start_);
    report.busy_seconds = busy_seconds(devices_) - busy_before_;
    report.devices = devices_.size();
    return report;
  }

  bool stopped() const { return callbacks_.stop_requested && callbacks_.stop_requested(); }

  /// A connection to the database is for one thread.
  void work_with_own_store(std::size_t place, const SharedByDevices& shared) {
    try {
      std::optional<db::TunedStore> store;
      if (store_) store.emplace(store_->path());
      work(place, store ? &*store : nullptr, shared);
      const std::lock_guard lock(mutex_);
      if (store) left_out_.insert(store->left_out().begin(), store->left_out().end());
    } catch (...) {
      fail();
    }
  }

  void work(std::size_t place, db::TunedStore* store, const SharedByDevices& shared) {
    try {
      const TuningCallbacks callbacks = locked_callbacks();
      ProblemTuner tuner(shared, device_of(place), store, callbacks);
      work_with(place, tuner);
    } catch (...) {
      fail();
    }
  }

  Device& device_of(std::size_t place) const { return *devices_[queue_.device_of(place)]; }

  void work_with(std::size_t place, ProblemTuner& tuner) {
    const std::size_t device = queue_.device_of(place);
    const bool can_help = place == device && devices_[device]->isolated();
    for (bool is_healthy = true; is_healthy;) {
      const WorkQueue::Work work = queue_.next(place, can_help);
      if (!work.problem && !work.search) return;
      is_healthy = work.problem ? tune(place, tuner, *work.problem) : help(device, *work.search);
    }
  }

  /// False when the device drops out.
  bool tune(std::size_t place, ProblemTuner& tuner, std::size_t number) {
    try {
      keep(number, tuner.tune(order_for(place, number)));
      queue_.done();
      return true;
    } catch (const UsageError&) {
      throw;
    } catch (const TargetError&) {
      throw;
    } catch (const Error& error) {
      const bool is_first = queue_.give_back(number);
      drop_out(queue_.device_of(place), error, is_first);
      return false;
    }
  }

  /// False when the device drops out.
  bool help(std::size_t device, TrialEvaluator& search) {
    // The search lives until its helpers have left.
    const auto leave = [this](TrialEvaluator* helped) { queue_.leave(*helped); };
    const std::unique_ptr<TrialEvaluator, decltype(leave)> helped(&search, leave);
    try {
      SearchHelper helper(*devices_[device], target_, search.problem(), request_.policy);
      const auto ratio = search.help(helper);
      if (ratio) stay_apart(device, *ratio, search.problem());
      return true;
    } catch (const Error& error) {
      drop_out(device, error, true);
      return false;
    }
  }

  /// A problem with its share of the cores and of what is left of the time.
  TuningOrder order_for(std::size_t place, std::size_t number) {
    const auto [problems, devices] = queue_.share();
    const std::size_t at_once = std::clamp<std::size_t>(problems, 1, devices);
    const std::size_t places = places_ / devices_.size() * devices;
    TuningOrder order;
    order.place = place;
    order.number = number;
    order.ahead = queue_.next_problems(places + kAhead);
    order.batch = std::max(1, request_.compile_threads / static_cast<int>(at_once));
    // What another device measured of it is not compared with what this one will.
    order.retune = request_.retune || queue_.was_given_back(number);
    const auto seconds = time_share(request_, number, problems, places);
    if (seconds) order.deadline = Deadline::in(*seconds);
    return order;
  }

  void keep(std::size_t number, ProblemReport report) {
    if (callbacks_.on_problem) {
      const std::lock_guard lock(callback_);
      callbacks_.on_problem(report);
    }
    const std::lock_guard lock(mutex_);
    reports_[number] = std::move(report);
  }

  /// A device whose times differ is left to whole problems.
  void stay_apart(std::size_t device, double ratio, const Problem& problem) {
    queue_.stay_apart(device);
    warn(
        format("{} takes {:.3g} times as long as another device for the default configuration of "
               "{}: it tunes its own problems and helps with no others",
               label(device), ratio, problem_text(target_, problem)));
  }

  void drop_out(std::size_t device, const Error& error, bool can_go_on) {
    const bool is_new = queue_.drop_out(device);
    if (queue_.share().devices == 0 || !can_go_on) {
      fail();
    } else if (is_new) {
      warn(format("{} drops out, the other devices continue: {}", label(device), error.what()));
    }
  }

  /// Ends the run with the exception that is being handled.
  void fail() {
    {
      const std::lock_guard lock(mutex_);
      if (!failure_) failure_ = std::current_exception();
    }
    queue_.stop();
  }

  bool has_failed() {
    const std::lock_guard lock(mutex_);
    return failure_ != nullptr;
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

  /// What the stores of other devices could not use, unless the caller's says so itself.
  void warn_of_left_out() {
    for (const std::string& sentence : left_out_) {
      if (!store_->left_out().contains(sentence)) warn(sentence);
    }
  }

  /// For the threads of the devices: one is called at a time.
  TuningCallbacks locked_callbacks() {
    TuningCallbacks locked;
    locked.stop_requested = [this] { return stopped() || has_failed(); };
    locked.on_warning = [this](const std::string& sentence) { warn(sentence); };
    if (!callbacks_.on_progress) return locked;
    locked.on_progress = [this](Progress progress) {
      progress.problems = request_.problems.size();
      const std::lock_guard lock(callback_);
      callbacks_.on_progress(progress);
    };
    return locked;
  }

  const Target& target_;
  const std::vector<Device*> devices_;
  db::TunedStore* const store_;
  const TuningRequest& request_;
  const TuningCallbacks& callbacks_;
  const Clock::time_point start_ = Clock::now();
  const double busy_before_ = busy_seconds(devices_);
  const std::size_t places_;  // of all devices: a thread each
  WorkQueue queue_;

  std::mutex callback_;  // held while one is called
  std::mutex mutex_;     // of all below
  std::map<std::size_t, ProblemReport> reports_;
  CompileStatistics compile_;
  std::set<std::string> left_out_;
  std::exception_ptr failure_;
};

}  // namespace

TuningReport tune(const Target& target, std::span<const std::unique_ptr<Device>> devices,
                  db::TunedStore* store, const TuningRequest& request,
                  const TuningCallbacks& callbacks) {
  std::vector<Device*> all;
  for (const auto& device : devices) all.push_back(device.get());
  return TuningSession(target, std::move(all), store, request, callbacks).run();
}

TuningReport tune(const Target& target, Device& device, db::TunedStore* store,
                  const TuningRequest& request, const TuningCallbacks& callbacks) {
  return TuningSession(target, {&device}, store, request, callbacks).run();
}

}  // namespace autotune
