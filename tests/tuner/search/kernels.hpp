// SPDX-License-Identifier: Apache-2.0
// Points and kernels for tests of Gaussian processes.
#pragma once

#include <cmath>

#include "tuner/search/gaussian_process.hpp"
#include "tuner/search/random_source.hpp"

namespace autotune::simulated {

/// Uniform in the unit cube; the same in every call.
inline Points random_points(Eigen::Index count, Eigen::Index dimensions) {
  RandomSource random(5);
  Points points(count, dimensions);
  for (Eigen::Index i = 0; i < points.size(); ++i) {
    points.data()[i] = static_cast<float>(random.uniform());
  }
  return points;
}

/// Length scales and amplitude of 1, hardly any noise.
inline Kernel wide_kernel(Eigen::Index dimensions) {
  Kernel kernel = Kernel::prior(dimensions, 0);
  kernel.log_scales.setZero();
  kernel.log_noise = std::log(1e-6);
  kernel.log_amplitude = 0;
  return kernel;
}

}  // namespace autotune::simulated
