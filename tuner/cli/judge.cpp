// SPDX-License-Identifier: Apache-2.0
// autotune judge: is this kernel right, and is it faster?
#include "tuner/cli/judge.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "tuner/cli/arguments.hpp"
#include "tuner/cli/devices.hpp"
#include "tuner/cli/init.hpp"
#include "tuner/cli/plugins.hpp"
#include "tuner/cli/tune_command.hpp"
#include "tuner/cli/tuning_report.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/fill.hpp"
#include "tuner/hash/hash.hpp"
#include "tuner/measure/inputs.hpp"
#include "tuner/measure/verification.hpp"
#include "tuner/target/candidate.hpp"
#include "tuner/target/catalog.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/file_text.hpp"
#include "tuner/text/format.hpp"
#include "tuner/text/strings.hpp"
#include "tuner/worker/confinement.hpp"

namespace autotune::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMostHashed = std::int64_t{256} << 20U;  // bytes of an input
constexpr std::uint64_t kLargestList = std::uint64_t{64} << 20U;
constexpr std::size_t kAhead = 16;  // jobs whose kernels are compiled meanwhile

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
      {"confined", info.kind == DeviceKind::host ? confinement_here() : "device code"},
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

namespace {

/// One kernel to judge, as a line of a list or the command line names it.
struct Job {
  std::string candidate, against, manifest, target, entry, against_entry, sizes;
  std::vector<std::string> settings;
};

bool is_source(const std::string& name) {
  const fs::path path(name);
  return path.extension() == ".cu" || path.extension() == ".cuh";
}

/// A job whose targets are read.
struct Prepared {
  Job job;
  std::optional<Target> candidate;
  JudgeRequest request;
  std::vector<BaselineSource> baselines;
  std::vector<std::string> notes;
  std::unique_ptr<CompileRequests> ahead;
  std::string error;
};

class Judge {
 public:
  /// `readable` are the folders of inputs.
  Judge(const Arguments& arguments, const std::vector<std::string>& readable)
      : plugins_(arguments),
        device_(open_device(arguments.text("device"), compile_limit_of(arguments), readable)),
        pool_(*device_, static_cast<int>(std::max(1u, std::thread::hardware_concurrency()))),
        seed_(seed_in(arguments)) {
    if (!device_->runs()) {
      throw UsageError(format(
          "--device {}: the judge runs kernels, and a model does not: try --device auto or host",
          arguments.text("device")));
    }
  }

  std::unique_ptr<Prepared> prepared(Job job) {
    auto made = std::make_unique<Prepared>();
    made->job = std::move(job);
    const std::shared_ptr<const Target> against = target_of(made->job, *made);
    const fs::path file = made->job.candidate;
    if (made->job.manifest.empty() || !is_source(made->job.candidate)) {
      Candidacy candidacy = load_candidate(against, file, made->job.entry);
      if (candidacy.is_launch_guessed) {
        made->notes.push_back(
            format("guessed from {}: its launch; a <<<grid, block>>> in the file or --manifest "
                   "would say it",
                   made->job.candidate));
      }
      made->candidate = std::move(candidacy.target);
    } else {
      made->candidate = candidate_for(against, with_source(made->job.manifest, file));
    }
    take_request(*made);
    return made;
  }

  /// Compiles what judge() will ask for.
  void look_ahead(Prepared& prepared) {
    prepared.ahead = std::make_unique<CompileRequests>(pool_);
    for (SourceUnit& unit : units_of(*prepared.candidate, prepared.request, device_->info())) {
      prepared.ahead->prefetch(std::move(unit));
    }
  }

  KernelJudgement judge(const Prepared& prepared) {
    const auto warn = [](const std::string& text) { std::cerr << "warning: " << text << '\n'; };
    KernelJudgement judgement =
        judge_kernel(*prepared.candidate, prepared.request, *device_, pool_, warn);
    judgement.notes.insert(judgement.notes.begin(), prepared.notes.begin(), prepared.notes.end());
    return judgement;
  }

  Json json(const Prepared& prepared, const KernelJudgement& judgement) const {
    return judgement_json(files_of(prepared), *prepared.candidate, prepared.request, seed_,
                          *device_, judgement);
  }

  static JudgedFiles files_of(const Prepared& prepared) {
    return {prepared.job.candidate, prepared.job.against};
  }

