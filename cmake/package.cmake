# SPDX-License-Identifier: Apache-2.0
# `cpack -G DEB` makes a Debian package of what `cmake --install` installs.
set(CPACK_PACKAGE_NAME autotune)
set(CPACK_PACKAGE_CONTACT "The autotune authors <autotune@users.noreply.github.com>" CACHE STRING
    "The maintainer of packages")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "g++ | clang")  # compiles kernels for the host device
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "libopenblas0")   # gemm's baseline there
# The system's libraries by dpkg-shlibdeps; ours are in the package.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/${CMAKE_INSTALL_LIBDIR})
# NVIDIA's packages tell dpkg-shlibdeps nothing. NVRTC of a toolkit without packages is no
# dependency: it is found where it was at build time.
if(AUTOTUNE_WITH_CUDA)
  get_target_property(nvrtc CUDA::nvrtc IMPORTED_LOCATION)
  file(REAL_PATH "${nvrtc}" nvrtc)
  execute_process(COMMAND dpkg-query --search ${nvrtc} OUTPUT_VARIABLE owner ERROR_QUIET)
  if(owner MATCHES "^([a-z0-9.+-]+)")
    set(CPACK_DEBIAN_PACKAGE_DEPENDS ${CMAKE_MATCH_1})
  else()
    string(APPEND CPACK_DEBIAN_PACKAGE_RECOMMENDS
           ", cuda-nvrtc-${CUDAToolkit_VERSION_MAJOR}-${CUDAToolkit_VERSION_MINOR}")
  endif()
endif()
include(CPack)
