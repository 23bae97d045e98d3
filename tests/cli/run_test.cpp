// SPDX-License-Identifier: Apache-2.0
// autotune run: a program is started with the library in front of its cuBLAS.
#include <gmock/gmock.h>

#include "tests/cli/sentences.hpp"
#include "tests/cli/tool.hpp"
#include "tests/support/how_often.hpp"

namespace autotune::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const std::string kCaller = AUTOTUNE_BINARY_DIR "/tests/blas_stub/blas_caller";

TEST(Run, ServesRecordsAndReports) {
  Sandbox sandbox;
  sandbox.set("AUTOTUNE_BLAS_LIBRARY", AUTOTUNE_BINARY_DIR "/tests/blas_stub/libfake_autotune.so");
  const Ended ended = sandbox.run(
      {"run", "--record", "workload.jsonl", "--report", "--wait", "--", kCaller, "same", "3"});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("wrong 0, cuBLAS 0"));
  EXPECT_THAT(ended.err, HasSubstr("3 of 3 calls of cuBLAS were served"));
  EXPECT_TRUE(std::filesystem::exists(sandbox.folder() / "workload.jsonl"));
  const Ended off = sandbox.run({"run", "--no-serve", "--report", "--", kCaller, "same", "3"});
  EXPECT_THAT(off.err, HasSubstr("serving is off 3"));
}

TEST(Run, TheCommandHasItsOwnOptionsSignalsAndStatus) {
  if (kSanitized) GTEST_SKIP() << "a sanitized library cannot be loaded into other programs";
  Sandbox sandbox;
  const Ended ended = sandbox.run({"run", "--", "sh", "-c", "kill -s PIPE $$; echo --help"});
  EXPECT_EQ(ended.status, 128 + 13);
  EXPECT_THAT(sandbox.run({"run", "--", "printf", "%s", "--help"}).out, HasSubstr("--help"));
  EXPECT_EQ(sandbox.run({"run", "--", "sh", "-c", "exit 7"}).status, 7);
}

TEST(Run, SaysThatTheCommandCalledNothing) {
  if (kSanitized) GTEST_SKIP() << "a sanitized library cannot be loaded into other programs";
  Sandbox sandbox;
  const Ended ended = sandbox.run({"run", "--report", "--", kCaller, "same", "0"});
  EXPECT_EQ(ended.status, 0);
  EXPECT_THAT(ended.err, HasSubstr("autotune: blas_caller: this process called no matrix product"));
  const Ended script =
      sandbox.run({"run", "--report", "--", "bash", "-c", kCaller + " same 0; true"});
  EXPECT_THAT(script.err, HasSubstr("autotune: bash: this process"));
  EXPECT_THAT(script.err, Not(HasSubstr("blas_caller"))) << "of processes that it starts";
}

TEST(Run, KeepsWhatIsPreloadedAlready) {
  if (kSanitized) GTEST_SKIP() << "a sanitized library cannot be loaded into other programs";
  Sandbox sandbox;
  sandbox.set("LD_PRELOAD", "libm.so.6");
  EXPECT_THAT(sandbox.run({"run", "--db", "mine.db", "--", "env"}).out,
              AllOf(HasSubstr("libautotune_blas.so:libm.so.6\n"),
                    HasSubstr("AUTOTUNE_DB=" + (sandbox.folder() / "mine.db").string())));
}

TEST(Run, TheTunerItselfCallsTheRealLibrary) {
  Sandbox sandbox;
  const Ended ended = sandbox.run({"run", "--report", "--record", "w.jsonl", "--",
                                   AUTOTUNE_BINARY_DIR "/bin/autotune", "--version"});
  EXPECT_EQ(ended.status, 0);
  EXPECT_THAT(ended.err, IsEmpty());
}

TEST(Run, WhatCannotBeRunIsRefused) {
  Sandbox sandbox;
  expect_refused(sandbox.run({"run"}), 2, {"run needs a command"});
  expect_refused(sandbox.run({"run", "--", "./none"}), 1, {"./none: cannot be run"});
  expect_refused(sandbox.run({"run", "--record", "/proc/none/w", "--", "true"}), 1,
                 {"--record /proc/none/w: cannot be written"});
}

}  // namespace
}  // namespace autotune::testing
