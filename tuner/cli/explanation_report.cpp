// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/explanation_report.hpp"

#include <algorithm>
#include <cmath>

#include "tuner/cli/explanation_plot.hpp"
#include "tuner/cli/occupancy_report.hpp"
#include "tuner/cli/search_health_report.hpp"
#include "tuner/cli/traffic_report.hpp"
#include "tuner/cli/tuning_report.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"

namespace autotune::cli {
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
  std::string text = "\nnearest losers in the search, and what differs\n";
  for (const Loser& loser : explanation.losers) {
    text += format("  {:>8}  {}  {}\n", slower_text(loser.slower), time_text(loser.trial.seconds),
                   difference_text(loser.differences));
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

}  // namespace autotune::cli
