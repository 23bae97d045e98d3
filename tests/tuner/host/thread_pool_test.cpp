// SPDX-License-Identifier: Apache-2.0
#include "tuner/host/launcher.hpp"

#include <gtest/gtest.h>
#include <signal.h>

namespace autotune {
namespace {

TEST(ThreadPool, CallsTheWorkOnceOnEachThread) {
  ThreadPool pool(4);
  std::vector<int> calls(pool.size());
  for (int run = 0; run < 100; ++run) pool.run([&](unsigned number) { ++calls[number]; });
  EXPECT_EQ(calls, std::vector<int>(4, 100));
}

TEST(ThreadPool, FaultsReachTheirHandlerAndOtherSignalsTheProgramsOwnThreads) {
  ThreadPool pool(3);
  std::vector<sigset_t> blocked(pool.size());
  pool.run([&](unsigned number) { pthread_sigmask(SIG_SETMASK, nullptr, &blocked[number]); });
  for (unsigned number = 1; number < pool.size(); ++number) {
    for (const int fault : {SIGSEGV, SIGBUS, SIGILL, SIGFPE}) {
      EXPECT_EQ(sigismember(&blocked[number], fault), 0) << fault;
    }
    EXPECT_EQ(sigismember(&blocked[number], SIGINT), 1);
    EXPECT_EQ(sigismember(&blocked[number], SIGTERM), 1);
  }
}

}  // namespace
}  // namespace autotune
