// SPDX-License-Identifier: Apache-2.0
// Compiles kernels to shared objects with the system's C++ compiler.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "tuner/cache/build_cache.hpp"
#include "tuner/cache/included_text.hpp"
#include "tuner/core/device.hpp"

namespace autotune {

// Properties of the host's processor.

/// Everything but `environment`.
DeviceInfo cpu_info();

/// Model and instruction sets: what `-march=native` depends on.
std::string cpu_fingerprint();

/// Memory that can be allocated without swapping; 0 if unknown.
std::int64_t available_memory_bytes();

/// Those of a manifest's options that mean nothing to the host's compiler, such as
/// `--use_fast_math`. It gets the preprocessor's, `-std` (at least C++17) and `-fmad=false`.
std::vector<std::string> options_not_for_host(std::span<const std::string> options);

struct FoundCompiler {
  std::string program;
  std::string version;  // the first line of its `--version`
};

/// $AUTOTUNE_HOST_CXX, else g++, clang++ or c++ from $PATH. Throws Error if it is no C++ compiler.
FoundCompiler found_compiler();

class HostCompiler {
 public:
  /// Uses found_compiler().
  HostCompiler(std::shared_ptr<BuildCache> cache, std::shared_ptr<CompilerRunner> runner,
               std::string optimization = "-O3");

  /// As Device::compile(). Thread-safe. A bad source is an outcome, and so is a timeout.
  CompiledKernel compile(const SourceUnit& unit) const;
  /// As Device::is_cached().
  bool is_cached(const SourceUnit& unit);
  /// As Device::stop_compiling().
  void stop() { runner_->stop(); }

  const std::string& version() const { return compiler_.version; }

 private:
  std::string key_of(const std::string& source, const std::vector<std::string>& options,
                     const std::string& included) const;
  std::vector<std::string> options_of(const SourceUnit& unit) const;
  Build build(const SourceUnit& unit, const std::string& source, const Included& included) const;
  const std::vector<std::filesystem::path>& system_folders() const;

  std::shared_ptr<BuildCache> cache_;
  std::shared_ptr<CompilerRunner> runner_;
  std::string optimization_;
  FoundCompiler compiler_;
  IncludedTexts included_;
  struct SystemFolders {
    std::once_flag found;
    std::vector<std::filesystem::path> folders;
  };
  std::unique_ptr<SystemFolders> system_ = std::make_unique<SystemFolders>();  // on first use
};

}  // namespace autotune