  void print(const Prepared& prepared, const KernelJudgement& judgement) const {
    const Target& candidate = *prepared.candidate;
    std::cout << verdict_text(files_of(prepared), candidate, judgement) << '\n';
    if (judgement.ruling == Ruling::right) print_details(candidate, judgement);
    for (const std::string& each : judgement.notes) std::cout << format("note      {}\n", each);
    std::cout << format("seed      {} of the inputs and sizes, on {}\n", seed_,
                        device_->info().name);
  }

 private:
  static std::uint64_t seed_in(const Arguments& arguments) {
    if (arguments.has("seed")) {
      return static_cast<std::uint64_t>(arguments.integer("seed", 0, std::int64_t{1} << 52));
    }
    std::random_device random;
    return (std::uint64_t{random()} << 20U) ^ (random() >> 12U);
  }

  static void print_details(const Target& candidate, const KernelJudgement& judgement) {
    for (const JudgedProblem& each : judgement.problems) {
      if (judgement.problems.size() > 1) {
        std::cout << format("          {}\n", pace_text(candidate, each));
      }
      std::cout << format(
          "time      {} [{}, {}], the other {} [{}, {}]\n",
          time_text(each.candidate_seconds.median), time_text(each.candidate_seconds.low),
          time_text(each.candidate_seconds.high), time_text(each.rival_seconds.median),
          time_text(each.rival_seconds.low), time_text(each.rival_seconds.high));
    }
    int calls = 0;
    for (const JudgedProblem& each : judgement.problems) calls += each.checked_calls;
    std::string own;
    for (const Problem& each : judgement.own) {
      own += format("{}{}", own.empty() ? "" : ", ", problem_text(candidate, each));
    }
    std::cout << format("checked   {} calls{}\n", calls,
                        own.empty() ? "" : format(", and the sizes {}", own));
  }

  /// The target that says what is right.
  std::shared_ptr<const Target> target_of(const Job& job, Prepared& made) {
    const std::string key =
        job.against + '\n' + job.manifest + '\n' + job.target + '\n' + job.against_entry;
    Known& known = known_[key];
    if (!known.target) {
      Target target = read_against(job, known);
      target.prepare = [before = target.prepare, seed = seed_](Workload workload) {
        workload.seed = seed;
        return before ? before(std::move(workload)) : workload;
      };
      known.target = std::make_shared<const Target>(std::move(target));
    }
    made.notes = known.notes;
    made.baselines = known.baselines;
    return known.target;
  }

  struct Known {
    std::shared_ptr<const Target> target;
    std::vector<BaselineSource> baselines;
    std::vector<std::string> notes;
  };

  Target read_against(const Job& job, Known& known) {
    if (is_source(job.against)) {
      if (!job.manifest.empty()) return with_source(job.manifest, job.against);
      ProposedManifest proposed(job.against, job.against_entry);
      const ManifestTrouble trouble = proposed.correct(*device_);
      if (!trouble.message.empty()) {
        throw Error(format(
            "{}: its text does not say how it is called: {}; run autotune init on it, correct the "
            "manifest and name it by --manifest",
            job.against, trouble.message));
      }
      for (const std::string& each : proposed.first().questions) {
        if (each == kOwnReferenceQuestion) continue;
        known.notes.push_back(format("guessed from {}: {}", job.against, each));
      }
      return proposed.target();
    }
    if (job.against == "cublas") {
      if (job.target.empty()) {
        throw UsageError(
            "--against cublas needs --target, such as --target gemm: it says what is "
            "computed");
      }
      known.baselines = plugins_.baselines(job.target);
      if (known.baselines.empty()) {
        throw Error(
            format("--against cublas: there is no plugin of cuBLAS for the target {}: see "
                   "autotune list --plugins",
                   job.target));
      }
      return plugins_.find_target(job.target);
    }
    return plugins_.find_target(job.against);
  }

  void take_request(Prepared& made) const {
    const Target& target = *made.candidate->against;
    const NamedValues settings = named_values_in(made.job.settings, "--set", "dtype=f32");
    const std::string sizes = made.job.sizes.empty() ? usual_sizes(target) : made.job.sizes;
    for (const NamedValues& each : sizes_in(sizes, target)) {
      made.request.problems.push_back(problem_of(target, each, settings));
      require_offered(target, made.request.problems.back(), device_->info());
    }
    made.request.seed = seed_;
    made.request.baselines = made.baselines;
    Policy& policy = made.request.policy;
    policy.context = default_context(device_->info().kind);
    policy.other_l2_blocks = policy.other_context_blocks = 0;  // what nobody reads here
  }

