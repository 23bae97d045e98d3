// SPDX-License-Identifier: Apache-2.0
#include <SQLiteCpp/Database.h>

#include <algorithm>
#include <atomic>
#include <random>
#include <streambuf>
#include <thread>
#include <utility>

#include "db/connection.hpp"
#include "tests/db/sample.hpp"
#include "tests/support/matchers.hpp"

namespace autotune::db {
namespace {

std::size_t lines_in(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

TEST(ExchangePart, WhatIsNewIsWrittenOnce) {
  const TemporaryFolder folder;
  TunedStore store(folder / "a.db");
  Sample sample(store);
  FactsEnd end = facts_end(store);
  const TrialRow trial = sample.trial("BM=16", 1000);
  store.append({&trial, 1});
  std::ostringstream first, second;
  export_facts_after(store, end, first);
  export_facts_after(store, end, second);
  EXPECT_EQ(lines_in(first.str()), 1u);
  EXPECT_EQ(second.str(), "");
}

TEST(ExchangePart, FactsOfAProblemComeWithAllThatTheyReferTo) {
  const TemporaryFolder folder;
  TunedStore store(folder / "a.db"), other(folder / "b.db");
  Sample sample(store);
  const TrialRow trial = sample.trial("BM=16", 1000);
  store.append({&trial, 1});
  const ProblemKey key = sample.key;
  sample.key.problem = "M=1 N=1 K=1 dtype=f32";
  const TrialRow elsewhere = sample.trial("BM=32", 1000);
  store.append({&elsewhere, 1});
  std::stringstream lines;
  export_facts_of(store, {&key, 1}, lines);
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

TEST(Exchange, JsonLinesCarryEveryFact) {
  const TemporaryFolder folder;
  TunedStore from(folder / "from.db"), to(folder / "to.db");
  fill_at_random(from, 7);
  const std::string lines = facts_of(from);
  std::istringstream in(lines);
  const ImportReport report = import_json_lines(to, in, "facts.jsonl");
  EXPECT_THAT(report.refused, IsEmpty());
  EXPECT_EQ(report.present, 0);
  EXPECT_EQ(everything_of(to), everything_of(from));
  std::istringstream again(lines);
  EXPECT_EQ(import_json_lines(to, again, "facts.jsonl").added, 0);
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

TEST(Exchange, AnExportIntoAPagerLetsOthersWrite) {
  const TemporaryFolder folder;
  const TunedStore store(folder / "t.db");
  TunedStore writer(folder / "t.db");
  const Sample sample(writer);
  BusyReader pager(folder / "t.db", sample.trial("BM=1", 1));
  std::ostream out(&pager);
  export_json_lines(store, out);
  EXPECT_TRUE(out.good());
  EXPECT_EQ(store.trials(sample.key).size(), 1u);
}

TEST(Exchange, AMergeOfADatabaseThatIsWrittenTakesItAsOfOneMoment) {
  const TemporaryFolder folder;
  TunedStore live(folder / "live.db");
  for (int i = 0; i < 300; ++i) Sample(live, format("2026-03-01T12:00:00.{:03}Z", i));
  std::atomic<bool> ends{false};
  std::thread writer([&] {
    TunedStore store(folder / "live.db");
    for (int i = 0; !ends; ++i) {
      const Sample sample(store, format("2026-03-01T13:00:00.{:06}Z", i));
      const TrialRow trial = sample.trial(format("BM={}", i), 1);
      store.append({&trial, 1});
    }
  });
  for (int i = 0; i < 10; ++i) {
    TunedStore copy(folder / format("{}.db", i));
    EXPECT_THAT(merge(copy, live).refused, IsEmpty());
  }
  ends = true;
  writer.join();
}

TEST(Exchange, WhereTheVendorsLibraryWinsEveryFormSaysSo) {
  const TemporaryFolder folder;
  TunedStore store(folder / "t.db");
  const Sample sample(store);
  store.add_decision(sample.lost_decision("BM=64", 10000));
  const BaselineFigures cublas = store.best(sample.key)->baseline;
  EXPECT_EQ(cublas.text(), "cublas cublasLt 0 (algorithm 55)");
  EXPECT_TRUE(cublas.wins);
  EXPECT_THAT(store.check().damage, IsEmpty());

  std::ostringstream facts, header;
  export_json_lines(store, facts);
  export_header(store.tuned({}), header);
  EXPECT_THAT(header.str(), HasSubstr("\"cublas cublasLt 0 (algorithm 55)\", 9000}"));
  TunedStore copy(folder / "copy.db");
  std::istringstream in(facts.str());
  EXPECT_THAT(import_json_lines(copy, in, "lines").refused, IsEmpty());
  EXPECT_EQ(copy.best(sample.key)->baseline, cublas);
  TunedStore merged(folder / "merged.db");
  merge(merged, store);
  EXPECT_EQ(merged.best(sample.key)->baseline, cublas);

  store.pin({"", sample.key, "BM=32", "", "2026-03-02T12:00:00.000Z"});
  EXPECT_EQ(store.best(sample.key)->baseline, BaselineFigures()) << "a pin is a configuration";
}

TEST(Exchange, BadLinesAreRefusedByNumberAndTheOthersComeIn) {
  const TemporaryFolder folder;
  TunedStore store(folder / "t.db");
  std::istringstream in(R"({"table":"kernel","target":"gemm","fingerprint":"f","sizes":"M"}
{"table":"kernel","target":"gemm"
{"table":"nonsense"}
{"table":"session","seed":"one"}

{"table":"pin","device":"none","kernel":"none","problem":"M=1","policy":"","configuration":""}
{"table":"kernel","target":["gemm"]}
{"table":"session","seed":9223372036854775808}
{"table":"session","seed":1e999}
["kernel"]
{"table":"kernel","target":"\ud83d\ude00\u00fc"}
)");
  const ImportReport report = import_json_lines(store, in, "x.jsonl");
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
  EXPECT_EQ(store.kernels().back().target, "😀ü");
}

TEST(Exchange, ARowWhoseProblemIsNoneOfItsKernelsIsRefused) {
  const TemporaryFolder folder;
  TunedStore store(folder / "t.db");
  DeviceRow device_row;
  device_row.kind = "cuda";
  const std::string device = store.add_device(device_row);
  const std::string kernel = store.add_kernel({"", "gemm", "f", "M"});
  std::istringstream in(R"({"table":"pin","device":")" + device + R"(","kernel":")" + kernel +
                        R"(","proble":"M=1","policy":"l2=hot","configuration":"BLOCK=1","note":"",)"
                        R"("created_at":"2026-03-01T12:00:03.000000Z"})");
  EXPECT_THAT(import_json_lines(store, in, "x.jsonl").refused,
              ElementsAre("x.jsonl line 1: the sizes of gemm are M"));
  EXPECT_THAT(store.check().damage, IsEmpty());
}

TEST(Exchange, AFileThatIsNoExportIsRefusedInOneSentence) {
  const TemporaryFolder folder;
  TunedStore store(folder / "t.db");
  std::istringstream passwords("\nroot:x:0:0\ndaemon:x:1:1\n"), binary("\x02\xff\n\x80\n"),
      long_line(std::string(5000, 'x')), nothing("\n\n");
  EXPECT_THAT(
      import_json_lines(store, passwords, "passwd").refused,
      ElementsAre("passwd: is not an export of a database: its first line is \"root:x:0:0\""));
  EXPECT_THAT(import_json_lines(store, binary, "tool").refused,
              ElementsAre(HasSubstr("its first line is \"\\u0002\uFFFD\"")));
  EXPECT_THAT(import_json_lines(store, long_line, "x").refused,
              ElementsAre(HasSubstr(std::string(60, 'x').append("…"))));
  EXPECT_THAT(import_json_lines(store, nothing, "x").refused, IsEmpty());
  std::istringstream endless("{}\n" + std::string(17 << 20, '\0'));
  EXPECT_THAT(import_json_lines(store, endless, "x").refused,
              ElementsAre("x: line 2 has more than 16.00 MiB"));
}

TEST(Exchange, ADamagedRowIsRefusedAndTheOthersComeIn) {
  const TemporaryFolder folder;
  std::string session;
  {
    TunedStore store(folder / "bad.db");
    const Sample sample(store);
    session = sample.session;
    store.append(std::vector{sample.trial("BM=1", 1), sample.trial("BM=2", 2)});
  }
  SQLite::Database((folder / "bad.db").string(), SQLite::OPEN_READWRITE)
      .exec("UPDATE trial SET median_ns = 0.5 WHERE configuration = 'BM=1'");
  TunedStore bad(folder / "bad.db"), good(folder / "good.db");
  const ImportReport report = merge(good, bad);
  EXPECT_EQ(report.added, 4);  // device, kernel, session, one trial
  ASSERT_EQ(report.refused.size(), 1u);
  EXPECT_THAT(report.refused[0], HasSubstr("is damaged"));
}

TEST(Exchange, TheHeaderIsOneRowAProblem) {
  const TemporaryFolder folder;
  TunedStore store(folder / "t.db");
  const Sample sample(store);
  store.add_decision(sample.decision("BM=64 NAME=\"x\"", 10000));
  std::ostringstream out;
  export_header(store.tuned({}), out);
  EXPECT_THAT(out.str(), HasSubstr("\"M=512 N=512 K=512 dtype=f32\", \"l2=hot launch=graph\""));
  EXPECT_THAT(out.str(), HasSubstr("\"BM=64 NAME=\\\"x\\\"\""));
  EXPECT_THAT(out.str(), HasSubstr("kRowCount = 1;"));
}

}  // namespace
}  // namespace autotune::db
