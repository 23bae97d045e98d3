// SPDX-License-Identifier: Apache-2.0
#include "tuner/answer/covers.hpp"

#include <gtest/gtest.h>

namespace autotune {
namespace {

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

TEST(Covers, SpanTheBoxAroundTheirProblems) {
  db::PastTimes times;
  times.problems = {problem(64, 512, "a"), problem(256, 128, "a"), problem(1000, 1000, "")};
  const Covers covers(times, {true});
  EXPECT_TRUE(spans(covers, "a", 64, 128)) << "a corner where no problem is";
  EXPECT_TRUE(spans(covers, "a", 256, 512));
  EXPECT_FALSE(spans(covers, "a", 63, 128));
  EXPECT_FALSE(spans(covers, "a", 100, 513));
}

TEST(Covers, OneThatIsUnknownUnnamedOrOfAnotherDeviceSpansNothing) {
  db::PastTimes times;
  times.problems = {problem(64, 64, ""), problem(64, 64, "b", 1)};
  const Covers covers(times, {true, false});
  for (const char* name : {"", "a", "b"}) EXPECT_FALSE(spans(covers, name, 64, 64)) << name;
}

}  // namespace
}  // namespace autotune
