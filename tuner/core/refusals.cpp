// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/refusals.hpp"

#include "tuner/text/format.hpp"

namespace autotune {

std::string grid_barrier_refusal(const std::string& source, const std::string& who) {
  return format(
      "{}: error: {} waits for the whole grid (this_grid().sync()), which needs a cooperative "
      "launch, and these are not supported: split it into two kernels\n",
      source, who);
}

std::string file_refusal(const std::string& source, const std::filesystem::path& file) {
  return format(
      "{}: error: it reads {}: a source may include files of its own folder and of its `include` "
      "folders, but no data of the target, and headers of the toolkit and the system\n",
      source, file.string());
}

}  // namespace autotune
