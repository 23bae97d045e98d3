/* SPDX-License-Identifier: Apache-2.0
 * relative LIBRARY: loads libautotune by a relative path, then goes elsewhere, as daemons do. */
#include <autotune/autotune.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char** argv) {
  void* const library = dlopen(argv[argc - 1], RTLD_NOW | RTLD_LOCAL);
  autotune_status (*open_target)(const autotune_options*, autotune_handle**);
  const char* (*message)(void);
  autotune_options options;
  autotune_handle* handle = NULL;
  if (!library || chdir("/") != 0) return puts(dlerror()), 1;
  *(void**)&open_target = dlsym(library, "autotune_open");
  *(void**)&message = dlsym(library, "autotune_message");
  memset(&options, 0, sizeof options);
  options.size = sizeof options;
  options.target = "gemm";
  options.device = "host";
  if (open_target(&options, &handle) != AUTOTUNE_OK) return puts(message()), 1;
  return puts("found gemm"), 0;
}
