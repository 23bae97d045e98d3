// SPDX-License-Identifier: Apache-2.0
// Classes of bits: which configurations give a row the same bits, wherever it lies.
#include <set>
#include <utility>

#include "db/store.hpp"
#include "tests/cli/tool.hpp"
#include "tests/support/matchers.hpp"
#include "tuner/cache/build_cache.hpp"
#include "tuner/core/target_program.hpp"
#include "tuner/host/host_device.hpp"
#include "tuner/json/json.hpp"
#include "tuner/lock/lock.hpp"
#include "tuner/records/records.hpp"
#include "tuner/session/reduction_class.hpp"
#include "tuner/target/catalog.hpp"
#include "tuner/text/format.hpp"

namespace autotune::testing {
namespace {

std::string configuration(int split, int rotate, int block) {
  return format("SPLIT={} ROTATE={} BLOCK={}", split, rotate, block);
}

class ReductionClass : public ::testing::Test {
 protected:
  std::vector<std::string> classes(const std::vector<std::string>& configurations,
                                   std::int64_t k = 96) {
    const Problem problem = problem_of(target_, {{"M", 8}, {"N", 48}, {"K", k}}, {});
    return reduction_classes(*device_, target_, problem,
                             builds_of(*device_, target_, problem, configurations, 2));
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

TEST_F(ReductionClass, OfASourceThatHasTheSizeIsFoundAtThatSize) {
  const Target gemm = find_target("gemm");
  const auto class_at = [&](std::int64_t rows) {
    const Problem problem = problem_of(gemm, {{"M", rows}, {"N", 64}, {"K", 512}},
                                       {{"dtype", "bf16"}, {"layout", "NT"}});
    Configuration configuration;
    const NamedValues chosen = parse_named_values("KERNEL=skinny K_GROUPS=2 WHOLE_PARTS=1");
    for (const Parameter& each : gemm.parameters) {
      const Value* const value = find_value(chosen, each.name);
      configuration.push_back({each.name, value ? *value : each.values.front()});
    }
    return reduction_classes(*device_, gemm, problem,
                             builds_of(*device_, gemm, problem, {to_text(configuration)}, 1))[0];
  };
  const std::string of_16 = class_at(16);  // ROW_TILES=2; of 1 and 33 rows 1 and 5
  EXPECT_EQ(of_16.size(), 16u) << of_16;
  EXPECT_EQ(class_at(1), of_16);
  EXPECT_EQ(class_at(40), of_16);
}

TEST_F(ReductionClass, OtherTargetsHaveNone) {
  const Target tiny = find_target(manifest_of("tiny"));
  const Problem problem = problem_of(tiny, {{"N", 8}}, {});
  EXPECT_FALSE(has_reduction_classes(tiny, problem));
  EXPECT_THAT(reduction_classes(*device_, tiny, problem,
                                builds_of(*device_, tiny, problem, {"BLOCK=1 STEP=1"}, 1)),
              ::testing::ElementsAre(""));
  const Target grouped =
      find_target(AUTOTUNE_SOURCE_DIR "/kernel_sources/gemm_grouped/gemm_grouped.target.toml");
  const NamedValues sizes{{"G", 2}, {"N", 16}, {"K", 16}, {"M", 8}};
  EXPECT_FALSE(has_reduction_classes(grouped, problem_of(grouped, sizes, {})));
}

/// The host with a library of one way, which is a kernel.
class WithLibrary final : public Device {
 public:
  WithLibrary(Device& host, CompiledKernel kernel, LaunchPlan plan)
      : host_(host), kernel_(std::move(kernel)), plan_(std::move(plan)) {}
  const DeviceInfo& info() const override { return host_.info(); }
  CompiledKernel compile(const SourceUnit& unit) override { return host_.compile(unit); }
  std::unique_ptr<Workbench> open(const Workload& workload) override {
    return std::make_unique<Bench>(host_.open(workload), *this);
  }

 private:
  class Bench final : public Workbench {
   public:
    Bench(std::unique_ptr<Workbench> host, const WithLibrary& device)
        : host_(std::move(host)), device_(device) {}
    std::unique_ptr<Candidate> load(const CompiledKernel& kernel, const LaunchPlan& plan) override {
      return host_->load(kernel, plan);
    }
    double launch_floor() override { return 0; }
    std::vector<std::string> baselines(const BaselineSource&) override { return {"its way"}; }
    std::unique_ptr<Candidate> load_baseline(const BaselineSource&, std::size_t) override {
      return host_->load(device_.kernel_, device_.plan_);
    }

   private:
    const std::unique_ptr<Workbench> host_;
    const WithLibrary& device_;
  };

  Device& host_;
  const CompiledKernel kernel_;
  const LaunchPlan plan_;
};

TEST_F(ReductionClass, OfALibraryIsFoundAmongConfigurations) {
  const Problem problem = problem_of(target_, {{"M", 8}, {"N", 48}, {"K", 96}}, {});
  const TargetProgram program(target_, problem, device_->info());
  const auto builds = builds_of(*device_, target_, problem,
                                {configuration(1, 0, 16), configuration(2, 0, 16),
                                 configuration(2, 0, 64), configuration(4, 1, 16)},
                                2);
  const auto like = [&](const std::string& way) {
    const Levels levels = program.levels(parse_named_values(way));
    WithLibrary device(*device_, device_->compile(program.source_unit(levels)),
                       program.plan(levels));
    return bits_of_library(device, target_, problem, builds, {});
  };
  const BitsOfLibrary two = like(configuration(2, 1, 64));
  EXPECT_EQ(two.candidate, "its way");
  EXPECT_TRUE(two.keeps_rows);
  EXPECT_THAT(two.alike, ::testing::ElementsAre(false, true, true, false));
  const BitsOfLibrary rotated = like(configuration(4, 1, 16));
  EXPECT_FALSE(rotated.keeps_rows);
  EXPECT_THAT(rotated.alike, ::testing::Each(false));
  EXPECT_EQ(bits_of_library(*device_, target_, problem, builds, {}).candidate, "");
}

TEST_F(ReductionClass, IsStoredForTheBuildAndForEveryM) {
  const Sandbox sandbox;
  db::TunedStore store(sandbox.folder() / "t.db");
  const auto problem = [&](std::int64_t m) {
    return problem_of(target_, {{"M", m}, {"N", 48}, {"K", 96}}, {});
  };
  std::vector<BuiltConfiguration> builds = builds_of(
      *device_, target_, problem(8), {configuration(1, 0, 16), configuration(4, 1, 16)}, 2);
  const auto stored = [&](std::int64_t m) {
    return stored_classes(store, device_row(device_->info()), target_, problem(m), builds);
  };
  EXPECT_THAT(stored(8), ::testing::ElementsAre("", ""));
  const auto found = reduction_classes(*device_, target_, problem(8), builds, &store);
  EXPECT_EQ(stored(8), found);
  EXPECT_EQ(stored(9), found);
  EXPECT_EQ(found[1], kPlaceDependent);
  builds[0].kernel.key = "of another compiler";
  EXPECT_EQ(stored(8)[0], "");
  EXPECT_THAT(store.check().damage, ::testing::IsEmpty());
}

using StableBits = InSandbox;

TEST_F(StableBits, OneClassServesAllRows) {
  const Json groups =
      sandbox.json(tune("orders", "M=1..64*4,N=24,K=128", "--bits stable --budget 12"))
          .at("groups");
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_EQ(groups[0].at("bits").get<std::string>().size(), 16u);
  EXPECT_GE(groups[0].at("mean_ratio").get<double>(), 1);
  std::set<int> splits;
  for (const Json& one : groups[0].at("serves"))
    splits.insert(one.at("config").at("SPLIT").get<int>());
  EXPECT_EQ(splits.size(), 1u) << "two splits never have one class";
  EXPECT_THAT(
      sandbox.done(
          "lock --target @orders --device host --sizes M=1..64*4,N=24,K=128 --bits class --output "
          "app.lock"),
      HasSubstr("bits: 1 of 1 group have one class"));
  const std::string lock = file_bytes(sandbox.folder() / "app.lock");
  EXPECT_THAT(lock, HasSubstr(format("\"bits\":\"{}\"", groups[0].at("bits").get<std::string>())));
}

TEST_F(StableBits, AClassIsSearchedWhereItsFastestIsSlow) {
  // With four rows, two parts are fast, and one part was tried with many laps only.
  sandbox.done(tune("laps", "4x24x128", "--budget 6 --fix SPLIT=2"));
  const std::string out =
      sandbox.done(tune("laps", "4x24x128,8x24x128,16x24x128", "--bits stable --budget 6 --json"));
  const Json serves = Json::parse(out).at("groups")[0].at("serves");
  EXPECT_EQ(serves[0].at("config").at("SPLIT").get<int>(), 1);
  EXPECT_LT(serves[0].at("config").at("LAPS").get<int>(), 1000);
  const std::string facts = sandbox.run("db export").out;
  const std::string search = R"("strategy":"guided","seed":1,"budget":"6","partial":true)";
  EXPECT_THAT(facts, HasSubstr(search));
}

TEST_F(StableBits, NeedsAProduct) {
  const Ended ended = sandbox.run(tune("tiny", "100,200", "--bits stable"));
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(ended.err, HasSubstr("--bits stable is for products"));
  const Ended fixed =
      sandbox.run(tune("orders", "M=1..64*4,N=24,K=128", "--bits stable --fix SPLIT=1"));
  EXPECT_THAT(fixed.err, HasSubstr("--fix cannot be combined with --bits"));
  EXPECT_THAT(sandbox.run(tune("orders", "8,9", "--bits same")).err,
              HasSubstr("--bits is stable, like=cublas or a class of 16 hexadecimal digits, not "
                        "\"same\""));
  EXPECT_THAT(sandbox.run(tune("orders", "8,9", "--within 3%")).err,
              HasSubstr("--within is for --bits"));
  EXPECT_THAT(sandbox.run(tune("orders", "8x24x64", "--bits like=cublas")).err,
              HasSubstr("--bits like=cublas: the host has no library cublas: name a GPU"));
  EXPECT_THAT(sandbox.run("lock --device host --output a.lock --bits same").err,
              HasSubstr("--bits of lock is class or like=cublas, not \"same\""));
}

class StoredBits : public ::testing::Test {
 protected:
  static std::string class_in(const Ended& ended) {
    const Json result = Json::parse(ended.out).at("results")[0];
    return result.at("bits").is_null() ? "" : result.at("bits").get<std::string>();
  }

  /// Tunes, and returns the class of that configuration.
  std::string class_of(const std::string& configuration) {
    sandbox_.done(tune("orders", kSizes, {"--budget", "12"}));
    sandbox_.done(format("db pin --target @orders --size 4x24x128 --device host --config '{}'",
                         configuration));
    const Ended locked = lock("--sizes 4x24x128");
    EXPECT_EQ(locked.status, 0) << locked.err;
    return read_lock(sandbox_.folder() / "app.lock").targets.at(0).answers.at(0).bits;
  }

  Ended lock(Words more) {
    return sandbox_.run(
        Words("lock --target @orders --device host --output app.lock --bits class") + more);
  }

  static constexpr const char* kSizes = "M=1..16*4,N=24,K=128";
  Sandbox sandbox_;
};

TEST_F(StoredBits, TuneStoresTheClassThatQueryExplainAndReportShow) {
  sandbox_.done(tune("orders", "4x24x128", "--budget 12"));
  const std::string bits = class_in(sandbox_.run("query --target @orders --json"));
  ASSERT_FALSE(bits.empty());
  EXPECT_THAT(sandbox_.run("query --target @orders").out, HasSubstr("bits     " + bits));
  const Words asked = "explain --target @orders --size 4x24x128";
  EXPECT_THAT(sandbox_.run(asked).out, HasSubstr("bits        " + bits));
  sandbox_.done("report --output r.html");
  EXPECT_THAT(file_bytes(sandbox_.folder() / "r.html"), HasSubstr("<dt>bits</dt><dd>" + bits));
}

TEST_F(StoredBits, ALockTakesTheClassFromTheDatabase) {
  sandbox_.done(tune("orders", "4x24x128", "--budget 12"));
  {
    db::TunedStore store(sandbox_.database());
    const db::BestRow best = store.tuned({}).at(0).best;
    db::ProblemKey key = best.key;
    key.problem = for_every_row({parse_named_values(key.problem)}).text();
    key.policy.clear();
    db::add_classes(store, {{"", key, best.configuration, best.binary_key, "0123456789abcdef",
                             db::now_text()}});
  }
  ASSERT_EQ(lock({}).status, 0);
  EXPECT_EQ(read_lock(sandbox_.folder() / "app.lock").targets.at(0).answers.at(0).bits,
            "0123456789abcdef");
}

TEST_F(StoredBits, AClassIsChosenByNameAndRepairKeepsIt) {
  const std::string bits = class_of(configuration(4, 0, 16));
  ASSERT_EQ(bits.size(), 16u);
  const auto splits = [&] {
    std::set<std::string> all;
    const Lock lock = read_lock(sandbox_.folder() / "app.lock");
    for (const LockedAnswer& answer : lock.targets.at(0).answers) {
      EXPECT_EQ(answer.bits, bits);
      all.insert(answer.configuration.substr(0, answer.configuration.find(' ')));
    }
    return all;
  };
  sandbox_.done(tune("orders", kSizes, {"--budget", "12", "--bits", bits}));
  ASSERT_EQ(lock(format("--sizes {}", kSizes)).status, 0);
  EXPECT_THAT(splits(), ::testing::ElementsAre("SPLIT=4"));

  Lock slower = read_lock(sandbox_.folder() / "app.lock");
  for (LockedAnswer& answer : slower.targets.at(0).answers) {
    if (answer.last == 16) answer.median_ns = 0.001;
  }
  sandbox_.write("app.lock", lock_text(slower));
  EXPECT_THAT(sandbox_.done("lock --repair app.lock --target @orders --within 1000 --budget 12"),
              HasSubstr("1 answers are new"));
  EXPECT_THAT(splits(), ::testing::ElementsAre("SPLIT=4"));

  const Ended none =
      sandbox_.run(tune("orders", kSizes, {"--budget", "12", "--bits", "0123456789abcdef"}));
  EXPECT_EQ(none.status, 1);
  EXPECT_THAT(none.err, HasSubstr("no configuration of class 0123456789abcdef serves every size"));
}

}  // namespace
}  // namespace autotune::testing
