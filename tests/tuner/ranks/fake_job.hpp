// SPDX-License-Identifier: Apache-2.0
// A rank's job on a device with known results.
#pragma once

#include <utility>

#include "tests/support/fake_device.hpp"
#include "tuner/ranks/member.hpp"

namespace autotune::testing {

class FakeJob final : public MemberJob {
 public:
  FakeJob(const Target& target, const TuningRequest& request, FakeDevice::Truth truth)
      : target_(target), request_(request), device_(std::move(truth)) {}
  const Target& target() const override { return target_; }
  FakeDevice& device() override { return device_; }
  const TuningRequest& request() const override { return request_; }
  std::string device_text() const override { return ""; }

 private:
  const Target& target_;
  const TuningRequest& request_;
  FakeDevice device_;
};

}  // namespace autotune::testing
