// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <fstream>
#include <memory>

#include "tests/db/sample.hpp"
#include "tests/support/matchers.hpp"
#include "tests/tuner/answer/shipped_gemm.hpp"
#include "tuner/answer/lookup_answer.hpp"
#include "tuner/answer/target_lookup.hpp"

namespace autotune {
namespace {

class AnswerExplanation : public testing::Test {
 protected:
  AnswerExplanation() {
    target_.name = "toy";
    target_.sizes = {"N"};
    target_.parameters = {{"BLOCK", {128, 256}, {}, false}};
    device_.name = "NVIDIA H200";
    answer_.configuration = "BLOCK=256";
    answer_.provenance = "measured";
    answer_.origin = db::Origin::exact;
    answer_.median_ns = 8000;
    answer_.default_ns = 12000;
  }
  std::string text() const {
    return explanation_of(target_, problem_of(target_, {{"N", 4096}}, {}), device_, answer_);
  }

  Target target_;
  DeviceInfo device_;
  LookupAnswer answer_;
};

TEST_F(AnswerExplanation, ATunedProblemHasItsTimeAndSpeedup) {
  EXPECT_EQ(text(),
            "toy N=4096 on NVIDIA H200: BLOCK=256\n"
            "tuned for these sizes, measured\n"
            "8.000 us there, 1.50x the default\n");
}

TEST_F(AnswerExplanation, ATransferSaysHowFarItIs) {
  answer_.origin = db::Origin::transferred;
  answer_.distance = 2;
  EXPECT_THAT(text(), AllOf(HasSubstr("these sizes are not tuned"), HasSubstr("a factor of 4 "),
                            Not(HasSubstr("expected here"))));
  answer_.expected_ns = 9000;
  EXPECT_THAT(text(), HasSubstr("8.000 us there, 1.50x the default\n9.000 us expected here\n"));
  answer_.origin = db::Origin::same_architecture;
  EXPECT_THAT(text(), AllOf(HasSubstr("not tuned on this device"), HasSubstr("a factor of 4 ")));
}

TEST_F(AnswerExplanation, TheDefaultConfigurationHasNoTime) {
  answer_ = {"BLOCK=128", "", db::Origin::default_configuration};
  EXPECT_EQ(text(),
            "toy N=4096 on NVIDIA H200: BLOCK=128\n"
            "no near size is tuned; the target's default configuration\n");
}

TEST_F(AnswerExplanation, AFasterLibraryIsMeasuredHereOrExpected) {
  answer_.baseline = "cublas cublasSgemm";
  answer_.baseline_ns = 7000;
  EXPECT_THAT(text(), HasSubstr("cublas cublasSgemm takes 7.000 us: it is faster"));
  answer_.origin = db::Origin::transferred;
  answer_.library_is_expected = true;
  EXPECT_THAT(
      text(),
      HasSubstr("is expected to take 7.000 us: the configuration is not known to be faster"));
  answer_.baseline_ns = 0;
  EXPECT_THAT(text(), HasSubstr("cublas cublasSgemm computes this too, and nothing tells"));
}

TEST_F(AnswerExplanation, DriftOfTheSourceIsTold) {
  answer_.validity = db::Validity::source_drifted;
  EXPECT_THAT(text(),
              HasSubstr(std::string(", ") + std::string(name_of(db::Validity::source_drifted))));
}

/// Lookups of toy targets with a cost model: N elements of 12 bytes.
class FasterAnswer : public testing::Test {
 protected:
  static Target target(const std::string& name, bool has_model) {
    Target target;
    target.name = name;
    target.sizes = {"N"};
    target.parameters = {{"BLOCK", {128, 256}, {}, false}};
    KernelSpec kernel;
    kernel.entry = name;
    kernel.grid = {Expression::parse("ceil_div(N, BLOCK)")};
    kernel.block = {Expression::parse("BLOCK")};
    target.kernels = {kernel};
    target.flops = Expression::parse("N");
    target.bytes = Expression::parse("12 * N");
    if (has_model) target.default_configuration = {{"BLOCK", 128}};  // no model without it
    target.fingerprint = "f1";
    return target;
  }
  static DeviceInfo h200() {
    DeviceInfo info = device_info(find_gpu("h200"));
    info.kind = DeviceKind::cuda;
    return info;
  }
  struct Time {
    std::int64_t n = 1 << 20;
    double ns = 0, library_ns = 0;
    std::string provenance = "measured";
  };
  /// A lookup that knows BLOCK=256 at these sizes.
  std::unique_ptr<TargetLookup> lookup(const std::string& name, std::vector<Time> times,
                                       bool has_model = true) {
    const auto file = folder_ / (name + std::to_string(++files_) + ".db");
    const Target made = target(name, has_model);
    db::TunedStore store(file);
    for (const Time& time : times) {
      db::Sample sample(store);
      sample.key.device = store.add_device(device_row(h200()));
      sample.key.kernel = store.add_kernel(kernel_row(made));
      sample.key.problem = problem_of(made, {{"N", time.n}}, {}).text();
      db::DecisionRow row = sample.decision("BLOCK=256", time.ns);
      row.provenance = time.provenance;
      const double library = time.library_ns;
      if (library > 0)
        row.baseline = {"cublas", "any", library, library, library, library < time.ns};
      store.add_decision(row);
    }
    return std::make_unique<TargetLookup>(made, NamedValues{}, h200(), "l2=hot launch=graph",
                                          std::vector<db::Layer>{{file}});
  }
  static bool takes_other(TargetLookup& own, TargetLookup& other, std::int64_t n,
                          Engines engines = Engines::with_libraries) {
    return is_faster(other.find(std::vector{n}), own.find(std::vector{n}), engines);
  }

