// SPDX-License-Identifier: Apache-2.0
// A shared object of kernels, loaded.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tuner/host/shim/hooks.hpp"

namespace autotune {

class HostModule {
 public:
  /// Loads from memory. Throws KernelFailure(launch_error) when it is refused.
  explicit HostModule(const std::string& shared_object);
  ~HostModule();
  HostModule(const HostModule&) = delete;
  HostModule& operator=(const HostModule&) = delete;

  /// Throws KernelFailure(launch_error) when there is no such kernel.
  autotune_host::RunBlocks kernel(const std::string& entry) const;

  /// Of each of its parameters. Throws KernelFailure(launch_error) when there is no such kernel.
  std::vector<int> parameter_bytes(const std::string& entry) const;

  /// A `__constant__` variable of `bytes` or more; nullptr where there is none. Throws
  /// KernelFailure(launch_error) when it is shorter.
  void* find_constant(const std::string& symbol, std::int64_t bytes) const;
  /// The same; throws KernelFailure(launch_error) when there is none, too.
  void* constant(const std::string& symbol, std::int64_t bytes) const;

 private:
  void* exported(const std::string& symbol, const std::string& entry) const;

  // Open for as long as the module is: to the loader its number is the module's name.
  int file_;
  void* handle_;
};

}  // namespace autotune
