// SPDX-License-Identifier: Apache-2.0
#include "tuner/answer/alternative.hpp"

#include <gmock/gmock.h>

#include <cstddef>
#include <utility>

#include "tests/tuner/runtime/c_api_case.hpp"
#include "tuner/model/gpu_specs.hpp"
#include "tuner/records/records.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

/// A handle that answers with the faster of two targets.
class Alternative : public CApiCase {
 protected:
  Alternative() {
    options_.device = "NVIDIA H200";
    options_.alternative = "gemm_split";
  }

  /// Stores the default configuration of a shipped target as tuned.
  void tune(const std::string& name, double median_ns) {
    const Target target = find_target(name);
    db::TunedStore store(database_);
    db::Sample sample(store);
    sample.key.kernel = store.add_kernel(kernel_row(target));
    sample.key.problem =
        problem_of(target, {{"M", 512}, {"N", 512}, {"K", 512}}, {{"layout", "NT"}}).text();
    const std::string now = format("2026-03-01T12:0{}:00.000Z", ++decisions_);
    db::DecisionRow row = sample.decision(to_text(target.default_configuration), median_ns, now);
    row.baseline = {"cublas", "cublasSgemm", 2e6, {}, {}, false};  // far slower
    store.add_decision(row);
  }
  int decisions_ = 0;

  std::string answered_target() { return answered_target(sizes_); }
  std::string answered_target(const int64_t (&sizes)[3]) {
    autotune_answer answer{};
    answer.size = sizeof answer;
    EXPECT_EQ(autotune_lookup(handle_, sizes, 3, &answer), AUTOTUNE_OK) << autotune_message();
    return answer.target;
  }
};

TEST_F(Alternative, TheFasterTargetAnswers) {
  options_.settings = "layout=NT dtype=f32";
  ASSERT_EQ(autotune_open(&options_, &handle_), AUTOTUNE_OK) << autotune_message();
  EXPECT_EQ(answered_target(), "gemm") << "neither is tuned";
  tune("gemm_split", 8000);
  ASSERT_EQ(autotune_refresh(handle_), AUTOTUNE_OK) << autotune_message();
  EXPECT_EQ(answered_target(), "gemm_split") << "only this one is tuned";
  tune("gemm", 9000);
  ASSERT_EQ(autotune_refresh(handle_), AUTOTUNE_OK);
  EXPECT_EQ(answered_target(), "gemm_split");
  char text[512];
  ASSERT_EQ(autotune_explain(handle_, sizes_, 3, text, sizeof text), AUTOTUNE_OK);
  EXPECT_THAT(text, StartsWith("gemm_split M=512 N=512 K=512"));
  if (AUTOTUNE_WITH_CUDA) {
    autotune_kernel* kernel = nullptr;
    ASSERT_EQ(autotune_prepare(handle_, sizes_, 3, &kernel), AUTOTUNE_OK) << autotune_message();
    EXPECT_THAT(autotune_kernel_configuration(kernel), StartsWith("KERNEL=split"));
    autotune_release(kernel);
  }
  const std::string pinned = to_text(find_target("gemm").default_configuration);
  ASSERT_EQ(autotune_pin(handle_, sizes_, 3, pinned.c_str()), AUTOTUNE_OK) << autotune_message();
  EXPECT_EQ(answered_target(), "gemm");
  tune("gemm", 7000);
  ASSERT_EQ(autotune_refresh(handle_), AUTOTUNE_OK);
  EXPECT_EQ(answered_target(), "gemm");
  autotune_close(handle_);
}

/// The default configurations, so that the times say which target is faster at all near sizes.
TEST_F(Alternative, WhereNeitherIsTunedTheOneThatIsClearlyExpectedToBeFasterAnswers) {
  options_.tuned_only = 1;
  options_.settings = "layout=NT";
  ASSERT_EQ(autotune_open(&options_, &handle_), AUTOTUNE_OK) << autotune_message();
  const int64_t near[3] = {520, 512, 512};
  tune("gemm", 9000);
  tune("gemm_split", 900000);
  ASSERT_EQ(autotune_refresh(handle_), AUTOTUNE_OK) << autotune_message();
  EXPECT_EQ(answered_target(near), "gemm");
  tune("gemm", 900000);
  tune("gemm_split", 9000);
  ASSERT_EQ(autotune_refresh(handle_), AUTOTUNE_OK) << autotune_message();
  EXPECT_EQ(answered_target(near), "gemm_split");
  const std::string pinned = to_text(find_target("gemm").default_configuration);
  ASSERT_EQ(autotune_pin(handle_, near, 3, pinned.c_str()), AUTOTUNE_OK) << autotune_message();
  EXPECT_EQ(answered_target(near), "gemm");
  autotune_close(handle_);
}

