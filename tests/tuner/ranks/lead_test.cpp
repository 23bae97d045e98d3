// SPDX-License-Identifier: Apache-2.0
#include "tuner/ranks/lead.hpp"

#include <SQLiteCpp/Database.h>

#include <optional>
#include <sstream>

#include "db/exchange.hpp"
#include "tests/support/matchers.hpp"
#include "tests/tuner/ranks/memory_transport.hpp"
#include "tests/tuner/session/toy.hpp"
#include "tuner/core/error.hpp"
#include "tuner/host/process.hpp"
#include "tuner/worker/worker_process.hpp"

namespace autotune {
namespace {

/// The test speaks for the other ranks.
class LeadTest : public StoreTest {
 protected:
  LeadTest() { target_.flops = Expression::parse("N"); }

  void start(int ranks, const std::vector<int>& sizes) {
    office_.emplace(ranks);
    transport_.emplace(*office_, 0);
    for (const int n : sizes) request_.problems.push_back(problem_of(target_, {{"N", n}}, {}));
    LeadOptions options;
    options.deadline = 10;
    options.request_for = [this](const DeviceInfo&) { return request_; };
    options.on_problem = [this](const DeviceInfo&, const ProblemReport& report) {
      reported_.push_back(report.problem.text());
    };
    options.on_warning = [this](const std::string& sentence) { warnings_.push_back(sentence); };
    options.stop_requested = [this] { return stop_; };
    lead_.emplace(target_, store_, *transport_, options, now_);
  }

  void say(int rank, const Json& header, const std::string& bytes = "") {
    lead_->take({rank, packed(header, bytes)}, now_);
    lead_->tick(now_);
  }
  void hello(int rank, const std::string& device = "fake", const std::string& own = "",
             DeviceKind kind = DeviceKind::fake) {
    Hello hello;
    hello.build = worker_version();
    hello.process = "n1 " + std::to_string(rank) + " 1";
    hello.host = "n1";
    hello.device_text = own;
    hello.device.name = device;
    hello.device.kind = kind;
    hello.problems = problems_hash(target_, request_);
    say(rank, wire_of(hello));
  }
  void done(int rank, std::size_t number, const std::string& lesson = "[]") {
    Done done;
    done.number = number;
    done.report.problem = request_.problems.at(number);
    say(rank, wire_of(done), lesson);
  }
  /// The problem that a rank is told to tune; passes over signs of life.
  std::optional<Order> order(int rank) {
    while (const auto packet = office_->take(rank)) {
      const auto message = unpacked(packet->bytes);
      if (message->header["say"] == say::kOrder) return content_of<Order>(message->header);
    }
    return std::nullopt;
  }
  std::optional<std::size_t> number(int rank) {
    const auto one = order(rank);
    return one ? std::optional(one->number) : std::nullopt;
  }
  /// What a rank was told, of one kind of message; passes over the others.
  std::optional<Message> told(int rank, const char* what) {
    while (const auto packet = office_->take(rank)) {
      auto message = unpacked(packet->bytes);
      if (message->header["say"] == what) return message;
    }
    return std::nullopt;
  }
  /// Every rank answers the roll call, if there was one.
  bool is_over_if_all_answer() {
    for (int rank = 1; rank < transport_->size(); ++rank) {
      if (told(rank, say::kRollCall)) say(rank, {{"say", say::kPresent}});
    }
    return lead_->is_over();
  }
  void pass(double seconds) {
    now_ += seconds;
    lead_->tick(now_);
  }

  Target target_ = two_parameters();
  TuningRequest request_;
  db::TunedStore store_ = open_store();
  std::optional<testing::PostOffice> office_;
  std::optional<testing::MemoryTransport> transport_;
  std::optional<Lead> lead_;
  double now_ = 100;
  bool stop_ = false;
  std::vector<std::string> reported_, warnings_;
};

using testing::Field;

class FactInboxTest : public StoreTest {
 protected:
  /// What a rank has stored about a problem.
  static std::string rows() {
    const TemporaryFolder folder;
    db::TunedStore store(folder.path() / "rank.db");
    testing::FakeDevice device(bowl);
    const Target target = two_parameters();
    tune(target, device, &store, request_for(target, {64}, 6));
    std::ostringstream lines;
    db::export_json_lines(store, lines);
    return std::move(lines).str();
  }

