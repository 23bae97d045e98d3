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

TEST_F(TargetLookupTest, TunedSizesAreAnsweredExactly) {
  tune(512, "BM=64");
  TargetLookup lookup = open();
  const std::int64_t sizes[] = {512, 512, 512};
  const LookupAnswer answer = lookup.find(sizes);
  EXPECT_EQ(answer.configuration, "BM=64");
  EXPECT_EQ(answer.origin, Origin::exact);
  EXPECT_EQ(answer.provenance, "measured");
  EXPECT_EQ(answer.median_ns, 10000);
  EXPECT_THAT(lookup.explain(sizes), HasSubstr("tuned for these sizes, measured"));
}

TEST_F(TargetLookupTest, TheLeaderOfAnUnfinishedRunIsNoExactAnswer) {
  const std::int64_t sizes[] = {512, 512, 512};
  db::TunedStore store(path_);
  db::Sample sample(store);
  sample.key.problem = "M=512 N=512 K=512 dtype=f32";
  store.append(std::vector{sample.trial("BM=64", 10000)});
  EXPECT_FALSE(store.best(sample.key)->decided);
  {
    TargetLookup lookup = open();
    const LookupAnswer answer = lookup.find(sizes);
    EXPECT_EQ(answer.configuration, "BM=64") << "it is known";
    EXPECT_NE(answer.origin, Origin::exact) << "and was compared with nothing";
  }
  store.add_decision(sample.decision("BM=64", 10000, db::now_text()));
  EXPECT_EQ(open().find(sizes).origin, Origin::exact);
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
  const std::int64_t near_1024[] = {896, 896, 896}, odd[] = {992, 992, 992};
  EXPECT_EQ(lookup.find(near_1024).configuration, "BM=128");
  EXPECT_EQ(lookup.find(near_1024).origin, Origin::transferred);
  EXPECT_NEAR(lookup.find(near_1024).distance, 0.1926, 1e-4);  // log2(1024 / 896)
  // 992 = 31 * 32: neither 128 nor 64 divides it.
  EXPECT_EQ(lookup.find(odd).configuration, "BM=16");
  EXPECT_EQ(lookup.find(odd).origin, Origin::transferred) << "the default's time there is known";
}

TEST_F(TargetLookupTest, AnotherDeviceOfTheArchitectureComesBeforeTheDefault) {
  tune(512, "BM=64", "NVIDIA H100");
  TargetLookup lookup = open();
  const std::int64_t sizes[] = {512, 512, 512};
  EXPECT_EQ(lookup.find(sizes).configuration, "BM=64");
  EXPECT_EQ(lookup.find(sizes).origin, Origin::same_architecture);
}

TEST_F(TargetLookupTest, ARowOfAChangedSourceIsUsedOnlyWhereItIsStillValid) {
  tune(512, "BM=64");
  const std::int64_t sizes[] = {512, 512, 512};
  EXPECT_EQ(open("f2").find(sizes).configuration, "BM=64");
  EXPECT_EQ(open("f2").find(sizes).validity, db::Validity::source_drifted);
  tune(512, "BM=256");  // no longer a value
  EXPECT_EQ(open("f2").find(sizes).configuration, "BM=16");
}

