// SPDX-License-Identifier: Apache-2.0
// What libautotune chooses for sizes that were not tuned, judged by times that were measured on an
// H200: every winner of gemm at every other size (bench/lookup/transfer_bench).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <fstream>
#include <functional>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "tests/db/sample.hpp"
#include "tests/tuner/answer/shipped_gemm.hpp"
#include "tuner/answer/experience.hpp"
#include "tuner/answer/target_lookup.hpp"
#include "tuner/json/json.hpp"
#include "tuner/model/gpu_specs.hpp"
#include "tuner/records/records.hpp"
#include "tuner/target/catalog.hpp"

namespace autotune {
namespace {

struct Recorded {
  std::vector<std::string> configurations;  // the last is the default
  std::vector<Problem> problems;            // configuration i won problem i
  std::vector<std::vector<double>> ns;      // of each configuration; 0 where it is not valid
};

/// With parameters of families that came later.
std::string complete(const Target& gemm, const std::string& text) {
  const NamedValues known = parse_named_values(text);
  NamedValues all;
  for (const Parameter& parameter : gemm.parameters) {
    const Value* const value = find_value(known, parameter.name);
    all.push_back({parameter.name, value ? *value : parameter.values.front()});
  }
  return to_text(all);
}

/// Only sizes that are multiples of 64 and all alike, 128..1024, whose winner the space still has.
Recorded recorded(const Target& gemm, const DeviceInfo& h200) {
  std::ifstream file(AUTOTUNE_SOURCE_DIR "/tests/tuner/answer/recorded/gemm_h200.json");
  const Json json = Json::parse(file);
  Recorded all;
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < json["problems"].size(); ++i) {
    const NamedValues sizes = parse_named_values(json["problems"][i]["problem"].get<std::string>());
    const std::int64_t m = sizes[0].value.integer();
    const bool cube = sizes[1].value == m && sizes[2].value == m;
    if (!cube || m % 64 != 0) continue;
    const Problem problem = problem_of(gemm, {sizes[0], sizes[1], sizes[2]}, {});
    const std::string winner = complete(gemm, json["configurations"][i]);
    if (!is_valid(gemm, problem, parse_named_values(winner), h200)) continue;
    kept.push_back(i);
    all.problems.push_back(problem);
    all.configurations.push_back(winner);
  }
  all.configurations.push_back(complete(gemm, json["configurations"].back()));
  for (const std::size_t i : kept) {
    const Json& times = json["problems"][i]["ns"];
    std::vector<double> row;
    for (const std::size_t k : kept) row.push_back(times[k].is_null() ? 0 : times[k].get<double>());
    row.push_back(times.back().is_null() ? 0 : times.back().get<double>());
    all.ns.push_back(std::move(row));
  }
  return all;
}

class TransferRegret : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_GE(all_.problems.size(), 10u)
        << "gemm's space has changed: record its winners anew with transfer_bench";
  }

  std::int64_t size(std::size_t i) const { return all_.problems[i].values[0].value.integer(); }

  /// Its time at problem i over that of the winner there. NAN for one that was not recorded.
  double regret(std::size_t i, const std::string& configuration) const {
    const auto at = std::ranges::find(all_.configurations, configuration);
    if (at == all_.configurations.end()) return NAN;
    const double ns = all_.ns[i][static_cast<std::size_t>(at - all_.configurations.begin())];
    if (ns == 0) return INFINITY;
    return ns / all_.ns[i][i];
  }

  /// Sorted, of a way to choose a configuration for problem i from all the others.
  std::vector<double> regrets(const std::function<std::string(std::size_t)>& choose) const {
    std::vector<double> values;
    for (std::size_t i = 0; i < all_.problems.size(); ++i) values.push_back(regret(i, choose(i)));
    const auto unknown = std::erase_if(values, [](double value) { return std::isnan(value); });
    EXPECT_LE(unknown, 2u) << "what was not recorded cannot be judged";
    std::ranges::sort(values);
    return values;
  }

  /// What the library answers when everything but problem i is tuned.
  std::string answer(std::size_t i) {
    const db::TemporaryFolder folder;
    {
      db::TunedStore store(folder / "t.db");
      db::Sample sample(store);
      sample.key.kernel = store.add_kernel({"", "gemm", gemm_.fingerprint, "M N K batch"});
      for (std::size_t k = 0; k < all_.problems.size(); ++k) {
        if (k == i) continue;
        sample.key.problem = all_.problems[k].text();
        db::DecisionRow row = sample.decision(all_.configurations[k], all_.ns[k][k]);
        row.default_ns = all_.ns[k].back();
        store.add_decision(row);
      }
    }
    TargetLookup lookup(gemm_, {}, h200_, "l2=hot launch=graph", {{folder / "t.db"}});
    const std::int64_t sizes[] = {size(i), size(i), size(i), 1};
    return std::string(lookup.find(sizes).configuration);
  }

  /// The winner of the valid one with the least `distance`, else the default.
  std::string nearest(std::size_t i, const std::function<double(std::size_t)>& distance) const {
    std::size_t chosen = all_.problems.size();
    double least = INFINITY;
    for (std::size_t k = 0; k < all_.problems.size(); ++k) {
      if (k == i || all_.ns[i][k] == 0 || distance(k) >= least) continue;
      least = distance(k);
      chosen = k;
    }
    return all_.configurations[chosen];
  }

  static double median(const std::vector<double>& sorted) { return sorted[sorted.size() / 2]; }
  static double high(const std::vector<double>& sorted) {
    return sorted[static_cast<std::size_t>(0.95 * static_cast<double>(sorted.size() - 1) + 0.5)];
  }

  static DeviceInfo h200() {
    DeviceInfo info = device_info(find_gpu("NVIDIA H200"));
    info.kind = DeviceKind::cuda;
    return info;
  }

  const Target gemm_ = find_target(AUTOTUNE_SOURCE_DIR "/kernel_sources/gemm/gemm.target.toml");
  const DeviceInfo h200_ = h200();
  const Recorded all_ = recorded(gemm_, h200_);
};

