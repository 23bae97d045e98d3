// SPDX-License-Identifier: Apache-2.0
#include "tests/support/matchers.hpp"
#include "tests/tuner/ranks/fake_job.hpp"
#include "tests/tuner/ranks/lead_run.hpp"
#include "tests/tuner/ranks/memory_transport.hpp"
#include "tests/tuner/session/toy.hpp"
#include "tuner/core/error.hpp"
#include "tuner/worker/worker_process.hpp"

namespace autotune {
namespace {

using testing::FakeDevice;
using testing::FakeJob;
using testing::MemoryTransport;

/// The test speaks for rank 0.
class MemberTunerTest : public ::testing::Test {
 protected:
  MemberTunerTest() {
    options_.prepare = [this] {
      return std::make_unique<testing::FakeJob>(target_, request_, bowl);
    };
  }
  void start() {
    thread_ = std::jthread([this] { tuner_.run(); });
  }
  ~MemberTunerTest() override { tuner_.stop(); }

  /// The next packet to rank 0.
  Message packet() {
    for (;;) {
      if (const auto one = tuner_.poll()) return *unpacked(*one);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  std::string next() { return packet().header["say"]; }
  void tell(const Json& header) { tuner_.take(*unpacked(packed(header))); }

  const Target target_ = two_parameters();
  const TuningRequest request_ = request_for(target_, {64, 32}, 6);
  MemberOptions options_;
  MemberTuner tuner_{options_};
  std::jthread thread_;
};

TEST_F(MemberTunerTest, SaysWhatItsDeviceIs) {
  start();
  const auto hello = content_of<Hello>(packet().header);
  EXPECT_EQ(hello.build, worker_version());
  EXPECT_EQ(hello.device.name, "fake");
  EXPECT_EQ(hello.problems, problems_hash(target_, request_));
  EXPECT_EQ(hello.threads, 2);
}

TEST_F(MemberTunerTest, AnOrderBecomesRowsAndAReport) {
  start();
  next();
  EXPECT_THAT(tuner_.facts(), IsEmpty());
  Order order;
  order.number = 1;
  order.threads = 1;
  tell(wire_of(order));
  const Message message = packet();
  const auto done = content_of<Done>(message.header);
  EXPECT_EQ(done.number, 1u);
  EXPECT_TRUE(done.report.decision.best);
  EXPECT_EQ(learned_of(message.bytes).size(), 6u);
  EXPECT_THAT(tuner_.facts(), HasSubstr("N=32"));
  EXPECT_THAT(tuner_.facts(), IsEmpty()) << "they are sent once";
}

TEST_F(MemberTunerTest, AWrongRequestIsFatalForAll) {
  options_.prepare = []() -> std::unique_ptr<MemberJob> { throw UsageError("no such device"); };
  start();
  const auto failed = content_of<Failed>(packet().header);
  EXPECT_EQ(failed.what, "no such device");
  EXPECT_TRUE(failed.fatal);
  EXPECT_TRUE(failed.usage);
  thread_.join();
  EXPECT_FALSE(tuner_.is_busy()) << "so the process can end in order";
}

TEST_F(MemberTunerTest, StoppedBeforeItBeginsItReportsWhatThereIs) {
  start();
  next();
  tell({{"say", say::kStop}});
  tell(wire_of(Order{}));
  for (std::string what = next(); what != say::kDone;) what = next();
}

class MemberTest : public StoreTest {
 protected:
  MemberTest() {
    for (int i = 1; i <= 4; ++i) {
      request_.problems.push_back(problem_of(target_, {{"N", 64 * i}}, {}));
    }
    request_.strategy = "exhaustive";
    request_.budget = {Budget::Kind::evaluations, 12};
    request_.compile_threads = 2;
  }

  /// A whole run: rank 0 here, the others in threads.
  std::vector<GroupReport> run(int members, const std::function<void()>& prepare = {}) {
    testing::PostOffice office(members + 1);
    std::vector<std::jthread> ranks;
    for (int rank = 1; rank <= members; ++rank) {
      ranks.emplace_back([this, &office, rank, prepare] {
        MemoryTransport transport(office, rank);
        MemberOptions options;
        options.prepare = [&] {
          if (prepare) prepare();
          return std::make_unique<FakeJob>(target_, request_, bowl);
        };
        run_member(transport, options);
      });
    }
    MemoryTransport transport(office, 0);
    return testing::lead_run(target_, store_, transport, request_);
  }

  Target target_ = two_parameters();
  TuningRequest request_;
  db::TunedStore store_ = open_store();
};

TEST_F(MemberTest, RanksFindWhatOneProcessFindsAndStoreIt) {
  FakeDevice device(bowl);
  const TuningReport alone = tune(target_, device, nullptr, request_);
  const std::vector<GroupReport> reports = run(3);
  ASSERT_EQ(reports.size(), 1u);
  const TuningReport& report = reports[0].report;
  ASSERT_EQ(report.problems.size(), request_.problems.size());
  for (std::size_t i = 0; i < report.problems.size(); ++i) {
    EXPECT_EQ(report.problems[i].problem, request_.problems[i]);
    EXPECT_EQ(report.problems[i].outcomes, alone.problems[i].outcomes);
    ASSERT_TRUE(report.problems[i].decision.best);
    EXPECT_EQ(report.problems[i].decision.best->configuration,
              alone.problems[i].decision.best->configuration);
  }
  EXPECT_EQ(store_.tuned({}).size(), request_.problems.size());
  EXPECT_TRUE(store_.check().damage.empty());
}

TEST_F(MemberTest, WhatIsStoredIsNotMeasuredAgain) {
  run(2);
  const TuningReport report = run(2)[0].report;
  for (const ProblemReport& one : report.problems) {
    EXPECT_EQ(one.taken_over, 12);
  }
}

TEST_F(MemberTest, ARequestThatIsWrongOnEveryRankIsAnErrorOfTheRun) {
  const auto wrong = [] { throw UsageError("there is no device \"gpu\""); };
  EXPECT_THROW(run(2, wrong), UsageError);
}

TEST_F(MemberTest, WithoutAWordFromRankZeroItGivesUp) {
  testing::PostOffice office(2);
  MemoryTransport transport(office, 1);
  MemberOptions options;
  options.deadline = 0.1;
  options.prepare = [&] { return std::make_unique<FakeJob>(target_, request_, bowl); };
  EXPECT_TRUE(run_member(transport, options).lead_lost);
}

}  // namespace
}  // namespace autotune
