# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` puts where.
install(DIRECTORY kernel_sources/ DESTINATION ${CMAKE_INSTALL_DATADIR}/autotune/kernel_sources)
