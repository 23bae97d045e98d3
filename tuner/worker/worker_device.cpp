// SPDX-License-Identifier: Apache-2.0
#include "tuner/worker/worker_device.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <utility>

#include "tuner/core/deadline.hpp"
#include "tuner/core/error.hpp"
#include "tuner/gpu/cuda_device.hpp"
#include "tuner/host/host_device.hpp"
#include "tuner/plugin/target_hooks.hpp"
#include "tuner/text/environment.hpp"
#include "tuner/text/strings.hpp"

namespace autotune {
namespace {

using Clock = std::chrono::steady_clock;

/// A call whose worker is killed from outside is made so often: a kernel may also be why the system
/// runs out of memory.
constexpr int kMostKilled = 3;

/// The result of `call`, which finds or starts its worker.
template <class Call>
auto asked(const Call& call) {
  for (int killed = 0;;) {
    try {
      return call();
    } catch (const KernelFailure& failure) {
      if (failure.outcome() != Outcome::killed || ++killed == kMostKilled) throw;
    }
  }
}

/// A workload that is open in the current worker.
class RemoteBench {
 public:
  /// While `compilers` is not null, none of them runs while anything is timed.
  RemoteBench(std::shared_ptr<WorkerClient> client, Workload workload, WorkerOptions options,
              std::shared_ptr<CompilerProcesses> compilers)
      : client_(std::move(client)),
        workload_(std::move(workload)),
        options_(std::move(options)),
        compilers_(std::move(compilers)),
        id_(client_->new_id()) {}
  ~RemoteBench() { client_->drop(id_); }
  RemoteBench(const RemoteBench&) = delete;
  RemoteBench& operator=(const RemoteBench&) = delete;

  WorkerClient& client() { return *client_; }
  std::uint64_t id() const { return id_; }

  /// Opens the workload unless it is open, and returns the worker's generation. Throws Error if the
  /// workload is wrong or the device is unhealthy.
  int open() {
    for (int crashes = 0; generation_ == 0 || client_->generation() != generation_;) {
      const auto start = Clock::now();
      try {
        const auto& reference = workload_.reference_binary;
        client_->call({{"do", "open"}, {"id", id_}, {"workload", to_wire(workload_)}},
                      reference ? std::string_view(*reference) : std::string_view(),
                      options_.open_seconds, "running the reference");
      } catch (const KernelFailure& failure) {
        // The previous kernel may have caused the crash: try again in a new worker.
        const bool ended =
            failure.outcome() == Outcome::crash || failure.outcome() == Outcome::killed;
        if (ended && ++crashes < WorkerClient::kMostFailures) continue;
        throw Error(format("{}: {}", workload_.problem, failure.what()));
      }
      generation_ = client_->generation();
      open_seconds_ = seconds_since(start);
    }
    return generation_;
  }

  /// Pauses the compilers while it lives; null if they do not disturb timing.
  std::unique_ptr<CompilerProcesses::Pause> quiet() const {
    return compilers_ ? std::make_unique<CompilerProcesses::Pause>(*compilers_) : nullptr;
  }

  /// The deadline of a call that is expected to take this long. Commands have limits of their own,
  /// which the worker observes.
  double limit(double expected_seconds) const {
    if (workload_.runs_commands) return options_.open_seconds;
    return std::clamp(50 * expected_seconds, options_.least_seconds, options_.most_seconds);
  }
  double longest_limit() const {
    return workload_.runs_commands ? options_.open_seconds : options_.most_seconds;
  }
  /// The expected time of an unknown configuration: the longest that any other has taken. Before
  /// the first, the time of opening the workload, reference included.
  double run_seconds() const { return run_seconds_ > 0 ? run_seconds_ : open_seconds_; }
  void record_run(double seconds) { run_seconds_ = std::max(run_seconds_, seconds); }

