// SPDX-License-Identifier: Apache-2.0
#include <SQLiteCpp/Database.h>

#include <chrono>
#include <cstddef>
#include <fstream>
#include <vector>

#include "tests/support/matchers.hpp"
#include "tests/tuner/runtime/c_api_case.hpp"
#include "tuner/answer/target_lookup.hpp"
#include "tuner/records/records.hpp"
#include "tuner/runtime/first_use.hpp"
#include "tuner/runtime/library_folders.hpp"

namespace autotune {
namespace {

class CApi : public CApiCase {};
class CApiLost : public CApiLostCase {};

TEST_F(CApi, AnswersWithoutAGpu) {
  options_.device = "NVIDIA H200";
  open();
  EXPECT_STREQ(autotune_device(handle_), "NVIDIA H200");
  EXPECT_STREQ(autotune_warnings(handle_), "");
  const autotune_answer answer = lookup(sizes_);
  // The row is of another source, and no configuration of this one.
  EXPECT_EQ(answer.origin, AUTOTUNE_DEFAULT);
  EXPECT_THAT(answer.configuration, StartsWith("KERNEL="));
  EXPECT_EQ(answer.factor, 1);
  char text[512];
  ASSERT_EQ(autotune_explain(handle_, sizes_, 3, text, sizeof text), AUTOTUNE_OK);
  EXPECT_THAT(text, StartsWith("gemm M=512 N=512 K=512 batch=1 on NVIDIA H200: KERNEL=split BN="));
  EXPECT_THAT(text, HasSubstr("the configuration that the cost model expects to be the fastest"));
  EXPECT_THAT(text, testing::Not(HasSubstr("BLOCK_SIZE="))) << "of another family";
  ASSERT_EQ(autotune_explain(handle_, sizes_, 3, text, 5), AUTOTUNE_OK);
  EXPECT_STREQ(text, "gemm");
  EXPECT_EQ(autotune_refresh(handle_), AUTOTUNE_OK);
}

TEST_F(CApi, TheLibraryThatAProgramCallsItselfAnswersWithoutEvidence) {
  options_.device = "NVIDIA H200";
  options_.library = "own";
  options_.earn = 1;
  open();
  const autotune_answer answer = lookup(sizes_);
  EXPECT_STREQ(answer.baseline, "own");
  EXPECT_EQ(answer.is_open, 1);
  EXPECT_EQ(autotune_kernel_earns(nullptr), 0);
}

/// A fresh installation, and a database where other sizes were tuned.
TEST_F(CApi, WithoutEvidenceTheVendorsLibraryAnswers) {
  if (!AUTOTUNE_WITH_CUDA) GTEST_SKIP() << "this build has no plugin of a vendor's library";
  options_.device = "NVIDIA H200";
  options_.shipped_database = AUTOTUNE_BINARY_DIR "/share/autotune/shipped.db";
  const auto library = [&](const char* target, const char* settings,
                           const std::vector<int64_t>& sizes) {
    options_.target = target;
    options_.settings = settings;
    open();
    return std::string(lookup(sizes).baseline);
  };
  EXPECT_EQ(library("gemm", "layout=TT", {4, 1024, 1024}), "cublas");
  EXPECT_EQ(library("gemm", "layout=TT dtype=i32", {4, 1024, 1024}), "")
      << "which it does not compute";
  {
    const Target target = find_target("gemm");
    db::TunedStore store(database_);
    db::Sample sample(store);
    sample.key.kernel = store.add_kernel({"", "gemm", target.fingerprint, "M N K batch"});
    for (const std::int64_t m : {512, 1024}) {
      const Problem problem = problem_of(target, {{"M", m}, {"N", 4096}, {"K", 4096}},
                                         {{"dtype", "f16"}, {"layout", "TT"}});
      sample.key.problem = problem.text();
      db::DecisionRow row =
          sample.decision(to_text(valid_default(target, problem, device_of(db::h200()))), 20000);
      if (m == 512) row.baseline = {"cublas", "cublasGemmEx", 30000, {}, {}, false};
      store.add_decision(row);
    }
  }
  EXPECT_EQ(library("gemm", "dtype=f16 layout=TT", {512, 4096, 4096}), "");
  EXPECT_EQ(library("gemm", "dtype=f16 layout=TT", {1024, 4096, 4096}), "cublas")
      << "tuned, but not beside the library";
  EXPECT_EQ(library("gemm", "dtype=f16 layout=TT", {4, 4096, 4096}), "cublas") << "tuned elsewhere";
  EXPECT_EQ(library("gemm", "layout=TN dtype=bf16", {200, 4096, 4096}), "cublas");
}

TEST_F(CApi, AnAlikeSettingAnswersAndSaysSo) {
  options_.target = "gemm";
  options_.device = "NVIDIA H100 80GB HBM3";
  options_.shipped_database = AUTOTUNE_BINARY_DIR "/share/autotune/shipped.db";
  const std::int64_t sizes[] = {16, 4096, 4096};
  const auto validity_with = [&](const char* settings) {
    options_.settings = settings;
    open();
    const autotune_answer answer = lookup(sizes);
    EXPECT_THAT(answer.configuration, HasSubstr("KERNEL=skinny"));
    EXPECT_EQ(answer.origin, AUTOTUNE_EXACT);
    EXPECT_EQ(answer.is_open, answer.validity == AUTOTUNE_VALID ? 0 : 1);
    return answer.validity;
  };
  EXPECT_EQ(validity_with("dtype=f16 layout=NT"), AUTOTUNE_ALIKE_SETTINGS);
  EXPECT_NE(validity_with("dtype=bf16 layout=NT"), AUTOTUNE_ALIKE_SETTINGS);
}

TEST_F(CApi, OpeningWaitsASecondAtMostForOtherProcesses) {
  SQLite::Database other(database_, SQLite::OPEN_READWRITE);
  other.exec("BEGIN EXCLUSIVE");
  options_.device = "host";
  options_.site_database = database_.c_str();
  const auto start = std::chrono::steady_clock::now();
  open();
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10)) << "not 20 s each";
  EXPECT_THAT(autotune_warnings(handle_), HasSubstr("t.db: another process keeps it locked"));
  EXPECT_EQ(autotune_refresh(handle_), AUTOTUNE_FAILED);
  other.exec("ROLLBACK");
  EXPECT_EQ(autotune_refresh(handle_), AUTOTUNE_OK) << autotune_message();
  EXPECT_STREQ(autotune_warnings(handle_), "");
}

