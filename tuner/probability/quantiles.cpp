// SPDX-License-Identifier: Apache-2.0
#include "tuner/probability/quantiles.hpp"

#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/students_t.hpp>

namespace autotune {
namespace {

// Discrete quantiles are rounded down. Doubles are not promoted to long double: their precision
// suffices here.
using Policy = boost::math::policies::policy<
    boost::math::policies::discrete_quantile<boost::math::policies::integer_round_down>,
    boost::math::policies::promote_double<false>>;
using Binomial = boost::math::binomial_distribution<double, Policy>;
using StudentT = boost::math::students_t_distribution<double, Policy>;

}  // namespace

double student_t_quantile(double probability, std::size_t degrees_of_freedom) {
  return quantile(StudentT(static_cast<double>(degrees_of_freedom)), probability);
}

std::size_t ranks_outside_median_interval(std::size_t count) {
  const Binomial below_median(static_cast<double>(count), 0.5);
  // P(X < k) is P(X <= k - 1). The largest k differs from the quantile by a step or two.
  auto k = static_cast<std::size_t>(quantile(below_median, 0.025));
  while (cdf(below_median, static_cast<double>(k)) <= 0.025) ++k;
  while (k > 0 && cdf(below_median, static_cast<double>(k - 1)) > 0.025) --k;
  return k;
}

}  // namespace autotune
