// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/program.hpp"

#include <gtest/gtest.h>

#include <iostream>
#include <new>

#include "tuner/cli/verb.hpp"
#include "tuner/core/error.hpp"

namespace autotune::cli {
namespace {

/// What a program ends with, and its sentence on stderr.
struct End {
  int status = 0;
  std::string err;
};

End run(const std::function<int()>& body) {
  ::testing::internal::CaptureStderr();
  const int status = run_program(body);
  return {status, ::testing::internal::GetCapturedStderr()};
}

template <class Thrown>
End run_and_throw(const Thrown& thrown) {
  return run([&]() -> int { throw thrown; });
}

TEST(Program, EndsWithTheStatusOfItsBody) {
  const End end = run([] { return 3; });
  EXPECT_EQ(end.status, 3);
  EXPECT_EQ(end.err, "");
}

TEST(Program, AnExceptionIsASentenceAndAStatus) {
  const End usage = run_and_throw(UsageError("--x is wrong"));
  EXPECT_EQ(usage.status, kWrongUsage);
  EXPECT_EQ(usage.err, "error: --x is wrong\n");
  EXPECT_EQ(run_and_throw(Error("no GPU")).status, kFailed);
  EXPECT_EQ(run_and_throw(std::runtime_error("odd")).err, "error: odd\n");
  const End memory = run_and_throw(std::bad_alloc());
  EXPECT_EQ(memory.status, kFailed);
  EXPECT_EQ(memory.err, "error: out of memory; try a smaller problem or space\n");
}

TEST(Program, ControlCharactersDoNotReachATerminal) {
  EXPECT_EQ(run_and_throw(Error("a\x1b[31mb")).err.find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace autotune::cli
