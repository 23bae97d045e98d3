// SPDX-License-Identifier: Apache-2.0
#include "tuner/host/host_module.hpp"

#include <cxxabi.h>
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>

#include "tuner/core/device.hpp"
#include "tuner/host/block_runner.hpp"
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

using SharedVariables = std::vector<HostModule::SharedVariable>;
SharedVariables shared_variables_of(std::string_view shared_object);

}  // namespace

HostModule::HostModule(const std::string& shared_object)
    : file_(memory_file_of(shared_object)),
      thread_local_bytes_(thread_local_bytes_of(shared_object)),
      shared_variables_(shared_variables_of(shared_object)) {
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
  refuse(format("there is no __constant__ variable {} in it, outside of namespaces", symbol));
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

namespace {

/// The value at an offset; nullopt where the bytes end before it does.
template <class T>
std::optional<T> read_at(std::string_view bytes, std::uint64_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

std::optional<Elf64_Ehdr> header_of(std::string_view bytes) {
  const auto header = read_at<Elf64_Ehdr>(bytes, 0);
  const bool is_elf = header && std::memcmp(header->e_ident, ELFMAG, SELFMAG) == 0;
  return is_elf ? header : std::nullopt;
}

std::string_view text_at(std::string_view bytes, std::uint64_t offset) {
  if (offset >= bytes.size()) return {};
  const std::string_view rest = bytes.substr(offset);
  return rest.substr(0, rest.find('\0'));
}

/// Calls visit(symbol, name) for each symbol of the file's tables, but not those of the loader.
template <class Visit>
void for_each_symbol(std::string_view shared_object, Visit visit) {
  const auto header = header_of(shared_object);
  if (!header) return;
  const auto section = [&](std::uint64_t index) {
    return read_at<Elf64_Shdr>(shared_object, header->e_shoff + index * sizeof(Elf64_Shdr));
  };
  for (std::uint64_t i = 0; i < header->e_shnum; ++i) {
    const auto symbols = section(i);
    if (!symbols || symbols->sh_type != SHT_SYMTAB) continue;
    const auto names = section(symbols->sh_link);
    if (!names) continue;
    for (std::uint64_t at = 0; at < symbols->sh_size; at += sizeof(Elf64_Sym)) {
      const auto symbol = read_at<Elf64_Sym>(shared_object, symbols->sh_offset + at);
      if (!symbol) break;
      visit(*symbol, text_at(shared_object, names->sh_offset + symbol->st_name));
    }
  }
}

/// Thread-local variables that are the shim's, not shared memory of the kernel.
bool is_of_shim(std::string_view name) {
  // meet_warps: of kernel_sources/device/on_host, where zeros say that no warp has arrived.
  static constexpr std::array<std::string_view, 6> kOwn = {"threadIdx", "blockIdx",  "blockDim",
                                                           "gridDim",   "autotune_", "meet_warps"};
  return std::ranges::any_of(
      kOwn, [&](std::string_view own) { return name.find(own) != std::string_view::npos; });
}

}  // namespace

namespace {

SharedVariables shared_variables_of(std::string_view shared_object) {
  SharedVariables all;
  for_each_symbol(shared_object, [&](const Elf64_Sym& symbol, std::string_view name) {
    if (ELF64_ST_TYPE(symbol.st_info) != STT_TLS || symbol.st_shndx == SHN_UNDEF) return;
    if (is_of_shim(name)) return;
    all.push_back({std::string(name), static_cast<std::int64_t>(symbol.st_size),
                   static_cast<std::int64_t>(symbol.st_value)});
  });
  return all;
}

/// `part` of `_ZZ1kPfE4part`, also of a template's kernel.
std::string variable_in(std::string_view symbol) {
  int status = 0;
  char* const found = abi::__cxa_demangle(std::string(symbol).c_str(), nullptr, nullptr, &status);
  std::string name = status == 0 ? found : std::string(symbol);
  std::free(found);
  const auto colon = name.rfind("::");
  return colon == name.npos ? name : name.substr(colon + 2);
}

}  // namespace

std::int64_t shared_bytes_of(std::string_view shared_object) {
  std::int64_t bytes = 0;
  for (const auto& each : shared_variables_of(shared_object)) bytes += each.bytes;
  return bytes;
}

std::vector<std::span<std::byte>> HostModule::shared_variables() const {
  const std::span<std::byte> bytes = thread_local_bytes();
  std::vector<std::span<std::byte>> all;
  for (const SharedVariable& each : shared_variables_) {
    all.push_back(
        bytes.subspan(static_cast<std::size_t>(each.at), static_cast<std::size_t>(each.bytes)));
  }
  return all;
}

/// Behind a variable, others may follow: it is the last that ends before the address.
std::optional<HostModule::SharedVariable> HostModule::shared_variable(const void* near) const {
  constexpr std::int64_t kFarthest = 1 << 16;
  const std::span<std::byte> all = thread_local_bytes();
  const std::int64_t at = static_cast<const std::byte*>(near) - all.data();
  if (at < -kFarthest || at > std::ssize(all) + kFarthest) return std::nullopt;
  std::optional<SharedVariable> best;
  const auto distance = [](const SharedVariable& each) {
    return each.at < 0 ? kFarthest * 4 - each.at : each.at - each.bytes;
  };
  for (const SharedVariable& known : shared_variables_) {
    const SharedVariable each{known.name, known.bytes, at - known.at};
    const bool is_inside = each.at >= 0 && each.at < each.bytes;
    if (!is_inside && (!best || distance(each) < distance(*best))) best = each;
  }
  if (best) best->name = variable_in(best->name);
  return best;
}

std::vector<std::string> symbols_with(std::string_view shared_object, std::string_view part) {
  std::vector<std::string> names;
  for_each_symbol(shared_object, [&](const Elf64_Sym&, std::string_view name) {
    if (name.find(part) != std::string_view::npos) names.emplace_back(name);
  });
  return names;
}

std::size_t thread_local_bytes_of(std::string_view shared_object) {
  const auto header = header_of(shared_object);
  if (!header) return 0;
  for (std::uint64_t i = 0; i < header->e_phnum; ++i) {
    const auto segment =
        read_at<Elf64_Phdr>(shared_object, header->e_phoff + i * sizeof(Elf64_Phdr));
    if (segment && segment->p_type == PT_TLS) return segment->p_memsz;
  }
  return 0;
}

}  // namespace autotune
