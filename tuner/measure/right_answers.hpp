// SPDX-License-Identifier: Apache-2.0
// Reference results of a problem, from its reference kernels or a file.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <vector>

#include "tuner/measure/memory.hpp"
#include "tuner/measure/problem_buffers.hpp"

namespace autotune {

/// What inputs and inouts hold: an input set, or the uniform set with a few elements changed.
enum class Contents : std::uint8_t { integers, uniform, varied };
inline constexpr std::array kContents{Contents::integers, Contents::uniform, Contents::varied};
inline std::size_t index_of(Contents contents) { return static_cast<std::size_t>(contents); }
inline InputSet set_of(Contents contents) {
  return contents == Contents::integers ? InputSet::integers : InputSet::uniform;
}

/// One answer for each output and inout, for each of kContents; empty where there are none. A file
/// has them for the uniform set only. Contents that cannot vary have none that varied.
using RightAnswers = std::array<std::vector<SealedAnswer>, kContents.size()>;

/// Binds a plan of the reference's source. Addresses and buffers are the workload's, then those of
/// the plan's workspace. Throws KernelFailure.
using BindReference = std::function<std::unique_ptr<Call>(const LaunchPlan&,
                                                          const std::vector<ZonedBuffer>& buffers)>;

/// Fills the prepared inputs. Then runs the reference on each of kContents and on its absolute
/// values, or reads the workload's file. Throws Error if kernels of the reference fail, or if the
/// file has the wrong length.
RightAnswers right_answers(Memory& memory, const Workload& workload, const BindReference& bind,
                           ProblemBuffers& buffers);

}  // namespace autotune
