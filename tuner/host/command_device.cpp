// SPDX-License-Identifier: Apache-2.0
#include "tuner/host/host_device.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>
#include <map>
#include <utility>

#include "tuner/cache/included_text.hpp"
#include "tuner/core/deadline.hpp"
#include "tuner/core/error.hpp"
#include "tuner/hash/hash.hpp"
#include "tuner/host/compile_program.hpp"
#include "tuner/host/launcher.hpp"
#include "tuner/host/process.hpp"
#include "tuner/host/process_memory.hpp"
#include "tuner/measure/verifier.hpp"
#include "tuner/text/format.hpp"
#include "tuner/text/strings.hpp"

namespace autotune {
namespace {

namespace fs = std::filesystem;

constexpr double kBuildSeconds = 60;

/// The path of the program that a command starts. Throws Error if there is none.
fs::path program_of(const Command& command) {
  const std::string& name = command.words.front();
  const bool is_path = name.find('/') != std::string::npos;
  const fs::path found = find_program(is_path ? (command.folder / name).string() : name);
  if (!found.empty()) return found;
  throw Error(is_path
                  ? format("{} is no program that can be run: check its path, which is relative to "
                           "the manifest, and its permissions",
                           name)
                  : format("there is no program {} in PATH: install it, or write its path in the "
                           "manifest",
                           name));
}

/// Changes when the program does.
std::string stamp_of(const fs::path& program) {
  std::error_code failed;
  const fs::path file = fs::canonical(program, failed);
  struct stat status {};
  if (stat(file.c_str(), &status) != 0) return program.string();
  return format("{} {} {}.{}", file.string(), status.st_size, status.st_mtim.tv_sec,
                status.st_mtim.tv_nsec);
}

class CommandBuilder {
 public:
  CommandBuilder(std::shared_ptr<BuildCache> cache, std::shared_ptr<CompilerRunner> runner)
      : cache_(std::move(cache)),
        runner_(runner ? std::move(runner) : programs_of_this_process(kBuildSeconds)) {}

  CompiledKernel compile(const SourceUnit& unit) const {
    const Command& command = *unit.build;
    if (command.words.empty()) {
      CompiledKernel kernel;
      kernel.binary = std::make_shared<const std::string>();
      kernel.key = key_of(unit);
      return kernel;
    }
    return cache_->compiled(key_of(unit), [&] {
      return runner_->run({.program = program_of(command).string(),
                           .name = unit.name,
                           .source = {},
                           .options = {command.words.begin() + 1, command.words.end()},
                           .folder = command.folder});
    });
  }

  bool is_cached(const SourceUnit& unit) const {
    return unit.build->words.empty() || cache_->contains(key_of(unit));
  }
  void stop() const { runner_->stop(); }

 private:
  static std::string key_of(const SourceUnit& unit) {
    std::string all = "command\0" + unit.text + '\0' +
                      included(unit.text, unit.include_folders, unit.options).text();
    for (const std::string& word : unit.build->words) all += '\0' + word;
    if (!unit.build->words.empty()) all += '\0' + stamp_of(program_of(*unit.build));
    return hash128(all);
  }

  const std::shared_ptr<BuildCache> cache_;
  const std::shared_ptr<CompilerRunner> runner_;
};

/// Files of buffers, in a folder. A file is written when it differs from its buffer.
class BufferFiles {
 public:
  explicit BufferFiles(fs::path folder) : folder_(std::move(folder)) {}

  fs::path path_of(const std::string& buffer) const { return folder_ / (buffer + ".bin"); }

  /// What a program finds: the contents of an input or inout, and no file of an output.
  void put(const ZonedBuffer& buffer) {
    const fs::path path = path_of(buffer.spec().name);
    const Role role = buffer.spec().role;
    if (role == Role::output) {
      fs::remove(path);
      return;
    }
    const std::string_view bytes = bytes_of(buffer);
    const std::uint64_t hash = hash64(bytes);
    Known& known = known_[path];
    if (known.hash == hash && known.stamp == stamp_of(path)) return;
    fs::remove(path);
    write_temporary(path, bytes);
    known = {hash, stamp_of(path)};
  }

