// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/packed_table.hpp"

#include <bit>
#include <cassert>
#include <cmath>
#include <map>
#include <set>
#include <string_view>
#include <utility>

namespace autotune::report {
namespace {

constexpr std::string_view kLetters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr int kLetterBits = 6, kNumberBits = 24, kExponentBits = 7, kExponentOffset = 64;
constexpr double kDigits = 5;
constexpr std::uint32_t kUnknown = (1u << kNumberBits) - 1;

/// The nearest number with five digits, so that equal figures have equal codes.
std::uint32_t code_of(double number) {
  if (number <= 0) return 0;
  int exponent = static_cast<int>(std::floor(std::log10(number)) - kDigits + 1);
  double mantissa = std::round(number * std::pow(10.0, -exponent));
  if (mantissa >= 1e5) {  // 0.999999 is 10000 of the next
    mantissa /= 10;
    ++exponent;
  }
  const int stored = exponent + kExponentOffset;
  if (stored < 0 || stored >= 1 << kExponentBits) return 0;
  return static_cast<std::uint32_t>(mantissa) << kExponentBits | static_cast<std::uint32_t>(stored);
}

double number_of(std::uint32_t code) {
  const int exponent = static_cast<int>(code & ((1u << kExponentBits) - 1)) - kExponentOffset;
  const double mantissa = code >> kExponentBits;  // divided, it has the fewest digits as text
  return exponent < 0 ? mantissa / std::pow(10.0, -exponent) : mantissa * std::pow(10.0, exponent);
}

/// Appends values of a few bits each.
class BitWriter {
 public:
  void add(std::uint32_t value, int bits) {
    for (int i = bits; i-- > 0;) {
      letter_ = letter_ << 1 | (value >> i & 1);
      if (++filled_ == kLetterBits) end_letter();
    }
  }
  void end_row() {
    while (filled_ > 0) add(0, 1);
  }
  std::string take() { return std::move(text_); }

 private:
  void end_letter() {
    text_ += kLetters[letter_];
    letter_ = 0;
    filled_ = 0;
  }

  std::string text_;
  unsigned letter_ = 0;
  int filled_ = 0;
};

}  // namespace

template <class Key>
void PackedTable::add_choices(std::string name, const std::vector<Key>& keys,
                              Json (*value_of)(const Key& key)) {
  Column column{{{"name", std::move(name)}, {"values", Json::array()}}, 0, {}};
  std::map<Key, std::uint32_t> places;
  for (const Key& key : keys) {
    const auto [found, is_new] = places.emplace(key, static_cast<std::uint32_t>(places.size()));
    if (is_new) column.head["values"].push_back(value_of(key));
    column.codes.push_back(found->second);
  }
  if (!places.empty()) column.bits = static_cast<int>(std::bit_width(places.size() - 1));
  columns_.push_back(std::move(column));
}

void PackedTable::add_texts(std::string name,
                            const std::vector<std::optional<std::string>>& texts) {
  assert(texts.size() == rows_);
  add_choices<std::optional<std::string>>(
      std::move(name), texts, [](const auto& text) { return text ? Json(*text) : Json(); });
}

void PackedTable::add_numbers(std::string name, const std::vector<std::optional<double>>& numbers) {
  assert(numbers.size() == rows_);
  std::vector<std::uint32_t> codes;
  for (const auto& number : numbers) {
    const bool is_known = number && std::isfinite(*number) && *number >= 0;
    codes.push_back(is_known ? code_of(*number) : kUnknown);
  }
  if (std::set(codes.begin(), codes.end()).size() < codes.size() / 4) {
    add_choices<std::uint32_t>(std::move(name), codes, [](const std::uint32_t& code) {
      return code == kUnknown ? Json() : Json(number_of(code));
    });
    return;
  }
  columns_.push_back({{{"name", std::move(name)}}, kNumberBits, std::move(codes)});
}

Json PackedTable::json() const {
  Json columns = Json::array();
  for (const Column& column : columns_) columns.push_back(column.head);
  BitWriter bits;
  for (std::size_t row = 0; row < rows_; ++row) {
    for (const Column& column : columns_) bits.add(column.codes[row], column.bits);
    bits.end_row();
  }
  return {{"count", rows_}, {"columns", std::move(columns)}, {"rows", bits.take()}};
}

}  // namespace autotune::report
