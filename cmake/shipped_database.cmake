# SPDX-License-Identifier: Apache-2.0
# share/autotune/shipped.db: the results in db/shipped, as one database. They are kept as text, which
# every later schema imports.
file(GLOB shipped CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/db/shipped/*.jsonl)
set(shipped_files ${shipped})
if(NOT shipped)
  set(shipped_files ${PROJECT_BINARY_DIR}/nothing_shipped.jsonl)
  file(WRITE ${shipped_files} "")
endif()
set(shipped_database ${PROJECT_BINARY_DIR}/share/autotune/shipped.db)
add_custom_command(
  OUTPUT ${shipped_database}
  COMMAND ${CMAKE_COMMAND} -E rm -f ${shipped_database}.new
  COMMAND autotune_tool db import ${shipped_files} --db ${shipped_database}.new
  COMMAND ${CMAKE_COMMAND} -E rename ${shipped_database}.new ${shipped_database}
  DEPENDS autotune_tool ${shipped}
  VERBATIM)
add_custom_target(shipped_database ALL DEPENDS ${shipped_database})
