// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/kernel_arguments.hpp"

#include "tuner/core/device.hpp"
#include "tuner/text/format.hpp"

namespace autotune {

int bytes_of(const Argument& argument) {
  if (const auto* const scalar = std::get_if<Scalar>(&argument)) {
    return static_cast<int>(bytes_of(scalar->type));
  }
  return std::holds_alternative<TensorMap>(argument) ? kTensorMapBytes
                                                     : static_cast<int>(sizeof(void*));
}

void check_arguments(const Launch& launch, std::span<const int> parameter_bytes) {
  const auto refuse = [&](const std::string& why) {
    throw KernelFailure(Outcome::launch_error, format("{}: {}", launch.entry, why));
  };
  if (parameter_bytes.size() != launch.arguments.size()) {
    refuse(
        format("it takes {} arguments, not {}", parameter_bytes.size(), launch.arguments.size()));
  }
  for (std::size_t i = 0; i < parameter_bytes.size(); ++i) {
    const int bytes = bytes_of(launch.arguments[i]);
    if (bytes == parameter_bytes[i]) continue;
    refuse(format("argument {} has {} bytes, and the kernel's parameter {}", i + 1, bytes,
                  parameter_bytes[i]));
  }
}

}  // namespace autotune
