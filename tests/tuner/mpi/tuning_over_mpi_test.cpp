// SPDX-License-Identifier: Apache-2.0
// Every rank runs the test. ctest starts it once by itself, where it skips, and once by mpirun.
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <fstream>

#include "tests/tuner/ranks/fake_job.hpp"
#include "tests/tuner/ranks/lead_run.hpp"
#include "tests/tuner/session/toy.hpp"
#include "tuner/mpi/mpi_transport.hpp"

namespace autotune {
namespace {

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

}  // namespace
}  // namespace autotune
