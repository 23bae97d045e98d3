// SPDX-License-Identifier: Apache-2.0
// What the runs of a search evaluated, as a text file: they can be scored anew, here and by others.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "tuner/replay/recorded_space.hpp"
#include "tuner/replay/replay.hpp"

namespace autotune {

/// A run is a line: the seed, the search's own time in all in seconds, and the configurations in
/// order, as `16,1,near`: values in the order of the space's parameters.
std::string trace_text(const RecordedSpace& recorded, std::span<const ReplayRun> runs);

/// The runs of such a file, with or without gzip. Throws Error with the file and the line if a
/// configuration is not in the space, or if something else is wrong.
std::vector<ReplayRun> read_trace(const std::filesystem::path& file, const RecordedSpace& recorded);

}  // namespace autotune
