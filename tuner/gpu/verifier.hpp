// SPDX-License-Identifier: Apache-2.0
// Private to this folder: verifies the results of a plan on the GPU.
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <memory>
#include <vector>

#include "tuner/gpu/device_kernels.hpp"
#include "tuner/gpu/kernel_launch.hpp"
#include "tuner/gpu/problem_buffers.hpp"
#include "tuner/gpu/right_answers.hpp"

namespace autotune {

/// A configuration's workspace in device memory.
struct Workspace {
  std::vector<BufferSpec> specs;
  std::vector<ZonedBuffer> buffers;
};

/// A call bound to the buffers of each input set.
using PlanOfSet = std::array<std::unique_ptr<BoundWork>, kInputSets.size()>;

class Verifier {
 public:
  /// All arguments must outlive it.
  Verifier(cudaStream_t stream, const Workload& workload, const DeviceKernels& kernels,
           const ProblemBuffers& buffers, const RightAnswers& answers);

  /// As Candidate::verify(). Repairs red zones and inputs that a wrong kernel changed.
  Verdict verify(const PlanOfSet& plans, const Workspace& workspace, int runs,
                 double give_up_seconds) const;
  /// As Candidate::recheck(); `plan` is that of the uniform set.
  Verdict recheck(const BoundWork& plan, const Workspace& workspace) const;

 private:
  struct Report;
  using Outputs = std::vector<DeviceMemory>;  // of the first of several runs; empty before
  Verdict run_once(const BoundWork& plan, const Workspace& workspace, InputSet set,
                   const Outputs& first, Report& report) const;
  void inspect(const Workspace& workspace, InputSet set, const Outputs& first,
               Report& report) const;
  Verdict verdict(const Workspace& workspace, InputSet set, const Outputs& first,
                  const Report& report) const;
  Verdict zone_verdict(const BufferSpec& spec, const ZonedBuffer& buffer) const;
  Verdict input_verdict(std::size_t index, InputSet set) const;
  Verdict answer_verdict(const RightAnswer& answer, InputSet set, const Finding& finding) const;
  /// Member by member, on the host.
  Verdict struct_verdict(const RightAnswer& answer, InputSet set) const;
  Verdict repeat_verdict(const RightAnswer& answer, InputSet set, const DeviceMemory& first,
                         const Finding& finding) const;
  Outputs outputs(InputSet set) const;

  cudaStream_t stream_;
  Event begin_ = make_event(), end_ = make_event();  // around a launch
  const Workload& workload_;
  const DeviceKernels& kernels_;
  const ProblemBuffers& buffers_;
  const RightAnswers& answers_;
};

}  // namespace autotune
