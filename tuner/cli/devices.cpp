// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/devices.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <iostream>
#include <utility>

#include "tuner/core/error.hpp"
#include "tuner/gpu/cubin_compiler.hpp"
#include "tuner/gpu/cuda_device.hpp"
#include "tuner/host/host_compiler.hpp"
#include "tuner/host/host_device.hpp"
#include "tuner/model/gpu_specs.hpp"
#include "tuner/text/format.hpp"
#include "tuner/text/strings.hpp"
#include "tuner/worker/worker_device.hpp"

namespace autotune::cli {
namespace {

std::shared_ptr<BuildCache> build_cache() {
  return std::make_shared<BuildCache>(BuildCache::default_folder());
}

/// 0 for `cuda`, 2 for `cuda:2`, -1 for other texts.
int ordinal_of(const std::string& text) {
  if (text == "cuda") return 0;
  int ordinal = -1;
  const char* end = text.data() + text.size();
  if (!text.starts_with("cuda:")) return -1;
  const auto [stop, error] = std::from_chars(text.data() + 5, end, ordinal);
  return error == std::errc() && stop == end ? ordinal : -1;
}

constexpr std::string_view kAllGpus = "cuda:all";

[[noreturn]] void no_gpu_for(const std::string& text) {
  throw Error(
      format("--device {}: there is no CUDA GPU here, or no driver for it; try --device host or "
             "--device model:h200",
             text));
}

/// `cuda:1` for the name of the second GPU here, such as `h200`. Throws Error if there is none.
std::string gpu_here(const std::string& name) {
  const std::vector<DeviceInfo> here = cuda_devices();
  const GpuSpec& asked = find_gpu(name);
  for (std::size_t i = 0; i < here.size(); ++i) {
    if (known_gpu(here[i].name) == &asked) return format("cuda:{}", i);
  }
  throw Error(
      format("--device {}: there is no {} here; --device model:{} only predicts times for it", name,
             asked.name, name));
}

/// Bounds of the seconds that a call may take: a kernel of somebody else's may be much slower than
/// the reference, and right, and the machine may be busy.
constexpr double kLeastOfStrangers = 10, kMostOfStrangers = 120;

std::unique_ptr<Device> open_with(const std::string& text,
                                  const std::shared_ptr<CompilerProcesses>& compilers,
                                  const std::vector<std::string>& readable = {}) {
  check_device(text);
  const auto cache = build_cache();
  if (const std::string warning = cache->warning(); !warning.empty()) {
    std::cerr << "warning: " << warning << '\n';
  }
  WorkerOptions options{.compilers = compilers, .readable = readable};
  if (!readable.empty()) {
    options.least_seconds = kLeastOfStrangers;
    options.most_seconds = kMostOfStrangers;
  }
  if (text == "auto") {
    if (!cuda_devices().empty()) return make_worker_device("cuda:0", cache, options);
    auto device = make_worker_device("host", cache, options);
    std::cerr << format("no CUDA GPU here: running on the host device, {}\n", device->info().name);
    return device;
  }
  if (text == "host") return make_worker_device("host", cache, options);
  if (text.starts_with("model:")) {
    return with_commands(make_model_device(device_info(find_gpu(text)), cache, compilers), cache,
                         compilers);
  }
  if (ordinal_of(text) < 0) return open_with(gpu_here(text), compilers, readable);
  const int ordinal = ordinal_of(text);
  const auto there = static_cast<int>(cuda_devices().size());
  if (there == 0) no_gpu_for(text);
  if (ordinal >= there) {
    throw Error(format("--device {}: there are {} GPUs here, numbered from 0", text, there));
  }
  return make_worker_device(format("cuda:{}", ordinal), cache, options);
}

}  // namespace

const Option kDeviceOption{"device", "D",
                           "Where to run: auto (a GPU, else the host), cuda, cuda:N, a GPU's name "
                           "such as h200, host, or model:NAME for a GPU that is not here",
                           "auto"};

const Option kDevicesOption{"device", "D",
                            "Where to run: auto (a GPU, else the host), cuda, cuda:N, a GPU's name "
                            "such as h200, host, or model:NAME for a GPU that is not here; several "
                            "alike: cuda:all, or cuda:0,cuda:2",
                            "auto"};

const Option kCompileLimitOption{"compile-limit", "S", "Seconds that compiling one kernel may take",
                                 "60"};

double compile_limit_of(const Arguments& arguments) {
  return static_cast<double>(arguments.integer("compile-limit", 1, 86400));
}

int usual_compile_threads() {
  return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

int compile_threads_of(const Arguments& arguments) {
  if (!arguments.has("jobs")) return usual_compile_threads();
  return static_cast<int>(arguments.integer("jobs", 1, 1024));
}

void check_device(const std::string& text) {
  if (text == "auto" || text == "host" || ordinal_of(text) >= 0) return;
  if (text.starts_with("model:")) {
    find_gpu(text);
    return;
  }
  if (!text.empty() && known_gpu(text)) return;
  throw UsageError(
      format("there is no device \"{}\": give auto, cuda, cuda:N, host, a GPU's name such as h200, "
             "or model:h200",
             text));
}

std::unique_ptr<Device> open_device(const std::string& text, double compile_seconds,
                                    const std::vector<std::string>& readable) {
  return open_with(text, std::make_shared<CompilerProcesses>(compile_seconds), readable);
}

std::unique_ptr<Device> open_model(const DeviceInfo& gpu, double compile_seconds) {
  return make_model_device(gpu, build_cache(),
                           std::make_shared<CompilerProcesses>(compile_seconds));
}

void check_devices(const std::string& text) {
  for (const std::string_view part : split(text, ',')) {
    const std::string one(part);
    if (one != kAllGpus) check_device(one);
  }
}

std::vector<std::unique_ptr<Device>> open_devices(const std::string& text, double compile_seconds) {
  check_devices(text);
  const auto compilers = std::make_shared<CompilerProcesses>(compile_seconds);
  std::vector<std::unique_ptr<Device>> devices;
  for (const std::string_view part : split(text, ',')) {
    const std::string one(part);
    if (one != kAllGpus) {
      devices.push_back(open_with(one, compilers));
      continue;
    }
    const std::size_t there = cuda_devices().size();
    if (there == 0) no_gpu_for(one);
    for (std::size_t i = 0; i < there; ++i) {
      devices.push_back(open_with(format("cuda:{}", i), compilers));
    }
  }
  const DeviceInfo& first = devices.front()->info();
  for (const auto& device : devices) {
    const DeviceInfo& info = device->info();
    if (info.kind == first.kind && info.name == first.name && info.id == first.id) continue;
    throw UsageError(format("--device {}: {} and {} are not alike; tune each in a run of its own",
                            text, first.name, info.name));
  }
  return devices;
}

DeviceInfo gpu_named(const std::string& text) {
  const int ordinal = ordinal_of(text);
  if (ordinal < 0) return device_info(find_gpu(text));
  const std::vector<DeviceInfo> here = cuda_devices();
  if (std::cmp_less(ordinal, here.size())) return here[static_cast<std::size_t>(ordinal)];
  throw Error(format("there is no GPU {} here: name a kind of GPU, such as h200", text));
}

DeviceInfo device_named(const std::string& text) {
  if (text == "host") return cpu_info();
  DeviceInfo gpu = gpu_named(text);
  gpu.kind = DeviceKind::cuda;
  return gpu;
}

std::vector<ListedDevice> list_devices() {
  std::vector<ListedDevice> devices;
  for (const DeviceInfo& info : cuda_devices()) {
    devices.push_back({format("cuda:{}", devices.size()), info});
  }
  devices.push_back({"host", cpu_info()});
  for (const GpuSpec& spec : gpu_specs()) {
    const DeviceInfo info = device_info(spec);
    devices.push_back({"model:" + spec.name, info});
  }
  return devices;
}

namespace {

constexpr int kPeriodSeconds = 10;

}  // namespace

Patience::Patience(double limit_seconds)
    : limit_(limit_seconds), thread_([this](const std::stop_token& end) { speak(end); }) {}

void Patience::note(std::size_t done, std::size_t all) {
  const std::lock_guard lock(mutex_);
  done_ = std::max(done_, done);
  of_ = format(" of {}", all);
}

void Patience::speak(const std::stop_token& end) {
  std::unique_lock lock(mutex_);
  for (int seconds = kPeriodSeconds;; seconds += kPeriodSeconds) {
    changed_.wait_for(lock, end, std::chrono::seconds(kPeriodSeconds), [] { return false; });
    if (end.stop_requested()) return;
    std::cerr << format(
        "{}{} kernels compiled after {} s; the limit for one is {:.0f} s (--compile-limit)\n",
        done_, of_, seconds, limit_);
  }
}

}  // namespace autotune::cli
