// SPDX-License-Identifier: Apache-2.0
#include "tuner/worker/channel.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <thread>

namespace autotune {
namespace {

std::array<int, 2> sockets() {
  std::array<int, 2> ends{};
  EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
  return ends;
}

TEST(Channel, CarriesLargeMessagesBothWays) {
  const auto ends = sockets();
  Channel here(ends[0]), there(ends[1]);
  const std::string bytes(5 << 20, 'x');
  std::thread echo([&] {
    while (auto message = there.receive(-1)) there.send(message->header, message->bytes, 10);
  });
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(here.send({{"number", i}}, bytes, 10), Silence::none);
    const auto message = here.receive(10);
    ASSERT_TRUE(message);
    EXPECT_EQ(message->header.at("number"), i);
    EXPECT_EQ(message->bytes, bytes);
  }
  shutdown(ends[0], SHUT_RDWR);
  echo.join();
}

TEST(Channel, SaysWhetherTheOtherEndIsSlowOrGone) {
  const auto ends = sockets();
  Channel here(ends[0]);
  {
    Channel there(ends[1]);
    EXPECT_FALSE(here.receive(0.02));
    EXPECT_EQ(here.silence(), Silence::timeout);
  }
  EXPECT_FALSE(here.receive(1));
  EXPECT_EQ(here.silence(), Silence::closed);
  EXPECT_EQ(here.send({}, "x", 1), Silence::closed);
}

TEST(Channel, AReaderThatIsStuckEndsTheSend) {
  const auto ends = sockets();
  Channel here(ends[0]), there(ends[1]);
  EXPECT_EQ(here.send({}, std::string(50 << 20, 'x'), 0.05), Silence::timeout);
}

TEST(Channel, WhatIsNoMessageIsAnEnd) {
  const auto ends = sockets();
  Channel here(ends[0]), there(ends[1]);
  const std::string nonsense(64, '\xff');
  ASSERT_EQ(write(ends[1], nonsense.data(), nonsense.size()), 64);
  EXPECT_FALSE(here.receive(1));
  EXPECT_EQ(here.silence(), Silence::closed);
}

}  // namespace
}  // namespace autotune
