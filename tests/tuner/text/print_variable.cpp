// SPDX-License-Identifier: Apache-2.0
// A program that prints `secure ` if it has more rights than its user, and then a variable.
#include <sys/auxv.h>

#include <cstdio>

#include "tuner/text/environment.hpp"

int main(int, char** argv) {
  std::printf("%s%s\n", getauxval(AT_SECURE) != 0 ? "secure " : "",
              autotune::environment_variable(argv[1]).c_str());
}
