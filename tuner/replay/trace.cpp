// SPDX-License-Identifier: Apache-2.0
#include "tuner/replay/trace.hpp"

#include <cstdint>
#include <sstream>
#include <unordered_map>
#include <utility>

#include "tuner/core/error.hpp"
#include "tuner/interchange/gzip.hpp"
#include "tuner/interchange/recorded_results.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

std::string key_at(const ParameterSpace& space, std::size_t index) {
  std::vector<Value> values;
  for (const NamedValue& each : space.at(index)) values.push_back(each.value);
  return key_of(values);
}

using Keys = std::unordered_map<std::string, std::size_t>;

ReplayRun read_run(const std::string& line, const RecordedSpace& recorded, const Keys& keys) {
  std::istringstream words(line);
  std::uint64_t seed = 0;
  double seconds = 0;
  if (!(words >> seed >> seconds) || !(seconds >= 0)) {
    throw Error("expected a seed, seconds and configurations");
  }
  std::vector<std::size_t> order;
  for (std::string key; words >> key;) {
    const auto found = keys.find(key);
    if (found == keys.end()) throw Error(format("{} has no configuration {}", recorded.name, key));
    order.push_back(found->second);
  }
  return run_of(recorded, seed, std::move(order), seconds);
}

}  // namespace

std::string trace_text(const RecordedSpace& recorded, std::span<const ReplayRun> runs) {
  std::string text;
  for (const ReplayRun& run : runs) {
    text += format("{} {:.6g}", run.seed, run.own_seconds * static_cast<double>(run.order.size()));
    for (const std::size_t index : run.order) text += ' ' + key_at(recorded.space, index);
    text += '\n';
  }
  return text;
}

std::vector<ReplayRun> read_trace(const std::filesystem::path& file,
                                  const RecordedSpace& recorded) {
  Keys keys;
  for (std::size_t i = 0; i < recorded.space.size(); ++i)
    keys.emplace(key_at(recorded.space, i), i);
  std::istringstream lines(read_maybe_gzip(file));
  std::vector<ReplayRun> runs;
  for (std::string line; std::getline(lines, line);) {
    try {
      runs.push_back(read_run(line, recorded, keys));
    } catch (const Error& error) {
      throw Error(format("{}: line {}: {}", file.string(), runs.size() + 1, error.what()));
    }
  }
  if (runs.empty()) throw Error(format("{}: holds no run", file.string()));
  return runs;
}

}  // namespace autotune