  std::vector<std::string> warnings_;
  db::TunedStore store_ = open_store();
  FactInbox inbox_{store_, [this](const std::string& text) { warnings_.push_back(text); }};
};

TEST_F(FactInboxTest, RowsAreStoredTogetherATenthOfASecondAfterTheFirst) {
  const std::string lines = rows();
  const std::size_t middle = lines.find('\n', lines.size() / 2) + 1;
  inbox_.add(lines.substr(0, middle), 7);
  inbox_.add(lines.substr(middle), 7.09);
  inbox_.store_due(7.09);
  EXPECT_THAT(store_.tuned({}), IsEmpty());
  inbox_.store_due(7.11);
  EXPECT_THAT(store_.tuned({}), SizeIs(1));
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(FactInboxTest, ManyRowsDoNotWait) {
  inbox_.add(rows(), 7);
  inbox_.add(std::string(std::size_t{4} << 20, '\n'), 7);
  inbox_.store_due(7);
  EXPECT_THAT(store_.tuned({}), SizeIs(1));
}

TEST_F(FactInboxTest, RowsThatCannotBeStoredAreKeptForTheNextAttempt) {
  SQLite::Database other(store_.path().string(), SQLite::OPEN_READWRITE);
  inbox_.add(rows(), 7);
  other.exec("ALTER TABLE session RENAME TO away");
  EXPECT_THROW(inbox_.store_all(), db::StoreError);
  other.exec("ALTER TABLE away RENAME TO session");
  inbox_.store_all();
  EXPECT_THAT(store_.tuned({}), SizeIs(1));
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(FactInboxTest, ARefusedRowIsAWarning) {
  inbox_.add("{\"table\":\"trial\"}\n", 7);
  inbox_.store_all();
  ASSERT_THAT(warnings_, SizeIs(1));
  EXPECT_THAT(warnings_[0], HasSubstr("results of another rank"));
}

TEST_F(LeadTest, GivesTheLongestProblemFirstAndEachOnce) {
  start(3, {64, 256, 128});
  hello(1);
  hello(2);
  EXPECT_EQ(number(1), 1u);
  EXPECT_EQ(number(2), 2u);
  done(2, 2);
  EXPECT_EQ(number(2), 0u);
  done(2, 0);
  EXPECT_FALSE(lead_->is_over()) << "rank 1 is at work";
  done(1, 1);
  EXPECT_TRUE(is_over_if_all_answer());
  EXPECT_NO_THROW(lead_->end());
  const std::vector<GroupReport> reports = lead_->reports(1);
  ASSERT_THAT(reports, SizeIs(1));
  EXPECT_EQ(reports[0].report.devices, 2u);
  ASSERT_THAT(reports[0].report.problems, SizeIs(3));
  EXPECT_EQ(reports[0].report.problems[0].problem, request_.problems[0]);
  EXPECT_THAT(reported_, ElementsAre("N=128", "N=64", "N=256"));
}

TEST_F(LeadTest, TellsARankWhatToPrepareAndGivesItThat) {
  start(3, {5, 4, 3, 2, 1, 1});
  hello(1);
  hello(2);
  const auto first = order(1), second = order(2);
  EXPECT_THAT(first->ahead, ElementsAre(1, 2));
  EXPECT_EQ(second->number, 3u) << "the next that no other rank prepares";
  EXPECT_THAT(second->ahead, ElementsAre(4, 5));
  done(1, 0);
  EXPECT_EQ(number(1), 1u);
  done(2, 3);
  EXPECT_EQ(number(2), 4u);
}

TEST_F(LeadTest, ARankWithoutWorkTakesWhatAnotherPrepares) {
  start(3, {5, 4, 3});
  hello(1);
  hello(2);
  EXPECT_EQ(number(1), 0u);
  EXPECT_EQ(number(2), 1u) << "rank 1 prepares it";
  done(1, 0);
  EXPECT_EQ(number(1), 2u);
}

TEST_F(LeadTest, ASilentRankIsLostAndAnotherBeginsItsProblemAnew) {
  start(3, {64});
  hello(1);
  hello(2);
  EXPECT_EQ(number(1), 0u);
  pass(6);
  say(2, {{"say", say::kAlive}});
  pass(6);
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("rank 1 on n1 is lost")));
  const auto again = order(2);
  ASSERT_TRUE(again);
  EXPECT_TRUE(again->retune) << "its trials are another device's";
  done(1, 0);
  EXPECT_THAT(reported_, IsEmpty()) << "it is back, but its problem is another's";
  done(2, 0);
  EXPECT_TRUE(is_over_if_all_answer());
  const EndOfRun end = lead_->end_of_run("n1");
  EXPECT_FALSE(end.finalize);
  EXPECT_THAT(end.lost, ElementsAre("n1 1 1"));
  EXPECT_THAT(end.present, ElementsAre("n1 2 1"));
  EXPECT_THAT(lead_->end_of_run("n2").lost, IsEmpty());
  EXPECT_NO_THROW(lead_->end());
}

TEST_F(LeadTest, ARankThatStopsWhenItsWorkIsDoneIsLostBeforeTheEnd) {
  start(3, {64, 32});
  hello(1);
  hello(2);
  done(1, 0);
  done(2, 1);
  EXPECT_FALSE(lead_->is_over()) << "nobody has answered the roll call";
  say(2, {{"say", say::kPresent}});
  say(1, {{"say", say::kAlive}});
  EXPECT_FALSE(lead_->is_over()) << "rank 1 sent this before it was asked";
  pass(6);
  say(2, {{"say", say::kAlive}});
  pass(6);
  EXPECT_TRUE(lead_->is_over());
  EXPECT_THAT(lead_->end_of_run("n1").lost, ElementsAre("n1 1 1"));
  EXPECT_NO_THROW(lead_->end()) << "its problem was tuned";
}

TEST_F(LeadTest, WithoutARankThatIsLeftTheRunFails) {
  start(2, {64});
  hello(1);
  pass(11);
  EXPECT_TRUE(is_over_if_all_answer());
  EXPECT_THROW(lead_->end(), Error);
}

TEST_F(LeadTest, ADeviceThatFailsDropsOutOnceAndEndsTheRunTheSecondTime) {
  start(4, {64, 32});
  for (int rank = 1; rank <= 3; ++rank) hello(rank);
  EXPECT_EQ(number(1), 0u);
  say(1, wire_of(Failed{"it fell off the bus", false, false}));
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("drops out, the other ranks continue: it fell")));
  EXPECT_EQ(number(3), 0u);
  say(3, wire_of(Failed{"it fell too", false, false}));
  EXPECT_TRUE(is_over_if_all_answer());
  EXPECT_THROW(lead_->end(), Error);
}

