// SPDX-License-Identifier: Apache-2.0
// The picture of the documents.
#pragma once

#include <span>
#include <string>

#include "tuner/text/plot.hpp"

namespace autotune::bench {

/// One document with the plots side by side.
std::string svg_plots(std::span<const Plot> plots);

}  // namespace autotune::bench
