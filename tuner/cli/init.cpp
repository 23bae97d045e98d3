// SPDX-License-Identifier: Apache-2.0
// autotune init: a manifest for a kernel that is already there.
#include "tuner/cli/init.hpp"

#include <algorithm>
#include <iostream>
#include <memory>
#include <regex>
#include <utility>

#include "tuner/cli/arguments.hpp"
#include "tuner/cli/devices.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/launch.hpp"
#include "tuner/session/finalists.hpp"
#include "tuner/target/check.hpp"
#include "tuner/target/manifest.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"
#include "tuner/text/strings.hpp"

namespace autotune::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kConfigurations = 4;

/// What is wrong with a manifest on a device; empty if nothing is.
ManifestTrouble trouble_with(const Target& target, Device& device) {
  const NamedValues sizes = sizes_in(example_sizes(target), target)[0];
  const Problem problem = problem_of(target, sizes, {});
  const int threads = usual_compile_threads();
  const TargetCheck check = check_target(target, problem, device, kConfigurations, threads);
  const CheckedConfiguration& first = check.configurations.front();
  if (!check.compiles()) {
    const bool is_reference = check.reference != Outcome::ok;
    const std::string& log = is_reference ? check.reference_log : first.message;
    const bool fails = is_reference || first.outcome == Outcome::compile_error;
    return {.message = fails ? first_error(log) : log, .does_not_compile = fails};
  }
  const std::span by_default(&first.configuration, 1);
  auto verdict = verdicts_at_edge(target, problem, by_default, device, threads)[0];
  for (const std::int64_t size :
       {255, 63}) {  // constraints may want multiples: one more is an edge
    if (verdict || target.sizes.empty()) break;
    const NamedValues all = sizes_in(std::to_string(size), target)[0];
    if (!fits_an_example(target, all)) continue;
    const Problem other = problem_of(target, all, {});
    verdict = verdicts_at_edge(target, other, by_default, device, threads)[0];
  }
  if (!verdict || verdict->outcome == Outcome::ok) return {};
  return {.message = edge_complaint(target, *verdict),
          .unwritten = verdict->unwritten,
          .is_undefined = verdict->is_undefined};
}

/// The header that a compiler did not find; empty if something else is wrong.
std::string missing_header(const std::string& message) {
  static const std::regex kMissing(
      "([^ ]+): No such file|open source file \"([^\"]+)\"|'([^']+)' file not found|"
      "the host device has no <([^>]+)>");
  std::smatch found;
  if (!std::regex_search(message, found, kMissing)) return "";
  return found[1].str() + found[2].str() + found[3].str() + found[4].str();
}

}  // namespace

ProposedManifest::ProposedManifest(const fs::path& file, std::string entry,
                                   const std::vector<fs::path>& include)
    : file_(file), entry_(std::move(entry)), source_(kernel_source_in(file, include)) {
  const fs::path folder = fs::absolute(file).parent_path();
  for (const fs::path& each : include) {
    if (!fs::is_directory(each)) {
      throw UsageError(format("--include {}: there is no such folder", each.string()));
    }
    const fs::path beside = fs::absolute(each).lexically_relative(folder);
    corrections_.include.push_back(beside.empty() ? fs::absolute(each).string() : beside.string());
  }
  first_ = made();
}

FirstManifest ProposedManifest::made() const {
  return first_manifest(source_.text, source_.headers, file_.filename().string(), entry_,
                        corrections_);
}

fs::path ProposedManifest::path() const {
  return file_.parent_path() / (first_.name + ".target.toml");
}

Target ProposedManifest::target() const { return read_manifest(first_.text, path()); }

ManifestTrouble ProposedManifest::trouble(Device& device) const {
  try {
    return trouble_with(target(), device);
  } catch (const std::exception& error) {  // a launch may be more than the device can do
    return {.message = error.what()};
  }
}

ManifestTrouble ProposedManifest::without_rest(Device& device, ManifestTrouble before) {
  corrections_.is_divided = true;
  FirstManifest divided = made();
  std::swap(first_, divided);
  if (trouble(device).message.empty()) return {};
  corrections_.is_divided = false;
  first_ = std::move(divided);
  return before;
}

