// SPDX-License-Identifier: Apache-2.0
// The help texts, and docs/cli.md, from the table of verbs.
#pragma once

#include <string>

#include "tuner/cli/verb.hpp"

namespace autotune::cli {

/// `autotune --help`: purpose, verbs, environment.
std::string overview();
/// `autotune VERB --help`.
std::string help_of(const Verb& verb);
/// The whole of docs/cli.md.
std::string markdown_reference();

}  // namespace autotune::cli
