// SPDX-License-Identifier: Apache-2.0
#include "tuner/replay/recorded_space.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "tuner/core/error.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

constexpr std::int64_t kStaticSharedBytes = 48 << 10;  // limit of CUDA's compilers

std::uint64_t rank_of(const RecordedResult& row,
                      const std::vector<std::map<Value, std::size_t>>& levels) {
  std::uint64_t rank = 0;
  for (std::size_t p = 0; p < levels.size(); ++p) {
    const auto level = levels[p].find(row.values[p]);
    if (level == levels[p].end()) {
      throw Error(format("a configuration has the value {}, which its parameter does not list",
                         row.values[p].text()));
    }
    rank = rank * levels[p].size() + level->second;
  }
  return rank;
}

/// Adds a reason, in the words of ptxas, if a configuration uses too much shared memory.
Evaluation evaluation_of(std::size_t index, const RecordedResult& row) {
  Evaluation answer{index, row.outcome, row.seconds};
  if (row.outcome == Outcome::compile_error && row.shared_bytes > kStaticSharedBytes) {
    answer.reason = format("uses too much shared data ({} bytes, {} max)", row.shared_bytes,
                           kStaticSharedBytes);
  } else {
    answer.resources.shared_bytes = row.shared_bytes;
  }
  return answer;
}

RecordedSpace space_of_rows(std::string name, std::vector<Parameter> parameters,
                            const std::vector<RecordedResult>& rows) {
  std::vector<std::map<Value, std::size_t>> levels;
  for (const Parameter& parameter : parameters) {
    auto& level = levels.emplace_back();
    for (const Value& value : parameter.values) level.emplace(value, level.size());
  }
  std::map<std::uint64_t, const RecordedResult*> by_rank;
  for (const RecordedResult& row : rows) by_rank[rank_of(row, levels)] = &row;
  std::vector<std::uint64_t> ranks;
  std::vector<Evaluation> answers;
  std::vector<double> compile_seconds, total_seconds;
  for (const auto& [rank, row] : by_rank) {
    answers.push_back(evaluation_of(ranks.size(), *row));
    compile_seconds.push_back(row->compile_seconds);
    total_seconds.push_back(row->total_seconds);
    ranks.push_back(rank);
  }
  return {std::move(name), ParameterSpace(std::move(parameters), std::move(ranks)),
          std::move(answers), std::move(compile_seconds), std::move(total_seconds)};
}

}  // namespace

double RecordedSpace::best() const {
  double best = std::numeric_limits<double>::infinity();
  for (const Evaluation& answer : answers) {
    if (answer.outcome == Outcome::ok) best = std::min(best, answer.seconds.value_or(best));
  }
  return best;
}

std::size_t RecordedSpace::failures() const {
  return static_cast<std::size_t>(
      std::count_if(answers.begin(), answers.end(), [](const Evaluation& answer) {
        return answer.outcome != Outcome::ok && answer.outcome != Outcome::pruned;
      }));
}

RecordedSpace recorded_space(std::string name, RecordedResults results) {
  return space_of_rows(std::move(name), std::move(results.parameters), results.results);
}

RecordedSpace read_recorded_space(const std::filesystem::path& file) {
  RecordedResults results = read_recorded_results(file);
  const std::string name = file.filename().string();
  try {
    return recorded_space(name.substr(0, name.find('.')), std::move(results));
  } catch (const Error& error) {
    throw Error(format("{}: {}", file.string(), error.what()));
  }
}

}  // namespace autotune
