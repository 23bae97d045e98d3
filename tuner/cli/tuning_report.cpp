// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/tuning_report.hpp"

#include <algorithm>
#include <numeric>

#include "tuner/cli/devices.hpp"
#include "tuner/cli/explanation_report.hpp"
#include "tuner/cli/program.hpp"
#include "tuner/core/device.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/outcome.hpp"
#include "tuner/measure/policy.hpp"
#include "tuner/records/records.hpp"
#include "tuner/session/explanation.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"

namespace autotune::cli {

int tried(const ProblemReport& report) {
  return std::accumulate(report.outcomes.begin(), report.outcomes.end(), 0);
}

namespace {

constexpr double kNanoseconds = 1e9;

double gflops(double flops, double seconds) { return seconds > 0 ? flops / seconds / 1e9 : 0; }

std::string against_default(const ProblemReport& report) {
  if (!report.decision.default_configuration) {
    if (report.default_failure.empty()) return "the default is not among the finalists";
    return "the default failed: " + report.default_failure;
  }
  const Tuned& by_default = *report.decision.default_configuration;
  if (by_default.configuration == report.decision.best->configuration) return "the default itself";
  return format("{:.2f}x the default",
                by_default.measurement.median / report.decision.best->measurement.median);
}

void add_energy(Json& json, const Tuned& tuned) {
  if (!tuned.energy) return;
  json["joules"] = tuned.energy->joules;
  if (tuned.energy->watts == 0) return;  // a stored figure
  json["watts"] = tuned.energy->watts;
  json["energy_resolution"] = tuned.energy->resolution;
}

constexpr double kTooNoisy = 0.25;

/// The noise hides what the playoff compares: it is large, or above the lead over the default.
bool is_too_noisy(const ProblemDecision& decision) {
  const double floor = decision.noise_floor;
  const std::optional<Tuned>& standard = decision.default_configuration;
  const double lead =
      standard ? standard->measurement.median / decision.best->measurement.median - 1 : 0;
  return floor > kTooNoisy || (floor > kNoisy && floor > lead);
}

/// `, 2 others are as fast within 0.5 %`.
std::string ties_text(const ProblemDecision& decision) {
  const std::size_t others = decision.ties.size();
  if (others == 0) return "";
  const std::string text =
      others == 1 ? ", another is as fast" : format(", {} others are as fast", others);
  if (decision.tie_margin == 0) return text;
  return text + format(" within {:.2g} %", 100 * decision.tie_margin);
}

std::string noise_text(double floor) {
  if (floor <= 0) return "";
  return floor > kNoisy ? format(", noisy: differences below {:.2g} % mean nothing", 100 * floor)
                        : format(", noise floor {:.2f} %", 100 * floor);
}

/// How the best compares with the default and with the other finalists.
std::string comparison_text(const ProblemReport& report) {
  const ProblemDecision& decision = report.decision;
  const std::string text = ", " + against_default(report);
  if (!is_too_noisy(decision)) return text + ties_text(decision) + noise_text(decision.noise_floor);
  return (decision.default_configuration ? "" : text) +
         format(
             ", too noisy to compare (noise floor {:.3g} %): end other programs, and use --retune",
             100 * decision.noise_floor);
}

/// `  12.5 mJ a call, 0.930x the default's, 410 W, resolution 1.2 %`.
std::string energy_line(const ProblemDecision& decision) {
  const std::optional<Energy>& energy = decision.best->energy;
  if (!energy) return "";
  std::string text = format("  {:.4g} mJ a call", energy->joules * 1e3);
  if (decision.default_configuration && decision.default_configuration->energy) {
    text += format(", {:.3f}x the default's",
                   energy->joules / decision.default_configuration->energy->joules);
  }
  if (energy->watts > 0) {
    text += format(", {:.4g} W, resolution {:.2g} %", energy->watts, 100 * energy->resolution);
  }
  return text + '\n';
}

Json pareto_json(const ProblemDecision& decision) {
  Json front = Json::array();
  for (const Tuned& one : decision.front) {
    front.push_back({{"config", json_of(one.configuration)},
                     {"median_ns", one.measurement.median * kNanoseconds},
                     {"joules", one.energy->joules}});
  }
  return front;
}

Json best_json(const ProblemReport& report) {
  if (!report.decision.best) return nullptr;
  const Measurement& times = report.decision.best->measurement;
  Json json{{"config", json_of(report.decision.best->configuration)},
            {"median_ns", times.median * kNanoseconds},
            {"low_ns", times.low * kNanoseconds},
            {"high_ns", times.high * kNanoseconds},
            {"samples", times.samples},
            {"gflops", gflops(report.flops, times.median)},
            {"verified", report.decision.best->verified},
            {"repeats", json_of(report.decision.best->repeats)},
            {"provenance", report.decision.predicted ? "predicted" : "measured"},
            {"throttled", times.throttled}};
  for (const auto& [context, times_there] : report.decision.best->other_contexts) {
    json["contexts"][std::string(name_of(context))] = times_there.median * kNanoseconds;
  }
  if (report.decision.best->cold_seconds)
    json["cold_ns"] = *report.decision.best->cold_seconds * kNanoseconds;
  add_energy(json, *report.decision.best);
  return json;
}

Json default_json(const ProblemReport& report) {
  if (!report.decision.default_configuration) return {{"failure", report.default_failure}};
  const Tuned& by_default = *report.decision.default_configuration;
  Json json{{"config", json_of(by_default.configuration)},
            {"median_ns", by_default.measurement.median * kNanoseconds}};
  add_energy(json, by_default);
  return json;
}

Json baselines_json(const ProblemReport& report) {
  Json all = Json::array();
  for (const BaselineReport& one : report.decision.baselines) {
    all.push_back({{"plugin", one.plugin},
                   {"name", one.name},
                   {"median_ns", one.measurement.median * kNanoseconds},
                   {"low_ns", one.measurement.low * kNanoseconds},
                   {"high_ns", one.measurement.high * kNanoseconds},
                   {"to_best", {one.to_best.median, one.to_best.low, one.to_best.high}},
                   {"wins", one.wins}});
  }
  return all;
}

Json problem_json(const ProblemReport& report) {
  Json trials = Json::object();
  for (int i = 0; i < kOutcomes; ++i) trials[std::string(name_of(Outcome(i)))] = report.outcomes[i];
  Json ties = Json::array();
  for (const Configuration& tie : report.decision.ties) ties.push_back(json_of(tie));
  Json json{{"problem", json_of(report.problem.values)},
            {"space", report.space},
            {"trials", trials},
            {"taken_over", report.taken_over},
            {"quarantined", report.quarantined},
            {"started_from",
             {{"configurations", report.started_from.configurations},
              {"devices", report.started_from.devices}}},
            {"search", json_of(report.health)},
            {"best", best_json(report)},
            {"out_of_time", report.out_of_time},
            {"expected_gain", report.expected_gain ? Json(*report.expected_gain) : Json()},
            {"default", default_json(report)},
            {"ties", ties},
            {"baselines", baselines_json(report)},
            {"tie_margin", report.decision.tie_margin},
            {"open_after_blocks", report.decision.open_after_blocks},
            {"noise_floor", report.decision.noise_floor},
            {"seconds", report.seconds},
            {"phases",
             {{"compile_wait", report.phases.compile_wait},
              {"open", report.phases.open},
              {"verify", report.phases.verify},
              {"measure", report.phases.measure},
              {"decide", report.phases.decide},
              {"record", report.phases.record}}}};
  if (!report.refused.empty()) json["refused"] = report.refused;
  if (!report.decision.front.empty()) json["pareto"] = pareto_json(report.decision);
  return json;
}

/// The winner's times in other contexts, if the playoff timed it there.
std::string contexts_text(const Tuned& best) {
  std::string text;
  for (const auto& [context, times] : best.other_contexts) {
    if (context == CallContext::in_order) continue;
    text +=
        format("{}{} {}", text.empty() ? "  " : ", ", name_of(context), time_text(times.median));
    const auto in_order = best.other_contexts.find(CallContext::in_order);
    const bool has_both = context == CallContext::chain && in_order != best.other_contexts.end();
    if (has_both) text += format(" ({} without early start)", time_text(in_order->second.median));
  }
  return text.empty() ? text : text + '\n';
}

}  // namespace

std::string text_of(const Target& target, const DeviceInfo& device, const ProblemReport& report) {
  const std::string problem = format("{} {}", target.name, problem_text(target, report.problem));
  if (!report.refused.empty()) return format("{}: {}\n", problem, report.refused);
  const bool has_trials = tried(report) > 0 || report.taken_over > 0;
  if (report.out_of_time && (has_trials || !InterruptGuard::requested())) {
    return format(
        "{}: {} before {}; every trial is kept, and the same command continues from here\n",
        problem, InterruptGuard::requested() ? "interrupted" : "the time ran out",
        report.decision.undone);
  }
  if (!report.decision.best) {
    const std::string& why = report.default_failure;
    if (why.empty() && tried(report) == 0) {
      return format("{}: interrupted before the first result\n", problem);
    }
    return format("{}: no correct configuration among those tried{}{}\n", problem,
                  why.empty() ? "" : "; the default failed: ", why) +
           lost_text(report.health);
  }
  const Measurement& times = report.decision.best->measurement;
  std::string text = format("{}: {}", problem, time_text(times.median));
  if (report.decision.predicted) {
    text += " predicted";
  } else {
    text += format(" [{}]", interval_text(times));
  }
  if (report.flops > 0) text += ", " + rate_text(report.flops / times.median);
  text += comparison_text(report);
  if (report.expected_gain) {
    text += format(", going on promised at most {:.2f} %", *report.expected_gain * 100);
  }
  if (times.throttled) text += ", timed at a lowered clock";
  text += format("\n  {}\n", configuration_text(target, report.problem,
                                                report.decision.best->configuration, device));
  if (report.decision.best->repeats == false) text += format("  {}\n", bits_text(false));
  if (const int blocks = report.decision.open_after_blocks; blocks > 0) {
    text +=
        format("  another seems faster, but replaces it only after {} blocks; time was for {}\n",
               kFewestForInterval, blocks);
  }
  text += contexts_text(*report.decision.best);
  text += energy_line(report.decision);
  for (const BaselineReport& one : report.decision.baselines) {
    text += format("  {:.3f}x {} {} ({}){}\n", one.to_best.median, one.plugin, one.name,
                   time_text(one.measurement.median),
                   one.wins ? ": faster, libautotune launches it" : "");
  }
  return text + lost_text(report.health);
}

Json json_of(const Target& target, const DeviceInfo& device, const std::string& database,
             const TuningReport& report) {
  Json problems = Json::array();
  for (const ProblemReport& one : report.problems) problems.push_back(problem_json(one));
  const CompileStatistics& compile = report.compile;
  return {{"target", target.name},
          {"device",
           {{"name", device.name},
            {"kind", name_of(device.kind)},
            {"count", report.devices},
            {"busy_seconds", report.busy_seconds}}},
          {"db", database},
          {"problems", problems},
          {"compile",
           {{"compiled", compile.compiled},
            {"cached", compile.cached},
            {"cpu_seconds", compile.cpu_seconds},
            {"busy_threads",
             compile.wall_seconds > 0 ? compile.cpu_seconds / compile.wall_seconds : 0}}},
          {"interrupted", report.interrupted},
          {"seconds", report.seconds}};
}

Json json_of(const NamedValues& values) {
  Json json = Json::object();
  for (const auto& [name, value] : values) {
    if (value.is_integer()) {
      json[name] = value.integer();
    } else if (value.is_real()) {
      json[name] = value.real();
    } else {
      json[name] = value.word();
    }
  }
  return json;
}

std::string baseline_text(const db::BestRow& best) {
  const db::BaselineFigures& baseline = best.baseline;
  std::string text = time_text(*baseline.ns * kNanosecond);
  if (baseline.low_ns && baseline.high_ns) {
    const db::Times times{baseline.ns, baseline.low_ns, baseline.high_ns, 0};
    text += format(" [{}]", interval_text(measurement_of(times)));
  }
  if (best.median_ns) text += format(", {:.3f}x the best", *baseline.ns / *best.median_ns);
  return text + (baseline.wins ? ", faster: " : ": ") + baseline.text();
}

Json baseline_json(const db::BaselineFigures& baseline) {
  if (!baseline.ns) return nullptr;
  return {{"plugin", baseline.plugin},
          {"name", baseline.candidate},
          {"median_ns", *baseline.ns},
          {"low_ns", json_of(baseline.low_ns)},
          {"high_ns", json_of(baseline.high_ns)},
          {"wins", baseline.wins}};
}

namespace {

std::filesystem::path counting_plugin(Plugins& plugins) {
  for (const PluginEntry& entry : plugins.load_all()) {
    if (entry.description && entry.description->counts) return entry.file;
  }
  throw Error(
      "no plugin counts: lib/autotune/plugins/counters.so is built where the CUDA toolkit (12.6 or "
      "later) has CUPTI; name one by --plugin FILE");
}

/// The first of several devices.
std::string first_device(const std::string& text) {
  return text == "cuda:all" ? "cuda:0" : text.substr(0, text.find(','));
}

}  // namespace

const Option kCountersOption{"counters", "",
                             "Count the finalists with hardware counters, apart from all times"};

void count_entries(const std::vector<db::TunedEntry>& entries, const Target& target,
                   Plugins& plugins, db::TunedStore& store, const std::string& device_text,
                   const std::function<void(const std::string&)>& warn) {
  const auto device = open_device(first_device(device_text), /*compile_seconds=*/60);
  require_counters(device->info());
  const auto plugin = counting_plugin(plugins);
  for (const db::TunedEntry& entry : entries) {
    if (entry.device.name != device->info().name) {
      throw Error(
          format("counters of {} cannot be taken on {}: run this on a machine with that GPU",
                 entry.device.name, device->info().name));
    }
    count_finalists(store, entry, target, *device, plugin, warn);
  }
}

std::string counters_text(const std::string& figures, const report::Expected& expected) {
  std::string text;
  for (const auto& [name, counted, analysed] :
       report::counted_lines(report::counter_values(figures), expected)) {
    if (counted.empty()) continue;
    text += format("  {:<14}{}\n", name, counted);
    if (!analysed.empty()) text += format("  {:<14}{}\n", "", analysed);
  }
  return text.empty() ? "" : "\ncounters    of one call, by the hardware\n" + text;
}

Json counters_json(const std::string& figures) {
  Json json = Json::object();
  for (const auto& [name, value] : report::counter_values(figures)) json[name] = value;
  return json;
}

std::string figures_of(const std::vector<db::CounterRow>& rows, const std::string& configuration) {
  const auto found = std::ranges::find(rows, configuration, &db::CounterRow::configuration);
  return found == rows.end() ? "" : found->figures;
}

}  // namespace autotune::cli
