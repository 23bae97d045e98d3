// SPDX-License-Identifier: Apache-2.0
// Private to this folder: reference results of a problem, from its reference kernels or a file.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "tuner/gpu/cubin_compiler.hpp"
#include "tuner/gpu/cuda_handles.hpp"
#include "tuner/gpu/problem_buffers.hpp"

namespace autotune {

/// The expected content of one output, in device memory.
struct RightAnswer {
  std::size_t buffer = 0;               // the output's index in the workload
  ElementType type = ElementType::f64;  // of these elements
  DeviceMemory values;
  DeviceMemory magnitudes;  // empty: use the values
  bool exact = false;       // must be equal

  DeviceAnswer on_device() const { return {type, values.get(), magnitudes.get(), exact}; }
};

/// Reference results of each input set. Configurations run only on sets with results: a file has
/// them for the uniform set only.
using RightAnswers = std::array<std::vector<RightAnswer>, kInputSets.size()>;

/// Fills the prepared inputs. Then runs the reference on each set and on its absolute values, or
/// reads the workload's file. Throws Error if kernels of the reference do not compile or run, or if
/// the file has the wrong length.
RightAnswers right_answers(cudaStream_t stream, const Workload& workload,
                           const CubinCompiler& compiler, const DeviceKernels& kernels,
                           ProblemBuffers& buffers);

}  // namespace autotune
