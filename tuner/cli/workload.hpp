// SPDX-License-Identifier: Apache-2.0
// The products that a program called, as problems with weights.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tuner/blas/call_shape.hpp"
#include "tuner/core/target.hpp"
#include "tuner/session/tuning_request.hpp"

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

/// The calls in a file as read_workload() reads it. Throws Error if no line can be read.
std::vector<RecordedCall> recorded_calls(const std::filesystem::path& file);

/// Heaviest first.
struct Workload {
  std::vector<Problem> problems;
  std::vector<double> weights;  // calls times estimated seconds
  std::string left_out;         // a sentence; empty if nothing was left out
};

/// Reads a file of `autotune run --record` (JSON lines), or PyTorch TunableOp's CSV of untuned
/// shapes. Takes the calls that the target serves, with these settings. With a time budget, leaves
/// out problems that would get less than a second. Throws Error if no line can be read, or no call
/// is for the target.
Workload read_workload(const std::filesystem::path& file, const Target& target,
                       const NamedValues& settings, const Budget& budget);

}  // namespace autotune::cli