TEST_F(CApiLost, TheAnswerNamesTheVendorsLibraryWhereItIsFaster) {
  open();
  autotune_answer answer = lookup(sizes_);
  EXPECT_EQ(answer.origin, AUTOTUNE_EXACT);
  EXPECT_EQ(answer.configuration, configuration_);
  EXPECT_STREQ(answer.baseline, "cublas cublasLt 0 (algorithm 55)");
  EXPECT_DOUBLE_EQ(answer.baseline_ns, 9000);
  EXPECT_DOUBLE_EQ(answer.expected_ns, 10000) << "the configuration's own";
  char text[1024];
  ASSERT_EQ(autotune_explain(handle_, sizes_, 3, text, sizeof text), AUTOTUNE_OK);
  EXPECT_THAT(text, HasSubstr("cublas cublasLt 0 (algorithm 55) takes 9.000 us: it is faster"));

  const int64_t near[3] = {520, 512, 512};
  answer = lookup(near);
  EXPECT_EQ(answer.origin, AUTOTUNE_TRANSFERRED);
  EXPECT_GT(answer.expected_ns, 0);
  ASSERT_EQ(autotune_pin(handle_, sizes_, 3, configuration_.c_str()), AUTOTUNE_OK);
  answer = lookup(sizes_);
  EXPECT_STREQ(answer.baseline, "") << "a pin is a configuration";

  answer.size = offsetof(autotune_answer, baseline);  // a program with an older header
  answer.baseline = "untouched";
  EXPECT_EQ(autotune_lookup(handle_, sizes_, 3, &answer), AUTOTUNE_OK);
  EXPECT_STREQ(answer.baseline, "untouched");
  answer.size = offsetof(autotune_answer, target);
  answer.target = "untouched";
  EXPECT_EQ(autotune_lookup(handle_, sizes_, 3, &answer), AUTOTUNE_OK);
  EXPECT_STREQ(answer.baseline, "");
  EXPECT_STREQ(answer.target, "untouched");
  answer.size = offsetof(autotune_answer, expected_ns);
  answer.expected_ns = -1;
  EXPECT_EQ(autotune_lookup(handle_, sizes_, 3, &answer), AUTOTUNE_OK);
  EXPECT_STREQ(answer.target, "gemm");
  EXPECT_EQ(answer.expected_ns, -1);
}

