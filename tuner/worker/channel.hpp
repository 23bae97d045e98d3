// SPDX-License-Identifier: Apache-2.0
// Messages over a socket between two processes: a JSON header, as CBOR, and raw bytes after it.
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

/// How receiving ended without a message.
enum class Silence { none, closed, timeout };

/// Seconds by which a limit is longer meanwhile, or shorter where negative. Asked every 100 ms.
using Extension = std::function<double()>;

class Channel {
 public:
  /// Takes the descriptor over.
  explicit Channel(int socket) : socket_(socket) {}
  ~Channel();
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  int socket() const { return socket_; }

  /// Writes wait no longer than the limit for a reader that is stuck. `none` when it was sent.
  Silence send(const Json& header, std::string_view bytes, double limit_seconds);

  /// Waits for a whole message; a negative limit means for ever. nullopt: silence() says why. What
  /// is no message closes the channel.
  std::optional<Message> receive(double limit_seconds, const Extension& more = {});
  Silence silence() const { return silence_; }

 private:
  int socket_;
  Silence silence_ = Silence::none;
};

}  // namespace autotune
