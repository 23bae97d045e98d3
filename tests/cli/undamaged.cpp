// SPDX-License-Identifier: Apache-2.0
#include "tests/cli/undamaged.hpp"

#include <set>
#include <sstream>

#include "tuner/hash/hash.hpp"

namespace autotune::testing {
namespace {

/// But for how many there are, or that there are none.
std::set<std::string> lines_of(const std::string& text) {
  std::set<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    const bool counts = line.find("kRowCount") != line.npos || line.starts_with("    {\"\", ");
    if (!counts) lines.insert(line);
  }
  return lines;
}

std::string key_of(const Json& answer) {
  return answer.at("device").dump() + answer.at("problem").dump() + answer.at("policy").dump();
}

/// Without what depends on the question, and what the session adds about how it was found.
Json said_by(Json answer) {
  for (const char* key :
       {"expected_ns", "factor_away", "program", "tool_version", "strategy", "environment"}) {
    answer.erase(key);
  }
  return answer;
}

/// The stored ones.
std::vector<Json> answers_in(const Ended& query) {
  if (query.status != 0) return {};
  auto answers = Json::parse(query.out).at("results").get<std::vector<Json>>();
  std::erase_if(answers, [](const Json& answer) { return answer.at("exact") == false; });
  return answers;
}

}  // namespace

Undamaged::Undamaged(const Sandbox& sandbox, const std::string& database) {
  for (const Json& answer : answers_in(sandbox.run({"query", "--json", "--db", database}))) {
    answers_.emplace(key_of(answer), said_by(answer));
  }
  for (const std::string& line : lines_of(sandbox.run({"db", "export", "--db", database}).out)) {
    facts_.emplace(hash128(line), Json::parse(line));
  }
}

std::string Undamaged::fault_of_answers(const Ended& query) const {
  for (const Json& answer : answers_in(query)) {
    const auto before = answers_.find(key_of(answer));
    if (before == answers_.end()) return "an answer to what nobody tuned: " + answer.dump();
    if (before->second != said_by(answer)) return "another answer: " + answer.dump();
  }
  return "";
}

std::string Undamaged::fault_of_all_answers(const Ended& query) const {
  const bool missing = answers_in(query).size() < answers_.size() && query.err.empty();
  return missing ? "answers are gone without a word" : fault_of_answers(query);
}

std::string Undamaged::fault_of_derived(const Ended& query) const {
  for (const Json& answer : answers_in(query)) {
    const auto found = facts_.find(answer.at("fact"));
    if (found == facts_.end()) return "an answer without a fact: " + answer.dump();
    const Json& fact = found->second;
    Json configuration = Json::object();
    std::istringstream words(fact.at("configuration").get<std::string>());
    for (std::string word; words >> word;) {
      const std::size_t equals = word.find('=');
      configuration[word.substr(0, equals)] = std::stoll(word.substr(equals + 1));
    }
    const bool same_time = !fact.contains("median_ns") || fact["median_ns"] == answer["median_ns"];
    if (configuration != answer.at("config") || !same_time) {
      return "an answer that its fact does not give: " + answer.dump();
    }
  }
  return "";
}

std::string Undamaged::fault_of_lines(const Ended& now, const Ended& before) {
  const std::set<std::string> known = lines_of(before.out), lines = lines_of(now.out);
  for (const std::string& line : lines) {
    if (!known.contains(line)) return "a line that was not there: " + line;
  }
  const bool missed = lines.size() < known.size() && now.err.empty();
  return missed ? "lines are gone without a word" : "";
}

std::string Undamaged::fault_of_report(const Ended& now, const Ended& before) {
  const auto head = [](const std::string& text) { return text.substr(0, text.find("predicted")); };
  const bool same = head(now.out) == head(before.out) || !now.err.empty();
  return same ? "" : "a report has changed: " + now.out;
}

}  // namespace autotune::testing