  /// What the program left. A changed input is read, too, so that verification finds the change.
  void take(const ZonedBuffer& buffer) {
    const BufferSpec& spec = buffer.spec();
    const fs::path path = path_of(spec.name);
    const auto known = known_.find(path);
    if (spec.role == Role::input && known != known_.end() && known->second.stamp == stamp_of(path))
      return;
    if (known != known_.end()) known_.erase(known);
    std::error_code failed;
    const auto bytes = fs::file_size(path, failed);
    if (failed && spec.role == Role::input) {
      throw KernelFailure(Outcome::wrong,
                          format("the program removed the file of {}, an input", spec.name));
    }
    if (failed) {
      throw KernelFailure(
          Outcome::wrong,
          format("the program wrote no file of {}: {{{}}} is the path", spec.name, spec.name));
    }
    if (bytes != static_cast<std::uintmax_t>(spec.bytes())) {
      throw KernelFailure(
          Outcome::wrong,
          format("the program wrote {} bytes of {}, which has {} ({} elements of {})", bytes,
                 spec.name, spec.bytes(), spec.length, type_text(spec)));
    }
    std::ifstream file(path, std::ios::binary);
    if (!file.read(reinterpret_cast<char*>(buffer.start()), spec.bytes())) {
      throw KernelFailure(Outcome::wrong,
                          format("the program's file of {} cannot be read", spec.name));
    }
  }

 private:
  struct Known {
    std::uint64_t hash = 0;
    std::string stamp = {};
  };
  static std::string_view bytes_of(const ZonedBuffer& buffer) {
    return {reinterpret_cast<const char*>(buffer.start()),
            static_cast<std::size_t>(buffer.spec().bytes())};
  }

  const fs::path folder_;
  std::map<fs::path, Known> known_;
};

/// The last line of an output, for messages.
std::string last_line(std::string_view output) {
  std::string_view last;
  for (const std::string_view line : split(output, '\n')) {
    if (!trimmed(line).empty()) last = trimmed(line);
  }
  constexpr std::size_t kMost = 200;
  return last.empty() ? "it printed nothing" : "it printed: " + std::string(last.substr(0, kMost));
}

/// One run of a command.
class CommandCall : public Call {
 public:
  /// `files` must outlive it.
  CommandCall(const LaunchPlan& plan, const fs::path& program, std::span<const ZonedBuffer> buffers,
              BufferFiles& files, const std::vector<std::string>& environment)
      : command_(*plan.launches.front().command), files_(files) {
    for (const Argument& argument : plan.launches.front().arguments) {
      if (const auto* ref = std::get_if<BufferRef>(&argument)) {
        buffers_.push_back(buffers[ref->index]);
      }
    }
    for (std::string& word : command_.words) {
      replace_all(word, "{program}", program.string());
      for (const ZonedBuffer& each : buffers_) {
        const std::string& name = each.spec().name;
        replace_all(word, "{" + name + "}", files_.path_of(name).string());
      }
    }
    command_.words.front() = program_of(command_).string();
    if (environment.empty()) return;
    std::vector<std::string> words{find_program("env").string()};
    words.insert(words.end(), environment.begin(), environment.end());
    command_.words.insert(command_.words.begin(), words.begin(), words.end());
  }

  /// As a timed process, if that was the last one: a program may do otherwise in such a process.
  void start() override { run_calls(calls_); }
  double run() override { return run_calls(1); }

  /// The seconds of one of so many calls by one process.
  double run_calls(int calls) {
    calls_ = calls;
    for (const ZonedBuffer& each : buffers_) files_.put(each);
    std::vector<std::string> words = command_.words;
    for (std::string& word : words) replace_all(word, "{calls}", std::to_string(calls));
    const auto begin = Deadline::Clock::now();
    const ProcessResult result = run_process(words, command_.limit_seconds, command_.folder);
    process_seconds_ = seconds_since(begin);
    expect_success(result);
    for (const ZonedBuffer& each : buffers_) files_.take(each);
    return command_.time == kProcessTime ? process_seconds_
                                         : printed_seconds(result.output, command_.time);
  }

  /// Those of the last process, its start included.
  double process_seconds() const { return process_seconds_; }

 private:
  void expect_success(const ProcessResult& result) const {
    if (result.timed_out) {
      throw KernelFailure(
          Outcome::timeout,
          format("the program did not end within {:.3g} s and was killed", command_.limit_seconds));
    }
    if (result.status > 128) {
      throw KernelFailure(Outcome::crash,
                          format("the program ended by signal {} ({}); {}", result.status - 128,
                                 strsignal(result.status - 128), last_line(result.output)));
    }
    if (result.status != 0) {
      throw KernelFailure(Outcome::launch_error, format("the program ended with status {}; {}",
                                                        result.status, last_line(result.output)));
    }
  }

