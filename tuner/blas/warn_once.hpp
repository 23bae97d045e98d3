// SPDX-License-Identifier: Apache-2.0
// Warnings in programs that are not ours: one line on stderr.
#pragma once

#include <string_view>

namespace autotune::blas {

enum class Topic { library, database, not_tuned, kernel, files };

/// Writes `autotune: ` and the first line of `sentence`, once for each topic in a process.
void warn_once(Topic topic, std::string_view sentence);

}  // namespace autotune::blas
