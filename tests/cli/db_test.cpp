// SPDX-License-Identifier: Apache-2.0
// The database as a person exports it.
#include <SQLiteCpp/Database.h>
#include <sys/resource.h>

#include <fstream>

#include "tests/cli/sentences.hpp"
#include "tests/db/sample.hpp"
#include "tests/support/matchers.hpp"
#include "tuner/json/json.hpp"
#include "tuner/text/format.hpp"

namespace autotune::testing {
namespace {

using Db = InSandbox;

TEST_F(Db, AnExportTellsOfDamagedRowsThatItLeavesOut) {
  const std::filesystem::path file = sandbox.database();
  {
    db::TunedStore store(file);
    const db::Sample sample(store);
    const db::TrialRow trials[] = {sample.trial("BM=1", 1000), sample.trial("BM=2", 2000)};
    store.append(trials);
  }
  sandbox.done("db export");
  db::execute(file, "UPDATE trial SET median_ns = 0.5 WHERE configuration = 'BM=1'");

  const Ended lines = sandbox.run("db export");
  EXPECT_EQ(lines.status, 1);
  EXPECT_THAT(lines.out, HasSubstr("BM=2"));
  EXPECT_THAT(lines.err, HasSubstr("1 damaged rows are left out"));
  const Ended whole = sandbox.run("db export --format sqlite --output copy.db");
  EXPECT_EQ(whole.status, 1);
  EXPECT_THAT(whole.err, HasSubstr("1 damaged rows are left out"));
}

TEST_F(Db, ADamagedAnswerIsNotServedAndSaid) {
  {
    db::TunedStore store(sandbox.database());
    db::Sample sample(store);
    sample.key.kernel = store.add_kernel({"", "own", "f1", "M N K"});  // its manifest is not here
    store.add_decision(sample.decision("BM=64", 1000));
    sample.key.problem = "M=16 N=16 K=16 dtype=f32";
    store.add_decision(sample.decision("BM=32", 100));
  }
  db::execute(sandbox.database(), "UPDATE best SET low_ns = 5 WHERE configuration = 'BM=64'");
  const Ended ended = sandbox.run("db export --format cpp");
  EXPECT_EQ(ended.status, 1);
  EXPECT_EQ(ended.out.find("BM=64"), std::string::npos);
  EXPECT_THAT(ended.out, HasSubstr("BM=32"));
  EXPECT_THAT(ended.err, HasSubstr("best of M=512 N=512 K=512 dtype=f32 is left out"));
  const Ended query = sandbox.run("query --target own");
  EXPECT_EQ(query.status, 0);
  EXPECT_EQ(query.out.find("BM=64"), std::string::npos);
  EXPECT_THAT(query.err, HasSubstr("best of M=512 N=512 K=512 dtype=f32 is left out"));
  sandbox.done("db compact");
  EXPECT_THAT(sandbox.run("query --target own").out, HasSubstr("BM=64"));
}

TEST_F(Db, RetractTakesAFactOut) {
  {
    db::TunedStore store(sandbox.database());
    const db::Sample sample(store);
    store.add_decision(sample.decision("BM=32", 2000, "2026-03-01T00:00:00.000Z"));
    store.add_decision(sample.decision("BM=64", 1000, "2026-03-02T00:00:00.000Z"));
  }
  const Json json = sandbox.json("query")["results"][0];
  EXPECT_EQ(json["config"]["BM"], 64);
  const std::string fact = json["fact"];
  expect_refused(sandbox.run("db retract --reason x"), 2, {"db retract needs one id"});
  expect_refused(sandbox.run(format("db retract {}", fact)), 2, {"db retract needs --reason"});
  expect_refused(sandbox.run("db retract 12 --reason x"), 1, {"no fact", "\"12\""});
  const std::string out = sandbox.done(format("db retract {} --reason 'a wrong clock'", fact));
  EXPECT_THAT(out, HasSubstr("M=512 N=512 K=512 dtype=f32: the best is now BM=32"));
  EXPECT_THAT(sandbox.run("db export").out, HasSubstr("\"reason\":\"a wrong clock\""));
}

TEST_F(Db, AnExportNeverTakesThePlaceOfADatabase) {
  db::decide(sandbox.database(), "BM=64", 1000);
  const std::string before = file_bytes(sandbox.database());
  std::filesystem::create_symlink(sandbox.database(), sandbox.folder() / "link.db");
  std::filesystem::create_hard_link(sandbox.database(), sandbox.folder() / "hard.db");
  for (const char* form : {"jsonl", "cpp", "sqlite"}) {
    for (const std::string& file : {sandbox.database().string(), std::string("link.db"),
                                    std::string("hard.db"), std::string("data/../link.db")}) {
      expect_refused(sandbox.run(format("db export --format {} --output {}", form, file)), 2,
                     {file, "name another file"});
    }
  }
  EXPECT_EQ(file_bytes(sandbox.database()), before);
}

TEST_F(Db, AnExportThatFailsLeavesTheFileThatWasThere) {
  {
    db::TunedStore store(sandbox.database());
    db::Sample sample(store);
    sample.key.kernel = store.add_kernel({"", "own", "f1", "M N K"});
    store.add_decision(sample.decision("BM=64", 1000));
  }
  const auto small_disk = [] {
    const rlimit limit{100, 100};
    setrlimit(RLIMIT_FSIZE, &limit);
  };
  for (const char* form : {"jsonl", "cpp", "sqlite"}) {
    const std::filesystem::path file = sandbox.write("out", "what was there");
    const Ended ended = sandbox.run(format("db export --format {} --output out", form), small_disk);
    EXPECT_EQ(ended.status, 1);
    EXPECT_THAT(ended.err, ::testing::StartsWith("error: out"));
    EXPECT_EQ(file_bytes(file), "what was there") << form;
  }
  sandbox.done("db export --output out");
  EXPECT_EQ(file_bytes(sandbox.folder() / "out"), sandbox.run("db export").out);
}

TEST_F(Db, AnExportIntoAnotherDatabaseKeepsWhatThatHeld) {
  const auto tuned = [&](const std::filesystem::path& file, const std::string& configuration) {
    db::TunedStore store(file);
    const db::Sample sample(store);
    store.add_decision(sample.decision(configuration, 1000));
  };
  tuned(sandbox.database(), "BM=64");
  tuned(sandbox.folder() / "other.db", "BM=32");
  db::TunedStore open(sandbox.folder() / "other.db");  // as of a run that goes on
  sandbox.done("db export --format=sqlite --output other.db");
  open.add_decision(db::Sample(open).decision("BM=16", 1000));
  const std::string lines = sandbox.run("db export --db other.db").out;
  EXPECT_THAT(lines, HasSubstr("BM=64"));
  EXPECT_THAT(lines, HasSubstr("BM=32"));
  EXPECT_THAT(lines, HasSubstr("BM=16"));
}

/// tiny of these tests, tuned for N=100 and N=200.
class DbAnswers : public ::testing::Test {
 protected:
  DbAnswers() {
    const Ended ended = sandbox_.run(tune("tiny", "100,200", "--budget 8"));
    if (ended.status != 0) throw std::runtime_error(ended.err);
  }

