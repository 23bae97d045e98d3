// SPDX-License-Identifier: Apache-2.0
#include "tuner/plugin/plugin_library.hpp"

#define BOOST_DLL_USE_STD_FS
#include <boost/dll/shared_library.hpp>

#include <algorithm>
#include <cctype>
#include <deque>
#include <limits>
#include <map>
#include <mutex>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

#include "plugins/sdk/autotune_plugin.h"
#include "tuner/text/environment.hpp"

namespace autotune {
namespace {

namespace dll = boost::dll;
namespace fs = std::filesystem;

/// Most strategies, targets or other items. More are taken for a mistake.
constexpr std::uint32_t kMostEntries = 1000;

/// The message of dlerror(), without Boost's additions.
std::string loader_text(const std::exception& error) {
  constexpr std::string_view kBefore = "(dlerror system message: ";
  const std::string text = error.what();
  const std::size_t start = text.find(kBefore);
  const std::size_t end = text.rfind("):");
  if (start == std::string::npos || end == std::string::npos) return text;
  return text.substr(start + kBefore.size(), end - start - kBefore.size());
}

bool is_name(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '-';
  });
}

template <class Facet>
const Facet* facet_of(const autotune_plugin_v1& plugin, const char* id) {
  return plugin.facet == nullptr ? nullptr : static_cast<const Facet*>(plugin.facet(id));
}

/// Loads a library for the life of the process: its code may be on a stack, or registered.
const dll::shared_library& load(const fs::path& file) try {
  static auto& libraries = *new std::deque<dll::shared_library>;  // reachable, never destroyed
  static std::mutex mutex;
  dll::shared_library library(file, dll::load_mode::rtld_now | dll::load_mode::rtld_local);
  const std::lock_guard lock(mutex);
  return libraries.emplace_back(std::move(library));
} catch (const std::exception& error) {
  throw Error(format("{}: it cannot be loaded: {}", file.string(), loader_text(error)));
}

const autotune_plugin_v1* plugin_in(const dll::shared_library& library, const fs::path& file) {
  constexpr const char* kSymbol = "autotune_plugin";
  if (!library.has(kSymbol)) {
    throw Error(
        format("{}: it is not a plugin: undefined symbol: {} (it is to be exported with C "
               "linkage: AUTOTUNE_PLUGIN_EXPORT)",
               file.string(), kSymbol));
  }
  return library.get<const autotune_plugin_v1*()>(kSymbol)();
}

}  // namespace

PluginLibrary::PluginLibrary(const fs::path& file) {
  description_.file = file;
  plugin_ = plugin_in(load(file), file);
  if (plugin_ == nullptr) fail("autotune_plugin() returned nothing");
  if (plugin_->abi != AUTOTUNE_PLUGIN_ABI) {
    fail(
        format("it was built for plugin ABI {} and this autotune supports {}: build it with this "
               "autotune's autotune_plugin.h",
               plugin_->abi, AUTOTUNE_PLUGIN_ABI));
  }
  description_.name = text(plugin_->name, "its name");
  if (!is_name(description_.name)) {
    fail(format("its name \"{}\" may have only letters, digits, _ and -", description_.name));
  }
  description_.version = text(plugin_->version, "its version");
  description_.description = text(plugin_->description, "its description");
  read_strategies();
  read_targets();
  description_.is_baseline = has_baseline(AUTOTUNE_FACET_BASELINE);
  description_.is_host_baseline = has_baseline(AUTOTUNE_FACET_HOST_BASELINE);
  read_counters();
}

void PluginLibrary::read_strategies() {
  const auto* facet = facet_of<autotune_search_v2>(*plugin_, AUTOTUNE_FACET_SEARCH);
  if (facet == nullptr) return;
  if (facet->count > kMostEntries || (facet->count > 0 && facet->strategies == nullptr)) {
    fail(format("{}: there cannot be {} strategies", AUTOTUNE_FACET_SEARCH, facet->count));
  }
  for (const autotune_strategy_v2& strategy : std::span(facet->strategies, facet->count)) {
    PluginDescription::Strategy read{text(strategy.name, "a strategy's name"),
                                     text(strategy.description, "a strategy's description")};
    if (!is_name(read.name)) {
      fail(format("{}: \"{}\" is not a name", AUTOTUNE_FACET_SEARCH, read.name));
    }
    if (strategy.search == nullptr) {
      fail(format("{}: {} has no search()", AUTOTUNE_FACET_SEARCH, read.name));
    }
    description_.strategies.push_back(std::move(read));
  }
}

void PluginLibrary::read_targets() {
  const auto* facet = facet_of<autotune_targets_v1>(*plugin_, AUTOTUNE_FACET_TARGETS);
  if (facet == nullptr) return;
  if (facet->count > kMostEntries || (facet->count > 0 && facet->targets == nullptr)) {
    fail(format("targets/1: there cannot be {} targets", facet->count));
  }
  const fs::path beside = description_.file.parent_path();
  for (std::uint32_t i = 0; i < facet->count; ++i) {
    const autotune_target_v1& target = facet->targets[i];
    description_.targets.push_back({text(target.manifest, "a target's manifest"),
                                    target.folder == nullptr ? beside : beside / target.folder,
                                    target.fill != nullptr || target.reference != nullptr});
  }
}

