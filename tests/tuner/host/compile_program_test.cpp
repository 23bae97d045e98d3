// SPDX-License-Identifier: Apache-2.0
#include "tuner/host/compile_program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <memory>

#include "tuner/core/error.hpp"
#include "tuner/host/temporary_folder.hpp"

namespace autotune {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

const CompileTask kTask{"/usr/bin/cc", "k.cu", "int k;", {"-O1"}};

/// A compiler that writes a binary, and this as the rule of what it read.
RunProgram compiler_that_reads(const std::string& prerequisites) {
  return [=](const std::vector<std::string>& argv, const std::filesystem::path&) {
    const auto after = [&](const char* word) { return *(std::ranges::find(argv, word) + 1); };
    std::ofstream(after("-o")) << "binary";
    std::ofstream(after("-MF")) << after("-o") << ": " << prerequisites << "\n";
    return ProcessResult{false, 0, "a warning\n"};
  };
}

RunProgram compiler_that_fails(int status, const std::string& output) {
  return [=](const std::vector<std::string>&, const auto&) {
    return ProcessResult{false, status, output};
  };
}

TEST(CompileProgram, GivesTheBinaryTheLogAndTheFilesThatWereRead) {
  const Build build = compile_program(
      kTask, compiler_that_reads("/tmp/kernel.cpp \\\n  /a/b.h \\\n /with\\ blank/c.h /d$$.h"));
  ASSERT_TRUE(build.binary);
  EXPECT_EQ(*build.binary, "binary");
  EXPECT_EQ(build.log, "a warning\n");
  ASSERT_TRUE(build.read);
  EXPECT_THAT(*build.read, ElementsAre("/a/b.h", "/with blank/c.h", "/d$.h"));
}

TEST(CompileProgram, ARefusalIsKept) {
  const Build build = compile_program(kTask, compiler_that_fails(1, "k.cu:1:1: error: no\n"));
  EXPECT_FALSE(build.binary);
  EXPECT_TRUE(build.keep);
  EXPECT_EQ(build.log, "k.cu:1:1: error: no\n");
}

TEST(CompileProgram, ACrashIsSaidAndNotKept) {
  const Build build = compile_program(kTask, compiler_that_fails(128 + 11, ""));
  EXPECT_FALSE(build.keep);
  EXPECT_THAT(build.log, HasSubstr("k.cu: error: the compiler crashed"));
}

TEST(CompileProgram, ACommandThatFailsIsToBlameUnlessTheMachineIs) {
  CompileTask task = kTask;
  task.folder = "/";
  const Build build = compile_program(task, compiler_that_fails(2, "no such shape\n"));
  EXPECT_EQ(build.binary, nullptr);
  EXPECT_THAT(build.log, testing::HasSubstr("no such shape\n\nk.cu: error: the build command ended "
                                            "with status 2"));
  EXPECT_THROW(compile_program(task, compiler_that_fails(1, "out of memory\n")), NotCompiled);
  EXPECT_THAT(compile_program(task, compiler_that_fails(0, "")).log,
              testing::HasSubstr("wrote no {program}"));
}

TEST(CompileProgram, WhatTheMachineLacksIsThrown) {
  for (const char* log : {"collect2: fatal error: ld terminated with signal 9 [Killed]\n",
                          "/usr/bin/ld: cannot find -lm: Too many open files\n"}) {
    EXPECT_THROW(compile_program(kTask, compiler_that_fails(1, log)), NotCompiled) << log;
  }
  EXPECT_THROW(compile_program(kTask,
                               [](const auto&, const auto&) -> ProcessResult {
                                 throw Error("no more processes");
                               }),
               NotCompiled);
  EXPECT_THROW(compile_program(kTask, [](const auto&, const auto&) { return ProcessResult{}; }),
               NotCompiled)
      << "without a binary";
}

TEST(CompileProgram, AFullDiskIsNoNotCompiled) {
  try {
    compile_program(kTask, compiler_that_fails(1, "as: final: No space left on device\n"));
    FAIL();
  } catch (const NotCompiled&) {
    FAIL() << "the next kernel would meet the same";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("is the disk full?"));
  }
}

TEST(CompileProgram, ALateCompilerIsKilledAndNotKept) {
  const auto runner = programs_of_this_process(0.2);
  const TemporaryFolder folder;
  const fs::path program = folder.path() / "slow";
  std::ofstream(program) << "#!/bin/sh\nsleep 100\n";
  fs::permissions(program, fs::perms::owner_all);
  const Build build = runner->run({program.string(), "k.cu", "", {}});
  EXPECT_TRUE(build.late);
  EXPECT_FALSE(build.keep);
  EXPECT_THAT(build.log, HasSubstr("killed after 0.2 s"));
}

}  // namespace
}  // namespace autotune
