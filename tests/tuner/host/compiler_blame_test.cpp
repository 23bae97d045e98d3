// SPDX-License-Identifier: Apache-2.0
#include "tuner/host/compile_program.hpp"

#include <gtest/gtest.h>
#include <signal.h>

namespace autotune {
namespace {

TEST(CompilerBlame, WhatNamesAPlaceIsTheSources) {
  for (const char* log :
       {"k.cu:3:5: error: 'x' was not declared in this scope\n",
        "In file included from a.h:1,\nb.h:2:2: error: #error gone\n",
        "k.cu:1:10: fatal error: gone.h: No such file or directory\ncompilation terminated.\n",
        "<command-line>: error: macro names must be identifiers\n",
        "{standard input}: Assembler messages:\n{standard input}:7: Error: no such instruction\n",
        "<inline asm>:1:2: error: invalid instruction mnemonic 'nonsense'\n",
        "/usr/bin/ld: /tmp/cc.o: in function `f':\nk.cu:(.text+0x5): undefined reference to `g'\n"
        "collect2: error: ld returned 1 exit status\n",
        "k.cu:9:1: error: expected ';'\n    9 | puts(\"out of memory, Aborted\")\n",
        "k.cu:9:1: internal compiler error: in expand_expr, at expr.cc:1234\n"}) {
    EXPECT_EQ(blame(1, log), Blame::source) << log;
  }
}

TEST(CompilerBlame, WhatTheMachineLacksIsNot) {
  for (const char* log :
       {"", "g++: fatal error: Killed signal terminated program cc1plus\n",
        "collect2: fatal error: ld terminated with signal 9 [Killed]\n",
        "clang: error: unable to execute command: Killed\n",
        "cc1plus: out of memory allocating 65536 bytes after a total of 9154560 bytes\n",
        "virtual memory exhausted: Cannot allocate memory\n",
        "/usr/bin/ld: cannot find -lm: Too many open files\ncollect2: error: ld returned 1\n",
        "k.cu:1:10: fatal error: value.h: Too many open files\n",
        "g++: error: libcc1plus.so: failed to map segment from shared object\n",
        "g++: fatal error: cannot execute 'cc1plus': posix_spawn: Resource temporarily "
        "unavailable\n"}) {
    EXPECT_EQ(blame(1, log), Blame::machine) << log;
  }
  EXPECT_EQ(blame(128 + SIGKILL, ""), Blame::machine);
  EXPECT_EQ(blame(128 + SIGTERM, ""), Blame::machine);
}

TEST(CompilerBlame, ACrashIsTold) {
  EXPECT_EQ(blame(128 + SIGSEGV, ""), Blame::crash);
  EXPECT_EQ(blame(4,
                  "g++: internal compiler error: Segmentation fault signal terminated program "
                  "cc1plus\n"),
            Blame::crash);
  EXPECT_EQ(blame(1, "k.cu:3:5: internal compiler error: Segmentation fault\n"), Blame::crash);
}

TEST(CompilerBlame, AFullDiskIsTold) {
  EXPECT_EQ(blame(1, "k.cu:5:1: fatal error: error writing to -: No space left on device\n"),
            Blame::disk);
  EXPECT_EQ(blame(1, "/usr/bin/ld: final link failed: File too large\n"), Blame::disk);
}

}  // namespace
}  // namespace autotune
