// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/page.hpp"

#include <algorithm>
#include <ostream>
#include <set>
#include <sstream>
#include <utility>

#include "tuner/report/html.hpp"
#include "tuner/report/problem_section.hpp"
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

}  // namespace autotune::report
