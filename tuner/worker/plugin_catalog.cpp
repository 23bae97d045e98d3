// SPDX-License-Identifier: Apache-2.0
#include "tuner/worker/plugin_catalog.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <utility>

#include "tuner/core/deadline.hpp"
#include "tuner/core/error.hpp"
#include "tuner/hash/hash.hpp"
#include "tuner/host/process.hpp"
#include "tuner/target/manifest.hpp"
#include "tuner/text/format.hpp"
#include "tuner/worker/wire.hpp"
#include "tuner/worker/worker_process.hpp"

namespace autotune {
namespace {

namespace fs = std::filesystem;

/// Thrown when the run ends before the plugin answers.
class Overdue : public Error {
 public:
  using Error::Error;
};

/// A plugin's process during one search or hook. Throws Error if the process ends or stops
/// answering.
class PluginProcess {
 public:
  /// `has_ended` says whether the run is over; may be empty.
  PluginProcess(const fs::path& file, double silence_seconds, std::function<bool()> has_ended = {})
      : process_({find_worker_program().string(), "--plugin", file.string()}),
        limit_(silence_seconds),
        has_ended_(std::move(has_ended)) {}

  /// `read` converts the answer. If it throws, the plugin is to blame. Throws Overdue if the run
  /// ended more than kMostAfterwards ago.
  template <class Read>
  auto call(const Json& request, std::string_view bytes, const Read& read) {
    const auto start = Clock::now();
    const std::optional<Message> answer = process_.ask(request, bytes, limit_, [&] {
      const double left = limit_ - seconds_since(start);
      return std::min(left, kMostAfterwards - seconds_since_end()) - left;
    });
    if (!answer) fail();
    return read_message(answer->header, [&](const Json& said) {
      const auto error = said.find("error");
      if (error != said.end()) throw Error(error->template get<std::string>());
      return read(said);
    });
  }

  /// Seconds since the end of the run; 0 before it.
  double seconds_since_end() {
    if (!end_ && has_ended_ && has_ended_()) end_ = Clock::now();
    return end_ ? seconds_since(*end_) : 0;
  }

  /// Seconds that a plugin has to return after the end of the run.
  static constexpr double kMostAfterwards = 1;

 private:
  using Clock = std::chrono::steady_clock;

  [[noreturn]] void fail() {
    const bool late = process_.silence() == Silence::timeout;
    const std::string how = process_.end().text;
    if (!late) throw Error(format("its process ended by {}", how));
    if (end_) throw Overdue("it did not return at the end of the run, and was killed");
    throw Error(format("it did not respond for {:.3g} s and was killed", limit_));
  }

  WorkerProcess process_;
  const double limit_;
  const std::function<bool()> has_ended_;
  std::optional<Clock::time_point> end_;
};

/// A plugin's strategy failed. The default strategy continues the search.
class StrategyFailure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class PluginStrategy final : public SearchStrategy {
 public:
  PluginStrategy(PluginDescription plugin, std::string name, PluginOptions options)
      : plugin_(std::move(plugin)), name_(std::move(name)), options_(std::move(options)) {}

  void search(Evaluator& evaluator, std::uint64_t seed) override {
    const std::size_t before = evaluator.remaining();
    try {
      search_remotely(evaluator, seed);
      if (before == 0 || evaluator.remaining() < before) return;
      throw StrategyFailure("it evaluated nothing");
    } catch (const Overdue&) {  // it has done what there was time for
    } catch (const StrategyFailure& failure) {
      const StrategyRow& standard = strategies().front();
      if (options_.warn) {
        options_.warn(format("strategy {} of plugin {}: {}; {} continues in its place", name_,
                             plugin_.name, failure.what(), standard.name));
      }
      standard.make()->search(evaluator, seed);
    }
  }

 private:
  /// Catches errors of the plugin only.
  template <class Call>
  static auto attempt(const Call& call) try {
    return call();
  } catch (const Overdue&) {
    throw;
  } catch (const Error& error) {
    throw StrategyFailure(error.what());
  }

  void search_remotely(Evaluator& evaluator, std::uint64_t seed) {
    const std::size_t size = evaluator.space().size();
    std::optional<PluginProcess> process;
    const SearchTask task = search_task(evaluator, seed);
    const auto read = [size](const Json& said) { return question_of(said, size); };
    auto question = attempt([&] {
      process.emplace(plugin_.file, options_.silence_seconds,
                      [&evaluator] { return evaluator.has_ended(); });
      return process->call({{"do", "search"}, {"strategy", name_}, {"task", wire_of(task)}},
                           bytes_of(task), read);
    });
    std::size_t left = evaluator.remaining();
    std::uint64_t idle = 0;
    while (question) {
      const auto answers = evaluator.evaluate(*question);
      // Requests for known configurations cost no budget, so their number needs a limit.
      idle = evaluator.remaining() < left ? 0 : idle + 1;
      left = evaluator.remaining();
      if (idle > kMostIdle || process->seconds_since_end() > PluginProcess::kMostAfterwards) {
        throw StrategyFailure("it keeps requesting known configurations");
      }
      question = attempt([&] { return process->call({{"answers", to_wire(answers)}}, {}, read); });
    }
  }

  static constexpr std::uint64_t kMostIdle = 100'000;

