// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/page.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <ostream>
#include <set>
#include <sstream>
#include <utility>

#include "tuner/core/value.hpp"
#include "tuner/records/records.hpp"
#include "tuner/report/problem_section.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"
#include "tuner/text/printable.hpp"

namespace autotune::report {
namespace {

/// `gemm on NVIDIA H200`, or how many targets and devices.
std::string title_of(const Report& report) {
  if (report.problems.empty()) return "Nothing is tuned yet";
  std::set<std::string> targets, devices;
  for (const ReportedProblem& problem : report.problems) {
    targets.insert(problem.entry.kernel.target);
    devices.insert(problem.entry.device.name);
  }
  return format("{} on {}",
                targets.size() == 1 ? *targets.begin() : format("{} targets", targets.size()),
                devices.size() == 1 ? *devices.begin() : format("{} devices", devices.size()));
}

/// `2026-03-01 12:00` of a time as it is stored.
std::string minute_text(const std::string& time) {
  std::string text = time.substr(0, 16);
  std::ranges::replace(text, 'T', ' ');
  return text;
}

/// One line per session and policy: where and how problems were tuned.
std::string environment_table(const Report& report) {
  std::set<std::vector<std::string>> lines;
  for (const ReportedProblem& problem : report.problems) {
    const db::SessionRow& session = problem.entry.session;
    lines.insert({problem.entry.device.name, minute_text(session.started_at), session.tool_version,
                  session.strategy, session.budget, std::to_string(session.seed),
                  session.environment, problem.entry.kernel.target,
                  problem.entry.kernel.fingerprint, session.command});
  }
  std::vector<std::vector<Cell>> rows;
  for (const std::vector<std::string>& line : lines) {
    auto& row = rows.emplace_back();
    for (const std::string& text : line) row.push_back({text});
  }
  return html_table({"device", "started (UTC)", "autotune", "strategy", "budget", "seed",
                     "environment", "target", "fingerprint", "command"},
                    rows);
}

/// A few of the names, and how many more there are.
std::string listed(std::vector<std::string> names) {
  constexpr std::size_t kMost = 12;
  const std::size_t more = names.size() - std::min(names.size(), kMost);
  names.resize(names.size() - more);
  return joined(names, "; ") + (more > 0 ? format("; and {} more", more) : "");
}

std::string cover_lines(const Report& report, const std::vector<Portability>& portability) {
  std::string html;
  for (const Portability& one : portability) {
    html += format(
        "<p>{}: {} configuration{} of {} come{} within {:.0f} % of the best at {} of {} problems, "
        "as far as they were timed there.</p>\n",
        html_text(one.target), one.cover.size(), one.cover.size() == 1 ? "" : "s",
        one.configurations.size(), one.cover.size() == 1 ? "s" : "", 100 * kCoverMargin,
        one.covered, one.problems.size());
    std::vector<std::vector<Cell>> rows;
    for (const std::size_t c : one.cover) {
      std::vector<std::string> served;
      for (std::size_t p = 0; p < one.problems.size(); ++p) {
        const bool is_near = one.share[c][p] >= 1 / (1 + kCoverMargin);
        if (is_near) served.push_back(report.problems[one.problems[p]].name);
      }
      const auto count = static_cast<double>(served.size());
      rows.push_back({{one.configurations[c]},
                      {format("{}", served.size()), format("{}", count)},
                      {listed(std::move(served))}});
    }
    html += html_table({"configuration", "problems within 5 %", "which"}, rows);
  }
  return html;
}

std::string script_element(std::string_view text) {
  return format("<script>\n{}</script>\n", text);
}

void write_tables(const Report& report, const std::vector<Portability>& portability,
                  std::ostream& out) {
  out << summary(report) << "<section id=\"verdicts\"><h2>Results</h2>\n"
      << verdict_table(report) << "</section>\n"
      << "<section id=\"rate\"><h2>Rate over size</h2>\n</section>\n"
      << "<section id=\"problem\"><h2>One problem</h2>\n";
  for (std::size_t i = 0; i < report.problems.size(); ++i) {
    out << problem_section(report.problems[i], i);
  }
  out << "</section>\n";
  if (!portability.empty()) {
    out << "<section id=\"portability\"><h2>Configurations at other problems</h2>\n"
        << cover_lines(report, portability) << "</section>\n";
  }
  out << "<section id=\"environment\"><details><summary>Environment</summary>\n"
      << environment_table(report) << "</details></section>\n";
}

void write_content(const Report& report, std::ostream& out) {
  const std::vector<Portability> portability = portability_of(report);
  out << format("<header><h1>{}</h1>\n<p>{}, {} UTC, autotune {}, {}</p>\n",
                html_text(title_of(report)), count_text(report.problems.size(), "problem"),
                html_text(minute_text(report.written_at)), html_text(report.tool_version),
                html_text(report.database));
  if (!report.notice.empty()) {
    out << format("<p class=\"notice\" role=\"status\">{}</p>\n", html_text(report.notice));
  }
  out << "</header>\n<main>\n";
  if (!report.problems.empty()) write_tables(report, portability, out);
  out << "</main>\n<script type=\"application/json\" id=\"data\">"
      << script_json(script_data(report, portability)) << "</script>\n";
}

/// The document up to its body. Its content policy lets only a live page contact its server.
std::string page_head(const std::string& title, bool is_live) {
  return format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
      "style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:{}\">\n{}"
      "<title>{}</title>\n<style>\n{}</style>\n</head>\n",
      is_live ? "; connect-src 'self'" : "", is_live ? "<link rel=\"icon\" href=\"data:,\">\n" : "",
      title, style_text());
}

std::string page_scripts() { return script_element(d3_text()) + script_element(script_text()); }

}  // namespace

