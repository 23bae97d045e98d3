// SPDX-License-Identifier: Apache-2.0
#include "tuner/worker/worker_process.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <new>
#include <sstream>
#include <system_error>
#include <utility>

#include "tuner/core/error.hpp"
#include "tuner/gpu/nvrtc.hpp"
#include "tuner/gpu/standard_headers.hpp"
#include "tuner/host/compile_program.hpp"
#include "tuner/plugin/plugin_library.hpp"
#include "tuner/plugin/target_hooks.hpp"
#include "tuner/text/format.hpp"

namespace autotune {

void end_worker() { _exit(1); }

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
    if (what == "describe") return {{"plugin", to_wire(library_->description())}};
    if (what == "search") {
      const SearchTask task = search_task_of(request.at("task"), message.bytes);
      const auto ask = [this](std::span<const std::uint64_t> indices) { return asked(indices); };
      run_strategy(library_->strategy(request.at("strategy")), task, ask);
      return {{"done", true}};
    }
    if (what == "prepare") {
      const std::string folder = request.at("folder");
      const Workload workload = with_hooks(library_->target(request.at("target")),
                                           from_wire<Workload>(request.at("workload")), folder);
      return {{"workload", to_wire(workload)}};
    }
    throw Error("a plugin's process does not know the request " + what);
  }

  std::vector<Evaluation> asked(std::span<const std::uint64_t> indices) {
    const std::vector<std::uint64_t> plain(indices.begin(), indices.end());
    const bool sent = channel_.send({{"ask", plain}}, {}, -1) == Silence::none;
    const auto message = sent ? channel_.receive(-1) : std::nullopt;
    if (!message) end_worker();  // the parent is gone
    return from_wire<std::vector<Evaluation>>(message->header.at("answers"));
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

namespace {

namespace fs = std::filesystem;

/// The text written to stderr since the last call. stderr is a file in a worker, of a fixed size;
/// empty if the text filled it.
std::string take_stderr() {
  struct stat file {};
  const off_t size = lseek(2, 0, SEEK_CUR);
  if (fstat(2, &file) != 0 || size < 0 || lseek(2, 0, SEEK_SET) < 0 || size >= file.st_size)
    return {};
  std::string text(static_cast<std::size_t>(size), '\0');
  const ssize_t got = pread(2, text.data(), text.size(), 0);
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  return text;
}

/// The trace has one file per line, indented by depth. NVRTC's own headers and ours, which are no
/// files, have no folder.
std::vector<fs::path> files_in_trace(const std::string& trace) {
  std::vector<fs::path> files;
  std::istringstream lines(trace);
  for (std::string line; std::getline(lines, line);) {
    line.erase(0, line.find_first_not_of(' '));
    const bool is_no_file = line.empty() || line.starts_with("__nv_") || is_standard_header(line);
    if (!is_no_file) files.emplace_back(line);
  }
  return files;
}

/// Compiles with --trace_includes: NVRTC then prints the files that it opens on stderr. Old
/// versions print nothing.
Build compile_traced(const CompileTask& task) {
  CompileTask traced = task;
  traced.options.insert(traced.options.end(), {"-Xcudafe", "--trace_includes"});
  take_stderr();
  Build build = compile_with_nvrtc(traced, std::nullopt);
  const std::string trace = take_stderr();
  if (!build.binary && build.log.find("trace_includes") != std::string::npos) {
    return compile_with_nvrtc(task, std::nullopt);
  }
  if (trace.starts_with("__nv_")) build.read = files_in_trace(trace);
  return build;
}

Message answer(const Message& request) {
  try {
    const CompileTask task = compile_task_of(request.header, request.bytes);
    const Build build =
        task.program.empty() ? compile_traced(task) : compile_program(task, run_beside_us);
    return {wire_of(build), build.binary ? *build.binary : ""};
  } catch (const NotCompiled& failure) {
    return {Json::object({{"not_compiled", failure.what()}}), ""};
  } catch (const std::bad_alloc&) {
    return {Json::object({{"not_compiled", "the compiler ran out of memory"}}), ""};
  } catch (const Error& error) {
    return {Json::object({{"error", error.what()}}), ""};
  }
}

}  // namespace

void serve_compiler(Channel& channel) {
  while (const auto request = channel.receive(-1)) {
    const Message message = answer(*request);
    if (channel.send(message.header, message.bytes, -1) != Silence::none) return;
  }
}

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
    const bool runs = what == "verify" || what == "recheck" || what == "rows" || what == "time" ||
                      what == "time_unseen";
    const bool may_close = runs && device_.info().kind == DeviceKind::host;
    for (const Json& id : message.header.at("drop")) forget(id);  // closes their own descriptors
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
      Workload workload = from_wire<Workload>(request.at("workload"));
      if (!message.bytes.empty()) {
        workload.reference_binary = std::make_shared<const std::string>(std::move(message.bytes));
      }
      benches_[id] = device_.open(workload);
      return Json::object();
    }
    if (what == "load") {
      const auto kernel = compiled_kernel_of(request.at("kernel"), std::move(message.bytes));
      candidates_[id] =
          benches_.at(request.at("bench"))->load(kernel, from_wire<LaunchPlan>(request.at("plan")));
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
               to_wire(candidates_.at(id)->verify(request.at("runs"), request.at("give_up")))}};
    }
    if (what == "rows") return to_wire(candidates_.at(id)->rows(request.at("columns")));
    if (what == "recheck") return {{"verdict", to_wire(candidates_.at(id)->recheck())}};
    if (what == "time_unseen") {
      return to_wire(candidates_.at(id)->time_unseen(request.at("rounds")));
    }
    if (what == "time") {
      const auto l2 = static_cast<L2State>(request.at("l2").get<int>());
      const auto context = static_cast<CallContext>(request.at("context").get<int>());
      return to_wire(candidates_.at(id)->time_in(context, request.at("launches"), l2));
    }
    if (what == "energy") {
      const auto l2 = static_cast<L2State>(request.at("l2").get<int>());
      return to_wire(candidates_.at(id)->energy(request.at("seconds"), l2));
    }
    if (what == "counters") {
      return wire_of(counters_of(*candidates_.at(id), request.at("plugin").get<std::string>()));
    }
    if (what == "floor") return {{"seconds", benches_.at(id)->launch_floor()}};
    if (what == "active_blocks") {
      const auto kernel = compiled_kernel_of(request.at("kernel"), std::move(message.bytes));
      const auto blocks = device_.active_blocks(kernel, from_wire<Launch>(request.at("launch")));
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
  const pid_t own = ::getpid();
  while (auto message = channel.receive(-1)) {
    const auto answer = server.answer(*message);
    if (::getpid() != own) ::_exit(0);  // a copy that a kernel has made by fork()
    if (channel.send(answer, {}, -1) != Silence::none) return;
  }
}

}  // namespace autotune
