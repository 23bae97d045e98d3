// SPDX-License-Identifier: Apache-2.0
// autotune lock: decisions and compiled kernels in one file.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tuner/cli/answers.hpp"
#include "tuner/cli/arguments.hpp"
#include "tuner/lock/lock.hpp"

namespace autotune::cli {

/// Sizes whose answer a lock is to hold.
struct AskedSizes {
  const Target* target = nullptr;
  NamedValues settings;
  std::string policy;
  std::vector<std::int64_t> sizes;  // of the key, then any free ones
  bool is_call = false;             // of libautotune_blas, which passes on what it does not serve
};

/// The answers for these sizes by tuner/answer, with their kernels, compiled for `device`. Throws
/// Error if a kernel does not compile.
Lock locked(const Arguments& arguments, AnswerJudge& judge, const DeviceInfo& device,
            const std::vector<AskedSizes>& asked);

/// Opens the lock's device, whose kernels run in a worker process. Throws Error if another one is
/// here.
std::unique_ptr<Device> open_device_of(const Lock& lock, double compile_seconds);

/// Stores the class of each answer's bits in the lock: that of the store, which may be null, else
/// what the device finds by running the lock's kernels. Of answers for sizes that differ in M only,
/// each kernel runs once.
void classify(Lock& lock, AnswerJudge& judge, const std::function<Device&()>& device,
              db::TunedStore* store);

/// Without kernels that no answer has.
Lock with_used_kernels(Lock lock);

/// The kernel as a device loads it.
CompiledKernel compiled_kernel(const LockedKernel& locked);

/// The problem of an answer, at the last size of its range.
Problem problem_of(const LockedTarget& target, const LockedAnswer& answer);

/// Runs each kernel against its reference and its time. With --repair, tunes those that fail and
/// writes the file again. Returns the exit status.
int verify_lock(const Arguments& arguments);

/// What `to` has changed, one sentence a line; empty: nothing.
std::string difference(const Lock& from, const Lock& to);

}  // namespace autotune::cli
