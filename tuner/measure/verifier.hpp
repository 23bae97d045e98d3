// SPDX-License-Identifier: Apache-2.0
// Whether calls of a configuration are right: the first ones, repeated ones, and those in a chain
// that is timed. The same on every device.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <random>
#include <vector>

#include "tuner/core/device.hpp"
#include "tuner/measure/memory.hpp"
#include "tuner/measure/problem_buffers.hpp"
#include "tuner/text/random_bits.hpp"

namespace autotune {

// Reference results of a problem, from its reference kernels or a file.

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

/// A configuration's workspace, filled once, when it is allocated, and its unchecked outputs.
using Workspace = std::vector<ZonedBuffer>;
/// Throws as Memory::allocate().
Workspace allocated_workspace(Memory& memory, const LaunchPlan& plan);

/// A configuration's call on the buffers of each input set.
using CallOfSet = std::array<std::unique_ptr<Call>, kInputSets.size()>;

class Verifier {
 public:
  /// All arguments must outlive it.
  Verifier(Memory& memory, const Workload& workload, ProblemBuffers& buffers,
           const RightAnswers& answers);

  /// As Candidate::verify(). Nothing is reset between runs but what a program resets: the poison of
  /// outputs and red zones changes, inouts get their contents again, and the workspace is as the
  /// last call left it. Repairs what a wrong kernel changed.
  Verdict verify(const CallOfSet& calls, Workspace& workspace, int runs, double give_up_seconds);
  /// As Candidate::recheck(); `call` is that of the uniform set.
  Verdict recheck(Call& call, Workspace& workspace);

  /// As Candidate::rows(); `call` is that of the uniform set.
  RowBits rows(Call& call, const Workspace& workspace, std::int64_t columns);

  /// Checks calls in a chain like the one just timed, whose calls take about `seconds`: what it
  /// left in the outputs, if there are no inouts; then calls on contents that changed just before
  /// them, and outputs with poison in places. How many calls, and which, no kernel can know. Takes
  /// about 2 ms, or two calls. Throws KernelFailure if one is wrong.
  void check_chain(Call& call, Workspace& workspace, double seconds);
  /// As Candidate::time_unseen(); `call` is that of the uniform set.
  UnseenCalls time_unseen(Call& call, int rounds);
  /// Whether a timed chain is followed by check_chain(): by chance, every other one.
  bool is_chain_checked() { return secret_() % 2 == 0; }

 private:
  struct Report;
  using Outputs = std::vector<std::shared_ptr<std::byte>>;  // of the first of several runs
  Verdict run_once(Call& call, Workspace& workspace, InputSet set, Poison poison,
                   const Outputs& first);
  void inspect(const Workspace& workspace, InputSet set, const Outputs& first,
               Report& report) const;
  void count_left(const Workspace& workspace, std::vector<std::uint64_t>& left) const;
  void compare(const std::vector<SealedAnswer>& answers, InputSet set,
               std::vector<Finding>& findings) const;
  Verdict verdict(Workspace& workspace, InputSet set, Poison poison, const Outputs& first,
                  const Report& report);
  Verdict answers_verdict(Contents contents, Poison before);
  Verdict answer_verdict(const SealedAnswer& answer, InputSet set, Poison before,
                         const Finding& finding) const;
  Verdict repeat_verdict(const SealedAnswer& answer, InputSet set, const std::byte* first,
                         const Finding& finding) const;
  Verdict input_verdict(std::size_t index, InputSet set) const;
  Verdict workspace_verdict(const ZonedBuffer& buffer) const;
  Verdict check_one(Call& call, const Workspace& workspace, Contents contents);
  Outputs outputs(InputSet set) const;
  const std::byte* got(const SealedAnswer& answer, InputSet set) const {
    return buffers_.buffer(answer.buffer, set).start();
  }

  Memory& memory_;
  const Workload& workload_;
  ProblemBuffers& buffers_;
  const RightAnswers& answers_;
  std::mt19937_64 secret_{random_bits()};
};

}  // namespace autotune
