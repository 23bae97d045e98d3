// SPDX-License-Identifier: Apache-2.0
// Classes of bits: which configurations give a row the same bits, wherever it lies.
#include <gmock/gmock.h>

#include <set>

#include "tests/cli/tool.hpp"
#include "tuner/cache/build_cache.hpp"
#include "tuner/core/element_type.hpp"
#include "tuner/host/host_device.hpp"
#include "tuner/json/json.hpp"
#include "tuner/session/reduction_class.hpp"
#include "tuner/target/catalog.hpp"
#include "tuner/text/format.hpp"

namespace autotune::testing {
namespace {

using ::testing::HasSubstr;

std::string configuration(int split, int rotate, int block) {
  return format("SPLIT={} ROTATE={} BLOCK={}", split, rotate, block);
}

class ReductionClass : public ::testing::Test {
 protected:
  std::vector<std::string> classes(const std::vector<std::string>& configurations,
                                   std::int64_t k = 96) {
    const Problem problem = problem_of(target_, {{"M", 8}, {"N", 48}, {"K", k}}, {});
    return reduction_classes(*device_, target_, problem, configurations);
  }

  const Target target_ = find_target(manifest_of("orders"));
  const std::unique_ptr<Device> device_ =
      make_host_device(std::make_shared<BuildCache>(BuildCache::default_folder()));
};

TEST_F(ReductionClass, TellsOrdersApartAndNothingElse) {
  const auto all =
      classes({configuration(1, 0, 16), configuration(1, 0, 64), configuration(1, 1, 16),
               configuration(2, 0, 16), configuration(2, 0, 64), configuration(4, 0, 16)});
  EXPECT_EQ(all[0].size(), 16u);
  EXPECT_EQ(all[0], all[1]) << "the block is no matter";
  EXPECT_EQ(all[0], all[2]) << "one part cannot be rotated";
  EXPECT_NE(all[0], all[3]);
  EXPECT_EQ(all[3], all[4]);
  EXPECT_NE(all[3], all[5]);
  EXPECT_NE(all[0], all[5]);
}

TEST_F(ReductionClass, BitsThatDependOnTheRowHaveNone) {
  // Two parts are added in either order with the same result, so that rotating four shows.
  EXPECT_THAT(classes({configuration(4, 1, 16), configuration(4, 1, 64)}),
              ::testing::Each(std::string(kPlaceDependent)));
}

TEST_F(ReductionClass, IsOfOneK) {
  EXPECT_NE(classes({configuration(1, 0, 16)}, 96), classes({configuration(1, 0, 16)}, 97));
}

TEST_F(ReductionClass, OtherTargetsHaveNone) {
  const Target tiny = find_target(manifest_of("tiny"));
  const Problem problem = problem_of(tiny, {{"N", 8}}, {});
  EXPECT_FALSE(has_reduction_classes(tiny, problem));
  EXPECT_THAT(reduction_classes(*device_, tiny, problem, {"BLOCK=1 STEP=1"}),
              ::testing::ElementsAre(""));
}

TEST(StableBits, OneClassServesAllRows) {
  Sandbox sandbox;
  const Ended ended = sandbox.run(
      tune("orders", "M=1..64*4,N=24,K=128", {"--bits", "stable", "--budget", "12", "--json"}));
  ASSERT_EQ(ended.status, 0) << ended.err;
  const Json groups = Json::parse(ended.out).at("groups");
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_EQ(groups[0].at("bits").get<std::string>().size(), 16u);
  EXPECT_GE(groups[0].at("mean_ratio").get<double>(), 1);
  std::set<int> splits;
  for (const Json& one : groups[0].at("serves"))
    splits.insert(one.at("config").at("SPLIT").get<int>());
  EXPECT_EQ(splits.size(), 1u) << "two splits never have one class";
  const Ended locked =
      sandbox.run({"lock", "--target", manifest_of("orders"), "--device", "host", "--sizes",
                   "M=1..64*4,N=24,K=128", "--bits", "--output", "app.lock"});
  ASSERT_EQ(locked.status, 0) << locked.err;
  EXPECT_THAT(locked.out, HasSubstr("bits: 1 of 1 group have one class"));
  const std::string lock = file_bytes(sandbox.folder() / "app.lock");
  EXPECT_THAT(lock, HasSubstr(format("\"bits\":\"{}\"", groups[0].at("bits").get<std::string>())));
}

TEST(StableBits, NeedsAProduct) {
  Sandbox sandbox;
  const Ended ended = sandbox.run(tune("tiny", "100,200", {"--bits", "stable"}));
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(ended.err, HasSubstr("--bits stable is for products"));
  const Ended fixed =
      sandbox.run(tune("orders", "M=1..64*4,N=24,K=128", {"--bits", "stable", "--fix", "SPLIT=1"}));
  EXPECT_THAT(fixed.err, HasSubstr("--fix cannot be combined with --bits"));
  EXPECT_THAT(sandbox.run(tune("orders", "8,9", {"--bits", "same"})).err,
              HasSubstr("--bits is stable, not \"same\""));
}

}  // namespace
}  // namespace autotune::testing
