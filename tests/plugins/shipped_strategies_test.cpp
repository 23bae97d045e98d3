// SPDX-License-Identifier: Apache-2.0
// The search plugins that ship, as they are installed.

#include <cmath>

#include "tests/support/matchers.hpp"
#include "tests/tuner/search/simulated.hpp"
#include "tuner/worker/plugin_catalog.hpp"

namespace autotune {
namespace {

using simulated::Bench;
using simulated::grid;

std::filesystem::path shipped(const std::string& name) {
  return std::filesystem::path(AUTOTUNE_BINARY_DIR) / "lib/autotune/plugins" / (name + ".so");
}

/// 1 at (11, 5, 2), rising away from there; a fifth of the configurations fails.
std::optional<double> valley(const Levels& levels) {
  if ((levels[0] + 2 * levels[1] + levels[2]) % 5 == 0) return std::nullopt;
  const double x = levels[0] - 11.0, y = levels[1] - 5.0, z = levels[2] - 2.0;
  return 1 + 0.05 * (x * x + y * y + z * z);
}

class ShippedStrategy : public ::testing::TestWithParam<const char*> {
 protected:
  /// The best of 150 of 16 * 8 * 8 configurations, and what was asked for.
  std::pair<double, std::vector<std::size_t>> run(std::uint64_t seed, int batch = 1) {
    const ParameterSpace space = grid({16, 8, 8});
    Bench bench(space, valley, 150, batch);
    std::vector<std::string> warnings;
    PluginOptions options;
    options.warn = [&](const std::string& sentence) { warnings.push_back(sentence); };
    const PluginDescription plugin = describe_plugin(shipped(GetParam()));
    plugin_strategy(plugin, GetParam(), options)->search(bench, seed);
    EXPECT_THAT(warnings, IsEmpty());
    EXPECT_EQ(bench.remaining(), 0u);
    double best = INFINITY;
    for (const std::size_t index : bench.asked()) {
      best = std::min(best, valley(space.levels(index)).value_or(INFINITY));
    }
    return {best, bench.asked()};
  }
};

TEST_P(ShippedStrategy, ComesNearTheBest) {
  for (const std::uint64_t seed : {1, 2, 3}) EXPECT_LE(run(seed).first, 1.25) << "seed " << seed;
}

TEST_P(ShippedStrategy, OneSeedOneSearch) {
  EXPECT_EQ(run(4).second, run(4).second);
  EXPECT_NE(run(4).second, run(5).second);
}

TEST_P(ShippedStrategy, AsksForBatches) { EXPECT_LE(run(6, 8).first, 1.4); }

TEST_P(ShippedStrategy, EndsWhenAllIsKnown) {
  const ParameterSpace space = grid({3, 2});
  Bench bench(
      space, [](const Levels&) { return std::optional(1.0); }, 100);
  plugin_strategy(describe_plugin(shipped(GetParam())), GetParam(), {})->search(bench, 1);
  EXPECT_EQ(bench.remaining(), 94u);
}

INSTANTIATE_TEST_SUITE_P(Plugins, ShippedStrategy, ::testing::Values("annealing", "genetic"),
                         [](const auto& tested) { return std::string(tested.param); });

}  // namespace
}  // namespace autotune
