// SPDX-License-Identifier: Apache-2.0
// What tuned problems teach the others, kept by rank 0 as text.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "tuner/core/value.hpp"

namespace autotune {

class Lessons {
 public:
  void add(const NamedValues& problem, std::string text);
  /// The lessons of the problems nearest to this one, less those in `known`, which are added to it.
  std::vector<std::string> about(const NamedValues& problem, std::set<std::size_t>& known) const;

 private:
  std::vector<NamedValues> problems_;
  std::vector<std::string> texts_;
};

}  // namespace autotune
