// SPDX-License-Identifier: Apache-2.0
// Sources that are compiled together see the headers of each other. This finds a source that uses
// a type, constant or function of a header of this tree, and does not include the header.
#pragma once

#include <string>
#include <vector>

#include "tests/architecture/source_text.hpp"

namespace autotune::architecture {

/// One sentence for each such name. Names are compared as text, so it misses those that two headers
/// declare, or that the source or a header that it reaches may declare as well.
std::vector<std::string> missing_own_includes(const Sources& sources);

}  // namespace autotune::architecture