bool PluginLibrary::has_baseline(const char* id) const {
  const auto* facet = facet_of<autotune_baseline_v1>(*plugin_, id);
  if (facet == nullptr) return false;
  const bool whole = facet->supports != nullptr && facet->open != nullptr &&
                     facet->close != nullptr && facet->candidates != nullptr &&
                     facet->name != nullptr && facet->launch != nullptr;
  if (!whole) fail(format("{}: a function is missing", id));
  return true;
}

void PluginLibrary::read_counters() {
  const auto* facet = facet_of<autotune_counters_v1>(*plugin_, AUTOTUNE_FACET_COUNTERS);
  if (facet == nullptr) return;
  if (facet->count == nullptr) fail("counters/1: there is no count()");
  description_.counts = true;
}

const autotune_strategy_v2& PluginLibrary::strategy(const std::string& name) const {
  for (std::size_t i = 0; i < description_.strategies.size(); ++i) {
    if (description_.strategies[i].name == name) {
      return facet_of<autotune_search_v2>(*plugin_, AUTOTUNE_FACET_SEARCH)->strategies[i];
    }
  }
  fail(format("it has no strategy {}", name));
}

const autotune_target_v1& PluginLibrary::target(std::size_t number) const {
  if (number >= description_.targets.size()) fail(format("it has no target {}", number));
  return facet_of<autotune_targets_v1>(*plugin_, AUTOTUNE_FACET_TARGETS)->targets[number];
}

const autotune_offers_v1* PluginLibrary::offers() const {
  const auto* facet = facet_of<autotune_offers_v1>(*plugin_, AUTOTUNE_FACET_OFFERS);
  if (facet != nullptr && facet->refuses == nullptr) fail("offers/1: there is no refuses()");
  return facet;
}

bool PluginLibrary::reads_free_sizes(const std::string& target) const {
  const auto* facet = facet_of<autotune_free_sizes_v1>(*plugin_, AUTOTUNE_FACET_FREE_SIZES);
  if (facet == nullptr) return false;
  if (facet->reads == nullptr) fail("free_sizes/1: there is no reads()");
  return facet->reads(target.c_str()) != 0;
}

const autotune_baseline_v1& PluginLibrary::baseline(DeviceKind kind) const {
  if (!description_.is_baseline_on(kind)) fail("it is not a baseline");
  return *facet_of<autotune_baseline_v1>(
      *plugin_, kind == DeviceKind::host ? AUTOTUNE_FACET_HOST_BASELINE : AUTOTUNE_FACET_BASELINE);
}

const autotune_counters_v1& PluginLibrary::counters() const {
  if (!description_.counts) fail("it counts nothing");
  return *facet_of<autotune_counters_v1>(*plugin_, AUTOTUNE_FACET_COUNTERS);
}

void PluginLibrary::fail(const std::string& what) const {
  throw Error(format("{}: {}", description_.file.string(), what));
}

std::string PluginLibrary::text(const char* text, const std::string& what) const {
  if (text == nullptr) fail(format("{} is NULL", what));
  return text;
}

const PluginLibrary& loaded_plugin(const fs::path& file) {
  static std::map<fs::path, PluginLibrary> libraries;
  const auto known = libraries.find(file);
  return known != libraries.end() ? known->second
                                  : libraries.emplace(file, PluginLibrary(file)).first->second;
}

namespace fs = std::filesystem;

std::vector<fs::path> plugin_folders() {
  std::vector<fs::path> folders;
  std::istringstream parts(environment_variable("AUTOTUNE_PLUGIN_PATH"));
  for (std::string part; std::getline(parts, part, ':');) {
    if (part.empty()) continue;
    if (!fs::path(part).is_absolute()) {
      throw UsageError(format(
          "AUTOTUNE_PLUGIN_PATH: {} is not an absolute path: give the folder from / on", part));
    }
    folders.emplace_back(part);
  }
  std::error_code unknown;
  const fs::path program = fs::read_symlink("/proc/self/exe", unknown);
  if (!unknown) folders.push_back(program.parent_path().parent_path() / "lib/autotune/plugins");
  return folders;
}

std::vector<fs::path> plugin_files() { return plugin_files(plugin_folders()); }

std::vector<fs::path> plugin_files(const std::vector<fs::path>& folders) {
  std::vector<fs::path> files;
  for (const fs::path& folder : folders) {
    std::error_code none;
    std::vector<fs::path> here;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, none)) {
      if (entry.path().extension() == ".so") here.push_back(fs::weakly_canonical(entry.path()));
    }
    std::ranges::sort(here);
    for (const fs::path& file : here) {
      if (std::ranges::find(files, file) == files.end()) files.push_back(file);
    }
  }
  return files;
}

