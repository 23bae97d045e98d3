# SPDX-License-Identifier: Apache-2.0
# Reads the dynamic section of every binary in BUILD: none may need libcuda, which is there only
# where a driver is. Run as: cmake -DREADELF=... -DBUILD=... -P no_libcuda.cmake
file(GLOB binaries ${BUILD}/bin/* ${BUILD}/lib*/*.so* ${BUILD}/tests/test_*)
set(read 0)
foreach(binary ${binaries})
  execute_process(COMMAND ${READELF} -d ${binary} OUTPUT_VARIABLE section ERROR_QUIET
                  RESULT_VARIABLE failed)
  if(failed OR NOT section MATCHES "NEEDED")
    continue()
  endif()
  math(EXPR read "${read} + 1")
  if(section MATCHES "libcuda\\.so")
    message(SEND_ERROR "${binary} needs libcuda and cannot start without a driver")
  endif()
endforeach()
if(read EQUAL 0)
  message(FATAL_ERROR "there is no binary in ${BUILD}")
endif()
message(STATUS "${read} binaries need no libcuda")
