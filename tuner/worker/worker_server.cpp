// SPDX-License-Identifier: Apache-2.0
#include "tuner/worker/worker_server.hpp"

#include <map>
#include <memory>
#include <new>
#include <string>

#include "tuner/core/error.hpp"
#include "tuner/worker/wire.hpp"

namespace autotune {
namespace {

class Server {
 public:
  explicit Server(Device& device) : device_(device) {}

  Json answer(Message& message) {
    try {
      for (const Json& id : message.header.at("drop")) forget(id);
      return run(message);
    } catch (const KernelFailure& failure) {
      return wire_of(failure);
    } catch (const Error& error) {
      return {{"error", error.what()}};
    } catch (const std::bad_alloc&) {
      return {{"error", "the worker ran out of memory: use smaller sizes"}};
    }
  }

 private:
  static BaselineSource source_of(const Json& request) {
    return {request.at("plugin").get<std::string>(), request.at("target")};
  }

  void forget(std::uint64_t id) {
    candidates_.erase(id);
    benches_.erase(id);
  }

  Json run(Message& message) {
    const Json& request = message.header;
    const std::string what = request.at("do");
    const std::uint64_t id = request.value("id", std::uint64_t{0});
    if (what == "open") {
      Workload workload = workload_of(request.at("workload"));
      if (!message.bytes.empty()) {
        workload.reference_binary = std::make_shared<const std::string>(std::move(message.bytes));
      }
      benches_[id] = device_.open(workload);
      return Json::object();
    }
    if (what == "load") {
      const auto kernel = compiled_kernel_of(request.at("kernel"), std::move(message.bytes));
      candidates_[id] =
          benches_.at(request.at("bench"))->load(kernel, launch_plan_of(request.at("plan")));
      return Json::object();
    }
    if (what == "baselines") {
      return {{"names", benches_.at(id)->baselines(source_of(request))}};
    }
    if (what == "load_baseline") {
      candidates_[id] =
          benches_.at(request.at("bench"))->load_baseline(source_of(request), request.at("number"));
      return Json::object();
    }
    if (what == "verify") {
      return {{"verdict",
               wire_of(candidates_.at(id)->verify(request.at("runs"), request.at("give_up")))}};
    }
    if (what == "recheck") return {{"verdict", wire_of(candidates_.at(id)->recheck())}};
    if (what == "time") {
      const auto l2 = static_cast<L2State>(request.at("l2").get<int>());
      const auto context = static_cast<CallContext>(request.at("context").get<int>());
      return wire_of(candidates_.at(id)->time_in(context, request.at("launches"), l2));
    }
    if (what == "energy") {
      const auto l2 = static_cast<L2State>(request.at("l2").get<int>());
      return wire_of(candidates_.at(id)->energy(request.at("seconds"), l2));
    }
    if (what == "counters") {
      return wire_of(counters_of(*candidates_.at(id), request.at("plugin").get<std::string>()));
    }
    if (what == "floor") return {{"seconds", benches_.at(id)->launch_floor()}};
    if (what == "active_blocks") {
      const auto kernel = compiled_kernel_of(request.at("kernel"), std::move(message.bytes));
      const auto blocks = device_.active_blocks(kernel, launch_of(request.at("launch")));
      return {{"blocks", blocks ? Json(*blocks) : Json()}};
    }
    throw Error("the worker does not know the request " + what);
  }

  Device& device_;
  std::map<std::uint64_t, std::unique_ptr<Workbench>> benches_;
  std::map<std::uint64_t, std::unique_ptr<Candidate>> candidates_;  // destroyed first
};

}  // namespace

void serve(Channel& channel, Device& device) {
  Server server(device);
  while (auto message = channel.receive(-1)) {
    if (channel.send(server.answer(*message), {}, -1) != Silence::none) return;
  }
}

}  // namespace autotune
