// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/generated_source.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <optional>
#include <ostream>
#include <vector>

#include "tuner/core/error.hpp"
#include "tuner/file/replace_file.hpp"
#include "tuner/host/process.hpp"
#include "tuner/target/catalog.hpp"
#include "tuner/target/manifest.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/file_text.hpp"
#include "tuner/text/format.hpp"
#include "tuner/worker/kept_program.hpp"

namespace autotune::cli {
namespace {

namespace fs = std::filesystem;

constexpr double kLimitSeconds = 60;
constexpr std::uint64_t kLongestSource = std::uint64_t{16} << 20;

std::string program_of(const Generator& generator) {
  const std::string& name = generator.command.front();
  const bool is_path = name.find('/') != std::string::npos;
  const fs::path found = find_program(is_path ? (generator.folder / name).string() : name);
  if (!found.empty()) return fs::absolute(found).string();
  throw Error(format("{}: generate: there is no program {}", generator.manifest.string(), name));
}

/// The program's stdout; it runs in the manifest's folder. Its stderr is used in errors.
std::string output_of(const Generator& generator) {
  std::vector<std::string> argv = {"/bin/sh", "-c", "cd \"$0\" && exec \"$@\"",
                                   generator.folder.string(), program_of(generator)};
  argv.insert(argv.end(), generator.command.begin() + 1, generator.command.end());
  ProcessText printed = run_kept(argv, kLimitSeconds, kLongestSource);
  const auto fail = [&](const std::string& why) {
    throw Error(format("{}: generate: {} {}{}{}", generator.manifest.string(),
                       generator.command.front(), why, printed.output.empty() ? "" : ":\n",
                       printed.output));
  };
  if (printed.timed_out) fail(format("ran longer than {} s and was killed", kLimitSeconds));
  if (printed.is_too_long) {
    fail(format("printed more than {} and was killed",
                bytes_text(static_cast<std::int64_t>(kLongestSource))));
  }
  if (printed.status != 0) fail(format("failed with status {}", printed.status));
  if (printed.text.empty()) fail("printed nothing: it prints the source to stdout");
  return std::move(printed.text);
}

}  // namespace

void refresh_generated_source(const std::string& target) {
  const fs::path manifest = manifest_called(target);
  const auto generator = manifest.empty() ? std::nullopt : generator_of(manifest);
  if (!generator) return;
  const std::string text = output_of(*generator);
  const FileText before = read_text_file(generator->source, kLongestSource);
  if (before.refusal.empty() && before.text == text) return;
  write_file(generator->source, [&](std::ostream& stream) { stream << text; });
  std::cerr << format("{} has changed: it is what {} printed\n", generator->source.string(),
                      generator->command.front());
}

}  // namespace autotune::cli
