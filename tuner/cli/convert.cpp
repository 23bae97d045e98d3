// SPDX-License-Identifier: Apache-2.0
// autotune convert: a manifest of format 1 in format 2.
#include "tuner/target/convert.hpp"

#include <iostream>

#include "tuner/cli/arguments.hpp"
#include "tuner/core/error.hpp"
#include "tuner/text/format.hpp"

namespace autotune::cli {
namespace {

std::string converted(const std::string& file) {
  const Json manifest = read_json(file);
  try {
    return converted_manifest(manifest);
  } catch (const std::exception& error) {
    throw Error(format("{}: {}", file, error.what()));
  }
}

int run_convert(const Arguments& arguments) {
  const std::string& old = only_word(
      arguments, "convert needs one manifest, such as: autotune convert scale.target.json");
  if (old.ends_with(".toml")) throw UsageError(old + ": is in format 2 already, as all in TOML");
  const std::string text = converted(old);
  write_result(arguments.find("output"), [&](std::ostream& stream) { stream << text; });
  return kDone;
}

}  // namespace

const Verb kConvert{
    .name = "convert",
    .synopsis = "OLD.target.json [--output NEW.target.toml]",
    .summary = "Write a manifest of format 1 in format 2",
    .details =
        "Manifests of format 1, in JSON, are no longer read. Prints the same manifest in format 2 "
        "([manifest.md](manifest.md)), without its comments. Its results belong to another "
        "fingerprint: tune it again.",
    .options = {{"output", "FILE", "Write to this file instead of stdout"}},
    .positional = "FILE",
    .run = run_convert};

}  // namespace autotune::cli