TEST_F(TransferRegret, IsLessThanThatOfSimplerChoices) {
  const auto ours = regrets([&](std::size_t i) { return answer(i); });
  const auto by_volume = regrets([&](std::size_t i) {
    return nearest(
        i, [&](std::size_t k) { return std::abs(std::pow(size(k), 3) - std::pow(size(i), 3)); });
  });
  const auto by_power = regrets([&](std::size_t i) {
    return nearest(i, [&](std::size_t k) {
      const bool is_power = (size(k) & (size(k) - 1)) == 0;
      return is_power
                 ? std::abs(std::log2(static_cast<double>(size(k)) / static_cast<double>(size(i))))
                 : INFINITY;
    });
  });
  const auto one_for_all = regrets([&](std::size_t i) {
    std::size_t chosen = 0;
    double least = INFINITY;
    for (std::size_t c = 0; c < all_.problems.size(); ++c) {
      double sum = 0;
      for (std::size_t k = 0; k < all_.problems.size(); ++k) {
        const double ns = all_.ns[k][c] > 0 ? all_.ns[k][c] : all_.ns[k].back();
        if (k != i) sum += std::log(ns / all_.ns[k][k]);
      }
      if (c != i && sum < least) {
        least = sum;
        chosen = c;
      }
    }
    return all_.ns[i][chosen] > 0 ? all_.configurations[chosen] : all_.configurations.back();
  });
  for (const auto* other : {&by_volume, &by_power, &one_for_all}) {
    EXPECT_LT(median(ours), median(*other));
    EXPECT_LE(high(ours), high(*other));
  }
}

// What answers at sizes that were not tuned, judged by the shipped times of an H200 and an H100:
// each problem counts as not tuned in turn.

/// The library's time over that of what answers: 1 where the library does. nullopt if that was not
/// timed there.
std::optional<double> gain(const Experience& experience, const db::PastProblem& problem,
                           double confidence) {
  const auto sizes = std::span(problem.sizes);
  const auto choice = experience.choose(sizes);
  if (!choice) return 1;
  const auto library = experience.library_for(sizes, choice->expected_seconds, confidence);
  if (library && library->answers) return 1;
  const auto timed =
      std::ranges::find(problem.good, choice->known.configuration, &db::PastTime::configuration);
  if (timed == problem.good.end() || timed->ns == 0) return std::nullopt;
  return problem.baseline_ns / timed->ns;
}

/// Times of the best of cuBLAS over those of what answers: 1 where the library does.
class Gains {
 public:
  void add(const db::PastProblem& problem, double ratio) {
    least_ = std::min(least_, ratio);
    if (problem.sizes[0] * problem.sizes[1] * problem.sizes[2] < 1 << 24) return;
    ++large_;
    log_sum_ += std::log(ratio);
  }
  double least() const { return least_; }
  /// The mean of products from 2^24 multiplications on.
  double of_large() const { return std::exp(log_sum_ / std::max(1, large_)); }

 private:
  int large_ = 0;
  double least_ = 1, log_sum_ = 0;
};

/// Of all families together, and of those without tensor cores.
class ShippedChoice : public testing::TestWithParam<std::tuple<const char*, const char*>> {};

/// Each of the shipped problems in turn counts as not tuned.
TEST_P(ShippedChoice, NoAnswerIsSlowerThanTheLibrary) {
  const auto [gpu, units] = GetParam();
  const ShippedGemm gemm(gpu, {{"units", Value(units)}});
  const db::PastTimes times = gemm.times();
  Gains gains;
  constexpr std::size_t kEach = 4;  // to take less time
  std::size_t problems = 0;
  for (const db::PastProblem& problem : times.problems) {
    if (!gemm.is_here(times, problem) || problems++ % kEach != 0) continue;
    if (problem.baseline_ns <= 0) continue;
    db::PastTimes others = times;
    std::erase_if(others.problems,
                  [&](const db::PastProblem& other) { return other.sizes == problem.sizes; });
    const Experience experience = gemm.experience(std::move(others));
    if (const auto ratio = gain(experience, problem, 0.99)) gains.add(problem, *ratio);
  }
  ASSERT_GT(problems, 0u) << "db/shipped has nothing of this GPU";
  EXPECT_GE(gains.least(), 0.95);
  EXPECT_GE(gains.of_large(), units == std::string("any") ? 1.2 : 1.0);
}

INSTANTIATE_TEST_SUITE_P(Gpus, ShippedChoice,
                         testing::Combine(testing::Values("NVIDIA H200", "NVIDIA H100 80GB HBM3"),
                                          testing::Values("any", "fp32")));

}  // namespace
}  // namespace autotune
