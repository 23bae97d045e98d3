// SPDX-License-Identifier: Apache-2.0
#include "tuner/ranks/messages.hpp"

#include <cstdint>
#include <cstring>
#include <map>
#include <utility>

#include "tuner/hash/hash.hpp"
#include "tuner/worker/wire.hpp"

namespace autotune {

constexpr DeviceKind last_of(DeviceKind) { return DeviceKind::fake; }
constexpr CallContext last_of(CallContext) { return CallContext::alone; }

// Values as text, which is shorter.
template <>
Json to_wire(const NamedValues& values) {
  return to_text(values);
}
template <>
NamedValues from_wire(const Json& json) {
  return parse_named_values(std::string(WireValue(json)));
}

WIRE_MEMBERS(Measurement, median, low, high, samples, outliers, throttled, correction)
WIRE_MEMBERS(DeviceInfo, name, kind, id, environment, compute_capability, multiprocessors,
             warp_size, max_threads_per_block, max_block, max_grid, shared_bytes_per_block,
             shared_bytes_per_multiprocessor, registers_per_multiprocessor,
             threads_per_multiprocessor, blocks_per_multiprocessor, l2_bytes, memory_bytes,
             clock_hz, memory_bytes_per_second)
WIRE_MEMBERS(Problem, values)
WIRE_MEMBERS(PastTrial, problem, configuration, seconds, predicted)
WIRE_MEMBERS(Ratio, median, low, high, samples)

using ContextTimes = std::map<CallContext, Measurement>;
template <>
Json to_wire(const ContextTimes& times) {
  Json json = Json::array();
  for (const auto& [context, time] : times) {
    json.push_back({static_cast<int>(context), to_wire(time)});
  }
  return json;
}
template <>
ContextTimes from_wire(const Json& json) {
  ContextTimes times;
  for (const Json& pair : json) {
    times[from_wire<CallContext>(pair.at(0))] = from_wire<Measurement>(pair.at(1));
  }
  return times;
}

template <>
Json to_wire(const OutcomeCounts& counts) {
  return counts;
}
template <>
OutcomeCounts from_wire(const Json& json) {
  OutcomeCounts counts{};
  for (std::size_t i = 0; i < counts.size(); ++i) counts[i] = WireValue(json.at(i));
  return counts;
}

WIRE_MEMBERS(Tuned, configuration, measurement, cold_seconds, verified, other_contexts, energy,
             repeats)
WIRE_MEMBERS(BaselineReport, plugin, name, measurement, to_best, wins)
WIRE_MEMBERS(ProblemDecision, best, default_configuration, ties, baselines, front, noise_floor,
             tie_margin, open_after_blocks, predicted, undone)
WIRE_MEMBERS(StartedFrom, configurations, devices)
WIRE_MEMBERS(Phases, compile_wait, open, verify, measure, decide, record)
WIRE_MEMBERS(Reason, outcome, example, trials)
WIRE_MEMBERS(SearchHealth, space, tried, ranked, timed, rank_correlation, failed, main_failure,
             last_gain)
WIRE_MEMBERS(ProblemReport, problem, space, outcomes, taken_over, quarantined, started_from,
             decision, expected_gain, refused, out_of_time, default_failure, flops, seconds, phases,
             health)
WIRE_MEMBERS(CompileStatistics, compiled, cached, cpu_seconds, wall_seconds)
WIRE_MEMBERS(Progress, problem, problems, problem_text, done, total, best_seconds, flops,
             elapsed_seconds)

WIRE_MEMBERS(Hello, build, process, host, device_text, device, problems, threads, most_threads)
WIRE_MEMBERS(Order, number, ahead, retune, threads, seconds, learned)
WIRE_MEMBERS(Done, number, report, compile, busy_seconds)
WIRE_MEMBERS(Failed, what, fatal, usage)
WIRE_MEMBERS(EndOfRun, finalize, lost, present)

namespace {

template <class Content>
Json said(const char* what, const Content& content) {
  return {{"say", what}, {"content", to_wire(content)}};
}

}  // namespace

Json wire_of(const Hello& hello) { return said(say::kHello, hello); }
Json wire_of(const Order& order) { return said(say::kOrder, order); }
Json wire_of(const Done& done) { return said(say::kDone, done); }
Json wire_of(const Failed& failed) { return said(say::kFailed, failed); }
Json wire_of(const EndOfRun& end) { return said(say::kEnd, end); }
Json wire_of(const Progress& progress) { return said(say::kAlive, progress); }

template <class Content>
Content content_of(const Json& header) {
  return from_wire<Content>(header.at("content"));
}
template Hello content_of(const Json&);
template Order content_of(const Json&);
template Done content_of(const Json&);
template Failed content_of(const Json&);
template EndOfRun content_of(const Json&);
template Progress content_of(const Json&);

std::string learned_text(const std::vector<PastTrial>& trials) { return to_wire(trials).dump(); }

std::vector<PastTrial> learned_of(const std::string& text) {
  return from_wire<std::vector<PastTrial>>(Json::parse(text));
}

std::string packed(const Json& header, std::string_view bytes) {
  const std::vector<std::uint8_t> cbor = Json::to_cbor(header);
  const std::uint64_t size = cbor.size();
  std::string text(sizeof size, '\0');
  std::memcpy(text.data(), &size, sizeof size);
  text.append(cbor.begin(), cbor.end());
  text.append(bytes);
  return text;
}

std::optional<Message> unpacked(std::string_view text) {
  std::uint64_t size = 0;
  if (text.size() < sizeof size) return std::nullopt;
  std::memcpy(&size, text.data(), sizeof size);
  text.remove_prefix(sizeof size);
  if (text.size() < size) return std::nullopt;
  std::optional<Json> header = parse_cbor(text.substr(0, size));
  if (!header || !header->is_object() || !header->contains("say")) return std::nullopt;
  return Message{*std::move(header), std::string(text.substr(size))};
}

std::string problems_hash(const Target& target, const TuningRequest& request) {
  std::string text = target.fingerprint + ' ' + target.space_fingerprint + '\n';
  for (const Problem& problem : request.problems) text += problem.text() + '\n';
  return std::to_string(hash64(text, request.seed));
}

}  // namespace autotune
