// SPDX-License-Identifier: Apache-2.0
// The buffers of a problem as a plugin sees them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "plugins/sdk/autotune_plugin.h"
#include "tuner/core/launch.hpp"

namespace autotune {

class PlainBuffers {
 public:
  /// `specs` must outlive it; `addresses` says where each lies.
  PlainBuffers(std::span<const BufferSpec> specs, std::span<void* const> addresses);
  PlainBuffers(const PlainBuffers&) = delete;
  PlainBuffers& operator=(const PlainBuffers&) = delete;

  std::uint32_t count() const { return static_cast<std::uint32_t>(plain_.size()); }
  const autotune_buffer_v1* data() const { return plain_.data(); }

 private:
  std::vector<std::string> types_;
  std::vector<autotune_buffer_v1> plain_;
};

}  // namespace autotune
