// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/verdict.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <sstream>
#include <utility>

#include "tuner/core/outcome.hpp"
#include "tuner/records/records.hpp"
#include "tuner/report/problem_section.hpp"
#include "tuner/search/cover.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"

namespace autotune::report {
namespace {

/// The speedup over another choice. Unknown ends of an interval are replaced by the median.
std::optional<Speedup> speedup(const db::BestRow& best, std::optional<double> ns,
                               std::optional<double> low_ns, std::optional<double> high_ns) {
  if (!ns || !best.median_ns || *best.median_ns <= 0) return std::nullopt;
  const double low = low_ns.value_or(*ns) / best.high_ns.value_or(*best.median_ns);
  const double high = high_ns.value_or(*ns) / best.low_ns.value_or(*best.median_ns);
  return Speedup{*ns / *best.median_ns, low, high};
}

/// Compares with a baseline. Calls it faster or slower only if the intervals do not overlap.
std::string comparison(const Speedup& speedup, const std::string& baseline) {
  if (speedup.low <= 1 && speedup.high >= 1) {
    return format("not different from {}: {}", baseline, speedup_text(speedup));
  }
  if (speedup.ratio > 1) return format("{} faster than {}", speedup_text(speedup), baseline);
  const Speedup inverse{1 / speedup.ratio, 1 / speedup.high, 1 / speedup.low};
  return format("{} slower than {}", speedup_text(inverse), baseline);
}

}  // namespace

std::string speedup_text(const Speedup& speedup) {
  // Two digits of what is far slower, too.
  const auto figure = [&](double ratio) {
    return speedup.high < 0.1 ? format("{:.2g}", ratio) : format("{:.2f}", ratio);
  };
  if (speedup.low == speedup.high) return figure(speedup.ratio) + "x";
  return format("{}x [{}, {}]", figure(speedup.ratio), figure(speedup.low), figure(speedup.high));
}

std::optional<double> best_seconds(const ReportedProblem& problem) {
  const auto& ns = problem.entry.best.median_ns;
  return ns ? std::optional(*ns * kNanosecond) : std::nullopt;
}

std::optional<Speedup> against_default(const ReportedProblem& problem) {
  const db::BestRow& best = problem.entry.best;
  if (!best.default_ns || !best.median_ns || *best.median_ns <= 0) return std::nullopt;
  const double ratio = *best.default_ns / *best.median_ns;
  return Speedup{ratio, ratio, ratio};
}

namespace {

std::optional<Speedup> against_baseline(const ReportedProblem& problem) {
  const db::BaselineFigures& baseline = problem.entry.best.baseline;
  return speedup(problem.entry.best, baseline.ns, baseline.low_ns, baseline.high_ns);
}

std::optional<Speedup> against_cpu(const ReportedProblem& problem) {
  const auto seconds = best_seconds(problem);
  if (!problem.cpu_seconds || !seconds) return std::nullopt;
  const double ratio = *problem.cpu_seconds / *seconds;
  return Speedup{ratio, ratio, ratio};
}

}  // namespace

std::optional<Rate> rate_of(const ReportedProblem& problem) {
  const auto seconds = best_seconds(problem);
  const bool is_flops = problem.work.flops > 0;
  const double work = is_flops ? problem.work.flops : problem.work.bytes;
  if (!seconds || *seconds <= 0 || work <= 0) return std::nullopt;
  Rate rate{work / *seconds, is_flops, std::nullopt};
  if (!problem.roofs) return rate;
  const double roof =
      is_flops ? problem.roofs->highest_flops_per_second() : problem.roofs->memory_bytes_per_second;
  if (roof > 0) rate.share = rate.value / roof;
  return rate;
}

std::vector<std::string> ties_of(const ReportedProblem& problem) {
  std::istringstream lines(problem.entry.best.ties);
  std::vector<std::string> ties;
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty()) ties.push_back(line);
  }
  return ties;
}

