// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/problem_section.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <sstream>
#include <utility>

#include "tuner/core/value.hpp"
#include "tuner/report/verdict.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"
#include "tuner/text/printable.hpp"

namespace autotune::report {
namespace {

std::string_view entity_of(char letter) {
  switch (letter) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\'':
      return "&#39;";
    default:
      return {};
  }
}

constexpr std::size_t kLongWord = 40;

/// Whether a text has a word so long that the line must break inside it.
bool has_long_word(const std::string& text) {
  std::istringstream words(text);
  return std::any_of(std::istream_iterator<std::string>(words), {},
                     [](const std::string& word) { return word.size() > kLongWord; });
}

/// `head`: shown before the text in a card; empty: never.
std::string cell_html(const Cell& cell, const std::string& head) {
  std::string classes = has_long_word(cell.text) ? "w" : cell.sort_key.empty() ? "" : "n";
  if (cell.is_doubt) classes += classes.empty() ? "doubt" : " doubt";
  std::string attributes = classes.empty() ? "" : format(" class=\"{}\"", classes);
  if (!cell.sort_key.empty()) attributes += format(" data-key=\"{}\"", html_text(cell.sort_key));
  if (!head.empty()) attributes += format(" data-head=\"{}\"", html_text(head));
  std::string text = html_text(cell.text);
  if (const std::size_t interval = text.find(" ["); interval != std::string::npos) {
    text.insert(interval + 1, "<wbr>");
  }
  return format("<td{}>{}</td>", attributes, text);
}

}  // namespace

std::string html_text(std::string_view text) {
  std::string html;
  for (const char letter : printable(text)) {
    const std::string_view entity = entity_of(letter);
    entity.empty() ? html += letter : html += entity;
  }
  return html;
}

std::string script_json(const Json& json) {
  std::string text;
  for (const char letter : json.dump(-1, ' ', true, Json::error_handler_t::replace)) {
    letter == '<' ? text += "\\u003c" : text += letter;
  }
  return text;
}

std::string html_table(const std::vector<std::string>& heads,
                       const std::vector<std::vector<Cell>>& rows, bool is_sortable) {
  const auto is_shown = [&](std::size_t column) {
    return std::ranges::any_of(rows, [&](const auto& row) { return !row[column].text.empty(); });
  };
  std::string html =
      is_sortable ? "<table class=\"sortable\">\n<thead><tr>" : "<table>\n<thead><tr>";
  for (std::size_t c = 0; c < heads.size(); ++c) {
    if (is_shown(c)) html += format("<th scope=\"col\">{}</th>", html_text(heads[c]));
  }
  html += "</tr></thead>\n<tbody>\n";
  for (const std::vector<Cell>& row : rows) {
    html += "<tr>";
    for (std::size_t c = 0; c < heads.size(); ++c) {
      if (is_shown(c)) html += cell_html(row[c], is_sortable ? heads[c] : "");
    }
    html += "</tr>\n";
  }
  return html + "</tbody></table>\n";
}

namespace {

constexpr int kFewest = 3;           // trials of a reason, for a common value
constexpr double kLeastShare = 0.5;  // of the reason's trials
constexpr double kLeastLift = 1.25;
constexpr std::size_t kMost = 3;

using Counts = std::map<std::pair<std::string, std::string>, int>;  // of name and value

void count(Counts& counts, const NamedValues& configuration) {
  for (const NamedValue& each : configuration) ++counts[{each.name, each.value.text()}];
}

std::vector<Shared> shared_by(const Reason& reason, const std::vector<NamedValues>& configurations,
                              const Counts& everywhere) {
  if (reason.count() < kFewest) return {};
  Counts here;
  for (const std::size_t trial : reason.trials) count(here, configurations[trial]);
  std::vector<Shared> all;
  for (const auto& [named, times] : here) {
    const double share = static_cast<double>(times) / reason.count();
    const double usual =
        static_cast<double>(everywhere.at(named)) / static_cast<double>(configurations.size());
    if (share < kLeastShare || share < kLeastLift * usual) continue;
    all.push_back({named.first, named.second, share, share / usual});
  }
  std::ranges::stable_sort(all, std::greater(), &Shared::lift);
  all.resize(std::min(all.size(), kMost));
  return all;
}

}  // namespace

std::vector<Failure> failures_of(const std::vector<db::TrialRow>& trials) {
  std::vector<NamedValues> configurations;
  Counts everywhere;
  for (const db::TrialRow& trial : trials) {
    configurations.push_back(parse_named_values(trial.configuration));
    count(everywhere, configurations.back());
  }
  std::vector<Failure> failures;
  for (Reason& reason : reasons_of(trials)) {
    std::vector<Shared> shared = shared_by(reason, configurations, everywhere);
    failures.push_back({std::move(reason), std::move(shared)});
  }
  return failures;
}

