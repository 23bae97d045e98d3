// SPDX-License-Identifier: Apache-2.0
#include "tuner/worker/wire.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace autotune {
namespace {

/// As it arrives on the other side.
Json received(const Json& json) { return Json::from_cbor(Json::to_cbor(json)); }

LaunchPlan plan() {
  const Scalar integer{ElementType::i64, -5, 0}, real{ElementType::f64, 0, 0.1, "alpha"};
  const TensorMap map{1, {64, 32}, {256}, {16, 8}, 128, true};
  const Texture texture{2, {640, 480}, 4, TextureFilter::linear, TextureAddress::mirror, true};
  const Launch launch{"kernel",  {2, 3, 4}, {32, 2, 1},
                      {2, 1, 1}, 100 << 10, {BufferRef{3}, integer, real, map, texture},
                      true};
  BufferSpec space{"space", ElementType::i32, 77, Role::workspace, Fill::zero, 0};
  space.members = {{"id", ElementType::i32, 0}, {"x", ElementType::f64, 8}};
  return {{space}, {launch, Launch{}}, {{1, "weights"}}, {launch}};
}

TEST(Wire, KeepsALaunchPlan) {
  EXPECT_EQ(launch_plan_of(received(wire_of(plan()))), plan());
  EXPECT_EQ(launch_plan_of(received(wire_of(LaunchPlan{}))), LaunchPlan{});
}

TEST(Wire, KeepsCountersAndRefusesWhatIsNoNumber) {
  const Counters counters{{"instructions", "warp instructions", 2e6}, {"l2_bytes", "bytes", 0}};
  EXPECT_EQ(counters_in(received(wire_of(counters))), counters);
  const double infinite = std::numeric_limits<double>::infinity();
  EXPECT_THROW(counters_in(wire_of(Counters{{"l2_bytes", "bytes", infinite}})), WireError);
}

TEST(Wire, KeepsAnEnergyAndRefusesWhatIsNone) {
  const Energy energy = energy_of(received(wire_of(Energy{1.5e-3, 300, 0.31, 0.01})));
  EXPECT_EQ(energy.joules, 1.5e-3);
  EXPECT_EQ(energy.seconds, 0.31);
  EXPECT_EQ(energy.resolution, 0.01);
  EXPECT_THROW(energy_of(wire_of(Energy{-1, 300, 0.3, 0})), WireError);
}

TEST(Wire, KeepsAWorkload) {
  Workload workload;
  workload.problem = "M=1";
  workload.buffers = {{"a", ElementType::f64, 10, Role::inout, Fill::iota, 0.1}};
  workload.buffers[0].file = "/b.npy";
  workload.buffers[0].file_offset = 128;
  workload.buffers[0].absolute = 1e-6;
  workload.buffers.push_back({"b", ElementType::i32, 3, Role::checked, Fill::uniform});
  workload.buffers[1].fill_values = {-1, 2.5};
  workload.buffers[1].seed = ~std::uint64_t{0};
  workload.preparation = plan();
  workload.scalars = {{ElementType::f32, 0, -2, "beta"}};
  workload.reference_source = {"a.cu", "#define A\n", "text \xff", {"/a b", "c"}, {"-DX"}, {"e"}};
  workload.reference = plan();
  workload.expected_file = "/x.bin";
  workload.float64_outputs = false;
  workload.seed = ~std::uint64_t{0};
  workload.form = LaunchForm::stream;
  workload.reference_source.text =
      "text \n\0"
      "more";
  const Workload got = workload_of(received(wire_of(workload)));
  EXPECT_EQ(got.problem, workload.problem);
  EXPECT_EQ(got.buffers, workload.buffers);
  EXPECT_EQ(got.scalars, workload.scalars);
  EXPECT_EQ(got.reference_source.name, "a.cu");
  EXPECT_EQ(got.reference_source.prelude, workload.reference_source.prelude);
  EXPECT_EQ(got.reference_source.text, workload.reference_source.text);
  EXPECT_EQ(got.reference_source.include_folders, workload.reference_source.include_folders);
  EXPECT_EQ(got.reference_source.options, workload.reference_source.options);
  EXPECT_EQ(got.reference_source.entries, workload.reference_source.entries);
  EXPECT_EQ(got.reference, workload.reference);
  EXPECT_EQ(got.preparation, workload.preparation);
  EXPECT_EQ(got.expected_file, workload.expected_file);
  EXPECT_FALSE(got.float64_outputs);
  EXPECT_EQ(got.seed, workload.seed);
  EXPECT_EQ(got.form, LaunchForm::stream);
}

TEST(Wire, KeepsAKernelAndItsResources) {
  CompiledKernel kernel;
  kernel.key = "abc";
  kernel.resources = {{"first", 32, 1024, 8, 256, {{8, 4}}}, {"second"}};
  const CompiledKernel got = compiled_kernel_of(received(wire_of(kernel)), std::string("\0ELF", 4));
  EXPECT_EQ(got.key, "abc");
  EXPECT_EQ(got.resources, kernel.resources);
  EXPECT_EQ(*got.binary, std::string("\0ELF", 4));
}

TEST(Wire, KeepsAVerdictEvenWhenItsErrorIsInfinite) {
  const double infinity = std::numeric_limits<double>::infinity();
  const Verdict got =
      verdict_of(received(wire_of(Verdict{Outcome::wrong, "C[0] is nan", infinity})));
  EXPECT_EQ(got.outcome, Outcome::wrong);
  EXPECT_EQ(got.message, "C[0] is nan");
  EXPECT_TRUE(std::isinf(got.worst_error));
}

TEST(Wire, KeepsTheL2StateOfABatch) {
  const TimedBatch got = timed_batch_of(received(wire_of(TimedBatch{1e-5, 1e9, L2State::cold})));
  EXPECT_EQ(got.seconds, 1e-5);
  EXPECT_EQ(got.clock_hz, 1e9);
  EXPECT_EQ(got.l2, L2State::cold);
}

TEST(Wire, RefusesTimesThatAreNone) {
  for (const double time : {-1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    EXPECT_THROW(timed_batch_of(wire_of(TimedBatch{time})), WireError) << time;
  }
}

TEST(Wire, RefusesNumbersThatNameNothing) {
  for (const int number : {-1, kOutcomes, 1000}) {
    EXPECT_THROW(outcome_of(number), WireError) << number;
    EXPECT_THROW(throw_failure_in({{"failure", number}, {"what", ""}}), WireError) << number;
  }
  Json workload = wire_of(Workload{});
  workload["form"] = 2;
  EXPECT_THROW(workload_of(workload), WireError);
}

TEST(Wire, ThrowsAgainWhatADeviceThrew) {
  try {
    throw_failure_in(received(wire_of(KernelFailure(Outcome::timeout, "late"))));
    FAIL();
  } catch (const KernelFailure& failure) {
    EXPECT_EQ(failure.outcome(), Outcome::timeout);
    EXPECT_STREQ(failure.what(), "late");
  }
  EXPECT_THROW(throw_failure_in({{"error", "no memory"}}), Error);
  EXPECT_NO_THROW(throw_failure_in({{"seconds", 1}}));
}

TEST(Wire, WhatCannotBeReadIsNoAnswer) {
  const auto time = [](const Json& said) { return said.at("seconds").get<double>(); };
  EXPECT_EQ(read_message({{"seconds", 2.0}}, time), 2.0);
  EXPECT_THROW(read_message({{"seconds", "x"}}, time), WireError);
  EXPECT_THROW(read_message(Json::object(), time), WireError);
}

}  // namespace
}  // namespace autotune
