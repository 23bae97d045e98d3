// SPDX-License-Identifier: Apache-2.0
#include "tuner/target/new_target.hpp"

#include <gmock/gmock.h>

#include "tests/tuner/target/scratch.hpp"
#include "tuner/core/error.hpp"
#include "tuner/target/manifest.hpp"

namespace autotune {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(NewTarget, TheNameMustBeOneInCToo) {
  for (const char* const name : {"", "my-kernel", "2nd", "größe", "a b"}) {
    EXPECT_THAT([&] { new_target_files(name); },
                ThrowsMessage<UsageError>(HasSubstr("\"" + std::string(name) + "\" cannot name")))
        << name;
  }
}

TEST(NewTarget, ANameThatHoldsThePlaceholderIsWrittenOnce) {
  const TargetFiles files = new_target_files("MY_NAME");
  EXPECT_THAT(files.source, HasSubstr(" MY_NAME_kernel("));
  const ScratchFolder folder;
  folder.write("MY_NAME.cu", files.source);
  const Target target = load_manifest(folder.write("MY_NAME.target.toml", files.manifest));
  EXPECT_EQ(target.name, "MY_NAME");
}

}  // namespace
}  // namespace autotune
