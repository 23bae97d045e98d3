// SPDX-License-Identifier: Apache-2.0
// A program that loads libraries one after the other, calls each, and then all of them again.
#include <dlfcn.h>

#include <cstdio>
#include <vector>

int main(int argc, char** argv) {
  std::vector<int (*)()> calls;
  for (int i = 1; i < argc; ++i) {
    void* const library = dlopen(argv[i], RTLD_NOW | RTLD_GLOBAL);
    void* const call = library ? dlsym(library, "call_product") : nullptr;
    if (!call) return std::fprintf(stderr, "%s\n", dlerror()), 1;
    calls.push_back(reinterpret_cast<int (*)()>(call));
    if (calls.back()() != 0) return 1;
  }
  int failed = 0;
  for (auto* const call : calls) failed += call();
  return failed;
}
