// SPDX-License-Identifier: Apache-2.0
#include "tuner/file/file_system.hpp"

#include <sys/vfs.h>

namespace autotune {

namespace fs = std::filesystem;

std::string_view shared_file_system_of_type(long type) {
  switch (type & 0xffffffffL) {
    case 0x6969:
      return "NFS";
    case 0x0BD00BD0:
      return "Lustre";
    case 0x47504653:
      return "GPFS";
    case 0xFF534D42:
    case 0xFE534D42:
      return "SMB";
    default:
      return "";
  }
}

std::string_view shared_file_system(const fs::path& file) {
  std::error_code failed;
  for (fs::path path = fs::absolute(file, failed); !failed; path = path.parent_path()) {
    struct statfs status {};
    if (statfs(path.c_str(), &status) == 0) return shared_file_system_of_type(status.f_type);
    if (path == path.root_path()) break;
  }
  return "";
}

}  // namespace autotune
