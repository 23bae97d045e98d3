// SPDX-License-Identifier: Apache-2.0
#include "tuner/worker/worker_process.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace autotune {
namespace {

using ::testing::HasSubstr;

/// How a worker ends that is this script.
std::string end_of(const std::string& script) {
  WorkerProcess worker({"/bin/sh", "-c", script + "; kill -SEGV $$"});
  EXPECT_FALSE(worker.ask({{"do", "anything"}}, {}, 60));
  return worker.end().text;
}

TEST(WorkerProcess, TheLastLineOfAWorkerSaysWhyItEnded) {
  EXPECT_THAT(end_of("echo first; echo last >&2"), HasSubstr("signal 11 (Segmentation fault)"));
  EXPECT_THAT(end_of("echo first; echo last >&2"), HasSubstr(": last"));
}

TEST(WorkerProcess, KeepsSixteenMebibytesOfWhatAWorkerPrints) {
  EXPECT_THAT(end_of("yes | head -c 30000000"), HasSubstr("it printed more than 16.00 MiB"));
}

}  // namespace
}  // namespace autotune
