// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/output_file.hpp"

#include <gmock/gmock.h>

#include <ostream>

#include "db/store.hpp"
#include "tests/cli/tool.hpp"
#include "tuner/core/error.hpp"

namespace autotune::cli {
namespace {

using ::testing::HasSubstr;
using testing::Sandbox;

void write_to(const std::filesystem::path& file) {
  write_output(file, [](std::ostream& stream) { stream << "text"; });
}

TEST(OutputFile, ADatabaseIsNotOverwritten) {
  const Sandbox sandbox;
  const auto file = sandbox.folder() / "tuned.db";
  { const db::TunedStore store(file); }
  EXPECT_TRUE(is_database(file));
  EXPECT_THROW(write_to(file), UsageError);
  EXPECT_NO_THROW(db::TunedStore(file, db::Mode::read_only));
}

TEST(OutputFile, OtherFilesAreReplaced) {
  const Sandbox sandbox;
  const auto file = sandbox.write("old", "a longer text than the new one");
  EXPECT_FALSE(is_database(file));
  write_to(file);
  EXPECT_EQ(std::filesystem::file_size(file), 4u);
  for (const char* other : {"/dev/null", "/", "/none"}) EXPECT_FALSE(is_database(other)) << other;
}

TEST(OutputFile, AMissingFolderIsToBeCreated) {
  try {
    write_to(Sandbox().folder() / "none" / "file");
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("create its folder, or name another file"));
  }
}

}  // namespace
}  // namespace autotune::cli
