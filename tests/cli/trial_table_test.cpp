// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/compare.hpp"

#include <gmock/gmock.h>

#include <limits>
#include <ostream>

#include "db/store.hpp"
#include "tests/cli/tool.hpp"
#include "tests/db/sample.hpp"
#include "tuner/cli/output_file.hpp"
#include "tuner/cli/verb.hpp"
#include "tuner/core/error.hpp"

namespace autotune::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using testing::Sandbox;

db::TrialRow trial(const char* configuration, double median_ns) {
  db::TrialRow row;
  row.configuration = configuration;
  row.outcome = "ok";
  row.median_ns = median_ns;
  return row;
}

std::vector<std::string> sorted(const std::vector<db::TrialRow>& trials, const char* column,
                                std::size_t most = 10) {
  std::vector<std::string> configurations;
  for (const db::TrialRow& row : sorted_trials(trials, column, most)) {
    configurations.push_back(row.configuration);
  }
  return configurations;
}

TEST(TrialTable, ShowsTheLatestTimeOfEachConfigurationThatWorks) {
  db::TrialRow wrong = trial("C=3", 1);
  wrong.outcome = "wrong";
  const std::vector trials{trial("C=1", 30), trial("C=2", 20), trial("C=1", 10), wrong};
  EXPECT_THAT(sorted(trials, "time"), ElementsAre("C=1", "C=2"));
  EXPECT_THAT(sorted(trials, "time", 1), ElementsAre("C=1"));
  EXPECT_TRUE(sorted(trials, "time", 0).empty());
}

TEST(TrialTable, WhatIsUnknownComesLastAndTiesGoByTime) {
  std::vector trials{trial("C=1", 30), trial("C=2", 20), trial("C=3", 10)};
  EXPECT_THAT(sorted(trials, "registers"), ElementsAre("C=3", "C=2", "C=1"));
  trials[0].registers = 40;
  trials[1].registers = 32;
  EXPECT_THAT(sorted(trials, "registers"), ElementsAre("C=2", "C=1", "C=3"));
  trials[0].occupancy = 0.75;
  trials[1].occupancy = 0.5;
  EXPECT_THAT(sorted(trials, "occupancy"), ElementsAre("C=1", "C=2", "C=3"));
}

TEST(TrialTable, AnUnknownColumnIsRefusedWithANearName) {
  try {
    sorted_trials({}, "register", 1);
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("did you mean registers"));
  }
}

TEST(TrialTable, FiguresThatAreMissingAreDashesAndNull) {
  const Readable readable(nullptr, "N=1", {});
  const std::string text = trials_text({trial("C=1", 2000)}, readable);
  EXPECT_THAT(text, HasSubstr("  2.000 us         -         -          -  C=1\n"));
  const Json json = trials_json({trial("C=1", 2000)});
  EXPECT_EQ(json[0]["config"]["C"], 1);
  EXPECT_EQ(json[0]["median_ns"], 2000);
  EXPECT_TRUE(json[0]["occupancy"].is_null());
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();

class TrialRatios : public ::testing::Test {
 protected:
  std::map<std::string, double> ratios() {
    return trial_ratios(store_, store_.tuned({}).at(0), 1.05);
  }
  db::TrialRow pruned(const std::string& configuration, double bound_ns) {
    db::TrialRow row = sample_.trial(configuration, bound_ns);
    row.outcome = "pruned";
    row.verified = false;
    return row;
  }

  db::TemporaryFolder folder_;
  db::TunedStore store_{folder_ / "t.db"};
  db::Sample sample_{store_};
};

TEST_F(TrialRatios, AreOverTheFastest) {
  store_.append(std::vector{sample_.trial("BM=16", 30000), sample_.trial("BM=32", 20000),
                            sample_.failure("BM=64", "wrong")});
  EXPECT_THAT(ratios(),
              ElementsAre(Pair("BM=16", 1.5), Pair("BM=32", 1), Pair("BM=64", kInfinity)));
}

TEST_F(TrialRatios, TheDecisionIsTheFastestWhateverTheSearchTimed) {
  store_.append(std::vector{sample_.trial("BM=16", 20000), sample_.trial("BM=32", 20200)});
  store_.add_decision(sample_.decision("BM=32", 19000));
  EXPECT_THAT(ratios(), ElementsAre(Pair("BM=16", 1), Pair("BM=32", 1)));
}

TEST_F(TrialRatios, ALowerBoundWithinTheLimitSaysNothing) {
  store_.append(
      std::vector{sample_.trial("BM=16", 20000), pruned("BM=32", 20800), pruned("BM=64", 40000)});
  EXPECT_THAT(ratios(), ElementsAre(Pair("BM=16", 1), Pair("BM=32", kInfinity), Pair("BM=64", 2)));
}

TEST_F(TrialRatios, WhereAllFailNoRatioIsLostToArithmetic) {
  store_.append(
      std::vector{sample_.failure("BM=16", "wrong"), sample_.failure("BM=32", "timeout")});
  store_.pin({"", sample_.key, "BM=64", "", "2026-03-01T12:02:00.000Z"});  // not tried
  EXPECT_THAT(ratios(), ElementsAre(Pair("BM=16", kInfinity), Pair("BM=32", kInfinity)));
}

double limit_at(const char* within) {
  return limit_of(Arguments(verb_called("compare"), {"--within", within}));
}

TEST(LimitOf, ReadsPercent) {
  EXPECT_DOUBLE_EQ(limit_at("5"), 1.05);
  EXPECT_DOUBLE_EQ(limit_at("2.5%"), 1.025);
  EXPECT_DOUBLE_EQ(limit_at("0"), 1);
  for (const char* text : {"-1", "1001", "nan", "inf", "1e400", "%", "5%%", "5 %", "five"}) {
    EXPECT_THROW(limit_at(text), UsageError) << text;
  }
}

void write_to(const std::filesystem::path& file) {
  write_output(file, [](std::ostream& stream) { stream << "text"; });
}

TEST(OutputFile, ADatabaseIsNotOverwritten) {
  const Sandbox sandbox;
  const auto file = sandbox.folder() / "tuned.db";
  { const db::TunedStore store(file); }
  EXPECT_TRUE(is_database(file));
  EXPECT_THROW(write_to(file), UsageError);
  EXPECT_NO_THROW(db::TunedStore(file, db::Mode::read_only));
}

TEST(OutputFile, OtherFilesAreReplaced) {
  const Sandbox sandbox;
  const auto file = sandbox.write("old", "a longer text than the new one");
  EXPECT_FALSE(is_database(file));
  write_to(file);
  EXPECT_EQ(std::filesystem::file_size(file), 4u);
  for (const char* other : {"/dev/null", "/", "/none"}) EXPECT_FALSE(is_database(other)) << other;
}

TEST(OutputFile, AMissingFolderIsToBeCreated) {
  try {
    write_to(Sandbox().folder() / "none" / "file");
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("create its folder, or name another file"));
  }
}

}  // namespace
}  // namespace autotune::cli
