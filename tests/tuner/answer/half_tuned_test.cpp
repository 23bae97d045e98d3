// SPDX-License-Identifier: Apache-2.0
// Whatever was tuned before, and wherever it ended: a configuration answers only where it was timed
// beside the vendor's library, where enough such times are near, or where a person pinned it.
#include <SQLiteCpp/SQLiteCpp.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <random>
#include <set>
#include <vector>

#include "db/rows.hpp"
#include "tests/db/sample.hpp"
#include "tuner/answer/lookup_answer.hpp"
#include "tuner/answer/target_lookup.hpp"
#include "tuner/core/error.hpp"
#include "tuner/model/gpu_specs.hpp"
#include "tuner/records/records.hpp"
#include "tuner/target/catalog.hpp"

namespace autotune {
namespace {

constexpr const char* kPolicy = "l2=hot launch=graph context=between";
constexpr double kFarthest = 2.8;  // doublings of the sizes; beyond, no time of a library counts

using Shape = std::vector<std::int64_t>;

DeviceInfo gpu(const char* name) {
  DeviceInfo info = device_info(find_gpu(name));
  info.kind = DeviceKind::cuda;
  return info;
}

/// What a test has stored of one target, with these settings.
struct Stored {
  std::vector<Shape> asked;  // of every fact
  std::vector<Shape> near;   // timed beside the library on any GPU
  std::set<Shape> settled;   // the same on this GPU, or pinned
};

class HalfTuned : public testing::Test {
 protected:
  struct Case {
    Target target;
    NamedValues settings;
  };

  /// Some of all types and layouts.
  Case any_case() {
    const std::vector<std::string> types{"f32", "f32", "f64", "i32", "f16", "bf16"};
    return {find_target(AUTOTUNE_SOURCE_DIR "/kernel_sources/gemm/gemm.target.toml"),
            {{"layout", Value(any_of(std::vector<std::string>{"NN", "NT", "TN", "TT"}))},
             {"dtype", Value(any_of(types))}}};
  }

  template <class T>
  const T& any_of(const std::vector<T>& all) {
    return all[random_() % all.size()];
  }
  bool by_chance(double share) { return std::uniform_real_distribution<double>()(random_) < share; }
  Shape any_sizes(double doublings = 12) {
    std::uniform_real_distribution<double> exponent(0, doublings);
    const auto size = [&] { return static_cast<std::int64_t>(std::exp2(exponent(random_))); };
    return {size(), size(), size(), by_chance(0.8) ? 1 : 8};
  }
  double any_ns() {
    return 2000 * std::exp2(std::uniform_real_distribution<double>(0, 8)(random_));
  }

  /// A lookup whose vendor offers a library, if `has_library`.
  std::unique_ptr<TargetLookup> open(const Case& of, bool has_library = true) const {
    const auto offered = [has_library](const std::string&, const Workload&, bool) {
      return std::string(has_library ? "cublas" : "");
    };
    return std::make_unique<TargetLookup>(of.target, of.settings, gpu("NVIDIA H200"), kPolicy,
                                          std::vector<db::Layer>{{file_}}, offered);
  }

  /// Adds facts about one problem, as runs, programs and persons do.
  void add(db::TunedStore& store, const Case& of, const Shape& sizes,
           const std::string& configuration, Stored& stored) {
    const bool is_here = by_chance(0.8), is_current = by_chance(0.9);
    const bool is_drifted = by_chance(0.2);
    db::Sample sample(store);
    sample.session = store.begin_session({"", "2026-03-01T12:00:00.000Z", "0.1.0",
                                          is_drifted ? "an earlier driver" : environment_,
                                          "autotune", "guided", 1, "200"});
    sample.key.device =
        store.add_device(device_row(gpu(is_here ? "NVIDIA H200" : "NVIDIA H100 80GB HBM3")));
    db::KernelRow kernel = kernel_row(of.target);
    if (!is_current) kernel.fingerprint = "stale";
    sample.key.kernel = store.add_kernel(kernel);
    sample.key.policy = kPolicy;
    NamedValues named;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      named.push_back({of.target.sizes[i], sizes[i]});
    }
    sample.key.problem = problem_of(of.target, named, of.settings).text();
    stored.asked.push_back(sizes);
    const double ns = any_ns();
    const auto settle = [&] {
      if (is_here) stored.settled.insert(sizes);
    };
    switch (random_() % 8) {
      case 0:  // killed before its playoff
        store.append(std::vector{sample.trial(configuration, ns)});
        return;
      case 1: {  // everything failed
        store.append(std::vector{sample.failure(configuration, "wrong")});
        return;
      }
      case 2:
        store.pin({"", sample.key, configuration, "", "2026-03-01T12:02:00.000Z"});
        return settle();
      case 3: {  // the library could not be timed
        db::DecisionRow row = sample.decision(configuration, ns);
        row.provenance = any_of(std::vector<std::string>{"measured", "first use", "imported"});
        store.add_decision(row);
        return;
      }
      case 4: {  // of the model device
        db::TrialRow row = sample.trial(configuration, 0);
        row.predicted_ns = ns;
        row.median_ns = row.low_ns = row.high_ns = std::nullopt;
        row.verified = false;
        store.append(std::vector{row});
        return;
      }
      default: {
        db::DecisionRow row = sample.decision(configuration, ns);
        row.provenance =
            any_of(std::vector<std::string>{"measured", "measured", "in use", "first use"});
        const double library =
            ns * std::exp2(std::uniform_real_distribution<double>(-1, 2)(random_));
        row.baseline = {"cublas", "cublasSgemm", library, {}, {}, library < ns};
        store.add_decision(row);
        stored.near.push_back(sizes);
        return settle();
      }
    }
  }

