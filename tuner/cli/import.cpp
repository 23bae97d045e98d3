// SPDX-License-Identifier: Apache-2.0
// autotune import: files of other tuners.
#include <array>

#include "tuner/cli/import_actions.hpp"
#include "tuner/core/error.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"

namespace autotune::cli {
namespace {

struct Kind {
  std::string_view name;
  int (*run)(const Arguments& arguments, const std::vector<std::string>& files);
};

constexpr std::array kKinds{Kind{"t1", import_t1}, Kind{"kt", import_results},
                            Kind{"t4", import_results}};

int run(const Arguments& arguments) {
  const std::vector<std::string>& words = arguments.positional();
  if (words.size() < 2) {
    throw UsageError(
        "import needs a kind and a file, such as: autotune import kt cache.json "
        "--target ./mine.target.toml --size 4096");
  }
  std::vector<std::string> names;
  for (const Kind& kind : kKinds) {
    if (kind.name == words[0]) return kind.run(arguments, {words.begin() + 1, words.end()});
    names.emplace_back(kind.name);
  }
  throw UsageError(
      format("import does not know \"{}\": {}", words[0], suggestion(words[0], names)));
}

}  // namespace

extern const Verb kImport;
const Verb kImport{
    .name = "import",
    .synopsis =
        "t1 FILE [--output NAME.target.toml] | kt|t4 FILE… --target T --size S [--device NAME]",
    .summary = "Read files of other tuners: tuning problems and results",
    .details =
        R"(* `t1` (the T1 format of tuning problems) becomes a manifest, by default `NAME.target.toml` in the
  current folder. Expressions and lists in Python are translated, never run. What has no counterpart
  is a comment in the manifest. The output names what is to be completed or checked, with its place.
* `kt` (Kernel Tuner's cache files, cut-off ones too) and `t4` (T4 results) become trials of the
  target at `--size`, and their fastest configuration an answer of provenance `imported`. Parameters
  have the names of the file. Configurations that are not valid for the target are left out.
* Imported times have a policy of their own, such as `by=kernel_tuner`. They are never compared with
  times of this tool, and no program gets them as an answer: they were not verified here.
* The device is the file's; `--device` names another one, or that of T4 results, which have none.

`autotune db import` reads what `autotune db export` wrote.)",
    .options = {{"output", "FILE", "t1: the manifest to write"},
                {"target", "T", "kt, t4: a target's name or the path of a manifest"},
                {"size", "S", "kt, t4: the problem, as for tune"},
                {"set", "NAME=VALUE", "kt, t4: a setting of the problem", "", true},
                {"device", "NAME", "kt, t4: the GPU that was measured"},
                {"db", "FILE", "kt, t4: the database"}},
    .positional = "KIND",
    .words = "t1 kt t4",
    .run = run};

}  // namespace autotune::cli
