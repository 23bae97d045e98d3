// SPDX-License-Identifier: Apache-2.0
// Decides for each call whether a tuned kernel serves it, counts, and prepares kernels
// (KernelMaker).
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <variant>
#include <vector>

#include "tuner/blas/call_shape.hpp"
#include "tuner/blas/call_table.hpp"
#include "tuner/blas/serving_kernel.hpp"
#include "tuner/blas/vendor_library.hpp"

namespace autotune::blas {

// Finds what serves a shape of call: a tuned kernel, or the reason why there is none. A
// background thread prepares kernels. Until a kernel is ready, cuBLAS serves its calls.

/// Looks up configurations and compiles them. Not thread-safe.
class KernelMaker {
 public:
  /// The kernel is never freed. Warns once about each kind of failure.
  std::variant<const ServingKernel*, Outcome> make(const CallShape& shape);

 private:
  using Key = std::tuple<std::int32_t, std::string, std::string>;  // device, target, settings
  /// What is known of a problem.
  struct Choice {
    Outcome outcome = Outcome::failed;  // served: the configuration is expected to win
    TargetProblem problem;              // with the call's leading dimensions
    autotune_handle* handle = nullptr;
    std::string configuration = {};
    bool is_open = false;      // whether it or cuBLAS is faster
    double expected_ns = 0;    // of its kernel
    bool is_exact = false;     // known at the very sizes of `timed`
    TargetProblem timed = {};  // whose times rank it: packed, if its configuration runs there too
  };

  using Made = std::variant<const ServingKernel*, Outcome>;

  std::vector<Choice> choose(const CallShape& shape);
  /// Whether `other` is to be preferred to the one with fewer units.
  static bool is_better(const Choice& other, const Choice& own);
  /// `obstacle`: the outcome without a configuration, in place of a failure.
  Choice look_up(std::int32_t device, const TargetProblem& problem,
                 std::optional<Outcome> obstacle = {});
  Choice choice_for(const CallShape& shape, const TargetProblem& packed);
  static const Choice* rival_in(const std::vector<Choice>& ranked);
  static Made prepare(const Choice& choice, const ServingKernel* stand_in);
  autotune_handle* handle_for(std::int32_t device, const TargetProblem& problem);

  std::map<Key, autotune_handle*> handles_;  // never closed: kernels need them
};

class Preparer {
 public:
  /// Requests the kernel of an entry, once. With `wait`, it is ready on return.
  void request(CallEntry& entry, bool wait);
  /// For the end of the process. Drops all requests, and ends the thread, or leaves it behind if it
  /// does not end within kLongestEnd. Does not wait for a compiler.
  void stop();

 private:
  void start();
  void run();
  void prepare(CallEntry& entry);
  void load();

  static constexpr std::chrono::milliseconds kLongestEnd{500};

  std::mutex making_;
  KernelMaker maker_;
  std::mutex mutex_;  // of what follows
  std::condition_variable changed_;
  std::deque<CallEntry*> waiting_;
  std::thread thread_;
  const RuntimeLibrary* runtime_ = nullptr;  // once the thread has loaded it
  bool is_stopped_ = false, has_ended_ = false;
};

/// Of this process. It stops at exit.
Preparer& preparer();

/// A call, with the arguments that cuBLAS gets.
struct Call {
  CallValues values;
  const VendorLibrary* vendor = nullptr;
  BlasHandle handle = nullptr;  // its stream is used, unless this is null
  Stream stream = nullptr;
};

/// Reads the scalars of a call into its values. `alpha` and `beta` are addresses of floats, on the
/// host if `pointer_mode` says so.
Scale take_scalars(CallValues& values, int pointer_mode, const void* alpha,
                   const void* beta) noexcept;

/// Whether all matrices that are read or written have an address.
bool has_addresses(const CallValues& values) noexcept;

/// The largest power of two, up to 16, that divides all addresses except that of a bias.
std::uint8_t alignment_of(const CallValues& values) noexcept;

/// The entry of a shape on the current device. It never moves. nullptr in a forked process, and
/// once there are thousands of shapes, because kernels for all of them are unlikely.
CallEntry* entry_of(CallShape shape);

/// False if serve() passes the call on, whatever its addresses are.
bool may_be_served(const CallEntry& entry) noexcept;

/// True if a tuned kernel was launched. Otherwise the caller calls cuBLAS.
bool serve(CallEntry* entry, const Call& call) noexcept;

/// Follows a call of cuBLAS that serve() has passed on: `has_run` tells whether cuBLAS took it.
void end_vendor_call(bool has_run) noexcept;

/// All calls of this process.
CallTable& call_table();

/// Called at the end of the process: completes the workload file and writes the report. Does
/// nothing in a forked process, whose counts include those of its parent.
void finish() noexcept;

}  // namespace autotune::blas
