// SPDX-License-Identifier: Apache-2.0
#include "tuner/json/json.hpp"

#include "tuner/core/error.hpp"
#include "tuner/text/file_text.hpp"
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
  if (at != std::string::npos) return what.substr(at);
  const std::size_t name = what.find("] ");  // of the exception
  return name == std::string::npos ? what : what.substr(name + 2);
}

/// Goes through a document and stops where it is nested too deeply.
class DepthCheck final : public Json::json_sax_t {
 public:
  bool start_object(std::size_t) override { return ++depth_ <= kDeepestJson; }
  bool start_array(std::size_t) override { return ++depth_ <= kDeepestJson; }
  bool end_object() override { return --depth_ >= 0; }
  bool end_array() override { return --depth_ >= 0; }
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(Json::number_integer_t) override { return true; }
  bool number_unsigned(Json::number_unsigned_t) override { return true; }
  bool number_float(Json::number_float_t, const std::string&) override { return true; }
  bool string(std::string&) override { return true; }
  bool binary(Json::binary_t&) override { return true; }
  bool key(std::string&) override { return true; }
  bool parse_error(std::size_t, const std::string&, const Json::exception&) override {
    return false;
  }

 private:
  int depth_ = 0;
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
  const auto is_shallow = [&](int depth, Json::parse_event_t, const Json&) {
    if (depth <= kDeepestJson) return true;
    throw Error(format("{}: arrays and objects are nested more than {} deep", file, kDeepestJson));
  };
  try {
    return Json::parse(text, is_shallow, true, /*ignore_comments=*/true);
  } catch (const Json::exception& error) {
    throw Error(format("{}: {}", file, plain(error.what())));
  }
}

std::optional<Json> parse_cbor(std::string_view bytes) try {
  // The parser calls itself for each level: first see that there are few.
  DepthCheck depth;
  if (!Json::sax_parse(bytes, &depth, Json::input_format_t::cbor)) return std::nullopt;
  return Json::from_cbor(bytes);
} catch (const Json::exception&) {
  return std::nullopt;  // an array that claims more elements than there can be
}

}  // namespace autotune
