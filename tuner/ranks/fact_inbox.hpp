// SPDX-License-Identifier: Apache-2.0
// Rows that came from other ranks, on their way into the database of rank 0.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "db/store.hpp"

namespace autotune {

/// Many messages go into one transaction, because a commit waits for the disk.
class FactInbox {
 public:
  /// `warn` hears of rows that the store refuses.
  FactInbox(db::TunedStore& store, std::function<void(const std::string&)> warn);

  /// `now` in seconds of any clock.
  void add(std::string_view lines, double now);
  /// Stores what has waited for a tenth of a second, or is much.
  void store_due(double now);
  /// What has come is on the disk when this returns. Throws db::StoreError, and keeps it then.
  void store_all();

 private:
  db::TunedStore& store_;
  const std::function<void(const std::string&)> warn_;
  std::string lines_;
  double first_came_ = 0;
};

}  // namespace autotune
