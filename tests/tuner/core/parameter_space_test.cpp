// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/parameter_space.hpp"

#include <algorithm>
#include <numeric>
#include <random>

#include "tests/support/matchers.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

Parameter numbers(std::string name, std::vector<std::int64_t> values, std::string when = "") {
  Parameter parameter{std::move(name), {}, {}, false};
  for (const std::int64_t value : values) parameter.values.emplace_back(value);
  if (!when.empty()) parameter.when = Expression::parse(when);
  return parameter;
}

ParameterSpace space_of(std::vector<Parameter> parameters, std::vector<std::string> constraints,
                        const Scope& scope = {}, std::vector<DefineSpec> defines = {}) {
  std::vector<Expression> parsed;
  for (const std::string& text : constraints) parsed.push_back(Expression::parse(text));
  return ParameterSpace(std::move(parameters), parsed, scope, defines);
}

TEST(ParameterSpace, ThatIsEmptyNamesTheConstraintThatLeftNothing) {
  const std::vector<Parameter> two = {numbers("A", {1, 2}), numbers("B", {5, 6, 7})};
  Scope scope;
  scope.bind("N", 3);
  EXPECT_EQ(space_of(two, {"A > 0", "N % 2 == 0"}, scope).why_empty(),
            "\"N % 2 == 0\" is false for every configuration");
  EXPECT_EQ(space_of(two, {"A < 3", "B > 5", "B > 7"}).why_empty(),
            "\"B > 7\" excludes every remaining value of B");
  EXPECT_EQ(space_of(two, {"A + B > 5", "A * B > 14"}).why_empty(),
            "\"A * B > 14\" excludes all that the others allow");
  EXPECT_EQ(space_of(two, {"A * B > 13"}).why_empty(), "");
}

TEST(ParameterSpace, KeepsExactlyWhatABruteForceSearchKeeps) {
  Scope scope;
  scope.bind("M", 96);
  const std::vector<std::int64_t> values = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32};
  const ParameterSpace space =
      space_of({numbers("A", values), numbers("B", values), numbers("C", values)},
               {"A * B <= M", "C % B == 0 && M % C == 0", "A != 3"}, scope);
  std::vector<std::string> expected;
  for (const auto a : values) {
    for (const auto b : values) {
      for (const auto c : values) {
        if (a * b <= 96 && c % b == 0 && 96 % c == 0 && a != 3) {
          expected.push_back(to_text({{"A", a}, {"B", b}, {"C", c}}));
        }
      }
    }
  }
  std::vector<std::string> found;
  for (std::size_t i = 0; i < space.size(); ++i) found.push_back(to_text(space.at(i)));
  EXPECT_EQ(found, expected);
}

TEST(ParameterSpace, RanksStayWhenConstraintsChange) {
  const std::vector<Parameter> parameters = {numbers("A", {1, 2, 3}), numbers("B", {1, 2, 3})};
  const ParameterSpace all = space_of(parameters, {});
  const ParameterSpace some = space_of(parameters, {"A >= B"});
  for (std::size_t i = 0; i < some.size(); ++i) {
    const auto found = all.find(some.at(i));
    ASSERT_TRUE(found);
    EXPECT_EQ(all.rank(*found), some.rank(i));
  }
}

TEST(ParameterSpace, FindsWhatItHoldsAndNothingElse) {
  const ParameterSpace space = space_of({numbers("A", {1, 2}), numbers("B", {1, 2})}, {"A <= B"});
  for (std::size_t i = 0; i < space.size(); ++i) {
    EXPECT_EQ(space.find(space.at(i)), i);
    EXPECT_EQ(space.find(space.levels(i)), i);
  }
  EXPECT_EQ(space.find(Configuration{{"A", 2}, {"B", 1}}), std::nullopt);
  EXPECT_EQ(space.find(Configuration{{"A", 1}}), std::nullopt);
  EXPECT_EQ(space.find(Configuration{{"A", 1}, {"C", 1}}), std::nullopt);
  EXPECT_EQ(space.find(Configuration{{"A", 1}, {"B", 9}}), std::nullopt);
  EXPECT_EQ(space.find(Configuration{{"B", 2}, {"A", 1}}), 1u);
  EXPECT_EQ(space.find(Levels{0, 7}), std::nullopt);
}