namespace {

constexpr std::size_t kFastest = 6;
constexpr std::size_t kReasons = 8;
constexpr std::size_t kLongestMessage = 300;

std::string described(std::string_view term, const std::string& text) {
  if (text.empty()) return "";
  return format("<dt>{}</dt><dd>{}</dd>\n", term, html_text(text));
}

/// Parameters with another value than in `best`.
std::string differences(const std::string& configuration, const NamedValues& best) {
  NamedValues others;
  for (const NamedValue& each : parse_named_values(configuration)) {
    const Value* const value = find_value(best, each.name);
    if (!value || !(*value == each.value)) others.push_back(each);
  }
  return others.empty() ? "the best" : to_text(others);
}

/// Each configuration once, with its latest time of the search, fastest first.
std::vector<const db::TrialRow*> fastest(const std::vector<db::TrialRow>& trials) {
  std::map<std::string_view, const db::TrialRow*> latest;
  for (const db::TrialRow& trial : trials) {
    if (trial.stage == "search") latest[trial.configuration] = &trial;
  }
  std::vector<const db::TrialRow*> timed;
  for (const auto& [configuration, trial] : latest) {
    if (trial->outcome == "ok" && trial->median_ns) timed.push_back(trial);
  }
  std::ranges::stable_sort(timed, {}, [](const db::TrialRow* row) { return *row->median_ns; });
  timed.resize(std::min(timed.size(), kFastest));
  return timed;
}

std::string fastest_table(const ReportedProblem& problem) {
  const NamedValues best = parse_named_values(problem.entry.best.configuration);
  const auto number = [](const std::optional<std::int64_t>& value) {
    return value ? Cell{format("{}", *value), format("{}", *value)} : Cell{};
  };
  const auto trials = fastest(problem.trials);
  std::vector<std::vector<Cell>> rows;
  for (const db::TrialRow* trial : trials) {
    const double slower = *trial->median_ns / *trials.front()->median_ns;
    rows.push_back({{time_text(*trial->median_ns * kNanosecond), format("{}", *trial->median_ns)},
                    {format("{:.3f}x", slower), format("{}", slower)},
                    number(trial->registers),
                    number(trial->shared_bytes),
                    number(trial->local_bytes),
                    trial->occupancy ? Cell{format("{:.4g} %", 100 * *trial->occupancy),
                                            format("{}", *trial->occupancy)}
                                     : Cell{},
                    {differences(trial->configuration, best)}});
  }
  if (rows.empty()) return "";
  return "<h4>The fastest in the search, and how they differ from the best</h4>\n" +
         html_table({"time", "of the fastest", "registers", "shared bytes", "local bytes",
                     "occupancy", "differs in"},
                    rows);
}

std::string shared_text(const std::vector<Shared>& shared) {
  std::vector<std::string> parts;
  for (const Shared& one : shared) {
    parts.push_back(format("{}={} ({:.0f} %, {:.1f}x its share of all trials)", one.parameter,
                           one.value, 100 * one.share, one.lift));
  }
  return joined(parts, ", ");
}

std::string failures_table(const ReportedProblem& problem) {
  std::vector<std::vector<Cell>> rows;
  for (const Failure& failure : failures_of(problem.trials)) {
    if (rows.size() == kReasons) break;
    const std::string_view message = meaning_of(failure.reason.example);
    rows.push_back({{format("{}", failure.reason.count()), format("{}", failure.reason.count())},
                    {failure.reason.outcome},
                    {std::string(message.substr(0, kLongestMessage))},
                    {shared_text(failure.shared)}});
  }
  if (rows.empty()) return "";
  return "<h4>Not timed to the end</h4>\n" +
         html_table({"trials", "outcome", "first message", "in common"}, rows);
}

std::string spent_table(const ReportedProblem& problem) {
  std::vector<std::vector<Cell>> rows;
  for (const Spent& spent : spent_on(problem.trials)) {
    rows.push_back({{spent.stage},
                    {spent.outcome},
                    {format("{}", spent.trials), format("{}", spent.trials)},
                    {time_text(spent.elapsed_seconds), format("{}", spent.elapsed_seconds)},
                    {spent.compile_seconds > 0 ? time_text(spent.compile_seconds) : "",
                     format("{}", spent.compile_seconds)}});
  }
  if (rows.empty()) return "";
  return "<h4>Where the time went</h4>\n" +
         html_table({"stage", "outcome", "trials", "elapsed", "of all compilers"}, rows);
}

std::string how_text(const db::TunedEntry& entry) {
  const db::BestRow& best = entry.best;
  if (best.configuration.empty()) return "searched " + best.created_at.substr(0, 10);
  std::string text = format("{} {}", best.provenance, best.created_at.substr(0, 10));
  if (best.samples > 0) text += format(", {} samples", best.samples);
  return text + (best.verified ? ", verified" : ", not verified");
}

}  // namespace

std::string problem_section(const ReportedProblem& problem, std::size_t place) {
  const db::BestRow& best = problem.entry.best;
  std::string html = format("<article data-problem=\"{}\">\n<h3>{} on {}: {}</h3>\n", place,
                            html_text(problem.entry.kernel.target),
                            html_text(problem.entry.device.name), html_text(problem.name));
  html += format("<p class=\"sentence\">{}</p>\n<dl>\n", html_text(sentence_of(problem)));
  html += described("best", problem.best_text);
  if (best.default_configuration != best.configuration) {
    html += described("default", problem.default_text);
  }
  html += described("vendor", best.baseline.text());
  html += described("tie", problem.ties_text);
  html += described("bits", problem.bits);
  html += described("policy", best.key.policy);
  html += described("how", how_text(problem.entry)) + "</dl>\n";
  html += "<div class=\"plots\"></div>\n";
  return html + fastest_table(problem) + counters_table(problem) + failures_table(problem) +
         spent_table(problem) + "</article>\n";
}

}  // namespace autotune::report
