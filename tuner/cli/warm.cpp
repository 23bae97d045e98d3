// SPDX-License-Identifier: Apache-2.0
// autotune warm: compiles tuned answers, so that programs find them in the cache.
#include <algorithm>
#include <chrono>
#include <iostream>

#include "tuner/cache/build_cache.hpp"
#include "tuner/cli/answers.hpp"
#include "tuner/cli/arguments.hpp"
#include "tuner/cli/db_export.hpp"
#include "tuner/cli/devices.hpp"
#include "tuner/core/error.hpp"
#include "tuner/json/json.hpp"
#include "tuner/text/format.hpp"

namespace autotune::cli {
namespace {

using Clock = std::chrono::steady_clock;

/// The problems of --size, else what is tuned on GPUs of this architecture.
std::vector<db::TunedEntry> problems_for(const Arguments& arguments, Databases& databases,
                                         const DeviceInfo& gpu) {
  if (arguments.has("size")) arguments.text("target");  // names the sizes
  std::vector<db::TunedEntry> entries = databases.asked_on(gpu);
  if (!entries.empty()) return entries;
  throw Error(format("{}: nothing is tuned there for {} (sm_{}) as asked: tune it first",
                     database_path(arguments).string(), gpu.name, gpu.compute_capability));
}

struct Counts {
  int compiled = 0, cached = 0, failed = 0;
};

Counts counts_of(const std::vector<CompiledAnswer>& answers) {
  Counts counts;
  for (const CompiledAnswer& answer : answers) {
    if (!answer.kernel) {
      ++counts.failed;
    } else {
      ++(answer.kernel->cached ? counts.cached : counts.compiled);
    }
  }
  return counts;
}

void warn_of_failures(const std::vector<CompiledAnswer>& answers) {
  std::vector<std::string> sentences;
  for (const CompiledAnswer& answer : answers) {
    if (answer.kernel) continue;
    sentences.push_back(format("{} {} {}: {}", answer.entry.kernel.target,
                               answer.entry.best.key.problem, answer.entry.best.configuration,
                               answer.failure));
  }
  warn_of(sentences);
}

void expect_cache() {
  const BuildCache cache(BuildCache::default_folder());
  if (!cache.warning().empty()) throw Error(cache.warning());
}

int run_warm(const Arguments& arguments) {
  const DeviceInfo gpu = gpu_named(arguments.text("gpu"));
  expect_cache();
  AnswerJudge judge(arguments);
  Databases databases(arguments, judge);
  ProgramAnswers programs(arguments, judge);
  std::vector<db::TunedEntry> entries =
      given_on(gpu, problems_for(arguments, databases, gpu), programs, judge);
  keep_current(entries, judge, database_path(arguments).string());
  const int jobs = compile_threads_of(arguments);
  const auto start = Clock::now();
  const std::vector<CompiledAnswer> answers =
      compile_answers(std::move(entries), judge, gpu, jobs, compile_limit_of(arguments));
  const std::chrono::duration<double> passed = Clock::now() - start;
  warn_of_failures(answers);
  const Counts counts = counts_of(answers);
  if (arguments.has("json")) {
    const Json json{{"device", gpu.name},          {"compute_capability", gpu.compute_capability},
                    {"compiled", counts.compiled}, {"cached", counts.cached},
                    {"failed", counts.failed},     {"seconds", passed.count()}};
    std::cout << json_text(json) << '\n';
  } else {
    std::cout << format("{} (sm_{}): {} compiled, {} in the cache, {} failed; {:.1f} s\n", gpu.name,
                        gpu.compute_capability, counts.compiled, counts.cached, counts.failed,
                        passed.count());
  }
  return counts.failed == 0 ? kDone : kFailed;
}

}  // namespace

const Verb kWarm{
    .name = "warm",
    .synopsis = "[--target T] [--size S] [--gpu GPU] [--set NAME=VALUE] [--db FILE] [--jobs N]",
    .summary = "Compile tuned configurations, so that programs find them in the cache",
    .details =
        "Fills the cache of compiled kernels (`AUTOTUNE_CACHE`) with the tuned answers of the "
        "database for one GPU, in parallel processes. Without `--db`, results that are shipped "
        "with autotune count too, with `--target` or where the user's database has none for the "
        "GPU. `autotune_prepare()` then compiles nothing "
        "for these sizes. With `--size`, it compiles what programs get there, whether tuned or "
        "not, also with free sizes, such as `512,lda=520`. Answers of other GPUs of the same "
        "architecture count where this one has "
        "none. `--gpu h200` compiles for a GPU that is not here. The exit status is 1 if "
        "a kernel does not compile.",
    .options = {{"target", "T", "A target's name or the path of a manifest; default: all"},
                {"size", "S", "Only these problems, as for query: 512, 128..1024; 512,lda=520"},
                {"gpu", "GPU", "The GPU: cuda:N, or a name as for occupancy: h200", "cuda:0"},
                {"set", "NAME=VALUE", "Only problems with this setting, such as dtype=f64", "",
                 true},
                kContextOption,
                {"db", "FILE", "The database"},
                {"jobs", "N", "Compile threads; default: all cores"},
                kCompileLimitOption,
                {"json", "", "Print JSON"}},
    .positional = {},
    .run = run_warm};

}  // namespace autotune::cli
