// SPDX-License-Identifier: Apache-2.0
// An input as messages between processes.
#pragma once

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "tests/fuzz/fuzz.hpp"
#include "tuner/worker/wire.hpp"

namespace autotune::fuzz {

/// What a socket holds without a reader.
inline constexpr std::size_t kLongestInput = 1 << 14;

inline std::array<int, 2> connected_sockets() {
  std::array<int, 2> ends{};
  require(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0, "no sockets");
  return ends;
}

/// Each line that is a JSON object goes as a message, followed by its text "bytes"; every other
/// line as the bytes that it is.
inline void send_line(Channel& to, std::string_view line) {
  const Json json = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (json.is_object()) {
    const auto bytes = json.find("bytes");
    const bool has_bytes = bytes != json.end() && bytes->is_string();
    to.send(json, has_bytes ? bytes->get<std::string>() : "", 0);
  } else {
    ::send(to.socket(), line.data(), line.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  }
}

/// Sends all of it, and then that nothing more comes.
inline void send_input(Channel& to, std::string_view input) {
  input = input.substr(0, kLongestInput);
  while (!input.empty()) {
    const std::string_view line = input.substr(0, input.find('\n'));
    send_line(to, line);
    input.remove_prefix(std::min(input.size(), line.size() + 1));
  }
  shutdown(to.socket(), SHUT_WR);
}

}  // namespace autotune::fuzz
