# SPDX-License-Identifier: Apache-2.0
# Every function that HEADER declares is exported by LIBRARY, and nothing else is. Run as:
# cmake -DNM=... -DLIBRARY=... -DHEADER=... -P exported_symbols.cmake
execute_process(COMMAND ${NM} -D --defined-only --format=posix ${LIBRARY}
                OUTPUT_VARIABLE listed COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[^\n]+" lines "${listed}")
list(TRANSFORM lines REPLACE " .*" "" OUTPUT_VARIABLE exported)
file(READ ${HEADER} header)
string(REGEX MATCHALL "\nAUTOTUNE_API [^(]+\\(" declared "${header}")
list(TRANSFORM declared REPLACE ".*(autotune_[a-z_]+)\\($" "\\1")
list(SORT exported)
list(SORT declared)
if(NOT exported STREQUAL declared)
  message(FATAL_ERROR "${LIBRARY} exports\n  ${exported}\nand ${HEADER} declares\n  ${declared}")
endif()
