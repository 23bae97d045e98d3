// SPDX-License-Identifier: Apache-2.0
// Lines of workload files.
#pragma once

#include <optional>
#include <string>

#include "tuner/blas/call_shape.hpp"

namespace autotune::cli {

struct RecordedCall {
  blas::CallShape shape;
  double calls = 1;
};

/// A line of `autotune run --record`. nullopt for other lines: a full disk cuts them.
std::optional<RecordedCall> recorded_call(const std::string& line);

/// A line of TunableOp's CSV: `GemmTunableOp_float_NT,nt_25088_4096_64`. nullopt for lines that
/// name no product in f32 or 16 bits.
std::optional<RecordedCall> tunable_op_call(const std::string& line);

}  // namespace autotune::cli
