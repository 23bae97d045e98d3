// SPDX-License-Identifier: Apache-2.0
// autotune lock --verify and --repair: runs the answers of a lock.
#include <algorithm>
#include <iostream>
#include <map>
#include <optional>

#include "tuner/cli/compare.hpp"
#include "tuner/cli/devices.hpp"
#include "tuner/cli/lock.hpp"
#include "tuner/cli/output_file.hpp"
#include "tuner/cli/tuned_entries.hpp"
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
      CompiledKernel kernel;
      kernel.key = lock_.kernels[answer.kernel].key;
      kernel.binary = lock_.kernels[answer.kernel].binary;
      const auto candidate = bench->load(kernel, program.plan(levels));
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

/// Measures the sizes anew with the verb tune, for the database that is asked afterwards.
void tune_again(const Arguments& arguments, const LockedTarget& target, const Problem& problem,
                const std::string& device) {
  std::string sizes;
  for (std::size_t i = 0; i < target.key_sizes; ++i) {
    sizes += format("{}{}={}", i == 0 ? "" : ",", target.sizes[i],
                    find_value(problem.values, target.sizes[i])->text());
  }
  const Verb& tune = verb_called("tune");
  std::vector<std::string> words{"--target", arguments.find("target").value_or(target.target),
                                 "--sizes",  sizes,
                                 "--device", device,
                                 "--retune", "--quiet"};
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

/// Without kernels that no answer has.
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

/// The lock with new answers in place of those that do not hold.
Lock repaired(const Arguments& arguments, AnswerJudge& judge, const Lock& lock,
              const DeviceInfo& device, const std::vector<std::vector<bool>>& holds) {
  std::vector<AskedSizes> asked;
  for (std::size_t t = 0; t < lock.targets.size(); ++t) {
    const LockedTarget& target = lock.targets[t];
    for (std::size_t i = 0; i < target.answers.size(); ++i) {
      if (holds[t][i]) continue;
      const LockedAnswer& answer = target.answers[i];
      for (std::int64_t first = answer.sizes[0]; first <= answer.last; ++first) {
        std::vector<std::int64_t> sizes = answer.sizes;
        sizes[0] = first;
        asked.push_back({judge.target_called(target.target), parse_named_values(target.settings),
                         target.policy, std::move(sizes)});
      }
    }
  }
  Lock fresh = locked(arguments, judge, device, asked);
  Lock whole = lock;
  whole.tool_version = fresh.tool_version;
  whole.created_at = fresh.created_at;
  whole.environment = device.environment;
  const std::size_t before = whole.kernels.size();
  whole.kernels.insert(whole.kernels.end(), fresh.kernels.begin(), fresh.kernels.end());
  for (std::size_t t = 0; t < whole.targets.size(); ++t) {
    LockedTarget& target = whole.targets[t];
    std::vector<LockedAnswer> answers;
    for (std::size_t i = 0; i < target.answers.size(); ++i) {
      if (holds[t][i]) answers.push_back(std::move(target.answers[i]));
    }
    const LockedTarget* const made = fresh.find(target.target, target.settings, target.policy);
    if (made) {
      target.fingerprint = made->fingerprint;
      for (LockedAnswer answer : made->answers) {
        answer.kernel += before;
        answers.push_back(std::move(answer));
      }
    }
    target.answers = std::move(answers);
    merge_ranges(target.answers);
  }
  return with_used_kernels(std::move(whole));
}

}  // namespace

void classify(Lock& lock, AnswerJudge& judge, Device& device) {
  for (LockedTarget& locked : lock.targets) {
    const Target& target = *judge.target_called(locked.target);
    std::map<std::string, std::vector<LockedAnswer*>> alike;  // by the problem without M
    for (LockedAnswer& answer : locked.answers) {
      Problem problem = problem_of(locked, answer);
      if (answer.configuration.empty() || !has_reduction_classes(target, problem)) continue;
      for (NamedValue& value : problem.values) {
        if (value.name == "M") value.value = 1;
      }
      alike[problem.text()].push_back(&answer);
    }
    for (const auto& [problem, answers] : alike) {
      std::vector<std::string> configurations;
      for (const LockedAnswer* answer : answers) {
        const std::string& one = answer->configuration;
        if (std::ranges::find(configurations, one) == configurations.end()) {
          configurations.push_back(one);
        }
      }
      const std::vector<std::string> classes =
          reduction_classes(device, target, {parse_named_values(problem)}, configurations);
      for (LockedAnswer* answer : answers) {
        const auto found = std::ranges::find(configurations, answer->configuration);
        answer->bits = classes[static_cast<std::size_t>(found - configurations.begin())];
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
  const std::vector<std::string>& files = arguments.positional();
  if (files.size() != 1)
    throw UsageError("--verify and --repair need one lock: autotune lock --verify app.lock");
  const double limit = limit_of(arguments);
  const Lock lock = read_lock(files.front());
  const auto device = open_device_of(lock, compile_limit_of(arguments));
  AnswerJudge judge(arguments);
  LockVerifier verifier(lock, *device, limit);
  Lock as_it_is = lock;
  if (has_bits(lock)) classify(as_it_is, judge, *device);
  std::vector<std::vector<bool>> holds;
  std::size_t held = 0, failed = 0, libraries = 0;
  for (const LockedTarget& locked : lock.targets) {
    const Target* const target = judge.target_called(locked.target);
    if (!target) {
      throw Error(format("{}: there is no target {} here: name its manifest with --target",
                         lock.path.string(), locked.target));
    }
    std::vector<bool>& of_target = holds.emplace_back();
    for (const LockedAnswer& answer : locked.answers) {
      of_target.push_back(true);
      if (answer.configuration.empty()) {
        ++libraries;
        continue;
      }
      double seconds = 0;
      std::string complaint = verifier.complaint(*target, locked, answer, seconds);
      const std::string& bits =
          as_it_is.targets[holds.size() - 1].answers[of_target.size() - 1].bits;
      if (complaint.empty() && !answer.bits.empty() && answer.bits != bits) {
        complaint = format("its bits were of class {} and are of class {}", answer.bits, bits);
      }
      of_target.back() = complaint.empty();
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
  for (std::size_t t = 0; t < lock.targets.size(); ++t) {
    for (std::size_t i = 0; i < lock.targets[t].answers.size(); ++i) {
      if (holds[t][i]) continue;
      tune_again(arguments, lock.targets[t],
                 problem_of(lock.targets[t], lock.targets[t].answers[i]),
                 lock.device.kind == name_of(DeviceKind::host) ? "host" : "cuda:0");
    }
  }
  DeviceInfo info = device->info();
  if (info.kind == DeviceKind::host) info.environment.clear();
  Lock fresh = repaired(arguments, judge, lock, info, holds);
  if (has_bits(lock)) classify(fresh, judge, *device);
  write_output(files.front(), [&](std::ostream& stream) { stream << lock_text(fresh); });
  std::cout << format("{}: {} answers are new\n{}", files.front(), failed, difference(lock, fresh));
  return kDone;
}

}  // namespace autotune::cli
