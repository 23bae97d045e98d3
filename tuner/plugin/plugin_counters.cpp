// SPDX-License-Identifier: Apache-2.0
#include "tuner/plugin/plugin_counters.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <exception>
#include <string_view>

#include "plugins/sdk/autotune_plugin.h"
#include "tuner/plugin/plugin_call.hpp"
#include "tuner/plugin/plugin_library.hpp"

namespace autotune {
namespace {

constexpr std::uint32_t kMostCounters = 1000;

/// The callback for a plugin. No exception may pass through the plugin.
struct Call {
  const std::function<void()>& make;
  std::exception_ptr failure = nullptr;

  static int from(void* host) {
    Call& call = *static_cast<Call*>(host);
    try {
      call.make();
      return 0;
    } catch (...) {
      call.failure = std::current_exception();
      return 1;
    }
  }
};

bool is_counter_name(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](unsigned char letter) {
    return std::isalnum(letter) != 0 || letter == '_';
  });
}

Counter checked(const autotune_counter_v1& one) {
  Counter counter{one.name == nullptr ? "" : one.name, one.unit == nullptr ? "" : one.unit,
                  one.value};
  if (!is_counter_name(counter.name)) {
    throw Error(format("counters/1: \"{}\" may have only letters, digits and _", counter.name));
  }
  if (!std::isfinite(counter.value)) {
    throw Error(format("counters/1: {} is {}", counter.name, counter.value));
  }
  return counter;
}

}  // namespace

Counters count_with_plugin(const std::filesystem::path& plugin, const std::function<void()>& make) {
  const autotune_counters_v1& facet = loaded_plugin(plugin).counters();
  Call call{make};
  std::uint32_t number = 0;
  const autotune_counter_v1* found = nullptr;
  try {
    call_plugin("count()", [&] { return facet.count(&Call::from, &call, &number, &found); });
  } catch (const Error&) {
    if (call.failure) std::rethrow_exception(call.failure);
    throw;
  }
  if (call.failure) std::rethrow_exception(call.failure);
  if (number > kMostCounters || (number > 0 && found == nullptr)) {
    throw Error(format("counters/1: there cannot be {} counters", number));
  }
  Counters counters;
  for (std::uint32_t i = 0; i < number; ++i) counters.push_back(checked(found[i]));
  return counters;
}

}  // namespace autotune
