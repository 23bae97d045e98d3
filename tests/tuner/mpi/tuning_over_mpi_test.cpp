// SPDX-License-Identifier: Apache-2.0
// Every rank runs the test. ctest starts it once by itself, where it skips, and once by mpirun.
#include "tuner/mpi/mpi_transport.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>

#include "tests/support/matchers.hpp"
#include "tests/tuner/ranks/fake_job.hpp"
#include "tests/tuner/ranks/lead_run.hpp"
#include "tests/tuner/session/toy.hpp"
#include "tuner/cli/arguments.hpp"
#include "tuner/core/error.hpp"
#include "tuner/mpi/own_job.hpp"

namespace autotune {
namespace {

std::optional<Packet> wait_for_packet(MpiTransport& transport) {
  for (int i = 0; i < 20000; ++i) {
    if (auto packet = transport.receive()) return packet;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return std::nullopt;
}

/// Above any size that MPI sends before the receiver asks for it.
std::string long_text(int number) {
  return std::string(std::size_t{8} << 20, static_cast<char>('a' + number));
}

TEST(MpiTransport, PacketsOfARankArriveWholeAndInOrder) {
  if (std::getenv("OMPI_COMM_WORLD_SIZE") == nullptr) GTEST_SKIP() << "not started by mpirun";
  int argc = 0;
  char** argv = nullptr;
  MpiTransport transport(argc, argv);
  ASSERT_GE(transport.size(), 2);
  EXPECT_EQ(transport.rank() == 0 ? 0 : transport.rank() - 1, transport.local_rank());
  const int next = (transport.rank() + 1) % transport.size();
  const int before = (transport.rank() + transport.size() - 1) % transport.size();
  for (int i = 0; i < 3; ++i) {
    transport.send(next, long_text(i));
    transport.send(next, "");
    transport.send(next, "packet " + std::to_string(i));
  }
  for (int i = 0; i < 3; ++i) {
    for (const std::string& expected :
         {long_text(i), std::string(), "packet " + std::to_string(i)}) {
      const auto packet = wait_for_packet(transport);
      ASSERT_TRUE(packet);
      EXPECT_EQ(packet->from, before);
      EXPECT_TRUE(packet->bytes == expected) << packet->bytes.size() << " bytes";
    }
  }
  EXPECT_FALSE(transport.receive());
  transport.flush();
  transport.finalize([] { _exit(HasFailure() ? 1 : 0); });
}

// Every rank runs the test. ctest starts it once by itself, where it skips, and once by mpirun.

namespace fs = std::filesystem;
using testing::FakeDevice;
using testing::FakeJob;

/// Files by which the ranks of one host see how far the others are.
class Signs {
 public:
  explicit Signs(const char* job)
      : folder_(fs::temp_directory_path() / (std::string(job) + "_signs")) {
    fs::create_directories(folder_);
  }
  void set(int rank) const { std::ofstream(folder_ / std::to_string(rank)) << rank; }
  bool has(int rank) const { return fs::exists(folder_ / std::to_string(rank)); }
  void remove() const { fs::remove_all(folder_); }

 private:
  fs::path folder_;
};

class TuningOverMpi : public StoreTest {
 protected:
  /// Another rank. Returns how many configurations its device loaded.
  int serve(Transport& transport, const Signs& signs) {
    const int rank = transport.rank();
    std::atomic<int> loaded = 0;
    MemberOptions options;
    options.prepare = [&] {
      auto job = std::make_unique<FakeJob>(target_, request_, bowl);
      job->device().on_load([&, rank](int before) {
        loaded = before + 1;
        if (before == 1) signs.set(rank);
        // The other rank is given the other problem.
        for (int i = 0; i < 2000 && before == 4 && !signs.has(3 - rank); ++i) {
          std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
      });
      return job;
    };
    EXPECT_FALSE(run_member(transport, options).lead_lost);
    return loaded;
  }

  Target target_ = two_parameters();
  TuningRequest request_ = request_for(target_, {64, 32});
  db::TunedStore store_ = open_store();
};

TEST_F(TuningOverMpi, RanksFindWhatOneProcessFindsAndStoreIt) {
  const char* const job = std::getenv("OMPI_MCA_ess_base_jobid");
  if (job == nullptr) GTEST_SKIP() << "not started by mpirun";
  int argc = 0;
  char** argv = nullptr;
  MpiTransport transport(argc, argv);
  ASSERT_EQ(transport.size(), 3);
  const Signs signs(job);
  if (transport.rank() == 0) {
    FakeDevice device(bowl);
    const TuningReport alone = tune(target_, device, nullptr, request_);
    const TuningReport report =
        testing::lead_run(target_, store_, transport, request_).at(0).report;
    ASSERT_EQ(report.problems.size(), 2u);
    for (std::size_t i = 0; i < 2; ++i) {
      const ProblemReport& problem = report.problems[i];
      EXPECT_EQ(problem.outcomes, alone.problems[i].outcomes);
      ASSERT_TRUE(problem.decision.best);
      EXPECT_EQ(problem.decision.best->configuration,
                alone.problems[i].decision.best->configuration);
    }
    EXPECT_EQ(store_.tuned({}).size(), 2u);
    signs.remove();
  } else {
    EXPECT_GE(serve(transport, signs), 2);
  }
  transport.flush();
  transport.finalize([] { _exit(HasFailure() ? 1 : 0); });
}

TEST(ShareOfHost, EachRankHasTheGpuOfItsNumber) {
  EXPECT_EQ(device_of_rank("auto", 1, {4, false}), "cuda:1");
  EXPECT_EQ(device_of_rank("cuda:all", 3, {4, true}), "cuda:3");
  EXPECT_THROW(device_of_rank("cuda", 4, {4, false}), UsageError);
}

TEST(ShareOfHost, AHostWithoutAGpuIsNamed) {
  EXPECT_REFUSAL(UsageError, device_of_rank("cuda", 0, {0, false}), "has no GPU that CUDA can use");
}

TEST(ShareOfHost, OneVisibleGpuIsTheRanksOwn) {
  EXPECT_EQ(device_of_rank("cuda", 3, {1, true}), "cuda:0") << "srun shows each task its own";
  EXPECT_THROW(device_of_rank("cuda", 1, {1, false}), UsageError);
}

TEST(ShareOfHost, OfAListEachRankHasOneItem) {
  EXPECT_EQ(device_of_rank("cuda:0,cuda:2", 1, {4, false}), "cuda:2");
  EXPECT_THROW(device_of_rank("cuda:0,cuda:2", 2, {4, false}), UsageError);
}

TEST(ShareOfHost, TheHostDeviceIsShared) {
  EXPECT_EQ(device_of_rank("auto", 5, {0, false}), "host");
  EXPECT_EQ(device_of_rank("host", 5, {4, false}), "host");
  EXPECT_EQ(device_of_rank("model:h200", 1, {0, false}), "model:h200");
}

TEST(ShareOfHost, CoresAreSharedUnlessTheLauncherBindsRanksToThem) {
  EXPECT_EQ(threads_of_rank(64, 64, 8), 8);
  EXPECT_EQ(threads_of_rank(8, 64, 8), 8);
  EXPECT_EQ(threads_of_rank(2, 2, 8), 1);
}

/// A child that waits for a signal.
pid_t child() {
  const pid_t pid = fork();
  if (pid == 0) {
    for (;;) pause();
  }
  return pid;
}

TEST(StartLimit, KillsOfAllChildrenTheStoppedOnes) {
  const pid_t runs = child(), stopped = child();
  int status = 0;
  kill(stopped, SIGSTOP);
  ASSERT_EQ(waitpid(stopped, &status, WUNTRACED), stopped);
  kill_stopped_children(getpid());
  ASSERT_EQ(waitpid(stopped, &status, 0), stopped);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGKILL);
  EXPECT_EQ(waitpid(runs, &status, WNOHANG), 0) << "it runs";
  kill(runs, SIGKILL);
  waitpid(runs, &status, 0);
}

TEST(StartLimit, EndsAProcessThatDoesNotStart) {
  EXPECT_EXIT(
      {
        const StartLimit limit(0.05, "DEADLINE");
        for (;;) pause();
      },
      ::testing::ExitedWithCode(cli::kFailed),
      "a rank did not start within 0.05 s; .* with a larger DEADLINE");
}

TEST(StartLimit, AStartInTimeIsLeftAlone) { const StartLimit limit(60, "DEADLINE"); }

}  // namespace
}  // namespace autotune
