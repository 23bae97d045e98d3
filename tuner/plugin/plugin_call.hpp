// SPDX-License-Identifier: Apache-2.0
// Calls into a plugin; turns its reason, or an exception, into Error.
#pragma once

#include <exception>
#include <string>

#include "tuner/core/error.hpp"
#include "tuner/text/format.hpp"

namespace autotune {

/// `call` returns a reason or NULL; `function` names it: `search()`. Throws Error.
template <class Call>
void call_plugin(const char* function, const Call& call) {
  std::string reason;
  try {
    const char* const said = call();
    if (said == nullptr) return;
    reason = said;
  } catch (const std::exception& error) {
    reason = format("it threw an exception: {}", error.what());
  } catch (...) {
    reason = "it threw something that is not a std::exception";
  }
  throw Error(format("{}: {}", function, reason));
}

}  // namespace autotune
