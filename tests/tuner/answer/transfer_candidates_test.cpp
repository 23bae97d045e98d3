// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <functional>
#include <random>

#include "tests/support/how_often.hpp"
#include "tests/tuner/answer/shipped_gemm.hpp"
#include "tuner/answer/experience.hpp"
#include "tuner/answer/known_times.hpp"

namespace autotune {
namespace {

using Sizes = std::array<std::int64_t, 4>;

/// Log-uniform in 1..4096.
std::vector<Sizes> random_sizes(std::size_t count) {
  std::mt19937_64 random(20261124);
  std::uniform_real_distribution<double> log2_of_size(0, 12);
  std::vector<Sizes> all(count);
  for (Sizes& sizes : all) {
    for (std::int64_t& size : sizes) size = std::llround(std::exp2(log2_of_size(random)));
    sizes[3] = 1;  // batch
  }
  return all;
}

class TransferCandidatesTest : public ::testing::Test {
 protected:
  const ShippedGemm h200_{"NVIDIA H200"};
  const SizedTarget sized_ = h200_.sized();
};

double processor_ms() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

/// Compilers' checks would take most of the time.
constexpr bool is_optimized() {
#ifdef __OPTIMIZE__
  return !testing::kSanitized;
#else
  return false;
#endif
}

/// On any machine: 230 as it is, 800 when levels, errors and ideal times were found in each choice,
/// and expressions of all families were evaluated.
TEST_F(TransferCandidatesTest, AChoiceTakesNoLongerThan450ChecksOfAConfiguration) {
  if (!is_optimized()) GTEST_SKIP() << "this build is not optimized";
  const Experience experience = h200_.experience(h200_.times());
  const KnownTimes known(sized_, h200_.times());
  std::vector<const Levels*> all;
  for (const KnownProblem& one : known.problems()) {
    if (one.good.front().levels != nullptr) all.push_back(one.good.front().levels);
  }
  double choices = 0, checks = 0;
  std::size_t next = 0;
  int valid = 0;
  for (const Sizes& sizes : random_sizes(100)) {
    const double before = processor_ms();
    experience.choose(sizes);
    const double between = processor_ms();
    for (int i = 0; i < 450; ++i) {
      valid += is_valid(sized_.program, *all[next++ % all.size()], sizes) ? 1 : 0;
    }
    checks += processor_ms() - between;
    choices += between - before;
  }
  EXPECT_GT(valid, 0);
  std::printf("a choice takes as long as %.0f checks\n", 450 * choices / checks);
  EXPECT_LT(choices, checks);
}

db::PastProblem problem(std::int64_t m, std::int64_t n, const char* cover, std::size_t device = 0) {
  db::PastProblem made;
  made.sizes = {m, n};
  made.cover = cover;
  made.device = device;
  return made;
}

bool spans(const Covers& covers, const char* cover, std::int64_t m, std::int64_t n) {
  return covers.spans(cover, std::vector<std::int64_t>{m, n});
}

TEST(Covers, OneThatIsUnknownUnnamedOrOfAnotherDeviceSpansNothing) {
  db::PastTimes times;
  times.problems = {problem(64, 64, ""), problem(64, 64, "b", 1)};
  const Covers covers(times, {true, false});
  for (const char* name : {"", "a", "b"}) EXPECT_FALSE(spans(covers, name, 64, 64)) << name;
}

TEST(PrefersAlternative, OnlyWithALeadThatGrowsWithTheDistance) {
  EXPECT_FALSE(has_clear_lead(0, -0.04, 0)) << "never for nothing";
  EXPECT_TRUE(has_clear_lead(0, -0.06, 0));
  EXPECT_FALSE(has_clear_lead(0, -0.14, 1));
  EXPECT_TRUE(has_clear_lead(0, -0.16, 1));
  EXPECT_TRUE(has_clear_lead(0, -0.21, 20)) << "the doubt has an end";
  EXPECT_FALSE(has_clear_lead(0, 0.1, 0));
}

// Problems that are shipped, each in turn as if it were not tuned: what is expected of the choice
// there, over the least time that was measured.

struct Ratios {
  std::size_t count = 0;
  double mean = 0, least = 0;  // the mean is geometric
};

Ratios held_out(const std::function<bool(const db::PastProblem&)>& is_wanted) {
  const ShippedGemm h200("NVIDIA H200");
  const db::PastTimes all = h200.times();
  double logs = 0;
  Ratios ratios{0, 0, INFINITY};
  for (const db::PastProblem& one : all.problems) {
    if (!h200.is_here(all, one) || !is_wanted(one)) continue;
    db::PastTimes others = all;
    std::erase_if(others.problems,
                  [&](const db::PastProblem& other) { return other.sizes == one.sizes; });
    const auto choice = h200.experience(others).choose(std::span(one.sizes).first(4));
    if (!choice) continue;
    const double ratio = choice->expected_seconds * 1e9 / one.good.front().ns;
    logs += std::log(ratio);
    ratios.least = std::min(ratios.least, ratio);
    ++ratios.count;
  }
  ratios.mean = std::exp(logs / static_cast<double>(ratios.count));
  std::printf("%zu problems: mean %.2f, least %.2f\n", ratios.count, ratios.mean, ratios.least);
  return ratios;
}

/// Most of the time goes into stores there. A time that is expected too low is taken for a lead
/// over the vendor's library.
TEST(HeldOut, OfFewProductsAResultNoTimeIsExpectedFarTooLow) {
  const Ratios ratios = held_out([](const db::PastProblem& problem) {
    return problem.sizes[2] <= 24 && problem.sizes[0] * problem.sizes[1] >= 1 << 17;
  });
  EXPECT_GE(ratios.count, 30u);
  EXPECT_GT(ratios.mean, 0.95);
  EXPECT_LT(ratios.mean, 1.2);
  EXPECT_GT(ratios.least, 0.8);
}

TEST(HeldOut, TimesOfVectorsAreExpectedNearThoseMeasured) {
  const Ratios ratios = held_out([](const db::PastProblem& problem) {
    return problem.sizes[1] == 1 && problem.sizes[2] > 24;
  });
  EXPECT_GE(ratios.count, 14u);
  EXPECT_GT(ratios.mean, 0.95);
  EXPECT_LT(ratios.mean, 1.4);
}

}  // namespace
}  // namespace autotune