  const std::int64_t here_ = 1 << 20, near_ = (1 << 20) + 1024;
  db::TemporaryFolder folder_;
  int files_ = 0;
};

TEST_F(FasterAnswer, MeasuredTimesOfBothDecideWithoutAMargin) {
  const auto own = lookup("own", {{.ns = 10000}});
  EXPECT_TRUE(takes_other(*own, *lookup("other", {{.ns = 9990}}), here_));
  EXPECT_FALSE(takes_other(*own, *lookup("other", {{.ns = 10010}}), here_));
}

TEST_F(FasterAnswer, AnExpectedTimeNeedsALead) {
  const auto own = lookup("own", {{.ns = 10000}});
  EXPECT_EQ(own->find(std::vector{here_}).expected_ns, 10000);
  EXPECT_NEAR(own->find(std::vector{near_}).expected_ns, 10000, 100);
  EXPECT_FALSE(takes_other(*own, *lookup("other", {{.ns = 9800}}), near_));
  const auto ahead = lookup("other", {{.ns = 9000}});
  EXPECT_TRUE(takes_other(*own, *ahead, near_));
  const auto elsewhere = lookup("other", {{.n = near_, .ns = 9000}});
  EXPECT_TRUE(takes_other(*own, *elsewhere, near_)) << "the other is measured";
  EXPECT_FALSE(takes_other(*own, *elsewhere, here_)) << "own is measured, and needs a larger lead";
  EXPECT_TRUE(takes_other(*own, *lookup("other", {{.n = near_, .ns = 8000}}), here_));
  EXPECT_FALSE(takes_other(*own, *lookup("other", {{.n = near_, .ns = 9800}}), here_));
  EXPECT_FALSE(
      takes_other(*own, *lookup("other", {{.ns = 9800, .provenance = "predicted"}}), here_))
      << "a prediction is no measurement";
}

TEST_F(FasterAnswer, TheTimeAtTheNearSizesIsNotCompared) {
  const auto own = lookup("own", {{.n = here_ / 2, .ns = 50000}});
  const auto other = lookup("other", {{.ns = 60000}});
  EXPECT_EQ(own->find(std::vector{here_}).median_ns, 50000);
  EXPECT_GT(own->find(std::vector{here_}).expected_ns, 75000);
  EXPECT_TRUE(takes_other(*own, *other, here_));
}

TEST_F(FasterAnswer, TheLibraryThatWouldRunIsCompared) {
  const auto own = lookup("own", {{.ns = 10000, .library_ns = 5000}});
  const auto other = lookup("other", {{.ns = 8000}});
  for (const std::int64_t n : {here_, near_}) {
    EXPECT_FALSE(takes_other(*own, *other, n));
    EXPECT_TRUE(takes_other(*own, *other, n, Engines::kernels_only));
  }
}

TEST_F(FasterAnswer, ALibraryThatIsExpectedToBeFasterIsLeftToTheFirstTarget) {
  const auto own = lookup("own", {{.ns = 10000}});
  const auto other = lookup("other", {{.ns = 8000, .library_ns = 5000}});
  EXPECT_TRUE(takes_other(*own, *other, here_)) << "measured";
  EXPECT_FALSE(takes_other(*own, *other, near_));
  EXPECT_TRUE(takes_other(*own, *other, near_, Engines::kernels_only));
}

TEST_F(FasterAnswer, WhatIsKnownOfFarSizesIsNotTaken) {
  const auto own = lookup("own", {{.ns = 10000}});
  EXPECT_TRUE(takes_other(*own, *lookup("other", {{.n = here_ / 2, .ns = 100}}), near_));
  EXPECT_FALSE(takes_other(*own, *lookup("other", {{.n = here_ / 8, .ns = 100}}), near_));
}

TEST_F(FasterAnswer, WhatIsNotKnownIsNotTaken) {
  const auto own = lookup("own", {{.ns = 10000}});
  EXPECT_FALSE(takes_other(*own, *lookup("other", {}), here_));
  EXPECT_FALSE(takes_other(*own, *lookup("other", {}), near_));
  EXPECT_FALSE(takes_other(*own, *lookup("other", {{.ns = 100}}, false), near_)) << "no cost model";
  const auto without_model = lookup("own", {{.ns = 10000}}, false);
  EXPECT_EQ(without_model->find(std::vector{near_}).expected_ns, 0);
  EXPECT_FALSE(takes_other(*without_model, *lookup("other", {{.ns = 100}}), near_));
  EXPECT_TRUE(takes_other(*without_model, *lookup("other", {{.n = near_, .ns = 100}}), near_))
      << "only the other is measured";
}

TEST_F(FasterAnswer, ATargetThatIsNotTunedIsExpectedByItsModelAlone) {
  const auto own = lookup("own", {});
  const LookupAnswer answer = own->find(std::vector{near_});
  EXPECT_EQ(answer.origin, db::Origin::default_configuration);
  EXPECT_GT(answer.expected_ns, 0);
  const double ns = answer.expected_ns;
  EXPECT_TRUE(takes_other(*own, *lookup("other", {{.ns = ns / 2}}), near_));
  EXPECT_FALSE(takes_other(*own, *lookup("other", {{.ns = ns * 2}}), near_));
}

class DeviceOfLayers : public testing::Test {
 protected:
  DeviceOfLayers() { add("NVIDIA H200", {512}); }

