// SPDX-License-Identifier: Apache-2.0
// A store for a test, with the device, kernel and session of a sample.
#pragma once

#include <gtest/gtest.h>

#include "tests/db/sample.hpp"

namespace autotune::db {

class SampledStore : public testing::Test {
 protected:
  TemporaryFolder folder_;
  TunedStore store_{folder_ / "t.db"};
  Sample sample_{store_};
};

}  // namespace autotune::db