TEST_F(LeadTest, ADatabaseThatCannotBeWrittenEndsTheRunAndWhatCameIsStoredIfItCanAtTheEnd) {
  start(2, {64});
  hello(1);
  SQLite::Database other(store_.path().string(), SQLite::OPEN_READWRITE);
  other.exec("ALTER TABLE device RENAME TO away");
  say(1, {{"say", say::kFacts}},
      R"({"table":"device","name":"one of rank 1","kind":"fake"})"
      "\n");
  pass(1);
  pass(1);
  EXPECT_TRUE(is_over_if_all_answer());
  other.exec("ALTER TABLE away RENAME TO device");
  EXPECT_THROW(lead_->end(), db::StoreError);
  EXPECT_TRUE(told(1, say::kEnd));
  EXPECT_THAT(store_.devices(), Contains(Field(&db::DeviceRow::name, "one of rank 1")));
}

TEST_F(LeadTest, AWrongRequestEndsTheRunAtOnce) {
  start(3, {64});
  say(1, wire_of(Failed{"--sizes is wrong", true, true}));
  EXPECT_TRUE(is_over_if_all_answer());
  EXPECT_THROW(lead_->end(), UsageError);
}

TEST_F(LeadTest, WhatOneProblemTeachesReachesTheOthersOnce) {
  start(3, {64, 32, 16, 8});
  hello(1);
  hello(2);
  order(1);
  order(2);
  done(1, 0, "[1]");
  EXPECT_THAT(order(1)->learned, ElementsAre("[1]"));
  done(2, 3, "[2]");
  EXPECT_THAT(order(2)->learned, ::testing::UnorderedElementsAre("[1]", "[2]"));
}

