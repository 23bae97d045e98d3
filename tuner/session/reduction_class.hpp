// SPDX-License-Identifier: Apache-2.0
// The reduction class of a configuration: in which order a product adds, as its bits show.
#pragma once

#include <string>
#include <vector>

#include "db/store.hpp"
#include "tuner/core/baseline.hpp"
#include "tuner/core/device.hpp"
#include "tuner/core/target.hpp"

namespace autotune {

/// In place of a class: the bits of an element depend on its row, or on the number of rows.
inline constexpr const char* kPlaceDependent = "place-dependent";
/// Whether rows have the same bits wherever they lie; false if not known.
inline bool is_class(const std::string& text) { return !text.empty() && text != kPlaceDependent; }

/// Whether products of this target have classes: its sizes are M, N and K, it multiplies A by B,
/// `settings` has the layout, and no input is prepared, such as the ends of groups of rows.
bool has_reduction_classes(const Target& target, const Problem& problem);

/// A configuration and its kernel. Of one that does not compile, the outcome says so.
struct BuiltConfiguration {
  std::string configuration;
  CompiledKernel kernel;
  Problem problem;  // for which it was compiled
};

/// Compiles each configuration for the problem, or for another M if it is not valid there.
std::vector<BuiltConfiguration> builds_of(Device& device, const Target& target,
                                          const Problem& problem,
                                          const std::vector<std::string>& configurations,
                                          int threads);

/// The class of each build, for the problem's K, N, batch and settings and for every M. Builds of
/// equal classes give an element the same bits wherever its row lies, however many rows there are.
/// The class is a hash of the output's bits on inputs whose exact sums are 0, so that only
/// roundings are left, by which orders of addition differ. kPlaceDependent if rows differ that
/// should not. Empty if the build does not run, or for a target without classes.
///
/// Runs on the device with M from 1 to a few hundred, on a GPU also with a few thousand, and with
/// at most a few thousand columns, as far as the source is the same as that of the build, and with
/// the build's own M. Classes that `store` has are taken from there; it gets the
/// others. It may be null. Throws Error if the device fails.
std::vector<std::string> reduction_classes(Device& device, const Target& target,
                                           const Problem& problem,
                                           const std::vector<BuiltConfiguration>& builds,
                                           db::TunedStore* store = nullptr);

/// Those that the store has; empty for others.
std::vector<std::string> stored_classes(const db::TunedStore& store, const db::DeviceRow& device,
                                        const Target& target, const Problem& problem,
                                        const std::vector<BuiltConfiguration>& builds);

/// Which builds have the bits of a vendor's library.
struct BitsOfLibrary {
  std::string candidate;    // the library's own choice for the problem; empty: it computes it not
  bool keeps_rows = false;  // its rows have the same bits; else no build has them
  std::vector<bool> alike;  // of the builds
};

/// Compares on the inputs of reduction_classes(), at the problem's sizes. Throws Error if the
/// device fails or the library cannot be used.
BitsOfLibrary bits_of_library(Device& device, const Target& target, const Problem& problem,
                              const std::vector<BuiltConfiguration>& builds,
                              const BaselineSource& library);

}  // namespace autotune
