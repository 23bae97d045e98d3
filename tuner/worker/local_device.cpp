// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <string_view>
#include <utility>

#include "tuner/core/error.hpp"
#include "tuner/gpu/cuda_device.hpp"
#include "tuner/host/host_device.hpp"
#include "tuner/plugin/plugin_baseline.hpp"
#include "tuner/plugin/plugin_counters.hpp"
#include "tuner/text/format.hpp"
#include "tuner/worker/worker_device.hpp"

namespace autotune {

std::unique_ptr<Device> make_local_device(const std::string& spec,
                                          std::shared_ptr<BuildCache> cache,
                                          std::shared_ptr<CompilerRunner> runner) {
  if (spec == "host") return make_host_device(std::move(cache), {.runner = std::move(runner)});
  constexpr std::string_view kCuda = "cuda:";
  int ordinal = -1;
  const char* const end = spec.data() + spec.size();
  if (spec.starts_with(kCuda)) {
    const auto [rest, error] = std::from_chars(spec.data() + kCuda.size(), end, ordinal);
    if (error != std::errc() || rest != end) ordinal = -1;
  }
  if (ordinal < 0) throw UsageError(format("{} cannot run kernels: use host or cuda:0", spec));
  return make_cuda_device(ordinal, std::move(cache), open_plugin_baseline, std::move(runner),
                          count_with_plugin);
}

}  // namespace autotune
