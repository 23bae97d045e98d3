// SPDX-License-Identifier: Apache-2.0
// autotune judge: is this kernel right, and is it faster?
#include <algorithm>
#include <deque>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "tuner/cli/arguments.hpp"
#include "tuner/cli/devices.hpp"
#include "tuner/cli/init.hpp"
#include "tuner/cli/judgement_report.hpp"
#include "tuner/cli/tuning_report.hpp"
#include "tuner/core/error.hpp"
#include "tuner/plugin/plugin_library.hpp"
#include "tuner/target/candidate.hpp"
#include "tuner/target/catalog.hpp"
#include "tuner/text/file_text.hpp"
#include "tuner/text/format.hpp"
#include "tuner/text/random_bits.hpp"
#include "tuner/text/strings.hpp"
#include "tuner/worker/confinement.hpp"

namespace autotune::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kLargestList = std::uint64_t{64} << 20U;
constexpr std::size_t kAhead = 16;  // jobs whose kernels are compiled meanwhile

/// One kernel to judge, as a line of a list or the command line names it.
struct Job {
  std::string candidate, against, manifest, target, entry, against_entry, sizes;
  std::vector<std::string> settings;
};

/// What a list and the command line call these.
constexpr std::pair<const char*, std::string Job::*> kFields[] = {
    {"candidate", &Job::candidate}, {"against", &Job::against},
    {"manifest", &Job::manifest},   {"target", &Job::target},
    {"entry", &Job::entry},         {"against-entry", &Job::against_entry},
    {"sizes", &Job::sizes}};

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

/// A device, and why its process is not confined; empty if it is.
struct OpenedDevice {
  std::unique_ptr<Device> device;
  std::string unconfined;
};

OpenedDevice opened_device(const Arguments& arguments, const std::vector<std::string>& readable) {
  const std::string text = arguments.text("device");
  const double limit = compile_limit_of(arguments);
  if (arguments.has("unconfined")) return {open_device(text, limit), "--unconfined"};
  try {
    return {open_device(text, limit, readable), ""};
  } catch (const Error& error) {  // it may be the driver that needs more
    return {open_device(text, limit),
            format("the device does not start in a confined one: {}", error.what())};
  }
}

class Judge {
 public:
  /// `readable` are the folders of inputs.
  Judge(const Arguments& arguments, const std::vector<std::string>& readable)
      : Judge(arguments, opened_device(arguments, readable)) {}

  Judge(const Arguments& arguments, OpenedDevice opened)
      : plugins_(arguments),
        device_(std::move(opened.device)),
        unconfined_(std::move(opened.unconfined)),
        pool_(*device_, usual_compile_threads()),
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
    if (!fs::exists(made->job.candidate)) {  // before the reference is compiled
      throw UsageError(
          format("{}: there is no such file; name the kernel to judge", made->job.candidate));
    }
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
    if (!unconfined_.empty()) {
      judgement.notes.push_back(format("the kernel's process was not confined: {}", unconfined_));
    } else if (std::string missing = missing_confinement(); !missing.empty()) {
      judgement.notes.push_back(std::move(missing));
    }
    return judgement;
  }

  Json json(const Prepared& prepared, const KernelJudgement& judgement) const {
    return judgement_json(files_of(prepared), *prepared.candidate, prepared.request, seed_,
                          *device_, judgement);
  }

  JudgedFiles files_of(const Prepared& prepared) const {
    return {prepared.job.candidate, prepared.job.against,
            unconfined_.empty() ? confinement_here() : ""};
  }

  void print(const Prepared& prepared, const KernelJudgement& judgement) const {
    const Target& candidate = *prepared.candidate;
    std::cout << verdict_text(files_of(prepared), candidate, judgement) << '\n';
    if (judgement.ruling == Ruling::right) std::cout << judgement_text(candidate, judgement);
    for (const std::string& each : judgement.notes) std::cout << format("note      {}\n", each);
    std::cout << format("seed      {} of the inputs and sizes, on {}\n", seed_,
                        device_->info().name);
  }

 private:
  static std::uint64_t seed_in(const Arguments& arguments) {
    if (arguments.has("seed")) {
      return static_cast<std::uint64_t>(arguments.integer("seed", 0, std::int64_t{1} << 52));
    }
    return random_bits() >> 12U;
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
            "{}: it is not right itself when it is called as its text seems to say: {}; "
            "correct it, or the manifest that autotune init writes, to be named by --manifest",
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
                              : count == 3 ? is_host ? 256 : 1024
                              : count == 4 ? 32
                                           : 16;
    return example_sizes(target, size);
  }

  Plugins plugins_;
  const std::unique_ptr<Device> device_;
  const std::string unconfined_;  // why; empty: it is confined
  CompilePool pool_;
  const std::uint64_t seed_;
  std::map<std::string, Known> known_;
};

Job job_of(const Arguments& arguments) {
  Job job;
  for (const auto& [name, member] : kFields) job.*member = arguments.find(name).value_or("");
  job.settings = arguments.all("set");
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
        const auto field =
            std::ranges::find(kFields, name, [](const auto& one) { return one.first; });
        if (field == std::end(kFields)) {
          value.fail(
              "there is no such key: candidate, against, manifest, target, entry, "
              "against-entry, sizes");
        }
        job.*field->second = value.text();
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

/// The folders that inputs of these jobs may lie in, those of the targets, and those of plugins.
std::vector<std::string> folders_of(const Arguments& arguments, const std::vector<Job>& jobs) {
  std::set<std::string> folders;
  for (const fs::path& each : plugin_folders()) folders.insert(each.string());
  for (const std::string& each : arguments.all("plugin")) {
    folders.insert(fs::absolute(each).parent_path().string());
  }
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
  Judge judge(arguments, folders_of(arguments, jobs));
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
  Judge judge(arguments, folders_of(arguments, {job}));
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
         {"unconfined", "", "Let the worker open files, if a driver needs more than it may"},
         kDeviceOption,
         kPluginOption,
         kCompileLimitOption,
         {"json", "", "Print JSON: a document, or a line for each job"}},
    .positional = "KERNEL",
    .run = run_judge};

}  // namespace autotune::cli
