// SPDX-License-Identifier: Apache-2.0
#include "tuner/gpu/nvml_energy.hpp"

#include <dlfcn.h>

#include "tuner/core/error.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

constexpr const char* kLibrary = "libnvidia-ml.so.1";

}  // namespace

/// NVML's functions, by its documented C interface.
struct NvmlEnergy::Library {
  Library() : handle(dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL)) {
    if (handle == nullptr) return;
    find(init, "nvmlInit_v2");
    find(shutdown, "nvmlShutdown");
    find(board_at, "nvmlDeviceGetHandleByPciBusId_v2");
    find(total_millijoules, "nvmlDeviceGetTotalEnergyConsumption");
    find(error_text, "nvmlErrorString");
    if (is_whole()) open = init() == 0;
  }
  ~Library() {
    if (open) shutdown();
    if (handle != nullptr) dlclose(handle);
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  bool is_whole() const { return init && shutdown && board_at && total_millijoules && error_text; }

  void* handle;
  bool open = false;
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*board_at)(const char*, void**) = nullptr;
  int (*total_millijoules)(void*, unsigned long long*) = nullptr;
  const char* (*error_text)(int) = nullptr;

 private:
  template <class Function>
  void find(Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(handle, name));
  }
};

NvmlEnergy::NvmlEnergy(const std::string& device, const std::string& pci_address)
    : device_(device), library_(std::make_unique<Library>()) {
  if (!library_->open) {
    throw Error(
        format("{}: its energy cannot be read, because NVML ({}) is not there: install it "
               "with the driver, or use --objective time",
               device_, kLibrary));
  }
  if (const int status = library_->board_at(pci_address.c_str(), &board_); status != 0) {
    throw Error(format("{}: NVML does not know the board at {} ({}): use --objective time", device_,
                       pci_address, library_->error_text(status)));
  }
  joules();
}

NvmlEnergy::~NvmlEnergy() = default;

double NvmlEnergy::joules() const {
  unsigned long long millijoules = 0;
  if (const int status = library_->total_millijoules(board_, &millijoules); status != 0) {
    throw Error(
        format("{}: the board has no energy counter that NVML reads ({}): use --objective "
               "time, or a board of the Volta generation or later",
               device_, library_->error_text(status)));
  }
  return static_cast<double>(millijoules) * 1e-3;
}

}  // namespace autotune
