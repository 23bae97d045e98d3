// SPDX-License-Identifier: Apache-2.0
// autotune import t1: T1 tuning problems as manifests.
#include <filesystem>
#include <iostream>

#include "tuner/cli/import_actions.hpp"
#include "tuner/core/error.hpp"
#include "tuner/file/replace_file.hpp"
#include "tuner/interchange/t1_manifest.hpp"
#include "tuner/text/format.hpp"

namespace autotune::cli {
namespace {

std::filesystem::path output_of(const Arguments& arguments, const T1Manifest& manifest) {
  const auto given = arguments.find("output");
  const std::filesystem::path file = given ? *given : manifest.name + ".target.toml";
  if (std::filesystem::exists(file)) {
    throw UsageError(format("{}: exists, and is not overwritten: name another file with --output",
                            file.string()));
  }
  return file;
}

}  // namespace

int import_t1(const Arguments& arguments, const std::vector<std::string>& files) {
  if (arguments.has("output") && files.size() > 1) {
    throw UsageError("--output names one manifest: import one file at a time");
  }
  for (const std::string& name : files) {
    const T1Manifest manifest = t1_manifest(name);
    const std::filesystem::path file = output_of(arguments, manifest);
    write_file(file, [&](std::ostream& stream) { stream << manifest.text; });
    std::cout << format("{}: written from {}\n", file.string(), name);
    for (const std::string& each : manifest.to_complete) std::cout << format("  {}\n", each);
    std::cout << format("then: autotune check ./{} --sizes …\n", file.filename().string());
  }
  return kDone;
}

}  // namespace autotune::cli
