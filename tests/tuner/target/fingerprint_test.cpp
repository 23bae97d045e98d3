// SPDX-License-Identifier: Apache-2.0
#include "tuner/target/fingerprint.hpp"

#include <gtest/gtest.h>

#include "tests/support/hidden_headers.hpp"
#include "tests/tuner/target/scratch.hpp"

namespace autotune {
namespace {

TEST(Fingerprint, ChangesWithEveryHeaderHoweverItIsRead) {
  const ScratchFolder folder;
  const HiddenHeaders headers(folder.path());
  for (const auto& way : headers.ways()) {
    Target target;
    target.source_text = way.text;
    target.include_folders = headers.folders();
    target.options = way.options;
    headers.write("#define VALUE 1\n");
    const std::string before = measurement_fingerprint(target);
    EXPECT_EQ(measurement_fingerprint(target), before);
    headers.write("#error gone\n");
    EXPECT_NE(measurement_fingerprint(target), before) << way.text;
  }
}

}  // namespace
}  // namespace autotune