TEST(ParameterSpace, AnInactiveParameterTakesItsFirstValueOnly) {
  Parameter mode{"MODE", {"plain", "tiled"}, {}, false};
  const ParameterSpace space =
      space_of({numbers("TILE", {4, 8, 16}, "MODE == 'tiled'"), mode}, {"TILE != 8"});
  ASSERT_EQ(space.size(), 3u);
  EXPECT_EQ(to_text(space.at(0)), "TILE=4 MODE=plain");
  EXPECT_EQ(to_text(space.at(1)), "TILE=4 MODE=tiled");
  EXPECT_EQ(to_text(space.at(2)), "TILE=16 MODE=tiled");
}

TEST(ParameterSpace, AConstraintOnAnInactiveFirstValueRulesItOut) {
  const ParameterSpace space =
      space_of({numbers("ON", {0, 1}), numbers("T", {1, 2}, "ON == 1")}, {"T != 1"});
  ASSERT_EQ(space.size(), 1u);
  EXPECT_EQ(to_text(space.at(0)), "ON=1 T=2");
}

TEST(ParameterSpace, DefinesMayBeNamedInConstraintsAndInEachOther) {
  Scope scope;
  scope.bind("device.max_threads", 64);
  const std::vector<DefineSpec> defines = {{"THREADS", Expression::parse("X * Y")},
                                           {"WARPS", Expression::parse("THREADS / 32")},
                                           {"UNUSED", Expression::parse("1 / 0")}};
  const ParameterSpace space =
      space_of({numbers("X", {8, 16, 32}), numbers("Y", {1, 4})},
               {"WARPS >= 1 && THREADS <= device.max_threads"}, scope, defines);
  ASSERT_EQ(space.size(), 3u);
  EXPECT_EQ(to_text(space.at(0)), "X=8 Y=4");
  EXPECT_EQ(to_text(space.at(1)), "X=16 Y=4");
  EXPECT_EQ(to_text(space.at(2)), "X=32 Y=1");
}

TEST(ParameterSpace, NoParametersMakeOneConfiguration) {
  const ParameterSpace space = space_of({}, {});
  EXPECT_EQ(space.size(), 1u);
  EXPECT_TRUE(space.at(0).empty());
}

TEST(ParameterSpace, ErrorsNameTheConstraintAndTheValues) {
  EXPECT_THAT(
      [] {
        space_of({numbers("A", {1, 0}), numbers("B", {4})}, {"1", "B % A == 0"});
      },
      ThrowsMessage<Error>(
          "constraints[1]: division by zero at column 3 of \"B % A == 0\" for B=4 A=0"));
  EXPECT_REFUSAL(Error, space_of({numbers("BM", {1})}, {"BN > 0"}),
                 "constraints[0]: there is no name BN");
  EXPECT_REFUSAL(Error, space_of({numbers("A", {1}), numbers("A", {1})}, {}),
                 "two parameters are called A");
  EXPECT_REFUSAL(Error, space_of({numbers("A", {})}, {}), "parameter A has no values");
  EXPECT_REFUSAL(Error, space_of({numbers("A", {1}, "B == 1"), numbers("B", {1}, "A == 1")}, {}),
                 "depends on itself");
  EXPECT_THAT(
      [] {
        std::vector<Parameter> parameters;
        for (int i = 0; i < 64; ++i) parameters.push_back(numbers(std::to_string(i), {1, 2}));
        space_of(parameters, {});
      },
      ThrowsMessage<Error>(HasSubstr("2^63")));
}

/// `count` of them with `values` values: P0, P1, …
std::vector<Parameter> many(int count, int values) {
  std::vector<std::int64_t> list;
  for (int i = 0; i < values; ++i) list.push_back(i);
  std::vector<Parameter> parameters;
  for (int i = 0; i < count; ++i) parameters.push_back(numbers(format("P{}", i), list));
  return parameters;
}

std::string sum_of(int count) {
  std::string sum = "P0";
  for (int i = 1; i < count; ++i) sum += format(" + P{}", i);
  return sum;
}

TEST(ParameterSpace, AWhenOverAllParametersBeforeItDoesNotDoubleTheWork) {
  std::vector<Parameter> parameters = many(62, 2);
  for (int i = 1; i < 62; ++i) parameters[i].when = Expression::parse(sum_of(i));
  EXPECT_EQ(space_of(parameters, {"P0 == 0", "P61 == 0"}).size(), 1u);
}