std::string sentence_of(const ReportedProblem& problem) {
  const db::BestRow& best = problem.entry.best;
  if (best.configuration.empty()) {
    const bool is_open =
        std::ranges::find(problem.trials, "ok", &db::TrialRow::outcome) != problem.trials.end();
    return is_open ? "Not decided yet."
                   : format("No correct configuration among {} trials.", problem.trials.size());
  }
  if (!best.median_ns) return "Never timed.";
  if (best.provenance == "predicted") return "Predicted by the cost model, not measured.";
  std::vector<std::string> parts;
  if (const auto over_baseline = against_baseline(problem)) {
    parts.push_back(comparison(*over_baseline, best.baseline.plugin));
  }
  if (const auto over_default = against_default(problem)) {
    parts.push_back(best.configuration == best.default_configuration
                        ? "the default configuration itself"
                        : speedup_text(*over_default) + " the default");
  }
  if (const auto over_cpu = against_cpu(problem)) {
    parts.push_back(speedup_text(*over_cpu) + " the CPU");
  }
  if (const auto ties = ties_of(problem).size(); ties > 0) {
    parts.push_back("not different from " + count_text(ties, "other configuration"));
  }
  if (best.repeats == false) parts.emplace_back(bits_text(false));
  if (parts.empty()) return "Compared with nothing.";
  std::string sentence = joined(parts, "; ") + '.';
  sentence[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(sentence[0])));
  return sentence;
}

namespace {

Cell time_cell(const std::optional<double>& seconds) {
  if (!seconds) return {};
  return {time_text(*seconds), format("{}", *seconds)};
}

Cell interval_cell(const db::BestRow& best) {
  if (!best.low_ns || !best.high_ns || !best.median_ns) return {};
  return {interval_text(measurement_of(best)),
          format("{}", (*best.high_ns - *best.low_ns) / *best.median_ns)};
}

Cell rate_cell(const std::optional<Rate>& rate) {
  if (!rate) return {};
  return {rate->is_flops ? rate_text(rate->value) : bandwidth_text(rate->value),
          format("{}", rate->value)};
}

Cell share_cell(const std::optional<Rate>& rate) {
  if (!rate || !rate->share) return {};
  return {format("{:.1f} % of {}", 100 * *rate->share, rate->is_flops ? "FMA" : "memory"),
          format("{}", *rate->share)};
}

Cell speedup_cell(const std::optional<Speedup>& speedup) {
  if (!speedup) return {};
  return {speedup_text(*speedup), format("{}", speedup->ratio)};
}

Cell noise_cell(const db::BestRow& best) {
  if (!best.noise_floor || best.provenance == "predicted") return {};
  return {format("{:.2f} %", *best.noise_floor * 100), format("{}", *best.noise_floor)};
}

Cell trust_cell(const db::BestRow& best) {
  if (best.configuration.empty()) return {"no result", "", true};
  const std::string doubt = doubt_of(best);
  return doubt.empty() ? Cell{"yes"} : Cell{doubt, "", true};
}

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream text(line);
  return {std::istream_iterator<std::string>(text), {}};
}

/// The values that not all results share, as many as fit a table; all where they share every one.
class ShortConfigurations {
 public:
  explicit ShortConfigurations(const Report& report) {
    for (const ReportedProblem& problem : report.problems) {
      if (problem.best_text.empty()) continue;
      ++results_;
      for (std::string& word : words_of(problem.best_text)) ++uses_[std::move(word)];
    }
  }

  std::string of(const std::string& configuration) const {
    constexpr std::size_t kWidest = 80;
    std::vector<std::string> words = words_of(configuration);
    const auto is_shared = [&](const std::string& word) { return uses_.at(word) == results_; };
    if (!std::ranges::all_of(words, is_shared)) std::erase_if(words, is_shared);
    const std::string text = joined(words, " ");
    return text.size() <= kWidest ? text : text.substr(0, text.rfind(' ', kWidest)) + " …";
  }

 private:
  int results_ = 0;
  std::map<std::string, int> uses_;  // of NAME=VALUE
};

Cell contexts_cell(const ReportedProblem& problem) {
  std::vector<std::string> parts;
  for (const ContextTime& one : problem.contexts) {
    parts.push_back(format("{} {}", one.context, time_text(one.seconds)));
  }
  return {joined(parts, ", ")};
}

/// The distinct texts of a column; empty if all problems have the same.
template <class Get>
std::set<std::string> different(const Report& report, Get&& get) {
  std::set<std::string> all;
  for (const ReportedProblem& problem : report.problems) all.insert(get(problem));
  return all.size() > 1 ? all : std::set<std::string>{};
}

const std::string& target_of(const ReportedProblem& one) { return one.entry.kernel.target; }
const std::string& device_of(const ReportedProblem& one) { return one.entry.device.name; }
const std::string& policy_of(const ReportedProblem& one) { return one.entry.best.key.policy; }

/// The words of a policy, with its context even if it is the default.
std::vector<std::string> policy_words(const std::string& policy) {
  const db::StoredPolicy stored = db::stored_policy(policy);
  std::vector<std::string> words = words_of(std::string(stored.without_context));
  if (stored.is_measured) words.push_back(format("context={}", stored.context));
  return words;
}

