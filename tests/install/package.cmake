# SPDX-License-Identifier: Apache-2.0
# The Debian package holds an installation that works, unpacked into a folder:
# cmake -DSOURCE= -DBUILD= -DGENERATOR= -DCXX= -P package.cmake
foreach(program dpkg dpkg-shlibdeps)
  find_program(${program} ${program})
  if(NOT ${program})
    message("skipped: there is no ${program} here")
    return()
  endif()
endforeach()
set(work ${BUILD}/tests/package)
file(REMOVE_RECURSE ${work})
include(${CMAKE_CURRENT_LIST_DIR}/installation.cmake)

get_filename_component(folder ${CMAKE_COMMAND} DIRECTORY)
run("generated" ${folder}/cpack -G DEB --config ${BUILD}/CPackConfig.cmake -B ${work}/made
    -D CPACK_DEBIAN_COMPRESSION_TYPE=gzip)
file(GLOB package ${work}/made/*.deb)
run("libsqlite3-0" ${dpkg} --field ${package} Depends)
run("" ${dpkg} --extract ${package} ${work}/unpacked)
use_installation(${work}/unpacked/usr)
foreach(file share/bash-completion/completions/autotune share/fish/vendor_completions.d/autotune.fish
             share/zsh/vendor-completions/_autotune share/man/man1/autotune.1)
  run("tune" ${CMAKE_COMMAND} -E cat ${work}/unpacked/usr/${file})
endforeach()
run("# The report" ${CMAKE_COMMAND} -E cat ${work}/unpacked/usr/share/doc/autotune/docs/report.md)
run("Apache License" ${CMAKE_COMMAND} -E cat ${work}/unpacked/usr/share/doc/autotune/copyright)
file(REMOVE_RECURSE ${work})
