// SPDX-License-Identifier: Apache-2.0
// autotune run: starts a program with libautotune_blas in front of cuBLAS.
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "tuner/cli/answers.hpp"
#include "tuner/cli/arguments.hpp"
#include "tuner/core/error.hpp"
#include "tuner/text/format.hpp"

namespace autotune::cli {
namespace {

namespace fs = std::filesystem;

fs::path library_to_preload() {
  const fs::path library = prefix() / AUTOTUNE_LIBRARY_FOLDER / "libautotune_blas.so";
  if (!fs::exists(library)) {
    throw Error(format("there is no {}: install autotune again", library.string()));
  }
  if (library.string().find_first_of(": ") != std::string::npos) {
    throw Error(
        format("{}: the loader cannot preload a path with a colon or a blank: install "
               "autotune elsewhere",
               library.string()));
  }
  return library;
}

void set(const char* name, const std::string& value) { setenv(name, value.c_str(), 1); }

void set_preload() {
  const char* const before = std::getenv("LD_PRELOAD");
  const std::string others = before && *before != '\0' ? ":" + std::string(before) : "";
  set("LD_PRELOAD", library_to_preload().string() + others);
}

/// An absolute path, because the program may change its folder.
void set_record(const fs::path& file) {
  if (!std::ofstream(file, std::ios::app)) {
    throw Error(format("--record {}: cannot be written: {}", file.string(), std::strerror(errno)));
  }
  set("AUTOTUNE_BLAS_RECORD", fs::absolute(file).string());
}

void set_environment(const Arguments& arguments) {
  set_preload();
  if (const auto file = arguments.find("record")) set_record(*file);
  if (arguments.has("db")) set("AUTOTUNE_DB", fs::absolute(database_path(arguments)).string());
  if (arguments.has("report")) {
    set("AUTOTUNE_BLAS_REPORT", "stderr");
    set("AUTOTUNE_BLAS_COMMAND", std::to_string(getpid()));  // execvp() keeps the number
  }
  if (arguments.has("wait")) set("AUTOTUNE_BLAS_WAIT", "1");
  if (arguments.has("no-serve")) set("AUTOTUNE_BLAS_SERVE", "0");
}

int run_run(const Arguments& arguments) {
  const std::vector<std::string>& words = arguments.positional();
  if (words.empty()) throw UsageError("run needs a command: autotune run -- python train.py");
  set_environment(arguments);
  std::vector<char*> command;
  for (const std::string& word : words) command.push_back(const_cast<char*>(word.c_str()));
  command.push_back(nullptr);
  // This tool ignores these signals, and the command would inherit that.
  signal(SIGPIPE, SIG_DFL);
  signal(SIGXFSZ, SIG_DFL);
  execvp(command[0], command.data());
  throw Error(format("{}: cannot be run: {}", words[0], std::strerror(errno)));
}

}  // namespace

const Verb kRun{
    .name = "run",
    .synopsis = "[--record FILE] [--report] [--wait] [--no-serve] [--db FILE] -- COMMAND…",
    .summary = "Start a program and serve its cuBLAS calls by tuned kernels",
    .details =
        "Starts the command with `libautotune_blas.so` preloaded. The program is not changed. "
        "[blas.md](blas.md) says which calls are served, and what happens to the others.\n"
        "\n"
        "    autotune run --record workload.jsonl -- python train.py\n"
        "    autotune tune --workload workload.jsonl --budget 5m\n"
        "    autotune run --report -- python train.py\n",
    .options = {{"record", "FILE",
                 "Add the shapes of all calls, and how often they were called, to FILE"},
                {"report", "", "At the end, say on stderr what was served, what was not, and why"},
                {"wait", "",
                 "The first call of a shape waits for its kernel, instead of calling cuBLAS"},
                {"no-serve", "", "Pass every call on to cuBLAS, as for --record or --report alone"},
                {"db", "FILE", "The database; default: $AUTOTUNE_DB, else the user's data folder"}},
    .positional = "COMMAND",
    .run = run_run};

}  // namespace autotune::cli
