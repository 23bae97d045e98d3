// SPDX-License-Identifier: Apache-2.0
#include "tuner/worker/remote_plugin.hpp"

#include <utility>
#include <vector>

#include "tuner/core/error.hpp"
#include "tuner/hash/hash.hpp"
#include "tuner/host/process.hpp"
#include "tuner/target/manifest.hpp"
#include "tuner/text/format.hpp"
#include "tuner/worker/plugin_wire.hpp"
#include "tuner/worker/wire.hpp"
#include "tuner/worker/worker_process.hpp"

namespace autotune {
namespace {

namespace fs = std::filesystem;

/// A plugin at work on one request. Throws Error when it ends or falls silent.
class PluginProcess {
 public:
  PluginProcess(const fs::path& file, double silence_seconds)
      : process_({find_worker_program().string(), "--plugin", file.string()}),
        limit_(silence_seconds) {}

  Json call(const Json& request, std::string_view bytes = {}) {
    std::optional<Message> answer = process_.ask(request, bytes, limit_);
    if (!answer) fail();
    const auto error = answer->header.find("error");
    if (error != answer->header.end()) throw Error(error->get<std::string>());
    return std::move(answer->header);
  }

 private:
  [[noreturn]] void fail() {
    const bool late = process_.silence() == Silence::timeout;
    const std::string how = process_.end();
    throw Error(late ? format("it said nothing for {:.3g} s and was killed", limit_)
                     : format("its process ended by {}", how));
  }

  WorkerProcess process_;
  const double limit_;
};

/// A strategy of a plugin has failed; the search goes on without it.
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
    } catch (const StrategyFailure& failure) {
      const StrategyRow& standard = strategies().front();
      if (options_.warn) {
        options_.warn(format("strategy {} of plugin {}: {}; {} goes on in its place", name_,
                             plugin_.name, failure.what(), standard.name));
      }
      standard.make()->search(evaluator, seed);
    }
  }

 private:
  void search_remotely(Evaluator& evaluator, std::uint64_t seed) {
    std::optional<PluginProcess> process;
    const SearchTask task = search_task(evaluator, seed);
    Json said = attempt([&] {
      process.emplace(plugin_.file, options_.silence_seconds);
      return process->call({{"do", "search"}, {"strategy", name_}, {"task", wire_of(task)}},
                           bytes_of(task));
    });
    std::size_t left = evaluator.remaining();
    std::uint64_t idle = 0;
    while (said.contains("ask")) {
      const auto answers = evaluator.evaluate(indices_of(said.at("ask"), evaluator.space().size()));
      // Asking for what is known costs nothing; for ever is too long.
      idle = evaluator.remaining() < left ? 0 : idle + 1;
      left = evaluator.remaining();
      if (idle > kMostIdle) throw StrategyFailure("it goes on asking for what it was told");
      said = attempt([&] { return process->call({{"answers", wire_of(answers)}}); });
    }
  }

  /// What goes wrong on the plugin's side, and only that.
  template <class Call>
  static Json attempt(const Call& call) try {
    return call();
  } catch (const Error& error) {
    throw StrategyFailure(error.what());
  }

  static std::vector<std::size_t> indices_of(const Json& asked, std::size_t size) {
    auto indices = asked.get<std::vector<std::size_t>>();
    for (const std::size_t index : indices) {
      if (index < size) continue;
      throw StrategyFailure(format("it asked for configuration {} of {}", index, size));
    }
    return indices;
  }

  static constexpr std::uint64_t kMostIdle = 100'000;

  const PluginDescription plugin_;
  const std::string name_;
  const PluginOptions options_;
};

/// Each problem gets a folder of its own: a worker may open an earlier one again.
class TargetHooks {
 public:
  TargetHooks(PluginDescription plugin, std::size_t number, PluginOptions options)
      : plugin_(std::move(plugin)), number_(number), options_(std::move(options)) {}

  Workload operator()(const Workload& workload) const try {
    const fs::path folder =
        scratch_->path() / format("{:016x}", hash64(workload.problem, workload.seed));
    fs::create_directories(folder);
    PluginProcess process(plugin_.file, options_.silence_seconds);
    const Json answer = process.call({{"do", "prepare"},
                                      {"target", number_},
                                      {"folder", folder.string()},
                                      {"workload", wire_of(workload)}});
    return workload_of(answer.at("workload"));
  } catch (const Error& error) {
    throw Error(format("plugin {}: {}: {}", plugin_.name, workload.problem, error.what()));
  }

 private:
  const PluginDescription plugin_;
  const std::size_t number_;
  const PluginOptions options_;
  const std::shared_ptr<const TemporaryFolder> scratch_ = std::make_shared<TemporaryFolder>();
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
    return plugin_description_of(process.call({{"do", "describe"}}).at("plugin"));
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

}  // namespace autotune
