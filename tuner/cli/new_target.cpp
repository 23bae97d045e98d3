// SPDX-License-Identifier: Apache-2.0
// autotune new-target: writes a kernel and its manifest to start from.
#include "tuner/target/new_target.hpp"

#include <algorithm>
#include <iostream>
#include <vector>

#include "tuner/cli/arguments.hpp"
#include "tuner/core/error.hpp"
#include "tuner/file/replace_file.hpp"
#include "tuner/target/catalog.hpp"
#include "tuner/text/format.hpp"

namespace autotune::cli {
namespace {

void write_text(const std::string& file, const std::string& text) {
  write_file(file, [&](std::ostream& stream) { stream << text; });
}

int run_new_target(const Arguments& arguments) {
  const std::string& name =
      only_word(arguments, "new-target needs one name, such as: autotune new-target saxpy");
  const std::vector<CatalogEntry> known = list_targets();
  if (std::ranges::find(known, name, &CatalogEntry::name) != known.end()) {
    throw Error(format("there is a target {} already: give another name", name));
  }
  const TargetFiles files = new_target_files(name);
  const std::string source = name + ".cu", manifest = name + ".target.toml";
  refuse_existing(source);
  refuse_existing(manifest);
  write_text(source, files.source);
  write_text(manifest, files.manifest);
  std::cout << format(
      "{0}: a small kernel and its plain reference\n"
      "{1}: its manifest with parameters, arguments, launch and reference\n"
      "validate it  autotune check ./{1}\n"
      "tune it      autotune --target ./{1} --sizes 65536\n",
      source, manifest);
  return kDone;
}

}  // namespace

const Verb kNewTarget{
    .name = "new-target",
    .synopsis = "NAME",
    .summary = "Write a small kernel and its manifest into the current folder",
    .details =
        "Writes `NAME.cu` and `NAME.target.toml`, with comments, for one size `N`. They can be "
        "tuned "
        "unchanged, on a GPU and on the host device. Existing files are never overwritten. "
        "[manifest.md](manifest.md) documents the format.",
    .options = {},
    .positional = "NAME",
    .run = run_new_target};

}  // namespace autotune::cli
