// SPDX-License-Identifier: Apache-2.0
// How the processes of a run reach each other. MPI is one implementation, a test's memory another.
#pragma once

#include <optional>
#include <string>

namespace autotune {

struct Letter {
  int from = 0;
  std::string bytes;
};

/// For one thread. Letters from one rank arrive in the order sent.
class Transport {
 public:
  virtual ~Transport() = default;
  virtual int rank() const = 0;
  /// The number of processes.
  virtual int size() const = 0;
  /// Never waits. A rank that has died gets nothing, and nothing is said.
  virtual void send(int to, std::string bytes) = 0;
  /// A letter that has come; never waits.
  virtual std::optional<Letter> receive() = 0;
};

}  // namespace autotune
