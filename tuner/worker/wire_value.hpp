// SPDX-License-Identifier: Apache-2.0
// Values of a message from another process, read strictly: a float is not an integer, and no value
// is truncated.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tuner/core/error.hpp"
#include "tuner/json/json.hpp"

namespace autotune {

/// An invalid message. Workers run foreign code, which may overwrite their memory or their socket.
class WireError : public Error {
 public:
  using Error::Error;
};

/// Reads a message with `read`. Throws WireError if it is invalid; the functions below throw that
/// or Json::exception.
template <class Read>
auto read_message(const Json& header, const Read& read) try {
  return read(header);
} catch (const Json::exception&) {
  throw WireError("its process sent a malformed answer");
}

/// Throws WireError.
[[noreturn]] void refuse_value(const Json& value, const char* wanted);

template <class T>
concept WireInteger = std::integral<T> && !std::same_as<T, bool> && !std::same_as<T, char>;

/// Converts to the assigned type, or throws WireError.
class WireValue {
 public:
  explicit WireValue(const Json& json) : json_(json) {}

  template <WireInteger T>
  operator T() const {
    if (!json_.is_number_integer()) refuse_value(json_, "a whole number");
    const bool fits = json_.is_number_unsigned() ? std::in_range<T>(json_.get<std::uint64_t>())
                                                 : std::in_range<T>(json_.get<std::int64_t>());
    if (!fits) refuse_value(json_, "a number of this range");
    return json_.get<T>();
  }

  template <std::same_as<bool> T>
  operator T() const {
    if (!json_.is_boolean()) refuse_value(json_, "a truth value");
    return json_.get<bool>();
  }

  template <std::same_as<double> T>
  operator T() const {
    if (!json_.is_number()) refuse_value(json_, "a number");
    return json_.get<double>();
  }

  template <std::same_as<std::string> T>
  operator T() const {
    if (!json_.is_string()) refuse_value(json_, "a text");
    return json_.get<std::string>();
  }

  template <class T>
  operator std::vector<T>() const {
    if (!json_.is_array()) refuse_value(json_, "a list");
    std::vector<T> values;
    for (const Json& element : json_) values.push_back(WireValue(element));
    return values;
  }

 private:
  const Json& json_;
};

/// Throws Json::exception if there is none.
inline WireValue field(const Json& json, const char* name) { return WireValue(json.at(name)); }
inline WireValue field(const Json& json, int index) {
  return WireValue(json.at(static_cast<std::size_t>(index)));
}

}  // namespace autotune
