// SPDX-License-Identifier: Apache-2.0
#include "tuner/worker/plugin_server.hpp"

#include <new>
#include <optional>

#include "tuner/core/error.hpp"
#include "tuner/plugin/plugin_library.hpp"
#include "tuner/plugin/search_task.hpp"
#include "tuner/plugin/target_hooks.hpp"
#include "tuner/worker/plugin_wire.hpp"
#include "tuner/worker/wire.hpp"
#include "tuner/worker/worker_end.hpp"

namespace autotune {
namespace {

class PluginServer {
 public:
  PluginServer(Channel& channel, std::filesystem::path file)
      : channel_(channel), file_(std::move(file)) {}

  Json answer(const Message& message) try {
    if (!library_) library_.emplace(file_);
    return run(message);
  } catch (const Error& error) {
    return {{"error", error.what()}};
  } catch (const std::bad_alloc&) {
    return {{"error", "there is no memory left"}};
  }

 private:
  Json run(const Message& message) {
    const Json& request = message.header;
    const std::string what = request.at("do");
    if (what == "describe") return {{"plugin", wire_of(library_->description())}};
    if (what == "search") {
      const SearchTask task = search_task_of(request.at("task"), message.bytes);
      const auto ask = [this](std::span<const std::uint64_t> indices) { return asked(indices); };
      run_strategy(library_->strategy(request.at("strategy")), task, ask);
      return {{"done", true}};
    }
    if (what == "prepare") {
      const std::string folder = request.at("folder");
      const Workload workload = with_hooks(library_->target(request.at("target")),
                                           workload_of(request.at("workload")), folder);
      return {{"workload", wire_of(workload)}};
    }
    throw Error("a plugin's process does not know the request " + what);
  }

  std::vector<Evaluation> asked(std::span<const std::uint64_t> indices) {
    const std::vector<std::uint64_t> plain(indices.begin(), indices.end());
    const bool sent = channel_.send({{"ask", plain}}, {}, -1) == Silence::none;
    const auto message = sent ? channel_.receive(-1) : std::nullopt;
    if (!message) end_worker();  // the parent is gone
    return evaluations_of(message->header.at("answers"));
  }

  Channel& channel_;
  const std::filesystem::path file_;
  std::optional<PluginLibrary> library_;
};

}  // namespace

void serve_plugin(Channel& channel, const std::filesystem::path& file) {
  PluginServer server(channel, file);
  while (auto message = channel.receive(-1)) {
    if (channel.send(server.answer(*message), {}, -1) != Silence::none) return;
  }
}

}  // namespace autotune
