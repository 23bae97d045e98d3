// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/counted.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>

#include "tuner/report/problem_section.hpp"
#include "tuner/report/report.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"

namespace autotune::report {
namespace {

using Values = const std::vector<double>&;

/// The figures of one call as lines. A line stays empty if its counters are missing.
class Lines {
 public:
  explicit Lines(const CounterValues& counters) : counters_(counters) {}

  template <class Text>
  void add(const char* name, std::initializer_list<const char*> counters, const Text& text,
           const std::string& expected = "") {
    lines_.push_back({name, "", expected});
    std::vector<double> values;
    for (const char* const counter : counters) {
      const auto found = counters_.find(counter);
      if (found == counters_.end()) return;
      values.push_back(found->second);
    }
    lines_.back().counted = text(values);
  }

  void add(const CountedLine& line) { lines_.push_back(line); }
  std::vector<CountedLine> take() { return std::move(lines_); }

 private:
  const CounterValues& counters_;
  std::vector<CountedLine> lines_;
};

std::string size_text(double bytes) {
  const double most = 9e18;  // below the largest std::int64_t
  return bytes_text(static_cast<std::int64_t>(std::clamp(bytes, 0.0, most)));
}

/// `131072`, `4.977 M`.
std::string amount_text(double count) {
  constexpr double kMillion = 1e6, kStep = 1e3;
  if (count < kMillion) return format("{:.6g}", count);
  constexpr std::string_view kUnits = "MGTP";
  std::size_t unit = 0;
  for (count /= kMillion; count >= kStep && unit + 1 < kUnits.size(); ++unit) count /= kStep;
  return format("{:.4g} {}", count, kUnits[unit]);
}

std::string rate(double bytes, double seconds) {
  return seconds > 0 ? ", " + bandwidth_text(bytes / seconds) : "";
}

/// Declared accesses of one kind, according to the static analysis.
std::string analysed(const std::vector<KernelTraffic>& accesses, std::string_view kind) {
  GlobalTraffic sum;
  for (const KernelTraffic& each : accesses) {
    if (!each.access.starts_with(kind)) continue;
    sum.requests += each.traffic.requests;
    sum.transactions += each.traffic.transactions;
    sum.bytes_asked += each.traffic.bytes_asked;
    sum.bytes_moved += each.traffic.bytes_moved;
  }
  if (sum.requests == 0) return "";
  return format("{} requests, {} transactions, {:.1f} % used", sum.requests, sum.transactions,
                100 * sum.efficiency());
}

void add_instructions(Lines& lines, const Expected& expected) {
  lines.add(
      "occupancy", {"achieved_occupancy"},
      [](Values v) { return format("{:.1f} % achieved", 100 * v[0]); },
      expected.occupancy ? format("{:.1f} % theoretical", 100 * *expected.occupancy) : "");
  lines.add("instructions", {"instructions", "instructions_per_cycle"}, [&](Values v) {
    const double seconds = expected.seconds;
    const std::string gips = seconds > 0 ? format(", {:.4g} GIPS", v[0] / seconds / 1e9) : "";
    return format("{} of warps{}, {:.2f} a cycle and SM", amount_text(v[0]), gips, v[1]);
  });
  lines.add("issue slots", {"issue_active"},
            [](Values v) { return format("{:.1f} % used", 100 * v[0]); });
}

void add_work(Lines& lines, const CounterValues& counters, const Expected& expected) {
  lines.add(
      "FLOPs", {"flops_f32", "flops_f64", "flops_f16"},
      [](Values v) {
        return format("{} f32, {} f64, {} f16", amount_text(v[0]), amount_text(v[1]),
                      amount_text(v[2]));
      },
      expected.flops > 0 ? amount_text(expected.flops) + " needed" : "");
  lines.add("tensor cores", {"tensor_operations"},
            [](Values v) { return amount_text(v[0]) + " operations"; });
  const double flops = counted_flops(counters);
  const std::string modelled =
      expected.flops > 0 && expected.l2_bytes > 0
          ? format("{:.4g} a byte of L2 by the model", expected.flops / expected.l2_bytes)
          : "";
  lines.add(
      "intensity", {"l2_bytes", "dram_read_bytes", "dram_write_bytes"},
      [&](Values v) {
        const double dram = v[1] + v[2];
        if (!(flops > 0 && v[0] > 0)) return std::string();
        return format("{:.4g} FLOPs a byte of L2", flops / v[0]) +
               (dram > 0 ? format(", {:.4g} of DRAM", flops / dram) : "");
      },
      modelled);
}

void add_memory(Lines& lines, const Expected& expected) {
  for (const auto& [title, kind, requests, sectors, efficiency] :
       {std::tuple{"global loads", "load", "load_requests", "load_sectors", "load_efficiency"},
        std::tuple{"global stores", "store", "store_requests", "store_sectors",
                   "store_efficiency"}}) {
    lines.add(
        title, {requests, sectors, efficiency},
        [](Values v) {
          if (v[0] == 0) return std::string("none");
          return format("{} requests, {} sectors of 32 bytes, {:.1f} % of them used",
                        amount_text(v[0]), amount_text(v[1]), 100 * v[2]);
        },
        analysed(expected.accesses, kind));
  }
  lines.add("shared memory", {"shared_wavefronts", "shared_conflicts"}, [](Values v) {
    return format("{} wavefronts, {} of them by bank conflicts", amount_text(v[0]),
                  amount_text(v[1]));
  });
  lines.add(
      "L2", {"l2_bytes", "l2_hit_rate"},
      [&](Values v) {
        return format("{}{}, {:.1f} % hits", size_text(v[0]), rate(v[0], expected.seconds),
                      100 * std::min(v[1], 1.0));  // its parts are counted in different passes
      },
      expected.l2_bytes > 0 ? size_text(expected.l2_bytes) + " by the model" : "");
  lines.add(
      "DRAM", {"dram_read_bytes", "dram_write_bytes"},
      [&](Values v) {
        return format("{} read, {} written{}", size_text(v[0]), size_text(v[1]),
                      rate(v[0] + v[1], expected.seconds));
      },
      expected.bytes > 0 ? format("{} if each element moves once", size_text(expected.bytes)) : "");
}

/// The most frequent stall reasons. `selected` is not a stall.
CountedLine stall_line(const CounterValues& counters) {
  constexpr std::size_t kShown = 4;
  constexpr std::string_view kPrefix = "stall_";
  std::vector<std::pair<double, std::string>> stalls;
  for (const auto& [name, value] : counters) {
    const bool is_stall = name.starts_with(kPrefix) && name != "stall_selected" && value > 0;
    if (is_stall) stalls.emplace_back(value, name.substr(kPrefix.size()));
  }
  std::ranges::sort(stalls, std::greater{});
  stalls.resize(std::min(stalls.size(), kShown));
  std::vector<std::string> parts;
  for (const auto& [value, name] : stalls) parts.push_back(format("{} {:.2f}", name, value));
  if (parts.empty()) return {"stalls", "", ""};
  return {"stalls", joined(parts, ", ") + " (warps that wait, per issue)", ""};
}

}  // namespace

CounterValues counter_values(const std::string& figures) {
  CounterValues counters;
  std::istringstream words(figures);
  for (std::string word; words >> word;) {
    const auto equals = word.find('=');
    if (equals == 0 || equals == std::string::npos) continue;
    double number = 0;
    const char* const end = word.data() + word.size();
    const auto [rest, error] = std::from_chars(word.data() + equals + 1, end, number);
    const bool is_number = rest == end && error == std::errc() && std::isfinite(number);
    if (is_number) counters[word.substr(0, equals)] = number;
  }
  return counters;
}

double counted_flops(const CounterValues& counters) {
  double sum = 0;
  for (const char* const name : {"flops_f32", "flops_f64", "flops_f16", "tensor_operations"}) {
    const auto found = counters.find(name);
    if (found != counters.end()) sum += found->second;
  }
  return sum;
}

std::vector<CountedLine> counted_lines(const CounterValues& counters, const Expected& expected) {
  Lines lines(counters);
  add_instructions(lines, expected);
  add_work(lines, counters, expected);
  add_memory(lines, expected);
  lines.add(stall_line(counters));
  return lines.take();
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

}  // namespace autotune::report
