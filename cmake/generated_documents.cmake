# SPDX-License-Identifier: Apache-2.0
# Completion scripts and the manual page, written by the tool from its table of verbs.
set(documents ${PROJECT_BINARY_DIR}/share/documents)
file(MAKE_DIRECTORY ${documents})
add_custom_command(
  OUTPUT ${documents}/autotune ${documents}/_autotune ${documents}/autotune.fish ${documents}/autotune.1
  COMMAND autotune_tool help --completion bash > ${documents}/autotune
  COMMAND autotune_tool help --completion zsh > ${documents}/_autotune
  COMMAND autotune_tool help --completion fish > ${documents}/autotune.fish
  COMMAND autotune_tool help --man > ${documents}/autotune.1
  DEPENDS autotune_tool
  VERBATIM)
add_custom_target(generated_documents ALL DEPENDS ${documents}/autotune.1)