  Command command_;
  BufferFiles& files_;
  std::vector<ZonedBuffer> buffers_;
  int calls_ = 1;  // of the last process
  double process_seconds_ = 0;
};

/// What is known of a program with its arguments, however often it is loaded.
struct KnownProgram {
  int paid_calls = 0;  // of a batch, by the last start
  bool is_checked = false;
};

/// Calls of a batch take this part of the time that the program's start takes.
constexpr double kShareOfStart = 0.1, kMostCalls = 10'000;

/// A program in a folder of its own.
class ProgramFile {
 public:
  explicit ProgramFile(const std::string* binary) {
    if (!binary || binary->empty()) return;
    folder_.emplace();
    write_temporary(path(), *binary);
    fs::permissions(path(), fs::perms::owner_all);
  }
  fs::path path() const { return folder_ ? folder_->path() / "program" : fs::path(); }

 private:
  std::optional<TemporaryFolder> folder_;
};

class CommandCandidate : public Candidate {
 public:
  CommandCandidate(const CompiledKernel& kernel, const LaunchPlan& plan, ProblemBuffers& buffers,
                   Verifier& verifier, BufferFiles& files,
                   const std::vector<std::string>& environment, KnownProgram& known)
      : program_(kernel.binary.get()), buffers_(buffers), verifier_(verifier), known_(known) {
    for (const InputSet set : kInputSets) {
      auto call = std::make_unique<CommandCall>(plan, program_.path(), buffers.all(set), files,
                                                environment);
      if (set == InputSet::uniform) timed_ = call.get();
      calls_[index_of(set)] = std::move(call);
    }
  }

  Verdict verify(int runs, double give_up_seconds) override {
    return verifier_.verify(calls_, workspace_, runs, give_up_seconds);
  }
  Verdict recheck() override { return verifier_.recheck(*timed_, workspace_); }

  /// By one process, which makes one call only if an inout would change with each. A start that
  /// takes long pays for more calls than are asked for.
  TimedBatch time(int launches, L2State) override {
    buffers_.restore_inouts(InputSet::uniform);
    const bool is_chain = launches > 1 && !buffers_.any_inouts();
    const int calls = is_chain ? std::max(launches, known_.paid_calls) : 1;
    TimedBatch batch{timed_->run_calls(calls), 0, L2State::hot};
    batch.overhead = std::max(0.0, timed_->process_seconds() - batch.seconds * launches);
    const double start = timed_->process_seconds() - batch.seconds * calls;
    const double paid = batch.seconds > 0 ? start * kShareOfStart / batch.seconds : 0;
    known_.paid_calls = static_cast<int>(std::clamp(paid, 0.0, kMostCalls));
    if (!known_.is_checked) {
      verifier_.check_chain(*timed_, workspace_, timed_->process_seconds());
      known_.is_checked = true;
    }
    return batch;
  }

 private:
  const ProgramFile program_;
  ProblemBuffers& buffers_;
  Verifier& verifier_;
  Workspace workspace_;
  CallOfSet calls_;
  CommandCall* timed_ = nullptr;  // of the uniform set
  KnownProgram& known_;
};

/// Buffers lie in the memory of this process, and in files while a command runs.
class CommandWorkbench : public Workbench {
 public:
  CommandWorkbench(const Workload& workload, const std::string* reference,
                   std::vector<std::string> environment)
      : workload_(with_memory_for(workload)),
        environment_(std::move(environment)),
        files_(folder_.path()),
        threads_(0),
        memory_(threads_),
        buffers_(memory_, workload_),
        answers_(answers_by(reference)),
        verifier_(memory_, workload_, buffers_, answers_) {}

  std::unique_ptr<Candidate> load(const CompiledKernel& kernel, const LaunchPlan& plan) override {
    std::string all = kernel.key;
    for (const std::string& word : plan.launches.front().command->words) all += '\0' + word;
    return std::make_unique<CommandCandidate>(kernel, plan, buffers_, verifier_, files_,
                                              environment_, known_[all]);
  }
  double launch_floor() override { return 0; }

