// SPDX-License-Identifier: Apache-2.0
#include "tuner/worker/kept_program.hpp"

#include <optional>
#include <utility>

#include "tuner/core/error.hpp"
#include "tuner/text/format.hpp"
#include "tuner/worker/wire_value.hpp"
#include "tuner/worker/worker_process.hpp"

namespace autotune {

ProcessText run_kept(const std::vector<std::string>& argv, double limit_seconds,
                     std::size_t most_bytes) {
  WorkerProcess process({find_worker_program().string(), "--run", format("{}", most_bytes)});
  std::optional<Message> answer = process.ask({{"argv", argv}}, {}, limit_seconds);
  if (!answer && process.silence() == Silence::timeout) return {{true, 0, {}}, {}, false};
  if (!answer) throw Error(format("{}: its process ended by {}", argv[0], process.end().text));
  return read_message(answer->header, [&](const Json& header) -> ProcessText {
    if (const auto error = header.find("error"); error != header.end()) {
      throw Error(error->get<std::string>());
    }
    return {{false, field(header, "status"), field(header, "output")},
            std::move(answer->bytes),
            field(header, "is_too_long")};
  });
}

void serve_program(Channel& channel, std::size_t most_bytes) {
  while (const auto request = channel.receive(-1)) {
    Message answer;
    try {
      ProcessText result = text_of_process(request->header.at("argv"), most_bytes);
      answer.header = {{"status", result.status},
                       {"output", std::move(result.output)},
                       {"is_too_long", result.is_too_long}};
      answer.bytes = std::move(result.text);
    } catch (const Error& error) {
      answer.header = {{"error", error.what()}};
    }
    if (channel.send(answer.header, answer.bytes, -1) != Silence::none) return;
  }
}

}  // namespace autotune