  const PluginDescription plugin_;
  const std::string name_;
  const PluginOptions options_;
};

/// The workload with the files that hold its buffers and expected results.
Workload with_files_of(Workload workload, const Workload& prepared) {
  if (prepared.buffers.size() != workload.buffers.size()) {
    throw Error("its process sent other buffers than it was given");
  }
  for (std::size_t i = 0; i < workload.buffers.size(); ++i) {
    workload.buffers[i].file = prepared.buffers[i].file;
    workload.buffers[i].file_offset = prepared.buffers[i].file_offset;
  }
  workload.expected_file = prepared.expected_file;
  return workload;
}

/// Each problem is prepared once, in its own folder. A worker may open an earlier problem again,
/// and another device may ask for the same problem.
class TargetHooks {
 public:
  TargetHooks(PluginDescription plugin, std::size_t number, PluginOptions options)
      : plugin_(std::move(plugin)), number_(number), options_(std::move(options)) {}

  Workload operator()(const Workload& workload) const try {
    const std::string key = format("{:016x}", hash64(workload.problem, workload.seed));
    const std::lock_guard lock(prepared_->mutex);
    const auto known = prepared_->workloads.find(key);
    if (known != prepared_->workloads.end()) return with_files_of(workload, known->second);
    Workload prepared = prepare(workload, prepared_->scratch.path() / key);
    prepared_->workloads.emplace(key, prepared);
    return prepared;
  } catch (const Error& error) {
    throw Error(format("plugin {}: {}: {}", plugin_.name, workload.problem, error.what()));
  }

 private:
  Workload prepare(const Workload& workload, const fs::path& folder) const {
    fs::create_directories(folder);
    PluginProcess process(plugin_.file, options_.silence_seconds, options_.has_ended);
    const Workload prepared =
        process.call({{"do", "prepare"},
                      {"target", number_},
                      {"folder", folder.string()},
                      {"workload", to_wire(workload)}},
                     {}, [](const Json& said) { return from_wire<Workload>(said.at("workload")); });
    return with_files_of(workload, prepared);
  }

  /// Shared by all devices.
  struct Prepared {
    const TemporaryFolder scratch;
    std::mutex mutex;
    std::map<std::string, Workload> workloads;
  };

  const PluginDescription plugin_;
  const std::size_t number_;
  const PluginOptions options_;
  const std::shared_ptr<Prepared> prepared_ = std::make_shared<Prepared>();
};

}  // namespace

PluginDescription describe_plugin(const fs::path& file, const PluginOptions& options) {
  const fs::path whole = fs::absolute(file);
  std::error_code none;
  if (!fs::is_regular_file(whole, none)) {
    throw Error(format("{}: there is no such plugin: give the path of a .so", file.string()));
  }
  PluginProcess process(whole, options.silence_seconds);
  try {
    return process.call({{"do", "describe"}}, {}, [](const Json& said) {
      return from_wire<PluginDescription>(said.at("plugin"));
    });
  } catch (const Error& error) {
    const std::string what = error.what();
    const bool named = what.starts_with(whole.string());
    throw Error(named ? what : format("{}: loading it, {}", whole.string(), what));
  }
}

std::unique_ptr<SearchStrategy> plugin_strategy(const PluginDescription& plugin,
                                                const std::string& name, PluginOptions options) {
  return std::make_unique<PluginStrategy>(plugin, name, std::move(options));
}

std::vector<Target> plugin_targets(const PluginDescription& plugin, const PluginOptions& options) {
  std::vector<Target> targets;
  for (std::size_t i = 0; i < plugin.targets.size(); ++i) {
    const PluginDescription::Target& described = plugin.targets[i];
    Target target = read_manifest(described.manifest, described.folder / plugin.file.filename());
    target.manifest.clear();
    target.fingerprint = hash128(target.fingerprint + plugin.name + plugin.version);
    if (described.has_hooks) target.prepare = TargetHooks(plugin, i, options);
    targets.push_back(std::move(target));
  }
  return targets;
}

namespace {

namespace fs = std::filesystem;

PluginEntry entry_of(const fs::path& file, std::span<const PluginEntry> others,
                     const PluginOptions& options) {
  PluginEntry entry{file, std::nullopt, {}, false};
  try {
    PluginDescription plugin = describe_plugin(file, options);
    for (const PluginEntry& other : others) {
      if (!other.description || other.description->name != plugin.name) continue;
      throw Error(format("{}: the name {} is taken by {}: rename or remove one of them",
                         file.string(), plugin.name, other.file.string()));
    }
    entry.description = std::move(plugin);
  } catch (const Error& error) {
    entry.reason = error.what();
  }
  return entry;
}

}  // namespace

std::vector<PluginEntry> load_plugins(std::span<const fs::path> given,
                                      std::span<const fs::path> found,
                                      const PluginOptions& options) {
  std::vector<PluginEntry> entries;
  const auto add = [&](const fs::path& named, bool asked_for) {
    const fs::path file = fs::weakly_canonical(named);
    if (std::ranges::find(entries, file, &PluginEntry::file) != entries.end()) return;
    entries.push_back(entry_of(file, entries, options));
    entries.back().given = asked_for;
    if (asked_for && !entries.back().description) throw Error(entries.back().reason);
  };
  for (const fs::path& file : given) add(file, true);
  for (const fs::path& file : found) add(file, false);
  return entries;
}

std::string facets_text(const PluginDescription& plugin) {
  std::string text;
  const auto add = [&](bool has, const char* facet) {
    if (!has) return;
    if (!text.empty()) text += ", ";
    text += facet;
  };
  add(!plugin.strategies.empty(), "search");
  add(!plugin.targets.empty(), "targets");
  add(plugin.is_baseline, "baseline");
  add(plugin.is_host_baseline, "host baseline");
  add(plugin.counts, "counters");
  return text.empty() ? "nothing" : text;
}

}  // namespace autotune
