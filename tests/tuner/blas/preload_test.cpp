// SPDX-License-Identifier: Apache-2.0
// The preloaded library in a program: a stub for cuBLAS, a fake for libautotune, no GPU.
#include <algorithm>
#include <chrono>
#include <fstream>
#include <sstream>

#include "tests/cli/tool.hpp"
#include "tests/support/matchers.hpp"
#include "tuner/text/format.hpp"

namespace autotune::blas {
namespace {

namespace fs = std::filesystem;
using autotune::testing::Ended;
using autotune::testing::Sandbox;

const fs::path kStub = AUTOTUNE_BINARY_DIR "/tests/blas_stub";

/// A program under the preloaded library. Each shape waits for its kernel.
class Preload : public ::testing::Test {
 protected:
  Preload() {
    sandbox_.set("LD_PRELOAD", AUTOTUNE_TEST_PRELOAD);
    sandbox_.set("AUTOTUNE_BLAS_LIBRARY", kStub / "libfake_autotune.so");
    sandbox_.set("AUTOTUNE_BLAS_REPORT", "stderr");
    sandbox_.set("AUTOTUNE_BLAS_WAIT", "1");
  }
  Ended call(const std::string& what, const std::string& count = "1") {
    return sandbox_.run_program({kStub / "blas_caller", what, count});
  }
  Ended call_with(const std::string& fault, const std::string& what = "same",
                  const std::string& count = "3") {
    sandbox_.set("FAKE_AUTOTUNE", fault);
    return call(what, count);
  }
  Sandbox sandbox_;
};

TEST_F(Preload, AThousandRandomCallsAreRightElementByElement) {
  const fs::path file = sandbox_.folder() / "workload.jsonl";
  sandbox_.set("AUTOTUNE_BLAS_RECORD", file);
  const Ended ended = call("random", "1000");
  EXPECT_EQ(ended.status, 0) << ended.out << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("wrong 0,"));
  EXPECT_THAT(ended.err, ContainsRegex("[1-9][0-9][0-9] of 1000 calls of cuBLAS were served"));
  for (const char* function : {"cublasSgemm", "cublasSgemmStridedBatched", "cublasGemmEx",
                               "cublasGemmStridedBatchedEx", "cublasLtMatmul"}) {
    EXPECT_THAT(file_bytes(file), HasSubstr("\"" + std::string(function) + "\""));
  }
}

TEST_F(Preload, ThreadsWithHandlesOfTheirOwnGetRightResults) {
  for (const char* wait : {"0", "1"}) {
    sandbox_.set("AUTOTUNE_BLAS_WAIT", wait);
    const Ended ended = call("threads");
    EXPECT_EQ(ended.status, 0) << ended.out << ended.err;
    EXPECT_THAT(ended.err, HasSubstr("of 1000 calls"));
  }
}

TEST_F(Preload, AShapeIsServedOnceItsKernelIsThere) {
  EXPECT_THAT(call("same", "3").err, AllOf(HasSubstr("3 of 3 calls"), HasSubstr("served 3\n")));
}

TEST_F(Preload, WhereItIsOpenBothServeInTurnAndEachTimedCallEnds) {
  const Ended ended = call_with("earn", "same", "8");
  EXPECT_THAT(ended.err, AllOf(HasSubstr("4 of 8 calls"), Not(HasSubstr("a call"))));
  EXPECT_EQ(call_with("earn", "random", "1000").status, 0) << "right whichever serves";
  sandbox_.set("AUTOTUNE_EARN", "0");
  EXPECT_THAT(call_with("earn", "same", "8").err, HasSubstr("0 of 8 calls"));
}

TEST_F(Preload, WhatIsOpenWithLeadingDimensionsOnlyIsTimedThere) {
  const Ended ended = call_with("earn away", "random", "300");
  EXPECT_EQ(ended.status, 0);
  EXPECT_THAT(ended.err, AllOf(ContainsRegex("lda=[0-9]* ldb=[0-9]* ldc=[0-9]*: served"),
                               ContainsRegex("k=[0-9]*: served"), Not(HasSubstr("a call"))));
}

TEST_F(Preload, WhatIsNotTheSameContractIsPassedOnWithItsReason) {
  const Ended ended = call("refused");
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("0 of 7 calls"));
  for (const char* reason :
       {"types 1", "math mode or compute type 1", "scalars on the device 1", "alpha is 0 1",
        "epilogue 1", "empty or invalid 1", "leading dimension 1"}) {
    EXPECT_THAT(ended.err, HasSubstr(reason));
  }
}

