// SPDX-License-Identifier: Apache-2.0
// Names of parameters that a source has of its own, as a kernel has that was not written to be
// tuned: the manifest's values take their place.
#pragma once

#include "tuner/cache/included_text.hpp"
#include "tuner/core/target.hpp"

namespace autotune {

/// Leaves out of the target's sources what gives a parameter's name a value: `#define BLOCK 16`
/// (outside of `#ifndef BLOCK`), and `const int BLOCK = 16;` outside of functions.
void replace_own_values(Target& target);

/// A parameter that an entry passes (`entry = "scan<{BLOCK}>"`) and that a template of the sources
/// has by the same name is no macro: the macro would break the template.
void pass_template_parameters(Target& target, const Included& included);

/// The entry of a kernel that is not extern "C" becomes its C++ name: `scan` becomes `::scan`, or
/// `::detail::scan` if it is in that namespace. Not of templates.
void qualify_entries(Target& target, const Included& included);

/// The `#include <…>` lines at the head of the source, without files of the target's own folders.
/// They precede the macros, whose names the headers of libraries may use.
std::string leading_system_includes(const Target& target);

}  // namespace autotune
