// SPDX-License-Identifier: Apache-2.0
#include "tuner/watch/page_server.hpp"

#include <arpa/inet.h>
#include <httplib.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <stop_token>
#include <string_view>
#include <system_error>
#include <utility>

#include "tuner/core/error.hpp"
#include "tuner/text/format.hpp"
#include "tuner/text/random_bits.hpp"

namespace autotune::watch {
namespace {

constexpr const char* kAddress = "127.0.0.1";
constexpr const char* kHtml = "text/html; charset=utf-8";
constexpr int kMostThreads = 512;  // half of the files that a process may usually open
constexpr int kSilentSeconds = 1;  // until a connection without a request is closed
constexpr std::chrono::seconds kRequestTime{3};  // for a whole request, however it is sent
constexpr int kWriteSeconds = 10;                // enough for a slow tunnel
constexpr std::size_t kLongestBody = 1024;

/// 128 random bits.
std::string fresh_token() { return format("{:016x}{:016x}", random_bits(), random_bits()); }

/// Compares in constant time.
bool is_same(std::string_view given, std::string_view expected) {
  if (given.size() != expected.size()) return false;
  int difference = 0;
  for (std::size_t i = 0; i < given.size(); ++i) difference |= given[i] ^ expected[i];
  return difference == 0;
}

/// Accepts any port, because a tunnel has a port of its own.
bool is_local(std::string_view host) {
  const std::string_view name = host.substr(0, host.find(':'));
  return name == kAddress || name == "localhost";
}

void refuse(httplib::Response& response, const std::string& why) {
  response.status = 403;
  response.set_content(why + '\n', "text/plain; charset=utf-8");
}

/// A thread for each connection: those without a request do not keep others waiting. Each of them
/// ends after kSilentSeconds of silence.
class ConnectionThreads final : public httplib::TaskQueue {
 public:
  void enqueue(std::function<void()> serve) override {
    {
      std::unique_lock lock(mutex_);
      ended_.wait(lock, [this] { return running_ < kMostThreads; });
      ++running_;
    }
    const auto serve_and_end = [this, serve = std::move(serve)] {
      serve();
      const std::lock_guard lock(mutex_);
      --running_;
      ended_.notify_all();
    };
    try {
      std::thread(serve_and_end).detach();
    } catch (const std::system_error&) {  // no more threads: others wait
      serve_and_end();
    }
  }
  void shutdown() override {
    std::unique_lock lock(mutex_);
    ended_.wait(lock, [this] { return running_ == 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable ended_;
  int running_ = 0;
};

/// Allows one server per port; the library's default lets several share it.
void reuse_address_only(socket_t socket) {
  const int yes = 1;
  setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
}

void set_limits(httplib::Server& server) {
  server.new_task_queue = [] { return new ConnectionThreads; };
  server.set_keep_alive_max_count(1);  // an idle connection would delay the end
  server.set_keep_alive_timeout(kSilentSeconds);
  server.set_read_timeout(kSilentSeconds);
  server.set_write_timeout(kWriteSeconds);
  server.set_payload_max_length(kLongestBody);
  server.set_socket_options(reuse_address_only);
  server.set_default_headers({{"Cache-Control", "no-store"},
                              {"Referrer-Policy", "no-referrer"},
                              {"X-Content-Type-Options", "nosniff"},
                              {"X-Frame-Options", "DENY"}});
}

/// The port of the other end, of a connection to `port` of this address.
std::optional<in_port_t> other_end(int descriptor, int port) {
  sockaddr_in here{}, there{};
  socklen_t length = sizeof here;
  if (getsockname(descriptor, reinterpret_cast<sockaddr*>(&here), &length) != 0) return {};
  if (here.sin_family != AF_INET || here.sin_port != htons(port)) return {};
  length = sizeof there;
  if (getpeername(descriptor, reinterpret_cast<sockaddr*>(&there), &length) != 0) return {};
  return there.sin_port;
}

}  // namespace

/// Nothing is read from a connection after kRequestTime. The library's own limit is for each read,
/// so a client that sends byte by byte would hold its thread for hours. Answers are still written.
class SlowRequests {
 public:
  explicit SlowRequests(int port)
      : port_(port), thread_([this](const std::stop_token& stop) { watch(stop); }) {}

 private:
  using Clock = std::chrono::steady_clock;

  void watch(const std::stop_token& stop) {
    std::mutex mutex;
    std::unique_lock lock(mutex);
    while (!stop.stop_requested()) {
      std::condition_variable_any().wait_for(lock, stop, kRequestTime / 6, [] { return false; });
      look();
    }
  }

  void look() {
    std::map<std::pair<int, in_port_t>, Clock::time_point> open;
    std::error_code unreadable;
    for (const auto& each : std::filesystem::directory_iterator("/proc/self/fd", unreadable)) {
      const int descriptor = std::atoi(each.path().filename().c_str());
      const std::optional<in_port_t> client = other_end(descriptor, port_);
      if (!client) continue;
      const std::pair key(descriptor, *client);
      const auto known = since_.find(key);
      open[key] = known == since_.end() ? Clock::now() : known->second;
      if (Clock::now() - open[key] >= kRequestTime) shutdown(descriptor, SHUT_RD);
    }
    since_ = std::move(open);
  }

  const int port_;
  std::map<std::pair<int, in_port_t>, Clock::time_point> since_;  // first seen, by both ends
  std::jthread thread_;
};

PageServer::PageServer(int port, Pages pages)
    : token_(fresh_token()), server_(std::make_unique<httplib::Server>()) {
  set_limits(*server_);
  refuse_strangers();
  server_->Get("/", [pages](const httplib::Request&, httplib::Response& response) {
    response.set_content(pages.page(pages.content()), kHtml);
  });
  server_->Get("/content", [pages](const httplib::Request& request, httplib::Response& response) {
    const Content content = pages.content();
    response.set_header("ETag", content.version);
    if (request.get_header_value("If-None-Match") == content.version) {
      response.status = 304;
    } else {
      response.set_content(content.html, kHtml);
    }
  });
  listen_on(port);
  slow_requests_ = std::make_unique<SlowRequests>(port_);
}

PageServer::~PageServer() {
  server_->stop();
  thread_.join();
}

std::string PageServer::url() const {
  return format("http://{}:{}/?token={}", kAddress, port_, token_);
}

void PageServer::refuse_strangers() {
  using Handled = httplib::Server::HandlerResponse;
  server_->set_pre_routing_handler(
      [this](const httplib::Request& request, httplib::Response& response) {
        if (!is_local(request.get_header_value("Host"))) {
          refuse(response, "open this page as 127.0.0.1 or localhost");
        } else if (!is_same(request.get_param_value("token"), token_)) {
          refuse(response, "open this page by the URL that autotune watch printed");
        } else {
          return Handled::Unhandled;
        }
        return Handled::Handled;
      });
}

void PageServer::listen_on(int port) {
  port_ = port;
  if (port == 0) port_ = server_->bind_to_any_port(kAddress);
  const bool is_bound = port == 0 ? port_ > 0 : server_->bind_to_port(kAddress, port);
  if (!is_bound) {
    throw Error(format("{}:{} cannot be had: {}; leave out --port to get a free one", kAddress,
                       port, std::strerror(errno)));
  }
  thread_ = std::thread([this] { server_->listen_after_bind(); });
  // stop() does nothing before.
  while (!server_->is_running()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

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