namespace {

/// Points to the strings of `evaluation`.
autotune_evaluation_v2 told_of(const Evaluation& evaluation) {
  autotune_evaluation_v2 plain{};
  plain.index = evaluation.index;
  plain.outcome = !evaluation.seconds                 ? AUTOTUNE_PLUGIN_FAILED
                  : evaluation.outcome == Outcome::ok ? AUTOTUNE_PLUGIN_OK
                                                      : AUTOTUNE_PLUGIN_SLOW;
  plain.seconds = evaluation.seconds.value_or(std::numeric_limits<double>::infinity());
  plain.registers = evaluation.resources.registers;
  plain.shared_bytes = evaluation.resources.shared_bytes;
  plain.local_bytes = evaluation.resources.local_bytes;
  plain.occupancy = evaluation.resources.occupancy;
  plain.compile_seconds = evaluation.compile_seconds;
  plain.kind = name_of(evaluation.outcome).data();  // a literal
  plain.reason = evaluation.reason.c_str();
  return plain;
}

/// So many fit a message between processes, with their answers.
constexpr std::size_t kMostAtOnce = 10'000;

/// Implements evaluate() for the plugin. No exception passes through the plugin.
struct Host {
  const Ask& ask;
  std::exception_ptr thrown = {};
  std::deque<std::vector<Evaluation>> answered = {};  // their strings outlive the call

  static std::uint64_t evaluate(void* host, const std::uint64_t* indices, std::uint64_t count,
                                autotune_evaluation_v2* answers) {
    return static_cast<Host*>(host)->answer({indices, count}, answers);
  }

  std::uint64_t answer(std::span<const std::uint64_t> indices,
                       autotune_evaluation_v2* answers) noexcept try {
    if (thrown) return 0;
    std::size_t count = 0;
    do {
      const auto piece = indices.subspan(count, std::min(indices.size() - count, kMostAtOnce));
      answered.push_back(ask(piece));
      std::ranges::transform(answered.back(), answers + count, told_of);
      count += answered.back().size();
      if (answered.back().size() < piece.size()) break;
    } while (count < indices.size());
    return count;
  } catch (...) {
    thrown = std::current_exception();
    return 0;
  }
};

/// A task's parameters as a plugin sees them.
struct PlainParameters {
  explicit PlainParameters(const std::vector<SearchTask::Parameter>& parameters) {
    for (const SearchTask::Parameter& parameter : parameters) {
      auto& texts = values.emplace_back();
      for (const std::string& value : parameter.values) texts.push_back(value.c_str());
      plain.push_back(
          {parameter.name.c_str(), static_cast<std::uint32_t>(texts.size()), texts.data()});
    }
  }
  std::deque<std::vector<const char*>> values;
  std::vector<autotune_parameter_v1> plain;
};

}  // namespace

SearchTask search_task(const Evaluator& evaluator, std::uint64_t seed) {
  const ParameterSpace& space = evaluator.space();
  SearchTask task;
  for (const Parameter& parameter : space.parameters()) {
    SearchTask::Parameter& told = task.parameters.emplace_back(SearchTask::Parameter{});
    told.name = parameter.name;
    for (const Value& value : parameter.values) told.values.push_back(value.text());
  }
  task.configurations = space.size();
  task.levels.reserve(space.size() * space.parameters().size());
  for (std::size_t index = 0; index < space.size(); ++index) {
    const Levels levels = space.levels(index);
    task.levels.insert(task.levels.end(), levels.begin(), levels.end());
  }
  task.predicted.assign(evaluator.predicted().begin(), evaluator.predicted().end());
  task.known.assign(evaluator.known().begin(), evaluator.known().end());
  task.seed = seed;
  task.budget = evaluator.remaining();
  task.batch = static_cast<std::uint32_t>(std::max(1, evaluator.batch()));
  return task;
}

void run_strategy(const autotune_strategy_v2& strategy, const SearchTask& task, const Ask& ask) {
  const PlainParameters parameters(task.parameters);
  std::vector<autotune_evaluation_v2> known;
  for (const Evaluation& each : task.known) known.push_back(told_of(each));
  Host host{ask};
  autotune_task_v2 told{};
  told.parameters = static_cast<std::uint32_t>(parameters.plain.size());
  told.parameter = parameters.plain.data();
  told.configurations = task.configurations;
  told.levels = task.levels.data();
  told.predicted = task.predicted.empty() ? nullptr : task.predicted.data();
  told.known_count = known.size();
  told.known = known.data();
  told.seed = task.seed;
  told.budget = task.budget;
  told.batch = task.batch;
  told.host = &host;
  told.evaluate = &Host::evaluate;
  call_plugin("search()", [&] { return strategy.search(&told); });
  if (host.thrown) std::rethrow_exception(host.thrown);
}

}  // namespace autotune
