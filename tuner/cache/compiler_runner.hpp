// SPDX-License-Identifier: Apache-2.0
// Runs compilers: in this process, or in others that can be killed.
#pragma once

#include <string>
#include <vector>

#include "tuner/cache/build_cache.hpp"

namespace autotune {

/// One source for one compiler.
struct CompileTask {
  std::string program;  // the path of a C++ compiler; empty: NVRTC
  std::string name;     // of the source, as messages have it
  std::string source;
  std::vector<std::string> options;
};

class CompilerRunner {
 public:
  virtual ~CompilerRunner() = default;

  /// Any number of threads. A refused source is a Build without binary whose log says why. Throws
  /// NotCompiled when the machine is to blame, Error when nothing can be compiled at all.
  virtual Build run(const CompileTask& task) = 0;

  /// Ends what runs; from then on run() throws NotCompiled.
  virtual void stop() {}
};

}  // namespace autotune
