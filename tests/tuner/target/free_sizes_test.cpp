// SPDX-License-Identifier: Apache-2.0
// Sizes outside of the key: their defaults, the arguments that they stride, and rules of a problem.
#include "tests/tuner/target/one_manifest.hpp"
#include "tuner/core/edge_problem.hpp"
#include "tuner/core/sized_validity.hpp"
#include "tuner/core/target_program.hpp"

namespace autotune {
namespace {

constexpr const char* kWithFreeSizes = R"toml(manifest = 2
name = "scale"
source = "scale.cu"
sizes.rows = {}
sizes.columns = {}
free.ldx = { default = "line", least = "line" }
free.ldy = { default = "ldx" }
settings.dtype = ["f32", "f64"]
settings.shifted = ["no", "yes"]
requires = [{ rule = "rows != 13", message = "13 rows bring bad luck" }, "ldy <= 100000"]
let = "line = columns; packed = ldx == line and ldy == line"
defines = "STRIDED = not packed"
parameters.VECTOR = [1, 2, 4]
default = { VECTOR = 4 }
constraints = "gcd(line, ldx, ldy) % VECTOR == 0; x_aligned >= VECTOR * dtype_bytes"
arguments.x = { type = "dtype", dims = ["line", "rows"], strides = ["ldx"], aligned = 16 }
arguments.shift = { type = "dtype", length = "line", when = "shifted == 'yes'" }
arguments.y = { type = "dtype", dims = ["line", "rows"], strides = ["ldy"], role = "output" }
launch.arguments = ["x", "shift", "y", "rows", "line", { when = "STRIDED", pass = ["ldx", "ldy"] }]
kernels.scale = { grid = "rows", block = "line / VECTOR" }
reference.kernels.plain = { grid = "rows", block = 1 }
)toml";

class FreeSizes : public OneManifest {
 protected:
  FreeSizes() : OneManifest("scale", kWithFreeSizes, "int strided = STRIDED;\n") {}
  static Problem problem(NamedValues free = {}, std::int64_t rows = 3, std::int64_t columns = 8) {
    return {{{"rows", rows}, {"columns", columns}, {"dtype", "f32"}, {"shifted", "no"}},
            std::move(free)};
  }
  static Configuration vectors_of(int length) { return {{"VECTOR", length}}; }
  std::vector<Argument> arguments(const Problem& at) const {
    return launch_plan(read(), at, vectors_of(1), {}).launches.at(0).arguments;
  }
};

TEST_F(FreeSizes, AreNotPartOfTheKey) {
  const Target target = read();
  EXPECT_THAT(size_names(target), ElementsAre("rows", "columns", "ldx", "ldy", "x_aligned"));
  EXPECT_EQ(problem({{"ldx", 12}}).text(), problem().text());
  EXPECT_EQ(problem_text(target, problem({{"ldx", 12}})), "rows=3 columns=8 ldx=12");
  EXPECT_EQ(workload_of(target, problem({{"ldx", 12}}), {}).problem,
            "rows=3 columns=8 dtype=f32 shifted=no ldx=12");
}

TEST_F(FreeSizes, HaveDefaultsThatFollowEachOther) {
  const Target target = read();
  EXPECT_THAT(TargetProgram(target, problem(), {}).free_values(), ElementsAre(8, 8, 16));
  EXPECT_THAT(TargetProgram(target, problem({{"ldx", 12}}), {}).free_values(),
              ElementsAre(12, 12, 16));
  EXPECT_THAT(TargetProgram(target, problem({{"ldy", 9}}), {}).free_values(),
              ElementsAre(8, 9, 16));
}

TEST_F(FreeSizes, ReachValiditySourceAndArguments) {
  const Target target = read();
  const Problem strided = problem({{"ldx", 10}});
  EXPECT_TRUE(is_valid(target, problem(), vectors_of(4), {}));
  EXPECT_FALSE(is_valid(target, strided, vectors_of(4), {}));
  EXPECT_EQ(space_of(target, strided, {}).size(), 2u);
  EXPECT_FALSE(is_valid(target, problem({{"x_aligned", 8}}), vectors_of(4), {}));
  EXPECT_THAT(source_unit(target, strided, vectors_of(1), {}).prelude,
              HasSubstr("#define STRIDED 1\n"));
  EXPECT_EQ(arguments(problem()).size(), 5u);
  const std::vector<Argument> passed = arguments(strided);
  ASSERT_EQ(passed.size(), 7u);
  EXPECT_EQ(passed[5], Argument(Scalar{ElementType::i64, 10})) << "64 bits each";
}

TEST_F(FreeSizes, MayBeGivenOrLeftOutWithTheSizes) {
  const Target target = read();
  const TargetProgram any(target, problem(), {}, SizeBinding::given);
  using Sizes = std::vector<std::int64_t>;
  for (const auto& [sizes, free] :
       std::vector<std::pair<Sizes, NamedValues>>{{{3, 8}, {}},
                                                  {{3, 8, -1, -1}, {}},
                                                  {{3, 8, 10}, {{"ldx", 10}}},
                                                  {{3, 8, -1, 12}, {{"ldy", 12}}},
                                                  {{3, 8, -1, -1, 4}, {{"x_aligned", 4}}}}) {
    const TargetProgram here(target, problem(free), {});
    EXPECT_EQ(any.free_values(sizes), here.free_values());
    ValidityAt is_valid_there(any.sized_validity(), sizes);
    for (std::uint16_t level = 0; level < 3; ++level) {
      EXPECT_EQ(is_valid_there(Levels{level}), here.is_valid(Levels{level})) << sizes.size();
      EXPECT_EQ(any.is_valid(Levels{level}, sizes), here.is_valid(Levels{level}));
    }
  }
}

TEST_F(FreeSizes, BeyondTheirBoundsAreRefused) {
  const Target target = read();
  const auto refusal = [&](NamedValues free) {
    return TargetProgram(target, problem(std::move(free)), {}).refusal();
  };
  EXPECT_EQ(refusal({{"ldx", 9}}), "");
  EXPECT_EQ(refusal({{"ldx", 7}}), "scale: the size ldx=7 is too small: the least is 8 (line)");
  EXPECT_EQ(refusal({{"x_aligned", 32}}),
            "scale: the size x_aligned=32 is too large: the most is 16");
  EXPECT_EQ(refusal({{"x_aligned", 2}}),
            "scale: the size x_aligned=2 is too small: the least is 4 (dtype_bytes)");
  EXPECT_THROW(space_of(target, problem({{"ldx", 7}}), {}), UsageError);
}

TEST_F(FreeSizes, RulesOfAProblemSayWhyThereIsNoSuchProblem) {
  const Target target = read();
  EXPECT_THAT([&] { space_of(target, problem({}, 13), {}); },
              ThrowsMessage<UsageError>("scale: 13 rows bring bad luck"));
  EXPECT_EQ(TargetProgram(target, problem({{"ldy", 100001}}), {}).refusal(),
            "scale: there is no such problem: \"ldy <= 100000\" does not hold");
}

TEST_F(FreeSizes, StrideBuffersWithGaps) {
  const Target target = read();
  EXPECT_FALSE(buffers_of(target, problem(), {})[0].has_gaps());
  EXPECT_EQ(buffers_of(target, problem(), {})[0].length, 24);
  const auto buffers = buffers_of(target, problem({{"ldx", 10}, {"x_aligned", 4}}), {});
  EXPECT_EQ(buffers[0].length, 28);
  EXPECT_EQ(buffers[0].elements(), 24);
  EXPECT_THAT(buffers[0].strides, ElementsAre(10));
  EXPECT_EQ(buffers[0].alignment, 4);
  EXPECT_EQ(buffers[0].shift, 4);
  EXPECT_EQ(buffers_of(target, problem({{"ldy", 0}}, 1), {})[1].length, 8)
      << "one row has no stride";
  EXPECT_REFUSAL(Error, buffers_of(target, problem({{"ldy", 4}}), {}),
                 "elements of an output overlap");
}

TEST_F(FreeSizes, ABufferThatAProblemLacksIsANullPointer) {
  const Target target = read();
  Problem shifted = problem();
  shifted.values.back().value = "yes";
  EXPECT_EQ(buffers_of(target, problem(), {}).size(), 2u);
  EXPECT_EQ(buffers_of(target, shifted, {}).size(), 3u);
  EXPECT_EQ(arguments(problem())[1], Argument(Scalar{ElementType::i64, 0}));
  EXPECT_EQ(arguments(problem())[2], Argument(BufferRef{1}));
  EXPECT_EQ(arguments(shifted)[1], Argument(BufferRef{1}));
}

TEST_F(FreeSizes, BelongToTheFingerprintWithTheirDefaults) {
  const std::string before = read().fingerprint;
  EXPECT_EQ(read("least = \"line\"", "least = \"1\"").fingerprint, before);
  EXPECT_NE(read("default = \"ldx\"", "default = \"line\"").fingerprint, before);
  EXPECT_NE(read("strides = [\"ldy\"]", "strides = [\"ldx\"]").fingerprint, before);
  EXPECT_NE(read("aligned = 16", "aligned = 8").fingerprint, before);
  EXPECT_NE(read(", when = \"shifted == 'yes'\"", "").fingerprint, before);
}

TEST_F(FreeSizes, EdgeProblemsHaveThemAwayFromTheirDefaults) {
  const Target target = read();
  const auto edges_of = [&](const Problem& problem) {
    std::vector<std::string> texts;
    for (const Problem& each : edge_problems(target, problem, {}).usual) {
      texts.push_back(problem_text(target, each));
    }
    return texts;
  };
  const auto whole_vectors = testing::ElementsAre(
      "rows=16 columns=48", "rows=16 columns=48 ldx=52 ldy=56", "rows=16 columns=48 ldx=49",
      "rows=16 columns=48 ldy=49", "rows=16 columns=48 x_aligned=4");
  EXPECT_THAT(edges_of(problem({}, 12)), whole_vectors) << "13 rows are refused";
  std::vector<std::string> all = edges_of(problem());
  EXPECT_EQ(all.front(), "rows=4 columns=9");
  all.erase(all.begin());
  EXPECT_THAT(all, whole_vectors);
}

TEST_F(FreeSizes, MistakesAreShown) {
  expect_error("default = \"line\"", "default = \"VECTOR\"",
               "this depends on a parameter: ldx -> VECTOR");
  expect_error("default = \"line\"", "default = \"ldy\"", "ldx needs itself: ldx -> ldy -> ldx");
  expect_error("default = \"line\", ", "", "default");
  expect_error("free.ldy", "free.rows", "rows is declared twice");
  expect_error("strides = [\"ldx\"]", "strides = []", "1");
  expect_error("dims = [\"line\", \"rows\"], ", "",
               "give \"length\", \"dims\" or \"file\" for a buffer");
  expect_error("dims = [\"line\", \"rows\"], ", "length = \"line\", ",
               "\"strides\" are those of \"dims\"");
  expect_error("length = \"line\", when", "length = \"line\", dims = [\"line\"], when",
               "give \"dims\" or \"length\", not both");
  expect_error("aligned = 16", "aligned = 12", "expected a power of two up to 256");
  expect_error("aligned = 16", "aligned = 16, alignment = 16",
               "give \"aligned\" or \"alignment\", not both");
  expect_error("rule = \"rows != 13\"", "rule = \"VECTOR != 13\"", "depends on a parameter");
}

}  // namespace
}  // namespace autotune
