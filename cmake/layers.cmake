# SPDX-License-Identifier: Apache-2.0
# autotune_layer(NAME [USES layer…] [LINKS library…] [SOURCES file…])
# A folder of sources as one static library, autotune_NAME. What it may use is the table of
# docs/architecture.md; a test checks the includes.
#
# Standard headers and fmt are precompiled once for each way to optimize, with JSON where it is read.
# tests/architecture finds a source that does not include what it uses of them, or of the headers of
# sources that are compiled with it.
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/precompiled.cpp CONTENT "")
set(common_headers <algorithm> <array> <chrono> <cmath> <cstdint> <filesystem> <fstream>
  <functional> <map> <memory> <mutex> <optional> <set> <span> <sstream> <string> <string_view>
  <thread> <utility> <vector> <fmt/format.h>)
function(autotune_precompile name)
  add_library(${name} OBJECT ${PROJECT_BINARY_DIR}/precompiled.cpp)
  target_link_libraries(${name} PRIVATE fmt::fmt-header-only nlohmann_json::nlohmann_json)
  target_precompile_headers(${name} PRIVATE ${common_headers} ${ARGN})
endfunction()
autotune_precompile(autotune_precompiled)

# Layers that read, write, print or wait for others compile faster at -O1, and -O3 gains them nothing.
set(AUTOTUNE_QUICK_LAYERS
  cli db interchange json mpi plugin ranks records replay report session target watch worker)
set(AUTOTUNE_QUICK_OPTIONS $<$<CONFIG:Release>:-O1>)
autotune_precompile(autotune_precompiled_quick <nlohmann/json.hpp>)
target_compile_options(autotune_precompiled_quick PRIVATE ${AUTOTUNE_QUICK_OPTIONS})

# Layers that read input of others. Fuzzers see the branches that they take.
set(AUTOTUNE_FUZZED_LAYERS core db interchange json target worker)

# Sanitizers check a fuzzed layer for everything. Elsewhere three checks at each access to a member
# are left out, which are half the time to compile; AddressSanitizer finds most that they find.
function(autotune_sanitize_layer name)
  if(NOT name IN_LIST AUTOTUNE_FUZZED_LAYERS)
    target_compile_options(autotune_${name} PRIVATE ${AUTOTUNE_FEWER_CHECKS})
  elseif(AUTOTUNE_FUZZERS)
    target_compile_options(autotune_${name} PRIVATE
      -fsanitize-coverage=inline-8bit-counters,indirect-calls,trace-cmp,pc-table)
  endif()
endfunction()

function(autotune_layer name)
  cmake_parse_arguments(LAYER "" "" "USES;LINKS;SOURCES" ${ARGN})
  if(NOT LAYER_SOURCES)
    file(GLOB LAYER_SOURCES CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  endif()
  if(NOT LAYER_SOURCES)
    add_library(autotune_${name} INTERFACE)
    set(scope INTERFACE)
  else()
    add_library(autotune_${name} STATIC ${LAYER_SOURCES})
    if(name IN_LIST AUTOTUNE_QUICK_LAYERS)
      target_compile_options(autotune_${name} PRIVATE ${AUTOTUNE_QUICK_OPTIONS})
      target_precompile_headers(autotune_${name} REUSE_FROM autotune_precompiled_quick)
    elseif(LAYER_USES OR "fmt::fmt-header-only" IN_LIST LAYER_LINKS)  # those with fmt's definitions
      target_precompile_headers(autotune_${name} REUSE_FROM autotune_precompiled)
    endif()
    autotune_sanitize_layer(${name})
    set(scope PUBLIC)
  endif()
  foreach(used ${LAYER_USES})
    target_link_libraries(autotune_${name} ${scope} autotune_${used})
  endforeach()
  target_link_libraries(autotune_${name} ${scope} ${LAYER_LINKS})
endfunction()
