// SPDX-License-Identifier: Apache-2.0
// Warnings in programs that are not ours: one line on stderr.
#pragma once

#include <cstddef>
#include <string_view>

namespace autotune::blas {

enum class Topic { library, versions, database, not_tuned, kernel, files, variables };
inline constexpr std::size_t kTopics = 7;

/// Writes `autotune: ` and the first line of `sentence`, once for each topic in a process.
void warn_once(Topic topic, std::string_view sentence);

/// For the end of the process, where what is interrupted is no fault.
void end_warnings();

}  // namespace autotune::blas
