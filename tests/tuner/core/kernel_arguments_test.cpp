// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/kernel_arguments.hpp"

#include <cstddef>
#include <limits>

#include "tests/support/matchers.hpp"
#include "tuner/core/access.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/fill.hpp"
#include "tuner/core/target_program.hpp"

namespace autotune {
namespace {

/// A pointer, an i64, an f16, a tensor map.
Launch launch() {
  Launch launch;
  launch.entry = "multiply";
  launch.arguments = {BufferRef{0}, Scalar{ElementType::i64}, Scalar{ElementType::f16},
                      TensorMap{}};
  return launch;
}

/// The message of the launch error that `work` throws; "" if there is none.
std::string launch_error(const auto& work) {
  try {
    work();
  } catch (const KernelFailure& failure) {
    EXPECT_EQ(failure.outcome(), Outcome::launch_error);
    return failure.what();
  }
  return "";
}

std::string refusal(const std::vector<int>& parameter_bytes) {
  return launch_error([&] { check_arguments(launch(), parameter_bytes); });
}

TEST(KernelArguments, MustBeAsManyAsTheParameters) {
  EXPECT_THAT(refusal({8, 8, 2}), HasSubstr("multiply: it takes 3 arguments, not 4"));
  EXPECT_THAT(refusal({8, 8, 2, 128, 4}), HasSubstr("it takes 5 arguments, not 4"));
}

TEST(KernelArguments, MustHaveTheSizesOfTheParameters) {
  EXPECT_THAT(refusal({8, 4, 2, 128}), HasSubstr("argument 2 has 8 bytes"));
  EXPECT_THAT(refusal({8, 8, 2, 8}), HasSubstr("argument 4 has 128 bytes"));
}

TEST(KernelArguments, AStructHasItsBytes) {
  Launch launch;
  launch.entry = "shift";
  launch.arguments = {Record{"s", {}, 12}};
  const int right[] = {12}, wrong[] = {16};
  check_arguments(launch, right);
  EXPECT_THROW(check_arguments(launch, wrong), KernelFailure);
}

/// A plan that passes a buffer of the workload, one of its own, and a scalar.
LaunchPlan plan() {
  LaunchPlan plan;
  plan.workspace = {{"sums", ElementType::f64, 4, Role::unchecked}};
  plan.launches.resize(1);
  plan.launches[0].entry = "sum";
  plan.launches[0].arguments = {BufferRef{0}, BufferRef{1}, Scalar{ElementType::i32, 4}};
  return plan;
}

std::string type_refusal(const std::vector<std::string>& types) {
  CompiledKernel kernel;
  kernel.resources.push_back({.entry = "sum", .parameter_types = types});
  const std::vector<BufferSpec> buffers = {{"x", ElementType::f32, 4}};
  return launch_error([&] { check_types(kernel, plan(), buffers); });
}

TEST(KernelArguments, MustHaveTheTypesOfTheParameters) {
  EXPECT_EQ(type_refusal({"float const*", "double*", "int"}), "");
  EXPECT_EQ(type_refusal({}), "") << "not known";
  EXPECT_EQ(type_refusal({"float const*", "double*"}), "") << "refused for the number";
  EXPECT_THAT(type_refusal({"float const*", "float*", "int"}),
              HasSubstr("argument sums is f64, parameter 2 of sum is float*"));
  EXPECT_THAT(type_refusal({"float const*", "double*", "float"}), HasSubstr("argument 3 is i32"));
}

TEST(KernelArguments, AReferenceMayWriteF64OrTheOutputsType) {
  Workload workload;
  workload.buffers = {{"x", ElementType::f32, 4}, {"y", ElementType::f32, 4, Role::output}};
  workload.reference.launches.resize(1);
  workload.reference.launches[0].entry = "plain";
  workload.reference.launches[0].arguments = {BufferRef{0}, BufferRef{1}};
  const auto is_taken = [&](const std::string& input, const std::string& output) {
    CompiledKernel kernel;
    kernel.resources.push_back({.entry = "plain", .parameter_types = {input, output}});
    return launch_error([&] { check_reference_types(kernel, workload); }).empty();
  };
  EXPECT_TRUE(is_taken("float const*", "double*") && is_taken("float const*", "float*"));
  EXPECT_FALSE(is_taken("double const*", "double*") || is_taken("float const*", "int*"));
}

TEST(CallerBuffers, UncheckedOutputsFollowTheOthersAndChecksAreDropped) {
  std::vector<BufferSpec> buffers = {{"in", ElementType::f32, 4, Role::input}};
  LaunchPlan plan;
  plan.workspace = {{"raw", ElementType::f32, 8, Role::unchecked},
                    {"counts", ElementType::i32, 2, Role::unchecked},
                    {"scratch", ElementType::f32, 16, Role::workspace}};
  plan.checks.emplace_back();
  pass_unchecked(plan, buffers);
  // Kernels refer to buffers by their number, and those of the plan follow those of the problem.
  ASSERT_EQ(buffers.size(), 3u);
  EXPECT_EQ(buffers[1].name, "raw");
  EXPECT_EQ(buffers[2].name, "counts");
  ASSERT_EQ(plan.workspace.size(), 1u);
  EXPECT_EQ(plan.workspace[0].name, "scratch");
  EXPECT_TRUE(plan.checks.empty());
}

std::string access_error(std::string_view line) {
  return thrown_by([&] { parse_access(line); });
}

TEST(Access, ALineHasABufferAndAnIndex) {
  const AccessSpec access = parse_access("  store y[bx * BLOCK + tx] ");
  EXPECT_TRUE(access.store);
  EXPECT_EQ(access.buffer, "y");
  EXPECT_EQ(access.index.text(), "bx * BLOCK + tx");
  EXPECT_EQ(access.text, "store y[bx * BLOCK + tx]");
  EXPECT_FALSE(access.wide || access.times || access.when);
}

TEST(Access, ClausesStandInAnyOrder) {
  const AccessSpec access = parse_access("load x[tx] when GRID == 'times' times ITEMS wide 2 * V");
  EXPECT_FALSE(access.store);
  EXPECT_EQ(access.times->text(), "ITEMS");
  EXPECT_EQ(access.wide->text(), "2 * V");
}

TEST(Access, AWordInQuotesIsNoClause) {
  EXPECT_EQ(parse_access("load x[tx] when GRID == 'times'").when->text(), "GRID == 'times'");
}

TEST(Access, ErrorsShowTheLineAndWhatIsWrong) {
  EXPECT_THAT(access_error("read x[tx]"), HasSubstr("\"read x[tx]\": an access begins with load"));
  EXPECT_THAT(access_error("load [tx]"), HasSubstr("name of a buffer is missing"));
  EXPECT_THAT(access_error("load x"), HasSubstr("an index in brackets is missing"));
  EXPECT_THAT(access_error("load x[tx"), HasSubstr("']' is missing"));
  EXPECT_THAT(access_error("load x[tx] often"), HasSubstr("not \"often\""));
  EXPECT_THAT(access_error("load x[tx] times 2 times 3"), HasSubstr("times stands twice"));
  EXPECT_THAT(access_error("load x[tx +]"), HasSubstr("\"load x[tx +]\""));
  EXPECT_NE(access_error("load x[tx] times"), "");
}

BufferSpec buffer(ElementType type, Fill fill, std::vector<double> values) {
  BufferSpec spec{"x", type, 100, Role::input, fill};
  spec.fill_values = std::move(values);
  return spec;
}

TEST(FillComplaint, IsOfWhatTheTypeCannotHold) {
  EXPECT_EQ(fill_complaint(buffer(ElementType::f32, Fill::uniform, {0, 0.5})), "");
  EXPECT_EQ(fill_complaint(buffer(ElementType::i32, Fill::uniform, {-5, 5})), "");
  EXPECT_EQ(fill_complaint(buffer(ElementType::i32, Fill::uniform, {0, 0.5})),
            "0.5 is not a value of i32");
  EXPECT_EQ(fill_complaint(buffer(ElementType::i32, Fill::value, {3e9})),
            "3000000000 to 3000000000 does not fit i32");
  EXPECT_EQ(fill_complaint(buffer(ElementType::i64, Fill::value, {3e9})), "");
  EXPECT_THAT(fill_complaint(buffer(ElementType::i32, Fill::range, {0, 1 << 25})),
              HasSubstr("does not fit i32"));
  EXPECT_EQ(fill_complaint(buffer(ElementType::u8, Fill::uniform, {0, 255})), "");
  EXPECT_EQ(fill_complaint(buffer(ElementType::i8, Fill::uniform, {0, 255})),
            "0 to 255 does not fit i8");
  EXPECT_EQ(fill_complaint(buffer(ElementType::f16, Fill::value, {70000})),
            "70000 to 70000 does not fit f16");
  EXPECT_EQ(fill_complaint(buffer(ElementType::i32, Fill::normal, {0.5, 3.5})), "");
  EXPECT_THAT(fill_complaint(buffer(ElementType::i32, Fill::normal, {0, 1e9})),
              HasSubstr("does not fit i32"));
}

TEST(FillComplaint, IsOfRulesThatMakeNoSense) {
  EXPECT_EQ(fill_complaint(buffer(ElementType::f32, Fill::uniform, {2, 1})), "2 to 1 is empty");
  EXPECT_THAT(fill_complaint(buffer(ElementType::f32, Fill::normal, {0, -1})),
              HasSubstr("negative"));
  EXPECT_THAT(fill_complaint(buffer(ElementType::f64, Fill::uniform, {-1e308, 1e308 * 10})),
              HasSubstr("finite"));
}

TEST(FillText, NamesTheRuleOrTheFileOfAnInput) {
  EXPECT_EQ(fill_text(buffer(ElementType::f32, Fill::random, {})), "");
  EXPECT_EQ(fill_text(buffer(ElementType::f32, Fill::uniform, {0, 0.5})), "uniform 0 to 0.5");
  EXPECT_EQ(fill_text(buffer(ElementType::f32, Fill::range, {1, 2})), "1, 3, …");
  BufferSpec file = buffer(ElementType::f32, Fill::random, {});
  file.file = "data/points.npy";
  EXPECT_EQ(fill_text(file), "from points.npy");
}

constexpr ElementType kF32 = ElementType::f32, kF64 = ElementType::f64, kI32 = ElementType::i32,
                      kI64 = ElementType::i64;

struct Mixed {
  float a;
  std::int64_t b;
  std::int32_t c;
  double d;
  float e;
};
struct Packed {
  float a;
  std::int32_t b;
  double c;
};

TEST(StructLayout, IsThatOfTheCompiler) {
  const auto mixed = laid_out({{"a", kF32}, {"b", kI64}, {"c", kI32}, {"d", kF64}, {"e", kF32}});
  EXPECT_EQ(mixed[0].offset, offsetof(Mixed, a));
  EXPECT_EQ(mixed[1].offset, offsetof(Mixed, b));
  EXPECT_EQ(mixed[2].offset, offsetof(Mixed, c));
  EXPECT_EQ(mixed[3].offset, offsetof(Mixed, d));
  EXPECT_EQ(mixed[4].offset, offsetof(Mixed, e));
  EXPECT_EQ(struct_bytes(mixed), sizeof(Mixed));
  const auto packed = laid_out({{"a", kF32}, {"b", kI32}, {"c", kF64}});
  EXPECT_EQ(packed[2].offset, offsetof(Packed, c));
  EXPECT_EQ(struct_bytes(packed), sizeof(Packed));
}

TEST(StructLayout, OfSmallMembersIsNotPadded) {
  EXPECT_EQ(struct_bytes(laid_out({{"a", kF32}, {"b", kI32}, {"c", kF32}})), 12);
}

class ProblemArrays : public testing::Test {
 protected:
  ProblemArrays() {
    target_.name = "arrays";
    target_.sizes = {"N"};
  }

