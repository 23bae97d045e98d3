// SPDX-License-Identifier: Apache-2.0
#include "db/facts.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <ctime>

#include "db/store.hpp"
#include "tuner/json/json.hpp"
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

namespace {

bool is_printable(char letter) {
  const auto code = static_cast<unsigned char>(letter);
  return code >= 0x20 && code != 0x7F;
}

/// As created_at is written.
std::string time_after_now(std::chrono::minutes ahead) {
  return time_text(std::chrono::system_clock::now() + ahead);
}

}  // namespace

std::string excerpt(std::string_view text) {
  constexpr std::size_t kShown = 60;
  const bool cut = text.size() > kShown;
  return Json(std::string(text.substr(0, kShown)) + (cut ? "…" : ""))
      .dump(-1, ' ', false, Json::error_handler_t::replace);
}

bool is_named_values(std::string_view text) {
  if (!std::ranges::all_of(text, is_printable)) return false;
  while (!text.empty()) {
    const std::string_view item = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), item.size() + 1));
    if (item.empty()) continue;
    const std::size_t equals = item.find('=');
    if (equals == std::string_view::npos || equals == 0) return false;
  }
  return true;
}

std::optional<std::string> fault_of_text(std::string_view column, std::string_view text) {
  const bool lines = column == "ties";
  const bool values = column == "problem" || column == "configuration" ||
                      column == "default_configuration" || column == "figures";
  if (!lines && !values) return std::nullopt;
  while (!text.empty()) {
    const std::string_view line = lines ? text.substr(0, text.find('\n')) : text;
    if (!is_named_values(line)) {
      return format("the {} {} is not of the form NAME=VALUE, such as BM=128", column,
                    excerpt(line));
    }
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
  return std::nullopt;
}

std::optional<std::string> fault_of_date(std::string_view column, std::string_view text) {
  const bool date = column == "created_at" || column == "started_at";
  if (!date || text <= time_after_now(std::chrono::days(1))) return std::nullopt;
  return format("it is dated {}, more than a day ahead; is a clock wrong?", excerpt(text));
}

std::string latest_time() { return time_after_now(std::chrono::minutes(5)); }

bool is_retracted(Connection& connection, const std::string& id) {
  Query query = connection.query("SELECT 1 FROM retraction WHERE fact = ?");
  return query.bind(id).step();
}

}  // namespace autotune::db
