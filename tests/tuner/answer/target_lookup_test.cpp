// SPDX-License-Identifier: Apache-2.0
#include "tuner/answer/target_lookup.hpp"

#include <fstream>
#include <thread>

#include "tests/support/matchers.hpp"
#include "tests/tuner/answer/lookup_case.hpp"
#include "tuner/core/error.hpp"

namespace autotune {
namespace {

TEST_F(TargetLookupTest, SizesKeepTheRulesOfTheTarget) {
  tune(512, "BM=64");
  Target target = target_of();
  target.size_rules = {{.multiple = 64}, {.fixed = 512}, {.least = 16}};
  TargetLookup lookup(std::move(target), {}, tuned_gpu(), "l2=hot launch=graph", {{path_}});
  const auto at = [&](std::int64_t m, std::int64_t n, std::int64_t k) {
    const std::int64_t sizes[] = {m, n, k};
    return std::string(lookup.find(sizes).configuration);
  };
  EXPECT_EQ(at(512, 512, 512), "BM=64");
  EXPECT_EQ(at(576, 512, 16), "BM=64") << "transferred";
  const auto refused = [&](std::int64_t m, std::int64_t n, std::int64_t k, const char* why) {
    EXPECT_REFUSAL(UsageError, at(m, n, k), why);
  };
  refused(500, 512, 512, "M=500 is not offered: it is a multiple of 64");
  refused(512, 511, 512, "N=511 is not offered: it is always 512");
  refused(512, 512, 8, "K=8 is not offered: the least is 16");
}

TEST_F(TargetLookupTest, TheLeaderOfAnUnfinishedRunIsNoExactAnswer) {
  {
    db::TunedStore store(path_);
    const db::Sample sample(store);
    store.append(std::vector{sample.trial("BM=64", 10000)});
    EXPECT_FALSE(store.best(sample.key)->decided);
  }
  TargetLookup before = open();
  EXPECT_EQ(at(before, 512).configuration, "BM=64") << "it is known";
  EXPECT_NE(at(before, 512).origin, Origin::exact) << "and was compared with nothing";
  decide(problem(512), "BM=64");
  TargetLookup lookup = open();
  EXPECT_EQ(at(lookup, 512).origin, Origin::exact);
  EXPECT_EQ(at(lookup, 512).provenance, "measured");
  EXPECT_EQ(at(lookup, 512).median_ns, 10000);
  EXPECT_THAT(lookup.explain(std::vector<std::int64_t>{512, 512, 512}),
              HasSubstr("tuned for these sizes, measured"));
}

TEST_F(TargetLookupTest, AnAnswerOfTheCostModelIsNotCalledTuned) {
  tune(512, "BM=64", "", "predicted");
  TargetLookup lookup = open();
  const std::int64_t sizes[] = {512, 512, 512}, near[] = {640, 640, 640};
  EXPECT_THAT(lookup.explain(sizes),
              AllOf(HasSubstr("\npredicted by the cost model for these sizes, not measured\n"),
                    HasSubstr("us predicted there")));
  EXPECT_THAT(lookup.explain(near), HasSubstr("us predicted there"));
}

TEST_F(TargetLookupTest, UntunedSizesTakeTheNearestWinnerThatIsValidThere) {
  tune(512, "BM=64");
  tune(1024, "BM=128");
  TargetLookup lookup = open();
  EXPECT_EQ(at(lookup, 896).configuration, "BM=128");
  EXPECT_EQ(at(lookup, 896).origin, Origin::transferred);
  EXPECT_NEAR(at(lookup, 896).distance, 0.1926, 1e-4);  // log2(1024 / 896)
  // 992 = 31 * 32: neither 128 nor 64 divides it.
  EXPECT_EQ(at(lookup, 992).configuration, "BM=16");
  EXPECT_EQ(at(lookup, 992).origin, Origin::transferred) << "the default's time there is known";
}

TEST_F(TargetLookupTest, AnotherDeviceOfTheArchitectureComesBeforeTheDefault) {
  tune(512, "BM=64", "NVIDIA H100");
  TargetLookup lookup = open();
  EXPECT_EQ(at(lookup, 512).configuration, "BM=64");
  EXPECT_EQ(at(lookup, 512).origin, Origin::same_architecture);
}

TEST_F(TargetLookupTest, ARowOfAChangedSourceIsUsedOnlyWhereItIsStillValid) {
  tune(512, "BM=64");
  TargetLookup valid = open("f2");
  EXPECT_EQ(at(valid, 512).configuration, "BM=64");
  EXPECT_EQ(at(valid, 512).validity, db::Validity::source_drifted);
  tune(512, "BM=256");  // no longer a value
  TargetLookup invalid = open("f2");
  EXPECT_EQ(at(invalid, 512).configuration, "BM=16");
}

TEST_F(TargetLookupTest, HostileConfigurationsNeverReachACompiler) {
  for (const char* text : {"BM=64 X=1", "BM=sixty", "", "BM=", "BM=64;rm", "X=64", "BM=0"}) {
    tune(512, text);
    TargetLookup lookup = open();
    EXPECT_EQ(at(lookup, 640).configuration, "BM=16") << text;
  }
}

TEST_F(TargetLookupTest, WithoutAnyDatabaseTheDefaultAnswers) {
  TargetLookup lookup = open();
  const std::int64_t sizes[] = {512, 512, 512}, odd[] = {513, 1, 1};
  EXPECT_EQ(lookup.find(sizes).configuration, "BM=16");
  EXPECT_EQ(lookup.find(sizes).origin, Origin::default_configuration);
  EXPECT_EQ(lookup.warnings(), "");
  EXPECT_THROW(lookup.find(odd), Error);
  EXPECT_THROW(lookup.find(std::span(sizes).first(2)), UsageError);
}

TEST_F(TargetLookupTest, APinHoldsUntilItIsTakenBackAndMustBeValid) {
  tune(512, "BM=64");
  TargetLookup lookup = open();
  const std::int64_t sizes[] = {512, 512, 512};
  lookup.pin(sizes, "BM=32");
  EXPECT_EQ(lookup.find(sizes).configuration, "BM=32");
  EXPECT_EQ(lookup.find(sizes).provenance, "pinned");
  EXPECT_THROW(lookup.pin(sizes, "BM=33"), Error);
  lookup.pin(sizes, "");
  EXPECT_EQ(lookup.find(sizes).configuration, "BM=64");
}

TEST_F(TargetLookupTest, NearSizesAtWhichTheLibraryWonLeadToIt) {
  decide(problem(512), "BM=64", {"cublas", "cublasLt 0 (algorithm 55)", 9000, {}, {}, true});
  TargetLookup lookup = open();
  const std::int64_t sizes[] = {640, 512, 512};
  const LookupAnswer answer = lookup.find(sizes);
  EXPECT_EQ(answer.configuration, "BM=64");
  EXPECT_EQ(answer.baseline, "cublas") << "without a candidate of that size";
  EXPECT_NEAR(answer.baseline_ns, 9000, 1);
  EXPECT_THAT(lookup.explain(sizes), HasSubstr("cublas is expected to take 9.000 us"));
}

TEST_F(TargetLookupTest, RefreshSeesWhatWasTunedSinceWhileOthersAsk) {
  tune(512, "BM=64");
  TargetLookup lookup = open();
  const std::int64_t sizes[] = {1024, 1024, 1024};
  const LookupAnswer before = lookup.find(sizes);
  EXPECT_EQ(before.origin, Origin::transferred);
  std::atomic<bool> done{false};
  std::vector<std::thread> readers;
  for (int i = 0; i < 4; ++i) {
    readers.emplace_back([&] {
      while (!done) EXPECT_FALSE(lookup.find(sizes).configuration.empty());
    });
  }
  tune(1024, "BM=128");
  lookup.refresh();
  done = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(lookup.find(sizes).configuration, "BM=128");
  EXPECT_EQ(lookup.find(sizes).origin, Origin::exact);
  EXPECT_EQ(before.configuration, "BM=64") << "old answers stay valid";
}

TEST_F(TargetLookupTest, ARowThatIsNotValidForItsOwnSizesIsNoAnswer) {
  for (const char* provenance : {"measured", "imported"}) {
    for (const char* text : {"BM=banana", "BM=24", "BM=64 X=1"}) {
      const db::TemporaryFolder folder;
      path_ = folder / "t.db";
      tune(544, "BM=32");
      tune(512, text, "", provenance);
      TargetLookup lookup = open();
      EXPECT_EQ(at(lookup, 512).configuration, "BM=32") << text;
      EXPECT_EQ(at(lookup, 512).origin, Origin::transferred) << text;
      EXPECT_THAT(lookup.warnings(), AllOf(HasSubstr("t.db: 1 of its answers for gemm"),
                                           HasSubstr(text), HasSubstr("M=512 N=512 K=512")));
    }
  }
  path_ = folder_ / "t.db";
  tune(544, "BM=128");  // is a value, but does not divide 544
  TargetLookup lookup = open();
  EXPECT_EQ(at(lookup, 544).configuration, "BM=16");
}

TEST_F(TargetLookupTest, ARowThatIsNotValidHidesNoneBelowIt) {
  const std::filesystem::path site = folder_ / "site.db";
  tune(512, "BM=65");
  tune_in(site, 512, "BM=64");
  TargetLookup lookup(target_of(), {}, tuned_gpu(), "l2=hot launch=graph", {{path_}, {site}});
  EXPECT_EQ(at(lookup, 512).configuration, "BM=64");
  EXPECT_EQ(at(lookup, 512).origin, Origin::exact);
}

TEST_F(TargetLookupTest, ARefreshThatCannotReadADatabaseKeepsWhatItHeld) {
  tune(512, "BM=64");
  const std::filesystem::path site = folder_ / "site.db";
  std::filesystem::copy_file(path_, site);
  TargetLookup lookup(target_of(), {}, tuned_gpu(), "l2=hot launch=graph", {{path_}, {site}});
  const std::int64_t sizes[] = {512, 512, 512}, new_sizes[] = {1024, 1024, 1024};
  const std::int64_t pinned[] = {256, 256, 256};
  lookup.pin(pinned, "BM=32");
  const auto keeps = [&](const std::string& why) {
    EXPECT_THAT(thrown_by([&] { lookup.refresh(); }),
                AllOf(HasSubstr("keep their previous rows: "), HasSubstr("t.db: " + why)));
    EXPECT_EQ(lookup.find(sizes).configuration, "BM=64");
    EXPECT_EQ(lookup.find(sizes).origin, Origin::exact);
    EXPECT_EQ(lookup.find(pinned).configuration, "BM=32");
  };
  std::filesystem::rename(path_, folder_ / "away.db");
  keeps("is gone");
  keeps("is gone");
  std::ofstream(path_) << std::string(5000, 'x');
  keeps("is not a database");
  std::filesystem::remove(path_);
  keeps("is gone");
  std::filesystem::create_directory(path_);
  keeps("it is a folder");

  tune_in(site, 1024, "BM=128");
  keeps("it is a folder");
  EXPECT_EQ(lookup.find(new_sizes).configuration, "BM=128") << "the other is read anew";

  std::filesystem::remove(path_);
  std::filesystem::rename(folder_ / "away.db", path_);
  lookup.refresh();
  EXPECT_EQ(lookup.warnings(), "");
  EXPECT_EQ(lookup.find(sizes).configuration, "BM=64");
  EXPECT_NE(lookup.find(pinned).configuration, "BM=32");
}

TEST_F(TargetLookupTest, ARefreshOfADatabaseThatNeverWasChangesNothing) {
  TargetLookup lookup = open();
  lookup.refresh();
  EXPECT_EQ(lookup.warnings(), "");
}

/// The target's default configuration stands where nothing is left.
TEST_F(TargetLookupTest, WhatMayBeNoAnswerIsServedAtNoSizes) {
  for (const db::HostileDatabase& hostile : db::hostile_databases()) {
    SCOPED_TRACE(hostile.name);
    const TemporaryFolder folder;
    path_ = folder / "t.db";
    make(hostile, path_);
    TargetLookup lookup = open();
    for (const std::int64_t size : {512, 384, 640, 1024}) {
      const std::int64_t sizes[] = {size, size, size};
      EXPECT_EQ(lookup.find(sizes).configuration, "BM=32");
      EXPECT_THAT(lookup.likely(sizes, 4), Not(Contains(db::kNoAnswer)));
    }
  }
  path_ = folder_ / "t.db";
}

TEST_F(TargetLookupTest, WhatFailedForTheVerySizesIsNotTransferredToThem) {
  const auto found = [&](std::int64_t size, const char* fingerprint = "f1") {
    TargetLookup lookup = open(fingerprint);
    return std::string(at(lookup, size).configuration);
  };
  tune(1024, "BM=64");
  fail(problem(512), "BM=64");
  EXPECT_EQ(found(640), "BM=64");
  EXPECT_EQ(found(512), "BM=16");
  fail(problem(512), "BM=16");
  EXPECT_EQ(found(512), "BM=32") << "the default failed, too";
  EXPECT_EQ(found(512, "f2"), "BM=64") << "another source may be right";
  fail(problem(512), "BM=32");
  fail(problem(512), "BM=128");
  EXPECT_REFUSAL(Error, found(512), "every configuration failed for M=512 N=512 K=512");
}

TEST_F(TargetLookupTest, NothingButAChoiceByBitsAnswersBetweenItsSizes) {
  const auto found = [&](std::int64_t m) {
    TargetLookup lookup = open();
    return std::string(at(lookup, m).configuration);
  };
  const std::string first = "cover of bits 0123, 2026-03-01",
                    then = "cover of bits 4567, 2026-03-02",
                    other = "cover of M=256..1024 within 5 %, 2026-03-03";
  tune(512, "BM=64");
  tune(2048, "BM=64");
  for (const std::int64_t m : {256, 1024}) pin(problem(m), "BM=128", other);
  EXPECT_EQ(found(512), "BM=64") << "other covers leave what is faster";
  for (const std::int64_t m : {128, 768}) pin(problem(m), "BM=16", first);
  EXPECT_EQ(found(512), "BM=16");
  for (const std::int64_t m : {256, 1024}) pin(problem(m), "BM=32", then);
  EXPECT_EQ(found(512), "BM=32");
  EXPECT_EQ(found(768), "BM=32") << "a pin of the choice before";
  EXPECT_EQ(found(128), "BM=16");
  EXPECT_EQ(found(2048), "BM=64") << "beyond it";
  EXPECT_THAT(thrown_by([&] { found(528); }),
              AllOf(HasSubstr("gemm for M=528 N=528 K=528: no configuration of the choice by bits"),
                    HasSubstr(then)))
      << "BM=16 is valid, and has other bits";
  pin(problem(512), "BM=128", "by hand");
  EXPECT_EQ(found(512), "BM=128");
}

TEST_F(TargetLookupTest, AnAlikeSettingAnswersWhereItsOwnDoesNot) {
  tune(512, "BM=64");
  pin(problem(1024), "BM=32");
  Target target = target_of();
  target.settings.front().alike = {"f32", "f64"};
  const std::int64_t sizes[] = {512, 512, 512};
  TargetLookup alike = open(target, {{"dtype", "f64"}});
  const LookupAnswer answer = alike.find(sizes);
  EXPECT_EQ(answer.configuration, "BM=64");
  EXPECT_EQ(answer.origin, Origin::exact);
  EXPECT_EQ(answer.validity, db::Validity::alike);
  EXPECT_TRUE(answer.is_open()) << "may be checked in the program";
  EXPECT_THAT(alike.explain(sizes), HasSubstr("with alike settings"));
  EXPECT_NE(at(alike, 1024).provenance, "pinned") << "a person chose it for f32";
  fail(problem(512, "dtype=f64"), "BM=64");
  TargetLookup failed = open(target, {{"dtype", "f64"}});
  EXPECT_NE(failed.find(sizes).configuration, "BM=64") << "it fails with its own setting";
  decide(problem(512, "dtype=f64"), "BM=128");
  TargetLookup own = open(target, {{"dtype", "f64"}}), f32 = open();
  EXPECT_EQ(own.find(sizes).configuration, "BM=128");
  EXPECT_EQ(own.find(sizes).validity, db::Validity::exact);
  EXPECT_EQ(f32.find(sizes).configuration, "BM=64");
}

TEST_F(TargetLookupTest, WhatIsPinnedForThePlainSettingsIsPinnedForThoseLikeThem) {
  Target target = target_of();
  target.settings.push_back({"epilogue", {"none", "relu", "gelu"}});
  target.settings.back().alike = {"none", "relu", "gelu"};
  const std::string none = "dtype=f32 epilogue=none", relu = "dtype=f32 epilogue=relu",
                    gelu = "dtype=f32 epilogue=gelu";
  const auto found = [&](const std::string& epilogue, std::int64_t m = 512) {
    TargetLookup lookup = open(target, {{"epilogue", epilogue}});
    return std::string(at(lookup, m).configuration);
  };
  decide(problem(512, relu), "BM=64");
  pin(problem(512, gelu), "BM=128");
  EXPECT_EQ(found("relu"), "BM=64") << "gelu is not plain";
  pin(problem(512, none), "BM=32");
  EXPECT_EQ(found("relu"), "BM=32") << "goes before what was measured";
  EXPECT_EQ(found("gelu"), "BM=128") << "has a pin of its own";
  for (const std::int64_t m : {512, 1024}) {
    pin(problem(m, none), "BM=16", "cover of bits 0123, 2026-03-01");
  }
  EXPECT_EQ(found("relu", 768), "BM=16") << "a choice by bits counts between its sizes, too";
}

TEST_F(TargetLookupTest, ATransferredAnswerSaysWhetherSourceOrDriverHaveChanged) {
  tune(512, "BM=64");
  TargetLookup same = open(), drifted = open("f2");
  EXPECT_EQ(at(same, 640).validity, db::Validity::exact);
  EXPECT_EQ(at(drifted, 640).origin, Origin::transferred);
  EXPECT_EQ(at(drifted, 640).validity, db::Validity::source_drifted);
  DeviceInfo updated = tuned_gpu();
  updated.environment = "driver 600.10, CUDA 13.2";
  TargetLookup lookup(target_of(), {}, updated, "l2=hot launch=graph", {{path_}});
  EXPECT_EQ(at(lookup, 640).validity, db::Validity::environment_drifted);
}

TEST_F(TargetLookupTest, AProblemOfManySizesIsFound) {
  Target target = target_of();
  target.name = "many";
  target.sizes.clear();
  std::vector<std::int64_t> sizes;
  std::string names, problem;
  for (int i = 0; i < 12; ++i) {
    const std::string name = i == 0 ? "M" : format("S{}", i);
    target.sizes.push_back(name);
    sizes.push_back(512 + i);
    names += (i > 0 ? " " : "") + name;
    problem += format("{}={} ", name, 512 + i);
  }
  {
    db::TunedStore store(path_);
    db::Sample sample(store);
    sample.key.kernel = store.add_kernel({"", "many", "f1", names});
    sample.key.problem = problem + "dtype=f32";
    store.add_decision(sample.decision("BM=64", 10000));
  }
  TargetLookup lookup(target, {}, tuned_gpu(), "l2=hot launch=graph", {{path_}});
  EXPECT_EQ(lookup.find(sizes).origin, Origin::exact);
  EXPECT_EQ(lookup.find(sizes).configuration, "BM=64");
  sizes.back() += 1;
  EXPECT_EQ(lookup.find(sizes).origin, Origin::transferred) << "the last size counts, too";
}

}  // namespace
}  // namespace autotune
