// SPDX-License-Identifier: Apache-2.0
// Every rank runs the test. ctest starts it once by itself, where it skips, and once by mpirun.
#include "tuner/mpi/mpi_transport.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>

namespace autotune {
namespace {

std::optional<Packet> wait_for_packet(MpiTransport& transport) {
  for (int i = 0; i < 20000; ++i) {
    if (auto packet = transport.receive()) return packet;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return std::nullopt;
}

/// Above any size that MPI sends before the receiver asks for it.
std::string long_text(int number) {
  return std::string(std::size_t{8} << 20, static_cast<char>('a' + number));
}

TEST(MpiTransport, PacketsOfARankArriveWholeAndInOrder) {
  if (std::getenv("OMPI_COMM_WORLD_SIZE") == nullptr) GTEST_SKIP() << "not started by mpirun";
  int argc = 0;
  char** argv = nullptr;
  MpiTransport transport(argc, argv);
  ASSERT_GE(transport.size(), 2);
  EXPECT_EQ(transport.rank() == 0 ? 0 : transport.rank() - 1, transport.local_rank());
  const int next = (transport.rank() + 1) % transport.size();
  const int before = (transport.rank() + transport.size() - 1) % transport.size();
  for (int i = 0; i < 3; ++i) {
    transport.send(next, long_text(i));
    transport.send(next, "");
    transport.send(next, "packet " + std::to_string(i));
  }
  for (int i = 0; i < 3; ++i) {
    for (const std::string& expected :
         {long_text(i), std::string(), "packet " + std::to_string(i)}) {
      const auto packet = wait_for_packet(transport);
      ASSERT_TRUE(packet);
      EXPECT_EQ(packet->from, before);
      EXPECT_TRUE(packet->bytes == expected) << packet->bytes.size() << " bytes";
    }
  }
  EXPECT_FALSE(transport.receive());
  transport.flush();
  transport.finalize([] { _exit(HasFailure() ? 1 : 0); });
}

}  // namespace
}  // namespace autotune
