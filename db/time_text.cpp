// SPDX-License-Identifier: Apache-2.0
#include "db/time_text.hpp"

#include <algorithm>
#include <atomic>
#include <ctime>

#include "db/store.hpp"
#include "tuner/text/format.hpp"

namespace autotune::db {
namespace {

using Clock = std::chrono::system_clock;
using std::chrono::microseconds;

}  // namespace

std::string time_text(Clock::time_point time) {
  const auto second = std::chrono::floor<std::chrono::seconds>(time);
  const std::time_t seconds = Clock::to_time_t(second);
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  char text[24];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &utc);
  return format("{}.{:06}Z", text, std::chrono::floor<microseconds>(time - second).count());
}

std::string now_text() {
  static std::atomic<microseconds::rep> last{0};
  const auto now = std::chrono::floor<microseconds>(Clock::now().time_since_epoch()).count();
  microseconds::rep before = last.load(), next = 0;
  do {
    next = std::max(now, before + 1);
  } while (!last.compare_exchange_weak(before, next));
  return time_text(Clock::time_point(microseconds(next)));
}

}  // namespace autotune::db
