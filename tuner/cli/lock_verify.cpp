// SPDX-License-Identifier: Apache-2.0
// autotune lock --verify and --repair: runs the answers of a lock.
#include <algorithm>
#include <iostream>
#include <iterator>
#include <map>
#include <optional>

#include "tuner/cli/answers.hpp"
#include "tuner/cli/arguments.hpp"
#include "tuner/cli/cover.hpp"
#include "tuner/cli/devices.hpp"
#include "tuner/cli/lock.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/target_program.hpp"
#include "tuner/measure/batch.hpp"
#include "tuner/measure/policy.hpp"
#include "tuner/measure/statistics.hpp"
#include "tuner/records/records.hpp"
#include "tuner/session/reduction_class.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"

namespace autotune::cli {
namespace {

constexpr int kBatches = 21;
constexpr int kSlowRepeats = 3;  // of a time that is longer than it may be

Policy policy_in(const LockedTarget& target) {
  for (const Policy& policy : stored_policies()) {
    if (key_text(policy) == target.policy) return policy;
  }
  throw Error(format("{} is no policy of this version: make the lock again", target.policy));
}

}  // namespace

std::unique_ptr<Device> open_device_of(const Lock& lock, double compile_seconds) {
  const bool is_host = lock.device.kind == name_of(DeviceKind::host);
  auto device = open_device(is_host ? "host" : "cuda:0", compile_seconds);
  const db::DeviceRow here = device_row(device->info());
  if (db::is_same_device(here, lock.device)) return device;
  throw Error(
      format("{}: is for {} with {} multiprocessors, and here is {} with {}: verify it there",
             lock.path.string(), lock.device.name, lock.device.multiprocessors, here.name,
             here.multiprocessors));
}

CompiledKernel compiled_kernel(const LockedKernel& locked) {
  CompiledKernel kernel;
  kernel.key = locked.key;
  kernel.binary = locked.binary;
  return kernel;
}

namespace {

class LockVerifier {
 public:
  LockVerifier(const Lock& lock, Device& device, double limit)
      : lock_(lock), device_(device), limit_(limit) {}

  /// Why the answer does not hold; empty: it holds. `time` gets its time now, if it was timed.
  std::string complaint(const Target& target, const LockedTarget& locked,
                        const LockedAnswer& answer, double& seconds) {
    if (target.fingerprint != locked.fingerprint) return "the target has changed since";
    const Problem problem = problem_of(locked, answer);
    try {
      const TargetProgram program(target, problem, device_.info());
      const Levels levels = program.levels(parse_named_values(answer.configuration));
      const auto bench = device_.open(prepared_workload_of(target, problem, device_.info()));
      const auto candidate =
          bench->load(compiled_kernel(lock_.kernels[answer.kernel]), program.plan(levels));
      const Verdict verdict = candidate->verify(3);
      if (verdict.outcome != Outcome::ok) return verdict.message;
      const Policy policy = policy_in(locked);
      const double stored = answer.median_ns * 1e-9;
      const bool is_measured = answer.origin == db::Origin::exact && stored > 0;
      const auto holds = [&] { return !is_measured || seconds <= stored * limit_; };
      seconds = median_of(*candidate, policy, verdict.seconds);
      for (int again = 0; !holds() && again < kSlowRepeats; ++again) {  // other programs may run
        seconds = std::min(seconds, median_of(*candidate, policy, verdict.seconds));
      }
      if (holds()) return "";
      return format("it takes {:.2f} times its stored {}", seconds / stored, time_text(stored));
    } catch (const KernelFailure& failure) {
      return failure.what();
    }
  }

 private:
  static double median_of(Candidate& candidate, const Policy& policy, double single) {
    InContext timer(candidate, policy.context);
    const double most = policy.batch_seconds / std::max(single, 1e-9);
    const int launches =
        static_cast<int>(std::clamp<double>(most, policy.fewest_launches, policy.most_launches));
    std::vector<double> seconds;
    for (int i = 0; i < kBatches; ++i) seconds.push_back(timer.time(launches, policy.l2).seconds);
    return summarize(seconds).median;
  }