TEST_F(Alternative, OneThatWasTunedOnAnotherGpuAnswersIfItIsFaster) {
  options_.tuned_only = 1;
  options_.settings = "layout=NT";
  options_.device = "NVIDIA H100 PCIe";
  tune("gemm", 900000);
  tune("gemm_split", 9000);
  {
    const Target target = find_target("gemm");
    db::TunedStore store(database_);
    db::Sample sample(store);
    db::DeviceRow device = db::h200();
    device.name = options_.device;
    device.multiprocessors = 114;
    sample.key.device = store.add_device(device);
    sample.key.kernel = store.add_kernel(kernel_row(target));
    sample.key.problem =
        problem_of(target, {{"M", 64}, {"N", 64}, {"K", 64}}, {{"layout", "NT"}}).text();
    store.add_decision(sample.decision(to_text(target.default_configuration), 900000));
  }
  ASSERT_EQ(autotune_open(&options_, &handle_), AUTOTUNE_OK) << autotune_message();
  EXPECT_EQ(answered_target(sizes_), "gemm_split");
  const int64_t near[3] = {520, 512, 512};
  EXPECT_EQ(answered_target(near), "gemm_split");
  const int64_t far[3] = {4096, 2048, 1024};
  EXPECT_EQ(answered_target(far), "gemm");
  autotune_close(handle_);
}

/// Lookups of toy targets with a cost model: N elements of 12 bytes.
class FasterOf : public testing::Test {
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
    return &faster_of(own, &other, std::vector{n}, engines) == &other;
  }

  const std::int64_t here_ = 1 << 20, near_ = (1 << 20) + 1024;
  db::TemporaryFolder folder_;
  int files_ = 0;
};

TEST_F(FasterOf, MeasuredTimesOfBothDecideWithoutAMargin) {
  const auto own = lookup("own", {{.ns = 10000}});
  EXPECT_TRUE(takes_other(*own, *lookup("other", {{.ns = 9990}}), here_));
  EXPECT_FALSE(takes_other(*own, *lookup("other", {{.ns = 10010}}), here_));
}

TEST_F(FasterOf, AnExpectedTimeNeedsALead) {
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

TEST_F(FasterOf, TheTimeAtTheNearSizesIsNotCompared) {
  const auto own = lookup("own", {{.n = here_ / 2, .ns = 50000}});
  const auto other = lookup("other", {{.ns = 60000}});
  EXPECT_EQ(own->find(std::vector{here_}).median_ns, 50000);
  EXPECT_GT(own->find(std::vector{here_}).expected_ns, 75000);
  EXPECT_TRUE(takes_other(*own, *other, here_));
}

TEST_F(FasterOf, TheLibraryThatWouldRunIsCompared) {
  const auto own = lookup("own", {{.ns = 10000, .library_ns = 5000}});
  const auto other = lookup("other", {{.ns = 8000}});
  for (const std::int64_t n : {here_, near_}) {
    EXPECT_FALSE(takes_other(*own, *other, n));
    EXPECT_TRUE(takes_other(*own, *other, n, Engines::kernels_only));
  }
}

TEST_F(FasterOf, ALibraryThatIsExpectedToBeFasterIsLeftToTheFirstTarget) {
  const auto own = lookup("own", {{.ns = 10000}});
  const auto other = lookup("other", {{.ns = 8000, .library_ns = 5000}});
  EXPECT_TRUE(takes_other(*own, *other, here_)) << "measured";
  EXPECT_FALSE(takes_other(*own, *other, near_));
  EXPECT_TRUE(takes_other(*own, *other, near_, Engines::kernels_only));
}

TEST_F(FasterOf, WhatIsKnownOfFarSizesIsNotTaken) {
  const auto own = lookup("own", {{.ns = 10000}});
  EXPECT_TRUE(takes_other(*own, *lookup("other", {{.n = here_ / 2, .ns = 100}}), near_));
  EXPECT_FALSE(takes_other(*own, *lookup("other", {{.n = here_ / 8, .ns = 100}}), near_));
}

TEST_F(FasterOf, WhatIsNotKnownIsNotTaken) {
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

TEST_F(FasterOf, ATargetThatIsNotTunedIsExpectedByItsModelAlone) {
  const auto own = lookup("own", {});
  const LookupAnswer answer = own->find(std::vector{near_});
  EXPECT_EQ(answer.origin, db::Origin::default_configuration);
  EXPECT_GT(answer.expected_ns, 0);
  const double ns = answer.expected_ns;
  EXPECT_TRUE(takes_other(*own, *lookup("other", {{.ns = ns / 2}}), near_));
  EXPECT_FALSE(takes_other(*own, *lookup("other", {{.ns = ns * 2}}), near_));
}

TEST_F(Alternative, BothTargetsMustHaveTheSameBuffers) {
  options_.settings = "dtype=f64";
  EXPECT_EQ(autotune_open(&options_, &handle_), AUTOTUNE_WRONG_USAGE);
  EXPECT_THAT(autotune_message(), HasSubstr("gemm and gemm_split have different buffers"));
}

TEST_F(Alternative, TheManifestNamesOne) {
  tune("gemm_split", 8000);
  const auto answered = [&](const char* alternative, const char* settings) {
    options_.alternative = alternative;
    options_.settings = settings;
    EXPECT_EQ(autotune_open(&options_, &handle_), AUTOTUNE_OK) << autotune_message();
    const std::string target = answered_target();
    autotune_close(std::exchange(handle_, nullptr));
    return target;
  };
  EXPECT_EQ(answered(nullptr, "layout=NT"), "gemm_split");
  EXPECT_EQ(answered("", "layout=NT"), "gemm") << "FP32 units only";
  EXPECT_EQ(answered(nullptr, "layout=NT dtype=f64"), "gemm") << "other buffers";
  options_.size = offsetof(autotune_options, alternative);
  EXPECT_EQ(answered(nullptr, "layout=NT"), "gemm") << "the program's header has no alternatives";
}

}  // namespace
}  // namespace autotune