ManifestTrouble ProposedManifest::correct(Device& device) {
  ManifestTrouble trouble;
  for (bool again = true; again;) {
    trouble = this->trouble(device);
    const bool is_new = trouble.is_undefined && !corrections_.is_positive;
    corrections_.is_positive = corrections_.is_positive || trouble.is_undefined;
    const std::string missing = trouble.does_not_compile ? missing_header(trouble.message) : "";
    auto& empty = corrections_.empty_headers;
    const bool is_missing = !missing.empty() && std::ranges::find(empty, missing) == empty.end();
    if (is_missing) empty.push_back(missing);
    again = is_new || is_missing ||
            (!trouble.unwritten.empty() && corrections_.in_part.insert(trouble.unwritten).second);
    if (again) first_ = made();
  }
  if (trouble.does_not_compile) {
    const auto& empty = corrections_.empty_headers;
    throw Error(format(
        "{} does not compile for {}: {}; {}{}", file_.string(), device.info().name, trouble.message,
        empty.empty() ? "correct the file"
                      : format("give the folder of {} by --include, or correct the file",
                               joined(empty, ", ")),
        device.info().kind == DeviceKind::host
            ? ", or if it is for GPUs only, try --device model:h200"
            : ""));
  }
  const bool may_have_rest = !trouble.message.empty() && first_.has_rest;
  return may_have_rest ? without_rest(device, std::move(trouble)) : trouble;
}

namespace {

int run_init(const Arguments& arguments) {
  const fs::path file =
      only_word(arguments, "init needs one file, such as: autotune init kernel.cu");
  std::vector<fs::path> include;
  for (const std::string& each : arguments.all("include")) include.emplace_back(each);
  ProposedManifest proposed(file, arguments.find("entry").value_or(""), include);
  const fs::path manifest = proposed.path();
  refuse_existing(manifest);
  const std::unique_ptr<Device> device =
      open_device(arguments.text("device"), compile_limit_of(arguments));
  const ManifestTrouble trouble = proposed.correct(*device);
  const FirstManifest& first = proposed.first();
  write_output(manifest, [&](std::ostream& stream) { stream << first.text; });
  const std::string path =
      file.parent_path().empty() ? "./" + manifest.string() : manifest.string();
  std::cout << format("{}: a manifest of {}\n", path, first.name);
  for (const std::string& each : first.questions) std::cout << format("?         {}\n", each);
  if (const auto& empty = proposed.empty_headers(); !empty.empty()) {
    std::cout << format("taken as empty, because they are not there: {}\n", joined(empty, ", "));
  }
  if (!first.kept.empty()) {
    std::cout << format("no parameter, because the names do not say so: {}\n",
                        joined(first.kept, ", "));
  }
  if (!trouble.message.empty()) {
    throw Error(format("{}: autotune check does not accept it yet: {}", path, trouble.message));
  }
  std::cout << format("validate it  autotune check {}\n", shell_text({{path}}));
  return kDone;
}

}  // namespace

const Verb kInit{
    .name = "init",
    .synopsis = "FILE [--entry KERNEL] [--include FOLDER] [--device D]",
    .summary = "Write a manifest for a kernel that you have",
    .details =
        "Reads a `.cu` file as it is, with its host code, and writes `KERNEL.target.toml` beside "
        "it: sizes, parameters, arguments, launch. Existing files are never overwritten. What the "
        "file does not show is guessed, and marked by a line `# ?` with a question, at most seven "
        "of "
        "them. The manifest is then checked as by `autotune check`. The file is read without a "
        "compiler, by names and indices: proposals are worth a look. "
        "[guide.md](guide.md#the-kernel-that-you-already-have) has an example.",
    .options =
        {{"entry", "KERNEL",
          "The kernel, if the file has several, beside those called reference or naive"},
         {"include", "FOLDER", "Where headers of the kernel are, beside its own folder", {}, true},
         kDeviceOption,
         kCompileLimitOption},
    .positional = "FILE",
    .run = run_init};

}  // namespace autotune::cli