TEST_F(Preload, WhatCublasRefusesReachesIt) {
  for (const char* report : {"stderr", ""}) {
    sandbox_.set("AUTOTUNE_BLAS_REPORT", report);
    const Ended ended = call("invalid");
    EXPECT_EQ(ended.status, 0) << ended.out << ended.err;
  }
}

TEST_F(Preload, SettingsThatNoKernelObeysReachCublas) {
  const Ended counted = call("settings");
  EXPECT_EQ(counted.status, 0) << counted.out << counted.err;
  EXPECT_THAT(counted.err,
              HasSubstr("served 2, batch of pointers 1, other settings 8, empty or invalid 2\n"));
  sandbox_.set("AUTOTUNE_BLAS_REPORT", "");
  EXPECT_EQ(call("settings").status, 0) << "where nothing is counted";
}

TEST_F(Preload, BatchesOfPointersAreCounted) {
  const fs::path file = sandbox_.folder() / "workload.jsonl";
  sandbox_.set("AUTOTUNE_BLAS_RECORD", file);
  const Ended ended = call("pointers");
  EXPECT_EQ(ended.status, 0) << ended.out << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("batch of pointers 12\n"));
  for (const char* text :
       {R"({"call":"cublasSgemmBatched","layout":"NN","m":8,"n":8,"k":8,"batch":5,)",
        R"({"call":"cublasGemmBatchedEx","layout":"NN","m":8,"n":8,"k":8,"batch":5,)",
        R"({"call":"cublasSgemmGroupedBatched","layout":"NN","m":8,"n":8,"k":8,"batch":2,)",
        R"({"call":"cublasGemmGroupedBatchedEx","layout":"NN","m":8,"n":8,"k":8,"batch":3,)"}) {
    EXPECT_THAT(file_bytes(file), HasSubstr(text));
  }
}

TEST_F(Preload, PluginsOfAutotuneCallCublasItself) {
  const Ended ended = call("plugin");
  EXPECT_EQ(ended.status, 0) << ended.out << ended.err;
}

TEST_F(Preload, EachCallerGetsItsOwnVersionOfCublas) {
  const Ended ended = sandbox_.run_program(
      {kStub / "two_versions", kStub / "libcalls_version_13.so", kStub / "libcalls_version_12.so"});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_EQ(ended.out,
            "13 gets a handle of 13\n12 gets a handle of 12\n"
            "13 gets a handle of 13\n12 gets a handle of 12\n");
  EXPECT_THAT(ended.err, HasSubstr("are in one process"));
  EXPECT_EQ(ended.err.find("are in one process"), ended.err.rfind("are in one process"));
}

TEST_F(Preload, StaticObjectsOfNvrtcOutliveTheThreadsThatCompile) {
  const auto told = [&] {
    return sandbox_
        .run_program({kStub / "two_versions", kStub / "libnvrtc.so", kStub / "libother.so"})
        .out;
  };
  EXPECT_EQ(told(), "other is destroyed\n");
  sandbox_.set("LD_PRELOAD", "");
  EXPECT_THAT(told(), HasSubstr("nvrtc is destroyed\n"));
}

