// SPDX-License-Identifier: Apache-2.0
// The Device interface: compiles and runs kernels. Implementations: CUDA, the host, a GPU model, a
// worker process, a fake.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "tuner/core/baseline.hpp"
#include "tuner/core/expression.hpp"
#include "tuner/core/launch.hpp"
#include "tuner/core/outcome.hpp"

namespace autotune {

enum class DeviceKind : std::uint8_t { cuda, host, model, fake };
std::string_view name_of(DeviceKind kind);

/// Properties of a device. Expressions see them as `device.` and the field's name.
struct DeviceInfo {
  std::string name;  // `NVIDIA H200`, or the CPU's model name
  DeviceKind kind = DeviceKind::fake;
  std::string id;              // PCI vendor and device, if any
  std::string environment;     // `driver 580.82, CUDA 13.0, NVRTC 13.0.88`; stored with a session
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
  double clock_hz = 0;                 // SM boost clock
  double memory_bytes_per_second = 0;  // 0: unknown
};

/// Binds `device.is_host` (0, 1), `device.compute_capability`, `device.multiprocessors`,
/// `device.max_threads` (a block), `device.shared_bytes` (a block), `device.static_shared_bytes`
/// (48 KiB: what a block may declare), `device.registers` (a multiprocessor), `device.l2_bytes`,
/// `device.memory_bytes`, `device.warp_size`.
void bind_device(Scope& scope, const DeviceInfo& info);

/// Resources of one kernel, from the compiled binary. -1 if the device has no such resource.
struct KernelResources {
  std::string entry;
  int registers = -1;             // per thread
  std::int64_t shared_bytes = 0;  // static, per block
  std::int64_t local_bytes = 0;   // per thread: stack and spills
  int max_threads = 0;            // from launch bounds; 0: none
  /// Bytes of each parameter in order; nullopt if they are known only after the binary is loaded.
  std::optional<std::vector<int>> parameter_bytes = {};
  std::vector<std::string> parameter_types = {};  // `float const*`, …; empty if not known
  friend bool operator==(const KernelResources&, const KernelResources&) = default;
};

/// The result of compile(). `outcome` is ok, compile_error or timeout; `log` is the compiler's
/// output.
struct CompiledKernel {
  Outcome outcome = Outcome::ok;
  std::string log;
  std::string key;  // content address: source, options, compiler version, architecture
  std::shared_ptr<const std::string> binary;  // a cubin; for the host a shared object
  std::vector<KernelResources> resources;     // one per entry of the unit
  double seconds = 0;                         // of compiling; 0 if cached
  bool cached = false;
};

/// A configuration failed. Thrown by Workbench and Candidate, caught where a Trial is made.
class KernelFailure : public std::runtime_error {
 public:
  KernelFailure(Outcome outcome, const std::string& what)
      : std::runtime_error(what), outcome_(outcome) {}
  Outcome outcome() const { return outcome_; }

 private:
  Outcome outcome_;
};

/// The resources of the kernel `entry`, or nullptr.
const KernelResources* resources_of(const CompiledKernel& kernel, const std::string& entry);

/// The binary of the workload's compiled reference. Throws Error if there is none, or if its
/// kernels do not take the workload's types.
std::shared_ptr<const std::string> reference_binary(const Workload& workload,
                                                    const CompiledKernel& compiled);

enum class L2State : std::uint8_t { hot, cold };

/// The calls around a timed one. Devices other than CUDA support `chain` only.
enum class CallContext : std::uint8_t {
  chain,     // repeated, as libautotune launches it: a call that can start early does
  in_order,  // repeated, each call after the end of the previous one
  between,   // between ordinary kernels: the time that the call adds to them
  alone      // on an idle device, launched from a stream
};

/// One batch of launches, timed as a whole.
struct TimedBatch {
  double seconds = 0;         // per launch: elapsed / launches
  double clock_hz = 0;        // SM clock over the batch; 0: unknown
  L2State l2 = L2State::hot;  // actual state: hot if cold is not possible
  double overhead = 0;        // seconds beside the launches: a program starts for each batch

