// SPDX-License-Identifier: Apache-2.0
#include "tuner/blas/vendor_library.hpp"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tuner/blas/call_table.hpp"
#include "tuner/blas/options.hpp"
#include "tuner/text/format.hpp"

namespace autotune::blas {
namespace {

/// What a library's file is called, up to its version, and a function that every version has.
struct PartNames {
  const char* library;
  std::size_t function;
};

constexpr PartNames names_of(Part part) {
  return part == Part::lt ? PartNames{"libcublasLt.so.", vendor_function("cublasLtMatmul")}
                          : PartNames{"libcublas.so.", vendor_function("cublasSgemm_v2")};
}

constexpr std::uintptr_t kPage = 4096;

/// A program or library in memory.
struct LoadedObject {
  std::string path;  // empty: the program
  std::uintptr_t low = 0, high = 0;
};

LoadedObject object_of(const dl_phdr_info& info) {
  LoadedObject object{info.dlpi_name, UINTPTR_MAX, 0};
  for (const ElfW(Phdr) & part : std::span(info.dlpi_phdr, info.dlpi_phnum)) {
    if (part.p_type != PT_LOAD) continue;
    object.low = std::min<std::uintptr_t>(object.low, info.dlpi_addr + part.p_vaddr);
    object.high =
        std::max<std::uintptr_t>(object.high, info.dlpi_addr + part.p_vaddr + part.p_memsz);
  }
  return object;
}

std::vector<LoadedObject> loaded_objects() {
  std::vector<LoadedObject> objects;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        static_cast<std::vector<LoadedObject>*>(data)->push_back(object_of(*info));
        return 0;
      },
      &objects);
  return objects;
}

std::string file_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::vector<std::string> loaded_libraries(const std::vector<LoadedObject>& objects,
                                          const char* prefix) {
  std::vector<std::string> paths;
  for (const LoadedObject& object : objects) {
    if (file_name(object.path).starts_with(prefix)) paths.push_back(object.path);
  }
  return paths;
}

/// nullptr if it is not loaded. Does not keep the library.
void* symbol_in(const std::string& library, const char* name) {
  void* const handle = dlopen(library.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (!handle) return nullptr;
  void* const found = dlsym(handle, name);
  dlclose(handle);
  return found;
}

/// Also from libraries that the object's own libraries are linked with.
void* symbol_linked_with(const LoadedObject& object, const char* name) {
  return object.path.empty() ? nullptr : symbol_in(object.path, name);
}

/// Empty if there is none.
std::string installed_library(const char* prefix) {
  for (const char* version : {"13", "12", "11"}) {
    const std::string name = std::string(prefix) + version;
    if (dlopen(name.c_str(), RTLD_LAZY)) return name;
  }
  return "";
}

/// RTLD_NEXT does not find the cuBLAS of a program that loads it by dlopen, as Python does. All
/// functions are of one version, because handles are.
VendorLibrary vendor_of(const LoadedObject& caller, const PartNames& names,
                        const std::vector<std::string>& loaded) {
  const char* const main = kVendorFunctions[names.function];
  const bool is_linked = symbol_linked_with(caller, main);
  const bool is_elsewhere = loaded.empty() && !is_linked && !dlsym(RTLD_NEXT, main);
  const std::string other = is_elsewhere     ? installed_library(names.library)
                            : loaded.empty() ? ""
                                             : loaded.front();
  const auto symbol = [&](const char* name) -> void* {
    void* const linked = is_linked ? symbol_linked_with(caller, name) : nullptr;
    if (is_linked && loaded.size() > 1) return linked;
    if (void* const next = dlsym(RTLD_NEXT, name)) return next;
    if (linked) return linked;
    return other.empty() ? nullptr : symbol_in(other, name);
  };
  VendorLibrary vendor;
  std::ranges::transform(kVendorFunctions, vendor.functions.begin(), symbol);
  return vendor;
}

void warn_about_versions(const std::vector<std::string>& loaded) {
  if (loaded.size() < 2) return;
  warn_once(Topic::versions,
            format("{} and {} are in one process: each call goes to the library that its caller is "
                   "linked with",
                   file_name(loaded[0]), file_name(loaded[1])));
}

void keep_loaded(const void* function) {
  Dl_info info{};
  if (dladdr(function, &info) != 0 && info.dli_fname) {
    dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  }
}

/// nullptr for a library without the function that every version has. Equal ones are one.
const VendorLibrary* kept(const VendorLibrary& vendor, std::size_t function) {
  static constinit GrowingList<VendorLibrary> libraries;
  void* const key = vendor.functions[function];
  if (!key) return nullptr;
  const auto is_it = [&](const VendorLibrary& one) { return one.functions == vendor.functions; };
  if (const VendorLibrary* const known = libraries.find(is_it)) return known;
  keep_loaded(key);
  return libraries.add(vendor);
}

/// What is known of the callers in one object.
struct KnownCaller {
  std::uintptr_t low, high;
  Caller caller;
};

KnownCaller found_caller(std::uintptr_t address, Part part) {
  const PartNames names = names_of(part);
  const std::vector<LoadedObject> objects = loaded_objects();
  const auto holds = [&](const LoadedObject& one) {
    return one.low <= address && address < one.high;
  };
  const auto found = std::ranges::find_if(objects, holds);
  // Code that a compiler of the program made belongs to no object, and neither does its page.
  const std::uintptr_t page = address / kPage * kPage;
  const LoadedObject object =
      found != objects.end() ? *found : LoadedObject{"", page, page + kPage};
  const std::vector<std::string> loaded = loaded_libraries(objects, names.library);
  warn_about_versions(loaded);
  return {object.low,
          object.high,
          {kept(vendor_of(object, names, loaded), names.function),
           symbol_linked_with(object, "autotune_plugin") != nullptr}};
}

}  // namespace

Caller caller_at(const void* address, Part part) noexcept try {
  static constinit std::array<GrowingList<KnownCaller>, 2> callers;
  GrowingList<KnownCaller>& known = callers[static_cast<std::size_t>(part)];
  const auto bits = reinterpret_cast<std::uintptr_t>(address);
  const auto is_in = [&](const KnownCaller& one) { return one.low <= bits && bits < one.high; };
  if (const KnownCaller* const one = known.find(is_in)) return one->caller;
  const KnownCaller found = found_caller(bits, part);
  if (found.caller.vendor) known.add(found);  // else it may be loaded later
  return found.caller;
} catch (...) {  // memory is short
  return {};
}

HandleState state_of(const VendorLibrary& vendor, BlasHandle handle) noexcept {
  using GetNumber = Status(BlasHandle, int*);
  const auto get = [&](std::size_t function, int& number) {
    auto* const read = vendor.function<GetNumber>(function);
    return read && read(handle, &number) == kSuccess;
  };
  constexpr std::size_t kSmCount = vendor_function("cublasGetSmCountTarget");
  HandleState state, unknown;
  if (!get(vendor_function("cublasGetPointerMode_v2"), state.pointer_mode)) return unknown;
  if (!get(vendor_function("cublasGetMathMode"), state.math_mode)) return unknown;
  const bool has_target = vendor.function<GetNumber>(kSmCount) != nullptr;
  if (has_target && !get(kSmCount, state.sm_count_target)) return unknown;
  return state;
}

bool stream_of(const VendorLibrary& vendor, BlasHandle handle, Stream& stream) noexcept {
  using GetStream = Status(BlasHandle, Stream*);
  auto* const get_stream = vendor.function<GetStream>(vendor_function("cublasGetStream_v2"));
  return get_stream && get_stream(handle, &stream) == kSuccess;
}

}  // namespace autotune::blas
