// SPDX-License-Identifier: Apache-2.0
#include "tuner/plugin/plugin_baseline.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <exception>
#include <string_view>

#include "plugins/sdk/autotune_plugin.h"
#include "tuner/plugin/plugin_library.hpp"
#include "tuner/plugin/target_hooks.hpp"

namespace autotune {
namespace {

constexpr std::uint32_t kMostCandidates = 100;

/// The arguments must outlive it.
struct WholeProblem {
  WholeProblem(const std::string& target, const Workload& workload,
               std::span<void* const> addresses)
      : buffers(workload.buffers, addresses), scalars(workload.scalars) {
    buffers.add(workload.scalars, scalars);
    value = {target.c_str(), workload.problem.c_str(), buffers.count(), buffers.data()};
  }
  WholeProblem(const WholeProblem&) = delete;
  WholeProblem& operator=(const WholeProblem&) = delete;

  PlainBuffers buffers;
  const PlainScalars scalars;
  autotune_baseline_problem_v1 value{};
};

class PluginBaseline final : public Baseline {
 public:
  PluginBaseline(const autotune_baseline_v1& facet, void* instance)
      : facet_(facet), instance_(instance) {
    if (instance_ == nullptr) return;
    const std::uint32_t count = facet_.candidates(instance_);
    for (std::uint32_t i = 0; i < count && i < kMostCandidates; ++i) {
      const char* const name = facet_.name(instance_, i);
      names_.emplace_back(name == nullptr ? "" : name);
    }
  }
  ~PluginBaseline() override {
    if (instance_ != nullptr) facet_.close(instance_);
  }

  std::vector<std::string> names() const override { return names_; }

  void launch(std::size_t number, std::span<void* const> addresses, std::span<const Scalar> scalars,
              void* stream) override try {
    const PlainScalars values(scalars);
    std::vector<void*> all(addresses.begin(), addresses.end());
    for (std::size_t i = 0; i < scalars.size(); ++i) all.push_back(values.address(i));
    call_plugin("launch()", [&] {
      return facet_.launch(instance_, static_cast<std::uint32_t>(number), all.data(), stream);
    });
  } catch (const Error& error) {
    throw KernelFailure(Outcome::launch_error, error.what());
  }

 private:
  const autotune_baseline_v1& facet_;
  void* const instance_;
  std::vector<std::string> names_;
};

std::unique_ptr<Baseline> open_baseline(DeviceKind kind, const BaselineSource& source,
                                        const Workload& workload,
                                        std::span<void* const> addresses) {
  const autotune_baseline_v1& facet = loaded_plugin(source.plugin).baseline(kind);
  if (facet.supports(source.target.c_str()) == 0) {
    return std::make_unique<PluginBaseline>(facet, nullptr);
  }
  const WholeProblem problem(source.target, workload, addresses);
  void* instance = nullptr;
  call_plugin("open()", [&] { return facet.open(&problem.value, &instance); });
  return std::make_unique<PluginBaseline>(facet, instance);
}

}  // namespace

std::string library_offering(std::span<const std::filesystem::path> plugins,
                             const std::string& target, const Workload& workload,
                             bool has_free_sizes) {
  const auto offers = [&](const std::filesystem::path& file) {
    try {
      const PluginLibrary& plugin = loaded_plugin(file);
      if (!plugin.description().is_baseline || plugin.baseline().supports(target.c_str()) == 0) {
        return false;
      }
      if (has_free_sizes && !plugin.reads_free_sizes(target)) return false;
      const autotune_offers_v1* const facet = plugin.offers();
      if (facet == nullptr) return true;
      const WholeProblem problem(target, workload, {});
      return facet->refuses(&problem.value) == nullptr;
    } catch (const std::exception&) {
      return false;
    }
  };
  const auto found = std::ranges::find_if(plugins, offers);
  return found == plugins.end() ? "" : found->stem().string();
}

std::unique_ptr<Baseline> open_plugin_baseline(const BaselineSource& source,
                                               const Workload& workload,
                                               std::span<void* const> addresses) {
  return open_baseline(DeviceKind::cuda, source, workload, addresses);
}

std::unique_ptr<Baseline> open_host_baseline(const BaselineSource& source, const Workload& workload,
                                             std::span<void* const> addresses) {
  return open_baseline(DeviceKind::host, source, workload, addresses);
}

namespace {

constexpr std::uint32_t kMostCounters = 1000;

/// The callback for a plugin. No exception may pass through the plugin.
struct Call {
  const std::function<void()>& make;
  std::exception_ptr failure = nullptr;

  static int from(void* host) {
    Call& call = *static_cast<Call*>(host);
    try {
      call.make();
      return 0;
    } catch (...) {
      call.failure = std::current_exception();
      return 1;
    }
  }
};

bool is_counter_name(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](unsigned char letter) {
    return std::isalnum(letter) != 0 || letter == '_';
  });
}

Counter checked(const autotune_counter_v1& one) {
  Counter counter{one.name == nullptr ? "" : one.name, one.unit == nullptr ? "" : one.unit,
                  one.value};
  if (!is_counter_name(counter.name)) {
    throw Error(format("counters/1: \"{}\" may have only letters, digits and _", counter.name));
  }
  if (!std::isfinite(counter.value)) {
    throw Error(format("counters/1: {} is {}", counter.name, counter.value));
  }
  return counter;
}

}  // namespace

Counters count_with_plugin(const std::filesystem::path& plugin, const std::function<void()>& make) {
  const autotune_counters_v1& facet = loaded_plugin(plugin).counters();
  Call call{make};
  std::uint32_t number = 0;
  const autotune_counter_v1* found = nullptr;
  try {
    call_plugin("count()", [&] { return facet.count(&Call::from, &call, &number, &found); });
  } catch (const Error&) {
    if (call.failure) std::rethrow_exception(call.failure);
    throw;
  }
  if (call.failure) std::rethrow_exception(call.failure);
  if (number > kMostCounters || (number > 0 && found == nullptr)) {
    throw Error(format("counters/1: there cannot be {} counters", number));
  }
  Counters counters;
  for (std::uint32_t i = 0; i < number; ++i) counters.push_back(checked(found[i]));
  return counters;
}

}  // namespace autotune
