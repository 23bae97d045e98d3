// SPDX-License-Identifier: Apache-2.0
// From a target to what a device gets: problems, spaces, prelude, launches, buffers.
#include "tests/support/matchers.hpp"
#include "tests/support/scratch_folder.hpp"
#include "tuner/core/target.hpp"
#include "tuner/target/manifest.hpp"

namespace autotune {
namespace {

constexpr const char* kLaunch = R"toml(manifest = 2
name = "scale"
source = "scale.cu"
sizes = ["N"]
settings.dtype = ["f32", "i64"]
settings.batch = [1, 4]
parameters.MODE = ["plain", "un_rolled"]
parameters.BLOCK = [64, 128]
parameters.SPLIT = { values = [1, 2], run_time = true }
parameters.ORDER = { values = ["up", "down"], run_time = true }
constraints = ["BLOCK <= device.max_threads", "MODE == 'plain' || BLOCK == 128"]
default.BLOCK = 128
defines.BIG = "N * 1000000 * BLOCK"
defines.LOW = "-BLOCK"
bake_sizes = "MODE == 'un_rolled'"
options = ["-lineinfo"]
arguments.x = { type = "dtype", length = "N", fill = "iota", constant = "MODE == 'un_rolled'" }
arguments.a = { type = "dtype", value = "3" }
arguments.half = { type = "f64", value = 0.5 }
arguments.y = { type = "dtype", length = "N * batch", role = "output", tolerance = "2" }
workspace.unused = { type = "f32", length = "0" }
workspace.part = { type = "f32", length = "N * SPLIT" }
tensor_maps.map.buffer = "x"
tensor_maps.map.dims = ["N / 2", 2]
tensor_maps.map.strides = ["N / 2 * dtype_bytes"]
tensor_maps.map.box = ["BLOCK", 1]
tensor_maps.map.swizzle_bytes = 128
kernels.scale.grid = ["ceil_div(N, BLOCK)", "SPLIT"]
kernels.scale.block = ["BLOCK"]
kernels.scale.cluster = ["SPLIT"]
kernels.scale.dynamic_shared_bytes = "4 * BLOCK"
kernels.scale.arguments = ["x", "y", "a", "half", "N", "SPLIT - 1", "ORDER", "map"]
kernels.finish.when = "SPLIT > 1"
kernels.finish.grid = [1]
kernels.finish.block = [32]
kernels.finish.starts_early = "SPLIT > 1"
kernels.finish.arguments = ["part", "y"]
reference.kernels = { plain = { grid = ["N"], block = [1], arguments = ["x", "y"] } }
reference.outputs = "f64"
work.flops = "N"
work.bytes = "2 * N * dtype_bytes"
)toml";

class LaunchTest : public testing::Test {
 protected:
  LaunchTest() {
    folder_.write("scale.cu", "// the kernel\n");
    target_ = load_manifest(folder_.write("scale.target.toml", kLaunch));
    device_.name = "a fake";
  }
  Problem problem(std::int64_t n, const NamedValues& settings = {}) const {
    return problem_of(target_, {{"N", n}}, settings);
  }
  static Configuration configuration(const std::string& text) { return parse_named_values(text); }

