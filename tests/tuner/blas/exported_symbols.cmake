# SPDX-License-Identifier: Apache-2.0
# LIBRARY exports what EXPORTS, its version script, names, and nothing else. Run as:
# cmake -DNM=... -DLIBRARY=... -DEXPORTS=... -P exported_symbols.cmake
execute_process(COMMAND ${NM} -D --defined-only --format=posix ${LIBRARY}
                OUTPUT_VARIABLE listed COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[^\n]+" exported "${listed}")
list(TRANSFORM exported REPLACE " .*" "")
file(READ ${EXPORTS} script)
string(REGEX MATCHALL "(cublas|__)[A-Za-z0-9_]+" named "${script}")
list(FILTER named EXCLUDE REGEX "^cublas$")
list(SORT exported)
list(SORT named)
if(NOT exported STREQUAL named)
  message(FATAL_ERROR "${LIBRARY} exports\n  ${exported}\nand ${EXPORTS} names\n  ${named}")
endif()