TEST_F(Preload, AForkedProcessPassesItsCallsOnAndCountsNone) {
  // What only the threads of its parent pointed to is no leak of the child.
  sandbox_.set("ASAN_OPTIONS", "detect_leaks=0");
  for (const char* wait : {"0", "1"}) {
    sandbox_.set("AUTOTUNE_BLAS_WAIT", wait);
    const Ended ended = call("forked", "20");
    EXPECT_EQ(ended.status, 0) << ended.out << ended.err;
    EXPECT_THAT(ended.out, HasSubstr("wrong 0,"));
    EXPECT_THAT(ended.err, HasSubstr(" of 40 calls"));
    EXPECT_EQ(ended.err.find(" calls of cuBLAS"), ended.err.rfind(" calls of cuBLAS"));
  }
}

TEST_F(Preload, DescriptorsThatChangeAreReadAgain) {
  const Ended ended = call("changed");
  EXPECT_EQ(ended.status, 0) << ended.out;
  EXPECT_THAT(ended.err, AllOf(HasSubstr("served 5"), HasSubstr("math mode or compute type 1")));
}

TEST_F(Preload, NothingIsPreparedDuringACapture) {
  EXPECT_THAT(call("captured", "2").err, HasSubstr("being prepared 2"));
}

TEST_F(Preload, EveryStreamAndEveryCaptureHasAWorkspaceOfItsOwn) {
  EXPECT_THAT(call_with("workspace", "streams", "2").err, HasSubstr("served 4\n"));
  EXPECT_THAT(call_with("workspace", "prepared and captured", "6").err, HasSubstr("served 7\n"));
}

TEST_F(Preload, WhatNeedsMoreWorkspaceThanThereShouldBeIsPassedOn) {
  // 200 MB for the stream, and for one of three captures.
  EXPECT_THAT(call_with("large workspace", "prepared and captured", "6").err,
              AllOf(HasSubstr("served 3"), HasSubstr("no memory for a workspace 4")));
}

TEST_F(Preload, AWorkspaceServesTheNextCaptureOnceItsGraphIsGone) {
  // 200 MB for the stream, and for all captures.
  EXPECT_THAT(call_with("large workspace", "graphs that end", "20").err, HasSubstr("served 21\n"));
}

TEST_F(Preload, ACaptureThatTheProgramHasBrokenSwitchesNothingOff) {
  const Ended ended = call("broken captures", "5");
  EXPECT_THAT(ended.err, AllOf(HasSubstr("served 5"), HasSubstr("kernel failed 5")));
}

TEST_F(Preload, AnExitWaitsForNoCompilerAndStopsBeforeItsStaticsAreGone) {
  sandbox_.set("AUTOTUNE_BLAS_WAIT", "0");
  for (const char* fault : {"slow", "endless"}) {
    const auto start = std::chrono::steady_clock::now();
    const Ended ended = call_with(fault, "short");
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10)) << fault;
    EXPECT_EQ(ended.status, 0) << ended.err;
    EXPECT_THAT(ended.err, Not(HasSubstr("too late")));
    if (fault == std::string("slow")) EXPECT_THAT(ended.err, HasSubstr("stopped\n"));
  }
}

TEST_F(Preload, TensorCoresServeProductsInF32WhereTheyAreFasterAndAllowed) {
  EXPECT_THAT(call_with("split").err, HasSubstr("served 3\n"));
  sandbox_.set("AUTOTUNE_BLAS_UNITS", "fp32");
  EXPECT_THAT(call_with("split").err, HasSubstr("kernel failed 3\n"));
}

TEST_F(Preload, TensorCoresServeLeadingDimensionsAndEpilogues) {
  const Ended ended = call_with("split", "random", "300");
  EXPECT_THAT(ended.out, HasSubstr("wrong 0,"));
  EXPECT_THAT(ended.err, AllOf(ContainsRegex("lda=[0-9]* ldb=[0-9]* ldc=[0-9]*: served"),
                               ContainsRegex("epilogue=[0-9]*: served")));
}

TEST_F(Preload, LeadingDimensionsAreAskedForWithTheirOwnExpectations) {
  const std::string report = call_with("away", "random", "300").err;
  EXPECT_THAT(report, AllOf(ContainsRegex("lda=[0-9]* ldb=[0-9]* ldc=[0-9]*: cuBLAS is faster"),
                            Not(ContainsRegex("lda=[0-9]* ldb=[0-9]* ldc=[0-9]*: served")),
                            ContainsRegex("k=[0-9]*: served")));
}

