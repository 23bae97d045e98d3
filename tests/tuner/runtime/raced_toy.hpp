// SPDX-License-Identifier: Apache-2.0
// A target for races: one launch over N, the faster the larger B is.
#pragma once

#include "tests/support/fake_device.hpp"
#include "tuner/core/target.hpp"

namespace autotune {

inline Target raced_toy() {
  Target target;
  target.name = "toy";
  target.source_path = "toy.cu";
  target.source_text = "// toy";
  target.sizes = {"N"};
  target.parameters = {{"B", {1, 2, 4, 8}, {}, false}};
  target.default_configuration = {{"B", 1}};
  KernelSpec kernel;
  kernel.entry = "toy";
  kernel.grid = {Expression::parse("N")};
  kernel.block = {Expression::parse("32")};
  target.kernels = {kernel};
  target.reference.kernels = {kernel};
  target.fingerprint = "f1";
  return target;
}

/// 8 us with B=1.
inline testing::Fate larger_is_faster(const testing::Macros& macros) {
  return {Outcome::ok, 8e-6 / static_cast<double>(macros.at("B")), ""};
}

}  // namespace autotune
