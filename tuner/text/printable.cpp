// SPDX-License-Identifier: Apache-2.0
#include "tuner/text/printable.hpp"

#include "tuner/text/format.hpp"

namespace autotune {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

unsigned byte(char letter) { return static_cast<unsigned char>(letter); }

std::size_t length_by_lead(unsigned lead) {
  if (lead < 0x80) return 1;
  if (lead < 0xC2) return 0;  // a continuation byte or an overlong form
  if (lead < 0xE0) return 2;
  if (lead < 0xF0) return 3;
  return lead < 0xF5 ? 4 : 0;
}

/// Of a valid UTF-8 character.
unsigned code_point(std::string_view character) {
  if (character.size() == 1) return byte(character[0]);
  unsigned code = byte(character[0]) & (0xFFu >> (character.size() + 1));
  for (const char letter : character.substr(1)) code = code << 6 | (byte(letter) & 0x3Fu);
  return code;
}

bool is_control(unsigned code) {
  const bool low = code < 0x20 && code != '\n' && code != '\t';
  const bool high = code >= 0x7F && code < 0xA0;
  const bool turns = (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
  return low || high || turns;
}

}  // namespace

std::size_t utf8_length(std::string_view text) {
  const std::size_t length = text.empty() ? 0 : length_by_lead(byte(text[0]));
  if (length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(text[i]) & 0xC0) != 0x80) return 0;
  }
  if (length < 3) return length;
  const unsigned code = code_point(text.substr(0, length));
  const bool overlong = code < (length == 3 ? 0x800u : 0x10000u);
  const bool surrogate = code >= 0xD800 && code < 0xE000;
  return overlong || surrogate || code > 0x10FFFF ? 0 : length;
}

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const std::string_view character = text.substr(0, length);
    if (length == 0) {
      out += kReplacement;
    } else if (const unsigned code = code_point(character); is_control(code)) {
      out += format("\\u{:04x}", code);
    } else {
      out += character;
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return out;
}

std::streamsize PrintableStream::xsputn(const char* text, std::streamsize size) {
  const std::string safe = printable({text, static_cast<std::size_t>(size)});
  const auto length = static_cast<std::streamsize>(safe.size());
  return below_->sputn(safe.data(), length) == length ? size : 0;
}

PrintableStream::int_type PrintableStream::overflow(int_type letter) {
  if (traits_type::eq_int_type(letter, traits_type::eof())) return traits_type::not_eof(letter);
  const char one = traits_type::to_char_type(letter);
  return xsputn(&one, 1) == 1 ? letter : traits_type::eof();
}

}  // namespace autotune
