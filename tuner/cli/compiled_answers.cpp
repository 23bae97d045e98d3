// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/compiled_answers.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "tuner/cache/build_cache.hpp"
#include "tuner/cli/patience.hpp"
#include "tuner/cli/tuned_entries.hpp"
#include "tuner/core/caller_buffers.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/target_program.hpp"
#include "tuner/gpu/model_device.hpp"
#include "tuner/records/records.hpp"
#include "tuner/session/compile_pool.hpp"
#include "tuner/text/compiler_log.hpp"
#include "tuner/text/format.hpp"
#include "tuner/worker/compiler_processes.hpp"

namespace autotune::cli {
namespace {

std::string name_of(const db::TunedEntry& entry) {
  return format("{} {} on {}", entry.kernel.target, entry.best.key.problem, entry.device.name);
}

/// Everything but the compiled code. nullopt with a reason if it exceeds a limit of the GPU.
std::optional<SourceUnit> plan_answer(CompiledAnswer& answer, const Target& target,
                                      const DeviceInfo& info) try {
  require_kernels(target, "libautotune");
  const TargetProgram program(target, {parse_named_values(answer.entry.best.key.problem)}, info);
  const Levels levels = program.levels(parse_named_values(answer.entry.best.configuration));
  answer.plan = program.plan(levels);
  answer.buffers = program.buffers();
  pass_unchecked(answer.plan, answer.buffers);
  answer.scalars = program.scalars();
  return program.source_unit(levels);
} catch (const KernelFailure& failure) {
  answer.failure = failure.what();
  return std::nullopt;
}

void take(CompiledAnswer& answer, const CompileRequests::Result& result) try {
  const auto kernel = result.get();
  if (kernel->outcome == Outcome::ok) {
    answer.kernel = kernel;
  } else {
    answer.failure = "does not compile: " + first_error(kernel->log);
  }
} catch (const NotCompiled& failure) {
  answer.failure = failure.what();
}

}  // namespace

std::vector<db::TunedEntry> given_on(DeviceInfo gpu, const std::vector<db::TunedEntry>& problems,
                                     ProgramAnswers& programs, AnswerJudge& judge) {
  gpu.kind = DeviceKind::cuda;
  std::vector<db::TunedEntry> all;
  std::set<std::tuple<std::string, std::string, std::string>> known;
  const auto add = [&](db::TunedEntry one) {
    const db::BestRow& best = one.best;
    if (known.emplace(one.kernel.target, best.key.problem, best.configuration).second) {
      all.push_back(std::move(one));
    }
  };
  for (const db::TunedEntry& entry : problems) {
    const Target* const target = judge.target_called(entry.kernel.target);
    if (!target || db::is_of_other_tuner(entry.best.key.policy)) {
      add(entry);
      continue;
    }
    const EntryProblem problem = problem_of(entry);
    const ProgramAnswer given =
        programs.find(*target, problem.settings, gpu, entry.best.key.policy, problem.sizes);
    db::TunedEntry one = entry;
    one.kernel = kernel_row(*target);
    one.best.configuration = given.answer.configuration;
    one.best.key.problem = given.problem.text();
    add(std::move(one));
  }
  return all;
}

std::vector<CompiledAnswer> compile_answers(std::vector<db::TunedEntry> entries, AnswerJudge& judge,
                                            const DeviceInfo& info, int threads,
                                            double compile_seconds) {
  const auto device =
      make_model_device(info, std::make_shared<BuildCache>(BuildCache::default_folder()),
                        std::make_shared<CompilerProcesses>(compile_seconds));
  CompilePool pool(*device, threads);
  CompileRequests requests(pool);
  std::vector<CompiledAnswer> answers;
  std::vector<std::optional<CompileRequests::Result>> results;
  for (db::TunedEntry& entry : entries) {
    CompiledAnswer& answer = answers.emplace_back();
    answer.entry = std::move(entry);
    auto unit = plan_answer(answer, *judge.target_of(answer.entry), info);
    results.push_back(unit ? std::optional(requests.compile(*std::move(unit))) : std::nullopt);
  }
  Patience patience(compile_seconds);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (results[i]) take(answers[i], *results[i]);
    patience.note(i + 1, answers.size());
  }
  return answers;
}

void keep_current(std::vector<db::TunedEntry>& entries, AnswerJudge& judge,
                  const std::string& file) {
  std::vector<std::string> stale;
  std::erase_if(entries, [&](const db::TunedEntry& entry) {
    if (db::is_of_other_tuner(entry.best.key.policy)) return true;  // never verified here
    if (judge.target_of(entry)) return false;
    stale.push_back(judge.target_called(entry.kernel.target)
                        ? name_of(entry) + " is left out: the kernel has changed since"
                        : name_of(entry) + " is left out: there is no such target here");
    return true;
  });
  warn_of(stale);
  if (!entries.empty()) return;
  throw Error(format("{}: none of its answers fits the kernels that are here: tune again", file));
}

}  // namespace autotune::cli
