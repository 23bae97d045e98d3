// SPDX-License-Identifier: Apache-2.0
// Answers where free sizes are away from their defaults.
#include "tests/support/matchers.hpp"
#include "tests/tuner/answer/lookup_case.hpp"
#include "tuner/core/error.hpp"

namespace autotune {
namespace {

TEST_F(TargetLookupTest, FreeSizesAwayFromTheirDefaultsGetTheNextConfigurationThatIsValid) {
  tune(512, "BM=64");
  tune(1024, "BM=32");
  Target target = target_of();
  target.free_sizes = {{"lda", Expression::parse("K")}};
  target.defines = {{"lda", Expression::parse("K"), false}};
  target.constraints.push_back(Expression::parse("lda % BM == 0"));
  TargetLookup lookup(target, {}, tuned_gpu(), "l2=hot launch=graph", {{path_}});
  const auto find = [&](std::vector<std::int64_t> sizes) { return lookup.find(sizes); };
  EXPECT_EQ(find({512, 512, 512}).origin, Origin::exact);
  for (const std::int64_t lda : {-1, 512}) {
    EXPECT_EQ(find({512, 512, 512, lda}).origin, Origin::exact) << "the default";
    EXPECT_EQ(find({512, 512, 512, lda}).median_ns, 10000);
  }
  const LookupAnswer valid = find({512, 512, 512, 576});
  EXPECT_EQ(valid.configuration, "BM=64");
  EXPECT_EQ(valid.origin, Origin::transferred) << "measured at the default only";
  EXPECT_EQ(valid.distance, 0);
  EXPECT_EQ(find({512, 512, 512, 544}).configuration, "BM=32");
  EXPECT_EQ(find({512, 512, 512, 528}).configuration, "BM=16");
  EXPECT_THROW(find({512, 512, 512, 520}), Error) << "no configuration is valid";
  EXPECT_THROW(find({512, 512, 512, 511}), UsageError);
  EXPECT_EQ(lookup.problem_for(std::vector<std::int64_t>{512, 512, 512, 512}).free.size(), 0u);
  EXPECT_THAT(lookup.explain(std::vector<std::int64_t>{512, 512, 512, 576}), HasSubstr("lda=576"));
  lookup.pin(std::vector<std::int64_t>{512, 512, 512}, "BM=32");
  EXPECT_EQ(find({512, 512, 512, 576}).provenance, "pinned");
  EXPECT_EQ(find({512, 512, 512, 528}).configuration, "BM=16") << "the pin is not valid there";
}

TEST_F(TargetLookupTest, LinesThatAreLessAlignedThanThoseThatWereTimedAreTheLibrarysUnlessKnown) {
  decide(problem(512), "BM=64", {"cublas", "cublasSgemm", 20000, 19000, 21000, false});
  Target target = target_of();
  target.free_sizes = {{"lda", Expression::parse("K")}};
  target.defines = {{"lda", Expression::parse("K"), false}};
  bool reads_free_sizes = true;
  const auto libraries = [&](const std::string&, const Workload&, bool has_free_sizes) {
    return std::string(has_free_sizes && !reads_free_sizes ? "" : "cublas");
  };
  TargetLookup lookup(target, {}, tuned_gpu(), "l2=hot launch=graph", {{path_}}, libraries);
  const auto library = [&](std::int64_t lda) {
    return std::string(lookup.find(std::vector<std::int64_t>{512, 512, 512, lda}).baseline);
  };
  for (const std::int64_t lda : {512, 520, 1024}) EXPECT_EQ(library(lda), "") << lda;
  for (const std::int64_t lda : {513, 514, 516}) EXPECT_EQ(library(lda), "cublas") << lda;
  lookup.pin(std::vector<std::int64_t>{512, 512, 512}, "BM=32");
  EXPECT_EQ(library(513), "");
  reads_free_sizes = false;
  TargetLookup packed_only(target, {}, tuned_gpu(), "l2=hot launch=graph", {{path_}}, libraries);
  const LookupAnswer answer = packed_only.find(std::vector<std::int64_t>{512, 512, 512, 513});
  EXPECT_EQ(answer.baseline, "") << "a library that reads no free sizes computes another problem";
  EXPECT_FALSE(answer.is_open());
}

/// With a library that reads free sizes; the length of a line of A is one.
class AwayFromDefaults : public TargetLookupTest {
 protected:
  AwayFromDefaults() {
    target_.free_sizes = {{"lda", Expression::parse("K")}};
    target_.defines = {{"lda", Expression::parse("K"), false}};
  }
  /// Both were timed for 512, and the kernel alone for 1024.
  void tune(double library_ns) {
    decide(problem(512), "BM=64", {"cublas", "cublasLt 0", library_ns, {}, {}, library_ns < 10000});
    TargetLookupTest::tune(1024, "BM=64");
  }
  TargetLookup open() {
    return {target_,     {},
            tuned_gpu(), "l2=hot launch=graph",
            {{path_}},   [](const std::string&, const Workload&, bool) { return "cublas"; }};
  }
  static LookupAnswer at(TargetLookup& lookup, std::int64_t size, std::int64_t lda) {
    return lookup.find(std::vector<std::int64_t>{size, size, size, lda});
  }

