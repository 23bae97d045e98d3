// SPDX-License-Identifier: Apache-2.0
#include "tuner/worker/compiler_server.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <new>
#include <sstream>
#include <string>
#include <vector>

#include "tuner/core/error.hpp"
#include "tuner/gpu/nvrtc.hpp"
#include "tuner/host/compile_program.hpp"
#include "tuner/worker/wire.hpp"

namespace autotune {
namespace {

namespace fs = std::filesystem;

/// The text written to stderr since the last call. stderr is a file in a worker, of a fixed size;
/// empty if the text filled it.
std::string take_stderr() {
  struct stat file {};
  const off_t size = lseek(2, 0, SEEK_CUR);
  if (fstat(2, &file) != 0 || size < 0 || lseek(2, 0, SEEK_SET) < 0 || size >= file.st_size)
    return {};
  std::string text(static_cast<std::size_t>(size), '\0');
  const ssize_t got = pread(2, text.data(), text.size(), 0);
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  return text;
}

/// The trace has one file per line, indented by depth. NVRTC's own headers have no folder.
std::vector<fs::path> files_in_trace(const std::string& trace) {
  std::vector<fs::path> files;
  std::istringstream lines(trace);
  for (std::string line; std::getline(lines, line);) {
    line.erase(0, line.find_first_not_of(' '));
    if (!line.empty() && !line.starts_with("__nv_")) files.emplace_back(line);
  }
  return files;
}

/// Compiles with --trace_includes: NVRTC then prints the files that it opens on stderr. Old
/// versions print nothing.
Build compile_traced(const CompileTask& task) {
  CompileTask traced = task;
  traced.options.insert(traced.options.end(), {"-Xcudafe", "--trace_includes"});
  take_stderr();
  Build build = compile_with_nvrtc(traced, std::nullopt);
  const std::string trace = take_stderr();
  if (!build.binary && build.log.find("trace_includes") != std::string::npos) {
    return compile_with_nvrtc(task, std::nullopt);
  }
  if (trace.starts_with("__nv_")) build.read = files_in_trace(trace);
  return build;
}

Message answer(const Message& request) {
  try {
    const CompileTask task = compile_task_of(request.header, request.bytes);
    const Build build =
        task.program.empty() ? compile_traced(task) : compile_program(task, run_beside_us);
    return {wire_of(build), build.binary ? *build.binary : ""};
  } catch (const NotCompiled& failure) {
    return {Json::object({{"not_compiled", failure.what()}}), ""};
  } catch (const std::bad_alloc&) {
    return {Json::object({{"not_compiled", "the compiler ran out of memory"}}), ""};
  } catch (const Error& error) {
    return {Json::object({{"error", error.what()}}), ""};
  }
}

}  // namespace

void serve_compiler(Channel& channel) {
  while (const auto request = channel.receive(-1)) {
    const Message message = answer(*request);
    if (channel.send(message.header, message.bytes, -1) != Silence::none) return;
  }
}

}  // namespace autotune
