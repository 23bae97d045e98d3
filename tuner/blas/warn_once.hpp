// SPDX-License-Identifier: Apache-2.0
// One line on stderr of a program that is not ours.
#pragma once

#include <string_view>

namespace autotune::blas {

enum class Topic { library, database, not_tuned, kernel, files };

/// Writes `autotune: SENTENCE`, the first line of it, once for each topic in a process.
void warn_once(Topic topic, std::string_view sentence);

}  // namespace autotune::blas
