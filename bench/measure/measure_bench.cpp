// SPDX-License-Identifier: Apache-2.0
// Prints what each way of measuring loses: the regret of the configuration that it chooses among
// simulated ones whose true times are known. usage: measure_bench [runs] [fastest time in us]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "bench/measure/simulated_tuning.hpp"
#include "tuner/measure/statistics.hpp"

using namespace autotune;

namespace {

constexpr std::size_t kConfigurations = 200;

struct Totals {
  std::vector<double> regrets, seconds, floors;
  int near_best = 0, near_best_lost = 0, worse_than_default = 0;
};

Totals run(Method method, const NoiseModel& noise, int runs, double least) {
  Totals totals;
  for (int i = 0; i < runs; ++i) {
    const auto seed = static_cast<std::uint64_t>(i);
    const std::vector<double> truths = simulated_space(kConfigurations, least, seed);
    const Choice choice = choose(method, truths, noise, seed + 1000);
    totals.regrets.push_back(choice.audit.regret);
    totals.seconds.push_back(choice.device_seconds);
    totals.floors.push_back(choice.noise_floor);
    totals.near_best += choice.audit.near_best;
    totals.near_best_lost += choice.audit.near_best_lost;
    totals.worse_than_default += choice.audit.gain < 1 ? 1 : 0;
  }
  std::ranges::sort(totals.regrets);
  return totals;
}

void print(Method method, const Totals& totals) {
  const std::size_t runs = totals.regrets.size();
  std::printf("%-16s %7.2f %% %7.2f %% %10.2f ms\n", std::string(name_of(method)).c_str(),
              100 * mean(totals.regrets), 100 * totals.regrets[runs * 95 / 100],
              1e3 * mean(totals.seconds) / kConfigurations);
  if (method != Method::judged) return;
  std::printf(
      "judged: %d of %d within 1 %% of the best were lost; worse than the default in %d of %zu "
      "runs;\nmedian noise floor %.2f %%\n",
      totals.near_best_lost, totals.near_best, totals.worse_than_default, runs,
      100 * median(totals.floors));
}

void print_all(const char* machine, const NoiseModel& noise, int runs, double least) {
  std::printf("\n%s\n%-16s %9s %9s %13s\n", machine, "chosen by", "regret", "95 %", "device time");
  for (const Method method : kMethods) print(method, run(method, noise, runs, least));
}

}  // namespace

int main(int argc, char** argv) {
  const int runs = argc > 1 ? std::atoi(argv[1]) : 400;
  const double least = (argc > 2 ? std::atof(argv[2]) : 10) * 1e-6;
  if (runs < 1 || least <= 0) {
    std::fprintf(stderr, "usage: measure_bench [runs] [fastest time in us]\n");
    return 2;
  }
  std::printf("%zu configurations, the fastest takes about %g us, %d runs\n", kConfigurations,
              least * 1e6, runs);
  print_all("a noisy machine", NoiseModel{}, runs, least);
  print_all("the noise of an H200", kH200Noise, runs, least);
}