  /// Large enough to time: about a million elements, fewer on the host.
  std::string usual_sizes(const Target& target) const {
    const bool is_host = device_->info().kind == DeviceKind::host;
    const std::size_t count = needed_sizes(target);
    const std::int64_t size = count <= 1   ? is_host ? 1 << 18 : 1 << 22
                              : count == 2 ? is_host ? 512 : 2048
                              : is_host    ? 256
                                           : 1024;
    std::string text;
    for (std::size_t i = 0; i < count; ++i) {
      text += format("{}{}", i == 0 ? "" : "x", size_from(target, i, size));
    }
    return text;
  }

  Plugins plugins_;
  const std::unique_ptr<Device> device_;
  CompilePool pool_;
  const std::uint64_t seed_;
  std::map<std::string, Known> known_;
};

Job job_of(const Arguments& arguments) {
  const auto text = [&](std::string_view option) { return arguments.find(option).value_or(""); };
  Job job{.candidate = {},
          .against = text("against"),
          .manifest = text("manifest"),
          .target = text("target"),
          .entry = text("entry"),
          .against_entry = text("against-entry"),
          .sizes = text("sizes"),
          .settings = arguments.all("set")};
  if (!arguments.positional().empty()) job.candidate = arguments.positional()[0];
  return job;
}

std::vector<Job> jobs_in(const Arguments& arguments) {
  const fs::path file = arguments.text("jobs");
  FileText read = read_text_file(file, kLargestList);
  if (!read.refusal.empty()) {
    throw UsageError(format("--jobs {}: {}; name a file with a kernel in each line", file.string(),
                            read.refusal));
  }
  std::vector<Job> jobs;
  int line = 0;
  for (const std::string_view part : split(read.text, '\n')) {
    ++line;
    const std::string text(trimmed(part));
    if (text.empty() || text.starts_with('#')) continue;
    Job job = job_of(arguments);
    if (!text.starts_with('{')) {
      job.candidate = text;
    } else {
      const std::string place = format("{}:{}", file.string(), line);
      const Json parsed = parse_json(text, place);
      for (const auto& [name, value] : CheckedJson(parsed, place).members()) {
        std::string* const to = name == "candidate"       ? &job.candidate
                                : name == "against"       ? &job.against
                                : name == "manifest"      ? &job.manifest
                                : name == "target"        ? &job.target
                                : name == "entry"         ? &job.entry
                                : name == "against-entry" ? &job.against_entry
                                : name == "sizes"         ? &job.sizes
                                                          : nullptr;
        if (to == nullptr) {
          value.fail(
              "there is no such key: candidate, against, manifest, target, entry, "
              "against-entry, sizes");
        }
        *to = value.text();
      }
    }
    if (job.candidate.empty() || job.against.empty()) {
      throw UsageError(format(
          "{}:{}: there is no {}: give a line such as {{\"candidate\": "
          "\"fast.cu\", \"against\": \"plain.cu\"}}, or --against",
          file.string(), line, job.candidate.empty() ? "candidate" : "kernel to compare with"));
    }
    jobs.push_back(std::move(job));
  }
  if (jobs.empty()) {
    throw UsageError(format(
        "--jobs {}: there is no kernel in it: give the path of one in each line", file.string()));
  }
  return jobs;
}

/// The folders that inputs of these jobs may lie in: those of the targets.
std::vector<std::string> folders_of(const std::vector<Job>& jobs) {
  std::set<std::string> folders;
  for (const fs::path& each : kernel_folders()) folders.insert(each.string());
  for (const Job& job : jobs) {
    for (const std::string& each : {job.against, job.manifest, job.target}) {
      if (!is_source(each) && !is_manifest_path(each)) continue;
      folders.insert(fs::absolute(each).parent_path().string());
    }
  }
  return {folders.begin(), folders.end()};
}

/// One line for each job, in their order. Kernels of later jobs are compiled meanwhile.
int run_jobs(const Arguments& arguments) {
  const std::vector<Job> jobs = jobs_in(arguments);
  Judge judge(arguments, folders_of(jobs));
  std::deque<std::unique_ptr<Prepared>> ahead;
  std::size_t next = 0, failed = 0;
  const auto prepare_next = [&] {
    auto made = std::make_unique<Prepared>();
    try {
      made = judge.prepared(jobs[next]);
      judge.look_ahead(*made);
    } catch (const Error& error) {
      made->job = jobs[next];
      made->error = error.what();
    }
    ++next;
    ahead.push_back(std::move(made));
  };
  while (next < jobs.size() || !ahead.empty()) {
    while (next < jobs.size() && ahead.size() < kAhead) prepare_next();
    const std::unique_ptr<Prepared> prepared = std::move(ahead.front());
    ahead.pop_front();
    Json json;
    try {
      if (!prepared->error.empty()) throw Error(prepared->error);
      const KernelJudgement judgement = judge.judge(*prepared);
      json = judge.json(*prepared, judgement);
    } catch (const Error& error) {
      ++failed;
      json = {{"candidate", prepared->job.candidate},
              {"against", prepared->job.against},
              {"verdict", nullptr},
              {"text", error.what()},
              {"status", kFailed}};
    }
    if (arguments.has("json")) {
      std::cout << json.dump(-1, ' ', false, Json::error_handler_t::replace) << std::endl;
    } else {
      std::cout << format("{}: {}{}\n", prepared->job.candidate,
                          json["verdict"].is_null() ? "not judged: " : "",
                          json["text"].get<std::string>())
                << std::flush;
    }
  }
  if (failed == 0) return kDone;
  throw Error(format("{} of {} kernels were not judged: see above", failed, jobs.size()));
}

int run_judge(const Arguments& arguments) {
  if (arguments.has("jobs")) {
    if (arguments.positional().empty()) return run_jobs(arguments);
    throw UsageError("judge takes either one kernel or --jobs FILE, not both");
  }
  if (arguments.positional().size() != 1 || !arguments.has("against")) {
    throw UsageError(
        "judge needs a kernel and what to compare it with, such as: autotune judge fast.cu "
        "--against plain.cu");
  }
  const Job job = job_of(arguments);
  Judge judge(arguments, folders_of({job}));
  const auto prepared = judge.prepared(job);
  const KernelJudgement judgement = judge.judge(*prepared);
  if (arguments.has("json")) {
    std::cout << json_text(judge.json(*prepared, judgement)) << '\n';
  } else {
    judge.print(*prepared, judgement);
  }
  return status_of(judgement);
}

}  // namespace