TEST_F(CApi, OptionsOfAnOlderHeaderAreTakenAndNothingBehindThemIsRead) {
  options_.device = "NVIDIA H200";
  options_.size = offsetof(autotune_options, early_start);
  options_.early_start = -1;  // not part of it
  open();
}

TEST_F(CApi, AFirstUseIsNotRacedForAGpuThatIsNotHereNorInNegativeTime) {
  options_.device = "NVIDIA H200";
  for (const int64_t milliseconds : {-5, 5}) {
    options_.first_use_ms = milliseconds;
    open();
    const bool is_negative = milliseconds < 0;
    EXPECT_THAT(autotune_warnings(handle_),
                HasSubstr(is_negative ? "autotune_options.first_use_ms is negative" : ""));
    if (AUTOTUNE_WITH_CUDA && !is_negative) {
      prepare(sizes_);
      EXPECT_STREQ(autotune_warnings(handle_), "");
    }
  }
}

TEST_F(CApi, EveryWrongUseIsAStatusAndASentence) {
  EXPECT_EQ(autotune_open(nullptr, &handle_), AUTOTUNE_WRONG_USAGE);
  const auto message_with = [&](const std::function<void(autotune_options&)>& change,
                                autotune_status status = AUTOTUNE_WRONG_USAGE) {
    autotune_options options = options_;
    change(options);
    EXPECT_EQ(autotune_open(&options, &handle_), status);
    return std::string(autotune_message());
  };
  using Options = autotune_options;
  EXPECT_THAT(message_with([](Options& options) { options.size = 4; }),
              HasSubstr("autotune_options.size"));
  message_with([](Options& options) { options.size = offsetof(Options, early_start) - 1; });
  EXPECT_THAT(
      message_with([](Options& options) { options.device = "Voodoo 2"; }, AUTOTUNE_NO_DEVICE),
      HasSubstr("there is no device \"Voodoo 2\" here"));
  EXPECT_THAT(message_with([](Options& options) { options.ordinal = -5; }),
              HasSubstr("autotune_options.ordinal is negative"));
  options_.device = "NVIDIA H200";
  for (const char* text :
       {"colour=red", "junk", "=", "dtype=", "dtype=f32 dtype=f64", "dtype=\x1b[31m"}) {
    EXPECT_THAT(message_with([&](Options& options) { options.settings = text; }),
                testing::Not(HasSubstr("\x1b")));
  }
  EXPECT_THAT(message_with([](Options& options) { options.policy = "junk"; }),
              AllOf(HasSubstr("autotune_options.policy"), HasSubstr("\"junk\""),
                    HasSubstr("l2=cold or launch=stream")));
  message_with(
      [](Options& options) {
        options.policy = "l2=hot launch=graph objective=edp context=between";
      },
      AUTOTUNE_OK);
  close();
  autotune_options unknown = options_;
  unknown.target = "gem";
  EXPECT_NE(autotune_open(&unknown, &handle_), AUTOTUNE_OK);
  EXPECT_THAT(autotune_message(), HasSubstr("gem"));

  open();
  autotune_answer answer{};
  EXPECT_EQ(autotune_lookup(handle_, sizes_, 3, &answer), AUTOTUNE_WRONG_USAGE) << "size not set";
  answer.size = sizeof answer;
  EXPECT_EQ(autotune_lookup(handle_, sizes_, 2, &answer), AUTOTUNE_WRONG_USAGE);
  EXPECT_STREQ(autotune_message(), "gemm has 3 to 15 sizes, not 2");
  const int64_t zero[] = {0, 512, 512};
  EXPECT_EQ(autotune_lookup(handle_, zero, 3, &answer), AUTOTUNE_WRONG_USAGE);
  EXPECT_EQ(autotune_pin(handle_, sizes_, 3, "KERNEL=none"), AUTOTUNE_NOT_FOUND);
  EXPECT_EQ(autotune_lookup(nullptr, sizes_, 3, &answer), AUTOTUNE_WRONG_USAGE);
  autotune_close(nullptr);
  autotune_release(nullptr);
}

