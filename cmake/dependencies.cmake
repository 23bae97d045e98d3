# SPDX-License-Identifier: Apache-2.0
# Every third party, found once. docs/architecture.md says which folder may use which.
find_package(Threads REQUIRED)
if(NOT DEFINED Boost_USE_STATIC_LIBS)
  set(Boost_USE_STATIC_LIBS ON)
endif()
find_package(Boost 1.74 REQUIRED COMPONENTS program_options context)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(fmt 9 REQUIRED)
find_package(SQLiteCpp REQUIRED)
# Archives for our programs, so that they run where SQLite and zlib are not installed. Distributions
# do not compile them for shared libraries.
find_library(SQLITE_ARCHIVE libsqlite3.a)
if(SQLITE_ARCHIVE)
  set(is_program $<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>)
  set_property(TARGET SQLiteCpp PROPERTY INTERFACE_LINK_LIBRARIES
    $<IF:${is_program},${SQLITE_ARCHIVE},SQLite::SQLite3> Threads::Threads ${CMAKE_DL_LIBS} m)
endif()
find_library(ZLIB_LIBRARY_RELEASE NAMES libz.a z)
find_path(TOMLPLUSPLUS_INCLUDE_DIR toml++/toml.h REQUIRED)  # used without its library
find_path(XXHASH_INCLUDE_DIR xxhash.h REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(HTTPLIB QUIET IMPORTED_TARGET cpp-httplib)  # its flags decide the layout of its types
if(NOT HTTPLIB_FOUND)
  message(STATUS "no cpp-httplib: without autotune watch")
endif()

# autotune-mpi is built where MPI is. Sanitizers find leaks in Open MPI itself, and its processes end
# by _exit, so that leaks of ours would go unseen.
set(AUTOTUNE_WITH_MPI OFF)
if(NOT AUTOTUNE_SANITIZE)
  set(MPI_CXX_SKIP_MPICXX ON)  # the C API only
  find_package(MPI QUIET COMPONENTS CXX)
  set(AUTOTUNE_WITH_MPI ${MPI_CXX_FOUND})
endif()
message(STATUS "MPI for autotune-mpi: ${AUTOTUNE_WITH_MPI}")

set(AUTOTUNE_WITH_CUDA OFF)
if(NOT AUTOTUNE_CUDA STREQUAL "OFF")
  find_package(CUDAToolkit 12.8 QUIET)
  if(CUDAToolkit_FOUND AND TARGET CUDA::nvrtc AND TARGET CUDA::cudart_static)
    set(AUTOTUNE_WITH_CUDA ON)
    # NVRTC is not linked but loaded: by its name, or from where it is now.
    get_target_property(AUTOTUNE_NVRTC CUDA::nvrtc IMPORTED_LOCATION)
    get_filename_component(AUTOTUNE_NVRTC_FOLDER "${AUTOTUNE_NVRTC}" DIRECTORY)
  elseif(AUTOTUNE_CUDA STREQUAL "ON")
    message(FATAL_ERROR "AUTOTUNE_CUDA=ON, but no CUDA toolkit 12.8 or later with NVRTC was found: "
                        "set CUDAToolkit_ROOT, or use AUTOTUNE_CUDA=OFF for the host device only")
  endif()
endif()
if(AUTOTUNE_WITH_CUDA)
  message(STATUS "CUDA ${CUDAToolkit_VERSION}: devices cuda, model and host")
else()
  message(STATUS "no CUDA toolkit: host device only")
endif()
