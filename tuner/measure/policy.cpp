// SPDX-License-Identifier: Apache-2.0
#include "tuner/measure/policy.hpp"

#include <algorithm>
#include <cmath>

#include "tuner/text/format.hpp"

namespace autotune {

std::string key_text(const Policy& policy) {
  return format("l2={} launch={}", policy.l2 == L2State::hot ? "hot" : "cold",
                policy.form == LaunchForm::graph ? "graph" : "stream");
}

int launches_for(double seconds, const Policy& policy) {
  if (!(seconds > 0)) return policy.most_launches;
  const double aimed_at = std::clamp(std::ceil(policy.batch_seconds / seconds),
                                     static_cast<double>(policy.fewest_launches),
                                     static_cast<double>(policy.most_launches));
  const double affordable = std::floor(policy.visit_seconds / policy.fewest_batches / seconds);
  return static_cast<int>(std::clamp(affordable, 1.0, aimed_at));
}

}  // namespace autotune
