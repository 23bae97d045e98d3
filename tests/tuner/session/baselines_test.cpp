// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/baselines.hpp"

#include <gmock/gmock.h>

#include "tests/support/fake_device.hpp"
#include "tuner/core/error.hpp"

namespace autotune {
namespace {

using testing::FakeDevice;
using testing::Macros;

const std::vector<BaselineSource> kVendorSource = {{"/lib/vendor.so", "toy"}};

TEST(Baselines, TheLibrarysDefaultAndTheTwoFastestOthersThatAreRight) {
  FakeDevice device([](const Macros&) { return testing::Fate{}; });
  device.baselines() = {{"standard", {Outcome::ok, 2e-5, ""}},
                        {"slow", {Outcome::ok, 4e-5, ""}},
                        {"wrong", {Outcome::wrong, 1e-6, "C[0] is nan"}},
                        {"crashing", {Outcome::crash, 1e-6, "illegal address"}},
                        {"fast", {Outcome::ok, 0.5e-5, ""}},
                        {"next", {Outcome::ok, 0.8e-5, ""}}};
  const auto bench = device.open({});
  std::vector<std::string> names;
  for (const BaselineCandidate& one : find_baselines(*bench, kVendorSource, {})) {
    names.push_back(one.name);
  }
  EXPECT_THAT(names, ::testing::ElementsAre("standard", "fast", "next"));
}

/// A library that cannot be opened, or no more.
class Closed final : public Workbench {
 public:
  std::unique_ptr<Candidate> load(const CompiledKernel&, const LaunchPlan&) override {
    return nullptr;
  }
  double launch_floor() override { return 0; }
  std::vector<std::string> baselines(const BaselineSource&) override {
    throw Error("libvendor.so.3 is not there");
  }
  std::unique_ptr<Candidate> load_baseline(const BaselineSource&, std::size_t) override {
    throw Error("libvendor.so.3 is not there");
  }
};

TEST(Baselines, ALibraryThatIsOfNoUseIsAWarning) {
  Closed bench;
  std::string warning;
  const auto found = find_baselines(bench, kVendorSource,
                                    [&](const std::string& sentence) { warning = sentence; });
  EXPECT_TRUE(found.empty());
  EXPECT_EQ(warning, "baseline vendor is left out: libvendor.so.3 is not there");
}

TEST(Baselines, OneThatCannotBeLoadedAgainFailsWhenItIsTimed) {
  Closed bench;
  BaselineCandidate one{kVendorSource[0], 0, "standard", nullptr, 1e-5};
  reload(one, bench);
  ASSERT_TRUE(one.candidate);
  EXPECT_THAT([&] { one.candidate->time(1, L2State::hot); },
              ::testing::ThrowsMessage<KernelFailure>("libvendor.so.3 is not there"));
}

}  // namespace
}  // namespace autotune