extern const Verb kJudge;
const Verb kJudge{
    .name = "judge",
    .synopsis =
        "KERNEL --against REFERENCE [--sizes S] [--manifest FILE] [--target T] [--device D] "
        "[--jobs FILE] [--json]",
    .summary = "Say whether a kernel is right, and whether it is faster",
    .details =
        "KERNEL is a `.cu` file, or a manifest of a candidate with several kernels or a workspace. "
        "REFERENCE says what is right and what to beat: a `.cu` file with a kernel of the same "
        "arguments, a target or manifest, or `cublas` with `--target gemm`. The first line says "
        "`right and 1.14x [1.11, 1.17] faster`, `right but within noise`, `right but slower`, "
        "`wrong`, or `cheats`, with the place and the reason. The kernel is verified as a finalist "
        "of `tune` is, at edge sizes, at sizes of the judge's own and in a thousand calls. It is "
        "timed in turns with the reference. Exit status: 0 right and faster; 4 right and not "
        "faster; 5 wrong, or does not compile or run; 6 cheats; 1 not judged. "
        "[judge.md](judge.md) says what is caught and what is not.",
    .options =
        {{"against", "REFERENCE", "A .cu file, a target, a manifest, or cublas"},
         {"sizes", "S", "Sizes, as for tune; about a million elements if left out"},
         {"manifest", "FILE", "A manifest that says how both .cu files are launched"},
         {"target", "T", "What cublas computes"},
         {"entry", "KERNEL", "The candidate's kernel, if its file has several"},
         {"against-entry", "KERNEL", "The reference's kernel, if its file has several"},
         {"set", "NAME=VALUE", "A setting of the problem, such as dtype=f64", {}, true},
         {"seed", "N", "Inputs and own sizes of an earlier verdict; a secret number if left out"},
         {"jobs", "FILE",
          "Judge many kernels: in each line a path, or JSON such as {\"candidate\": \"a.cu\"}"},
         kDeviceOption,
         kPluginOption,
         kCompileLimitOption,
         {"json", "", "Print JSON: a document, or a line for each job"}},
    .positional = "KERNEL",
    .run = run_judge};

}  // namespace autotune::cli