TEST_F(CApi, ADatabaseThatCannotBeReadIsNamed) {
  const std::string damaged = (folder_ / "text.db").string();
  std::ofstream(damaged) << std::string(5000, 'x');
  options_.device = "NVIDIA A100";
  options_.site_database = damaged.c_str();
  EXPECT_EQ(autotune_open(&options_, &handle_), AUTOTUNE_NO_DEVICE);
  EXPECT_THAT(autotune_message(), HasSubstr("text.db: is not a database"));

  options_.device = "NVIDIA H200";
  open();
  EXPECT_THAT(autotune_warnings(handle_), HasSubstr("text.db: is not a database"));
  EXPECT_EQ(autotune_refresh(handle_), AUTOTUNE_FAILED);
  EXPECT_THAT(autotune_message(), HasSubstr("text.db: is not a database"));
}

/// The library is linked into this program.
TEST(LibraryFolders, AreThoseAboveTheLibraryNearestFirst) {
  const auto folders = folders_above_library();
  ASSERT_FALSE(folders.empty());
  EXPECT_LE(folders.size(), 3u);
  EXPECT_EQ(folders[0], std::filesystem::read_symlink("/proc/self/exe").parent_path());
  for (std::size_t i = 1; i < folders.size(); ++i) {
    EXPECT_EQ(folders[i], folders[i - 1].parent_path());
    EXPECT_NE(folders[i], folders[i].root_path()) << "the root is nobody's prefix";
  }
}

DeviceInfo gpu_called(const std::string& name) {
  DeviceInfo info;
  info.name = name;
  return info;
}

const std::vector<DeviceInfo> kGpus{gpu_called("A100"), gpu_called("H200"), gpu_called("H200")};

TEST(ChosenGpu, ANameAndAnOrdinalBothCount) {
  EXPECT_EQ(chosen_gpu(kGpus, "H200", 0), 1) << "the first of them";
  EXPECT_EQ(chosen_gpu(kGpus, "H200", 1), 1);
  EXPECT_EQ(chosen_gpu(kGpus, "H200", 2), 2);
  EXPECT_EQ(chosen_gpu(kGpus, "A100", 0), 0);
  EXPECT_EQ(chosen_gpu(kGpus, "", 2), 2);
  EXPECT_EQ(chosen_gpu(kGpus, "H100", 0), std::nullopt);
  EXPECT_EQ(chosen_gpu(kGpus, "H100", 7), std::nullopt);
  EXPECT_EQ(chosen_gpu({}, "", 3), std::nullopt);
  EXPECT_REFUSAL(Error, chosen_gpu(kGpus, "A100", 2), "GPU 2 here is called H200, not A100");
  for (const char* const name : {"H200", ""}) {
    EXPECT_REFUSAL(Error, chosen_gpu(kGpus, name, 3), "there is no GPU 3 here: the last one is 2");
  }
}

TEST(BackgroundTasks, TheEndDropsWhatHasNotBegunAndWaitsForTheRest) {
  std::atomic<int> begun = 0, ended = 0;
  {
    const std::function<void()> task = [&] {
      ++begun;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      ++ended;
    };
    const BackgroundTasks background(std::vector(10'000, task));
    while (begun == 0) std::this_thread::yield();
  }
  EXPECT_EQ(begun, ended);
  EXPECT_LT(begun, 10'000);
}

}  // namespace
}  // namespace autotune
