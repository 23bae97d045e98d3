// SPDX-License-Identifier: Apache-2.0
#include "tuner/file/file_system.hpp"

#include <gtest/gtest.h>

namespace autotune {
namespace {

TEST(FileSystem, NamesThoseThatHostsShare) {
  EXPECT_EQ(shared_file_system_of_type(0x6969), "NFS");
  EXPECT_EQ(shared_file_system_of_type(0x0BD00BD0), "Lustre");
  EXPECT_EQ(shared_file_system_of_type(0x47504653), "GPFS");
  EXPECT_EQ(shared_file_system_of_type(0xFE534D42), "SMB");
  EXPECT_EQ(shared_file_system_of_type(0xEF53), "") << "ext4";
  EXPECT_EQ(shared_file_system_of_type(static_cast<int>(0x9123683EU)), "")
      << "btrfs, with its sign";
}

TEST(FileSystem, OfAFileThatIsNotThereItIsTheOneOfItsFolder) {
  EXPECT_EQ(shared_file_system("/proc/no/such/folder/file"), "");
}

}  // namespace
}  // namespace autotune
