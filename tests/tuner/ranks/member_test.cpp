// SPDX-License-Identifier: Apache-2.0
#include "tuner/ranks/member.hpp"

#include <gmock/gmock.h>

#include <functional>
#include <thread>

#include "tests/support/fake_device.hpp"
#include "tests/tuner/ranks/fake_job.hpp"
#include "tests/tuner/ranks/lead_run.hpp"
#include "tests/tuner/ranks/memory_transport.hpp"
#include "tests/tuner/session/toy.hpp"
#include "tuner/core/error.hpp"
#include "tuner/session/tuning_session.hpp"

namespace autotune {
namespace {

using testing::FakeDevice;
using testing::FakeJob;
using ::testing::HasSubstr;
using testing::MemoryTransport;

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