  Ended pin(const std::string& configuration, const std::string& size = "100") const {
    return sandbox_.run(
        format("db pin --target @tiny --size {} --config '{}'", size, configuration));
  }
  /// As an import would leave it, or an older version of the tool.
  void pin_unchecked(const std::string& configuration) const {
    db::TunedStore store(sandbox_.database());
    db::PinRow row;
    row.key = store.tuned({}).front().best.key;  // N=100
    row.configuration = configuration;
    row.created_at = db::now_text();
    store.pin(row);
  }
  Json result(const std::string& size) const {
    const Ended ended = sandbox_.run(format("query --target @tiny --size {} --json", size));
    return Json::parse(ended.out)["results"][0];
  }

  Sandbox sandbox_;
};

TEST_F(DbAnswers, APinThatIsNotValidIsRefused) {
  expect_refused(pin("BLOCK=banana STEP=4"), 2, {"--config", "BLOCK of tiny has no value banana"});
  expect_refused(pin("BLOCK=7 STEP=4"), 2, {"BLOCK of tiny has no value 7"});
  expect_refused(pin("BLOCK=16 STEP=4 X=1"), 2, {"tiny has no parameter X"});
  expect_refused(sandbox_.run("db pin --target tiny --size 100 --config 'BLOCK=16 STEP=4'"), 1,
                 {"tiny", "manifest", "--target"});
  EXPECT_EQ(result("100")["provenance"], "measured");
  const Ended pinned = pin("STEP=4 BLOCK=1", "100,300");
  EXPECT_EQ(pinned.status, 0) << pinned.err;
  EXPECT_THAT(pinned.out, HasSubstr("pinned to BLOCK=1 STEP=4"));
  EXPECT_EQ(result("300")["provenance"], "pinned");
  EXPECT_TRUE(result("300")["note"].is_null());
}

TEST_F(DbAnswers, AConfigurationThatFailedCannotBePinned) {
  {
    db::TunedStore store(sandbox_.database());
    db::TrialRow failure = store.trials(store.tuned({}).front().best.key).front();
    failure.key.policy = "l2=cold launch=graph";
    failure.configuration = "BLOCK=1 STEP=4";
    failure.outcome = "wrong";
    failure.message = "y[3] is 1, expected 2";
    failure.median_ns = failure.low_ns = failure.high_ns = std::nullopt;
    failure.created_at = db::now_text();
    store.append({&failure, 1});
  }
  expect_refused(pin("BLOCK=1 STEP=4"), 2,
                 {"--config: it failed for N=100", "(wrong: y[3] is 1, expected 2)", "--retune"});
  EXPECT_EQ(pin("BLOCK=1 STEP=4", "200").status, 0) << "it failed for 100 only";
}

TEST_F(DbAnswers, QueryShowsTheNoteOfAPin) {
  const Words problem = "--target @tiny --size 100";
  Words words = "db pin --config 'BLOCK=1 STEP=4' --note 'as on Monday'";
  words += problem;
  sandbox_.done(words);
  Words query = "query";
  query += problem;
  EXPECT_THAT(sandbox_.run(query).out, HasSubstr("\nnote     as on Monday\n"));
  EXPECT_EQ(result("100")["note"], "as on Monday");
}

TEST_F(DbAnswers, UnpinTellsWhetherThereWasAPin) {
  const auto unpin = [&] { return sandbox_.run("db unpin --target @tiny --size 100").out; };
  EXPECT_THAT(unpin(), HasSubstr(": was not pinned\n"));
  ASSERT_EQ(pin("BLOCK=1 STEP=4").status, 0);
  EXPECT_THAT(unpin(), HasSubstr(": no longer pinned\n"));
  EXPECT_THAT(unpin(), HasSubstr(": was not pinned\n"));
}

TEST_F(DbAnswers, APinIsTakenBackThoughItsAnswerIsDamaged) {
  ASSERT_EQ(pin("BLOCK=1 STEP=4").status, 0);
  db::execute(sandbox_.database(), "UPDATE best SET row_hash = 7 WHERE problem = 'N=100'");
  sandbox_.done("db unpin --target @tiny --size 100");
  EXPECT_EQ(result("100")["provenance"], "measured");
  EXPECT_EQ(result("100")["exact"], true) << "derived again";
}

TEST_F(DbAnswers, AnExportOfWhatIsNotTunedIsRefused) {
  expect_refused(sandbox_.run("db export --format cpp --target tinny"), 1,
                 {"nothing is tuned for target \"tinny\"", "tiny"});
  expect_refused(sandbox_.run("db export --format cpp --device GPU"), 1,
                 {"nothing is tuned for device \"GPU\""});
}

TEST_F(DbAnswers, APinOfAChangedTargetIsRefused) {
  std::filesystem::copy_file(manifest_of("tiny"), sandbox_.folder() / "tiny.target.toml");
  sandbox_.write("tiny.cu", file_bytes(AUTOTUNE_SOURCE_DIR "/tests/cli/tiny.cu") + "// Another.\n");
  expect_refused(
      sandbox_.run("db pin --target ./tiny.target.toml --size 100 --config 'BLOCK=1 STEP=4'"), 1,
      {"tiny has changed", "tune it again"});
}

TEST_F(DbAnswers, AStoredAnswerThatIsNotValidIsNoneAndSaid) {
  pin_unchecked("BLOCK=banana STEP=4");
  const std::string why = "best of N=100 is left out: BLOCK=banana STEP=4 cannot be used: BLOCK of";
  const Ended query = sandbox_.run("query --target @tiny --size 100");
  EXPECT_EQ(query.status, 0);
  EXPECT_THAT(query.out, HasSubstr("tiny N=100 is not tuned on "));
  EXPECT_THAT(query.err, HasSubstr(why));
  const Ended exported = sandbox_.run("db export --format cpp --target @tiny");
  EXPECT_EQ(exported.status, 1);
  EXPECT_EQ(exported.out.find("banana"), std::string::npos);
  EXPECT_THAT(exported.out, HasSubstr("N=200"));
  EXPECT_THAT(exported.err, HasSubstr(why));
  const Ended explained = sandbox_.run("explain --target @tiny --size 100");
  EXPECT_EQ(explained.status, 1);
  EXPECT_THAT(explained.err, HasSubstr("BLOCK=banana STEP=4"));
  sandbox_.done("db unpin --target @tiny --size 100");
  EXPECT_EQ(result("100")["provenance"], "measured");
}

TEST_F(DbAnswers, TuningSaysWhichRowsItCannotUse) {
  db::execute(sandbox_.database(), "UPDATE trial SET median_ns = 5 WHERE problem = 'N=100'");
  const Ended ended = sandbox_.run(tune("tiny", "100", "--budget 8"));
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("is left out: it is not what was stored"));
}

TEST_F(DbAnswers, AnImportSaysWhichAnswersNobodyWillBeGiven) {
  pin_unchecked("BLOCK=7 STEP=4");
  const std::string lines = sandbox_.write("lines.jsonl", sandbox_.run("db export").out);
  const Ended ended = sandbox_.run(format("db import {} --db new.db --target @tiny", lines));
  EXPECT_EQ(ended.status, 1);
  EXPECT_THAT(ended.out, HasSubstr("0 refused"));
  EXPECT_THAT(ended.err, HasSubstr("best of N=100 is left out: BLOCK=7 STEP=4 cannot be used"));
  const Ended again = sandbox_.run(format("db import {} --db new.db --target @tiny", lines));
  EXPECT_EQ(again.status, 0) << again.err;
}

TEST_F(Db, WhatHoldsEveryFactTakesNoFilter) {
  const db::TunedStore empty(sandbox.database());
  for (const char* form : {"jsonl", "sqlite"}) {
    expect_refused(sandbox.run(format("db export --format {} --target gemm --output x", form)), 2,
                   {form, "every fact", "--target"});
  }
}

}  // namespace
}  // namespace autotune::testing
