// SPDX-License-Identifier: Apache-2.0
#include "tuner/gpu/device_kernels_source.hpp"

#include "tuner/gpu/device_kernels_text.hpp"
#include "tuner/measure/verification.hpp"
#include "tuner/text/format.hpp"

namespace autotune {

SourceUnit device_kernels_source() {
  SourceUnit unit;
  unit.name = "elements.hpp";
  unit.prelude = format("#define ZONE {}\n#define ZONE_BYTE {}\n#define MOST_STAMPS {}\n",
                        kRedZoneBytes, static_cast<int>(kRedZoneByte), kMostStamps);
  unit.text = device_kernels_text();
  unit.options = {"-fmad=false"};  // products and sums are rounded apart, as on the host
  unit.entries = {"fill_f32",
                  "fill_f64",
                  "fill_i32",
                  "fill_i64",
                  "compare_f32_f32",
                  "compare_f32_f64",
                  "compare_f64_f64",
                  "compare_i32_i32",
                  "compare_i64_i64",
                  "count_inexact_f32",
                  "count_inexact_f64",
                  "check_zones",
                  "hash",
                  "stamp",
                  "empty"};
  return unit;
}

}  // namespace autotune
