// SPDX-License-Identifier: Apache-2.0
#include "db/json.hpp"

#include <charconv>

#include "tuner/text/format.hpp"

namespace autotune::db {

void append_json(std::string& out, std::string_view text) {
  out += '"';
  constexpr std::string_view kSigns = "\"\\\n\t\r", kNames = "\"\\ntr";
  for (const char letter : text) {
    if (const auto sign = kSigns.find(letter); sign != kSigns.npos) {
      out += {'\\', kNames[sign]};
    } else if (static_cast<unsigned char>(letter) < 0x20) {
      out += format("\\u{:04x}", static_cast<int>(letter));
    } else {
      out += letter;
    }
  }
  out += '"';
}

void append_json(std::string& out, std::int64_t number) {
  char text[24];
  out.append(text, std::to_chars(text, text + sizeof text, number).ptr);
}

void append_json(std::string& out, double number) {
  char text[32];
  out.append(text, std::to_chars(text, text + sizeof text, number).ptr);
}

}  // namespace autotune::db
