// SPDX-License-Identifier: Apache-2.0
#include "tuner/worker/wire_codec.hpp"

#include "tuner/text/format.hpp"

namespace autotune {

void refuse_value(const Json& value, const char* wanted) {
  constexpr std::size_t kMost = 40;
  std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() > kMost) text = text.substr(0, kMost) + "…";
  throw WireError(format("its process sent a malformed answer: {} is not {}", text, wanted));
}

}  // namespace autotune
