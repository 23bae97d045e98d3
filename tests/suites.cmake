# SPDX-License-Identifier: Apache-2.0
# autotune_suites(TARGET NAME LEFT_OUT COST): each suite of a test executable is a test NAME/Suite, and
# runs in one process: to start one takes a sanitizer longer than most tests. Tests that match the
# GoogleTest patterns LEFT_OUT do not run. Those of the greatest COST start first.
function(autotune_suites target name left_out cost)
  set(listed ${CMAKE_CURRENT_BINARY_DIR}/${target}_suites.cmake)
  file(GENERATE OUTPUT ${listed} CONTENT "set(program \"$<TARGET_FILE:${target}>\")
set(name \"${name}\")
set(left_out \"${left_out}\")
set(cost ${cost})
include(\"${CMAKE_CURRENT_FUNCTION_LIST_DIR}/suites.cmake\")
autotune_list_suites()
")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${listed})
endfunction()

# What CTest runs: asks the executable for its suites.
function(autotune_list_suites)
  if(NOT EXISTS ${program})
    add_test(${name}/NOT_BUILT ${program})
    return()
  endif()
  execute_process(COMMAND ${program} --gtest_list_tests "--gtest_filter=-${left_out}" OUTPUT_VARIABLE list
                  COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "(^|\n)[^ \n]+[.]" suites "${list}")
  foreach(suite ${suites})
    string(STRIP "${suite}" suite)
    string(REGEX REPLACE "[.]$" "" title "${suite}")
    add_test(${name}/${title} ${program} "--gtest_filter=${suite}*-${left_out}" --gtest_brief=1)
    set_tests_properties(${name}/${title} PROPERTIES LABELS ${name} TIMEOUT 600 COST ${cost}
                                                 SKIP_RETURN_CODE 77)
  endforeach()
endfunction()
