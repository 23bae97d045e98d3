// SPDX-License-Identifier: Apache-2.0
// Small sources, and what `init` writes for them.
#pragma once

#include <string>

#include "tuner/target/first_manifest.hpp"

namespace autotune {

inline std::string text_of(const std::string& source, const Corrections& corrections = {}) {
  return first_manifest(source, "", "k.cu", "", corrections).text;
}

/// `k` with these parameters and this body.
inline std::string kernel(const std::string& parameters, const std::string& body) {
  return "__global__ void k(" + parameters +
         ") {\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n" + body + "}\n";
}

}  // namespace autotune
