// SPDX-License-Identifier: Apache-2.0
#include <SQLiteCpp/Database.h>

#include <algorithm>
#include <atomic>
#include <random>
#include <streambuf>
#include <thread>
#include <utility>

#include "db/connection.hpp"
#include "tests/db/sampled_store.hpp"
#include "tests/support/matchers.hpp"

namespace autotune::db {
namespace {

std::size_t lines_in(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

using ExchangePart = SampledStore;

TEST_F(ExchangePart, WhatIsNewIsWrittenOnce) {
  FactsEnd end = facts_end(store_);
  store_.append(std::vector{sample_.trial("BM=16", 1000)});
  std::ostringstream first, second;
  export_facts_after(store_, end, first);
  export_facts_after(store_, end, second);
  EXPECT_EQ(lines_in(first.str()), 1u);
  EXPECT_EQ(second.str(), "");
}

TEST_F(ExchangePart, FactsOfAProblemComeWithAllThatTheyReferTo) {
  TunedStore other(folder_ / "b.db");
  store_.append(std::vector{sample_.trial("BM=16", 1000)});
  const ProblemKey key = sample_.key;
  sample_.key.problem = "M=1 N=1 K=1 dtype=f32";
  store_.append(std::vector{sample_.trial("BM=32", 1000)});
  std::stringstream lines;
  export_facts_of(store_, {&key, 1}, lines);
  const ImportReport report = import_json_lines(other, lines, "part");
  EXPECT_TRUE(report.refused.empty());
  EXPECT_EQ(report.added, 4) << "device, kernel, session, trial";
  EXPECT_EQ(other.trials(key).size(), 1u);
  EXPECT_TRUE(other.best(key));
}

/// What merging must agree on: the facts, and the answers derived from them.
std::string everything_of(const TunedStore& store) {
  std::string text = facts_of(store);
  for (const TunedEntry& entry : store.tuned({})) {
    text += format("{} {} {} {} {} {} {}\n", entry.best.key.problem, entry.best.configuration,
                   entry.best.provenance, entry.best.median_ns.value_or(0), entry.best.source,
                   entry.best.default_ns.value_or(0), entry.best.baseline.text());
  }
  return text;
}

/// A few sessions' worth of facts out of a small world, so that stores overlap and contradict.
void fill_at_random(TunedStore& store, unsigned seed) {
  std::mt19937 random(seed);
  const auto below = [&](int bound) { return static_cast<int>(random() % bound); };
  const auto when = [&] { return format("2026-03-0{}T00:00:00.000Z", 1 + below(4)); };
  for (int session = 0; session < 3; ++session) {
    Sample sample(store, when());
    if (below(3) == 0) {
      sample.session =
          store.begin_session({"", when(), "", "", "tune --fix BM=16", "", 1, "", true});
    }
    for (int i = 0; i < 8; ++i) {
      sample.key.problem = format("M={0} N={0} K={0} dtype=f32", 128 << below(3));
      const std::string configuration = format("BM={}", 16 << below(4));
      TrialRow trial = sample.trial(configuration, 1000 + 100 * below(5));
      trial.is_default = configuration == "BM=16";
      trial.created_at = when();
      store.append({&trial, 1});
      if (below(4) == 0) {
        DecisionRow decision = sample.decision(configuration, 900 + below(9), when());
        if (below(3) == 0) decision.provenance = "imported";
        if (below(2) == 0) decision.baseline = sample.lost_decision("", 1000).baseline;
        store.add_decision(decision);
      }
      if (below(6) == 0) {
        store.pin({"", sample.key, below(2) ? configuration : "", "", when()});
      }
      if (below(4) == 0) {
        TrialRow failure = sample.failure(configuration, below(2) ? "wrong" : "crash");
        failure.created_at = when();
        store.append({&failure, 1});
      }
      if (below(8) == 0 && store.best(sample.key)) {
        store.retract(store.best(sample.key)->source, "at random");
      }
    }
  }
}

class MergeAlgebra : public testing::TestWithParam<unsigned> {
 protected:
  TunedStore make(const std::string& name, unsigned seed) {
    TunedStore store(folder_ / name);
    fill_at_random(store, seed);
    return store;
  }
  TunedStore merged(const std::string& name, std::initializer_list<const TunedStore*> parts) {
    TunedStore store(folder_ / name);
    for (const TunedStore* part : parts) EXPECT_THAT(merge(store, *part).refused, IsEmpty());
    return store;
  }
  TemporaryFolder folder_;
};

TEST_P(MergeAlgebra, IsCommutativeAssociativeAndIdempotent) {
  const TunedStore a = make("a", GetParam() * 3), b = make("b", GetParam() * 3 + 1),
                   c = make("c", GetParam() * 3 + 2);
  const TunedStore ab = merged("ab", {&a, &b});
  EXPECT_EQ(everything_of(ab), everything_of(merged("ba", {&b, &a})));
  const TunedStore bc = merged("bc", {&b, &c});
  EXPECT_EQ(everything_of(merged("ab_c", {&ab, &c})), everything_of(merged("a_bc", {&a, &bc})));
  EXPECT_EQ(everything_of(merged("abab", {&ab, &ab, &a, &b})), everything_of(ab));
  EXPECT_EQ(everything_of(merged("just_a", {&a})), everything_of(a));
  for (const TunedStore* store : {&a, &b, &c, &ab}) EXPECT_THAT(store->check().damage, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(RandomStores, MergeAlgebra, testing::Range(0u, 8u));

using Exchange = SampledStore;

TEST_F(Exchange, JsonLinesCarryEveryFact) {
  TunedStore to(folder_ / "to.db");
  fill_at_random(store_, 7);
  const ImportReport report = import_text(to, facts_of(store_));
  EXPECT_THAT(report.refused, IsEmpty());
  EXPECT_EQ(report.present, 0);
  EXPECT_EQ(everything_of(to), everything_of(store_));
  EXPECT_EQ(import_text(to, facts_of(store_)).added, 0);
}

/// Writes to a store before it takes any text.
class BusyReader : public std::streambuf {
 public:
  BusyReader(const std::filesystem::path& path, const TrialRow& trial)
      : path_(path), trial_(trial) {}

 protected:
  int_type overflow(int_type letter) override {
    if (!std::exchange(has_written_, true)) TunedStore(path_).append({&trial_, 1});
    return traits_type::not_eof(letter);
  }

 private:
  const std::filesystem::path path_;
  const TrialRow trial_;
  bool has_written_ = false;
};

TEST_F(Exchange, AnExportIntoAPagerLetsOthersWrite) {
  BusyReader pager(folder_ / "t.db", sample_.trial("BM=1", 1));
  std::ostream out(&pager);
  export_json_lines(store_, out);
  EXPECT_TRUE(out.good());
  EXPECT_EQ(store_.trials(sample_.key).size(), 1u);
}

TEST_F(Exchange, AMergeOfADatabaseThatIsWrittenTakesItAsOfOneMoment) {
  for (int i = 0; i < 300; ++i) Sample(store_, format("2026-03-01T12:00:00.{:03}Z", i));
  std::atomic<bool> ends{false};
  std::thread writer([&] {
    TunedStore store(folder_ / "t.db");
    for (int i = 0; !ends; ++i) {
      const Sample sample(store, format("2026-03-01T13:00:00.{:06}Z", i));
      store.append(std::vector{sample.trial(format("BM={}", i), 1)});
    }
  });
  for (int i = 0; i < 10; ++i) {
    TunedStore copy(folder_ / format("{}.db", i));
    EXPECT_THAT(merge(copy, store_).refused, IsEmpty());
  }
  ends = true;
  writer.join();
}

TEST_F(Exchange, WhereTheVendorsLibraryWinsEveryFormSaysSo) {
  store_.add_decision(sample_.lost_decision("BM=64", 10000));
  const BaselineFigures cublas = store_.best(sample_.key)->baseline;
  EXPECT_EQ(cublas.text(), "cublas cublasLt 0 (algorithm 55)");
  EXPECT_TRUE(cublas.wins);
  EXPECT_THAT(store_.check().damage, IsEmpty());

  EXPECT_THAT(header_of(store_), HasSubstr("\"cublas cublasLt 0 (algorithm 55)\", 9000}"));
  TunedStore copy(folder_ / "copy.db"), merged(folder_ / "merged.db");
  EXPECT_THAT(import_text(copy, facts_of(store_)).refused, IsEmpty());
  EXPECT_EQ(copy.best(sample_.key)->baseline, cublas);
  merge(merged, store_);
  EXPECT_EQ(merged.best(sample_.key)->baseline, cublas);

  store_.pin({"", sample_.key, "BM=32", "", "2026-03-02T12:00:00.000Z"});
  EXPECT_EQ(store_.best(sample_.key)->baseline, BaselineFigures()) << "a pin is a configuration";
}

TEST_F(Exchange, BadLinesAreRefusedByNumberAndTheOthersComeIn) {
  const ImportReport report =
      import_text(store_, R"({"table":"kernel","target":"gemm","fingerprint":"f","sizes":"M"}
{"table":"kernel","target":"gemm"
{"table":"nonsense"}
{"table":"session","seed":"one"}

{"table":"pin","device":"none","kernel":"none","problem":"M=1","policy":"","configuration":""}
{"table":"kernel","target":["gemm"]}
{"table":"session","seed":9223372036854775808}
{"table":"session","seed":1e999}
["kernel"]
{"table":"kernel","target":"\ud83d\ude00\u00fc"}
)",
                  "x.jsonl");
  EXPECT_EQ(report.added, 2);
  EXPECT_THAT(
      report.refused,
      ElementsAre("x.jsonl line 2: column 34: syntax error while parsing object - unexpected "
                  "end of input; expected '}'",
                  "x.jsonl line 3: there is no table \"nonsense\"",
                  "x.jsonl line 9: number overflow parsing '1e999'",
                  "x.jsonl line 10: is not an object with the name of a table",
                  "x.jsonl line 7: the value of target is of the wrong type",
                  "x.jsonl line 4: the value of seed is of the wrong type",
                  "x.jsonl line 8: the value of seed is of the wrong type",
                  "x.jsonl line 6: refers to a row that is missing"));
  EXPECT_EQ(store_.kernels().back().target, "😀ü");
}

TEST_F(Exchange, ARowWhoseProblemIsNoneOfItsKernelsIsRefused) {
  DeviceRow device_row;
  device_row.kind = "cuda";
  const std::string device = store_.add_device(device_row);
  const std::string kernel = store_.add_kernel({"", "gemm", "f", "M"});
  const std::string line =
      R"({"table":"pin","device":")" + device + R"(","kernel":")" + kernel +
      R"(","proble":"M=1","policy":"l2=hot","configuration":"BLOCK=1","note":"",)"
      R"("created_at":"2026-03-01T12:00:03.000000Z"})";
  EXPECT_THAT(import_text(store_, line).refused, ElementsAre("x line 1: the sizes of gemm are M"));
  EXPECT_THAT(store_.check().damage, IsEmpty());
}

TEST_F(Exchange, AFileThatIsNoExportIsRefusedInOneSentence) {
  const auto refused = [&](const std::string& text) { return import_text(store_, text).refused; };
  EXPECT_THAT(refused("\nroot:x:0:0\ndaemon:x:1:1\n"),
              ElementsAre("x: is not an export of a database: its first line is \"root:x:0:0\""));
  EXPECT_THAT(refused("\x02\xff\n\x80\n"),
              ElementsAre(HasSubstr("its first line is \"\\u0002\uFFFD\"")));
  EXPECT_THAT(refused(std::string(5000, 'x')),
              ElementsAre(HasSubstr(std::string(60, 'x').append("…"))));
  EXPECT_THAT(refused("\n\n"), IsEmpty());
  EXPECT_THAT(refused("{}\n" + std::string(17 << 20, '\0')),
              ElementsAre("x: line 2 has more than 16.00 MiB"));
}

TEST_F(Exchange, ADamagedRowIsRefusedAndTheOthersComeIn) {
  store_.append(std::vector{sample_.trial("BM=1", 1), sample_.trial("BM=2", 2)});
  execute(folder_ / "t.db", "UPDATE trial SET median_ns = 0.5 WHERE configuration = 'BM=1'");
  TunedStore good(folder_ / "good.db");
  const ImportReport report = merge(good, store_);
  EXPECT_EQ(report.added, 4);  // device, kernel, session, one trial
  EXPECT_THAT(report.refused, ElementsAre(HasSubstr("is damaged")));
}

TEST_F(Exchange, TheHeaderIsOneRowAProblem) {
  store_.add_decision(sample_.decision("BM=64 NAME=\"x\"", 10000));
  EXPECT_THAT(header_of(store_),
              AllOf(HasSubstr("\"M=512 N=512 K=512 dtype=f32\", \"l2=hot launch=graph\""),
                    HasSubstr("\"BM=64 NAME=\\\"x\\\"\""), HasSubstr("kRowCount = 1;")));
}

}  // namespace
}  // namespace autotune::db