TEST_F(Preload, WithoutMemoryForTheFastestTheNextOneServes) {
  EXPECT_THAT(call_with("large split", "prepared and captured", "6").err, HasSubstr("served 7\n"));
}

TEST_F(Preload, SixteenBitsAreServedWhereTheyAreTuned) {
  EXPECT_THAT(call("half").err, AllOf(HasSubstr("k=8 f16 to f16: served 1\n"),
                                      HasSubstr("batch=3 f16 to f16: served 1\n")));
  EXPECT_THAT(call_with("vendor", "half").err, HasSubstr("cuBLAS is faster 2\n"));
}

TEST_F(Preload, ProductsOfEightBitsAreServedWithTheirFactors) {
  const std::string report = call("eight bits").err;
  EXPECT_THAT(report, HasSubstr("TN m=16 n=8 k=32 e4m3 to f32 scales=tensor sums=promoted: served "
                                "1\n"));
  EXPECT_THAT(report, HasSubstr("scales=none sums=promoted: other settings 1\n"));
}

TEST_F(Preload, ALinearLayerInSixteenBitsIsRecordedTunedAndServed) {
  const fs::path file = sandbox_.folder() / "workload.jsonl";
  sandbox_.set("AUTOTUNE_BLAS_RECORD", file);
  EXPECT_THAT(call("linear").err,
              HasSubstr("cublasLtMatmul TN m=16 n=8 k=24 bf16 to bf16 epilogue=4: served 1\n"));
  sandbox_.set("LD_PRELOAD", "");  // tuning starts compilers, and calls no cuBLAS
  EXPECT_THAT(
      sandbox_.done(format("tune --workload {} --device host --budget 2 --strategy random --quiet",
                           file.string())),
      HasSubstr("gemm M=8 N=16 K=24 batch=1 dtype=bf16 layout=NT epilogue=bias:"));
}

TEST_F(Preload, AConfigurationThatLeadingDimensionsExcludeIsPassedOn) {
  const Ended ended = call_with("distances", "random", "300");
  EXPECT_THAT(ended.out, HasSubstr("wrong 0,"));
  EXPECT_THAT(ended.err, AllOf(ContainsRegex("leading dimension [1-9]"), HasSubstr("epilogue ")));
  EXPECT_THAT(ended.err, Not(HasSubstr("as it was asked to"))) << "it is no fault";
}

TEST_F(Preload, WhateverFailsCublasRunsAndOneLineSaysSo) {
  for (const auto& [fault, reason, line] :
       {std::tuple{"open", "kernel failed 3", "as it was asked to; cuBLAS runs instead"},
        {"prepare", "kernel failed 3", "as it was asked to; cuBLAS runs instead"},
        {"compile", "kernel failed 3", "gave way to BM=16 BN=16; cuBLAS runs instead"},
        {"launch", "kernel failed 3", "as it was asked to"},
        {"default", "not tuned 3",
         "gemm dtype=f32 units=fp32 layout=NN scale=none is not tuned for Fake GPU"},
        {"host", "kernel failed 3", "libautotune does not see Fake GPU"},
        {"vendor", "cuBLAS is faster 3", "0 of 3 calls"}}) {
    const Ended ended = call_with(fault);
    EXPECT_THAT(ended.out, HasSubstr("wrong 0, cuBLAS 3")) << fault;
    EXPECT_THAT(ended.err, AllOf(HasSubstr(reason), HasSubstr(line))) << fault;
  }
}

TEST_F(Preload, WhereAProblemCannotBeOpenedTheOtherServes) {
  const Ended ended = call_with("fp32 only", "random", "300");
  EXPECT_THAT(ended.out, HasSubstr("wrong 0,"));
  EXPECT_THAT(ended.err, AllOf(HasSubstr("as it was asked to; cuBLAS runs instead"),
                               ContainsRegex("served [1-9]")));
}

