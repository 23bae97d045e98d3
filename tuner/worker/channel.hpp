// SPDX-License-Identifier: Apache-2.0
// Messages over a socket between two processes: a JSON header as CBOR, then raw bytes.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "tuner/json/json.hpp"

namespace autotune {

struct Message {
  Json header;
  std::string bytes;
};

/// Why receiving ended without a message.
enum class Silence { none, closed, timeout };

/// Seconds by which to extend a limit.
using Extension = std::function<double()>;

class Channel {
 public:
  /// Takes ownership of the descriptor.
  explicit Channel(int socket) : socket_(socket) {}
  ~Channel();
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  int socket() const { return socket_; }

  /// Sends a message; waits at most the limit for a stuck reader. Returns `none` on success.
  Silence send(const Json& header, std::string_view bytes, double limit_seconds);

  /// Waits for a whole message; a negative limit means forever. nullopt: see silence(). Invalid
  /// data closes the channel.
  std::optional<Message> receive(double limit_seconds, const Extension& more = {});
  Silence silence() const { return silence_; }

 private:
  int socket_;
  Silence silence_ = Silence::none;
};

}  // namespace autotune
