// SPDX-License-Identifier: Apache-2.0
// A manifest's expressions become costs; what it leaves out is estimated.
#include "tuner/model/cost_model.hpp"

#include <numeric>

#include "tests/support/matchers.hpp"
#include "tuner/core/error.hpp"
#include "tuner/model/gpu_specs.hpp"

namespace autotune {
namespace {

ArgumentSpec buffer(const char* name, const char* length, Role role) {
  ArgumentSpec spec;
  spec.name = name;
  spec.type = "f32";
  spec.length = Expression::parse(length);
  spec.role = role;
  return spec;
}

/// c = a + b, and a workspace.
Target sum_of_two(const char* bytes = nullptr) {
  Target target;
  target.name = "vector_add";
  target.sizes = {"N"};
  target.arguments = {buffer("a", "N", Role::input), buffer("b", "N", Role::input),
                      buffer("c", "N", Role::output)};
  target.workspace = {buffer("w", "N", Role::workspace)};
  KernelSpec kernel;
  kernel.entry = "vector_add";
  target.kernels = {kernel};
  if (bytes) target.bytes = Expression::parse(bytes);
  return target;
}

double bytes_of(const Target& target) {
  const Problem problem{{{"N", 1000}}};
  return least_bytes(TargetProgram(target, problem, device_info(find_gpu("h200"))));
}

TEST(TimeFloor, CountsWhatTheManifestStatesAndNoMoreThanTheBuffers) {
  EXPECT_EQ(bytes_of(sum_of_two("8 * N")), 8000);
  EXPECT_EQ(bytes_of(sum_of_two("12 * N")), 12000);
  EXPECT_EQ(bytes_of(sum_of_two("4 * N * N")), 12000) << "without caches, perhaps";
}

TEST(TimeFloor, WithoutAStatementCountsTheOutputsAsTheyMustBeWritten) {
  EXPECT_EQ(bytes_of(sum_of_two()), 4000);
}

TEST(TimeFloor, IsACycleOrTheBytesAtThePeakOfTheCaches) {
  DeviceInfo host;
  host.kind = DeviceKind::host;
  host.multiprocessors = 2;
  const Target target = sum_of_two("12 * N");
  const auto floor_of = [&](std::int64_t n, const DeviceInfo& device) {
    return time_floor(TargetProgram(target, Problem{{{"N", n}}}, device), device);
  };
  EXPECT_DOUBLE_EQ(floor_of(1, host), 1 / 6e9);
  EXPECT_NEAR(floor_of(4596, host), 55152 / (2 * 192 * 6e9), 1e-12) << "24 ns";
  const DeviceInfo h200 = device_info(find_gpu("h200"));
  EXPECT_DOUBLE_EQ(floor_of(1 << 24, h200), 12.0 * (1 << 24) / (132 * 128 * h200.clock_hz));
  DeviceInfo unknown;
  EXPECT_EQ(floor_of(1 << 24, unknown), 0) << "of no clock";
}

Target vector_add() {
  Target target;
  target.name = "vector_add";
  target.sizes = {"N"};
  target.parameters = {{.name = "BLOCK", .values = {32, 256, 1024}, .when = {}, .run_time = false},
                       {.name = "EACH", .values = {1, 4}, .when = {}, .run_time = false}};
  target.defines = {{"BYTES", Expression::parse("4")},
                    {"PIECE", Expression::parse("BLOCK * EACH")}};
  target.kernels = {{.entry = "vector_add",
                     .when = {},
                     .grid = {Expression::parse("ceil_div(N, PIECE)")},
                     .block = {Expression::parse("BLOCK")},
                     .cluster = {},
                     .dynamic_shared_bytes = {},
                     .arguments = {}}};
  target.flops = Expression::parse("N");
  target.bytes = Expression::parse("3 * BYTES * N");
  return target;
}

struct Case {
  Target target;
  Problem problem{{{"N", 1 << 24}}};
  DeviceInfo device = device_info(find_gpu("h200"));
  ParameterSpace space{target.parameters, {}, {}};

