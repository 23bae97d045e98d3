// SPDX-License-Identifier: Apache-2.0
#include "tuner/worker/channel.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

namespace autotune {
namespace {

using Clock = std::chrono::steady_clock;

/// Waits are cut into slices, because an Extension may change during a wait.
constexpr double kSliceMilliseconds = 100;

/// Limits of a message. A longer one is invalid.
constexpr std::uint64_t kMostHeader = std::uint64_t{64} << 20, kMostBytes = std::uint64_t{1} << 30;
constexpr std::uint64_t kMostAtOnce = std::uint64_t{4} << 20;

struct Sizes {
  std::uint64_t header = 0, bytes = 0;
};

class Deadline {
 public:
  explicit Deadline(double seconds, Extension more = {})
      : forever_(seconds < 0),
        more_(std::move(more)),
        end_(Clock::now() +
             std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds))) {}

  /// For poll(). Rounded up, so that it is 0 only when no time is left.
  int milliseconds_to_wait() const {
    if (forever_) return -1;
    const std::chrono::duration<double, std::milli> left = end_ - Clock::now();
    const double milliseconds = left.count() + (more_ ? 1e3 * more_() : 0);
    if (milliseconds <= 0) return 0;
    return static_cast<int>(more_ ? std::min(milliseconds, kSliceMilliseconds) : milliseconds) + 1;
  }

 private:
  bool forever_;
  Extension more_;
  Clock::time_point end_;
};

/// Waits until the socket can be read or written.
Silence wait_for(int socket, short event, const Deadline& deadline) {
  for (;;) {
    pollfd ready{socket, event, 0};
    const int count = poll(&ready, 1, deadline.milliseconds_to_wait());
    if (count > 0) return Silence::none;
    if (count == 0 && deadline.milliseconds_to_wait() == 0) return Silence::timeout;
    if (count < 0 && errno != EINTR) return Silence::closed;
  }
}

Silence write_all(int socket, std::string_view bytes, const Deadline& deadline) {
  while (!bytes.empty()) {
    if (const Silence silence = wait_for(socket, POLLOUT, deadline); silence != Silence::none) {
      return silence;
    }
    const ssize_t sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (sent < 0) return Silence::closed;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return Silence::none;
}

Silence read_all(int socket, char* to, std::size_t count, const Deadline& deadline) {
  while (count > 0) {
    if (const Silence silence = wait_for(socket, POLLIN, deadline); silence != Silence::none) {
      return silence;
    }
    const ssize_t got = recv(socket, to, count, MSG_DONTWAIT);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got <= 0) return Silence::closed;
    to += got;
    count -= static_cast<std::size_t>(got);
  }
  return Silence::none;
}

/// Allocates memory as bytes arrive, because the announced size may be wrong.
Silence read_text(int socket, std::string& to, std::uint64_t count, const Deadline& deadline) {
  Silence silence = Silence::none;
  while (to.size() < count && silence == Silence::none) {
    const std::size_t before = to.size();
    to.resize(static_cast<std::size_t>(std::min(count, before + kMostAtOnce)));
    silence = read_all(socket, to.data() + before, to.size() - before, deadline);
  }
  return silence;
}

}  // namespace

Channel::~Channel() { close(socket_); }

Silence Channel::send(const Json& header, std::string_view bytes, double limit_seconds) {
  const std::vector<std::uint8_t> cbor = Json::to_cbor(header);
  const Sizes sizes{cbor.size(), bytes.size()};
  std::string front(sizeof sizes + cbor.size(), '\0');
  std::memcpy(front.data(), &sizes, sizeof sizes);
  std::memcpy(front.data() + sizeof sizes, cbor.data(), cbor.size());
  const Deadline deadline(limit_seconds);
  silence_ = write_all(socket_, front, deadline);
  if (silence_ == Silence::none) silence_ = write_all(socket_, bytes, deadline);
  return silence_;
}

std::optional<Message> Channel::receive(double limit_seconds, const Extension& more) {
  const Deadline deadline(limit_seconds, more);
  Sizes sizes;
  silence_ = read_all(socket_, reinterpret_cast<char*>(&sizes), sizeof sizes, deadline);
  if (silence_ != Silence::none) return std::nullopt;
  if (sizes.header > kMostHeader || sizes.bytes > kMostBytes) {
    silence_ = Silence::closed;
    return std::nullopt;
  }
  std::string cbor, bytes;
  silence_ = read_text(socket_, cbor, sizes.header, deadline);
  if (silence_ == Silence::none) silence_ = read_text(socket_, bytes, sizes.bytes, deadline);
  if (silence_ != Silence::none) return std::nullopt;
  std::optional<Json> header = parse_cbor(cbor);
  if (!header || !header->is_object()) {
    silence_ = Silence::closed;
    return std::nullopt;
  }
  return Message{*std::move(header), std::move(bytes)};
}

}  // namespace autotune
