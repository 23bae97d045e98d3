// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/kernel_arguments.hpp"

#include "tests/support/matchers.hpp"

namespace autotune {
namespace {

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