void write_page(const Report& report, std::ostream& out) {
  out << page_head(html_text(title_of(report)), false) << "<body>\n";
  write_content(report, out);
  out << page_scripts() << "</body>\n</html>\n";
}

std::string page_content(const Report& report) {
  std::ostringstream out;
  write_content(report, out);
  return out.str();
}

std::string live_page(std::string_view content, std::string_view version) {
  return page_head("autotune watch", true) +
         format("<body data-version=\"{}\">\n{}", html_text(version), content) + page_scripts() +
         script_element(live_text()) + "</body>\n</html>\n";
}

Json text_column(const std::string& name, const std::vector<std::optional<std::string>>& texts) {
  Json values = Json::array(), cells = Json::array();
  std::map<std::optional<std::string>, std::size_t> places;
  for (const auto& text : texts) {
    const auto [found, is_new] = places.emplace(text, places.size());
    if (is_new) values.push_back(text ? Json(*text) : Json());
    cells.push_back(found->second);
  }
  return {{"name", name}, {"values", std::move(values)}, {"cells", std::move(cells)}};
}

Json number_column(const std::string& name, const std::vector<std::optional<double>>& numbers) {
  Json cells = Json::array();
  for (const auto& number : numbers) {
    const bool is_known = number && std::isfinite(*number) && *number >= 0;
    cells.push_back(is_known ? Json(std::stod(format("{:.4e}", *number))) : Json());
  }
  return {{"name", name}, {"cells", std::move(cells)}};
}

namespace {

constexpr std::size_t kLongestReason = 400;

using Texts = std::vector<std::optional<std::string>>;
using Numbers = std::vector<std::optional<double>>;

Json number(const std::optional<double>& value, double factor = 1) {
  return value ? Json(*value * factor) : Json();
}

template <class Get>
Numbers numbers_of(const std::vector<db::TrialRow>& trials, Get&& get) {
  Numbers numbers;
  for (const db::TrialRow& trial : trials) {
    const auto value = get(trial);
    numbers.push_back(value ? std::optional(static_cast<double>(*value)) : std::nullopt);
  }
  return numbers;
}

template <class Get>
Texts texts_of(const std::vector<db::TrialRow>& trials, Get&& get) {
  Texts texts;
  for (const db::TrialRow& trial : trials) texts.push_back(printable(get(trial)));
  return texts;
}

/// Every parameter that occurs, in order of appearance. A trial of an earlier manifest may lack it.
std::vector<std::pair<std::string, Texts>> parameters_of(const std::vector<db::TrialRow>& trials) {
  std::vector<std::pair<std::string, Texts>> columns;
  std::map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    for (const NamedValue& each : parse_named_values(trials[i].configuration)) {
      const auto [found, is_new] = places.emplace(each.name, columns.size());
      if (is_new) columns.emplace_back(printable(each.name), Texts(trials.size()));
      columns[found->second].second[i] = printable(each.value.text());
    }
  }
  return columns;
}

/// Messages that differ only in numbers are listed once.
Texts messages_of(const std::vector<db::TrialRow>& trials) {
  Texts messages(trials.size());
  for (const Reason& reason : reasons_of(trials)) {
    const std::string text = printable(meaning_of(reason.example)).substr(0, kLongestReason);
    for (const std::size_t trial : reason.trials) messages[trial] = text;
  }
  return messages;
}

/// Half of the interval over the median.
std::optional<double> spread_of(const db::TrialRow& trial) {
  if (!trial.median_ns || !trial.low_ns || !trial.high_ns) return std::nullopt;
  const double spread = (*trial.high_ns - *trial.low_ns) / 2 / *trial.median_ns;
  return std::round(spread * 1e4) / 1e4;
}

