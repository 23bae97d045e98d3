// SPDX-License-Identifier: Apache-2.0
// A loaded shared object of kernels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/core/launch.hpp"
#include "tuner/host/shim/hooks.hpp"

namespace autotune {

class HostModule {
 public:
  /// Loads from memory. Throws KernelFailure(launch_error) if the loader refuses it.
  explicit HostModule(const std::string& shared_object);
  ~HostModule();
  HostModule(const HostModule&) = delete;
  HostModule& operator=(const HostModule&) = delete;

  /// Throws KernelFailure(launch_error) if there is no such kernel.
  autotune_host::RunClusters kernel(const std::string& entry) const;

  /// Bytes of each of its parameters. Throws KernelFailure(launch_error) if there is no such
  /// kernel.
  std::vector<int> parameter_bytes(const std::string& entry) const;

  /// The cluster of its `__cluster_dims__`, or of one block. Throws KernelFailure(launch_error) if
  /// there is no such kernel.
  Dim3 cluster(const std::string& entry) const;

  /// The address of a `__constant__` variable, or nullptr if there is none. Throws
  /// KernelFailure(launch_error) if it is shorter than `bytes`.
  void* find_constant(const std::string& symbol, std::int64_t bytes) const;
  /// The same, but throws KernelFailure(launch_error) if there is none.
  void* constant(const std::string& symbol, std::int64_t bytes) const;

  /// The thread-local variables of the calling thread, among them static shared memory. A kernel of
  /// the module must have begun to run on it.
  std::span<std::byte> thread_local_bytes() const;

  /// Of these, the shared memory: as on a GPU, nobody has set it when a kernel begins.
  std::vector<std::span<std::byte>> shared_variables() const;

  struct SharedVariable {
    std::string name;
    std::int64_t bytes = 0, at = 0;  // at: from its start
  };
  /// The shared variable that an address is next to, before or behind it; nullopt if the address is
  /// none of thread-local variables.
  std::optional<SharedVariable> shared_variable(const void* near) const;

 private:
  void* exported(const std::string& symbol, const std::string& entry) const;

  // Stays open with the module: the loader identifies the module by this descriptor's number.
  int file_;
  void* handle_;
  std::size_t thread_local_bytes_;
  std::vector<SharedVariable> shared_variables_;  // by symbols; at: from the first
};

// Reads the symbols of a shared object. Kernels have shared memory in thread-local variables.

/// Bytes of the `__shared__` variables of all its kernels together. 0 if it is not a 64-bit ELF
/// file with a symbol table.
std::int64_t shared_bytes_of(std::string_view shared_object);

/// The names of its symbols that have this part.
std::vector<std::string> symbols_with(std::string_view shared_object, std::string_view part);

/// Bytes of all its thread-local variables, as they lie in memory. 0 if it has none.
std::size_t thread_local_bytes_of(std::string_view shared_object);

}  // namespace autotune
