// SPDX-License-Identifier: Apache-2.0
#include "tuner/mpi/share_of_host.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <thread>
#include <vector>

#include "tuner/core/error.hpp"
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

int allowed_cores() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
  return static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

}  // namespace autotune