  const Lock& lock_;
  Device& device_;
  const double limit_;
};

bool has_bits(const Lock& lock) {
  return std::ranges::any_of(lock.targets, [](const LockedTarget& target) {
    return std::ranges::any_of(target.answers,
                               [](const LockedAnswer& answer) { return !answer.bits.empty(); });
  });
}

/// Runs the verb tune for sizes of the lock and for the database that is asked afterwards.
void tune_again(const Arguments& arguments, const LockedTarget& target, const std::string& sizes,
                const std::string& device, std::vector<std::string> more) {
  const Verb& tune = verb_called("tune");
  std::vector<std::string> words{"--target", arguments.find("target").value_or(target.target),
                                 "--sizes",  sizes,
                                 "--device", device,
                                 "--quiet"};
  std::ranges::move(more, std::back_inserter(words));
  const auto pass = [&](const char* option) {
    if (const auto value = arguments.find(option))
      words.insert(words.end(), {format("--{}", option), *value});
  };
  pass("db");
  pass("budget");
  pass("jobs");
  for (const NamedValue& setting : parse_named_values(target.settings)) {
    words.insert(words.end(), {"--set", to_text({setting})});
  }
  const int status = tune.run(Arguments(tune, words));
  if (status == kDone) return;
  throw Error(format("tuning {} {} again failed with status {}: the lock is as it was",
                     target.target, sizes, status));
}

/// `M=64,N=4096` with the answer's last size; `M=1..64:63,N=4096` if `first` is less.
std::string sizes_text(const LockedTarget& target, const LockedAnswer& answer, std::int64_t first) {
  std::string text;
  for (std::size_t i = 0; i < target.key_sizes; ++i) {
    text += format("{}{}=", i == 0 ? "" : ",", target.sizes[i]);
    const bool is_range = i == 0 && first < answer.last;
    text += is_range ? format("{}..{}:{}", first, answer.last, answer.last - first)
                     : std::to_string(i == 0 ? answer.last : answer.sizes[i]);
  }
  return text;
}

/// The class of all answers for sizes that differ from the answer's in the first one only; empty if
/// they have several, or if there is no other size.
std::string common_class(const LockedTarget& target, const LockedAnswer& answer) {
  if (answer.bits == kPlaceDependent) return "";
  bool is_range = answer.last > answer.sizes.front();
  for (const LockedAnswer& other : target.answers) {
    if (!std::equal(other.sizes.begin() + 1, other.sizes.end(), answer.sizes.begin() + 1)) continue;
    if (other.bits != answer.bits) return "";
    is_range = is_range || other.sizes.front() != answer.sizes.front();
  }
  return is_range ? answer.bits : "";
}

/// Measures anew what failed, and keeps the class of bits that sizes share.
void tune_failed(const Arguments& arguments, const Lock& lock, const Lock& failed) {
  const std::string device = lock.device.kind == name_of(DeviceKind::host) ? "host" : "cuda:0";
  for (std::size_t t = 0; t < lock.targets.size(); ++t) {
    const LockedTarget& target = lock.targets[t];
    for (const LockedAnswer& answer : failed.targets[t].answers) {
      tune_again(arguments, target, sizes_text(target, answer, answer.last), device, {"--retune"});
      const std::string bits = common_class(target, answer);
      if (bits.empty()) continue;
      tune_again(arguments, target, sizes_text(target, answer, answer.sizes.front()), device,
                 {"--bits", bits});
    }
  }
}

/// Throws Error if an answer has another class than the sizes beside it had.
void expect_same_classes(const Lock& before, const Lock& after) {
  for (const LockedTarget& target : after.targets) {
    const LockedTarget* const was = before.find(target.target, target.settings, target.policy);
    for (const LockedAnswer& answer : target.answers) {
      const auto beside = std::ranges::find_if(was->answers, [&](const LockedAnswer& one) {
        return std::equal(one.sizes.begin() + 1, one.sizes.end(), answer.sizes.begin() + 1);
      });
      const std::string bits = beside == was->answers.end() ? "" : common_class(*was, *beside);
      if (bits.empty() || answer.bits == bits) continue;
      throw Error(format(
          "{}: {} {} to {} has bits of class {} instead of {}: the lock is as it was; choose "
          "a class anew with autotune tune --bits stable, and make the lock again",
          before.path.string(), target.target, sizes_text(target, answer, answer.last), answer.last,
          answer.bits.empty() ? "unknown" : answer.bits, bits));
    }
  }
}

/// What holds of a lock, with new answers in place of what failed.
Lock repaired(const Arguments& arguments, AnswerJudge& judge, Lock whole, const Lock& failed,
              const DeviceInfo& device) {
  std::vector<AskedSizes> asked;
  for (const LockedTarget& target : failed.targets) {
    for (const LockedAnswer& answer : target.answers) {
      for (std::int64_t first = answer.sizes[0]; first <= answer.last; ++first) {
        std::vector<std::int64_t> sizes = answer.sizes;
        sizes[0] = first;
        asked.push_back({judge.target_called(target.target), parse_named_values(target.settings),
                         target.policy, std::move(sizes)});
      }
    }
  }
  Lock fresh = locked(arguments, judge, device, asked);
  whole.tool_version = fresh.tool_version;
  whole.created_at = fresh.created_at;
  whole.environment = device.environment;
  const std::size_t before = whole.kernels.size();
  whole.kernels.insert(whole.kernels.end(), fresh.kernels.begin(), fresh.kernels.end());
  for (LockedTarget& target : whole.targets) {
    const LockedTarget* const made = fresh.find(target.target, target.settings, target.policy);
    if (made) {
      target.fingerprint = made->fingerprint;
      for (LockedAnswer answer : made->answers) {
        answer.kernel += before;
        target.answers.push_back(std::move(answer));
      }
    }
    merge_ranges(target.answers);
  }
  return with_used_kernels(std::move(whole));
}

}  // namespace

Lock with_used_kernels(Lock lock) {
  std::vector<LockedKernel> kernels;
  std::vector<std::optional<std::size_t>> numbers(lock.kernels.size());
  for (LockedTarget& target : lock.targets) {
    for (LockedAnswer& answer : target.answers) {
      if (answer.configuration.empty()) continue;
      std::optional<std::size_t>& number = numbers[answer.kernel];
      if (!number) {
        number = kernels.size();
        kernels.push_back(lock.kernels[answer.kernel]);
      }
      answer.kernel = *number;
    }
  }
  lock.kernels = std::move(kernels);
  return lock;
}

void classify(Lock& lock, AnswerJudge& judge, const std::function<Device&()>& device,
              db::TunedStore* store) {
  for (LockedTarget& locked : lock.targets) {
    const Target& target = *judge.target_called(locked.target);
    std::map<std::string, std::vector<LockedAnswer*>> alike;  // by the problem without M
    for (LockedAnswer& answer : locked.answers) {
      const Problem problem = problem_of(locked, answer);
      if (answer.configuration.empty() || !has_reduction_classes(target, problem)) continue;
      alike[for_every_row(problem).text()].push_back(&answer);
    }
    for (const auto& [text, answers] : alike) {
      std::map<std::pair<std::string, std::size_t>, std::size_t> numbers;
      std::vector<BuiltConfiguration> builds;
      for (const LockedAnswer* answer : answers) {
        const bool is_new =
            numbers.emplace(std::pair(answer->configuration, answer->kernel), builds.size()).second;
        if (is_new)
          builds.push_back({answer->configuration, compiled_kernel(lock.kernels[answer->kernel]),
                            problem_of(locked, *answer)});
      }
      const Problem problem{parse_named_values(text)};
      std::vector<std::string> classes(builds.size());
      if (store) classes = stored_classes(*store, lock.device, target, problem, builds);
      if (std::ranges::find(classes, "") != classes.end()) {
        classes = reduction_classes(device(), target, problem, builds, store);
      }
      for (LockedAnswer* answer : answers) {
        answer->bits = classes[numbers.at({answer->configuration, answer->kernel})];
      }
    }
  }
}

Problem problem_of(const LockedTarget& target, const LockedAnswer& answer) {
  Problem problem;
  for (std::size_t i = 0; i < target.sizes.size(); ++i) {
    const std::int64_t size = i == 0 ? answer.last : answer.sizes[i];
    if (i < target.key_sizes) {
      problem.values.push_back({target.sizes[i], size});
    } else if (size >= 0) {
      problem.free.push_back({target.sizes[i], size});
    }
  }
  const NamedValues settings = parse_named_values(target.settings);
  problem.values.insert(problem.values.end(), settings.begin(), settings.end());
  return problem;
}

int verify_lock(const Arguments& arguments) {
  const std::string& file =
      only_word(arguments, "--verify and --repair need one lock: autotune lock --verify app.lock");
  const double limit = limit_of(arguments);
  const Lock lock = read_lock(file);
  const auto device = open_device_of(lock, compile_limit_of(arguments));
  AnswerJudge judge(arguments);
  LockVerifier verifier(lock, *device, limit);
  Lock as_it_is = lock;
  const auto opened = [&]() -> Device& { return *device; };
  if (has_bits(lock)) classify(as_it_is, judge, opened, nullptr);
  Lock holding = lock, failing = lock;
  std::size_t held = 0, failed = 0, libraries = 0;
  for (std::size_t t = 0; t < lock.targets.size(); ++t) {
    const LockedTarget& locked = lock.targets[t];
    const Target* const target = judge.target_called(locked.target);
    if (!target) {
      throw Error(format("{}: there is no target {} here: name its manifest with --target",
                         lock.path.string(), locked.target));
    }
    std::vector<LockedAnswer>& holds = holding.targets[t].answers;
    std::vector<LockedAnswer>& fails = failing.targets[t].answers;
    holds.clear();
    fails.clear();
    for (std::size_t i = 0; i < locked.answers.size(); ++i) {
      const LockedAnswer& answer = locked.answers[i];
      if (answer.configuration.empty()) {
        ++libraries;
        holds.push_back(answer);
        continue;
      }
      double seconds = 0;
      std::string complaint = verifier.complaint(*target, locked, answer, seconds);
      const std::string& bits = as_it_is.targets[t].answers[i].bits;
      if (complaint.empty() && !answer.bits.empty() && answer.bits != bits) {
        complaint = format("its bits were of class {} and are of class {}", answer.bits, bits);
      }
      (complaint.empty() ? holds : fails).push_back(answer);
      ++(complaint.empty() ? held : failed);
      std::cout << format("{} {} {}: {}{}\n", complaint.empty() ? "holds" : "fails", locked.target,
                          problem_text(*target, problem_of(locked, answer)),
                          seconds > 0 ? time_text(seconds) : "not timed",
                          complaint.empty() ? "" : ", " + complaint);
    }
  }
  std::cout << format(
      "{}: {} of {} answers hold{}\n", lock.path.string(), held, held + failed,
      libraries == 0 ? "" : format("; {} by a library, which this does not run", libraries));
  if (failed == 0) return kDone;
  if (!arguments.has("repair")) return kFailed;
  tune_failed(arguments, lock, failing);
  DeviceInfo info = device->info();
  if (info.kind == DeviceKind::host) info.environment.clear();
  Lock fresh = repaired(arguments, judge, std::move(holding), failing, info);
  if (has_bits(lock)) {
    classify(fresh, judge, opened, nullptr);
    expect_same_classes(lock, fresh);
  }
  write_output(file, [&](std::ostream& stream) { stream << lock_text(fresh); });
  std::cout << format("{}: {} answers are new\n{}", file, failed, difference(lock, fresh));
  return kDone;
}

}  // namespace autotune::cli