  ScratchFolder folder_;
  Target target_;
  DeviceInfo device_;
};

TEST_F(LaunchTest, AProblemHasSizesThenSettings) {
  EXPECT_EQ(problem(8).text(), "N=8 dtype=f32 batch=1");
  EXPECT_EQ(problem(8, {{"batch", 4}, {"dtype", "i64"}}).text(), "N=8 dtype=i64 batch=4");
  EXPECT_THAT(
      [&] {
        problem(8, {{"dtyp", "f32"}});
      },
      ThrowsMessage<UsageError>("scale has no setting dtyp (did you mean dtype?)"));
  EXPECT_REFUSAL(UsageError, problem(8, {{"dtype", "f64"}}), "dtype=f64 is not offered");
  EXPECT_REFUSAL(UsageError, problem(8, {{"N", 3}}), "N is a size of scale, not a setting");
}

TEST_F(LaunchTest, TheDefaultIsTakenOrTheNearestValidOne) {
  EXPECT_EQ(to_text(valid_default(target_, problem(8), device_)),
            "MODE=plain BLOCK=128 SPLIT=1 ORDER=up");
  device_.max_threads_per_block = 64;
  EXPECT_EQ(to_text(valid_default(target_, problem(8), device_)),
            "MODE=plain BLOCK=64 SPLIT=1 ORDER=up");
  device_.max_threads_per_block = 32;
  EXPECT_REFUSAL(Error, valid_default(target_, problem(8), device_),
                 "no configuration is valid for this problem on this device: \"BLOCK");
}

TEST_F(LaunchTest, AnInputLiesInConstantMemoryWhereItsExpressionSaysSo) {
  const auto constants = [&](const std::string& text) {
    return launch_plan(target_, problem(3000), configuration(text), device_).constants;
  };
  EXPECT_THAT(constants("MODE=un_rolled BLOCK=128 SPLIT=1 ORDER=up"),
              ElementsAre(ConstantCopy{0, "x"}));
  EXPECT_TRUE(constants("MODE=plain BLOCK=128 SPLIT=1 ORDER=up").empty());
}

TEST_F(LaunchTest, TheReferenceFindsItsConstantMemoryFilledWhereItHasAny) {
  EXPECT_THAT(workload_of(target_, problem(3000), device_).reference.constants,
              ElementsAre(ConstantCopy{0, "x", true}));
}

TEST_F(LaunchTest, ThePreludeHasAMacroForEachNameAndWord) {
  const SourceUnit unit =
      source_unit(target_, problem(3000, {{"batch", 4}}),
                  configuration("MODE=un_rolled BLOCK=128 SPLIT=2 ORDER=down"), device_);
  EXPECT_EQ(unit.prelude,
            "#define DTYPE_F32 0\n#define DTYPE_I64 1\n#define DTYPE DTYPE_F32\n"
            "#define BATCH 4\n"
            "#define MODE_PLAIN 0\n#define MODE_UN_ROLLED 1\n#define MODE MODE_UN_ROLLED\n"
            "#define BLOCK 128\n"
            "#define ORDER_UP 0\n#define ORDER_DOWN 1\n"
            "#define BIG 384000000000LL\n#define LOW (-128)\n"
            "#define SIZE_N 3000\n");
  EXPECT_EQ(unit.name, "scale.cu");
  EXPECT_THAT(unit.entries, ElementsAre("scale", "finish"));
  EXPECT_THAT(unit.options, ElementsAre("-lineinfo"));
  EXPECT_THAT(unit.include_folders, ElementsAre(folder_.path()));
  const SourceUnit plain = source_unit(
      target_, problem(3000), configuration("MODE=plain BLOCK=128 SPLIT=1 ORDER=up"), device_);
  EXPECT_THAT(plain.prelude, Not(HasSubstr("SIZE_N")));
  EXPECT_THAT(plain.entries, ElementsAre("scale"));
}

TEST_F(LaunchTest, RunTimeParametersShareOneBinary) {
  const Problem at = problem(64);
  EXPECT_EQ(
      source_unit(target_, at, configuration("MODE=plain BLOCK=64 SPLIT=1 ORDER=up"), device_)
          .prelude,
      source_unit(target_, at, configuration("MODE=plain BLOCK=64 SPLIT=1 ORDER=down"), device_)
          .prelude);
}

TEST_F(LaunchTest, APlanHasGeometryArgumentsAndTheWorkspaceInUse) {
  const LaunchPlan plan = launch_plan(
      target_, problem(256), configuration("MODE=plain BLOCK=128 SPLIT=2 ORDER=down"), device_);
  ASSERT_EQ(plan.launches.size(), 2u);
  const Launch& scale = plan.launches[0];
  EXPECT_EQ(scale.grid, (Dim3{2, 2, 1}));
  EXPECT_EQ(scale.block, (Dim3{128, 1, 1}));
  EXPECT_EQ(scale.cluster, (Dim3{2, 1, 1}));
  EXPECT_EQ(scale.dynamic_shared_bytes, 512);
  EXPECT_FALSE(scale.starts_early);
  EXPECT_TRUE(plan.launches[1].starts_early);
  const TensorMap map{0, {128, 2}, {512}, {128, 1}, 128};
  EXPECT_THAT(scale.arguments,
              ElementsAre(Argument(BufferRef{0}), Argument(BufferRef{1}),
                          Argument(Scalar{ElementType::f32, 0, 3, "a"}),
                          Argument(Scalar{ElementType::f64, 0, 0.5, "half"}),
                          Argument(Scalar{ElementType::i32, 256, 0}),
                          Argument(Scalar{ElementType::i32, 1, 0}),
                          Argument(Scalar{ElementType::i32, 1, 0}), Argument(map)));
  EXPECT_THAT(plan.launches[1].arguments,
              ElementsAre(Argument(BufferRef{2}), Argument(BufferRef{1})));
  ASSERT_EQ(plan.workspace.size(), 1u);
  EXPECT_EQ(plan.workspace[0].name, "part");
  EXPECT_EQ(plan.workspace[0].length, 512);
  EXPECT_EQ(plan.workspace[0].role, Role::workspace);
}

TEST_F(LaunchTest, OverALimitOfTheDeviceIsAFailedConfiguration) {
  const auto plan = [&] {
    launch_plan(target_, problem(256), configuration("MODE=plain BLOCK=128 SPLIT=1 ORDER=up"),
                device_);
  };
  device_.max_threads_per_block = 100;
  EXPECT_THAT(plan,
              ThrowsMessage<KernelFailure>("kernels.scale.block: 128 threads, a fake allows 100"));
  device_.max_threads_per_block = 1024;
  device_.shared_bytes_per_block = 511;
  EXPECT_THAT(plan, ThrowsMessage<KernelFailure>(HasSubstr("512 bytes, a fake allows 511")));
  device_.shared_bytes_per_block = 512;
  EXPECT_NO_THROW(plan());
  device_.max_grid.x = 1;
  EXPECT_THAT(plan, ThrowsMessage<KernelFailure>(HasSubstr("kernels.scale.grid: 2x1x1, a fake")));
}

TEST_F(LaunchTest, AGridThatTheClusterDoesNotDivideIsAFailedConfiguration) {
  EXPECT_REFUSAL(KernelFailure,
                 launch_plan(target_, problem(100),
                             configuration("MODE=plain BLOCK=128 SPLIT=2 ORDER=up"), device_),
                 "not a multiple of the cluster");
}

TEST_F(LaunchTest, NonsenseNamesTheKey) {
  target_.kernels[0].grid[1] = Expression::parse("N - 8");
  EXPECT_REFUSAL(Error,
                 launch_plan(target_, problem(8),
                             configuration("MODE=plain BLOCK=64 SPLIT=1 ORDER=up"), device_),
                 "scale.target.toml: kernels.scale.grid[1]: \"N - 8\" is 0, it "
                 "must be 1 or more (for N=8");
  target_.arguments[0].length = Expression::parse("N / (N - 8)");
  EXPECT_REFUSAL(Error, workload_of(target_, problem(8), device_),
                 "arguments.x.length: division by zero at column 3");
  target_.arguments[0].length = Expression::parse("N - 9");
  EXPECT_REFUSAL(Error, workload_of(target_, problem(8), device_),
                 "arguments.x.length: \"N - 9\" is -1");
}

TEST_F(LaunchTest, AnIntegerThatDoesNotFitIsRefused) {
  target_.kernels[0].arguments[5] = "N * 4";
  EXPECT_REFUSAL(Error,
                 launch_plan(target_, problem(2147483647),
                             configuration("MODE=plain BLOCK=64 SPLIT=1 ORDER=up"), device_),
                 "kernels.scale.arguments[5]: 8589934588 does not fit an int");
}

TEST_F(LaunchTest, AWorkloadHasBuffersAndTheReference) {
  const Workload workload =
      workload_of(target_, problem(8, {{"dtype", "i64"}, {"batch", 4}}), device_);
  ASSERT_EQ(workload.buffers.size(), 2u);
  EXPECT_EQ(workload.buffers[0], (BufferSpec{.name = "x",
                                             .type = ElementType::i64,
                                             .length = 8,
                                             .role = Role::input,
                                             .fill = Fill::iota,
                                             .alignment = 8}));
  EXPECT_EQ(workload.buffers[1], (BufferSpec{.name = "y",
                                             .type = ElementType::i64,
                                             .length = 32,
                                             .role = Role::output,
                                             .fill = Fill::random,
                                             .tolerance = 2,
                                             .alignment = 8}));
  ASSERT_EQ(workload.reference.launches.size(), 1u);
  EXPECT_EQ(workload.reference.launches[0].entry, "plain");
  EXPECT_THAT(workload.reference_source.entries, ElementsAre("plain"));
  EXPECT_THAT(workload.reference_source.prelude, HasSubstr("#define BLOCK 128\n"));
  EXPECT_TRUE(workload.float64_outputs);
}

TEST_F(LaunchTest, AReferenceThatIsLaunchedTwiceIsOneEntry) {
  target_.reference.kernels.push_back(target_.reference.kernels[0]);
  const Workload workload = workload_of(target_, problem(8), device_);
  EXPECT_EQ(workload.reference.launches.size(), 2u);
  EXPECT_THAT(workload.reference_source.entries, ElementsAre("plain"));
}

TEST_F(LaunchTest, TheDefaultConfigurationCanBeTheReference) {
  target_.reference = {.kind = ReferenceSpec::Kind::default_configuration};
  const Workload workload = workload_of(target_, problem(8), device_);
  EXPECT_EQ(workload.reference.launches[0].entry, "scale");
  EXPECT_FALSE(workload.float64_outputs);
}

TEST_F(LaunchTest, WorkIsCounted) {
  const Work work = work_of(target_, problem(8, {{"dtype", "i64"}}), device_);
  EXPECT_EQ(work.flops, 8);
  EXPECT_EQ(work.bytes, 128);
  target_.flops.reset();
  EXPECT_EQ(work_of(target_, problem(8), device_).flops, 0);
}

}  // namespace
}  // namespace autotune
