// SPDX-License-Identifier: Apache-2.0
// Content that is made from a file, and again when the file changes.
#pragma once

#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "tuner/core/deadline.hpp"
#include "tuner/watch/page_server.hpp"

namespace autotune::watch {

/// Content made from the file. `is_whole` is false if the file could not be read: the next request
/// tries again, even if the file has not changed.
struct Made {
  std::string html;
  bool is_whole = true;
};

/// Makes the content again at the first request after a change of the file. Uses at most a tenth of
/// the time, so as not to disturb a tuning run on the same machine.
class LiveContent {
 public:
  using Make = std::function<Made()>;
  using Seconds = std::function<double()>;  // a clock
  LiveContent(std::filesystem::path file, Make make, Seconds now = steady_seconds);

  /// Thread-safe.
  Content content();

 private:
  bool is_due(const std::string& stamp) const;

  const std::filesystem::path file_;
  const Make make_;
  const Seconds now_;
  std::mutex mutex_;
  std::optional<Made> made_;
  std::string stamp_;  // of the file when it was made
  double rest_until_ = 0;
  int version_ = 0;
};

}  // namespace autotune::watch