  /// What the batch took.
  double spent(int launches) const { return seconds * launches + overhead; }
};

/// The energy of one launch, over a sustained run of many.
struct Energy {
  double joules = 0;
  double watts = 0;       // of the device, over the run; 0: not known
  double seconds = 0;     // that the run took
  double resolution = 0;  // relative error due to the counter's step
};

/// Something that can be timed: a configuration on a device, or a simulated one with a known time.
class Timer {
 public:
  virtual ~Timer() = default;
  /// Runs `launches` in a chain and returns the time of one; on CUDA, as a graph between two event
  /// nodes. Throws KernelFailure.
  virtual TimedBatch time(int launches, L2State l2) = 0;
  /// The same in another context.
  virtual TimedBatch time_in(CallContext, int launches, L2State l2) { return time(launches, l2); }
};

/// The result of a verification. If it is wrong, `message` names the first wrong element, both
/// values and the tolerance: `C[513] is nan, expected 3.25 (tolerance 1e-6); 40 of 4096 elements
/// are wrong`.
struct Verdict {
  Outcome outcome =
      Outcome::ok;  // ok, wrong, nondeterministic; pruned: stopped early, correct so far
  std::string message;
  double worst_error = 0;  // largest |c - r| / tolerance; without a tolerance, in roundings
  double seconds = 0;      // of a single launch: the last, or the first if stopped early
  bool repeats = true;     // all runs on the same inputs gave the same bits
  /// The output of that element, if neither the kernel nor the reference wrote it.
  std::string unwritten = {};
  bool is_undefined = false;  // the reference has no number there
};

/// The result of `verify`. A kernel that fails to run has a verdict, too.
template <class Verify>
Verdict verdict_or_failure(const Verify& verify) try {
  return verify();
} catch (const KernelFailure& failure) {
  return {failure.outcome(), failure.what()};
}

/// Seconds of single calls: on contents of inputs that no call has seen before, on the same after
/// some other calls, and on the contents that were timed. Empty if contents cannot change.
struct UnseenCalls {
  std::vector<double> unseen, again, timed;
};

/// The bits of an output whose rows should all be equal.
struct RowBits {
  std::vector<std::uint64_t> first;  // each element of the first row; empty: not known
  std::int64_t different = 0;        // elements that differ from those of the first row
};

/// One configuration, loaded on a device with the buffers of its problem.
class Candidate : public Timer {
 public:
  /// Runs on every input set with poisoned outputs and compares each element with the reference.
  /// Red zones and inputs must not change. `runs` > 1 also demands bit-identical results. If
  /// `give_up_seconds` is not 0 and the first launch takes longer, nothing more runs. Throws
  /// KernelFailure if a launch fails.
  virtual Verdict verify(int runs = 1, double give_up_seconds = 0) = 0;
  /// Verifies once more after timing, because a kernel may fail after many calls. Runs on the timed
  /// input set, with all checks of verify().
  virtual Verdict recheck() { return verify(); }
  /// Times calls that may have remembered nothing, and calls that may. Throws KernelFailure.
  virtual UnseenCalls time_unseen(int rounds);
  /// Runs once on the uniform set, and compares the rows of the first output, of `columns`
  /// elements. Throws KernelFailure.
  virtual RowBits rows(std::int64_t /*columns*/) { return {}; }
  /// The energy of a launch over a run of at least `least_seconds`. Throws KernelFailure, and Error
  /// on a device for which no_energy() says why it cannot.
  virtual Energy energy(double least_seconds, L2State l2);
};

/// The buffers of one problem on one device, filled, with the reference results. Not thread-safe.
class Workbench {
 public:
  virtual ~Workbench() = default;
  /// Loads a configuration. Throws KernelFailure (launch_error) if the device refuses it.
  virtual std::unique_ptr<Candidate> load(const CompiledKernel& kernel, const LaunchPlan& plan) = 0;
  /// The time of an empty kernel, measured the same way; 0 if unknown.
  virtual double launch_floor() = 0;