TEST_F(Preload, ADamagedDatabaseIsOneLine) {
  const Ended ended = call_with("warning");
  EXPECT_THAT(ended.err, AllOf(HasSubstr("autotune: tuned.db: is damaged\n"),
                               Not(HasSubstr("more of it")), HasSubstr("served 3")));
}

TEST_F(Preload, WithoutLibautotuneEverythingIsPassedOn) {
  sandbox_.set("AUTOTUNE_BLAS_LIBRARY", "/nowhere/libautotune.so");
  const Ended ended = call("same", "3");
  EXPECT_THAT(ended.out, HasSubstr("wrong 0, cuBLAS 3"));
  EXPECT_THAT(ended.err, HasSubstr("cuBLAS serves every call"));
}

TEST_F(Preload, AProgramThatCallsNothingIsLeftAlone) {
  sandbox_.set("AUTOTUNE_BLAS_RECORD", sandbox_.folder() / "workload.jsonl");
  EXPECT_THAT(call("nothing").err, IsEmpty());
  EXPECT_FALSE(fs::exists(sandbox_.folder() / "workload.jsonl"));
}

TEST_F(Preload, ServingCanBeSwitchedOff) {
  sandbox_.set("AUTOTUNE_BLAS_SERVE", "0");
  EXPECT_THAT(call("same", "3").err, HasSubstr("serving is off 3"));
}

TEST_F(Preload, AVariableWithAnotherValueIsOneLineAndTheDefault) {
  sandbox_.set("AUTOTUNE_BLAS_SERVE", "off");
  sandbox_.set("AUTOTUNE_BLAS_UNITS", "FP32");
  sandbox_.set("AUTOTUNE_EARN", "false");
  const Ended ended = call("same", "3");
  EXPECT_THAT(ended.err,
              HasSubstr("autotune: AUTOTUNE_EARN is neither 1 nor 0, and counts as 1; "
                        "AUTOTUNE_BLAS_SERVE is neither 1 nor 0, and counts as 1; "
                        "AUTOTUNE_BLAS_UNITS is neither any nor fp32, and counts as any\n"));
  EXPECT_THAT(ended.err, HasSubstr("3 of 3 calls of cuBLAS were served"));
}

TEST_F(Preload, TheReportIsAddedToAFile) {
  sandbox_.set("AUTOTUNE_BLAS_REPORT", sandbox_.folder() / "report.txt");
  EXPECT_THAT(call("same").err, IsEmpty());
  call("same");
  const std::string text = file_bytes(sandbox_.folder() / "report.txt");
  EXPECT_EQ(text.find("1 of 1 calls"), text.rfind("1 of 1 calls") - text.size() / 2);
}

TEST_F(Preload, LinesOfTheWorkloadAddUpToTheCalls) {
  const fs::path file = sandbox_.folder() / "workload.jsonl";
  sandbox_.set("AUTOTUNE_BLAS_RECORD", file);
  call("same", "5");
  // At 1, 2 and 4 calls, and at the end.
  const std::string text = file_bytes(file);
  for (const char* calls : {R"("calls":1})", R"("calls":2})"}) EXPECT_THAT(text, HasSubstr(calls));
  EXPECT_EQ(std::ranges::count(text, '\n'), 4);
  EXPECT_THAT(text, HasSubstr(R"({"call":"cublasSgemm","layout":"NN","m":8,"n":8,"k":8,)"));
}

TEST_F(Preload, ACrashKeepsHalfOfTheCallsAtLeast) {
  const fs::path file = sandbox_.folder() / "workload.jsonl";
  sandbox_.set("AUTOTUNE_BLAS_RECORD", file);
  EXPECT_EQ(call("crash", "7").status, 128 + 6);
  const std::string text = file_bytes(file);
  EXPECT_EQ(std::ranges::count(text, '\n'), 3);  // 1, 2 and 4
}

}  // namespace
}  // namespace autotune::blas