Json trials_json(const ReportedProblem& problem,
                 const std::vector<std::pair<std::string, Texts>>& parameters) {
  const std::vector<db::TrialRow>& trials = problem.trials;
  Json columns = Json::array();
  for (const auto& [name, texts] : parameters) columns.push_back(text_column(name, texts));
  columns.push_back(
      text_column("stage", texts_of(trials, [](const auto& row) { return row.stage; })));
  columns.push_back(
      text_column("outcome", texts_of(trials, [](const auto& row) { return row.outcome; })));
  columns.push_back(text_column("message", messages_of(trials)));
  const auto add = [&](const char* name, auto get) {
    columns.push_back(number_column(name, numbers_of(trials, get)));
  };
  add("ns", [](const auto& row) { return row.median_ns; });
  add("spread", spread_of);
  add("predicted_ns", [](const auto& row) { return row.predicted_ns; });
  add("compile_seconds", [](const auto& row) { return std::optional(row.compile_seconds); });
  add("registers", [](const auto& row) { return row.registers; });
  add("shared_bytes", [](const auto& row) { return row.shared_bytes; });
  add("local_bytes", [](const auto& row) { return row.local_bytes; });
  add("occupancy", [](const auto& row) { return row.occupancy; });
  columns.push_back(
      number_column("elapsed", {problem.seconds_elapsed.begin(), problem.seconds_elapsed.end()}));
  if (!problem.intensity.empty()) {
    columns.push_back(
        number_column("intensity", {problem.intensity.begin(), problem.intensity.end()}));
  }
  return {{"count", trials.size()}, {"columns", std::move(columns)}};
}

Json roofs_json(const std::optional<Roofs>& roofs) {
  if (!roofs) return nullptr;
  return {{"flops", roofs->flops_per_second},
          {"tensor", roofs->tensor_flops_per_second},
          {"memory", roofs->memory_bytes_per_second},
          {"l2", roofs->l2_bytes_per_second}};
}

Json importance_json(const std::optional<Importance>& importance) {
  if (!importance) return nullptr;
  Json parameters = Json::array();
  for (const ParameterImportance& one : importance->parameters) {
    parameters.push_back({{"name", printable(one.name)}, {"loss", one.r2_loss}});
  }
  return {{"r2", importance->r2},
          {"configurations", importance->configurations},
          {"parameters", std::move(parameters)}};
}

/// Finalists that were counted, with all of their counters.
Json counters_json(const ReportedProblem& problem) {
  Json counted = Json::array();
  for (const Finalist& one : problem.finalists) {
    if (one.counters.empty()) continue;
    Json counters = Json::object();
    for (const auto& [name, value] : one.counters) counters[printable(name)] = value;
    counted.push_back({{"role", one.role},
                       {"configuration", printable(one.configuration)},
                       {"seconds", one.expected.seconds},
                       {"flops", counted_flops(one.counters)},
                       {"counters", std::move(counters)}});
  }
  return counted;
}

Json problem_json(const ReportedProblem& problem) {
  const db::BestRow& best = problem.entry.best;
  const auto parameters = parameters_of(problem.trials);
  Json names = Json::array();
  for (const auto& [name, values] : parameters) names.push_back(name);
  return {{"target", printable(problem.entry.kernel.target)},
          {"device", printable(problem.entry.device.name)},
          {"policy", printable(best.key.policy)},
          {"name", printable(problem.name)},
          {"latest", problem.trials.empty() ? "" : printable(problem.trials.back().created_at)},
          {"side", problem.side ? Json(*problem.side) : Json()},
          {"flops", problem.work.flops},
          {"bytes", problem.work.bytes},
          {"best", printable(best.configuration)},
          {"median", number(best.median_ns, kNanosecond)},
          {"low", number(best.low_ns, kNanosecond)},
          {"high", number(best.high_ns, kNanosecond)},
          {"default", number(best.default_ns, kNanosecond)},
          {"baseline", printable(best.baseline.plugin)},
          {"baseline_median", number(best.baseline.ns, kNanosecond)},
          {"baseline_low", number(best.baseline.low_ns, kNanosecond)},
          {"baseline_high", number(best.baseline.high_ns, kNanosecond)},
          {"cpu", number(problem.cpu_seconds)},
          {"roofs", roofs_json(problem.roofs)},
          {"importance", importance_json(problem.importance)},
          {"counted", counters_json(problem)},
          {"parameters", std::move(names)},
          {"trials", trials_json(problem, parameters)}};
}

Json portability_json(const Portability& one) {
  Json configurations = Json::array(), share = Json::array();
  for (const std::string& text : one.configurations) configurations.push_back(printable(text));
  for (const std::vector<double>& row : one.share) {
    Json& line = share.emplace_back(Json::array());
    for (const double value : row) line.push_back(std::round(value * 1e4) / 1e4);
  }
  return {{"target", printable(one.target)},
          {"problems", one.problems},
          {"configurations", std::move(configurations)},
          {"share", std::move(share)},
          {"cover", one.cover}};
}

}  // namespace

Json script_data(const Report& report, const std::vector<Portability>& portability) {
  Json problems = Json::array(), matrices = Json::array();
  for (const ReportedProblem& problem : report.problems) problems.push_back(problem_json(problem));
  for (const Portability& one : portability) matrices.push_back(portability_json(one));
  return {{"problems", std::move(problems)}, {"portability", std::move(matrices)}};
}

}  // namespace autotune::report
