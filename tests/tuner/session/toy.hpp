// SPDX-License-Identifier: Apache-2.0
// A target with a known optimum, and a database for each test.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "db/store.hpp"
#include "tests/support/fake_device.hpp"
#include "tuner/session/tuning_session.hpp"

namespace autotune {

/// X in 1..16, Y in 1..4, X * Y <= 32; one launch over N.
inline Target two_parameters() {
  Target target;
  target.name = "toy";
  target.source_path = "toy.cu";
  target.source_text = "// toy";
  target.sizes = {"N"};
  Parameter x{.name = "X", .values = {}, .when = {}};
  Parameter y{.name = "Y", .values = {}, .when = {}};
  for (int value = 1; value <= 16; ++value) x.values.emplace_back(value);
  for (int value = 1; value <= 4; ++value) y.values.emplace_back(value);
  target.parameters = {x, y};
  target.constraints = {Expression::parse("X * Y <= 32")};
  target.default_configuration = {{"X", 1}, {"Y", 1}};
  KernelSpec kernel;
  kernel.entry = "toy";
  kernel.grid = {Expression::parse("N")};
  kernel.block = {Expression::parse("32 * X")};
  target.kernels = {kernel};
  target.reference.kernels = {kernel};
  target.flops = Expression::parse("N");
  target.fingerprint = "toy-1";
  return target;
}

/// Best at X=11, Y=2: 10 us, plus 1 us for each step away.
inline testing::Fate bowl(const testing::Macros& macros) {
  const double distance = std::abs(static_cast<double>(macros.at("X") - 11)) +
                          std::abs(static_cast<double>(macros.at("Y") - 2));
  return {Outcome::ok, 1e-5 + distance * 1e-6, ""};
}

inline TuningRequest request_for(const Target& target, std::vector<std::int64_t> sizes,
                                 double evaluations = 1e6) {
  TuningRequest request;
  for (const std::int64_t size : sizes) {
    request.problems.push_back(problem_of(target, {{"N", size}}, {}));
  }
  request.strategy = "exhaustive";
  request.budget = {Budget::Kind::evaluations, evaluations};
  request.compile_threads = 2;
  return request;
}

/// A database file for each test, removed at the end.
class StoreTest : public ::testing::Test {
 protected:
  StoreTest()
      : folder_(std::filesystem::path(::testing::TempDir()) /
                ("session_" + std::to_string(::getpid()) + "_" +
                 ::testing::UnitTest::GetInstance()->current_test_info()->name())) {
    std::filesystem::remove_all(folder_);
  }
  ~StoreTest() override { std::filesystem::remove_all(folder_); }
  db::TunedStore open_store() const { return db::TunedStore(folder_ / "tuned.db"); }

 private:
  std::filesystem::path folder_;
};

}  // namespace autotune
