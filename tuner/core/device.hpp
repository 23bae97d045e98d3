// SPDX-License-Identifier: Apache-2.0
// What compiles and runs kernels: CUDA, the host, a GPU model, a worker process, a fake.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "tuner/core/baseline.hpp"
#include "tuner/core/launch.hpp"
#include "tuner/core/outcome.hpp"
#include "tuner/core/scope.hpp"

namespace autotune {

enum class DeviceKind : std::uint8_t { cuda, host, model, fake };
std::string_view name_of(DeviceKind kind);

/// What is known of a device. Names in expressions are `device.` and the field's name.
struct DeviceInfo {
  std::string name;  // `NVIDIA H200`, or the CPU's model name
  DeviceKind kind = DeviceKind::fake;
  std::string id;              // PCI vendor and device; empty where there is none
  std::string environment;     // `driver 580.82, CUDA 13.0, NVRTC 13.0.88`: a session's, not a key
  int compute_capability = 0;  // 90 for sm_90; 0 for the host
  int multiprocessors = 1;
  int warp_size = 32;
  int max_threads_per_block = 1024;
  Dim3 max_block{1024, 1024, 64};
  Dim3 max_grid{2147483647, 65535, 65535};
  std::int64_t shared_bytes_per_block = 48 << 10;  // opt-in maximum
  std::int64_t shared_bytes_per_multiprocessor = 64 << 10;
  std::int64_t registers_per_multiprocessor = 65536;
  int threads_per_multiprocessor = 2048;
  int blocks_per_multiprocessor = 32;
  std::int64_t l2_bytes = 0;
  std::int64_t memory_bytes = 0;
  double clock_hz = 0;                 // SM clock, boost
  double memory_bytes_per_second = 0;  // 0 when unknown
};

/// Binds `device.is_host` (0, 1), `device.compute_capability`, `device.multiprocessors`,
/// `device.max_threads` (a block), `device.shared_bytes` (a block), `device.static_shared_bytes`
/// (48 KiB: what a block may declare), `device.registers` (a multiprocessor), `device.l2_bytes`,
/// `device.memory_bytes`, `device.warp_size`.
void bind_device(Scope& scope, const DeviceInfo& info);

/// Of one kernel, read from the compiled binary. -1 where the device has no such notion.
struct KernelResources {
  std::string entry;
  int registers = -1;             // a thread
  std::int64_t shared_bytes = 0;  // static, a block
  std::int64_t local_bytes = 0;   // a thread: stack and spills
  int max_threads = 0;            // from launch bounds; 0 when there are none
  /// Of each parameter in order; nullopt where they are known once the binary is loaded.
  std::optional<std::vector<int>> parameter_bytes = {};
  friend bool operator==(const KernelResources&, const KernelResources&) = default;
};

/// What compile() made. `outcome` is ok, compile_error or timeout; `log` the compiler's own words.
struct CompiledKernel {
  Outcome outcome = Outcome::ok;
  std::string log;
  std::string key;  // content address: source, options, compiler version, architecture
  std::shared_ptr<const std::string> binary;  // a cubin; for the host a shared object
  std::vector<KernelResources> resources;     // one an entry of the unit
  double seconds = 0;                         // spent compiling; 0 when cached
  bool cached = false;
};

/// A configuration failed: thrown by Workbench and Candidate, caught where a Trial is made of it.
class KernelFailure : public std::runtime_error {
 public:
  KernelFailure(Outcome outcome, const std::string& what)
      : std::runtime_error(what), outcome_(outcome) {}
  Outcome outcome() const { return outcome_; }

