// SPDX-License-Identifier: Apache-2.0
// Anything that the tool's end of a socket may send: to the process that runs kernels, and to those
// of a plugin and of a compiler.
#include <thread>

#include "tests/fuzz/messages.hpp"
#include "tests/support/fake_device.hpp"
#include "tuner/core/error.hpp"
#include "tuner/worker/wire.hpp"
#include "tuner/worker/worker_process.hpp"

namespace autotune::fuzz {
namespace {

/// What ends a worker with a sentence on stderr. That is all it may end by.
template <class Work>
void attempt(Work&& work) {
  try {
    work();
  } catch (const Error&) {
  } catch (const Json::exception&) {
  } catch (const std::out_of_range&) {  // an unknown bench
  }
}

/// Lets a worker with a device of these tests answer.
void serve_kernels(std::string_view input) {
  testing::FakeDevice device([](const testing::Macros&) { return testing::Fate{}; });
  device.baselines() = {{"vendor", {}}};
  const auto ends = connected_sockets();
  Channel worker(ends[0]), tool(ends[1]);
  send_input(tool, input);
  std::thread reader([&] {
    while (tool.receive(-1)) {
    }
  });
  attempt([&] { serve(worker, device); });
  shutdown(worker.socket(), SHUT_RDWR);
  reader.join();
}

/// What the processes of plugins and compilers make of a request before they run code of others.
void read_request(const Message& message) {
  const Json& header = message.header;
  attempt([&] { search_task_of(header.at("task"), message.bytes); });
  attempt([&] { from_wire<Workload>(header.at("workload")); });
  attempt([&] { from_wire<std::vector<Evaluation>>(header.at("answers")); });
  attempt([&] { compile_task_of(header, message.bytes); });
}

}  // namespace

void feed(std::string_view input) {
  serve_kernels(input);
  const auto ends = connected_sockets();
  Channel worker(ends[0]), tool(ends[1]);
  send_input(tool, input);
  while (const auto message = worker.receive(-1)) read_request(*message);
}

}  // namespace autotune::fuzz
