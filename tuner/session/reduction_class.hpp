// SPDX-License-Identifier: Apache-2.0
// The reduction class of a configuration: in which order a product adds, as its bits show.
#pragma once

#include <string>
#include <vector>

#include "tuner/core/device.hpp"
#include "tuner/core/target.hpp"

namespace autotune {

/// In place of a class: the bits of an element depend on its row, or on the number of rows.
inline constexpr const char* kPlaceDependent = "place-dependent";

/// Whether products of this target have classes: its sizes are M, N and K, it multiplies A by B,
/// and `settings` has the layout.
bool has_reduction_classes(const Target& target, const Problem& problem);

/// The class of each configuration, for the problem's K, N, batch and settings and for every M.
/// Configurations of equal classes give an element the same bits wherever its row lies, however
/// many rows there are. The class is a hash of the output's bits on inputs whose exact sums are 0,
/// so that only roundings are left, by which orders of addition differ. kPlaceDependent if rows
/// differ that should not. Empty if the configuration does not run, or for a target without
/// classes.
///
/// Runs on the device with M from 1 to a few hundred, and with at most 512 columns on the host.
/// Throws Error if the device fails.
std::vector<std::string> reduction_classes(Device& device, const Target& target,
                                           const Problem& problem,
                                           const std::vector<std::string>& configurations);

}  // namespace autotune