  /// Rows of gemm that are tuned at these sizes.
  void add(const std::string& device, const std::vector<int>& sizes) {
    db::TunedStore store(layers_[0].path);
    db::Sample sample(store);
    db::DeviceRow row = db::h200();
    row.name = device;
    sample.key.device = store.add_device(row);
    for (const int m : sizes) {
      sample.key.problem = format("M={0} N={0} K={0} dtype=f32", m);
      store.add_decision(sample.decision("BM=64", 10000, db::now_text()));
    }
  }
  std::optional<DeviceInfo> find(const std::string& target, const std::string& name = "") {
    return device_of_layers(layers_, target, name, remarks_);
  }

  db::TemporaryFolder folder_;
  std::vector<db::Layer> layers_{{folder_ / "t.db"}};
  std::vector<std::string> remarks_;
};

TEST_F(DeviceOfLayers, WithoutANameItIsTheOneWithTheMostRows) {
  EXPECT_EQ(find("gemm").value().name, "NVIDIA H200");
  EXPECT_EQ(find("gemm").value().compute_capability, 90);
  add("NVIDIA A100", {256, 1024});
  EXPECT_EQ(find("gemm").value().name, "NVIDIA A100");
  EXPECT_EQ(find("gemm", "NVIDIA H200").value().name, "NVIDIA H200");
}

TEST_F(DeviceOfLayers, DatabasesThatCannotBeReadAreRemarkedUpon) {
  std::ofstream(folder_ / "text.db") << std::string(5000, 'x');
  layers_ = {{folder_ / "none.db"}, {folder_ / "text.db"}, layers_[0]};
  EXPECT_EQ(find("gemm").value().name, "NVIDIA H200");
  ASSERT_EQ(remarks_.size(), 2u);
  EXPECT_THAT(remarks_[0], HasSubstr("none.db"));
  EXPECT_THAT(remarks_[1], HasSubstr("text.db: is not a database"));
}

// What is shipped of one GPU, used on another of its architecture.

struct Measured {
  std::vector<std::int64_t> sizes;
  double cublas_us;  // cublasSgemm between ordinary kernels on an H100 80GB HBM3, CUDA 13.0
};

/// Random shapes of untuned_bench --seed 90125.
const std::vector<Measured> kMeasured{
    {{407, 351, 3695}, 37.6},   {{109, 193, 1341}, 9.8},     {{189, 3971, 965}, 43.2},
    {{3865, 377, 49}, 8.2},     {{3889, 1122, 527}, 120.6},  {{843, 79, 1043}, 12.7},
    {{2277, 301, 2765}, 105.3}, {{2667, 2153, 1753}, 476.3}, {{763, 3607, 65}, 16.4},
    {{65, 3967, 271}, 10.8},    {{181, 3710, 274}, 16.5},    {{1745, 279, 51}, 5.0},
    {{1233, 179, 409}, 11.2},   {{107, 651, 1953}, 16.5},    {{757, 75, 4051}, 24.8}};

class ShippedResults : public testing::Test {
 protected:
  /// Only the other GPUs' results.
  db::PastTimes of_others() const {
    db::PastTimes times = h100_.times();
    std::erase_if(times.problems,
                  [&](const db::PastProblem& problem) { return h100_.is_here(times, problem); });
    return times;
  }

