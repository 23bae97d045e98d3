// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/judgement_report.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "tuner/cli/arguments.hpp"
#include "tuner/cli/tuning_report.hpp"
#include "tuner/core/fill.hpp"
#include "tuner/hash/hash.hpp"
#include "tuner/measure/inputs.hpp"
#include "tuner/measure/verification.hpp"
#include "tuner/records/records.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"

namespace autotune::cli {
namespace {

constexpr std::int64_t kMostHashed = std::int64_t{256} << 20U;  // bytes of an input

std::string speedup_text(const Ratio& ratio) {
  return format("{:.2f}x [{:.2f}, {:.2f}]", ratio.median, ratio.low, ratio.high);
}

/// `1.14x [1.11, 1.17] faster than saxpy at N=4096`.
std::string pace_text(const Target& candidate, const JudgedProblem& judged) {
  const std::string rival =
      format("{} at {}", judged.rival, problem_text(candidate, judged.problem));
  const std::string speedup = speedup_text(judged.speedup);
  switch (judged.pace) {
    case Pace::faster:
      return format("{} faster than {}", speedup, rival);
    case Pace::slower:
      return format("slower, {} of the speed of {}", speedup, rival);
    case Pace::alike:
      break;
  }
  return format("within noise of {}, {}", rival, speedup);
}

double mean_speedup(const KernelJudgement& judgement) {
  double logs = 0;
  for (const JudgedProblem& each : judgement.problems) logs += std::log(each.speedup.median);
  return std::exp(logs / static_cast<double>(judgement.problems.size()));
}

std::string outcome_text(const KernelJudgement& judgement) {
  const bool is_plain = judgement.outcome == Outcome::wrong || judgement.outcome == Outcome::ok;
  return is_plain ? "" : format(" ({})", name_of(judgement.outcome));
}

Json ratio_json(const Ratio& ratio) {
  return {
      {"median", ratio.median}, {"low", ratio.low}, {"high", ratio.high}, {"pairs", ratio.samples}};
}

Json measurement_json(const Measurement& measurement) {
  return {{"median_ns", measurement.median / kNanosecond},
          {"low_ns", measurement.low / kNanosecond},
          {"high_ns", measurement.high / kNanosecond},
          {"samples", measurement.samples},
          {"throttled", measurement.throttled}};
}

Json problem_json(const JudgedProblem& judged) {
  return {{"problem", json_of(judged.problem.values)},
          {"pace", name_of(judged.pace)},
          {"speedup", ratio_json(judged.speedup)},
          {"candidate", measurement_json(judged.candidate_seconds)},
          {"rival", measurement_json(judged.rival_seconds)},
          {"rival_name", judged.rival},
          {"noise_floor", judged.noise_floor},
          {"time_floor_ns", judged.time_floor / kNanosecond},
          {"worst_error", judged.worst_error},
          {"repeats", judged.repeats},
          {"checked_calls", judged.checked_calls},
          {"unseen_over_seen", judged.unseen.samples > 0 ? ratio_json(judged.unseen) : Json()}};
}

Json source_json(const Target& target) {
  Json sources = Json::array();
  sources.push_back(
      {{"file", target.source_path.string()}, {"hash", hash128(all_sources(target))}});
  return sources;
}

/// The uniform inputs of a problem, by the hash of their bits.
Json inputs_json(const Target& against, const Problem& problem, const DeviceInfo& device) {
  Json inputs = Json::array();
  const Workload workload = prepared_workload_of(against, problem, device);
  for (const BufferSpec& each : workload.buffers) {
    if (each.role != Role::input && each.role != Role::inout) continue;
    Json input{{"name", each.name},
               {"type", type_text(each)},
               {"length", each.length},
               {"fill", fill_text(each)},
               {"hash", nullptr}};
    if (each.fill != Fill::prepared && each.bytes() <= kMostHashed) {
      std::string bytes(static_cast<std::size_t>(each.bytes()), '\0');
      fill(std::as_writable_bytes(std::span(bytes)), each, InputSet::uniform, workload.seed);
      input["hash"] = hash128(bytes);
    }
    inputs.push_back(std::move(input));
  }
  return inputs;
}

Json outputs_json(const Target& against, const Problem& problem, const DeviceInfo& device) {
  Json outputs = Json::array();
  for (const BufferSpec& each : buffers_of(against, problem, device)) {
    if (!is_compared(each.role)) continue;
    outputs.push_back({{"name", each.name},
                       {"type", type_text(each)},
                       {"length", each.length},
                       {"tolerance", each.tolerance},
                       {"absolute", each.absolute},
                       {"repeatable", each.repeatable}});
  }
  return outputs;
}

}  // namespace

std::string verdict_text(const JudgedFiles& files, const Target& candidate,
                         const KernelJudgement& judgement) {
  if (judgement.ruling != Ruling::right) {
    return format("{}{}: {}: {}", name_of(judgement.ruling), outcome_text(judgement),
                  judgement.where, judgement.why);
  }
  if (judgement.problems.size() == 1) {
    const JudgedProblem& one = judgement.problems.front();
    return format("right {} {}", one.pace == Pace::faster ? "and" : "but",
                  pace_text(candidate, one));
  }
  const auto is_faster = std::ranges::count(judgement.problems, Pace::faster, &JudgedProblem::pace);
  return format("right and faster than {} at {} of {} sizes, {:.2f}x in the geometric mean",
                files.against, is_faster, judgement.problems.size(), mean_speedup(judgement));
}

std::string judgement_text(const Target& candidate, const KernelJudgement& judgement) {
  std::string text, own;
  int calls = 0;
  for (const JudgedProblem& each : judgement.problems) {
    if (judgement.problems.size() > 1) text += format("          {}\n", pace_text(candidate, each));
    const Measurement &ours = each.candidate_seconds, &rival = each.rival_seconds;
    text += format("time      {} [{}], the other {} [{}]\n", time_text(ours.median),
                   interval_text(ours), time_text(rival.median), interval_text(rival));
    calls += each.checked_calls;
  }
  for (const Problem& each : judgement.own) {
    own += format("{}{}", own.empty() ? ", and the sizes " : ", ", problem_text(candidate, each));
  }
  return text + format("checked   {} calls{}\n", calls, own);
}

Json judgement_json(const JudgedFiles& files, const Target& candidate, const JudgeRequest& request,
                    std::uint64_t input_seed, const Device& device,
                    const KernelJudgement& judgement) {
  const DeviceInfo& info = device.info();
  const Target& against = *candidate.against;
  Json json{{"candidate", files.candidate},
            {"against", files.against},
            {"verdict", name_of(judgement.ruling)},
            {"pace", judgement.ruling == Ruling::right ? Json(name_of(judgement.pace)) : Json()},
            {"text", verdict_text(files, candidate, judgement)},
            {"status", status_of(judgement)},
            {"outcome", name_of(judgement.outcome)},
            {"where", judgement.where},
            {"why", judgement.why},
            {"problems", Json::array()},
            {"notes", judgement.notes}};
  for (const JudgedProblem& each : judgement.problems) {
    json["problems"].push_back(problem_json(each));
  }
  Json receipt{
      {"tool", AUTOTUNE_VERSION},
      {"candidate", source_json(candidate)},
      {"reference", source_json(against)},
      {"candidate_binary", judgement.binary_key},
      {"rival_binary", judgement.rival_key},
      {"device", {{"name", info.name}, {"id", info.id}, {"environment", info.environment}}},
      {"confined", files.confined},
      {"policy", key_text(request.policy)},
      {"seed", input_seed},
      {"own_sizes", Json::array()},
      {"problems", Json::array()}};
  for (const Problem& each : judgement.own) receipt["own_sizes"].push_back(json_of(each.values));
  for (const Problem& each : request.problems) {
    receipt["problems"].push_back({{"problem", json_of(each.values)},
                                   {"inputs", inputs_json(against, each, info)},
                                   {"outputs", outputs_json(against, each, info)}});
  }
  json["receipt"] = std::move(receipt);
  return json;
}

int status_of(const KernelJudgement& judgement) {
  if (judgement.ruling == Ruling::wrong) return kWrong;
  if (judgement.ruling == Ruling::cheats) return kCheats;
  return judgement.pace == Pace::faster ? kDone : kNotFaster;
}

}  // namespace autotune::cli
