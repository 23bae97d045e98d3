// SPDX-License-Identifier: Apache-2.0
// locked_program MANIFEST SIZE…: a program that is linked with libautotune. For each size of the
// target `tiny` of these tests, prints the answer, launches it on the host and prints whether the
// result is right. Databases or a lock are where the environment says. Says so if libautotune opens
// anything with SQLite: this program's function of that name comes before SQLite's own.
#include <dlfcn.h>

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "tuner/runtime/autotune.h"

namespace {

int fail() {
  std::fprintf(stderr, "error: %s\n", autotune_message());
  return 1;
}

bool is_right(autotune_kernel* kernel, std::int64_t size) {
  std::vector<std::int32_t> x(size), y(size);
  for (std::int64_t i = 0; i < size; ++i) x[i] = static_cast<std::int32_t>(i % 1000);
  void* const buffers[] = {x.data(), y.data()};
  if (autotune_launch(kernel, buffers, 2, nullptr) != AUTOTUNE_OK) return false;
  for (std::int64_t i = 0; i < size; ++i) {
    if (y[i] != 2 * x[i] + 1) return false;
  }
  return true;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int sqlite3_open_v2(const char* file,
                                                                      void** opened, int flags,
                                                                      const char* vfs) {
  std::printf("SQLite opens %s\n", file);
  using Open = int(const char*, void**, int, const char*);
  auto* const open = reinterpret_cast<Open*>(dlsym(RTLD_NEXT, "sqlite3_open_v2"));
  return open ? open(file, opened, flags, vfs) : 1;
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  autotune_options options{};
  options.size = sizeof options;
  options.target = argv[1];
  options.device = "host";
  options.shipped_database = "";
  options.earn = 1;
  autotune_handle* handle = nullptr;
  if (autotune_open(&options, &handle) != AUTOTUNE_OK) return fail();
  std::fprintf(stderr, "%s", autotune_warnings(handle));
  for (int i = 2; i < argc; ++i) {
    const std::int64_t size = std::atoll(argv[i]);
    autotune_answer answer{};
    answer.size = sizeof answer;
    autotune_kernel* kernel = nullptr;
    if (autotune_lookup(handle, &size, 1, &answer) != AUTOTUNE_OK ||
        autotune_prepare(handle, &size, 1, &kernel) != AUTOTUNE_OK) {
      return fail();
    }
    std::printf("%" PRId64 " %s %s open=%d\n", size, answer.configuration,
                is_right(kernel, size) ? "right" : "wrong", answer.is_open);
    autotune_release(kernel);
  }
  autotune_close(handle);
  return 0;
}
