// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/answers.hpp"

#include <gmock/gmock.h>

#include "tests/db/sample.hpp"
#include "tuner/cli/verb.hpp"
#include "tuner/core/error.hpp"

namespace autotune::cli {
namespace {

/// gemm, tuned for 512 on an H200 by the kernel that is here.
class AnswersTest : public ::testing::Test {
 protected:
  AnswersTest() {
    target_.name = "gemm";
    target_.fingerprint = "f1";
    target_.sizes = {"M", "N", "K"};
    target_.settings = {{"dtype", {"f32", "f64"}}};
    target_.parameters = {{"BM", {16, 32}, {}, false}};
    target_.default_configuration = {{"BM", 16}};
    db::TunedStore store(file_);
    db::Sample sample(store);
    store.add_decision(sample.decision("BM=32", 20000));
    key_ = sample.key;
  }
  std::vector<Answer> ask(std::vector<std::string> words) {
    words.insert(words.end(), {"--db", file_.string()});
    const Arguments arguments(verb_called("query"), words);
    AnswerJudge judge(arguments, [&](const std::string&) { return target_; });
    return Databases(arguments, judge).answers();
  }
  void pin(const char* configuration, const char* note) {
    db::TunedStore store(file_);
    store.pin({"", key_, configuration, note, "2026-03-01T12:02:00.000Z"});
  }

  Target target_;
  db::TemporaryFolder folder_;
  const std::filesystem::path file_ = folder_ / "t.db";
  db::ProblemKey key_;
};

TEST_F(AnswersTest, WithoutASizeAreAllThatIsTuned) {
  const std::vector<Answer> answers = ask({});
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0].given.lookup, nullptr);
  EXPECT_TRUE(answers[0].is_stored);
  EXPECT_FALSE(answers[0].stale);
  EXPECT_FALSE(answers[0].shipped);
}

TEST_F(AnswersTest, OfATunedSizeAreTheResultThatALookupFinds) {
  const std::vector<Answer> answers = ask({"--target", "gemm", "--size", "512"});
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_TRUE(answers[0].is_stored);
  EXPECT_EQ(answers[0].entry.best.configuration, "BM=32");
  EXPECT_EQ(answers[0].entry.best.median_ns, 20000);
}

TEST_F(AnswersTest, OfAnotherSizeAreWhatALookupChooses) {
  const std::vector<Answer> answers = ask({"--target", "gemm", "--size", "1024"});
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_FALSE(answers[0].is_stored);
  EXPECT_EQ(answers[0].entry.best.key.problem, "M=1024 N=1024 K=1024 dtype=f32");
  EXPECT_EQ(answers[0].entry.best.configuration, "BM=32");
  EXPECT_FALSE(answers[0].entry.best.median_ns) << "not measured";
  EXPECT_DOUBLE_EQ(answers[0].given.answer.distance, 1) << "a factor of two";
}

TEST_F(AnswersTest, AreStaleIfTheKernelHasChanged) {
  target_.fingerprint = "f2";
  EXPECT_TRUE(ask({})[0].stale);
}

TEST_F(AnswersTest, HaveTheNoteOfAPin) {
  EXPECT_EQ(ask({})[0].note, "");
  pin("BM=16", "as on Monday");
  EXPECT_EQ(ask({})[0].note, "as on Monday");
  EXPECT_EQ(ask({})[0].entry.best.configuration, "BM=16");
}

TEST_F(AnswersTest, OneThatIsNotValidIsNone) {
  pin("BM=64", "");
  EXPECT_THROW(ask({}), Error);
}

TEST_F(AnswersTest, OfADatabaseThatIsNotThereIsAnError) {
  const Arguments arguments(verb_called("query"), {"--db", (folder_ / "none.db").string()});
  AnswerJudge judge(arguments);
  EXPECT_THROW(Databases(arguments, judge), std::exception);
}

}  // namespace
}  // namespace autotune::cli
