// SPDX-License-Identifier: Apache-2.0
#include "tuner/json/json.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "tuner/core/error.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

/// How far a text was read before it stopped being JSON, and the last word there.
struct ErrorPlace : nlohmann::detail::json_sax_acceptor<Json> {
  std::size_t read = 0;
  std::string word;

  bool parse_error(std::size_t position, const std::string& last_word, const Json::exception&) {
    read = position;
    word = last_word;
    return false;
  }
};

ErrorPlace error_place(std::string_view text) {
  ErrorPlace place;
  Json::sax_parse(text, &place, Json::input_format_t::json, true, /*ignore_comments=*/true);
  place.read = std::min(place.read, text.size());
  return place;
}

/// `parse error at line 3, column 5`.
std::string error_at(std::string_view text, std::size_t position) {
  const std::string_view before = text.substr(0, position);
  return format("parse error at line {}, column {}", 1 + std::ranges::count(before, '\n'),
                position - before.rfind('\n'));
}

/// `[json.exception…] parse error at line 3, column 5: …; last read: 'all comments before, text'`
/// from the second colon on, with only the last line of what was read.
std::string without_place(std::string what) {
  static constexpr std::string_view kLastRead = "last read: '", kNewLine = "<U+000A>";
  const std::size_t read = what.find(kLastRead);
  if (read != std::string::npos) {
    if (what.ends_with(format("{}'", kNewLine)))
      what.erase(what.size() - kNewLine.size() - 1, kNewLine.size());
    const std::size_t start = read + kLastRead.size(), line = what.rfind(kNewLine);
    if (line != std::string::npos && line >= start)
      what.erase(start, line + kNewLine.size() - start);
  }
  return what.substr(what.find(": ", what.find("column")) + 2);
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
    const std::size_t read = error_place(text).read;
    throw Error(format("{}: {}: {}", file, error_at(text, read - std::min<std::size_t>(read, 1)),
                       without_place(error.what())));
  } catch (const Json::out_of_range&) {
    const ErrorPlace number = error_place(text);
    throw Error(format("{}: {}: the number {} is too large", file,
                       error_at(text, number.read - number.word.size()), number.word));
  }
}

std::string json_text(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace autotune