  /// Some rows are not as they were stored.
  void damage() { db::execute(file_, "UPDATE best SET median_ns = 5 WHERE problem LIKE 'M=1%'"); }

  /// Random facts about a target.
  Stored fill(const Case& of) {
    Stored stored;
    const std::unique_ptr<TargetLookup> empty = open(of, false);  // answers by the cost model
    db::TunedStore store(file_);
    for (std::size_t count = any_of<std::size_t>({0, 3, 15, 60}); count > 0; --count) {
      const Shape sizes = any_sizes();
      try {
        add(store, of, sizes, std::string(empty->find(sizes).configuration), stored);
      } catch (const Error&) {  // no configuration is valid there
      }
    }
    return stored;
  }

  /// What a first use found, in this process.
  void use_first(TargetLookup& lookup, const Shape& sizes, Stored& stored) {
    db::DecisionRow figures;
    figures.provenance = "first use";
    figures.configuration = lookup.find(sizes).configuration;
    figures.median_ns = any_ns();
    if (by_chance(0.5)) {
      figures.baseline = {"cublas", "cublasSgemm", any_ns(), {}, {}, false};
      stored.settled.insert(sizes);
    }
    lookup.keep_found(sizes, figures);
  }

  static bool may_answer(const Stored& stored, const Shape& sizes) {
    constexpr std::size_t kFewest = LeadErrors::kFewest;
    const auto is_near = [&](const Shape& one) {
      return db::size_distance(one, sizes) < kFarthest;
    };
    return stored.settled.contains(sizes) ||
           (stored.near.size() >= kFewest && std::ranges::any_of(stored.near, is_near));
  }

  /// The answers of one state of the database. Returns how many were configurations.
  std::size_t ask(Case of) {
    Case on_tensor_cores = of;
    const bool has_both = of.settings.back().value == Value("f32");
    if (has_both) {
      of.settings.push_back({"units", Value("fp32")});
      on_tensor_cores.settings.push_back({"units", Value("any")});
    }
    Stored stored = fill(of), others = has_both ? fill(on_tensor_cores) : Stored();
    if (by_chance(0.3)) damage();
    const std::unique_ptr<TargetLookup> own = open(of);
    const std::unique_ptr<TargetLookup> other = has_both ? open(on_tensor_cores) : nullptr;
    std::vector<Shape> asked;
    for (const Stored& known : {stored, others}) {
      asked.insert(asked.end(), known.settled.begin(), known.settled.end());
      asked.insert(asked.end(), known.asked.begin(), known.asked.end());
    }
    for (int i = 0; i < 10; ++i) asked.push_back(any_sizes(13));
    std::size_t ours = 0;
    for (const Shape& sizes : asked) {
      SCOPED_TRACE(own->problem_for(sizes).text());
      try {
        if (by_chance(0.1)) use_first(*own, sizes, stored);
        const bool is_other =
            other && is_faster(other->find(sizes), own->find(sizes), Engines::with_libraries);
        const LookupAnswer answer = (is_other ? *other : *own).find(sizes);
        if (!answer.baseline.empty()) continue;
        ++ours;
        EXPECT_TRUE(may_answer(is_other ? others : stored, sizes))
            << answer.configuration << ' ' << answer.provenance;
      } catch (const Error&) {  // no configuration is valid there
      }
    }
    return ours;
  }

  const db::TemporaryFolder folder_;
  const std::filesystem::path file_ = folder_ / "t.db";
  const std::string environment_ = "driver 580.82, CUDA 13.0";
  std::mt19937_64 random_{40};
};

TEST_F(HalfTuned, NothingAnswersThatWasNotComparedWithTheLibrary) {
  std::size_t ours = 0;
  for (int state = 0; state < 16 && !HasFailure(); ++state) {
    SCOPED_TRACE(format("state {}", state));
    std::filesystem::remove(file_);
    ours += ask(any_case());
  }
  EXPECT_GT(ours, 20u);
}

}  // namespace
}  // namespace autotune
