// SPDX-License-Identifier: Apache-2.0
#include "tuner/plugin/plugin_baseline.hpp"

#include <utility>

#include "plugins/sdk/autotune_plugin.h"
#include "tuner/core/device.hpp"
#include "tuner/plugin/plain_buffers.hpp"
#include "tuner/plugin/plugin_call.hpp"
#include "tuner/plugin/plugin_library.hpp"

namespace autotune {
namespace {

constexpr std::uint32_t kMostCandidates = 100;

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

}  // namespace

std::unique_ptr<Baseline> open_plugin_baseline(const BaselineSource& source,
                                               const Workload& workload,
                                               std::span<void* const> addresses) {
  const autotune_baseline_v1& facet = loaded_plugin(source.plugin).baseline();
  if (facet.supports(source.target.c_str()) == 0) {
    return std::make_unique<PluginBaseline>(facet, nullptr);
  }
  PlainBuffers buffers(workload.buffers, addresses);
  const PlainScalars values(workload.scalars);
  buffers.add(workload.scalars, values);
  const autotune_baseline_problem_v1 problem{source.target.c_str(), workload.problem.c_str(),
                                             buffers.count(), buffers.data()};
  void* instance = nullptr;
  call_plugin("open()", [&] { return facet.open(&problem, &instance); });
  return std::make_unique<PluginBaseline>(facet, instance);
}

}  // namespace autotune
