// SPDX-License-Identifier: Apache-2.0
#include "tuner/mpi/own_job.hpp"

#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include "db/store.hpp"
#include "tuner/cli/answers.hpp"
#include "tuner/cli/arguments.hpp"
#include "tuner/cli/devices.hpp"
#include "tuner/cli/tuning_report.hpp"
#include "tuner/core/error.hpp"
#include "tuner/gpu/cuda_device.hpp"
#include "tuner/text/format.hpp"
#include "tuner/text/strings.hpp"

namespace autotune {
namespace {

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "this host";
}

[[noreturn]] void too_many_ranks(const std::string& text, std::size_t devices, int local_rank) {
  throw UsageError(
      format("--device {}: {} has {} of these and at least {} ranks that want one; start one rank "
             "for each GPU, and one more for the database",
             text, host_name(), devices, local_rank + 1));
}

std::string gpu_of_rank(const std::string& text, int local_rank, const VisibleGpus& gpus) {
  if (gpus.count == 0) {
    throw UsageError(format(
        "--device {}: {} has no GPU that CUDA can use (autotune doctor there says why); give "
        "--device host to run on the CPU, or start no rank there",
        text, host_name()));
  }
  if (gpus.count == 1 && gpus.chosen) return "cuda:0";
  if (local_rank < gpus.count) return format("cuda:{}", local_rank);
  too_many_ranks(text, static_cast<std::size_t>(gpus.count), local_rank);
}

}  // namespace

std::string device_of_rank(const std::string& text, int local_rank, const VisibleGpus& gpus) {
  if (text == "auto" && gpus.count == 0) return "host";
  if (text == "auto" || text == "cuda" || text == "cuda:all") {
    return gpu_of_rank(text, local_rank, gpus);
  }
  const std::vector<std::string_view> items = split(text, ',');
  const bool is_shared = items.size() == 1 && !text.starts_with("cuda");
  if (is_shared) return text;
  const auto number = static_cast<std::size_t>(local_rank);
  if (number >= items.size()) too_many_ranks(text, items.size(), local_rank);
  return std::string(items[number]);
}

int threads_of_rank(int allowed, int cores, int local_size) {
  const bool is_bound = allowed < cores;
  return std::max(1, is_bound ? allowed : allowed / std::max(1, local_size));
}

namespace {

/// Cores that this process may run on.
int allowed_cores() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
  return static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

}  // namespace

StartLimit::StartLimit(double seconds, const char* variable)
    : thread_([this, seconds, variable] { watch(seconds, variable); }) {}

StartLimit::~StartLimit() {
  {
    const std::lock_guard lock(mutex_);
    has_started_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void StartLimit::watch(double seconds, const char* variable) {
  std::unique_lock lock(mutex_);
  const std::chrono::duration<double> limit(seconds);
  if (changed_.wait_for(lock, limit, [this] { return has_started_; })) return;
  std::cerr << format(
      "error: a rank did not start within {:.3g} s; run the same command again, with a larger {} "
      "if ranks need longer\n",
      seconds, variable);
  kill_stopped_children(getppid());
  _exit(cli::kFailed);
}

void kill_stopped_children(int parent) {
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", failed)) {
    const std::string name = entry.path().filename();
    pid_t pid = 0;
    const auto end = name.data() + name.size();
    if (std::from_chars(name.data(), end, pid).ptr != end) continue;
    std::ifstream file(entry.path() / "stat");
    std::string line;
    std::getline(file, line);
    // After the command's name, which may hold spaces and brackets: state and parent.
    std::istringstream fields(line.substr(std::min(line.size(), line.rfind(')') + 1)));
    char state = 0;
    pid_t its_parent = 0;
    if (fields >> state >> its_parent && its_parent == parent && state == 'T') kill(pid, SIGKILL);
  }
}

namespace {

std::string visible_devices() {
  const char* const text = std::getenv("CUDA_VISIBLE_DEVICES");
  return text ? text : "";
}

std::string own_device(const std::string& text, int local_rank) {
  const bool may_be_gpu = text == "auto" || text == "cuda" || text == "cuda:all";
  const VisibleGpus gpus{may_be_gpu ? static_cast<int>(cuda_devices().size()) : 0,
                         !visible_devices().empty()};
  return device_of_rank(text, local_rank, gpus);
}

class OwnJob final : public MemberJob {
 public:
  OwnJob(cli::Arguments given, int rank, int local_rank, int local_size)
      : arguments_(std::move(given)),
        command_(arguments_),
        name_(own_device(arguments_.text("device"), local_rank)),
        device_(cli::open_device(name_, cli::compile_limit_of(arguments_))),
        request_(command_.request(device_->info().kind)) {
    request_.answer_today = cli::answers_today(arguments_, command_.target(), device_->info(),
                                               key_text(request_.policy), {});
    const auto cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
    if (!arguments_.has("jobs")) {
      request_.compile_threads = threads_of_rank(allowed_cores(), cores, local_size);
      most_threads_ = threads_of_rank(allowed_cores(), cores, 1);
    }
    const std::string process = db::process_text();
    request_.command += format(" (rank {} on {})", rank, process.substr(0, process.find(' ')));
  }

  const Target& target() const override { return command_.target(); }
  Device& device() override { return *device_; }
  const TuningRequest& request() const override { return request_; }
  std::string device_text() const override {
    return name_.starts_with("cuda") ? name_ + " of " + visible_devices() : "";
  }

  int most_threads() const override { return std::max(most_threads_, request_.compile_threads); }

 private:
  const cli::Arguments arguments_;
  cli::TuneCommand command_;
  const std::string name_;
  const std::unique_ptr<Device> device_;
  TuningRequest request_;
  int most_threads_ = 0;
};

}  // namespace

std::unique_ptr<MemberJob> open_own_job(cli::Arguments arguments, int rank, int local_rank,
                                        int local_size) {
  return std::make_unique<OwnJob>(std::move(arguments), rank, local_rank, local_size);
}

}  // namespace autotune
