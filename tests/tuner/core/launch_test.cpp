// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/launch.hpp"

#include <gmock/gmock.h>

#include <cstring>
#include <limits>
#include <set>

#include "tests/support/matchers.hpp"
#include "tuner/core/deadline.hpp"
#include "tuner/core/device.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/outcome.hpp"
#include "tuner/core/source_writer.hpp"

namespace autotune {
namespace {

template <class T>
T in_memory(const Scalar& scalar) {
  T value;
  std::memcpy(&value, memory_of(scalar).data(), sizeof value);
  return value;
}

TEST(Scalar, HasTheBytesOfItsType) {
  EXPECT_EQ(in_memory<float>({ElementType::f32, 7, 0.5}), 0.5F);
  EXPECT_EQ(in_memory<double>({ElementType::f64, 7, 0.1}), 0.1);
  EXPECT_EQ(in_memory<std::int32_t>({ElementType::i32, -3, 0.5}), -3);
  EXPECT_EQ(in_memory<std::int64_t>({ElementType::i64, INT64_MIN}), INT64_MIN);
  EXPECT_EQ(in_memory<std::uint16_t>({ElementType::f16, 0, 1.0}), 0x3c00);
  EXPECT_EQ(in_memory<std::uint16_t>({ElementType::bf16, 0, 1.0}), 0x3f80);
  EXPECT_EQ(in_memory<std::int8_t>({ElementType::i8, -128}), -128);
  EXPECT_EQ(in_memory<std::uint8_t>({ElementType::u8, 255}), 255);
  EXPECT_EQ(in_memory<std::int16_t>({ElementType::i16, -32768}), -32768);
  EXPECT_EQ(in_memory<std::uint16_t>({ElementType::u16, 65535}), 65535);
  EXPECT_EQ(in_memory<std::uint32_t>({ElementType::u32, 4294967295}), 4294967295U);
  EXPECT_EQ(in_memory<std::uint64_t>({ElementType::u64, INT64_MAX}), std::uint64_t{INT64_MAX});
}

TEST(Scalar, TheBytesBehindItsTypeAreZero) {
  EXPECT_EQ(in_memory<std::uint64_t>({ElementType::i8, -1}), 0xffU);
}

TEST(Scalar, TakesANewValueInItsType) {
  const Scalar alpha{ElementType::f32, 0, 2.0, "alpha"};
  EXPECT_EQ(with_value(alpha, 0.25), (Scalar{ElementType::f32, 0, 0.25, "alpha"}));
  EXPECT_EQ(value_of(with_value(alpha, 0.25)), 0.25);
  const Scalar shift{ElementType::i32, 3, 0, "shift"};
  EXPECT_EQ(with_value(shift, -2.9), (Scalar{ElementType::i32, -2, 0, "shift"}));
  EXPECT_EQ(value_of(shift), 3);
}

TEST(BufferSpec, ItsTypeIsThatOfItsElementsOrMembers) {
  BufferSpec buffer;
  buffer.type = ElementType::f16;
  EXPECT_EQ(type_text(buffer), "f16");
  EXPECT_TRUE(has_floating(buffer));
  buffer.members = {{"id", ElementType::i32, 0}, {"mass", ElementType::f64, 8}};
  EXPECT_EQ(type_text(buffer), "{i32 id, f64 mass}");
  EXPECT_TRUE(has_floating(buffer));
  buffer.members.pop_back();
  EXPECT_FALSE(has_floating(buffer));  // its type, f16, is not looked at
}

TEST(BufferSpec, BytesOfStructsIncludeTheirPadding) {
  BufferSpec buffer;
  buffer.length = 10;
  buffer.members = {{"mass", ElementType::f64, 0}, {"id", ElementType::i32, 8}};
  EXPECT_EQ(buffer.bytes(), 160);
}

TEST(NameExpression, HasAScopeOrTemplateArguments) {
  EXPECT_FALSE(is_name_expression("gemm_fast"));
  EXPECT_TRUE(is_name_expression("conv::filter"));
  EXPECT_TRUE(is_name_expression("filter<float>"));
}

TEST(WithConstant, LaterCallsHaveAnotherGridOrLeaveALaunchOut) {
  LaunchPlan plan;
  Launch pack, multiply;
  pack.entry = "pack";
  pack.grid.x = 8;
  multiply.entry = "multiply";
  pack.with_constant = {{"b", Dim3{0}}, {"a", Dim3{4}}};
  plan.launches = {pack, multiply};

  const LaunchPlan same_b = with_constant(plan, "b");
  ASSERT_EQ(same_b.launches.size(), 1U);
  EXPECT_EQ(same_b.launches[0].entry, "multiply");

  const LaunchPlan same_a = with_constant(plan, "a");
  ASSERT_EQ(same_a.launches.size(), 2U);
  EXPECT_EQ(same_a.launches[0].grid.x, 4);
  EXPECT_EQ(with_constant(plan, "c"), plan);
}

/// The defines of a target with the parameter X of this one value.
std::string prelude(const Value& value) {
  Target target;
  target.name = "one";
  target.sizes = {"N"};
  target.parameters = {{.name = "X", .values = {value}, .when = {}}};
  target.default_configuration = {{"X", value}};
  return source_unit(target, problem_of(target, {{"N", 1}}, {}), {{"X", value}}, {}).prelude;
}

TEST(MacroName, IsAnIdentifier) {
  EXPECT_EQ(macro_name("fast"), "FAST");
  EXPECT_EQ(macro_name("a-b c"), "A_B_C");
}

TEST(SourceWriter, TheLeastIntegersAreDifferences) {
  // 2147483648 is no int, and 9223372036854775808 no integer at all.
  EXPECT_THAT(prelude(Value(std::int64_t{std::numeric_limits<std::int32_t>::min()})),
              HasSubstr("#define X (-2147483647 - 1)\n"));
  EXPECT_THAT(prelude(Value(std::numeric_limits<std::int64_t>::min())),
              HasSubstr("#define X (-9223372036854775807LL - 1)\n"));
}

TEST(Outcome, NamesRoundTripAndDiffer) {
  std::set<std::string_view> names;
  for (int i = 0; i < kOutcomes; ++i) {
    const auto each = static_cast<Outcome>(i);
    EXPECT_EQ(outcome(name_of(each)), each);
    names.insert(name_of(each));
  }
  EXPECT_EQ(names.size(), static_cast<std::size_t>(kOutcomes));
  EXPECT_EQ(name_of(Outcome::compile_error), "compile_error");
  EXPECT_FALSE(outcome("fine"));
}

TEST(Counters, AreThereOnGpusOnly) {
  DeviceInfo info;
  info.name = "EPYC 9654";
  info.kind = DeviceKind::host;
  EXPECT_THAT([&] { require_counters(info); },
              ::testing::ThrowsMessage<Error>("EPYC 9654 (host) has no hardware counters: "
                                              "--counters needs an NVIDIA GPU"));
  info.kind = DeviceKind::cuda;
  EXPECT_NO_THROW(require_counters(info));
}

TEST(DeviceInfo, BindsWhatExpressionsMaySee) {
  DeviceInfo info;
  info.kind = DeviceKind::host;
  info.multiprocessors = 2;
  Scope scope;
  bind_device(scope, info);
  EXPECT_EQ(scope.evaluate(Expression::parse("device.is_host * 10 + device.multiprocessors")), 12);
  EXPECT_EQ(scope["device.shared_bytes"], 48 << 10);
}

TEST(ReferenceBinary, OfAReferenceThatDoesNotCompileIsAnErrorWithTheCompilersLine) {
  Workload workload;
  workload.problem = "N=1";
  CompiledKernel compiled;
  compiled.binary = std::make_shared<const std::string>("ELF");
  EXPECT_EQ(*reference_binary(workload, compiled), "ELF");
  compiled.outcome = Outcome::compile_error;
  compiled.log = "a.cu: note\na.cu(3): error: no such name\n";
  EXPECT_THAT([&] { reference_binary(workload, compiled); },
              testing::ThrowsMessage<Error>(
                  testing::AllOf(testing::HasSubstr("N=1: the reference kernel does not compile"),
                                 testing::HasSubstr("a.cu(3): error: no such name"))));
}

TEST(ResourcesOf, AKernelThatWasNotCompiledHasNone) {
  CompiledKernel compiled;
  compiled.resources = {{"first", 32}, {"second", 40}};
  ASSERT_NE(resources_of(compiled, "second"), nullptr);
  EXPECT_EQ(resources_of(compiled, "second")->registers, 40);
  EXPECT_EQ(resources_of(compiled, "third"), nullptr);
}

}  // namespace
}  // namespace autotune
