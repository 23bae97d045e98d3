// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/places.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "tests/tuner/session/toy.hpp"

namespace autotune {
namespace {

using testing::FakeDevice;

/// With a buffer of N floats.
Target with_buffer() {
  Target target = two_parameters();
  ArgumentSpec buffer{.name = "A", .type = "f32"};
  buffer.length = Expression::parse("N");
  target.arguments = {buffer};
  return target;
}

TEST(Places, AreTwoWhereProblemsTakeTurnsAndTheirBuffersLeaveRoom) {
  const Target target = with_buffer();
  FakeDevice shared(bowl), alone(bowl);
  shared.let_two_take_turns();
  Device* const one = &shared;
  Device* const other = &alone;
  const TuningRequest two = request_for(target, {64, 96});
  EXPECT_EQ(places_of_each(target, two, {&one, 1}), 2u);
  EXPECT_EQ(places_of_each(target, two, {&other, 1}), 1u) << "it takes no turns";
  EXPECT_EQ(places_of_each(target, request_for(target, {64}), {&one, 1}), 1u);
  const std::vector<Device*> both{one, other};
  EXPECT_EQ(places_of_each(target, request_for(target, {64, 96, 128}), both), 1u);

  EXPECT_EQ(buffer_bytes(target, two.problems[1], shared.info()), 384);
  shared.mutable_info().memory_bytes = 16 * 384;
  EXPECT_EQ(places_of_each(target, two, {&one, 1}), 2u);
  shared.mutable_info().memory_bytes = 16 * 384 - 1;
  EXPECT_EQ(places_of_each(target, two, {&one, 1}), 1u);
}

TEST(Places, TheLongestProblemComesFirstUnlessTheOrderIsGiven) {
  const Target target = with_buffer();
  const DeviceInfo device = FakeDevice(bowl).info();
  TuningRequest request = request_for(target, {64, 96});
  EXPECT_EQ(queue_of(target, request, device, 1).next(2), (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(queue_of(target, request, device, 2).next(2), (std::vector<std::size_t>{1, 0}));
  request.weights = {2, 1};
  EXPECT_EQ(queue_of(target, request, device, 2).next(2), (std::vector<std::size_t>{0, 1}));
}

}  // namespace
}  // namespace autotune
