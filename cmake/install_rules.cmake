# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` puts where.
include(CMakePackageConfigHelpers)

install(TARGETS autotune_tool RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY kernel_sources/ DESTINATION ${CMAKE_INSTALL_DATADIR}/autotune/kernel_sources)
install(FILES ${shipped_database} DESTINATION ${CMAKE_INSTALL_DATADIR}/autotune)

install(FILES ${documents}/autotune.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${documents}/autotune
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${documents}/autotune.fish
        DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
# Debian's zsh looks elsewhere for what packages bring.
install(CODE "
  set(folder site-functions)
  if(CMAKE_INSTALL_PREFIX MATCHES \"/usr$\")
    set(folder vendor-completions)
  endif()
  file(INSTALL DESTINATION \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}/zsh/\${folder}\"
       TYPE FILE FILES \"${documents}/_autotune\")")

# What messages and `--help` refer to as docs/NAME.md; Debian wants the licence under its own name.
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright)
install(FILES tuner/report/page/d3.LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

install(TARGETS autotune EXPORT autotune_targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS autotune_blas_preload LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES ${public_headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/autotune)

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/autotune)
install(EXPORT autotune_targets FILE autotune-targets.cmake NAMESPACE autotune::
        DESTINATION ${package})
export(EXPORT autotune_targets FILE ${PROJECT_BINARY_DIR}/autotune-targets.cmake
       NAMESPACE autotune::)  # the build tree is a package too
configure_package_config_file(cmake/autotune-config.cmake.in
                              ${PROJECT_BINARY_DIR}/autotune-config.cmake
                              INSTALL_DESTINATION ${package})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/autotune-config-version.cmake
                                 COMPATIBILITY SameMajorVersion)
install(FILES ${PROJECT_BINARY_DIR}/autotune-config.cmake
              ${PROJECT_BINARY_DIR}/autotune-config-version.cmake DESTINATION ${package})

# For programs built without CMake; found from where it lies, so that the prefix may be moved.
file(RELATIVE_PATH up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/autotune.pc CONTENT [[prefix=${pcfiledir}/@up@
Name: autotune
Description: @PROJECT_DESCRIPTION@
Version: @PROJECT_VERSION@
Libs: -L${prefix}/@CMAKE_INSTALL_LIBDIR@ -lautotune
Cflags: -I${prefix}/@CMAKE_INSTALL_INCLUDEDIR@
]] @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/autotune.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
