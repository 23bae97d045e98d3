// SPDX-License-Identifier: Apache-2.0
#include "tuner/watch/live_content.hpp"

#include <array>
#include <fstream>
#include <system_error>
#include <utility>

#include "tuner/text/format.hpp"

namespace autotune::watch {
namespace {

constexpr double kRest = 9;  // pause after making the content, in multiples of its duration

/// A stamp that changes with every write to the file. It includes the file's head with SQLite's
/// change counter, because two writes can have the same time.
std::string stamp_of(const std::filesystem::path& file) {
  std::error_code missing;
  const auto size = std::filesystem::file_size(file, missing);
  if (missing) return "";
  const auto time = std::filesystem::last_write_time(file, missing).time_since_epoch().count();
  std::array<char, 100> head{};
  std::ifstream(file, std::ios::binary).read(head.data(), head.size());
  return format("{} {} ", size, time) + std::string(head.data(), head.size());
}

}  // namespace

LiveContent::LiveContent(std::filesystem::path file, Make make, Seconds now)
    : file_(std::move(file)), make_(std::move(make)), now_(std::move(now)) {}

bool LiveContent::is_due(const std::string& stamp) const {
  if (!made_) return true;
  return (stamp != stamp_ || !made_->is_whole) && now_() >= rest_until_;
}

Content LiveContent::content() {
  const std::lock_guard lock(mutex_);
  std::string stamp = stamp_of(file_);
  if (is_due(stamp)) {
    const double start = now_();
    Made fresh = make_();
    const double end = now_();
    rest_until_ = fresh.is_whole ? end + kRest * (end - start) : end;  // no pause after a lock
    if (!made_ || fresh.html != made_->html) ++version_;
    made_ = std::move(fresh);
    stamp_ = std::move(stamp);
  }
  return {format("\"{}\"", version_), made_->html};
}

}  // namespace autotune::watch