TEST(ParameterSpace, AConstraintThatOnlyRefusesABillionCombinationsIsRefused) {
  // Refusals count by the length of the text, so that the test need not go through millions.
  const std::string long_text = "0 == 1 +" + std::string(5000, ' ') + sum_of(9);
  EXPECT_REFUSAL(Error, space_of(many(9, 10), {long_text}),
                 "constraints[0]: more than 50000000 combinations are refused one by one");
}

TEST(ParameterSpace, MoreParametersOrConstraintsThanAnybodyWritesAreRefused) {
  EXPECT_REFUSAL(Error, space_of(many(257, 1), {}), "there are 257 parameters, the most are 256");
  EXPECT_REFUSAL(Error, space_of({}, std::vector<std::string>(2001, "1")),
                 "there are 2001 constraints, the most are 2000");
}

TEST(ParameterSpace, AProductOfABillionIsBuiltWithoutVisitingIt) {
  std::vector<std::int64_t> values;
  for (std::int64_t i = 1; i <= 32; ++i) values.push_back(i);
  std::vector<Parameter> parameters;
  for (const char* name : {"A", "B", "C", "D", "E", "F"}) {
    parameters.push_back(numbers(name, values));
  }
  const ParameterSpace space =
      space_of(parameters, {"E == F", "C * D == 32", "A == B", "A % 4 == 0"});
  EXPECT_EQ(space.product(), 1u << 30);
  EXPECT_EQ(space.size(), 8u * 6 * 32);
}

/// Families a (A is 1, 2 or 3), b (A is 2 or 4; B is 5 or 6) and c (neither).
struct Families {
  Parameter family{"FAMILY", {"a", "b", "c"}, {}, false};
  Parameter a = numbers("A", {1, 2, 3, 4}, "FAMILY != 'c'");
  Parameter b = numbers("B", {5, 6}, "FAMILY == 'b'");

  Families() {
    a.family_levels = {{0, 1, 2}, {1, 3}, {}};
    b.family_levels = {{}, {0, 1}, {}};
  }
  ParameterSpace space() const {
    const Expression constraints[] = {Expression::parse("FAMILY != 'a' or A in [1, 2, 3]"),
                                      Expression::parse("FAMILY != 'b' or A in [2, 4]")};
    return ParameterSpace({family, a, b}, constraints, {}, {}, 0);
  }
};

TEST(ParameterSpace, AFamilyIsNumberedByItsOwnParametersAndValues) {
  const ParameterSpace space = Families().space();
  EXPECT_EQ(space.product(), 3u + 2u * 2u + 1u);
  std::vector<std::string> all;
  for (std::size_t i = 0; i < space.size(); ++i) {
    all.push_back(format("{}: {}", space.rank(i), to_text(space.at(i))));
    EXPECT_EQ(space.find(space.levels(i)), i);
    EXPECT_EQ(space.find(space.at(i)), i);
  }
  EXPECT_THAT(
      all, testing::ElementsAre("0: FAMILY=a A=1 B=5", "1: FAMILY=a A=2 B=5", "2: FAMILY=a A=3 B=5",
                                "0: FAMILY=b A=2 B=5", "1: FAMILY=b A=2 B=6", "2: FAMILY=b A=4 B=5",
                                "3: FAMILY=b A=4 B=6", "0: FAMILY=c A=1 B=5"));
}

TEST(ParameterSpace, AFamilyHasNoOtherLevelsThanItsOwn) {
  const ParameterSpace space = Families().space();
  EXPECT_EQ(space.find(Levels{0, 3, 0}), std::nullopt) << "A=4 is of the family b";
  EXPECT_EQ(space.find(Levels{0, 0, 1}), std::nullopt) << "a has no B";
  EXPECT_EQ(space.find(Levels{1, 0, 0}), std::nullopt) << "A=1 is of the family a";
  EXPECT_EQ(space.find(Levels{2, 1, 0}), std::nullopt) << "c has no A";
  EXPECT_EQ(space.find(Levels{3, 0, 0}), std::nullopt) << "there is no such family";
}

