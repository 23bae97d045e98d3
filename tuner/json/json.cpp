// SPDX-License-Identifier: Apache-2.0
#include "tuner/json/json.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "tuner/core/error.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

/// `[json.exception…] parse error at line 3, column 5: …; last read: 'all comments before, text'`
/// from the position on, with only the last line of what was read.
std::string plain(std::string what) {
  static constexpr std::string_view kLastRead = "last read: '", kNewLine = "<U+000A>";
  const std::size_t read = what.find(kLastRead), line = what.rfind(kNewLine);
  if (read != std::string::npos && line != std::string::npos && line > read) {
    const std::size_t start = read + kLastRead.size();
    what.erase(start, line + kNewLine.size() - start);
  }
  const std::size_t at = what.find("parse error");
  return at == std::string::npos ? what : what.substr(at);
}

}  // namespace

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
    throw Error(format("{}: {}", file, plain(error.what())));
  }
}

}  // namespace autotune
