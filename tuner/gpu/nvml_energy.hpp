// SPDX-License-Identifier: Apache-2.0
// The energy counter of a GPU's board, as NVML reads it.
#pragma once

#include <memory>
#include <string>

namespace autotune {

/// Loads NVML at run time; nothing links to it. Only reads: clocks and limits stay.
class NvmlEnergy {
 public:
  /// For the board at a PCI address such as `0000:1B:00.0`. Throws Error naming `device` if NVML is
  /// missing or the board has no counter.
  NvmlEnergy(const std::string& device, const std::string& pci_address);
  ~NvmlEnergy();
  NvmlEnergy(const NvmlEnergy&) = delete;
  NvmlEnergy& operator=(const NvmlEnergy&) = delete;

  /// Joules since the driver was loaded. The counter advances every 20 to 100 ms. Throws Error.
  double joules() const;

 private:
  struct Library;
  const std::string device_;
  std::unique_ptr<Library> library_;
  void* board_ = nullptr;
};

/// `0000:1B:00.0`; empty if there is no such GPU.
std::string pci_address(int ordinal);

}  // namespace autotune
