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
if(PYTHON)
  run("gemm [512, 512, 512] on" ${PYTHON} ${SOURCE}/examples/python/gemm.py ${prefix})
endif()
file(REMOVE_RECURSE ${work})
