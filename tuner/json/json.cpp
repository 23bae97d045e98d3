// SPDX-License-Identifier: Apache-2.0
#include "tuner/json/json.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "tuner/core/error.hpp"
#include "tuner/text/format.hpp"

namespace autotune {

Json read_json(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw Error(format("{}: cannot be read: {}", file.string(), std::strerror(errno)));
  std::stringstream text;
  text << stream.rdbuf();
  return parse_json(text.str(), file.string());
}

Json parse_json(std::string_view text, std::string_view file) {
  try {
    return Json::parse(text, nullptr, true, /*ignore_comments=*/true);
  } catch (const Json::parse_error& error) {
    const std::string what =
        error.what();  // "[json.exception…] parse error at line 3, column 5: …"
    const auto at = what.find("parse error");
    throw Error(format("{}: {}", file, at == std::string::npos ? what : what.substr(at)));
  }
}

}  // namespace autotune
