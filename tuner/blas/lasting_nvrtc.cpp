// SPDX-License-Identifier: Apache-2.0
// A part of the preloaded library only: static objects of NVRTC are never destroyed, because a
// thread may compile until the process ends. NVRTC makes some of them while it compiles. So they
// would be destroyed before any function that was registered earlier could end the thread.
#include <dlfcn.h>
#include <link.h>

#include <string_view>

namespace {

/// Takes no lock where the C library can do without: another thread may be loading a library.
std::string_view path_of_object(void* address) {
#if __GLIBC_PREREQ(2, 35)  // where this is compiled; it may run with an older one
  static const auto find =
      reinterpret_cast<decltype(&_dl_find_object)>(dlsym(RTLD_DEFAULT, "_dl_find_object"));
  dl_find_object object{};
  if (find) return find(address, &object) == 0 ? object.dlfo_link_map->l_name : "";
#endif
  Dl_info found{};
  return dladdr(address, &found) != 0 && found.dli_fname ? found.dli_fname : "";
}

bool is_in_nvrtc(void* object) {
  const std::string_view path = path_of_object(object);
  return path.substr(path.rfind('/') + 1).starts_with("libnvrtc");
}

}  // namespace

/// The compiler registers destructors of static objects by this function. `object` is in the
/// library that they belong to.
extern "C" [[gnu::visibility("default")]] int __cxa_atexit(void (*destroy)(void*), void* argument,
                                                           void* object) {
  static const auto next =
      reinterpret_cast<decltype(&__cxa_atexit)>(dlsym(RTLD_NEXT, "__cxa_atexit"));
  return is_in_nvrtc(object) ? 0 : next(destroy, argument, object);
}
