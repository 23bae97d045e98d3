// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/problem.hpp"

#include <gmock/gmock.h>

#include "tuner/core/error.hpp"

namespace autotune {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

const std::vector<std::string> kGemm = {"M", "N", "K"};

std::vector<std::string> sizes(std::string_view text,
                               const std::vector<std::string>& names = {"N"}) {
  std::vector<std::string> texts;
  for (const NamedValues& each : parse_sizes(text, names)) texts.push_back(to_text(each));
  return texts;
}

void expect_error(std::string_view text, std::string_view what) {
  EXPECT_THAT([&] { parse_sizes(text, kGemm); },
              ThrowsMessage<UsageError>(HasSubstr(std::string(what))))
      << text;
}

TEST(Sizes, OneNumberIsEverySize) {
  EXPECT_THAT(sizes("512", kGemm), ElementsAre("M=512 N=512 K=512"));
}

TEST(Sizes, ARangeHasTheMultiplesOfItsFirst) {
  EXPECT_THAT(sizes("128..1024"),
              ElementsAre("N=128", "N=256", "N=384", "N=512", "N=640", "N=768", "N=896", "N=1024"));
  EXPECT_THAT(sizes("100..350"), ElementsAre("N=100", "N=200", "N=300"));
  EXPECT_THAT(sizes("7..7"), ElementsAre("N=7"));
}

TEST(Sizes, ARangeMayHaveAStepOrAFactor) {
  EXPECT_THAT(sizes("128..256:64"), ElementsAre("N=128", "N=192", "N=256"));
  EXPECT_THAT(sizes("128..1024*2"), ElementsAre("N=128", "N=256", "N=512", "N=1024"));
  EXPECT_THAT(sizes("1073741824..2147483647*2"), ElementsAre("N=1073741824"));
}

TEST(Sizes, SizesMayDifferByOrderOrByName) {
  EXPECT_THAT(sizes("1037x1031x1055", kGemm), ElementsAre("M=1037 N=1031 K=1055"));
  EXPECT_THAT(sizes("K=3,M=1,N=2", kGemm), ElementsAre("M=1 N=2 K=3"));
  EXPECT_THAT(sizes("M=1,N=2,K=3,M=4,N=5,K=6", kGemm), ElementsAre("M=1 N=2 K=3", "M=4 N=5 K=6"));
  EXPECT_THAT(sizes("8,M=1,N=2,K=3,9", kGemm),
              ElementsAre("M=8 N=8 K=8", "M=1 N=2 K=3", "M=9 N=9 K=9"));
}

TEST(Sizes, NamedRangesGiveEveryCombination) {
  EXPECT_THAT(sizes("M=1..4*2,N=9,K=8", kGemm),
              ElementsAre("M=1 N=9 K=8", "M=2 N=9 K=8", "M=4 N=9 K=8"));
  EXPECT_THAT(sizes("K=1..2,M=128..256:128,N=5", kGemm),
              ElementsAre("M=128 N=5 K=1", "M=128 N=5 K=2", "M=256 N=5 K=1", "M=256 N=5 K=2"));
  EXPECT_THAT(
      sizes("3,M=1..2,N=1,K=1,M=2..3:1,N=1,K=1,4x5x6", kGemm),
      ElementsAre("M=3 N=3 K=3", "M=1 N=1 K=1", "M=2 N=1 K=1", "M=3 N=1 K=1", "M=4 N=5 K=6"));
  EXPECT_EQ(sizes("M=1..4096*2,N=4096,K=4096", kGemm).size(), 13u);
  EXPECT_EQ(sizes("M=1..64,N=512,K=512", kGemm).size(), 64u);
}

TEST(Sizes, DuplicatesAreDroppedAndSpacesDoNotMatter) {
  EXPECT_THAT(sizes(" 256 , 128..256 "), ElementsAre("N=256", "N=128"));
}

TEST(Sizes, WrongOnesAreQuotedWithWhatIsWrong) {
  expect_error("", "\"\" is empty");
  expect_error("512,,1", "has an empty item");
  expect_error("abc", "\"abc\" has \"abc\" where a number belongs");
  expect_error("12.5", "where a number belongs");
  expect_error("0", "\"0\" has 0 (sizes, steps and factors are 1 or more)");
  expect_error("-4", "has -4");
  expect_error("2147483648", "is too large");
  expect_error("99999999999999999999", "is too large");
  expect_error("1x2", "gives 2 sizes (the target has 3: M x N x K)");
  expect_error("1x2x", "lacks a number");
  expect_error("1024..128", "goes down (write 128..1024)");
  expect_error("128..", "lacks a number");
  expect_error("1..9:0", "has 0");
  expect_error("1..9*1", "factor below 2");
  expect_error("M=1,N=2", "\"M=1,N=2\" gives no K");
  expect_error("M=1..8*2,N=2", "\"M=1..8*2,N=2\" gives no K (give each of M, N, K)");
  expect_error("M=1,M=2,N=3,K=4", "\"M=2\" gives M again before N (give each of M, N, K once)");
  expect_error("M=8..1,N=3,K=4", "\"M=8..1\" goes down (write 1..8)");
  expect_error("M=1..8*1,N=3,K=4", "\"M=1..8*1\" has a factor below 2");
  expect_error("M=1..8:0,N=3,K=4", "\"M=1..8:0\" has 0");
  expect_error("M=1..101,N=1..100,K=1", "more than 10000 problems");
  expect_error("M=1,Q=2", "names a size \"Q\"");
  expect_error("1..2000000", "more than 10000 problems");
}

TEST(Sizes, TheLastMayBeLeftOut) {
  const std::vector<std::string> names = {"M", "N", "batch"};
  const auto with_default = [&](std::string_view text) {
    std::vector<std::string> texts;
    for (const NamedValues& each : parse_sizes(text, names, "--sizes", 2)) {
      texts.push_back(to_text(each));
    }
    return texts;
  };
  EXPECT_THAT(with_default("512"), ElementsAre("M=512 N=512"));
  EXPECT_THAT(with_default("4x5,4x5x6"), ElementsAre("M=4 N=5", "M=4 N=5 batch=6"));
  EXPECT_THAT(with_default("M=1,N=2,M=3,N=4,batch=1..2"),
              ElementsAre("M=1 N=2", "M=3 N=4 batch=1", "M=3 N=4 batch=2"));
  const auto error = [&](std::string_view text, const char* what) {
    EXPECT_THAT([&] { with_default(text); }, ThrowsMessage<UsageError>(HasSubstr(what)));
  };
  error("1x2x3x4", "gives 4 sizes (the target has 2 to 3: M x N x batch)");
  error("M=1,batch=2", "gives no N (give each of M, N)");
  error("M=1,batch=2,M=3,N=1", "gives M again before N");
}

}  // namespace
}  // namespace autotune
