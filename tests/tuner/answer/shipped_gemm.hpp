// SPDX-License-Identifier: Apache-2.0
// gemm on a GPU that is not here, and what is shipped for its architecture.
#pragma once

#include <utility>

#include "tuner/answer/experience.hpp"
#include "tuner/model/gpu_specs.hpp"
#include "tuner/records/records.hpp"
#include "tuner/target/catalog.hpp"

namespace autotune {

class ShippedGemm {
 public:
  explicit ShippedGemm(const char* gpu, NamedValues settings = {})
      : device_(device_of(gpu)), settings_(std::move(settings)) {}

  db::PastTimes times() const {
    const db::Layer shipped{AUTOTUNE_BINARY_DIR "/share/autotune/shipped.db", db::Mode::shipped};
    db::LookupRequest request;
    request.target = "gemm";
    request.size_names = "M N K batch";
    request.settings = to_text({ones_.values.begin() + 4, ones_.values.end()});
    request.policy = "l2=hot launch=graph context=between";
    request.device = device_row(device_);
    return db::read_past_times({&shipped, 1}, request);
  }

  bool is_here(const db::PastTimes& times, const db::PastProblem& problem) const {
    return db::is_same_device(times.devices[problem.device], device_row(device_));
  }

  const Target& target() const { return gemm_; }
  /// These refer to this object.
  SizedTarget sized() const { return {gemm_, ones_, device_, program_}; }
  Experience experience(db::PastTimes times) const { return Experience{sized(), std::move(times)}; }

 private:
  static DeviceInfo device_of(const char* gpu) {
    DeviceInfo info = device_info(find_gpu(gpu));
    info.kind = DeviceKind::cuda;
    return info;
  }

  const Target gemm_ = find_target(AUTOTUNE_SOURCE_DIR "/kernel_sources/gemm/gemm.target.toml");
  const DeviceInfo device_;
  const NamedValues settings_;
  const Problem ones_ = problem_of(gemm_, {{"M", 1}, {"N", 1}, {"K", 1}}, settings_);
  const TargetProgram program_{gemm_, ones_, device_, SizeBinding::given};
};

}  // namespace autotune