TEST_F(LeadTest, DifferentDevicesTuneEveryProblemEachForItself) {
  start(3, {64});
  hello(1, "small");
  hello(2, "large");
  EXPECT_EQ(number(1), 0u);
  EXPECT_EQ(number(2), 0u);
  done(1, 0);
  done(2, 0);
  EXPECT_THAT(lead_->reports(1), SizeIs(2));
}

TEST_F(LeadTest, ADeviceIsForOneRank) {
  start(3, {64});
  hello(1, "fake", "cuda:0");
  hello(2, "fake", "cuda:0");
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("another rank has its device")));
}

TEST_F(LeadTest, ARankOfAnotherBuildIsLeftOut) {
  start(3, {64});
  Hello hello;
  hello.build = "0.0.0";
  say(1, wire_of(hello));
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("another build")));
}

TEST_F(LeadTest, AnInterruptEndsTheRunWhenTheRanksHaveReported) {
  start(2, {64, 32});
  hello(1);
  order(1);
  stop_ = true;
  pass(0.1);
  EXPECT_FALSE(lead_->is_over());
  done(1, 0);
  EXPECT_TRUE(is_over_if_all_answer());
  EXPECT_NO_THROW(lead_->end());
  EXPECT_TRUE(lead_->reports(1)[0].report.interrupted);
}

TEST_F(LeadTest, BytesThatAreNoMessageCostTheRankOnly) {
  start(3, {64});
  hello(1);
  hello(2);
  order(1);
  lead_->take({1, "rubbish"}, now_);
  lead_->tick(now_);
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("cannot be read")));
  EXPECT_EQ(number(2), 0u);
}

TEST_F(LeadTest, TheLastProblemsHaveTheCoresOfIdleNeighbours) {
  start(3, {64, 32, 16});
  Hello one;
  one.build = worker_version();
  one.host = "n1";
  one.device.name = "fake";
  one.problems = problems_hash(target_, request_);
  one.threads = 4;
  one.most_threads = 8;
  say(1, wire_of(one));
  say(2, wire_of(one));
  EXPECT_EQ(order(1)->threads, 8) << "rank 2 was not there yet";
  EXPECT_EQ(order(2)->threads, 4);
  done(2, 1);
  EXPECT_EQ(order(2)->threads, 4);
  done(1, 0);
  done(2, 2);
}

TEST(Lessons, OfTheFourNearestProblemsAreGivenOnce) {
  Lessons lessons;
  for (const int n : {1, 2, 4, 8, 16, 1024}) lessons.add({{"N", n}}, std::to_string(n));
  std::set<std::size_t> known;
  EXPECT_THAT(lessons.about({{"N", 1024}}, known), ElementsAre("1024", "16", "8", "4"));
  EXPECT_THAT(lessons.about({{"N", 1024}}, known), IsEmpty());
  EXPECT_THAT(lessons.about({{"N", 1}}, known), ElementsAre("1", "2"));
}

class LeadGroupTest : public StoreTest {
 protected:
  LeadGroupTest() { target_.flops = Expression::parse("N"); }

  LeadGroup group(std::vector<std::int64_t> sizes) {
    TuningRequest request = request_for(target_, std::move(sizes), 6);
    request.policy = policy_;
    return {target_, store_, device_.info(), request};
  }

  Target target_ = two_parameters();
  testing::FakeDevice device_{bowl};
  const Policy policy_;
  db::TunedStore store_ = open_store();
};

TEST_F(LeadGroupTest, ARankGetsTheRowsOfItsProblemOnly) {
  EXPECT_THAT(group({64}).facts_about(0), Not(HasSubstr("trial")));
  tune(target_, device_, &store_, request_for(target_, {64, 32}, 6));
  const std::string rows = group({64, 32}).facts_about(0);
  EXPECT_THAT(rows, HasSubstr("N=64"));
  EXPECT_THAT(rows, Not(HasSubstr("N=32")));
}

TEST(Messages, OtherBytesAreNone) {
  EXPECT_FALSE(unpacked(""));
  EXPECT_FALSE(unpacked("12345678"));
  EXPECT_FALSE(unpacked(std::string(8, '\xff') + "x"));
  EXPECT_FALSE(unpacked(packed(Json::array({1}))));
}

}  // namespace
}  // namespace autotune
