// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/session_rows.hpp"

#include <gtest/gtest.h>

#include "tests/tuner/session/toy.hpp"

namespace autotune {
namespace {

using SessionRowsTest = StoreTest;

TEST_F(SessionRowsTest, EachSessionHasItsOwnRowAndSharesDeviceAndKernel) {
  const testing::FakeDevice device(bowl);
  const Target target = two_parameters();
  db::TunedStore store = open_store();
  const SessionRows one = begin_session(&store, target, device, request_for(target, {64}));
  const SessionRows other = begin_session(&store, target, device, request_for(target, {64}));
  EXPECT_NE(one.session, other.session);
  EXPECT_EQ(one.device, other.device);
  EXPECT_EQ(one.kernel, other.kernel);
}

TEST_F(SessionRowsTest, ASessionHasTheHashOfTheSpace) {
  const testing::FakeDevice device(bowl);
  Target target = two_parameters();
  target.space_fingerprint = "space-1";
  db::TunedStore store = open_store();
  const SessionRows rows = begin_session(&store, target, device, request_for(target, {64}));
  EXPECT_EQ(store.session(rows.session)->space, "space-1");
  EXPECT_FALSE(store.session("none"));
}

TEST_F(SessionRowsTest, WithoutAStoreThereAreNone) {
  const testing::FakeDevice device(bowl);
  const Target target = two_parameters();
  EXPECT_EQ(begin_session(nullptr, target, device, request_for(target, {64})).session, "");
}

}  // namespace
}  // namespace autotune
