// SPDX-License-Identifier: Apache-2.0
// Runs compilers, in this process or in others that can be killed.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tuner/cache/build_cache.hpp"

namespace autotune {

/// One source for one compiler. With a folder, `program` is run in it as it is, with `options`; it
/// writes a program to the file that takes the place of `{program}` in them.
struct CompileTask {
  std::string program;  // the path of a C++ compiler; empty: NVRTC
  std::string name;     // of the source, in messages
  std::string source;
  std::vector<std::string> options;
  std::vector<std::string> kernels = {};      // of NVRTC: those whose names and types it gives
  std::vector<std::string> cooperative = {};  // of these: those that may wait for the whole grid
  std::filesystem::path folder = {};
};

class CompilerRunner {
 public:
  virtual ~CompilerRunner() = default;

  /// Thread-safe. A refused source gives a Build without binary; its log has the reason. Throws
  /// NotCompiled if the machine is to blame, Error if nothing can be compiled at all.
  virtual Build run(const CompileTask& task) = 0;

  /// Ends running compilers; from then on run() throws NotCompiled.
  virtual void stop() {}
};

}  // namespace autotune