 private:
  RightAnswers answers_by(const std::string* reference) {
    const ProgramFile program(reference);
    return right_answers(
        memory_, workload_,
        [&](const LaunchPlan& plan, const std::vector<ZonedBuffer>& bound) {
          return std::make_unique<CommandCall>(plan, program.path(), bound, files_, environment_);
        },
        buffers_);
  }

  const Workload workload_;
  const std::vector<std::string> environment_;
  const TemporaryFolder folder_;
  BufferFiles files_;
  ThreadPool threads_;
  ProcessMemory memory_;
  ProblemBuffers buffers_;
  const RightAnswers answers_;
  Verifier verifier_;
  std::map<std::string, KnownProgram> known_;
};

class CommandDevice : public Device {
 public:
  CommandDevice(std::unique_ptr<Device> device, std::shared_ptr<BuildCache> cache,
                std::shared_ptr<CompilerRunner> runner, std::vector<std::string> environment)
      : device_(std::move(device)),
        builder_(std::move(cache), std::move(runner)),
        environment_(std::move(environment)) {}

  const DeviceInfo& info() const override { return device_->info(); }
  CompiledKernel compile(const SourceUnit& unit) override {
    return unit.build ? builder_.compile(unit) : device_->compile(unit);
  }
  bool is_cached(const SourceUnit& unit) override {
    return unit.build ? builder_.is_cached(unit) : device_->is_cached(unit);
  }
  void stop_compiling() override {
    builder_.stop();
    device_->stop_compiling();
  }
  bool runs() const override { return device_->runs(); }
  bool repeats() const override { return device_->repeats(); }
  bool isolated() const override { return device_->isolated(); }
  bool takes_turns() const override { return device_->takes_turns(); }
  std::string no_energy() override { return device_->no_energy(); }
  double busy_seconds() override { return device_->busy_seconds(); }
  std::optional<int> active_blocks(const CompiledKernel& kernel, const Launch& launch) override {
    return device_->active_blocks(kernel, launch);
  }

  std::unique_ptr<Workbench> open(const Workload& workload) override {
    if (!workload.runs_commands || !runs()) return device_->open(workload);
    auto reference = workload.reference_binary;
    if (!reference && workload.runs_kernels()) {
      reference = reference_binary(workload, compile(workload.reference_source));
    }
    return std::make_unique<CommandWorkbench>(workload, reference.get(), environment_);
  }

 private:
  const std::unique_ptr<Device> device_;
  const CommandBuilder builder_;
  const std::vector<std::string> environment_;
};

/// Seconds of a unit.
double unit_seconds(std::string_view unit) {
  return unit == "s" ? 1 : unit == "ms" ? 1e-3 : unit == "us" ? 1e-6 : 1e-9;
}

}  // namespace

double printed_seconds(std::string_view output, std::string_view pattern) {
  const std::size_t open = pattern.find('{'), close = pattern.find('}');
  const std::string_view before = pattern.substr(0, open), after = pattern.substr(close + 1);
  const double unit = unit_seconds(pattern.substr(open + 1, close - open - 1));
  double sum = 0;
  int count = 0;
  for (std::string_view line : split(output, '\n')) {
    const std::size_t place = line.find(before);
    if (place == std::string_view::npos) continue;
    line.remove_prefix(place + before.size());
    line = trimmed(line);
    double number = 0;
    const auto [rest, error] = std::from_chars(line.data(), line.data() + line.size(), number);
    if (error != std::errc()) continue;
    line.remove_prefix(static_cast<std::size_t>(rest - line.data()));
    if (!trimmed(line).starts_with(trimmed(after))) continue;
    if (!std::isfinite(number) || number <= 0) {
      throw KernelFailure(
          Outcome::launch_error,
          format("the program printed {} as the time of a call: print more digits, or time "
                 "more calls ({{calls}} says how many)",
                 number));
    }
    sum += number * unit;
    ++count;
  }
  if (count > 0) return sum / count;
  throw KernelFailure(Outcome::launch_error,
                      format("the program printed no line with the time of a call, \"{}\"; {}",
                             pattern, last_line(output)));
}

std::unique_ptr<Device> with_commands(std::unique_ptr<Device> device,
                                      std::shared_ptr<BuildCache> cache,
                                      std::shared_ptr<CompilerRunner> runner,
                                      std::vector<std::string> environment) {
  return std::make_unique<CommandDevice>(std::move(device), std::move(cache), std::move(runner),
                                         std::move(environment));
}

}  // namespace autotune
