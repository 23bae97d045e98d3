// SPDX-License-Identifier: Apache-2.0
#include "db/facts.hpp"

#include <SQLiteCpp/Database.h>

#include <array>
#include <cstdint>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "db/json.hpp"
#include "db/lookup_source.hpp"
#include "db/rows.hpp"
#include "db/store.hpp"  // now_text()
#include "tests/db/lookup_request.hpp"
#include "tests/db/sampled_store.hpp"
#include "tests/support/matchers.hpp"

namespace autotune::db {
namespace {

using std::chrono::microseconds;
using std::chrono::system_clock;

TEST(TimeText, IsUtcWithMicroseconds) {
  EXPECT_EQ(time_text(system_clock::time_point(microseconds(0))), "1970-01-01T00:00:00.000000Z");
  EXPECT_EQ(time_text(system_clock::time_point(microseconds(951'782'400'000'007))),
            "2000-02-29T00:00:00.000007Z");
}

TEST(TimeText, BeforeTheEpochMicrosecondsStillCountUp) {
  EXPECT_EQ(time_text(system_clock::time_point(microseconds(-1))), "1969-12-31T23:59:59.999999Z");
}

TEST(TimeText, NoTwoCallsGiveTheSameTime) {
  std::string before = now_text();
  for (int i = 0; i < 1000; ++i) {
    const std::string now = now_text();
    ASSERT_LT(before, now);
    before = now;
  }
}

std::string in_days(int days) {
  return time_text(std::chrono::system_clock::now() + std::chrono::days(days));
}

/// `text` with `from` replaced.
std::string with(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  return at == std::string::npos ? "there is no " + from : text.replace(at, from.size(), to);
}

/// Puts a row in as an earlier version did, with the id of what it says.
template <class Row>
std::string smuggle(TunedStore& store, const Row& row) {
  const Row clean = cleaned(row);
  in_transaction(store.connection(), [&] { store.connection().insert(clean); });
  return clean.id;
}

using Facts = SampledStore;

TEST_F(Facts, NamedValuesArePrintableAndHaveNames) {
  for (const char* good : {"", "BM=64", "BM=64 BN=", "a=b=c", "name=ü"}) {
    EXPECT_TRUE(is_named_values(good)) << good;
  }
  for (const char* bad : {"banana", "=64", "BM=64 x", "BM=\x1b[31m", "BM=1\nBN=2", "BM=\x7f"}) {
    EXPECT_FALSE(is_named_values(bad)) << bad;
  }
}

TEST_F(Facts, TheSpaceOfASessionIsPartOfItsIdOnlyWhereItIsKnown) {
  TunedStore other(folder_ / "other.db");
  SessionRow session;
  session.started_at = "2026-03-01T12:00:00.000Z";
  EXPECT_EQ(to_json(session).find("space"), std::string::npos);
  const std::string without = store_.begin_session(session);
  session.space = "2bfe46f7";
  const std::string with_space = store_.begin_session(session);
  EXPECT_NE(with_space, without);
  import_text(other, facts_of(store_));
  EXPECT_EQ(facts_of(other), facts_of(store_));
  EXPECT_EQ(other.session(with_space)->space, "2bfe46f7");
  EXPECT_EQ(other.session(without)->space, "");
}

TEST_F(Facts, RecordingRefusesWhatNobodyCanReadAndWhatIsDatedAhead) {
  EXPECT_THAT(thrown_by([&] { store_.append(std::vector{sample_.trial("banana", 1)}); }),
              AllOf(HasSubstr("t.db: a trial is not stored: the configuration \"banana\""),
                    HasSubstr("NAME=VALUE")));
  DecisionRow ties = sample_.decision("BM=1", 1);
  ties.ties = "BM=2\nbanana\n";
  EXPECT_REFUSAL(StoreError, store_.add_decision(ties), "the ties \"banana\"");
  EXPECT_THAT(thrown_by([&] {
                store_.pin({"", sample_.key, "banana", "", ""});
              }),
              HasSubstr("a pin is not stored"));
  EXPECT_THAT(
      thrown_by([&] { store_.add_decision(sample_.decision("BM=1", 1, in_days(2))); }),
      AllOf(HasSubstr("a decision is not stored: it is dated \""), HasSubstr("is a clock wrong?")));
  EXPECT_REFUSAL(StoreError, Sample(store_, "2076-01-01T00:00:00.000Z"),
                 "a session is not stored: it is dated \"2076");
  store_.add_decision(sample_.decision("BM=1", 1, in_days(0)));
  EXPECT_THAT(store_.tuned({}), testing::SizeIs(1));
}

TEST_F(Facts, ImportRefusesThemTooAndTakesTheOthers) {
  store_.append(std::vector{sample_.trial("BM=64", 100)});
  const std::string good = facts_of(store_);
  const std::string trial = good.substr(good.find("{\"table\":\"trial\""));
  const std::string lines = good + with(trial, "BM=64", "banana") +
                            with(trial, "M=512 N", "mango N") +
                            with(trial, "2026-03-01T12:00:01.000Z", in_days(20'000));
  TunedStore to(folder_ / "to.db");
  EXPECT_THAT(import_text(to, lines).refused,
              ElementsAre(HasSubstr("x line 5: the configuration \"banana\" is not of the form"),
                          HasSubstr("x line 6: the problem \"mango N=512"),
                          HasSubstr("x line 7: it is dated \"20")));
  EXPECT_EQ(facts_of(to), good);
}

TEST_F(Facts, WhatAnEarlierVersionLetInIsSkippedNamedAndRetracted) {
  store_.add_decision(sample_.decision("BM=64", 1000));
  const std::string bad =
      smuggle(store_, sample_.decision("banana", 1, "2026-03-02T00:00:00.000Z"));
  store_.rebuild_best();
  EXPECT_EQ(store_.best(sample_.key)->configuration, "BM=64");
  EXPECT_THAT(store_.left_out(), ElementsAre(AllOf(HasSubstr(bad), HasSubstr("\"banana\""))));
  EXPECT_THAT(store_.check().damage,
              ElementsAre(AllOf(HasSubstr(bad), HasSubstr("autotune db retract"))));
  store_.retract(bad, "no configuration");
  EXPECT_THAT(store_.check().damage, IsEmpty());

  TunedStore copy(folder_ / "copy.db"), merged(folder_ / "merged.db");
  EXPECT_THAT(import_text(copy, facts_of(store_)).refused, IsEmpty());
  EXPECT_THAT(merge(merged, store_).refused, IsEmpty()) << "what is retracted need not come in";
  EXPECT_EQ(copy.best(sample_.key), store_.best(sample_.key));
}

/// What no clock measures: of such a row, query showed a speedup of infinity or of -0.03.
TEST_F(Facts, ANumberThatIsNotPossibleIsRefusedAndSkipped) {
  using Change = std::function<void(DecisionRow&)>;
  const std::vector<std::pair<const char*, Change>> changes{
      {"the median_ns -5 is not possible", [](DecisionRow& row) { row.median_ns = -5; }},
      {"the median_ns 0 is not possible", [](DecisionRow& row) { row.median_ns = 0; }},
      {"the low_ns 1e+300", [](DecisionRow& row) { row.low_ns = 1e300; }},
      {"the cold_ns -1", [](DecisionRow& row) { row.cold_ns = -1; }},
      {"the noise_floor -7", [](DecisionRow& row) { row.noise_floor = -7; }},
      {"the gflops -2", [](DecisionRow& row) { row.gflops = -2; }},
      {"the baseline_ns -1", [](DecisionRow& row) { row.baseline = {"a", "b", -1, {}, {}, true}; }},
      {"between 9 and 8 ns", [](DecisionRow& row) { row.low_ns = 9, row.high_ns = 8; }}};
  for (const auto& [fault, change] : changes) {
    SCOPED_TRACE(fault);
    const TemporaryFolder folder;
    TunedStore store(folder / "t.db");
    const Sample sample(store);
    store.add_decision(sample.decision("BM=64", 1000));
    DecisionRow row = sample.decision("BM=32", 900, "2026-03-02T00:00:00.000Z");
    change(row);
    EXPECT_THAT(thrown_by([&] { store.add_decision(row); }), HasSubstr(fault));
    const std::string bad = smuggle(store, row);
    store.rebuild_best();
    EXPECT_EQ(store.best(sample.key)->configuration, "BM=64");
    EXPECT_THAT(store.left_out(), ElementsAre(HasSubstr(fault)));
    EXPECT_THAT(store.check().damage, ElementsAre(AllOf(HasSubstr(bad), HasSubstr(fault))));
    TunedStore copy(folder / "copy.db");
    EXPECT_THAT(import_text(copy, facts_of(store)).refused, ElementsAre(HasSubstr(fault)));
  }
}

TEST_F(Facts, AProblemWithoutTheSizesOfItsKernelIsSkippedAndNamed) {
  store_.add_decision(sample_.decision("BM=64", 1000));
  DecisionRow other = sample_.decision("BM=64", 1000);
  other.key.problem = "N=512 fruit=banana";
  store_.add_decision(other);
  ASSERT_EQ(store_.tuned({}).size(), 1u);
  EXPECT_THAT(store_.left_out(), ElementsAre(HasSubstr("N=512 fruit=banana is left out: the sizes "
                                                       "of gemm are M N K")));
  EXPECT_THAT(store_.check().damage,
              ElementsAre(HasSubstr("the sizes of gemm are M N K; autotune db retract")));
  EXPECT_EQ(store_.nearest({}, "M=1 N=1 K=1").size(), 1u);
}

TEST_F(Facts, ARetractedFactIsOutWhicheverOfBothComesFirst) {
  const TemporaryFolder folder;
  TunedStore with_fact(folder / "fact.db"), with_retraction(folder / "retraction.db");
  const Sample sample(with_fact);
  with_fact.add_decision(sample.decision("BM=32", 2000, "2026-03-01T00:00:00.000Z"));
  merge(with_retraction, with_fact);
  with_fact.add_decision(sample.decision("BM=64", 1000, "2026-03-02T00:00:00.000Z"));
  merge(with_retraction, with_fact);
  const std::string fact = with_retraction.best(sample.key)->source;
  EXPECT_THAT(with_retraction.retract(fact, "a wrong clock"), ElementsAre(sample.key));
  EXPECT_EQ(with_retraction.best(sample.key)->configuration, "BM=32");

  TunedStore one(folder / "1.db"), two(folder / "2.db");
  merge(one, with_fact);
  EXPECT_EQ(one.best(sample.key)->configuration, "BM=64");
  merge(one, with_retraction);
  merge(two, with_retraction);
  merge(two, with_fact);
  for (const TunedStore* store : {&one, &two}) {
    EXPECT_EQ(store->best(sample.key)->configuration, "BM=32");
    EXPECT_EQ(facts_of(*store), facts_of(with_retraction));
    EXPECT_THAT(store->check().damage, IsEmpty());
  }
}

TEST_F(Facts, ARetractedSessionTakesItsTrialsAndDecisionsAlong) {
  const Sample good(store_);
  store_.add_decision(good.decision("BM=32", 2000));
  Sample ahead(store_, "2026-03-05T00:00:00.000Z");
  SessionRow session;
  session.started_at = "2076-01-01T00:00:00.000Z";
  ahead.session = smuggle(store_, session);
  smuggle(store_, ahead.trial("BM=64", 1000));
  smuggle(store_, ahead.decision("BM=64", 1000, "2076-01-01T00:01:00.000Z"));
  store_.rebuild_best();
  EXPECT_EQ(store_.best(good.key)->configuration, "BM=32");
  EXPECT_THAT(store_.left_out(), ElementsAre(HasSubstr("it is dated 2076")));
  EXPECT_THAT(store_.check().damage, ElementsAre(HasSubstr("session " + ahead.session +
                                                           ": it is "
                                                           "dated \"2076"),
                                                 HasSubstr("decision ")));
  store_.retract(ahead.session, "a wrong clock");
  EXPECT_EQ(store_.best(good.key)->configuration, "BM=32");
  EXPECT_THAT(store_.trials(good.key), IsEmpty());
  EXPECT_THAT(store_.check().damage, IsEmpty());
}

TEST_F(Facts, ADamagedFactIsNamedWhenAnswersAreDerivedAnew) {
  for (const std::string damage :
       {"UPDATE trial SET created_at = '2026-01-01' WHERE outcome = 'wrong'",
        "UPDATE retraction SET fact = 'x'"}) {
    const TemporaryFolder folder;
    TunedStore store(folder / "t.db");
    const Sample sample(store);
    TrialRow failure = sample.failure("BM=8", "wrong");
    failure.created_at = "2026-03-01T12:00:02.000Z";
    store.append(std::vector{sample.trial("BM=8", 500), sample.trial("BM=64", 1000), failure});
    store.retract(store.begin_session({"", "2026-03-01", "", "", "another", "", 1, ""}), "why");
    store.connection().query(damage).run();
    store.rebuild_best();
    EXPECT_THAT(store.left_out(), ElementsAre(HasSubstr("is left out: it is not what was stored")))
        << damage;
  }
}

/// Turns a bit of the device in the row of `best` over, and in no other place.
void damage_best_key(const std::filesystem::path& path, const ProblemKey& key) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  const std::size_t place =
      bytes.find(key.device + key.kernel + key.problem + key.policy + "dtype=f32");
  ASSERT_NE(place, bytes.npos);
  file.seekp(static_cast<std::streamoff>(place));
  file.put(static_cast<char>(bytes[place] ^ 1));
}

TEST_F(Facts, AnAnswerWhoseKeyIsDamagedIsMissed) {
  const TemporaryFolder folder;
  const auto path = folder / "t.db";
  ProblemKey key;
  {
    TunedStore store(path);
    Sample sample(store);
    store.add_decision(sample.decision("BM=64", 1000));
    sample.key.problem = "M=256 N=256 K=256 dtype=f32";
    store.add_decision(sample.decision("BM=32", 100));
    key = sample.key;
  }
  damage_best_key(path, key);
  const TunedStore store(path, Mode::read_only);
  EXPECT_LT(store.tuned({}).size(), 2u);
  EXPECT_THAT(store.left_out(), ElementsAre(HasSubstr("of 2 rows can be found")));
  const auto found = read_lookup_rows(std::vector{Layer{path}}, request());
  EXPECT_THAT(found.warnings, ElementsAre(HasSubstr("of its rows are damaged and left out")));
}

TEST_F(Facts, ARetractionNeedsAFact) {
  const std::string before = facts_of(store_);
  EXPECT_REFUSAL(StoreError, store_.retract("0123", "why"),
                 "there is no fact with the id \"0123\"");
  EXPECT_EQ(facts_of(store_), before);
}

// The text of a row is what its id is a hash of: it never changes.

template <class T>
std::string json_of(const T& value) {
  std::string out;
  append_json(out, value);
  return out;
}

TEST(RowJson, TextIsEscaped) {
  EXPECT_EQ(json_of(std::string_view("a\"b\\c")), R"("a\"b\\c")");
  EXPECT_EQ(json_of(std::string_view("\n\t\r")), R"("\n\t\r")");
  EXPECT_EQ(json_of(std::string_view("\x01\x1f")), R"("\u0001\u001f")");
  EXPECT_EQ(json_of(std::string_view("\0", 1)), R"("\u0000")");
  EXPECT_EQ(json_of(std::string_view("Bär\x7f")), "\"Bär\x7f\"");
}

TEST(RowJson, NumbersAreTheShortestTextThatReadsBackTheSame) {
  EXPECT_EQ(json_of(0.1), "0.1");
  EXPECT_EQ(json_of(1.0 / 3), "0.3333333333333333");
  EXPECT_EQ(json_of(2871.0), "2871");
  EXPECT_EQ(json_of(-0x1.fffffffffffffp1023), "-1.7976931348623157e+308");
  EXPECT_EQ(json_of(std::int64_t{INT64_MIN}), "-9223372036854775808");
  EXPECT_EQ(json_of(true), "true");
  EXPECT_EQ(json_of(std::optional<double>()), "null");
}

TEST(RowJson, HasTheColumnsInOrderWithoutTheId) {
  DeviceRow device = h200();
  device.id = "anything";
  EXPECT_EQ(to_json(device),
            R"({"table":"device","name":"NVIDIA H200","kind":"cuda","pci_id":"10de:2335",)"
            R"("compute_capability":90,"multiprocessors":132,"l2_bytes":62914560,)"
            R"("memory_bytes":150754820096,"mig_profile":""})");
}

TEST(RowJson, ColumnsOfLaterSchemasAppearWhereTheyHaveAValue) {
  DecisionRow decision;
  EXPECT_EQ(to_json(decision).find("baseline"), std::string::npos);
  EXPECT_EQ(to_json(decision).find("joules"), std::string::npos);
  EXPECT_NE(to_json(decision).find("\"median_ns\":null"), std::string::npos);
  decision.baseline.plugin = "cublas";
  decision.joules = 0.5;
  EXPECT_NE(to_json(decision).find(R"("baseline":"cublas")"), std::string::npos);
  EXPECT_NE(to_json(decision).find(R"("joules":0.5)"), std::string::npos);
}

TEST(ProblemText, SizesAreTakenFromTheFrontAndSettingsAreLeft) {
  std::string_view problem = "M=512 N=64 K=7 dtype=f32";
  std::array<std::int64_t, 3> sizes{};
  EXPECT_EQ(take_sizes(problem, "M N K", sizes), 3u);
  EXPECT_EQ(sizes, (std::array<std::int64_t, 3>{512, 64, 7}));
  EXPECT_EQ(problem, "dtype=f32");
}

TEST(ProblemText, ATextOfOtherSizesIsLeftAsItIs) {
  for (const std::string_view text : {"K=5 M=4", "M=4", "M=4 K=", "M=4 K=5x", "M=4 K=0", "M=4 K=-5",
                                      "M4 K=5", "M=4 K=99999999999999999999", "MM=4 K=5", ""}) {
    std::string_view problem = text;
    EXPECT_FALSE(take_sizes(problem, "M K")) << text;
    EXPECT_EQ(problem, text);
  }
}

TEST(ProblemText, MoreSizesThanThereIsRoomForAreRefused) {
  std::string_view problem = "M=4 K=5";
  std::array<std::int64_t, 1> sizes{};
  EXPECT_EQ(take_sizes(problem, "M K", sizes), std::nullopt);
}

TEST(ProblemText, DistanceIsTheRootMeanSquareOfLogarithms) {
  using TwoSizes = std::array<std::int64_t, 2>;
  EXPECT_DOUBLE_EQ(size_distance(TwoSizes{8, 8}, TwoSizes{8, 8}), 0);
  EXPECT_DOUBLE_EQ(size_distance(TwoSizes{16, 4}, TwoSizes{8, 8}), 1);  // twice, and half
  EXPECT_DOUBLE_EQ(size_distance(TwoSizes{8, 8}, TwoSizes{16, 4}), 1);
  EXPECT_DOUBLE_EQ(size_distance({}, {}), 0);
}

}  // namespace
}  // namespace autotune::db
