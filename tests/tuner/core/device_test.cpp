// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/device.hpp"

#include <gmock/gmock.h>

namespace autotune {
namespace {

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
