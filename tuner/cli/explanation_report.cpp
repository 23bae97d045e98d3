// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/explanation_report.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "tuner/cli/tuning_report.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"
#include "tuner/text/strings.hpp"

namespace autotune::cli {

std::string traffic_text(const std::vector<KernelTraffic>& traffic, std::string_view indent) {
  std::string text;
  for (const KernelTraffic& each : traffic) {
    text += format("{}{}: {} transactions, {:.4g} % efficient\n", indent, each.access,
                   each.traffic.transactions, 100 * each.traffic.efficiency());
  }
  return text;
}

Json traffic_json(const std::vector<KernelTraffic>& traffic) {
  Json json = Json::array();
  for (const KernelTraffic& each : traffic) {
    json.push_back({{"kernel", each.entry},
                    {"access", each.access},
                    {"requests", each.traffic.requests},
                    {"transactions", each.traffic.transactions},
                    {"bytes_asked", each.traffic.bytes_asked},
                    {"bytes_moved", each.traffic.bytes_moved},
                    {"efficiency", each.traffic.efficiency()}});
  }
  return json;
}

namespace {

/// A wrong result is an error in the kernel, not a limit of it.
const char* failure_advice(const SearchHealth& health) {
  return health.main_failure && health.main_failure->outcome == name_of(Outcome::wrong)
             ? "correct the kernel, or rule these configurations out by a constraint"
             : "a constraint in the manifest that rules them out saves these evaluations";
}

/// `compile_error: ptxas error: …`.
std::string main_failure_text(const Reason& reason) {
  const std::string why = first_error(reason.example);
  return why.empty() ? reason.outcome : format("{}: {}", reason.outcome, why);
}

/// `40 of 128 (31 %), 38 of them compile_error: …`.
std::string failures_text(const SearchHealth& health) {
  std::string text =
      format("{} of {} ({:.0f} %)", health.failed, health.tried, 100 * health.failed_share());
  if (!health.main_failure) return text;
  return text + format(", {} of them {}", health.main_failure->count(),
                       main_failure_text(*health.main_failure));
}

std::string ranking_text(const SearchHealth& health) {
  if (!health.rank_correlation) return "";
  std::string text = format(
      "ranking     {:.2f}, the rank correlation of predicted and measured times of {} "
      "configurations\n",
      *health.rank_correlation, health.ranked);
  if (!health.is_misled()) return text;
  return text + format(
                    "  below {}: the model misleads the search; state more under `model` "
                    "(docs/model.md), or compare with --strategy random\n",
                    SearchHealth::kMisleading);
}

std::size_t next_budget(const SearchHealth& health) {
  return std::min(2 * static_cast<std::size_t>(health.tried), health.space);
}

std::string progress_text(const SearchHealth& health) {
  if (!health.last_gain) return "";
  std::string text = format("progress    the last quarter of {} evaluations gained {:.1f} %\n",
                            health.tried, 100 * *health.last_gain);
  if (!health.still_improves()) return text;
  return text + format("  still improving at the end: try --budget {}\n", next_budget(health));
}

}  // namespace

std::string health_text(const SearchHealth& health) {
  if (health.tried == 0) return "";
  std::string text = ranking_text(health) + format("failures    {}\n", failures_text(health));
  if (health.fails_often()) text += format("  {}\n", failure_advice(health));
  return text + progress_text(health);
}

std::string lost_text(const SearchHealth& health) {
  std::string text;
  if (health.fails_often()) {
    text += format("  failures: {}; {}\n", failures_text(health), failure_advice(health));
  }
  if (health.still_improves()) {
    text += format(
        "  still improving at the end, by {:.1f} % in the last quarter of {} "
        "evaluations: try --budget {}\n",
        100 * *health.last_gain, health.tried, next_budget(health));
  }
  return text;
}

Json json_of(const SearchHealth& health) {
  Json main = nullptr;
  if (health.main_failure) {
    main = {{"outcome", health.main_failure->outcome},
            {"reason", first_error(health.main_failure->example)},
            {"count", health.main_failure->count()}};
  }
  return {{"tried", health.tried},
          {"ranked", health.ranked},
          {"rank_correlation", health.rank_correlation ? Json(*health.rank_correlation) : Json()},
          {"misled", health.is_misled()},
          {"failed", health.failed},
          {"main_failure", main},
          {"last_quarter_gain", health.last_gain ? Json(*health.last_gain) : Json()},
          {"still_improves", health.still_improves()}};
}

namespace {

constexpr std::size_t kReasons = 6;

std::string terms_text(const CostEstimate& estimate) {
  std::string text;
  for (int i = 0; i < kTerms; ++i) {
    const auto term = static_cast<Term>(i);
    if (estimate.term(term) <= 0) continue;
    if (!text.empty()) text += ", ";
    text += format("{} {}", name_of(term), time_text(estimate.term(term)));
  }
  return text;
}

std::string difference_text(const std::vector<Difference>& differences) {
  std::string text;
  std::string gone;
  for (const Difference& each : differences) {
    if (each.other.empty()) {
      gone += format("{}{}", gone.empty() ? "" : ", ", each.name);
      continue;
    }
    text += format("{}{}={}", text.empty() ? "" : " ", each.name, each.other);
    if (!each.best.empty()) text += format(" (not {})", each.best);
  }
  return gone.empty() ? text : format("{}, no {}", text, gone);
}

std::string time_lines(const Explanation& explanation) {
  std::string text;
  if (explanation.seconds) {
    const double rate = explanation.flops / *explanation.seconds;
    text += format("measured    {}", time_text(*explanation.seconds));
    if (explanation.flops > 0) text += ", " + rate_text(rate);
    if (explanation.flops > 0 && is_gpu(explanation)) {
      const double tensor = explanation.estimate.tensor_roof;
      text += format(", {:.1f} % of the {} peak",
                     100 * rate / (tensor > 0 ? tensor : explanation.gpu.flops_per_second()),
                     tensor > 0 ? "tensor cores'" : "FMA");
    }
    text += '\n';
  }
  if (!explanation.commands.empty()) return text;
  const CostEstimate& estimate = explanation.estimate;
  text += format("predicted   {}", time_text(estimate.seconds));
  if (explanation.seconds)
    text += format(", {:.2f}x the measured time", estimate.seconds / *explanation.seconds);
  text += format(", bound by {}\n", name_of(estimate.binding));
  return text + format("  bounds: {}\n", terms_text(estimate));
}

std::string gpu_lines(const Explanation& explanation) {
  const CostEstimate& estimate = explanation.estimate;
  const KernelShape& shape = explanation.input.shape;
  const Occupancy& occupancy = estimate.occupancy;
  std::string text = format(
      "occupancy   {:.4g} %: {} blocks of {} threads, {} registers a thread, {} bytes of "
      "shared memory; limited by {}\n",
      100 * occupancy.fraction, occupancy.active_blocks, shape.threads, shape.registers,
      shape.shared_bytes(), limiter_text(occupancy));
  text += format("grid        {} blocks on {} multiprocessors: {:.2f} waves, {:.0f} % balanced\n",
                 explanation.input.blocks, explanation.gpu.multiprocessors, estimate.waves,
                 100 * estimate.balance);
  if (explanation.flops <= 0) return text;
  text += format("intensity   {:.1f} FLOPs a byte of memory, {:.1f} a 4-byte access through L2; ",
                 estimate.intensity, estimate.l2_intensity);
  text += estimate.tensor_roof > 0
              ? format("{:.4g} products on tensor cores for each multiply-add\n",
                       explanation.input.work.tensor_products)
              : format("{:.0f} % of instructions are FMAs\n", 100 * estimate.issue_share);
  text += format("roofs       FMA {}", rate_text(explanation.gpu.flops_per_second()));
  if (explanation.tensor_roof > 0) {
    text += format(", tensor cores {}", rate_text(explanation.tensor_roof));
  }
  if (estimate.l2_intensity > 0) {
    text += format(", L2 {}", rate_text(estimate.l2_intensity / 4 * l2_roof(explanation)));
  }
  if (estimate.intensity > 0) text += format(", memory {}", rate_text(memory_roof(explanation)));
  return text + '\n';
}

/// `+4.3 %`; `11.5x` from eleven times the best on.
std::string slower_text(double slower) {
  return slower < 10 ? format("{:+.1f} %", 100 * slower) : format("{:.4g}x", 1 + slower);
}

std::string loser_lines(const Explanation& explanation) {
  if (explanation.losers.empty()) return "";
  const double floor = explanation.noise_floor;
  const bool is_hidden = floor > explanation.losers.front().slower;
  std::string text =
      format("\nnearest losers in the search, and what differs{}\n",
             is_hidden ? format("; differences below {:.2g} % mean nothing", 100 * floor) : "");
  for (const Loser& loser : explanation.losers) {
    text += format("  {:>8}  {}  {}\n", slower_text(loser.slower), time_text(loser.trial.seconds),
                   difference_text(loser.differences));
    if (!explanation.commands.empty()) continue;
    const CostEstimate& estimate = loser.estimate;
    text += format("            predicted {}, bound by {}", time_text(estimate.seconds),
                   name_of(estimate.binding));
    if (is_gpu(explanation)) {
      text += format(", occupancy {:.4g} %, {:.0f} % balanced", 100 * estimate.occupancy.fraction,
                     100 * estimate.balance);
    }
    text += '\n';
  }
  return text;
}

std::string reason_lines(const Explanation& explanation) {
  if (explanation.tried == 0) return "";  // only finalists are timed in this context
  std::string text =
      format("\ntried       {}, {} of them timed\n", explanation.tried, explanation.timed.size());
  for (std::size_t i = 0; i < std::min(kReasons, explanation.reasons.size()); ++i) {
    const Reason& reason = explanation.reasons[i];
    const std::string first = reason.example.substr(0, reason.example.find('\n'));
    text += format("  {:>5} {}{}{}\n", reason.count(), reason.outcome, first.empty() ? "" : ": ",
                   meaning_of(first));
  }
  if (explanation.reasons.size() > kReasons) {
    text += format("  and {} other reasons\n", explanation.reasons.size() - kReasons);
  }
  return text;
}

Json estimate_json(const CostEstimate& estimate) {
  Json terms = Json::object();
  for (int i = 0; i < kTerms; ++i) {
    terms[std::string(name_of(static_cast<Term>(i)))] = estimate.terms[static_cast<std::size_t>(i)];
  }
  return {{"seconds", std::isfinite(estimate.seconds) ? Json(estimate.seconds) : Json()},
          {"binding", name_of(estimate.binding)},
          {"terms", terms},
          {"waves", estimate.waves},
          {"balance", estimate.balance},
          {"issue_share", estimate.issue_share},
          {"flops_per_byte", estimate.intensity},
          {"flops_per_access", estimate.l2_intensity}};
}

}  // namespace

std::string explanation_text(const Explanation& explanation) {
  std::string text;
  if (!explanation.same_source) {
    text = "(the target has changed since it was tuned: the figures may not fit it)\n";
  }
  for (const Command& each : explanation.commands) text += format("  {}\n", shell_text(each));
  text += '\n' + time_lines(explanation);
  if (is_gpu(explanation)) text += gpu_lines(explanation);
  text += health_text(explanation.health);
  if (!explanation.accesses.empty()) {
    text +=
        "accesses    to global memory, as declared\n" + traffic_text(explanation.accesses, "  ");
  }
  return text + loser_lines(explanation) + reason_lines(explanation);
}

Json explanation_json(const Explanation& explanation) {
  Json json{{"config", json_of(explanation.best)},
            {"same_source", explanation.same_source},
            {"gpu", explanation.gpu.name},
            {"flops", explanation.flops},
            {"measured_seconds", explanation.seconds ? Json(*explanation.seconds) : Json()},
            {"predicted", estimate_json(explanation.estimate)}};
  if (is_gpu(explanation)) {
    const OccupancyQuestion question{"", "", explanation.gpu, explanation.input.shape};
    json["occupancy"] = occupancy_json(question, explanation.estimate.occupancy);
    const double tensor = explanation.tensor_roof;
    json["roofs"] = {{"fma", explanation.gpu.flops_per_second()},
                     {"tensor_cores", tensor > 0 ? Json(tensor) : Json()}};
  }
  json["ranked"] = explanation.health.ranked;
  const auto& rank_correlation = explanation.health.rank_correlation;
  json["rank_correlation"] = rank_correlation ? Json(*rank_correlation) : Json();
  json["search"] = json_of(explanation.health);
  json["accesses"] = traffic_json(explanation.accesses);
  json["losers"] = Json::array();
  for (const Loser& loser : explanation.losers) {
    json["losers"].push_back({{"config", json_of(loser.trial.configuration)},
                              {"seconds", loser.trial.seconds},
                              {"slower", loser.slower},
                              {"predicted", estimate_json(loser.estimate)}});
  }
  json["tried"] = explanation.tried;
  json["timed"] = explanation.timed.size();
  json["not_timed"] = Json::array();
  for (const Reason& reason : explanation.reasons) {
    json["not_timed"].push_back(
        {{"outcome", reason.outcome}, {"example", reason.example}, {"count", reason.count()}});
  }
  return json;
}

namespace {

constexpr double kTera = 1e-12;
constexpr double kMicro = 1e6;  // microseconds in one second

Plot roofline(const Explanation& explanation) {
  const GpuSpec& gpu = explanation.gpu;
  const double fma_peak = gpu.flops_per_second() * kTera;
  const double tensor_peak = explanation.tensor_roof * kTera;
  const double peak = std::max(fma_peak, tensor_peak);
  Plot plot;
  plot.x = {.label = "FLOPs a byte through L2", .logarithmic = true};
  plot.y = {.label = "TFLOP/s", .logarithmic = true};
  Series tried{"tried", Stroke::dots, {}}, best{"best", Stroke::mark, {}};
  double low = std::numeric_limits<double>::infinity(), high = 0;
  const auto add = [&](Series& series, double intensity, double flops_per_second) {
    if (intensity <= 0) return;
    series.points.push_back({intensity, flops_per_second * kTera});
    low = std::min(low, intensity);
    high = std::max(high, intensity);
  };
  for (const ExplainedTrial& trial : explanation.timed) {
    if (trial.configuration == explanation.best) continue;
    add(tried, trial.l2_intensity, trial.flops_per_second);
  }
  if (explanation.seconds && explanation.input.work.l2_bytes > 0) {
    add(best, explanation.flops / explanation.input.work.l2_bytes,
        explanation.flops / *explanation.seconds);
  }
  // The x axis includes the ridge. It goes from half of the least value to twice the largest.
  const double ridge = peak / kTera / l2_roof(explanation);
  low = std::min(low, ridge) / 2;
  high = std::max(high, ridge) * 2;
  plot.series = {{tensor_peak > fma_peak ? "tensor and L2 roofs" : "FMA and L2 roofs",
                  Stroke::line,
                  {{low, low / ridge * peak}, {ridge, peak}, {high, peak}}}};
  if (tensor_peak > fma_peak) {
    plot.series.push_back(
        {"FMA roof", Stroke::line, {{ridge * fma_peak / peak, fma_peak}, {high, fma_peak}}});
  }
  if (memory_roof(explanation) > 0 && memory_roof(explanation) * kTera < peak) {
    const double roof = memory_roof(explanation) * kTera;
    plot.series.push_back({"memory roof", Stroke::line, {{low, roof}, {high, roof}}});
  }
  plot.series.push_back(std::move(tried));
  plot.series.push_back(std::move(best));
  return plot;
}

/// The best configuration is drawn with its time in the search; the playoff's is of another moment.
Plot ranking(const Explanation& explanation) {
  constexpr double kFewRanks = 8;
  Series tried{"tried", Stroke::dots, {}}, best{"best", Stroke::mark, {}};
  double rank = 0;
  for (const ExplainedTrial& trial : explanation.timed) {
    Series& series = trial.configuration == explanation.best ? best : tried;
    series.points.push_back({++rank, trial.seconds * kMicro});
  }
  Plot plot;
  plot.x = {.label = "timed configurations, fastest first", .low = 0, .high = rank + 1};
  if (rank <= kFewRanks) plot.x.step = 1;
  plot.y = {.label = "microseconds", .logarithmic = true};
  if (explanation.default_seconds) {
    const double seconds = *explanation.default_seconds * kMicro;
    plot.series.push_back({"default", Stroke::line, {{0, seconds}, {rank + 1, seconds}}});
  }
  plot.series.push_back(std::move(tried));
  plot.series.push_back(std::move(best));
  return plot;
}

}  // namespace

bool is_gpu(const Explanation& explanation) {
  return explanation.commands.empty() && explanation.gpu.sm.compute_capability > 0;
}

double l2_roof(const Explanation& explanation) {
  const GpuSpec& gpu = explanation.gpu;
  return explanation.calibration.l2_bytes_per_cycle * gpu.multiprocessors * gpu.clock_hz;
}

double memory_roof(const Explanation& explanation) {
  return explanation.estimate.intensity * explanation.gpu.memory_bytes_per_second;
}

Plot plot_of(const Explanation& explanation, const std::string& title) {
  const bool under_roofs = is_gpu(explanation) && explanation.flops > 0;
  Plot plot = under_roofs ? roofline(explanation) : ranking(explanation);
  plot.title = title;
  std::erase_if(plot.series, [](const Series& series) { return series.points.empty(); });
  return plot;
}

}  // namespace autotune::cli
