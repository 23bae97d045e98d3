// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/outcome.hpp"

#include <gmock/gmock.h>

#include <set>

#include "tuner/core/deadline.hpp"
#include "tuner/core/device.hpp"
#include "tuner/core/error.hpp"

namespace autotune {
namespace {

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