/// The words of a policy that are not common to all problems.
std::string differences(const std::string& policy, const std::set<std::string>& policies) {
  std::vector<std::string> parts;
  for (const std::string& word : policy_words(policy)) {
    const bool is_common = std::ranges::all_of(policies, [&](const std::string& one) {
      const std::vector<std::string> words = policy_words(one);
      return std::ranges::find(words, word) != words.end();
    });
    if (!is_common) parts.push_back(word);
  }
  return joined(parts, " ");
}

/// `cublas`, or several.
std::string baseline_name(const Report& report) {
  std::set<std::string> names;
  for (const ReportedProblem& problem : report.problems) {
    if (problem.entry.best.baseline.ns) names.insert(problem.entry.best.baseline.plugin);
  }
  return names.size() == 1 ? *names.begin() : "the vendor's library";
}

}  // namespace

std::string doubt_of(const db::BestRow& best) {
  constexpr double kWide = 0.1;
  if (best.provenance == "predicted") return "predicted, not measured";
  std::vector<std::string> doubts;
  if (!best.verified) doubts.emplace_back("not verified");
  if (best.noise_floor.value_or(0) > kNoisy) {
    doubts.push_back(format("noise {:.0f} %", 100 * *best.noise_floor));
  }
  if (best.samples > 0 && best.samples < kFewestForInterval) {
    doubts.push_back(count_text(static_cast<std::size_t>(best.samples), "sample"));
  }
  if (best.low_ns && best.high_ns && best.median_ns) {
    const double width = (*best.high_ns - *best.low_ns) / *best.median_ns;
    if (width > kWide) doubts.push_back(format("interval of {:.0f} %", 100 * width));
  }
  return joined(doubts, ", ");
}

namespace {

/// Speedups over one choice, where they are known.
struct Speedups {
  int count = 0, slower = 0;
  double logs = 0;

  void add(const std::optional<Speedup>& one) {
    if (!one || one->ratio <= 0) return;
    ++count;
    if (one->high < 1) ++slower;
    logs += std::log(one->ratio);
  }
  /// `1.62 times as fast as cublas (geometric mean of 8 problems, slower at 1)`.
  std::string text(const std::string& name) const {
    const std::string mean = format("{:.2f} times as fast as {}", std::exp(logs / count), name);
    if (count == 1) return mean;
    return mean + format(" (geometric mean of {} problems{})", count,
                         slower > 0 ? format(", slower at {}", slower) : "");
  }
};

std::string speed_text(const Report& report) {
  Speedups standard, baseline;
  std::vector<double> shares;
  bool is_flops = true;
  for (const ReportedProblem& problem : report.problems) {
    if (problem.entry.best.configuration.empty()) continue;
    standard.add(against_default(problem));
    baseline.add(against_baseline(problem));
    const auto rate = rate_of(problem);
    if (rate && rate->share) shares.push_back(*rate->share);
    if (rate) is_flops = rate->is_flops;
  }
  std::vector<std::string> parts;
  if (baseline.count > 0) parts.push_back(baseline.text(baseline_name(report)));
  if (standard.count > 0) parts.push_back(standard.text("the default"));
  if (!shares.empty()) {
    std::ranges::sort(shares);
    parts.push_back(format("{:.0f} % of the {} peak{}", 100 * shares[shares.size() / 2],
                           is_flops ? "multiply-add" : "memory's",
                           shares.size() > 1 ? " (median)" : ""));
  }
  return parts.empty() ? "Compared with nothing." : joined(parts, "; ") + '.';
}

std::string trust_text(const Report& report) {
  const auto all = report.problems.size();
  const auto doubted = std::ranges::count_if(report.problems, [](const ReportedProblem& one) {
    const db::BestRow& best = one.entry.best;
    return best.configuration.empty() || !doubt_of(best).empty();
  });
  if (doubted == 0) {
    return format("Yes: {} verified, with noise below {:.0f} %.",
                  all == 1 ? "the result is" : format("all {} results are", all), 100 * kNoisy);
  }
  return format(
      "{}: the column “can be trusted” says why. End other programs, then tune with --retune.",
      std::cmp_equal(doubted, all) ? "Not yet" : format("Yes, except {} of {}", doubted, all));
}

std::string next_text(const Report& report) {
  const std::string& target = target_of(report.problems.front());
  const auto command = [](const std::string& text) {
    return format("<code>{}</code>", html_text(text));
  };
  return command(format("autotune query --target {}", target)) + " shows what programs get; " +
         command(format("autotune db export --format cpp --target {}", target)) +
         " writes it as a header. docs/library.md has libraries and sources.";
}

}  // namespace

