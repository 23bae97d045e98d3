// SPDX-License-Identifier: Apache-2.0
// Anything that a worker, a plugin's process or a compiler's may send to the tool. Code of others
// runs there, which may have written to their memory or to their socket.
#include "tests/fuzz/messages.hpp"
#include "tuner/worker/wire.hpp"

namespace autotune::fuzz {
namespace {

/// What the tool may see of an answer: an Error, or a KernelFailure.
template <class Read>
void read(const Json& header, Read&& reader) {
  try {
    read_message(header, [&](const Json& said) {
      throw_failure_in(said);
      reader(said);
      return true;
    });
  } catch (const Error&) {
  } catch (const KernelFailure& failure) {
    name_of(failure.outcome());
  }
}

void read_every_way(const Message& message) {
  const Json& header = message.header;
  read(header, [](const Json& said) { name_of(from_wire<Verdict>(said.at("verdict")).outcome); });
  read(header, [](const Json& said) { timed_batch_of(said); });
  read(header, [](const Json& said) { to_wire(from_wire<Workload>(said.at("workload"))); });
  read(header, [](const Json& said) { from_wire<PluginDescription>(said.at("plugin")); });
  read(header, [](const Json& said) { question_of(said, 10); });
  read(header, [&](const Json& said) { build_of(said, message.bytes); });
}

}  // namespace

void feed(std::string_view input) {
  const auto ends = connected_sockets();
  Channel worker(ends[0]), tool(ends[1]);
  send_input(worker, input);
  while (const auto message = tool.receive(-1)) read_every_way(*message);
}

}  // namespace autotune::fuzz
