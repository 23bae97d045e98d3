// SPDX-License-Identifier: Apache-2.0
// Times kernels of known work on GPU 0 repeatedly and fits a NoiseModel to the times.
// usage: noise_samples [seconds a kernel] [samples.csv]
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "tests/gpu/timed_kernels.hpp"
#include "tuner/core/deadline.hpp"
#include "tuner/core/error.hpp"
#include "tuner/gpu/cuda_device.hpp"
#include "tuner/measure/policy.hpp"
#include "tuner/measure/statistics.hpp"

using namespace autotune;

namespace {

/// Robust standard deviation: 1.4826 median absolute deviations.
double spread(const std::vector<double>& values) {
  const double centre = median(values);
  std::vector<double> distances;
  for (const double value : values) distances.push_back(std::abs(value - centre));
  return 1.4826 * median(distances);
}

/// Standard deviation of a single time, from neighbouring times: slow drift cancels.
double neighbour_spread(const std::vector<double>& logs) {
  std::vector<double> differences;
  for (std::size_t i = 1; i < logs.size(); ++i) differences.push_back(logs[i] - logs[i - 1]);
  return spread(differences) / std::sqrt(2.0);
}

/// Standard deviation of means of `size` consecutive times: drift remains.
double drift_spread(const std::vector<double>& logs, std::size_t size) {
  std::vector<double> means;
  for (std::size_t i = 0; i + size <= logs.size(); i += size) {
    means.push_back(mean(std::span(logs).subspan(i, size)));
  }
  return means.size() < 4 ? 0 : spread(means);
}

struct Samples {
  std::vector<double> logs;
  double seconds = 0;  // median
  double lowest_clock = 1;
};

Samples sample(Timer& timer, int launches, double for_seconds, const char* kernel, std::FILE* csv) {
  Samples samples;
  std::vector<double> times, clocks;
  timer.time(launches, L2State::hot);
  const double start = steady_seconds();
  while (steady_seconds() - start < for_seconds && times.size() < 20000) {
    const TimedBatch batch = timer.time(launches, L2State::hot);
    times.push_back(batch.seconds);
    clocks.push_back(batch.clock_hz);
    samples.logs.push_back(std::log(batch.seconds));
    if (csv) {
      std::fprintf(csv, "%s,%d,%.6f,%.9g,%.4g\n", kernel, launches, steady_seconds() - start,
                   batch.seconds, batch.clock_hz);
    }
  }
  samples.seconds = median(times);
  const double usual = median(clocks);
  samples.lowest_clock = usual > 0 ? std::ranges::min(clocks) / usual : 0;
  return samples;
}

void report(const char* kernel, Timer& timer, double for_seconds, std::FILE* csv) {
  const Policy policy;
  const Samples one = sample(timer, 1, for_seconds / 4, kernel, csv);
  const int launches = launches_for(one.seconds, policy);
  const Samples batch = sample(timer, launches, for_seconds, kernel, csv);
  const double centre = median(batch.logs);
  const auto outliers = std::ranges::count_if(
      batch.logs, [&](double log) { return log - centre > 0.01 + 5 * spread(batch.logs); });
  std::printf("%-10s %9.2f %9.2f %9.3f %7d %9.3f %9.3f %9.3f %8.2f %8.2f\n", kernel,
              one.seconds * 1e6, batch.seconds * 1e6, 100 * neighbour_spread(one.logs), launches,
              100 * neighbour_spread(batch.logs), 100 * spread(batch.logs),
              100 * drift_spread(batch.logs, 50),
              100.0 * static_cast<double>(outliers) / static_cast<double>(batch.logs.size()),
              batch.lowest_clock);
}

double session_bias(TimedKernels& kernels, std::int64_t rounds) {
  std::vector<double> logs;
  for (int i = 0; i < 15; ++i) {
    kernels.reopen();
    const auto timer = kernels.work(rounds);
    std::vector<double> times;
    timer->time(50, L2State::hot);
    for (int batch = 0; batch < 15; ++batch) times.push_back(timer->time(50, L2State::hot).seconds);
    logs.push_back(std::log(median(times)));
  }
  return spread(logs);
}

void run(double for_seconds, std::FILE* csv) {
  const auto device = make_cuda_device(0, std::make_shared<BuildCache>(""));
  TimedKernels kernels(*device);
  const auto warm = kernels.work(20000);
  for (const double start = steady_seconds(); steady_seconds() - start < 0.5;)
    warm->time(8, L2State::hot);
  std::printf("%s, %s; spreads in %%\n", kernels.info().name.c_str(),
              kernels.info().environment.c_str());
  std::printf("%-10s %9s %9s %9s %7s %9s %9s %9s %8s %8s\n", "kernel", "1 in us", "N in us",
              "spread 1", "N", "spread N", "all", "drift", "outliers", "clock");
  for (const std::int64_t rounds : {300, 1000, 4000, 20000, 200000}) {
    char name[32];
    std::snprintf(name, sizeof name, "work%lld", static_cast<long long>(rounds));
    report(name, *kernels.work(rounds), for_seconds, csv);
  }
  report("stream", *kernels.stream(), for_seconds, csv);
  report("spin20k", *kernels.spin(20000), for_seconds, csv);
  std::printf("new buffers: %.3f %%\n", 100 * session_bias(kernels, 4000));
}

}  // namespace

int main(int argc, char** argv) {
  const double for_seconds = argc > 1 ? std::atof(argv[1]) : 2;
  std::FILE* const csv = argc > 2 ? std::fopen(argv[2], "w") : nullptr;
  if (csv) std::fprintf(csv, "kernel,launches,at,seconds,clock_hz\n");
  try {
    run(for_seconds, csv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
  if (csv) std::fclose(csv);
}
