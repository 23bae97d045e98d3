// SPDX-License-Identifier: Apache-2.0
#include "tuner/host/compile_program.hpp"

#include <signal.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <regex>
#include <span>
#include <string_view>
#include <utility>

#include "tuner/cache/included_text.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/refusals.hpp"
#include "tuner/host/process.hpp"
#include "tuner/host/translation.hpp"
#include "tuner/text/format.hpp"
#include "tuner/text/strings.hpp"

namespace autotune {

namespace fs = std::filesystem;

namespace {

std::string bytes_of_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    throw NotCompiled(format("{} cannot be read: {}", path.string(), std::strerror(errno)));
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The prerequisites of a rule of make.
std::vector<fs::path> prerequisites(const std::string& rule) {
  std::vector<fs::path> names;
  std::string name;
  const auto end_name = [&] {
    if (!name.empty()) names.emplace_back(std::exchange(name, {}));
  };
  for (std::size_t i = rule.find(": ") + 1; i < rule.size(); ++i) {
    const bool escaped = (rule[i] == '\\' || rule[i] == '$') && i + 1 < rule.size();
    if (escaped && rule[i + 1] != '\n') {
      name += rule[++i];
    } else if (rule[i] == ' ' || rule[i] == '\n') {
      end_name();
    } else if (!escaped) {
      name += rule[i];
    }
  }
  end_name();
  return names;
}

Build failed(const CompileTask& task, const ProcessResult& result) {
  Build build;
  build.log = result.output;
  switch (blame(result.status, result.output)) {
    case Blame::source:
      return build;
    case Blame::crash:
      build.log += format("{}: error: the compiler crashed\n", task.name);
      build.keep = false;
      return build;
    case Blame::disk:
      throw Error(format("{} cannot write what it compiles: {} (is the disk full? set TMPDIR)",
                         task.program, first_error(result.output)));
    case Blame::machine:
      break;
  }
  throw NotCompiled(format("{} did not compile {} (status {}): {}", task.program, task.name,
                           result.status, first_error(result.output)));
}

/// Whether the compiler read it as a header of the shim.
bool is_of_shim(const fs::path& file, const fs::path& folder) {
  return std::ranges::any_of(
      shim_headers(), [&](const ShimHeader& header) { return file == folder / header.name; });
}

/// Files that the assembler read besides its source, by `.incbin` or `.include`. It lists the
/// sources that #line directives name, too.
std::vector<fs::path> read_by_assembler(const fs::path& rule, const std::vector<fs::path>& known) {
  std::error_code failed;
  if (!fs::exists(rule, failed)) return {};
  std::vector<fs::path> names = prerequisites(bytes_of_file(rule));
  std::erase_if(names, [&](const fs::path& name) {
    return std::ranges::find(known, name) != known.end() || name.extension() == ".s" ||
           (is_header(name) && !name.has_parent_path()) || !fs::exists(name, failed);
  });
  return names;
}

bool lacks_memory(const std::string& log);

struct Files {
  explicit Files(const fs::path& folder)
      : source(folder / "kernel.cpp"),
        binary(folder / "kernel.so"),
        rule(folder / "kernel.d"),
        assembler_rule(folder / "assembled.d") {}
  fs::path source, binary, rule, assembler_rule;
};

ProcessResult run_compiler(const CompileTask& task, const Files& files, const RunProgram& run) {
  std::vector<std::string> argv = {task.program, "-I" + files.source.parent_path().string()};
  argv.insert(argv.end(), task.options.begin(), task.options.end());
  argv.insert(argv.end(), {"-MD", "-MF", files.rule.string(), "-Xassembler", "--MD", "-Xassembler",
                           files.assembler_rule.string(), files.source.string(), "-o",
                           files.binary.string(), "-lstdc++", "-lm", "-lgcc_s", "-lgcc", "-lc"});
  try {
    return run(argv, {});
  } catch (const Error& error) {  // the compiler existed when the device was opened
    throw NotCompiled(error.what());
  }
}

/// Whatever the command is, the machine is to blame only if it says so.
Build failed_command(const CompileTask& task, const ProcessResult& result) {
  const bool is_killed = result.status > 128;
  const Blame who = blame(result.status, result.output);
  const bool is_machine = who == Blame::disk || (who == Blame::machine && is_killed);
  if (is_machine || (who == Blame::machine && lacks_memory(result.output))) {
    return failed(task, result);
  }
  Build build;
  build.log = format("{}\n{}: error: the build command {}\n", result.output, task.name,
                     is_killed ? format("crashed (signal {})", result.status - 128)
                               : format("ended with status {}", result.status));
  build.keep = who == Blame::source;
  return build;
}

Build build_by_command(const CompileTask& task, const RunProgram& run) {
  const TemporaryFolder folder;
  const fs::path program = folder.path() / "program";
  std::vector<std::string> argv = {task.program};
  argv.insert(argv.end(), task.options.begin(), task.options.end());
  for (std::string& word : argv) replace_all(word, "{program}", program.string());
  const ProcessResult result = run(argv, task.folder);
  if (!result.timed_out && result.status != 0) return failed_command(task, result);
  Build build;
  build.log = result.output;
  build.late = result.timed_out;
  build.keep = !result.timed_out;
  if (build.late) return build;
  std::error_code failed;
  if (fs::is_regular_file(program, failed)) {
    build.binary = std::make_shared<const std::string>(bytes_of_file(program));
  } else {
    build.log = format(
        "{}: error: the build command ended well, but wrote no {{program}}: name that file as its "
        "output\n{}",
        task.name, result.output);
  }
  return build;
}

}  // namespace

Build compile_program(const CompileTask& task, const RunProgram& run) {
  if (!task.folder.empty()) return build_by_command(task, run);
  const TemporaryFolder folder;
  const Files files(folder.path());
  write_temporary(files.source, task.source);
  for (const ShimHeader& header : shim_headers()) {
    const fs::path file = folder.path() / header.name;
    fs::create_directories(file.parent_path());
    write_temporary(file, header.text);
  }
  const ProcessResult result = run_compiler(task, files, run);
  if (!result.timed_out && result.status != 0) return failed(task, result);
  Build build;
  build.log = result.output;
  build.late = result.timed_out;
  build.keep = !result.timed_out;
  if (build.late) return build;
  build.binary = std::make_shared<const std::string>(bytes_of_file(files.binary));
  std::vector<fs::path> read = prerequisites(bytes_of_file(files.rule));  // the source first
  for (const fs::path& file : read_by_assembler(files.assembler_rule, read)) {
    build.binary = nullptr;
    build.log = file_refusal(task.name, file);
  }
  if (!read.empty()) read.erase(read.begin());
  std::erase_if(read, [&](const fs::path& file) { return is_of_shim(file, folder.path()); });
  build.read = std::move(read);
  return build;
}

std::shared_ptr<CompilerRunner> programs_of_this_process(double limit_seconds) {
  class InThisProcess final : public CompilerRunner {
   public:
    explicit InThisProcess(double limit) : limit_(limit) {}
    Build run(const CompileTask& task) override {
      Build build = compile_program(task, [&](const auto& argv, const fs::path& folder) {
        return run_process(argv, limit_, folder);
      });
      if (build.late) build.log += format("the compiler was killed after {} s\n", limit_);
      return build;
    }

   private:
    const double limit_;
  };
  return std::make_shared<InThisProcess>(limit_seconds);
}

namespace {

using namespace std::string_view_literals;

constexpr std::array kFullDisk = {"No space left on device"sv, "File too large"sv,
                                  "Read-only file system"sv, "Disk quota exceeded"sv};

constexpr std::array kLack = {"Cannot allocate memory"sv, "out of memory"sv,
                              "memory exhausted"sv,       "bad_alloc"sv,
                              "Too many open files"sv,    "Resource temporarily unavailable"sv,
                              "Input/output error"sv};

/// How gcc, collect2 and clang report that one of their programs was killed.
constexpr std::array kCrash = {"Segmentation fault"sv, "Aborted"sv, "Bus error"sv,
                               "Illegal instruction"sv, "Floating point exception"sv};

/// Linker messages that blame the code.
constexpr std::array kLinked = {"undefined reference to"sv, "undefined symbol"sv,
                                "multiple definition of"sv, "duplicate symbol"sv, "relocation "sv};

bool has_one(std::string_view text, std::span<const std::string_view> signs) {
  return std::ranges::any_of(
      signs, [&](std::string_view sign) { return text.find(sign) != std::string_view::npos; });
}

/// `k.cu:3:5: error: …`, `{standard input}:7: Error: …`, `<command-line>: error: …`.
bool names_a_place(const std::string& line) {
  static const std::regex kPlace(R"(^(.*:\d+|<command.line>):.*[Ee]rror: .*)");
  return std::regex_match(line, kPlace);
}

bool is_of_the_source(const std::string& line) {
  const bool other = has_one(line, kFullDisk) || has_one(line, kLack) || has_one(line, kCrash);
  return (names_a_place(line) && !other) || has_one(line, kLinked);
}

bool has_line_of_the_source(std::string_view log) {
  while (!log.empty()) {
    const auto end = std::min(log.find('\n'), log.size());
    if (is_of_the_source(std::string(log.substr(0, end)))) return true;
    log.remove_prefix(std::min(end + 1, log.size()));
  }
  return false;
}

bool lacks_memory(const std::string& log) { return has_one(log, kLack); }

bool is_crash(int signal) {
  return std::ranges::find(kFaultSignals, signal) != kFaultSignals.end();
}

}  // namespace

Blame blame(int status, const std::string& log) {
  if (is_crash(status - 128)) return Blame::crash;
  if (has_line_of_the_source(log)) return Blame::source;
  if (has_one(log, kFullDisk)) return Blame::disk;
  if (has_one(log, kLack)) return Blame::machine;
  return has_one(log, kCrash) ? Blame::crash : Blame::machine;
}

}  // namespace autotune
