// SPDX-License-Identifier: Apache-2.0
// Private to this folder: the right answers of a problem, from its reference kernels or a file.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "tuner/gpu/cubin_compiler.hpp"
#include "tuner/gpu/cuda_handles.hpp"
#include "tuner/gpu/problem_buffers.hpp"

namespace autotune {

/// What one output must hold, in device memory.
struct RightAnswer {
  std::size_t buffer = 0;               // the output's index in the workload
  ElementType type = ElementType::f64;  // of these elements
  DeviceMemory values;
  DeviceMemory magnitudes;  // nothing where the values stand for them
  bool exact = false;       // no rounding is allowed

  DeviceAnswer on_device() const { return {type, values.get(), magnitudes.get(), exact}; }
};

/// Answers by input set; a set without any is not to be run (a file knows the uniform set only).
using RightAnswers = std::array<std::vector<RightAnswer>, kInputSets.size()>;

/// Runs the reference on each set and on its absolute values, or reads the workload's file. Throws
/// Error when the reference does not compile or run, or the file does not fit.
RightAnswers right_answers(cudaStream_t stream, const Workload& workload,
                           const CubinCompiler& compiler, const DeviceKernels& kernels,
                           const ProblemBuffers& buffers);

}  // namespace autotune