  const ShippedGemm h100_{"NVIDIA H100 80GB HBM3"};
  Experience experience_ = h100_.experience(of_others());
};

TEST_F(ShippedResults, OfAnotherGpuTellWhatTheLibraryTakesHere) {
  double squares = 0;
  for (const Measured& each : kMeasured) {
    constexpr double kForever = 1;  // ours, so that the library answers
    const auto library = experience_.library_for(all_sizes(h100_.target(), each.sizes), kForever);
    ASSERT_TRUE(library);
    EXPECT_EQ(library->plugin, "cublas") << each.cublas_us;
    squares += std::pow(std::log(library->seconds * 1e6 / each.cublas_us), 2);
  }
  EXPECT_LT(std::sqrt(squares / static_cast<double>(kMeasured.size())), 0.12);
}

/// Nothing that was good at other sizes is valid there but the default configuration.
TEST_F(ShippedResults, LeaveNoSizeWithoutAChoice) {
  for (const std::vector<std::int64_t>& sizes :
       {std::vector<std::int64_t>{2, 29, 649}, {2, 77, 183}, {3, 3, 505}}) {
    EXPECT_TRUE(experience_.choose(all_sizes(h100_.target(), sizes)))
        << sizes[0] << ' ' << sizes[1] << ' ' << sizes[2];
  }
}

}  // namespace
}  // namespace autotune
