// SPDX-License-Identifier: Apache-2.0
#include "tuner/text/file_text.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"

namespace autotune {

namespace fs = std::filesystem;

std::string why_unreadable(const fs::path& file, std::uint64_t most) {
  std::error_code failed;
  const fs::file_type type = fs::status(file, failed).type();
  if (type == fs::file_type::not_found) return std::strerror(ENOENT);
  if (failed) return failed.message();
  if (type == fs::file_type::directory) return "it is a folder";
  if (type == fs::file_type::fifo || type == fs::file_type::socket) return "it is a pipe";
  if (type != fs::file_type::regular) return "it is a device";
  const std::uint64_t bytes = fs::file_size(file, failed);
  if (failed) return failed.message();
  if (bytes <= most) return {};
  return format("it has {}, the most are {}", bytes_text(static_cast<std::int64_t>(bytes)),
                bytes_text(static_cast<std::int64_t>(most)));
}

FileText read_text_file(const fs::path& file, std::uint64_t most) {
  if (std::string why = why_unreadable(file, most); !why.empty()) return {{}, std::move(why)};
  std::ifstream stream(file, std::ios::binary);
  if (!stream) return {{}, std::strerror(errno)};
  std::stringstream text;
  text << stream.rdbuf();
  std::string all = std::move(text).str();
  if (all.starts_with("\xff\xfe") || all.starts_with("\xfe\xff")) {
    return {{}, "it is in UTF-16: save it as UTF-8"};
  }
  if (all.starts_with("\xef\xbb\xbf")) all.erase(0, 3);
  return {std::move(all), {}};
}

}  // namespace autotune