  /// The names of a library's candidates for this problem; empty if the device cannot run the
  /// library. Throws Error if the library is unusable, KernelFailure if it ends its process.
  virtual std::vector<std::string> baselines(const BaselineSource&) { return {}; }
  /// Loads one of them, to be verified and timed like a configuration. Throws as above.
  virtual std::unique_ptr<Candidate> load_baseline(const BaselineSource& source,
                                                   std::size_t number);
};

class Device {
 public:
  /// Nothing else of this process is verified or timed on the device while it lives.
  using Turn = std::unique_lock<std::recursive_mutex>;

  virtual ~Device() = default;
  virtual const DeviceInfo& info() const = 0;
  /// Compiles without launching. Thread-safe. A bad kernel is an outcome, not an exception. Throws
  /// NotCompiled if the machine is to blame.
  virtual CompiledKernel compile(const SourceUnit& unit) = 0;
  /// Ends running compilations. From then on, compile() returns cached builds only, and throws
  /// NotCompiled for others.
  virtual void stop_compiling() {}
  /// Whether compile() will probably find a cached build. Cheap: reads no binary.
  virtual bool is_cached(const SourceUnit&) { return false; }
  /// False for `model:`: compile() works, open() throws Error.
  virtual bool runs() const { return true; }
  /// Whether its times are the same in every run. Otherwise trials may run in another order than
  /// requested.
  virtual bool repeats() const { return !runs(); }
  /// Whether kernels run in another process and cannot end this one.
  virtual bool isolated() const { return false; }
  /// Before a kernel of another author: what kernels left in their process must not reach it.
  virtual void renew() {}
  /// Whether two problems may be tuned on it at a time, in turns: compilers disturb no measurement.
  virtual bool takes_turns() const { return false; }
  /// Waits for a turn. A thread may take several, one within the other.
  [[nodiscard]] Turn take_turn() { return Turn(turn_); }
  /// Empty if the energy of launches can be measured; else why not, and what to use instead.
  virtual std::string no_energy();
  /// Seconds of work so far, without compiling; 0 if not counted.
  virtual double busy_seconds() { return 0; }
  /// Allocates and fills the buffers and computes the reference. Throws Error with sizes and free
  /// memory if memory is short, or if the reference kernel fails.
  virtual std::unique_ptr<Workbench> open(const Workload& workload) = 0;
  /// The driver's number of resident blocks per multiprocessor, or of resident clusters on the
  /// whole GPU for a launch with clusters. nullopt without a driver.
  virtual std::optional<int> active_blocks(const CompiledKernel&, const Launch&) {
    return std::nullopt;
  }

 private:
  std::recursive_mutex turn_;
};

// Hardware counters of one call.

/// One figure: `dram_read_bytes`, `bytes`, 134217728.
struct Counter {
  std::string name, unit;
  double value = 0;
  friend bool operator==(const Counter&, const Counter&) = default;
};

using Counters = std::vector<Counter>;

/// Lets a plugin count one call. `call` makes the call and waits for it; the plugin may run it
/// several times. Throws Error with the plugin's reason, or what `call` threw.
using CountCalls =
    std::function<Counters(const std::filesystem::path& plugin, const std::function<void()>& call)>;

struct DeviceInfo;
class Candidate;

/// A Candidate whose device has hardware counters.
class Countable {
 public:
  virtual ~Countable() = default;
  /// The plugin's counters of one call, which runs several times. Afterwards, times measured by
  /// this process are unreliable. Throws KernelFailure, and Error with the plugin's reason.
  virtual Counters counters(const std::filesystem::path& plugin) = 0;
};

/// Throws as above; Error if the candidate is not Countable.
Counters counters_of(Candidate& candidate, const std::filesystem::path& plugin);

/// Throws Error if nothing can be counted on the device.
void require_counters(const DeviceInfo& info);

}  // namespace autotune
