// SPDX-License-Identifier: Apache-2.0
#include "tuner/host/host_module.hpp"

#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "tuner/core/device.hpp"
#include "tuner/host/cluster_runner.hpp"
#include "tuner/host/elf.hpp"
#include "tuner/host/translation.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

[[noreturn]] void refuse(const std::string& why) {
  throw KernelFailure(Outcome::launch_error, format("the kernel cannot be loaded: {}", why));
}

/// A file in memory.
int memory_file_of(const std::string& bytes) {
  const int file = memfd_create("autotune-kernel", MFD_CLOEXEC);
  if (file < 0) refuse(std::strerror(errno));
  if (write(file, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) {
    close(file);
    refuse("no memory for a file of its code");
  }
  return file;
}

}  // namespace

HostModule::HostModule(const std::string& shared_object)
    : file_(memory_file_of(shared_object)),
      thread_local_bytes_(thread_local_bytes_of(shared_object)) {
  handle_ = dlopen(format("/proc/self/fd/{}", file_).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle_ == nullptr) {
    const std::string why = dlerror();
    close(file_);
    refuse(why);
  }
  auto* const hooks = static_cast<autotune_host::Hooks*>(dlsym(handle_, "autotune_hooks"));
  if (hooks == nullptr) {
    dlclose(handle_);
    close(file_);
    refuse("it was not compiled for the host device");
  }
  *hooks = ClusterRunner::hooks();
}

HostModule::~HostModule() {
  dlclose(handle_);
  close(file_);
}

autotune_host::RunClusters HostModule::kernel(const std::string& entry) const {
  return reinterpret_cast<autotune_host::RunClusters>(exported(run_symbol(entry), entry));
}

std::vector<int> HostModule::parameter_bytes(const std::string& entry) const {
  void* const function = exported(parameters_symbol(entry), entry);
  std::vector<int> bytes;
  for (const int* next = reinterpret_cast<const int* (*)()>(function)(); *next != 0; ++next) {
    bytes.push_back(*next);
  }
  return bytes;
}

Dim3 HostModule::cluster(const std::string& entry) const {
  void* const function = exported(cluster_symbol(entry), entry);
  const autotune_host::Extent size = reinterpret_cast<autotune_host::Extent (*)()>(function)();
  return {size.x, size.y, size.z};
}

void* HostModule::exported(const std::string& symbol, const std::string& entry) const {
  void* const address = dlsym(handle_, symbol.c_str());
  if (address == nullptr) refuse(format("there is no kernel {} in it", entry));
  return address;
}

void* HostModule::constant(const std::string& symbol, std::int64_t bytes) const {
  if (void* const address = find_constant(symbol, bytes)) return address;
  refuse(format("there is no __constant__ variable {} in it", symbol));
}

void* HostModule::find_constant(const std::string& symbol, std::int64_t bytes) const {
  void* const address = dlsym(handle_, symbol.c_str());
  Dl_info unused;
  void* entry = nullptr;
  if (address == nullptr || dladdr1(address, &unused, &entry, RTLD_DL_SYMENT) == 0) return nullptr;
  const auto there = static_cast<const ElfW(Sym)*>(entry)->st_size;
  if (std::cmp_less(there, bytes)) {
    refuse(format("the __constant__ variable {} has {} bytes, and the argument {}", symbol, there,
                  bytes));
  }
  return address;
}

std::span<std::byte> HostModule::thread_local_bytes() const {
  void* start = nullptr;
  if (dlinfo(handle_, RTLD_DI_TLS_DATA, &start) != 0 || start == nullptr) return {};
  return {static_cast<std::byte*>(start), thread_local_bytes_};
}

}  // namespace autotune