 private:
  const std::shared_ptr<WorkerClient> client_;
  const Workload workload_;
  const WorkerOptions options_;
  const std::shared_ptr<CompilerProcesses> compilers_;
  const std::uint64_t id_;
  int generation_ = 0;
  double open_seconds_ = 0;
  double run_seconds_ = 0;
};

class RemoteCandidate : public Candidate, public Countable {
 public:
  /// `request` creates the candidate in the worker. `binary` follows the request unless it is null.
  RemoteCandidate(std::shared_ptr<RemoteBench> bench, Json request,
                  std::shared_ptr<const std::string> binary, double limit_seconds)
      : bench_(std::move(bench)),
        request_(std::move(request)),
        binary_(std::move(binary)),
        limit_seconds_(limit_seconds),
        id_(bench_->client().new_id()) {
    request_["id"] = id_;
    request_["bench"] = bench_->id();
    asked([&] { load(); });
  }
  ~RemoteCandidate() override { bench_->client().drop(id_); }

  Verdict verify(int runs, double give_up_seconds) override {
    return asked([&] {
      load();
      const auto quiet = bench_->quiet();
      const int count = std::max(runs, 1);
      const auto start = Clock::now();
      Verdict verdict = bench_->client().call(
          {{"do", "verify"}, {"id", id_}, {"runs", count}, {"give_up", give_up_seconds}}, {},
          bench_->limit(expected() * count), "verifying", verdict_in);
      run_seconds_ = seconds_since(start) / count;
      bench_->record_run(run_seconds_);
      return verdict;
    });
  }

  Verdict recheck() override {
    return asked([&] {
      load();
      return bench_->client().call({{"do", "recheck"}, {"id", id_}}, {}, bench_->limit(expected()),
                                   "verifying", verdict_in);
    });
  }

  UnseenCalls time_unseen(int rounds) override {
    return asked([&] {
      load();
      const auto quiet = bench_->quiet();
      return bench_->client().call({{"do", "time_unseen"}, {"id", id_}, {"rounds", rounds}}, {},
                                   bench_->limit(3 * (rounds + 1) * expected()),
                                   "timing unseen contents", from_wire<UnseenCalls>);
    });
  }

  RowBits rows(std::int64_t columns) override {
    return asked([&] {
      load();
      return bench_->client().call({{"do", "rows"}, {"id", id_}, {"columns", columns}}, {},
                                   bench_->limit(expected()), "running", from_wire<RowBits>);
    });
  }

  TimedBatch time(int launches, L2State l2) override {
    return time_in(CallContext::chain, launches, l2);
  }

  TimedBatch time_in(CallContext context, int launches, L2State l2) override {
    return asked([&] {
      load();
      const auto quiet = bench_->quiet();
      const double launch = launch_seconds_ > 0 ? launch_seconds_ : expected();
      const TimedBatch batch =
          bench_->client().call({{"do", "time"},
                                 {"id", id_},
                                 {"launches", launches},
                                 {"l2", static_cast<int>(l2)},
                                 {"context", static_cast<int>(context)}},
                                {}, bench_->limit(launch * launches), "timing", timed_batch_of);
      launch_seconds_ = batch.seconds;
      return batch;
    });
  }

  Energy energy(double least_seconds, L2State l2) override {
    return asked([&] {
      load();
      return bench_->client().call(
          {{"do", "energy"}, {"id", id_}, {"seconds", least_seconds}, {"l2", static_cast<int>(l2)}},
          {}, bench_->longest_limit(), "measuring the energy", energy_of);
    });
  }

  Counters counters(const std::filesystem::path& plugin) override {
    return asked([&] {
      load();
      return bench_->client().call({{"do", "counters"}, {"id", id_}, {"plugin", plugin.string()}},
                                   {}, bench_->longest_limit(), "counting", counters_in);
    });
  }

 private:
  static Verdict verdict_in(const Json& answer) { return from_wire<Verdict>(answer.at("verdict")); }

  void load() {
    const int generation = bench_->open();
    if (generation == generation_) return;
    const std::string_view bytes = binary_ ? std::string_view(*binary_) : std::string_view();
    bench_->client().call(request_, bytes, limit_seconds_, "loading");
    generation_ = generation;
  }

  /// Seconds of one verifying run: an upper bound of a launch.
  double expected() const { return run_seconds_ > 0 ? run_seconds_ : bench_->run_seconds(); }

  const std::shared_ptr<RemoteBench> bench_;
  Json request_;
  const std::shared_ptr<const std::string> binary_;
  const double limit_seconds_;
  const std::uint64_t id_;
  int generation_ = 0;
  double run_seconds_ = 0, launch_seconds_ = 0;  // 0 when unknown
};

class RemoteWorkbench : public Workbench {
 public:
  explicit RemoteWorkbench(std::shared_ptr<RemoteBench> bench) : bench_(std::move(bench)) {}

