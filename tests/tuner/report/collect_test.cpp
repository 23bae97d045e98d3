// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "tests/db/sample.hpp"
#include "tuner/report/report.hpp"

namespace autotune::report {
namespace {

const Target* no_target(const std::string&) { return nullptr; }

class Collect : public testing::Test {
 protected:
  std::vector<ReportedProblem> collected() { return collect(store, store.tuned({}), no_target); }
  /// The best of the sample's problem under another policy, without trials.
  void decide(const std::string& policy, double ns) {
    db::DecisionRow row;
    row.session = sample.session;
    row.key = sample.key;
    row.key.policy = policy;
    row.configuration = "BM=64";
    row.median_ns = ns;
    row.created_at = "2026-03-01T13:00:00.000000Z";
    row.verified = true;
    store.add_decision(row);
  }

  db::TemporaryFolder folder;
  db::TunedStore store{folder / "tuned.db"};
  db::Sample sample{store};
};

TEST_F(Collect, AProblemOfNoKnownTargetHasItsStoredRate) {
  db::TrialRow row = sample.trial("BM=64", 1000);
  row.gflops = 5;
  store.append(std::vector{row});
  const auto problems = collected();
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].side, 512);
  EXPECT_DOUBLE_EQ(problems[0].work.flops, 5000);
  EXPECT_EQ(problems[0].trials.size(), 1u);
  ASSERT_TRUE(problems[0].roofs);
  EXPECT_GT(problems[0].roofs->flops_per_second, 6e13);
}

TEST_F(Collect, AContextWithoutTrialsIsToldBesideTheOneThatWasSearched) {
  store.append(std::vector{sample.trial("BM=64", 1000)});
  decide("l2=hot launch=graph context=alone", 3000);
  const auto problems = collected();
  ASSERT_EQ(problems.size(), 1u);
  ASSERT_EQ(problems[0].contexts.size(), 1u);
  EXPECT_EQ(problems[0].contexts[0].context, "alone");
  EXPECT_DOUBLE_EQ(problems[0].contexts[0].seconds, 3e-6);
}

TEST_F(Collect, ContextsOfWhichNoneWasSearchedAreOneProblem) {
  decide("l2=hot launch=graph context=alone", 3000);
  decide("l2=hot launch=graph", 2000);
  const auto problems = collected();
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].contexts.size(), 1u);
}

TEST_F(Collect, ACpuInTheSameDatabaseIsCompared) {
  store.append(std::vector{sample.trial("BM=64", 1000)});
  db::TrialRow slow = sample.trial("BM=64", 50000);
  slow.key.device = store.add_device({"", "some CPU", "host", "", 0, 8, 0, 0, ""});
  store.append(std::vector{slow});
  const auto problems = collected();
  ASSERT_EQ(problems.size(), 2u);
  EXPECT_DOUBLE_EQ(problems[0].cpu_seconds.value_or(0), 5e-5);
  EXPECT_FALSE(problems[1].cpu_seconds);
}

/// A target of the sample's name. Its manifest may have changed since the problem was tuned.
Target changed(std::vector<std::string> sizes) {
  Target target;
  target.name = "gemm";
  target.sizes = std::move(sizes);
  target.parameters = {{"BM", {32, 64, 128}, {}, false}};
  target.default_configuration = {{"BM", 32}};
  KernelSpec kernel;
  kernel.entry = "gemm";
  kernel.grid = {Expression::parse("64")};
  kernel.block = {Expression::parse("BM")};
  target.kernels = {kernel};
  target.flops = target.bytes = Expression::parse("1000000");
  return target;
}

TEST_F(Collect, SizesThatTheManifestGainedOrLostSinceDoNotMatter) {
  db::TrialRow row = sample.trial("BM=64", 1000);
  row.gflops = 5;
  store.append(std::vector{row});
  const auto intensities = [&](const std::vector<std::string>& sizes) {
    const Target target = changed(sizes);
    const auto problems =
        collect(store, store.tuned({}), [&](const std::string&) { return &target; });
    EXPECT_EQ(problems.at(0).finalists.size(), 1u);
    return problems.at(0).intensity.size();
  };
  EXPECT_EQ(intensities({"M", "N", "K"}), 1u);
  EXPECT_EQ(intensities({"K"}), 1u);
  EXPECT_EQ(intensities({"M", "N", "K", "BATCH"}), 0u) << "it is not known";
}

}  // namespace
}  // namespace autotune::report
