// SPDX-License-Identifier: Apache-2.0
// How the processes of a run reach each other. MPI is one implementation, a test's memory another.
#pragma once

#include <optional>
#include <string>

namespace autotune {

/// Bytes from a rank, or to one.
struct Packet {
  int from = 0;
  std::string bytes;
};

/// For one thread. Packets from one rank arrive in the order sent.
class Transport {
 public:
  virtual ~Transport() = default;
  virtual int rank() const = 0;
  /// The number of processes.
  virtual int size() const = 0;
  /// Never blocks. What is sent to a dead rank is dropped without an error.
  virtual void send(int to, std::string bytes) = 0;
  /// The next packet, if one has arrived. Never blocks.
  virtual std::optional<Packet> receive() = 0;
};

}  // namespace autotune