  ArgumentSpec& add(const std::string& name, const std::string& type) {
    return target_.arguments.emplace_back(ArgumentSpec{.name = name, .type = type});
  }
  ArgumentSpec& add_buffer(const std::string& length, const std::string& type = "f32") {
    ArgumentSpec& buffer = add("a", type);
    buffer.length = Expression::parse(length);
    return buffer;
  }
  ArgumentSpec& add_scalar(const std::string& value, const std::string& type) {
    ArgumentSpec& scalar = add("s", type);
    scalar.value = Expression::parse(value);
    return scalar;
  }
  TargetProgram program(std::int64_t n) const { return {target_, {{{"N", n}}}, {}}; }
  BufferSpec buffer(std::int64_t n) const { return program(n).buffers().at(0); }
  Scalar scalar(std::int64_t n) const { return program(n).scalars().at(0); }

  Target target_;
};

TEST_F(ProblemArrays, LengthsCountTheMembersOfVectors) {
  add_buffer("N * N").width = 4;
  EXPECT_EQ(buffer(3).length, 36);
  EXPECT_EQ(buffer(3).bytes(), 144);
}

TEST_F(ProblemArrays, ALengthWhoseBytesWouldOverflowIsRefused) {
  add_buffer("N").width = 4;
  const std::int64_t most = (std::int64_t{1} << 48) / 4;
  EXPECT_EQ(buffer(most).length, 4 * most);
  EXPECT_REFUSAL(Error, buffer(most + 1), "70368744177665 elements are too many");
  EXPECT_THROW(buffer(std::numeric_limits<std::int64_t>::max()), Error);
}

TEST_F(ProblemArrays, TolerancesAreNumbersFromZero) {
  ArgumentSpec& out = add_buffer("N");
  out.role = Role::output;
  out.tolerance = Expression::parse("N - 4");
  out.absolute = Expression::parse("N - 6");
  EXPECT_EQ(buffer(8).tolerance, 4);
  EXPECT_EQ(buffer(8).absolute, 2);
  EXPECT_REFUSAL(Error, buffer(3), "a.tolerance: \"N - 4\" is -1, it must be 0");
  EXPECT_REFUSAL(Error, buffer(5), "a.absolute: -1 is not an error");
}

TEST_F(ProblemArrays, ScalarsOfOtherTypesNameTheirType) {
  add_scalar("N - 9", "u16");
  EXPECT_EQ(scalar(9).integer, 0);
  EXPECT_REFUSAL(Error, scalar(8), "-1 does not fit u16");
}

TEST_F(ProblemArrays, AnIntegerScalarTakesNoFraction) {
  add("s", "i32").real = 1.5;
  EXPECT_REFUSAL(Error, scalar(1), "s.value: 1.5 is not a value of an integer type");
}

TEST(ParameterTypes, AreInTheSymbolOfTheTemplatesInstance) {
  EXPECT_THAT(
      types_in_symbol("_Z19autotune_parametersIPFvPKfPffi1SP6float4ymPvPKlba4int2EE"),
      ElementsAre("float const*", "float*", "float", "int", "S", "float4*", "unsigned long long",
                  "unsigned long", "void*", "long const*", "bool", "signed char", "int2"));
  EXPECT_THAT(types_in_symbol("_Z19autotune_parametersILi0EPFvPA4_f1PI4PairIifEEEEvv"),
              ElementsAre("float (*) [4]", "P<Pair<int, float> >"));
  EXPECT_THAT(types_in_symbol("_Z19autotune_parametersIPFvvEE"), IsEmpty());
  for (const char* other : {"", "_Z3mulPf", "autotune_parameters", "_Z19autotune_parametersIfE"}) {
    EXPECT_THAT(types_in_symbol(other), IsEmpty()) << other;
  }
}

/// What is said of a buffer `x` of this type and a parameter of that one.
std::string of_buffer(const BufferSpec& buffer, const std::string& parameter) {
  Launch launch;
  launch.entry = "mul";
  launch.arguments = {BufferRef{0}};
  const BufferSpec* const buffers[] = {&buffer};
  return misfit(launch, 0, parameter, buffers);
}

std::string of_buffer(ElementType type, const std::string& parameter) {
  return of_buffer(BufferSpec{"x", type, 16}, parameter);
}

std::string of_scalar(const Scalar& scalar, const std::string& parameter) {
  Launch launch;
  launch.entry = "mul";
  launch.arguments = {BufferRef{0}, scalar};
  return misfit(launch, 1, parameter, {});
}

TEST(ParameterTypes, AnotherTypeIsNamedWithBoth) {
  EXPECT_EQ(of_scalar({ElementType::i32, 2, 0, "a"}, "float"),
            "argument a is i32, parameter 2 of mul is float: give it type = \"f32\"");
  EXPECT_EQ(of_scalar({ElementType::i32, 2}, "float"),
            "argument 2 is i32, parameter 2 of mul is float: give it type = \"f32\"");
  EXPECT_EQ(of_buffer(ElementType::i32, "float const*"),
            "argument x is i32, parameter 1 of mul is const float*: give it type = \"f32\"");
  EXPECT_EQ(of_buffer(ElementType::f32, "float"),
            "argument x is a buffer, parameter 1 of mul is float: pass a scalar");
  EXPECT_EQ(of_scalar({ElementType::f64, 0, 2, "a"}, "double*"),
            "argument a is f64, parameter 2 of mul is double*: pass a buffer");
}

TEST(ParameterTypes, AStructFitsAVectorOfItsTypeAndStructsThatHaveNames) {
  const Scalar x{ElementType::f32, 0, 1, "v.x"}, n{ElementType::i32, 1, 0, "v.n"};
  const auto complaint = [](const Record& record, const std::string& parameter) {
    Launch launch;
    launch.entry = "mul";
    launch.arguments = {record};
    return misfit(launch, 0, parameter, {});
  };
  const Record two{"v", {{x, 0}, {x, 4}}, 8}, mixed{"v", {{x, 0}, {n, 4}}, 8};
  EXPECT_EQ(complaint(two, "float2"), "");
  EXPECT_EQ(complaint(mixed, "Shift"), "");
  EXPECT_EQ(complaint(mixed, "float2"),
            "argument v is {f32 x, i32 n}, parameter 1 of mul is float2: give its type");
  EXPECT_EQ(complaint(mixed, "double"),
            "argument v is {f32 x, i32 n}, parameter 1 of mul is double: give it type = \"f64\"");
  EXPECT_EQ(complaint(mixed, "float*"),
            "argument v is {f32 x, i32 n}, parameter 1 of mul is float*: pass a buffer");
}

TEST(ParameterTypes, ScalarsFitTypesThatReadTheSameNumber) {
  const auto fits = [](ElementType type, const char* parameter) {
    return of_scalar({type, 1, 1}, parameter).empty();
  };
  using E = ElementType;
  for (const char* integer : {"int", "unsigned int", "E", "S<int>", "char4"}) {
    EXPECT_TRUE(fits(E::i32, integer) && fits(E::u32, integer)) << integer;
  }
  for (const char* integer : {"long", "unsigned long", "long long", "unsigned long long", "int2"}) {
    EXPECT_TRUE(fits(E::i64, integer) && fits(E::u64, integer)) << integer;
  }
  EXPECT_TRUE(fits(E::i8, "bool") && fits(E::u8, "char") && fits(E::i16, "unsigned short"));
  EXPECT_TRUE(fits(E::i64, "float*")) << "an address";
  EXPECT_TRUE(fits(E::f32, "float") && fits(E::f64, "double") && fits(E::f16, "__half"));
  EXPECT_TRUE(fits(E::bf16, "__nv_bfloat16") && fits(E::bf16, "unsigned short"));
  EXPECT_FALSE(fits(E::f32, "int") || fits(E::i32, "float") || fits(E::i64, "double") ||
               fits(E::f64, "long long") || fits(E::f16, "__nv_bfloat16") ||
               fits(E::i16, "__half"));
}

TEST(ParameterTypes, BuffersFitPointersToTheirElements) {
  using E = ElementType;
  const auto fits = [](ElementType type, const char* parameter) {
    return of_buffer(type, parameter).empty();
  };
  for (const char* pointer :
       {"float const*", "float*", "float volatile*", "float const volatile*", "float4*",
        "float2 const*", "void*", "char*", "unsigned char const*", "bool*", "int4*", "uint4 const*",
        "float (*) [4]", "Row*", "Vec<float, 4> const*", "Span<float>", "unsigned long long",
        "long"}) {
    EXPECT_TRUE(fits(E::f32, pointer)) << pointer;
  }
  for (const char* pointer :
       {"int*", "unsigned int const*", "double*", "__half*", "double2*", "unsigned int*",
        "long long*", "short*", "__half2*", "double", "int"}) {
    EXPECT_FALSE(fits(E::f32, pointer)) << pointer;
  }
  for (const char* pointer : {"unsigned int*", "int const*", "uint2*", "int4*", "E*"}) {
    EXPECT_TRUE(fits(E::i32, pointer)) << pointer;
  }
  for (const char* pointer : {"float const*", "float4*", "long long*", "short*", "double*"}) {
    EXPECT_FALSE(fits(E::i32, pointer)) << pointer;
  }
  for (const char* pointer : {"__half*", "__half2 const*", "unsigned short*", "unsigned int*",
                              "uint4*", "float4*", "float2 const*"}) {
    EXPECT_TRUE(fits(E::f16, pointer)) << pointer;
  }
  EXPECT_FALSE(fits(E::f16, "__nv_bfloat16*") || fits(E::f16, "float*") ||
               fits(E::bf16, "__half2*"));
  EXPECT_TRUE(fits(E::i8, "int const*") && fits(E::u8, "uint4*") && fits(E::i8, "signed char*"));
  EXPECT_TRUE(fits(E::i64, "long*") && fits(E::u64, "long long*") && fits(E::i64, "int2*"));
  EXPECT_FALSE(fits(E::i64, "int*") || fits(E::f64, "float*") || fits(E::f64, "float2*"));
}

TEST(ParameterTypes, AWorkspaceIsReadAsItsKernelsPlease) {
  const BufferSpec sums{"sums", ElementType::f64, 16, Role::workspace};
  EXPECT_EQ(of_buffer(sums, "float*"), "");
  EXPECT_EQ(of_buffer(sums, "float"),
            "argument sums is a buffer, parameter 1 of mul is float: pass a scalar");
}

TEST(ParameterTypes, StructsFitPointersToAMember) {
  const BufferSpec bodies{.name = "bodies",
                          .type = ElementType::f32,
                          .length = 4,
                          .members = laid_out({{"x", ElementType::f32}, {"id", ElementType::i64}})};
  EXPECT_EQ(of_buffer(bodies, "Body const*"), "");
  EXPECT_EQ(of_buffer(bodies, "float4*"), "");
  EXPECT_EQ(of_buffer(bodies, "double*"),
            "argument bodies is {f32 x, i64 id}, parameter 1 of mul is double*: give it type = "
            "\"f64\"");
}

TEST(ParameterTypes, ATextureIsANumberOrAnObject) {
  const BufferSpec pixels{"pixels", ElementType::f32, 16};
  Launch launch;
  launch.entry = "blur";
  launch.arguments = {Texture{0, {4, 4}}};
  const BufferSpec* const buffers[] = {&pixels};
  EXPECT_EQ(misfit(launch, 0, "unsigned long long", buffers), "");
  EXPECT_EQ(misfit(launch, 0, "Texture<float>", buffers), "");
  EXPECT_EQ(misfit(launch, 0, "float const*", buffers),
            "argument 1 is a texture object over pixels, parameter 1 of blur is const float*: its "
            "type is cudaTextureObject_t");
}

}  // namespace
}  // namespace autotune
