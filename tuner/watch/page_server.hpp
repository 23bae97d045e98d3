// SPDX-License-Identifier: Apache-2.0
// Serves a page to this machine only, and only to clients that know its URL.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "tuner/core/deadline.hpp"

namespace httplib {
class Server;
}

namespace autotune::watch {

class SlowRequests;

/// HTML that changes. Other HTML has another version.
struct Content {
  std::string version;
  std::string html;
};

/// The content to serve. Both functions are called from several threads.
struct Pages {
  std::function<Content()> content;                         // `/content`
  std::function<std::string(const Content& content)> page;  // `/`: the whole page around it
};

/// Listens on 127.0.0.1 while it lives. A request without the token of the URL gets 403. So does a
/// request whose `Host` is a name other than `localhost`, against DNS rebinding by pages of other
/// sites.
///
/// `/content` has the version as its `ETag`, and answers 304 to an `If-None-Match` that has it.
class PageServer {
 public:
  /// Port 0: a free one. Throws Error if the port cannot be had.
  PageServer(int port, Pages pages);
  /// Waits until the last response is sent.
  ~PageServer();
  PageServer(const PageServer&) = delete;
  PageServer& operator=(const PageServer&) = delete;

  /// With the token: `http://127.0.0.1:40123/?token=…`.
  std::string url() const;
  int port() const { return port_; }

 private:
  void listen_on(int port);
  void refuse_strangers();

  const std::string token_;
  std::unique_ptr<httplib::Server> server_;
  int port_ = 0;
  std::thread thread_;
  std::unique_ptr<SlowRequests> slow_requests_;
};

// Content that is made from a file, and again when the file changes.

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
