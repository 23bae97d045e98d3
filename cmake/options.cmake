# SPDX-License-Identifier: Apache-2.0
# How everything here is compiled.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
# With CMAKE_UNITY_BUILD. One compilation then takes up to 1.5 GB.
set(CMAKE_UNITY_BUILD_BATCH_SIZE 16 CACHE STRING "Sources that are compiled at a time")

# NVRTC and friends are found where they were at build time; ours beside the program.
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)
set(CMAKE_INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")

add_compile_options(-Wall -Wextra -Wpedantic -Wshadow)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options(-Wno-missing-field-initializers)  # also where members are named
  # Collecting garbage below half a gigabyte takes a tenth of the time.
  add_compile_options("SHELL:--param ggc-min-heapsize=524288")
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 14)
  # GCC bug 105651: "a" + std::string() is warned about in several ways.
  add_compile_options(-Wno-restrict -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread)
endif()
if(AUTOTUNE_WERROR)
  add_compile_options(-Werror)
endif()
# What is installed runs where another C++ library is, or none. All share one libgcc_s, which unwinds
# the exceptions of a plugin. The archive of GCC 12 calls arc4random of glibc 2.36; with another, all
# runs with 2.34.
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/arc4random.cpp CONTENT [=[
#include <cstdlib>
#include <sys/random.h>
extern "C" [[gnu::visibility("hidden")]] unsigned arc4random() noexcept {
  unsigned bits = 0;
  if (getrandom(&bits, sizeof bits, 0) != sizeof bits) std::abort();
  return bits;
}
]=])
add_library(autotune_arc4random OBJECT ${PROJECT_BINARY_DIR}/arc4random.cpp)
function(autotune_without_cxx_library target)
  if(NOT AUTOTUNE_SANITIZE)
    target_link_options(${target} PRIVATE -static-libstdc++)
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:autotune_arc4random>)
  endif()
endfunction()
if(AUTOTUNE_SANITIZE)
  add_compile_options(-fsanitize=${AUTOTUNE_SANITIZE} -fno-sanitize-recover=all
                      -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${AUTOTUNE_SANITIZE})
  # Up to LLVM 16, LeakSanitizer takes memory of a thread for the header of an old glibc, by chance,
  # and crashes (github.com/google/sanitizers/issues/1322). Programs, also those that tests start with
  # an environment of their own, do without that. Deep stacks of allocations and a large quarantine of
  # freed memory take time.
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/sanitizer_options.cpp CONTENT
    [[extern "C" const char* __asan_default_options() {
  return "intercept_tls_get_addr=0:malloc_context_size=6:quarantine_size_mb=8";
}
]])
  add_library(sanitizer_options OBJECT ${PROJECT_BINARY_DIR}/sanitizer_options.cpp)
  link_libraries($<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:$<TARGET_OBJECTS:sanitizer_options>>)
  if(AUTOTUNE_SANITIZE MATCHES undefined)  # for all but the layers that fuzzers feed
    set(AUTOTUNE_FEWER_CHECKS -fno-sanitize=null,alignment,object-size)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-Wno-maybe-uninitialized)  # sanitizers make it speak up without reason
  endif()
endif()
include_directories(${PROJECT_SOURCE_DIR})
