// SPDX-License-Identifier: Apache-2.0
// autotune db export --format source: one answer as CUDA sources.
#include <filesystem>
#include <iostream>

#include "tuner/cli/db_actions.hpp"
#include "tuner/cli/db_export.hpp"
#include "tuner/cli/kernel_export.hpp"
#include "tuner/cli/output_file.hpp"
#include "tuner/core/error.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"

namespace autotune::cli {
namespace {

namespace fs = std::filesystem;

db::TunedEntry only_one(std::vector<db::TunedEntry> entries) {
  if (entries.size() == 1) return std::move(entries.front());
  std::vector<std::string> names;
  for (const db::TunedEntry& entry : entries) {
    names.push_back(format("{} on {}", entry.best.key.problem, entry.device.name));
  }
  if (names.size() > 8) {
    const std::size_t more = names.size() - 8;
    names.resize(8);
    names.push_back(format("and {} more", more));
  }
  throw Error(format("{} problems are tuned: choose one with --size, --device or --set: {}",
                     entries.size(), joined(names, "; ")));
}

KernelExport chosen_export(const Arguments& arguments) {
  AnswerJudge judge(arguments);
  Databases databases(arguments, judge);
  std::vector<db::TunedEntry> entries = exported_entries(arguments, databases, judge);
  prefer_default_settings(arguments, entries);
  const db::TunedEntry entry = only_one(std::move(entries));
  return kernel_export(entry, *judge.target_of(entry));
}

void write_files(const KernelExport& exported, const fs::path& folder) {
  fs::create_directories(folder);
  const auto write = [&](const std::string& name, const std::string& text) {
    write_output(folder / name, [&](std::ostream& file) { file << text; });
    std::cout << (folder / name).string() << '\n';
  };
  write(exported.name + ".cu", kernel_file(exported));
  write(exported.name + ".h", header_file(exported));
  const std::string test = test_file(exported);
  if (test.empty()) {
    warn_of({"there is no test: the reference of this target is no kernel"});
  } else {
    write(exported.name + "_test.cu", test);
    std::cout << format("cd {} && {} && ./{}_test\n", folder.string(), build_line(exported),
                        exported.name);
  }
}

}  // namespace

int run_export_source(const Arguments& arguments) {
  arguments.text("target");
  const KernelExport exported = chosen_export(arguments);
  if (const auto folder = arguments.find("output")) {
    write_files(exported, *folder);
  } else {
    std::cout << kernel_file(exported);
  }
  return kDone;
}

}  // namespace autotune::cli
