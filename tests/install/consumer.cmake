# SPDX-License-Identifier: Apache-2.0
# What is installed suffices to build, run and look up: cmake -DSOURCE= -DBUILD= -DGENERATOR= -DCXX= [-DPYTHON=] -P consumer.cmake
set(work ${BUILD}/tests/install)
file(REMOVE_RECURSE ${work})
set(prefix ${work}/prefix)

include(${CMAKE_CURRENT_LIST_DIR}/installation.cmake)

run("Installing" ${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix})
foreach(file share/bash-completion/completions/autotune share/fish/vendor_completions.d/autotune.fish
             share/zsh/site-functions/_autotune share/man/man1/autotune.1)
  run("tune" ${CMAKE_COMMAND} -E cat ${prefix}/${file})
endforeach()
use_installation(${prefix})

# A library that is loaded by a relative path, with the flags of pkg-config.
find_program(pkg_config pkg-config REQUIRED)
file(GLOB_RECURSE pc ${prefix}/autotune.pc)
get_filename_component(folder ${pc} DIRECTORY)
set(ENV{PKG_CONFIG_PATH} ${folder})
execute_process(COMMAND ${pkg_config} --cflags autotune OUTPUT_VARIABLE flags
                OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
run("" ${CXX} -x c ${SOURCE}/tests/install/relative.c ${flags} -o ${work}/relative -ldl)
file(GLOB_RECURSE library RELATIVE ${prefix} ${prefix}/libautotune.so)
run("found gemm" ${CMAKE_COMMAND} -E chdir ${prefix} ${work}/relative ./${library})

# What is installed needs the C library and libgcc_s only.
find_program(readelf readelf REQUIRED)
foreach(file bin/autotune libexec/autotune/autotune-worker)
  execute_process(COMMAND ${readelf} -d ${prefix}/${file} OUTPUT_VARIABLE listed
                  COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX REPLACE "[][]" " " listed "${listed}")  # which lists do not split at
  string(REGEX MATCHALL "Shared library: *[^ \n]+" needed "${listed}")
  if(NOT needed MATCHES "libc\\.so")
    message(FATAL_ERROR "${file}: readelf said ${listed}")
  endif()
  list(FILTER needed EXCLUDE REGEX "lib(c|m|dl|rt|pthread|gcc_s)\\.so|ld-linux")
  if(needed)
    message(FATAL_ERROR "${file} needs more than the C library: ${needed}")
  endif()
endforeach()

# The sources inside of another project, and the build tree as a package.
run("Generating done" ${CMAKE_COMMAND} -G ${GENERATOR} -S ${SOURCE}/tests/install/app -B ${work}/app
    -DAUTOTUNE_SOURCES=${SOURCE} -DAUTOTUNE_CUDA=OFF -DCMAKE_CXX_COMPILER=${CXX})
run("Generating done" ${CMAKE_COMMAND} -G ${GENERATOR} -S ${SOURCE}/examples/runtime_lookup
    -B ${work}/of_build -Dautotune_DIR=${BUILD} -DCMAKE_CXX_COMPILER=${CXX})
run("" ${CMAKE_COMMAND} --build ${work}/of_build)
run("gemm" ${work}/of_build/runtime_lookup)
if(PYTHON)
  run("gemm [512, 512, 512] on" ${PYTHON} ${SOURCE}/examples/python/gemm.py ${prefix})
endif()
file(REMOVE_RECURSE ${work})
