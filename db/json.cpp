// SPDX-License-Identifier: Apache-2.0
#include "db/json.hpp"

#include <cstdint>

#include "db/store.hpp"
#include "tuner/text/format.hpp"

namespace autotune::db {
namespace {

/// Reads one flat object from left to right.
class Reader {
 public:
  explicit Reader(std::string_view line) : line_(line) {}

  JsonObject object() {
    JsonObject object;
    expect('{');
    if (!accept('}')) {
      do {
        std::string name = string();
        expect(':');
        object.values.insert_or_assign(std::move(name), value());
      } while (accept(','));
      expect('}');
    }
    skip_blanks();
    if (at_ < line_.size()) fail("something follows the object");
    return object;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw StoreError(format("column {}: {}", at_ + 1, what));
  }

  void skip_blanks() {
    while (at_ < line_.size() && (line_[at_] == ' ' || line_[at_] == '\t' || line_[at_] == '\r')) {
      ++at_;
    }
  }

  bool accept(char letter) {
    skip_blanks();
    if (at_ >= line_.size() || line_[at_] != letter) return false;
    ++at_;
    return true;
  }

  void expect(char letter) {
    if (!accept(letter)) fail(format("expected '{}'", letter));
  }

  std::uint32_t hex4() {
    std::uint32_t code = 0;
    const char* first = line_.data() + at_;
    if (line_.size() - at_ < 4 || std::from_chars(first, first + 4, code, 16).ptr != first + 4) {
      fail("expected four hexadecimal digits");
    }
    at_ += 4;
    return code;
  }

  void append_utf8(std::string& out, std::uint32_t code) {
    if (code < 0x80) {
      out += static_cast<char>(code);
    } else if (code < 0x800) {
      out += static_cast<char>(0xC0 | code >> 6);
      out += static_cast<char>(0x80 | (code & 0x3F));
    } else if (code < 0x10000) {
      out += static_cast<char>(0xE0 | code >> 12);
      out += static_cast<char>(0x80 | (code >> 6 & 0x3F));
      out += static_cast<char>(0x80 | (code & 0x3F));
    } else {
      out += static_cast<char>(0xF0 | code >> 18);
      out += static_cast<char>(0x80 | (code >> 12 & 0x3F));
      out += static_cast<char>(0x80 | (code >> 6 & 0x3F));
      out += static_cast<char>(0x80 | (code & 0x3F));
    }
  }

  void escape(std::string& out) {
    if (at_ >= line_.size()) fail("the text does not end");
    const char letter = line_[at_++];
    switch (letter) {
      case 'n':
        out += '\n';
        return;
      case 't':
        out += '\t';
        return;
      case 'r':
        out += '\r';
        return;
      case 'b':
        out += '\b';
        return;
      case 'f':
        out += '\f';
        return;
      case '"':
      case '\\':
      case '/':
        out += letter;
        return;
      case 'u':
        break;
      default:
        fail(format("unknown escape \\{}", letter));
    }
    std::uint32_t code = hex4();
    if (code >= 0xD800 && code < 0xDC00) {
      if (line_.substr(at_, 2) != "\\u") fail("half of a surrogate pair");
      at_ += 2;
      const std::uint32_t low = hex4();
      if (low < 0xDC00 || low > 0xDFFF) fail("half of a surrogate pair");
      code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    }
    append_utf8(out, code);
  }

  std::string string() {
    expect('"');
    std::string out;
    while (true) {
      if (at_ >= line_.size()) fail("the text does not end");
      const char letter = line_[at_++];
      if (letter == '"') return out;
      if (letter == '\\') {
        escape(out);
      } else {
        out += letter;
      }
    }
  }

  JsonObject::Value value() {
    skip_blanks();
    if (at_ < line_.size() && line_[at_] == '"') return {string(), true};
    const std::size_t start = at_;
    while (at_ < line_.size() &&
           std::string_view(",} \t\r").find(line_[at_]) == std::string::npos) {
      ++at_;
    }
    if (at_ == start) fail("expected a value");
    if (line_[start] == '{' || line_[start] == '[') fail("expected a text, a number or null");
    return {std::string(line_.substr(start, at_ - start)), false};
  }

  std::string_view line_;
  std::size_t at_ = 0;
};

template <class Number>
bool read_number(const JsonObject::Value& value, Number& out) {
  const char* end = value.text.data() + value.text.size();
  const auto [stop, error] = std::from_chars(value.text.data(), end, out);
  return !value.quoted && error == std::errc() && stop == end;
}

}  // namespace

void append_json(std::string& out, std::string_view text) {
  out += '"';
  for (const char letter : text) {
    switch (letter) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\t':
        out += "\\t";
        break;
      case '\r':
        out += "\\r";
        break;
      default:
        if (static_cast<unsigned char>(letter) < 0x20) {
          out += format("\\u{:04x}", static_cast<int>(letter));
        } else {
          out += letter;
        }
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

JsonObject parse_json_line(std::string_view line) { return Reader(line).object(); }

bool from_json(const JsonObject::Value& value, std::string& out) {
  if (value.quoted) out = value.text;
  return value.quoted;
}

bool from_json(const JsonObject::Value& value, std::int64_t& out) {
  return read_number(value, out);
}

bool from_json(const JsonObject::Value& value, double& out) { return read_number(value, out); }

bool from_json(const JsonObject::Value& value, bool& out) {
  if (value.quoted || (value.text != "true" && value.text != "false")) return false;
  out = value.text == "true";
  return true;
}

}  // namespace autotune::db