std::string summary(const Report& report) {
  if (report.problems.empty()) return "";
  return format(
      "<dl class=\"summary\">\n<dt>Is it fast?</dt><dd>{}</dd>\n"
      "<dt>Can I trust it?</dt><dd>{}</dd>\n<dt>What next?</dt><dd>{}</dd>\n</dl>\n",
      html_text(speed_text(report)), html_text(trust_text(report)), next_text(report));
}

std::string verdict_table(const Report& report) {
  const ShortConfigurations configurations(report);
  const bool targets = !different(report, target_of).empty();
  const bool devices = !different(report, device_of).empty();
  const std::set<std::string> policies = different(report, policy_of);
  std::vector<std::vector<Cell>> rows;
  for (const ReportedProblem& problem : report.problems) {
    const db::BestRow& best = problem.entry.best;
    const std::optional<Rate> rate = rate_of(problem);
    const auto ties = ties_of(problem).size();
    rows.push_back({{targets ? target_of(problem) : ""},
                    {devices ? device_of(problem) : ""},
                    {policies.empty() ? "" : differences(policy_of(problem), policies)},
                    {problem.name},
                    time_cell(best_seconds(problem)),
                    speedup_cell(against_default(problem)),
                    speedup_cell(against_baseline(problem)),
                    share_cell(rate),
                    trust_cell(best),
                    {configurations.of(problem.best_text)},
                    interval_cell(best),
                    rate_cell(rate),
                    speedup_cell(against_cpu(problem)),
                    {ties > 0 ? format("{}", ties) : "", format("{}", ties)},
                    noise_cell(best),
                    contexts_cell(problem)});
  }
  return html_table(
      {"target", "device", "policy", "problem", "best", "over the default",
       "over " + baseline_name(report), "share of roof", "can be trusted", "configuration",
       "95 % interval", "rate", "over the CPU", "ties", "noise", "other contexts"},
      rows, true);
}

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

/// Nanoseconds of each configuration, by the latest trial; of a pruned one, a lower bound. The
/// best has the published time.
std::map<std::string, double> times_of(const ReportedProblem& problem) {
  std::map<std::string, double> times;
  for (const db::TrialRow& trial : problem.trials) {
    if (trial.outcome == "ok" && trial.median_ns) {
      times[trial.configuration] = *trial.median_ns;
    } else {
      times.erase(trial.configuration);
    }
  }
  const db::BestRow& best = problem.entry.best;
  if (best.median_ns) times[best.configuration] = *best.median_ns;
  return times;
}

Portability matrix_of(const Report& report, std::vector<std::size_t> problems) {
  Portability result;
  result.problems = std::move(problems);
  result.target = report.problems[result.problems.front()].entry.kernel.target;
  for (const std::size_t problem : result.problems) {
    const std::string& winner = report.problems[problem].entry.best.configuration;
    const bool is_new =
        std::ranges::find(result.configurations, winner) == result.configurations.end();
    if (is_new) result.configurations.push_back(winner);
  }
  result.share.resize(result.configurations.size());
  for (const std::size_t problem : result.problems) {
    const auto times = times_of(report.problems[problem]);
    const double best = times.at(report.problems[problem].entry.best.configuration);
    for (std::size_t c = 0; c < result.configurations.size(); ++c) {
      const auto found = times.find(result.configurations[c]);
      // Times of the search and of the playoff are of different moments.
      const double share = found == times.end() ? 0 : std::min(1.0, best / found->second);
      result.share[c].push_back(share);
    }
  }
  return result;
}

void find_cover(Portability& result) {
  std::vector<std::vector<double>> ratios;
  for (const std::vector<double>& row : result.share) {
    auto& ratio = ratios.emplace_back();
    for (const double share : row) ratio.push_back(share > 0 ? 1 / share : kNever);
  }
  const Cover cover = smallest_cover(ratios, 1 + kCoverMargin);
  result.cover = cover.chosen;
  result.covered = result.problems.size() - cover.uncovered.size();
}

}  // namespace

std::vector<Portability> portability_of(const Report& report) {
  std::map<std::string, std::vector<std::size_t>> by_target;
  for (std::size_t i = 0; i < report.problems.size(); ++i) {
    const ReportedProblem& problem = report.problems[i];
    if (problem.trials.empty() || !problem.entry.best.median_ns) continue;
    by_target[problem.entry.kernel.target].push_back(i);
  }
  std::vector<Portability> all;
  for (auto& [target, problems] : by_target) {
    if (problems.size() < 2) continue;
    all.push_back(matrix_of(report, std::move(problems)));
    find_cover(all.back());
  }
  return all;
}

}  // namespace autotune::report
