// SPDX-License-Identifier: Apache-2.0
// A store for a test, with the device, kernel and session of a sample.
#pragma once

#include <gtest/gtest.h>

#include "tests/db/sample.hpp"

namespace autotune::db {

class SampledStore : public testing::Test {
 protected:
  std::string best() const {
    const auto best = store_.best(sample_.key);
    return best ? best->configuration : "nothing";
  }

  TemporaryFolder folder_;
  const std::filesystem::path path_ = folder_ / "t.db";
  TunedStore store_{path_};
  Sample sample_{store_};
};

}  // namespace autotune::db
