// SPDX-License-Identifier: Apache-2.0
// The sizes that each cover of a device spans. A cover is a set of few configurations that
// `autotune cover` pinned for many problems.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "db/past_times.hpp"

namespace autotune {

class Covers {
 public:
  /// `same_device` has a value for each of `times.devices`; covers of other devices are left out.
  Covers(const db::PastTimes& times, const std::vector<bool>& same_device);

  /// Whether every size lies between the least and the greatest of the cover's problems. False for
  /// an unknown cover.
  bool spans(const std::string& cover, std::span<const std::int64_t> sizes) const;

 private:
  struct Box {
    std::vector<std::int64_t> low, high;
  };
  std::map<std::string, Box> boxes_;  // by the cover's name
};

}  // namespace autotune
