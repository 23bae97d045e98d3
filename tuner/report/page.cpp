// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/page.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <ostream>
#include <set>
#include <sstream>
#include <utility>

#include "tuner/core/value.hpp"
#include "tuner/report/html.hpp"
#include "tuner/report/report.hpp"
#include "tuner/report/script_data.hpp"
#include "tuner/report/verdict.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"

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
  out << format("<header><h1>{}</h1>\n<p>{} problem{}, {} UTC, autotune {}, {}</p>\n",
                html_text(title_of(report)), report.problems.size(),
                report.problems.size() == 1 ? "" : "s", html_text(minute_text(report.written_at)),
                html_text(report.tool_version), html_text(report.database));
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

constexpr std::string_view kHeading = "<h4>Counted by the hardware</h4>\n";

bool is_counted(const Finalist& one) { return !one.counters.empty(); }

std::string title_of(const Finalist& one) {
  return one.role == "tie" ? "tie " + one.configuration : one.role;
}

/// `DRAM and stalls of the best`.
std::vector<std::string> missing_in(const Finalist& one) {
  std::vector<std::string> names;
  for (const CountedLine& line : counted_lines(one.counters, one.expected)) {
    const bool is_missing = line.counted.empty() && line.name != "intensity";
    if (is_missing) names.push_back(line.name);
  }
  return names;
}

std::string missing_sentence(const std::vector<Finalist>& finalists) {
  std::vector<std::string> parts;
  for (const Finalist& one : finalists) {
    if (!is_counted(one)) {
      parts.push_back(title_of(one));
      continue;
    }
    const auto names = missing_in(one);
    if (!names.empty()) parts.push_back(format("{} of {}", joined(names, ", "), title_of(one)));
  }
  if (parts.empty()) return "";
  return format("<p>Not counted: {}.</p>\n", html_text(joined(parts, "; ")));
}

/// One row per figure, with the counted and the expected value of each finalist.
std::string table_of(const std::vector<const Finalist*>& finalists) {
  std::vector<std::string> heads{"figure"};
  std::vector<std::vector<Cell>> rows;
  for (const Finalist* one : finalists) {
    heads.push_back(title_of(*one));
    heads.emplace_back("expected");
    const auto lines = counted_lines(one->counters, one->expected);
    rows.resize(lines.size());
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (rows[i].empty()) rows[i].push_back({lines[i].name});
      rows[i].push_back({lines[i].counted});
      rows[i].push_back({lines[i].counted.empty() ? "" : lines[i].expected});
    }
  }
  std::erase_if(rows, [](const std::vector<Cell>& row) {
    return std::all_of(row.begin() + 1, row.end(),
                       [](const Cell& cell) { return cell.text.empty(); });
  });
  return "<div class=\"counters\">\n" + html_table(heads, rows) + "</div>\n";
}

}  // namespace

std::string counters_table(const ReportedProblem& problem) {
  if (problem.finalists.empty()) return "";
  std::vector<const Finalist*> counted;
  for (const Finalist& one : problem.finalists) {
    if (is_counted(one)) counted.push_back(&one);
  }
  if (counted.empty()) {
    return std::string(kHeading) +
           "<p>Nothing was counted. <code>autotune explain --counters</code> on this GPU counts "
           "the "
           "finalists.</p>\n";
  }
  const Finalist& first = *counted.front();
  return std::string(kHeading) + table_of(counted) +
         format(
             "<p>One call, apart from all times; rates are those of the measured time. {}, {} "
             "UTC.</p>\n",
             html_text(first.environment), html_text(first.counted_at.substr(0, 16))) +
         missing_sentence(problem.finalists);
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
  html += described("best", best.configuration);
  if (best.default_configuration != best.configuration) {
    html += described("default", best.default_configuration);
  }
  html += described("vendor", best.baseline.text());
  html += described("tie", joined(ties_of(problem), "; "));
  html += described("policy", best.key.policy);
  html += described("how", how_text(problem.entry)) + "</dl>\n";
  html += "<div class=\"plots\"></div>\n";
  return html + fastest_table(problem) + counters_table(problem) + failures_table(problem) +
         spent_table(problem) + "</article>\n";
}

}  // namespace autotune::report
