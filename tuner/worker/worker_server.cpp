// SPDX-License-Identifier: Apache-2.0
#include "tuner/worker/worker_server.hpp"

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "tuner/core/error.hpp"
#include "tuner/text/format.hpp"
#include "tuner/worker/wire.hpp"

namespace autotune {
namespace {

/// The descriptors of this process. A kernel on the host may close them; files opened later would
/// get their numbers.
class OpenDescriptors {
 public:
  explicit OpenDescriptors(bool wanted) {
    std::error_code failed;
    if (!wanted) return;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", failed)) {
      const int number = std::atoi(entry.path().filename().c_str());
      if (const auto file = file_at(number)) files_[number] = *file;
    }
    std::erase_if(files_, [](const auto& one) { return file_at(one.first) != one.second; });
  }

  /// Or replaced by another file.
  std::optional<int> first_closed() const {
    for (const auto& [number, file] : files_) {
      if (file_at(number) != file) return number;
    }
    return std::nullopt;
  }

 private:
  using File = std::pair<dev_t, ino_t>;
  static std::optional<File> file_at(int number) {
    struct stat file {};
    if (fstat(number, &file) != 0) return std::nullopt;
    return File{file.st_dev, file.st_ino};
  }

  std::map<int, File> files_;
};

class Server {
 public:
  explicit Server(Device& device) : device_(device) {}

  Json answer(Message& message) {
    const std::string what = message.header.value("do", std::string());
    const bool runs = what == "verify" || what == "recheck" || what == "time";
    const bool may_close = runs && device_.info().kind == DeviceKind::host;
    const OpenDescriptors before(may_close);
    Json said = answer_or_failure(message);
    const std::optional<int> closed = before.first_closed();
    if (!closed) return said;
    return wire_of(KernelFailure(
        Outcome::crash, format("the kernel closed descriptor {} of its process", *closed)));
  }

 private:
  Json answer_or_failure(Message& message) {
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
