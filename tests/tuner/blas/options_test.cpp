// SPDX-License-Identifier: Apache-2.0
#include "tuner/blas/options.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace autotune::blas {
namespace {

class OptionsTest : public testing::Test {
 protected:
  OptionsTest() { clear(); }
  ~OptionsTest() override { clear(); }
  static void clear() {
    for (const char* name : {"SERVE", "WAIT", "UNITS", "RECORD", "REPORT", "LIBRARY"}) {
      unsetenv((std::string("AUTOTUNE_BLAS_") + name).c_str());
    }
  }
  static void set(const char* name, const char* value) {
    setenv((std::string("AUTOTUNE_BLAS_") + name).c_str(), value, 1);
  }
};

TEST_F(OptionsTest, WithoutVariablesCallsAreServedAndNothingIsCounted) {
  const Options options = read_options("python3");
  EXPECT_TRUE(options.serve);
  EXPECT_FALSE(options.wait);
  EXPECT_FALSE(options.only_fp32);
  EXPECT_FALSE(options.counts());
}

TEST_F(OptionsTest, EachVariableSetsItsOption) {
  set("SERVE", "0"), set("WAIT", "1"), set("UNITS", "fp32");
  set("RECORD", "w.jsonl"), set("LIBRARY", "/opt/libautotune.so");
  const Options options = read_options("python3");
  EXPECT_FALSE(options.serve);
  EXPECT_TRUE(options.wait);
  EXPECT_TRUE(options.only_fp32);
  EXPECT_EQ(options.record, "w.jsonl");
  EXPECT_EQ(options.library, "/opt/libautotune.so");
  EXPECT_TRUE(options.counts());
}

TEST_F(OptionsTest, AReportAloneIsCountedFor) {
  set("REPORT", "stderr");
  EXPECT_TRUE(read_options("python3").counts());
}

TEST_F(OptionsTest, OtherValuesLeaveTheDefault) {
  set("SERVE", "no"), set("WAIT", "yes"), set("UNITS", "FP32");
  const Options options = read_options("python3");
  EXPECT_TRUE(options.serve);
  EXPECT_FALSE(options.wait);
  EXPECT_FALSE(options.only_fp32);
}

TEST_F(OptionsTest, TheTunersOwnProgramsUseTheRealLibrary) {
  set("SERVE", "1"), set("RECORD", "w.jsonl"), set("REPORT", "stderr");
  for (const char* program : {"autotune", "autotune-worker"}) {
    const Options options = read_options(program);
    EXPECT_FALSE(options.serve) << program;
    EXPECT_FALSE(options.counts()) << program;
  }
  EXPECT_TRUE(read_options("autotune-mpi-app").serve);
}

}  // namespace
}  // namespace autotune::blas