  std::unique_ptr<Candidate> load(const CompiledKernel& kernel, const LaunchPlan& plan) override {
    Json request{{"do", "load"}, {"kernel", to_wire(kernel)}, {"plan", to_wire(plan)}};
    return std::make_unique<RemoteCandidate>(bench_, std::move(request), kernel.binary,
                                             bench_->limit(0.1));
  }

  std::vector<std::string> baselines(const BaselineSource& source) override {
    return asked([&] {
      bench_->open();
      const auto names_in = [](const Json& answer) -> std::vector<std::string> {
        return field(answer, "names");
      };
      return bench_->client().call({{"do", "baselines"},
                                    {"id", bench_->id()},
                                    {"plugin", source.plugin.string()},
                                    {"target", source.target}},
                                   {}, bench_->longest_limit(), "opening a baseline", names_in);
    });
  }

  std::unique_ptr<Candidate> load_baseline(const BaselineSource& source,
                                           std::size_t number) override {
    Json request{{"do", "load_baseline"},
                 {"plugin", source.plugin.string()},
                 {"target", source.target},
                 {"number", number}};
    return std::make_unique<RemoteCandidate>(bench_, std::move(request), nullptr,
                                             bench_->longest_limit());
  }

  double launch_floor() override {
    return asked([&] {
      bench_->open();
      const auto quiet = bench_->quiet();
      const auto seconds_in = [](const Json& answer) -> double { return field(answer, "seconds"); };
      return bench_->client().call({{"do", "floor"}, {"id", bench_->id()}}, {}, bench_->limit(1),
                                   "timing nothing", seconds_in);
    });
  }

 private:
  const std::shared_ptr<RemoteBench> bench_;
};

class WorkerDevice : public Device {
 public:
  WorkerDevice(std::unique_ptr<Device> compiler, std::vector<std::string> argv,
               const WorkerOptions& options)
      : compiler_(std::move(compiler)),
        client_(std::make_shared<WorkerClient>(std::move(argv))),
        options_(options) {}

  const DeviceInfo& info() const override { return compiler_->info(); }
  CompiledKernel compile(const SourceUnit& unit) override { return compiler_->compile(unit); }
  void stop_compiling() override { compiler_->stop_compiling(); }
  bool isolated() const override { return true; }
  /// A kernel of a GPU leaves nothing in a process.
  void renew() override {
    if (info().kind == DeviceKind::host) client_->renew();
  }
  bool takes_turns() const override { return info().kind == DeviceKind::cuda; }
  bool is_cached(const SourceUnit& unit) override { return compiler_->is_cached(unit); }
  std::string no_energy() override { return compiler_->no_energy(); }
  double busy_seconds() override { return client_->busy_seconds(); }

  std::unique_ptr<Workbench> open(const Workload& workload) override {
    Workload whole = workload;  // so that the worker needs no compiler
    if (workload.runs_kernels()) {
      whole.reference_binary = reference_binary(workload, compile(workload.reference_source));
    }
    // Compilers use the cores that kernels of the host device run on.
    const bool shares_cores = info().kind == DeviceKind::host;
    auto bench = std::make_shared<RemoteBench>(client_, std::move(whole), options_,
                                               shares_cores ? options_.compilers : nullptr);
    bench->open();
    return std::make_unique<RemoteWorkbench>(std::move(bench));
  }

  std::optional<int> active_blocks(const CompiledKernel& kernel, const Launch& launch) override {
    return asked([&] {
      const auto blocks_in = [](const Json& answer) -> std::optional<int> {
        if (answer.at("blocks").is_null()) return std::nullopt;
        return static_cast<int>(field(answer, "blocks"));
      };
      return client_->call(
          {{"do", "active_blocks"}, {"kernel", to_wire(kernel)}, {"launch", to_wire(launch)}},
          *kernel.binary, options_.most_seconds, "asking for the occupancy", blocks_in);
    });
  }