/// Three families with random values of four parameters, which each family may lack.
std::vector<Parameter> random_families(std::mt19937& random) {
  std::vector<Parameter> parameters = {{"FAMILY", {"a", "b", "c"}, {}, false}};
  for (const char* const name : {"A", "B", "C", "D"}) {
    std::string when = "0";
    std::vector<std::vector<std::uint16_t>> levels(3);
    for (std::size_t family = 0; family < 3; ++family) {
      for (std::uint16_t level = 0; level < 4; ++level) {
        if (random() % 2 == 0) levels[family].push_back(level);
      }
      if (levels[family].empty()) continue;
      when += format(" or FAMILY == '{}'", parameters[0].values[family].word());
    }
    parameters.push_back(numbers(name, {1, 2, 3, 4}, when));
    parameters.back().family_levels = std::move(levels);
  }
  return parameters;
}

TEST(ParameterSpace, FamiliesKeepExactlyWhatABruteForceSearchKeeps) {
  std::mt19937 random(7);
  const Expression constraint = Expression::parse("(A + B) % 2 == 0 or C < D or FAMILY == 'c'");
  for (int run = 0; run < 50; ++run) {
    const std::vector<Parameter> parameters = random_families(random);
    const Ranking ranking(parameters, 0);
    const ParameterSpace space(parameters, {&constraint, 1}, {}, {}, 0);
    std::size_t found = 0;
    for (std::uint16_t each = 0; each < 3 * 256; ++each) {
      Levels levels = {static_cast<std::uint16_t>(each / 256)};
      bool is_own = true;  // of the family
      for (std::size_t i = 1; i < 5; ++i) {
        levels.push_back(static_cast<std::uint16_t>(each >> 2 * (i - 1) & 3));
        const auto& own = parameters[i].family_levels[levels[0]];
        is_own = is_own && (own.empty() ? levels[i] == 0 : std::ranges::count(own, levels[i]) == 1);
      }
      const bool is_valid =
          is_own && ((levels[1] + levels[2]) % 2 == 0 || levels[3] < levels[4] || levels[0] == 2);
      const auto rank = ranking.rank(levels);
      ASSERT_EQ(rank.has_value(), is_own) << "run " << run << ", " << each;
      if (rank) ASSERT_EQ(ranking.levels(levels[0], *rank), levels);
      const auto index = space.find(levels);
      ASSERT_EQ(index.has_value(), is_valid) << "run " << run << ", " << each;
      if (index) ASSERT_EQ(space.levels(*index), levels);
      found += is_valid;
    }
    ASSERT_EQ(space.size(), found);
  }
}

TEST(ParameterSpace, ParametersOfOtherFamiliesDoNotCountTowardsTheMost) {
  std::vector<std::int64_t> values(64);
  std::iota(values.begin(), values.end(), 0);
  const auto parameters_of = [&](int each) {  // 64^each combinations in each of three families
    std::vector<Parameter> parameters = {{"FAMILY", {"a", "b", "c"}, {}, false}};
    for (std::size_t family = 0; family < 3; ++family) {
      for (int i = 0; i < each; ++i) {
        const std::string word = parameters[0].values[family].word();
        parameters.push_back(
            numbers(format("{}{}", word, i), values, format("FAMILY == '{}'", word)));
        parameters.back().family_levels.resize(3);
        for (std::uint16_t k = 0; k < 64; ++k) parameters.back().family_levels[family].push_back(k);
      }
    }
    return parameters;
  };
  std::vector<Expression> constraints;
  for (const char* const family : {"a", "b", "c"}) {
    for (int i = 0; i < 10; ++i)
      constraints.push_back(Expression::parse(format("{}{} % 63 == 0", family, i)));
  }
  const ParameterSpace space(parameters_of(10), constraints, {}, {}, 0);
  EXPECT_EQ(space.size(), 3u * 1024u);  // 2 values of each parameter
  EXPECT_EQ(space.product(), std::uint64_t{3} << 60);
  for (const std::size_t index : {0u, 1023u, 1024u, 3071u}) {
    EXPECT_EQ(space.find(space.at(index)), index);
  }
  EXPECT_EQ(to_text(space.at(3071)).substr(0, 12), "FAMILY=c a0=");
  EXPECT_REFUSAL(Error, ParameterSpace(parameters_of(11), constraints, {}, {}, 0),
                 "the parameters of a have more than 2^63");
}

}  // namespace
}  // namespace autotune
