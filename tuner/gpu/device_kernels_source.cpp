// SPDX-License-Identifier: Apache-2.0
#include "tuner/gpu/device_kernels_source.hpp"

#include "tuner/gpu/device_kernels_text.hpp"
#include "tuner/text/format.hpp"

namespace autotune {

SourceUnit device_kernels_source() {
  SourceUnit unit;
  unit.name = "elements.hpp";
  unit.prelude = format("#define MOST_STAMPS {}\n", kMostStamps);
  unit.text = device_kernels_text();
  unit.options = {"-fmad=false"};  // products and sums are rounded apart, as on the host
  unit.entries = {"count_other", "scatter", "hash", "stamp", "copy", "empty", "neighbour"};
  for (const std::string& type : element_type_names()) {
    unit.entries.push_back("fill_" + type);
    unit.entries.push_back(format("compare_{0}_{0}", type));
    if (!is_floating(*element_type(type))) continue;
    unit.entries.push_back("count_inexact_" + type);
    if (type != "f64") unit.entries.push_back(format("compare_{}_f64", type));
  }
  return unit;
}

}  // namespace autotune
