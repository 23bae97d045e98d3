# SPDX-License-Identifier: Apache-2.0
# What an installation is to do, for consumer.cmake and package.cmake: these set SOURCE, GENERATOR,
# CXX and `work`, a folder for all that is made.

# run(TEXT command…): fails unless it succeeds and prints TEXT.
function(run text)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  string(FIND "${output}" "${text}" found)
  if(NOT status EQUAL 0 OR found EQUAL -1)
    message(FATAL_ERROR "${ARGN}: status ${status}, expected `${text}`:\n${output}")
  endif()
endfunction()

# Nothing of the build tree or of the user's may help.
foreach(name AUTOTUNE_KERNEL_PATH AUTOTUNE_PLUGIN_PATH AUTOTUNE_WORKER)
  unset(ENV{${name}})
endforeach()
set(ENV{AUTOTUNE_DB} ${work}/tuned.db)
set(ENV{AUTOTUNE_CACHE} ${work}/cache)

# Tunes, looks up, and builds the example of a program.
function(use_installation prefix)
  run("autotune" ${prefix}/bin/autotune --version)
  run("BM=" ${prefix}/bin/autotune --target gemm --sizes 64 --device host --budget 4 --strategy random --quiet)
  run("verified" ${prefix}/bin/autotune query --target gemm --size 64)
  run("Generating done" ${CMAKE_COMMAND} -G ${GENERATOR} -S ${SOURCE}/examples/runtime_lookup -B ${work}/runtime_lookup
      -DCMAKE_PREFIX_PATH=${prefix} -DCMAKE_CXX_COMPILER=${CXX})
  run("" ${CMAKE_COMMAND} --build ${work}/runtime_lookup)
  run("gemm" ${work}/runtime_lookup/runtime_lookup)
endfunction()
