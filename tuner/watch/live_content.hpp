// SPDX-License-Identifier: Apache-2.0
// Content that follows a file.
#pragma once

#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "tuner/watch/page_server.hpp"

namespace autotune::watch {

/// What was made of the file. `is_whole` is false if the file could not be read: it is tried again
/// though it has not changed.
struct Made {
  std::string html;
  bool is_whole = true;
};

/// Makes the content again when somebody asks and the file has changed. A tuning run on the same
/// machine must not notice: making takes at most a tenth of the time.
class LiveContent {
 public:
  using Make = std::function<Made()>;
  using Seconds = std::function<double()>;  // a clock
  LiveContent(std::filesystem::path file, Make make, Seconds now = steady_seconds);

  /// Thread-safe.
  Content content();

 private:
  static double steady_seconds();
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
