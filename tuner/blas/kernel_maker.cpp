// SPDX-License-Identifier: Apache-2.0
#include "tuner/blas/call_server.hpp"

#include <csignal>
#include <cstdlib>

#include "tuner/blas/options.hpp"
#include "tuner/blas/serving_kernel.hpp"
#include "tuner/text/format.hpp"

namespace autotune::blas {
namespace {

using Operand = ServingKernel::Operand;

std::optional<Operand> operand_called(std::string_view name) {
  if (name == "A") return Operand::first;
  if (name == "B") return Operand::second;
  if (name == "C") return Operand::added;
  if (name == "D") return Operand::result;
  if (name == "scale_a") return Operand::first_scale;
  if (name == "scale_b") return Operand::second_scale;
  return std::nullopt;
}

/// nullopt if the kernel has scalars other than alpha and beta.
std::optional<bool> takes_scalars(const RuntimeLibrary& runtime, const autotune_kernel* kernel) {
  const std::size_t count = runtime.scalars(kernel);
  if (count == 0) return false;
  const auto is_called = [&](std::size_t index, std::string_view name) {
    return runtime.scalar(kernel, index, nullptr) == name;
  };
  if (count == 2 && is_called(0, "alpha") && is_called(1, "beta")) return true;
  return std::nullopt;
}

/// nullopt if the kernel's buffers are not those of a cuBLAS call.
std::optional<ServingKernel::Arguments> arguments_of(const RuntimeLibrary& runtime,
                                                     const autotune_kernel* kernel) {
  ServingKernel::Arguments arguments;
  for (std::size_t i = 0; i < runtime.buffers(kernel); ++i) {
    const auto operand = operand_called(runtime.buffer(kernel, i, nullptr));
    if (!operand) return std::nullopt;
    arguments.operands.push_back(*operand);
  }
  const auto scalars = takes_scalars(runtime, kernel);
  if (!scalars) return std::nullopt;
  arguments.takes_scalars = *scalars;
  return arguments;
}

Outcome failed(std::string_view why) {
  warn_once(Topic::kernel, format("{}; cuBLAS runs instead", why));
  return Outcome::failed;
}

/// What runs by this answer. Programs call cuBLAS in place of a default configuration.
Outcome outcome_of(const autotune_answer& answer) {
  if (answer.origin == AUTOTUNE_DEFAULT) return Outcome::not_tuned;
  return *answer.baseline != '\0' ? Outcome::vendor_faster : Outcome::served;
}

/// Why there is no configuration, where there is one for the packed product.
Outcome obstacle_of(const CallShape& shape) {
  return is_packed(shape) ? Outcome::batch : Outcome::leading_dimension;
}

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

autotune_handle* KernelMaker::handle_for(std::int32_t device, const TargetProblem& problem) {
  const auto [found, is_new] =
      handles_.try_emplace(Key{device, problem.target, problem.settings}, nullptr);
  if (!is_new) return found->second;
  autotune_options wanted{};
  wanted.size = sizeof wanted;
  wanted.target = problem.target.c_str();
  wanted.settings = problem.settings.c_str();
  wanted.ordinal = device;
  wanted.library = "cublas";
  wanted.earn = options().earn ? 1 : 0;
  const RuntimeLibrary& runtime = *runtime_library();
  autotune_handle* opened = nullptr;
  if (runtime.open(&wanted, &opened) != AUTOTUNE_OK) {
    failed(runtime.message());
  } else if (runtime.device(opened) != device_name(device)) {  // a libautotune without CUDA
    failed(format("libautotune does not see {}", device_name(device)));
    runtime.close(opened);
  } else {
    if (const std::string_view warnings = runtime.warnings(opened); !warnings.empty()) {
      warn_once(Topic::database, warnings);
    }
    found->second = opened;
  }
  return found->second;
}

KernelMaker::Choice KernelMaker::look_up(std::int32_t device, const TargetProblem& problem,
                                         std::optional<Outcome> obstacle) {
  Choice choice{.problem = problem, .timed = problem};
  choice.handle = handle_for(device, problem);
  if (!choice.handle) return choice;
  autotune_answer answer{};
  answer.size = sizeof answer;
  const RuntimeLibrary& runtime = *runtime_library();
  const auto& sizes = problem.sizes;
  if (runtime.lookup(choice.handle, sizes.data(), sizes.size(), &answer) != AUTOTUNE_OK) {
    choice.outcome = obstacle ? *obstacle : failed(runtime.message());
    return choice;
  }
  choice.outcome = outcome_of(answer);
  choice.configuration = answer.configuration;
  choice.is_open = answer.is_open != 0;
  choice.expected_ns = answer.expected_ns;
  choice.is_exact = answer.origin == AUTOTUNE_EXACT;
  return choice;
}

KernelMaker::Choice KernelMaker::choice_for(const CallShape& shape, const TargetProblem& packed) {
  Choice choice = look_up(shape.device, packed);
  const TargetProblem launched = launched_problem_of(shape, packed);
  if (launched == packed || choice.outcome == Outcome::failed) return choice;
  Choice there = look_up(shape.device, launched, obstacle_of(shape));
  if (there.configuration == choice.configuration) {
    there.timed = packed;
    there.is_exact = choice.is_exact;
  }
  return there;
}

bool KernelMaker::is_better(const Choice& other, const Choice& own) {
  if (!other.handle || !own.handle) return false;
  const auto has_obstacle = [](const Choice& one) {
    return one.outcome == Outcome::leading_dimension || one.outcome == Outcome::batch;
  };
  if (has_obstacle(own) != has_obstacle(other)) return has_obstacle(own);
  if (other.is_exact && !own.is_exact) return true;  // all units were tried
  if (own.outcome == Outcome::not_tuned && other.outcome == Outcome::vendor_faster) return true;
  std::int32_t is_faster = 0;
  const auto status = runtime_library()->is_faster(
      other.handle, other.timed.sizes.data(), other.timed.sizes.size(), own.handle,
      own.timed.sizes.data(), own.timed.sizes.size(), &is_faster);
  return status == AUTOTUNE_OK && is_faster != 0;
}

/// Fastest first.
std::vector<KernelMaker::Choice> KernelMaker::choose(const CallShape& shape) {
  std::vector<TargetProblem> problems = problems_of(shape);
  if (options().only_fp32) problems.resize(1);
  std::vector<Choice> ranked;
  for (const TargetProblem& problem : problems) {
    Choice other = choice_for(shape, problem);
    if (ranked.empty() || is_better(other, ranked.front()))
      ranked.insert(ranked.begin(), std::move(other));
  }
  const Choice& first = ranked.front();
  if (first.outcome == Outcome::not_tuned) {
    warn_once(Topic::not_tuned,
              format("{} {} is not tuned for {}; cuBLAS runs (autotune tune --workload tunes it)",
                     first.problem.target, first.problem.settings, device_name(shape.device)));
  }
  return ranked;
}

/// The one that may be faster than cuBLAS in the program's calls; nullptr: none is known to be
/// near.
const KernelMaker::Choice* KernelMaker::rival_in(const std::vector<Choice>& ranked) {
  const Choice* rival = nullptr;
  for (const Choice& each : ranked) {
    const bool may_win = each.outcome == Outcome::vendor_faster && each.is_open && options().earn;
    if (may_win && (!rival || each.expected_ns < rival->expected_ns)) rival = &each;
  }
  return rival;
}

KernelMaker::Made KernelMaker::prepare(const Choice& choice, const ServingKernel* stand_in) {
  const RuntimeLibrary& runtime = *runtime_library();
  PreparedProblem problem{&runtime, choice.handle, choice.problem.sizes};
  autotune_kernel* const kernel = problem.prepare();
  if (!kernel) return failed(runtime.message());
  // If a configuration does not compile, libautotune prepares the default one. cuBLAS is expected
  // to be faster than that.
  auto arguments = arguments_of(runtime, kernel);
  const std::string prepared = runtime.configuration(kernel);
  if (arguments && prepared == choice.configuration) {
    return new ServingKernel(std::move(problem), kernel, std::move(*arguments), stand_in);
  }
  runtime.release(kernel);
  const std::string how =
      arguments ? format("gave way to {}", prepared) : "cannot be used as a product";
  return failed(format("{} {} {}", choice.problem.target, choice.configuration, how));
}

std::variant<const ServingKernel*, Outcome> KernelMaker::make(const CallShape& shape) {
  const RelaxedThread relaxed;
  if (!runtime_library()) return Outcome::failed;
  const ServingKernel* kernel = nullptr;
  Outcome why_not = Outcome::failed;
  const std::vector<Choice> ranked = choose(shape);
  const Choice& first = ranked.front();
  if (first.outcome != Outcome::served) {
    if (const Choice* const rival = rival_in(ranked)) {
      const Made made = prepare(*rival, nullptr);
      const auto* const one = std::get_if<const ServingKernel*>(&made);
      if (one && (*one)->earns()) return *one;
    }
    return first.outcome;
  }
  for (auto choice = ranked.rbegin(); choice != ranked.rend(); ++choice) {
    const Made made =
        choice->outcome == Outcome::served ? prepare(*choice, kernel) : choice->outcome;
    if (const auto* const faster = std::get_if<const ServingKernel*>(&made)) {
      kernel = *faster;
    } else {
      why_not = std::get<Outcome>(made);
    }
  }
  if (kernel) return kernel;
  return why_not;
}

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
