// SPDX-License-Identifier: Apache-2.0
// autotune list: what there is to tune, with what, on what.
#include <iostream>

#include "tuner/cli/arguments.hpp"
#include "tuner/core/error.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"

namespace autotune::cli {
namespace {

int run_list(const Arguments& arguments) {
  static const std::vector<std::string> kKinds{"targets", "strategies", "devices", "plugins"};
  if (arguments.positional().size() != 1) {
    throw UsageError("list needs one of targets, strategies, devices, plugins");
  }
  const std::string& kind = arguments.positional()[0];
  throw UsageError(format("there is no list of \"{}\": {}", kind, suggestion(kind, kKinds)));
}

}  // namespace

extern const Verb kList;
const Verb kList{.name = "list",
                 .synopsis = "targets|strategies|devices|plugins [--json]",
                 .summary = "What there is to tune, with what, on what",
                 .details = {},
                 .options = {{"json", "", "Print JSON"}},
                 .positional = "KIND",
                 .run = run_list};

}  // namespace autotune::cli
