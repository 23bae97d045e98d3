// SPDX-License-Identifier: Apache-2.0
#include "tuner/host/compile_program.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

#include "tuner/cache/included_text.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/refusals.hpp"
#include "tuner/host/compiler_blame.hpp"
#include "tuner/host/shim_text.hpp"
#include "tuner/host/temporary_folder.hpp"
#include "tuner/text/compiler_log.hpp"
#include "tuner/text/format.hpp"

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

void write_file(const fs::path& file, std::string_view text) {
  if ((std::ofstream(file, std::ios::binary) << text).flush()) return;
  throw Error(format("{} cannot be written (is the disk full? set TMPDIR)", file.string()));
}

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
                           files.binary.string(), "-lm"});
  try {
    return run(argv);
  } catch (const Error& error) {  // the compiler existed when the device was opened
    throw NotCompiled(error.what());
  }
}

}  // namespace

Build compile_program(const CompileTask& task, const RunProgram& run) {
  const TemporaryFolder folder;
  const Files files(folder.path());
  write_file(files.source, task.source);
  for (const ShimHeader& header : shim_headers()) {
    const fs::path file = folder.path() / header.name;
    fs::create_directories(file.parent_path());
    write_file(file, header.text);
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
      Build build =
          compile_program(task, [&](const auto& argv) { return run_process(argv, limit_); });
      if (build.late) build.log += format("the compiler was killed after {} s\n", limit_);
      return build;
    }

   private:
    const double limit_;
  };
  return std::make_shared<InThisProcess>(limit_seconds);
}

}  // namespace autotune