  CostModel model() const { return CostModel(target, problem, space, device); }
};

TEST(CostModel, ATargetThatSaysNothingIsModelledFromItsWorkAndLaunch) {
  const Case a{vector_add()};
  const CostInput input = a.model().input(3);  // BLOCK=256 EACH=4
  EXPECT_EQ(input.blocks, (1 << 24) / 1024);
  EXPECT_EQ(input.shape.threads, 256);
  EXPECT_EQ(input.shape.cluster, 1);
  EXPECT_EQ(input.launches, 1);
  EXPECT_DOUBLE_EQ(input.work.dram_bytes, 12.0 * (1 << 24));
  EXPECT_DOUBLE_EQ(input.work.l2_bytes, 12.0 * (1 << 24));
  EXPECT_EQ(a.model().estimate(3).binding, Term::dram);
}

TEST(CostModel, QuantitiesOfTheManifestAreUsed) {
  Case a{vector_add()};
  a.target.model = {{"l2_transactions", Expression::parse("N / 8")},
                    {"steps", Expression::parse("EACH")},
                    {"shared_wavefronts", Expression::parse("0 - 5")}};
  const CostInput input = a.model().input(1);
  EXPECT_DOUBLE_EQ(input.work.l2_bytes, 4.0 * (1 << 24));
  EXPECT_EQ(input.work.steps, 4);
  EXPECT_EQ(input.work.shared_wavefronts, 0);
}

TEST(CostModel, AllNamesOfManifestsAreBound) {
  Case a{vector_add()};
  a.problem.values.push_back({"dtype", "f64"});
  a.target.model = {{"dram_bytes", Expression::parse("dtype_bytes * PIECE")},
                    {"steps", Expression::parse("device.multiprocessors")}};
  EXPECT_EQ(a.model().input(1).work.dram_bytes, 8 * 128);
  EXPECT_EQ(a.model().input(1).work.steps, 132);
}

TEST(CostModel, SizesMayBeGivenWithEachQuestion) {
  Case a{vector_add()};
  const SizedCostModel any(a.target, {{{"N", 1}}}, a.device);
  for (const std::int64_t n : {1000, 1 << 20, 1 << 24}) {
    a.problem = {{{"N", n}}};
    for (std::size_t i = 0; i < a.space.size(); ++i) {
      EXPECT_EQ(any.estimate(a.space.levels(i), {{n}}).seconds, a.model().estimate(i).seconds);
    }
  }
}

TEST(CostModel, EachFamilyIsModelledByItsOwnFormulas) {
  Case a{vector_add()};
  a.target.parameters.push_back({"KERNEL", {"plain", "staged"}, {}, false});
  a.target.family = 2;
  a.target.model = {{"steps", Expression::parse("EACH * N / 1000"), true,
                     Expression::parse("KERNEL == 'staged'")},
                    {"barriers", Expression::parse("KERNEL == 'staged' ? 1000 / (EACH - 1) : 0")}};
  a.space = ParameterSpace{a.target.parameters, {}, {}};
  const SizedCostModel any(a.target, {{{"N", 1}}}, a.device);
  const std::vector<std::int64_t> sizes{1 << 24};
  SizedCostModel::AtSizes here = any.at(sizes);
  int without = 0;
  for (std::size_t i = 0; i < a.space.size(); ++i) {
    try {
      const double expected = a.model().estimate(i).seconds;
      EXPECT_EQ(here.estimate(a.space.levels(i)).seconds, expected);
    } catch (const ExpressionError&) {
      EXPECT_THROW(here.estimate(a.space.levels(i)), ExpressionError);
      ++without;
    }
  }
  EXPECT_EQ(without, 3) << "the staged ones with EACH=1";
}

TEST(CostModel, MoreBlocksThanThereAreNumbersAreTheLargestNumber) {
  Case a{vector_add()};
  a.target.kernels[0].grid = {Expression::parse("N * N"), Expression::parse("N * N")};
  a.problem = {{{"N", 2147483647}}};
  EXPECT_EQ(a.model().input(0).blocks, std::numeric_limits<std::int64_t>::max());
}

TEST(CostModel, AnUnknownQuantityIsAnErrorWithANearName) {
  Case a{vector_add()};
  a.target.model = {{"l2_byte", Expression::parse("N")}};
  try {
    a.model();
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("target vector_add: \"l2_byte\""));
    EXPECT_THAT(error.what(), HasSubstr("did you mean l2_bytes"));
  }
}

TEST(CostModel, AnUnboundNameIsAnError) {
  Case a{vector_add()};
  a.target.model = {{"steps", Expression::parse("DEPTH")}};
  EXPECT_THROW(a.model(), Error);
}

TEST(CostModel, TheCompilersResourcesReplaceTheEstimates) {
  Case a{vector_add()};
  a.target.registers = Expression::parse("EACH * 4 + 12");
  EXPECT_EQ(a.model().input(1).shape.registers, 28);
  const KernelResources compiled{
      .entry = "vector_add", .registers = 200, .shared_bytes = 4096, .local_bytes = 0};
  const CostInput input = a.model().input(1, {&compiled, 1});
  EXPECT_EQ(input.shape.registers, 200);
  EXPECT_EQ(input.shape.static_shared_bytes, 4096);
  const KernelResources other{.entry = "fill", .registers = 200};
  EXPECT_EQ(a.model().input(1, {&other, 1}).shape.registers, 28);
}

TEST(CostModel, KernelsThatDoNotRunCountForNothing) {
  Case a{vector_add()};
  KernelSpec first = a.target.kernels[0];
  first.entry = "prepare";
  first.when = Expression::parse("EACH == 4");
  first.grid = {Expression::parse("1")};
  a.target.kernels.push_back(first);
  EXPECT_EQ(a.model().input(0).launches, 1);
  EXPECT_EQ(a.model().input(1).launches, 2);
  EXPECT_EQ(a.model().input(1).blocks, (1 << 24) / 128);
  a.target.model = {{"main_kernel", Expression::parse("EACH == 4")}};
  EXPECT_EQ(a.model().input(1).blocks, 1);
}

TEST(CostModel, PredictsTheWholeSpaceAsOneByOne) {
  const Case a{vector_add()};
  const CostModel model = a.model();
  const std::vector<double> all = model.predict_all();
  ASSERT_EQ(all.size(), 6u);
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i], model.estimate(i).seconds);
}

