// SPDX-License-Identifier: Apache-2.0
// Precompiled headers hide that a source does not include what it uses. This finds such sources.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace autotune::architecture {

/// One sentence for each source that uses a name of a precompiled header,
/// and includes that header neither itself nor through a header of this tree.
std::vector<std::string> missing_includes(const std::filesystem::path& root);

}  // namespace autotune::architecture
