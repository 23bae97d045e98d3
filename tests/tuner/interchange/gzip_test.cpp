// SPDX-License-Identifier: Apache-2.0
#include "tuner/interchange/gzip.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "tuner/core/error.hpp"

namespace autotune {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

/// What `gzip` makes of the line {"cache": 1}.
const unsigned char kPacked[] = {0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0xff, 0xab,
                                 0x56, 0x4a, 0x4e, 0x4c, 0xce, 0x48, 0x55, 0xb2, 0x52, 0x30, 0xac,
                                 0xe5, 0x02, 0x00, 0xbe, 0xf0, 0x14, 0xb0, 0x0d, 0x00, 0x00, 0x00};
const std::string kText = "{\"cache\": 1}\n";

fs::path written(const std::string& bytes) {
  const fs::path file =
      fs::path(::testing::TempDir()) / ("gzip_" + std::to_string(getpid()) + ".json.gz");
  std::ofstream(file, std::ios::binary) << bytes;
  return file;
}

const std::string packed(reinterpret_cast<const char*>(kPacked), sizeof kPacked);

TEST(Gzip, FilesAreUnpackedAndOthersReadAsTheyAre) {
  EXPECT_EQ(read_maybe_gzip(written(packed)), kText);
  EXPECT_EQ(read_maybe_gzip(written(kText)), kText);
  EXPECT_EQ(read_maybe_gzip(written("")), "");
}

TEST(Gzip, AFileThatUnpacksToManyTimesItsSizeIsRefused) {
  const fs::path file = written("");
  ASSERT_EQ(std::system(("head -c 40000000 /dev/zero | gzip > '" + file.string() + "'").c_str()),
            0);
  EXPECT_THAT([&] { read_maybe_gzip(file); },
              ThrowsMessage<Error>(HasSubstr("has more than 16.00 MiB when unpacked")));
}

TEST(Gzip, ADamagedOrMissingFileIsNamed) {
  std::string damaged = packed;
  damaged[packed.size() - 8] ^= 1;  // of the checksum
  EXPECT_THAT([&] { read_maybe_gzip(written(damaged)); }, ThrowsMessage<Error>(HasSubstr("gzip_")));
  EXPECT_THAT([&] { read_maybe_gzip(written(packed.substr(0, packed.size() - 10))); },
              ThrowsMessage<Error>(HasSubstr("gzip_")));
  EXPECT_THAT([] { read_maybe_gzip("none.json.gz"); },
              ThrowsMessage<Error>(HasSubstr("none.json.gz")));
}

}  // namespace
}  // namespace autotune