TEST_F(TargetLookupTest, HostileConfigurationsNeverReachACompiler) {
  for (const char* text : {"BM=64 X=1", "BM=sixty", "", "BM=", "BM=64;rm", "X=64", "BM=0"}) {
    tune(512, text);
    const std::int64_t sizes[] = {640, 640, 640};
    EXPECT_EQ(open().find(sizes).configuration, "BM=16") << text;
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
  {
    db::TunedStore store(path_);
    const db::Sample sample(store);
    store.add_decision(sample.lost_decision("BM=64", 10000));
  }
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
  const std::int64_t sizes[] = {512, 512, 512}, other[] = {544, 544, 544};
  for (const char* provenance : {"measured", "imported"}) {
    for (const char* text : {"BM=banana", "BM=24", "BM=64 X=1"}) {
      const db::TemporaryFolder folder;
      path_ = folder / "t.db";
      tune(544, "BM=32");
      tune(512, text, "", provenance);
      TargetLookup lookup = open();
      EXPECT_EQ(lookup.find(sizes).configuration, "BM=32") << text;
      EXPECT_EQ(lookup.find(sizes).origin, Origin::transferred) << text;
      EXPECT_THAT(lookup.warnings(), AllOf(HasSubstr("t.db: 1 of its answers for gemm"),
                                           HasSubstr(text), HasSubstr("M=512 N=512 K=512")));
    }
  }
  path_ = folder_ / "t.db";
  tune(544, "BM=128");  // is a value, but does not divide 544
  EXPECT_EQ(open().find(other).configuration, "BM=16");
}

TEST_F(TargetLookupTest, ARowThatIsNotValidHidesNoneBelowIt) {
  const std::filesystem::path site = folder_ / "site.db";
  tune(512, "BM=65");
  tune_in(site, 512, "BM=64");
  TargetLookup lookup(target_of(), {}, tuned_gpu(), "l2=hot launch=graph", {{path_}, {site}});
  const std::int64_t sizes[] = {512, 512, 512};
  EXPECT_EQ(lookup.find(sizes).configuration, "BM=64");
  EXPECT_EQ(lookup.find(sizes).origin, Origin::exact);
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
  tune(1024, "BM=64");
  const auto fail = [&](const std::string& configuration) {
    db::TunedStore store(path_);
    const db::Sample sample(store);
    const db::TrialRow failure = sample.failure(configuration, "wrong");
    store.append({&failure, 1});
  };
  const std::int64_t sizes[] = {512, 512, 512}, other[] = {640, 640, 640};
  fail("BM=64");
  EXPECT_EQ(open().find(other).configuration, "BM=64");
  EXPECT_EQ(open().find(sizes).configuration, "BM=16");
  fail("BM=16");
  EXPECT_EQ(open().find(sizes).configuration, "BM=32") << "the default failed, too";
  EXPECT_EQ(open("f2").find(sizes).configuration, "BM=64") << "another source may be right";
  fail("BM=32");
  fail("BM=128");
  TargetLookup lookup = open();
  EXPECT_REFUSAL(Error, lookup.find(sizes), "every configuration failed for M=512 N=512 K=512");
}

TEST_F(TargetLookupTest, NothingButAChoiceByBitsAnswersBetweenItsSizes) {
  int minute = 2;
  const auto pin = [&](std::int64_t m, const std::string& configuration, const std::string& note) {
    db::TunedStore store(path_);
    db::Sample sample(store);
    sample.key.problem = format("M={0} N={0} K={0} dtype=f32", m);
    store.pin(
        {"", sample.key, configuration, note, format("2026-03-01T12:{:02}:00.000Z", minute++)});
  };
  const auto found = [&](std::int64_t m) {
    return std::string(open().find(std::vector<std::int64_t>{m, m, m}).configuration);
  };
  const std::string first = "cover of bits 0123, 2026-03-01",
                    then = "cover of bits 4567, 2026-03-02";
  tune(512, "BM=64");
  tune(2048, "BM=64");
  pin(256, "BM=128", "cover of M=256..1024 within 5 %, 2026-03-03");
  pin(1024, "BM=128", "cover of M=256..1024 within 5 %, 2026-03-03");
  EXPECT_EQ(found(512), "BM=64") << "other covers leave what is faster";
  pin(128, "BM=16", first);
  pin(768, "BM=16", first);
  EXPECT_EQ(found(512), "BM=16");
  pin(256, "BM=32", then);
  pin(1024, "BM=32", then);
  EXPECT_EQ(found(512), "BM=32");
  EXPECT_EQ(found(768), "BM=32") << "a pin of the choice before";
  EXPECT_EQ(found(128), "BM=16");
  EXPECT_EQ(found(2048), "BM=64") << "beyond it";
  EXPECT_THAT([&] { found(528); },
              ThrowsMessage<Error>(AllOf(
                  HasSubstr("gemm for M=528 N=528 K=528: no configuration of the choice by bits"),
                  HasSubstr(then))))
      << "BM=16 is valid, and has other bits";
  pin(512, "BM=128", "by hand");
  EXPECT_EQ(found(512), "BM=128");
}

TEST_F(TargetLookupTest, AnAlikeSettingAnswersWhereItsOwnDoesNot) {
  tune(512, "BM=64");
  {
    db::TunedStore store(path_);
    db::Sample sample(store);
    sample.key.problem = "M=1024 N=1024 K=1024 dtype=f32";
    store.pin({"", sample.key, "BM=32", "", "2026-03-01T12:02:00.000Z"});
  }
  Target target = target_of();
  target.settings.front().alike = {"f32", "f64"};
  const auto open_f64 = [&] {
    return TargetLookup(target, {{"dtype", "f64"}}, tuned_gpu(), "l2=hot launch=graph", {{path_}});
  };
  const std::int64_t sizes[] = {512, 512, 512}, of_pin[] = {1024, 1024, 1024};
  {
    TargetLookup lookup = open_f64();
    const LookupAnswer answer = lookup.find(sizes);
    EXPECT_EQ(answer.configuration, "BM=64");
    EXPECT_EQ(answer.origin, Origin::exact);
    EXPECT_EQ(answer.validity, db::Validity::alike);
    EXPECT_TRUE(answer.is_open()) << "may be checked in the program";
    EXPECT_THAT(lookup.explain(sizes), HasSubstr("with alike settings"));
    EXPECT_NE(lookup.find(of_pin).provenance, "pinned") << "a person chose it for f32";
  }
  {
    db::TunedStore store(path_);
    db::Sample sample(store);
    sample.key.problem = "M=512 N=512 K=512 dtype=f64";
    const db::TrialRow failure = sample.failure("BM=64", "wrong");
    store.append({&failure, 1});
  }
  EXPECT_NE(open_f64().find(sizes).configuration, "BM=64") << "it fails with its own setting";
  {
    db::TunedStore store(path_);
    db::Sample sample(store);
    sample.key.problem = "M=512 N=512 K=512 dtype=f64";
    store.add_decision(sample.decision("BM=128", 20000, db::now_text()));
  }
  EXPECT_EQ(open_f64().find(sizes).configuration, "BM=128");
  EXPECT_EQ(open_f64().find(sizes).validity, db::Validity::exact);
  EXPECT_EQ(open().find(sizes).configuration, "BM=64");
}

TEST_F(TargetLookupTest, WhatIsPinnedForThePlainSettingsIsPinnedForThoseLikeThem) {
  Target target = target_of();
  target.settings.push_back({"epilogue", {"none", "relu", "gelu"}});
  target.settings.back().alike = {"none", "relu", "gelu"};
  int minute = 2;
  const auto pin = [&](std::int64_t m, const std::string& epilogue,
                       const std::string& configuration, const std::string& note = "") {
    db::TunedStore store(path_);
    db::Sample sample(store);
    sample.key.problem = format("M={0} N={0} K={0} dtype=f32 epilogue={1}", m, epilogue);
    store.pin(
        {"", sample.key, configuration, note, format("2026-03-01T12:{:02}:00.000Z", minute++)});
  };
  const auto found = [&](const std::string& epilogue, std::int64_t m = 512) {
    TargetLookup lookup(target, {{"epilogue", epilogue}}, tuned_gpu(), "l2=hot launch=graph",
                        {{path_}});
    return std::string(lookup.find(std::vector<std::int64_t>{m, m, m}).configuration);
  };
  {
    db::TunedStore store(path_);
    db::Sample sample(store);
    sample.key.problem = "M=512 N=512 K=512 dtype=f32 epilogue=relu";
    store.add_decision(sample.decision("BM=64", 10000, db::now_text()));
  }
  pin(512, "gelu", "BM=128");
  EXPECT_EQ(found("relu"), "BM=64") << "gelu is not plain";
  pin(512, "none", "BM=32");
  EXPECT_EQ(found("relu"), "BM=32") << "goes before what was measured";
  EXPECT_EQ(found("gelu"), "BM=128") << "has a pin of its own";
  pin(512, "none", "BM=16", "cover of bits 0123, 2026-03-01");
  pin(1024, "none", "BM=16", "cover of bits 0123, 2026-03-01");
  EXPECT_EQ(found("relu", 768), "BM=16") << "a choice by bits counts between its sizes, too";
}

TEST_F(TargetLookupTest, ATransferredAnswerSaysWhetherSourceOrDriverHaveChanged) {
  tune(512, "BM=64");
  const std::int64_t near[] = {640, 640, 640};
  EXPECT_EQ(open().find(near).validity, db::Validity::exact);
  EXPECT_EQ(open("f2").find(near).origin, Origin::transferred);
  EXPECT_EQ(open("f2").find(near).validity, db::Validity::source_drifted);
  DeviceInfo updated = tuned_gpu();
  updated.environment = "driver 600.10, CUDA 13.2";
  TargetLookup lookup(target_of(), {}, updated, "l2=hot launch=graph", {{path_}});
  EXPECT_EQ(lookup.find(near).validity, db::Validity::environment_drifted);
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
