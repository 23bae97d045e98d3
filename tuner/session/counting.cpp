// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/counting.hpp"

#include "tuner/core/target_program.hpp"
#include "tuner/records/records.hpp"
#include "tuner/text/format.hpp"
#include "tuner/text/strings.hpp"

namespace autotune {
namespace {

std::string figures_text(const Counters& counters) {
  std::string text;
  for (const Counter& one : counters) {
    text += format("{}{}={:.10g}", text.empty() ? "" : " ", one.name, one.value);
  }
  return text;
}

Counters counted(const TargetProgram& program, const Configuration& configuration, Device& device,
                 Workbench& bench, const std::filesystem::path& plugin) {
  const Levels levels = program.levels(configuration);
  const CompiledKernel kernel = device.compile(program.source_unit(levels));
  if (kernel.outcome != Outcome::ok) throw KernelFailure(kernel.outcome, first_error(kernel.log));
  return counters_of(*bench.load(kernel, program.plan(levels)), plugin);
}

}  // namespace

void count_finalists(db::TunedStore& store, const db::TunedEntry& entry, const Target& target,
                     Device& device, const std::filesystem::path& plugin,
                     const std::function<void(const std::string&)>& warn) {
  const Problem problem{parse_named_values(entry.best.key.problem)};
  const TargetProgram program(target, problem, device.info());
  const auto bench = device.open(prepared_workload_of(target, problem, device.info()));
  for (const std::string& text : finalists_of(entry.best)) {
    try {
      const Counters counters = counted(program, parse_named_values(text), device, *bench, plugin);
      db::add_counters(store, {"", entry.best.key, text, figures_text(counters),
                               device.info().environment, db::now_text()});
    } catch (const KernelFailure& failure) {
      warn(format("{} is not counted: {}", text, failure.what()));
    }
  }
}

}  // namespace autotune