 private:
  const std::unique_ptr<Device> compiler_;
  const std::shared_ptr<WorkerClient> client_;
  const WorkerOptions options_;
};

}  // namespace

std::unique_ptr<Device> make_worker_device(const std::string& spec,
                                           std::shared_ptr<BuildCache> cache,
                                           WorkerOptions options) {
  if (!options.compilers) {
    options.compilers = std::make_shared<CompilerProcesses>(options.compile_seconds);
  }
  const std::string folder = cache->folder().string();
  auto local = make_local_device(spec, std::move(cache), options.compilers);
  std::vector<std::string> argv{find_worker_program().string(), spec, folder};
  argv.insert(argv.end(), options.readable.begin(), options.readable.end());
  return std::make_unique<WorkerDevice>(std::move(local), std::move(argv), options);
}

Json WorkerClient::ask(Json request, std::string_view bytes, double limit_seconds,
                       std::string_view doing) {
  const Stopwatch watch(busy_seconds_);
  if (!process_) start();
  request["drop"] = std::exchange(dropped_, {});
  std::optional<Message> answer = process_->ask(request, bytes, limit_seconds);
  if (!answer) fail_silent(process_->silence(), limit_seconds, doing);
  return std::move(answer->header);
}

void WorkerClient::start() {
  process_ = std::make_unique<WorkerProcess>(argv_);
  dropped_.clear();
  ++started_;
}

void WorkerClient::fail_silent(Silence silence, double limit_seconds, std::string_view doing) {
  const WorkerEnd end = process_->end();
  process_.reset();
  if (silence == Silence::timeout) {
    fail(Outcome::timeout,
         format("no answer within {:.3g} s while {}: the worker was killed", limit_seconds, doing));
  }
  if (end.is_killed()) {
    fail(Outcome::killed,
         format("the worker was killed from outside while {}, perhaps by the system for want of "
                "memory: {}",
                doing, end.text));
  }
  fail(Outcome::crash, format("the worker ended by {} while {}", end.text, doing));
}

void WorkerClient::fail(Outcome outcome, const std::string& what) {
  if (++failures_ >= kMostFailures) {
    throw Error(format(
        "{} runs in a row ended without an answer (if other kernels do so, too, the device is "
        "unhealthy); the last: {}",
        failures_, what));
  }
  throw KernelFailure(outcome, what);
}

void WorkerClient::renew() {
  const std::lock_guard lock(mutex_);
  process_.reset();
}

void WorkerClient::drop(std::uint64_t id) {
  const std::lock_guard lock(mutex_);
  dropped_.push_back(id);
}

std::uint64_t WorkerClient::new_id() {
  const std::lock_guard lock(mutex_);
  return next_id_++;
}

int WorkerClient::generation() {
  const std::lock_guard lock(mutex_);
  return process_ ? started_ : 0;
}

double WorkerClient::busy_seconds() {
  const std::lock_guard lock(mutex_);
  return busy_seconds_;
}

pid_t WorkerClient::pid() {
  const std::lock_guard lock(mutex_);
  return process_ ? process_->pid() : 0;
}

namespace {

/// The variable by which a program sees only our device of this number, as its first.
std::string visible_device(std::size_t ordinal) {
  const std::string variable = "CUDA_VISIBLE_DEVICES";
  const std::string ours = environment_variable(variable.c_str());
  const auto all = split(ours, ',');
  if (ours.empty() || ordinal >= all.size()) return format("{}={}", variable, ordinal);
  return format("{}={}", variable, trimmed(all[ordinal]));
}

}  // namespace

std::unique_ptr<Device> make_local_device(const std::string& spec,
                                          std::shared_ptr<BuildCache> cache,
                                          std::shared_ptr<CompilerRunner> runner) {
  if (spec == "host") {
    return with_commands(
        make_host_device(cache, {.runner = runner, .open_baseline = open_host_baseline}), cache,
        runner);
  }
  constexpr std::string_view kCuda = "cuda:";
  int ordinal = -1;
  const char* const end = spec.data() + spec.size();
  if (spec.starts_with(kCuda)) {
    const auto [rest, error] = std::from_chars(spec.data() + kCuda.size(), end, ordinal);
    if (error != std::errc() || rest != end) ordinal = -1;
  }
  if (ordinal < 0) throw UsageError(format("{} cannot run kernels: use host or cuda:0", spec));
  return with_commands(
      make_cuda_device(ordinal, cache, open_plugin_baseline, runner, count_with_plugin), cache,
      runner, {visible_device(static_cast<std::size_t>(ordinal))});
}

}  // namespace autotune