  Target target_ = target_of();
};

TEST_F(AwayFromDefaults, TheLibraryAnswersWhereItDoesAtTheDefaultsAndLinesAreAsAligned) {
  tune(8000);
  TargetLookup lookup = open();
  const LookupAnswer away = at(lookup, 512, 520), packed = at(lookup, 512, -1);
  EXPECT_EQ(packed.baseline, "cublas cublasLt 0");
  EXPECT_EQ(away.baseline, "cublas") << "its candidates may be others";
  EXPECT_EQ(away.baseline_ns, 8000);
  EXPECT_EQ(away.origin, Origin::transferred);
  EXPECT_FALSE(away.is_open()) << "it counts as timed";
  EXPECT_THAT(lookup.explain(std::vector<std::int64_t>{512, 512, 512, 520}),
              AllOf(HasSubstr("good at these sizes with default free sizes; not timed with those"),
                    HasSubstr("cublas takes 8.000 us with default free sizes")));
}

TEST_F(AwayFromDefaults, IsOpenWhereTheDefaultsAreAndWhereLinesAreLessAligned) {
  tune(20000);
  TargetLookup lookup = open();
  EXPECT_FALSE(at(lookup, 512, 520).is_open());
  EXPECT_TRUE(at(lookup, 512, 513).is_open());
  EXPECT_TRUE(at(lookup, 1024, -1).is_open()) << "the library was not timed";
  EXPECT_TRUE(at(lookup, 1024, 1032).is_open());
  EXPECT_EQ(at(lookup, 1024, 1032).baseline, at(lookup, 1024, -1).baseline);
  EXPECT_TRUE(at(lookup, 640, 648).is_open());
}

TEST_F(AwayFromDefaults, WhatAProgramFoundIsTheAnswerForLinesThatAreAsAligned) {
  tune(20000);
  target_.constraints.push_back(Expression::parse("BM < 64 or lda != 525"));
  TargetLookup lookup = open();
  const auto keep = [&](std::int64_t lda, double kernel_ns, double library_ns) {
    db::DecisionRow row;
    row.configuration = "BM=64";
    row.provenance = "in use";
    row.median_ns = kernel_ns;
    row.baseline = {"cublas", "", library_ns, {}, {}, library_ns < kernel_ns};
    lookup.keep_found(std::vector<std::int64_t>{512, 512, 512, lda}, row);
  };
  keep(513, 11000, 30000);
  keep(514, 11000, 9000);
  for (const std::int64_t lda : {513, 515, 1023}) {
    const LookupAnswer answer = at(lookup, 512, lda);
    EXPECT_EQ(answer.baseline, "") << lda;
    EXPECT_EQ(answer.expected_ns, 11000) << lda;
    EXPECT_EQ(answer.provenance, "in use") << lda;
    EXPECT_FALSE(answer.is_open()) << lda;
  }
  EXPECT_EQ(at(lookup, 512, 518).baseline, "cublas");
  EXPECT_FALSE(at(lookup, 512, 518).is_open());
  EXPECT_TRUE(at(lookup, 512, 516).is_open()) << "lines of four were not timed";
  EXPECT_TRUE(at(lookup, 512, 525).is_open()) << "the configuration is not valid there";
  EXPECT_TRUE(at(lookup, 640, 641).is_open());
  EXPECT_EQ(at(lookup, 512, -1).origin, Origin::exact);
  EXPECT_EQ(at(lookup, 512, -1).median_ns, 10000);
}

}  // namespace
}  // namespace autotune
