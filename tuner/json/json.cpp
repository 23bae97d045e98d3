// SPDX-License-Identifier: Apache-2.0
#include "tuner/json/json.hpp"

#include <algorithm>

#include "tuner/core/error.hpp"
#include "tuner/text/file_text.hpp"
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

/// Throws Error if a text contains \u0000, which would truncate messages.
void expect_no_zero(const std::string& text, std::string_view file) {
  const std::size_t zero = text.find('\0');
  if (zero == text.npos) return;
  throw Error(format("{}: a text has \\u0000 after \"{}\": leave it out", file,
                     std::string_view(text).substr(0, zero)));
}

/// Stops parsing where a document is nested too deeply.
struct DepthCheck : nlohmann::detail::json_sax_acceptor<Json> {
  int depth = 0;

  bool start_object(std::size_t) { return ++depth <= kDeepestJson; }
  bool start_array(std::size_t) { return ++depth <= kDeepestJson; }
  bool end_object() { return --depth >= 0; }
  bool end_array() { return --depth >= 0; }
};

}  // namespace

Json read_json(const std::filesystem::path& file) {
  const FileText read = read_text_file(file, kLargestJsonFile);
  if (!read.refusal.empty()) {
    throw Error(format("{}: cannot be read: {}", file.string(), read.refusal));
  }
  return parse_json(read.text, file.string());
}

Json parse_json(std::string_view text, std::string_view file) {
  // nlohmann-json would take a zero byte for the end of the text.
  if (const std::size_t zero = text.find('\0'); zero != text.npos) {
    throw Error(format("{}: {}: a zero byte: leave it out", file, error_at(text, zero)));
  }
  const auto expect_usable = [&](int depth, Json::parse_event_t, const Json& value) {
    if (depth > kDeepestJson) {
      throw Error(
          format("{}: arrays and objects are nested more than {} deep", file, kDeepestJson));
    }
    if (value.is_string()) expect_no_zero(value.get_ref<const std::string&>(), file);
    return true;
  };
  try {
    return Json::parse(text, expect_usable, true, /*ignore_comments=*/true);
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

std::optional<Json> parse_cbor(std::string_view bytes) try {
  // The parser recurses for each level: check the depth first.
  DepthCheck depth;
  if (!Json::sax_parse(bytes, &depth, Json::input_format_t::cbor)) return std::nullopt;
  return Json::from_cbor(bytes);
} catch (const Json::exception&) {
  return std::nullopt;  // an array that claims more elements than there can be
}

void CheckedJson::fail(std::string_view what) const {
  throw Error(key_.empty() ? format("{}: {}", file_, what)
                           : format("{}: {}: {}", file_, key_, what));
}

void CheckedJson::expect(bool is, std::string_view what) const {
  if (!is) fail(format("expected {}, got {}", what, json_->type_name()));
}

std::optional<CheckedJson> CheckedJson::find(std::string_view name) const {
  expect(json_->is_object(), "an object");
  const auto found = json_->find(name);
  if (found == json_->end()) return std::nullopt;
  return CheckedJson(*found, file_, key_.empty() ? std::string(name) : format("{}.{}", key_, name));
}

CheckedJson CheckedJson::operator[](std::string_view name) const {
  if (const auto found = find(name)) return *found;
  fail(format("\"{}\" is missing", name));
}

std::vector<CheckedJson> CheckedJson::items(std::size_t fewest) const {
  expect(json_->is_array(), "an array");
  if (json_->size() < fewest)
    fail(format("has {} items, expected {} or more", json_->size(), fewest));
  std::vector<CheckedJson> items;
  for (std::size_t i = 0; i < json_->size(); ++i) {
    items.emplace_back((*json_)[i], file_, format("{}[{}]", key_, i));
  }
  return items;
}

std::vector<std::pair<std::string, CheckedJson>> CheckedJson::members() const {
  expect(json_->is_object(), "an object");
  std::vector<std::pair<std::string, CheckedJson>> members;
  for (const auto& [name, value] : json_->items()) {
    members.emplace_back(name, CheckedJson(value, file_, format("{}.{}", key_, name)));
  }
  return members;
}

std::string CheckedJson::text() const {
  expect(json_->is_string(), "a text in quotes");
  return json_->get<std::string>();
}

}  // namespace autotune