 private:
  Outcome outcome_;
};

/// Of the kernel called `entry`, or nullptr.
const KernelResources* resources_of(const CompiledKernel& kernel, const std::string& entry);

/// The binary that compiling the workload's reference made. Throws Error when there is none.
std::shared_ptr<const std::string> reference_binary(const Workload& workload,
                                                    const CompiledKernel& compiled);

enum class L2State : std::uint8_t { hot, cold };

/// One batch of launches, timed as a whole.
struct TimedBatch {
  double seconds = 0;         // a launch: elapsed / launches
  double clock_hz = 0;        // SM clock over the batch; 0 when unknown
  L2State l2 = L2State::hot;  // it ran in: hot where cold was asked for and cannot be had
};

/// Whatever can be timed: a configuration on a device, or a simulated one with known truth.
class Timer {
 public:
  virtual ~Timer() = default;
  /// Runs `launches` in a chain and returns the time of one. On CUDA a graph between two event
  /// nodes. Throws KernelFailure.
  virtual TimedBatch time(int launches, L2State l2) = 0;
};

/// How a verification ended. When wrong, `message` names the first wrong element, both values and
/// the tolerance: `C[513] is nan, expected 3.25 (tolerance 1e-6); 40 of 4096 elements are wrong`.
struct Verdict {
  Outcome outcome = Outcome::ok;  // ok, wrong, nondeterministic; pruned: given up, right so far
  std::string message;
  double worst_error = 0;  // largest |c - r| / tolerance
  double seconds = 0;      // the last launch by itself, or the first where it was given up
};

/// One configuration, loaded on a device with the buffers of its problem.
class Candidate : public Timer {
 public:
  /// Runs on every input set with poisoned outputs and compares each element with the reference;
  /// red zones round the buffers and the inputs themselves must be untouched. `runs` > 1 also
  /// demands bit-identical results. After a first launch that takes longer than `give_up_seconds`,
  /// unless that is 0, nothing more is run. Throws KernelFailure when the launch itself fails.
  virtual Verdict verify(int runs = 1, double give_up_seconds = 0) = 0;
  /// After timing, for a kernel may stop working after many calls: runs once more on the input set
  /// that was timed, and checks everything that verify() does.
  virtual Verdict recheck() { return verify(); }
};

/// The buffers of one problem on one device, filled, with the reference results. Not thread-safe.
class Workbench {
 public:
  virtual ~Workbench() = default;
  /// Makes a configuration ready. Throws KernelFailure (launch_error) when it is refused.
  virtual std::unique_ptr<Candidate> load(const CompiledKernel& kernel, const LaunchPlan& plan) = 0;
  /// The time of an empty kernel, measured the same way; 0 where that means nothing.
  virtual double launch_floor() = 0;

  /// What a vendor's library has for this problem, by name; nothing on a device that cannot run it.
  /// Throws Error when the library cannot be used, KernelFailure when it takes its process down.
  virtual std::vector<std::string> baselines(const BaselineSource&) { return {}; }
  /// One of them, ready to be verified and timed like a configuration. Throws likewise.
  virtual std::unique_ptr<Candidate> load_baseline(const BaselineSource& source,
                                                   std::size_t number);
};

class Device {
 public:
  virtual ~Device() = default;
  virtual const DeviceInfo& info() const = 0;
  /// Compiles without launching; any number of threads at a time; never throws for a bad kernel.
  /// Throws NotCompiled when the machine is to blame.
  virtual CompiledKernel compile(const SourceUnit& unit) = 0;
  /// Ends what is being compiled; from then on compile() gives only what the cache has, and throws
  /// NotCompiled for the rest.
  virtual void stop_compiling() {}
  /// Whether compile() would most likely find it made already. Cheap: reads no binary.
  virtual bool is_cached(const SourceUnit&) { return false; }
  /// False for `model:`: compile() works, open() throws Error.
  virtual bool runs() const { return true; }
  /// Whether what it says is the same in every run. Elsewhere trials need not be made in the order
  /// asked for: times differ from run to run anyhow.
  virtual bool repeats() const { return !runs(); }
  /// Whether kernels run in another process: what they do cannot end this one.
  virtual bool isolated() const { return false; }
  /// Seconds so far in which it had something to do besides compiling; 0 where nobody counts them.
  virtual double busy_seconds() { return 0; }
  /// Allocates and fills the buffers and computes the reference. Throws Error with sizes and what
  /// is free when memory does not suffice, or when the reference kernel itself fails.
  virtual std::unique_ptr<Workbench> open(const Workload& workload) = 0;
  /// Blocks resident on one multiprocessor as the driver says, or clusters resident on the whole
  /// GPU where the launch has clusters; nullopt where there is no driver.
  virtual std::optional<int> active_blocks(const CompiledKernel&, const Launch&) {
    return std::nullopt;
  }
};

}  // namespace autotune