TEST(CostModel, ACpuPrefersOneThreadWithMuchToDo) {
  Case a{vector_add()};
  a.device.kind = DeviceKind::host;
  a.device.compute_capability = 0;
  a.device.multiprocessors = 2;
  a.target.flops = Expression::parse("1000 * N");
  a.target.model = {{"ilp", Expression::parse("BLOCK == 32 ? 128 : 1")},
                    {"barriers", Expression::parse("1")},
                    {"steps", Expression::parse("10")}};
  a.target.kernels[0].block = {Expression::parse("BLOCK == 32 ? 1 : BLOCK")};
  const CostModel model = a.model();
  EXPECT_LT(model.estimate(0).seconds, 0.1 * model.estimate(2).seconds);
}

CostInput input_of(std::int64_t blocks, int threads) {
  CostInput input;
  input.shape.threads = threads;
  input.blocks = blocks;
  input.work.flops = 1e9;
  input.work.dram_bytes = 1e6;
  input.work.steps = 10;
  input.work.barriers = 2;
  return input;
}

double seconds(int cores, const CostInput& input) { return host_estimate(cores, input).seconds; }

TEST(HostCost, IsTheSumOfItsTerms) {
  const CostEstimate estimate = host_estimate(4, input_of(64, 32));
  EXPECT_DOUBLE_EQ(estimate.seconds,
                   std::accumulate(estimate.terms.begin(), estimate.terms.end(), 0.0));
  EXPECT_EQ(estimate.binding, Term::fma);
  EXPECT_EQ(estimate.waves, 16);
  EXPECT_EQ(estimate.balance, 1);
}

TEST(HostCost, ABlockHasACoreForItself) {
  EXPECT_DOUBLE_EQ(host_estimate(4, input_of(5, 32)).balance, 5.0 / 8) << "two rounds on 4 cores";
  EXPECT_GT(seconds(4, input_of(1, 32)), 3 * seconds(4, input_of(64, 32)));
}

TEST(HostCost, BarriersCostFibresButNotALoneThread) {
  CostInput fibres = input_of(64, 32), alone = input_of(64, 1);
  const double with_barriers = seconds(4, fibres), of_one = seconds(4, alone);
  fibres.work.barriers = alone.work.barriers = 0;
  EXPECT_LT(seconds(4, fibres), with_barriers);
  EXPECT_DOUBLE_EQ(seconds(4, alone), of_one);
}

TEST(HostCost, IndependentSumsHelpUpToTheVectorUnits) {
  CostInput input = input_of(64, 1);
  const auto with = [&](double ilp) {
    input.work.ilp = ilp;
    return seconds(4, input);
  };
  EXPECT_LT(with(16), with(1));
  EXPECT_DOUBLE_EQ(with(0), with(1)) << "a thread has one sum at least";
  EXPECT_DOUBLE_EQ(with(1e6), with(1e9));
}

TEST(HostCost, ALaunchCostsTheSameWhateverItDoes) {
  CostInput input = input_of(64, 32);
  const double one = seconds(4, input);
  input.launches = 3;
  EXPECT_NEAR(seconds(4, input) - one, 2 * 5e-6, 1e-12);
}

}  // namespace
}  // namespace autotune
