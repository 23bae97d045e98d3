// SPDX-License-Identifier: Apache-2.0
// lookup_answers DATABASE MANIFEST SIZE…: what libautotune gives a program for each size that is
// tuned, a line each; what is wrong with the database goes to stderr.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "tuner/runtime/autotune.h"

namespace {

int fail() {
  std::fprintf(stderr, "error: %s\n", autotune_message());
  return 1;
}

bool print_answer(autotune_handle* handle, std::int64_t size) {
  autotune_answer answer{};
  answer.size = sizeof answer;
  if (autotune_lookup(handle, &size, 1, &answer) != AUTOTUNE_OK) return false;
  if (answer.origin != AUTOTUNE_EXACT) return true;
  std::printf("%lld %s %s %.17g %.17g\n", static_cast<long long>(size), answer.provenance,
              answer.configuration, answer.median_ns, answer.default_ns);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  autotune_options options{};
  options.size = sizeof options;
  options.user_database = argv[1];
  options.target = argv[2];
  options.site_database = options.shipped_database = "/none.db";
  autotune_handle* handle = nullptr;
  if (autotune_open(&options, &handle) != AUTOTUNE_OK) return fail();
  std::fprintf(stderr, "%s", autotune_warnings(handle));
  bool all_well = true;
  for (int i = 3; i < argc; ++i) {
    all_well = print_answer(handle, std::atoll(argv[i])) && all_well;
  }
  autotune_close(handle);
  return all_well ? 0 : fail();
}
