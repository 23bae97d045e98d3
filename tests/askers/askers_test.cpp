// SPDX-License-Identifier: Apache-2.0
// One question, one answer: random problems over states of the database, asked through the C API,
// as query and explain do, as the BLAS library and PyTorch do, and as exports, reports and warm do.
#include <SQLiteCpp/SQLiteCpp.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/db/sample.hpp"
#include "tuner/answer/lookup_answer.hpp"
#include "tuner/cli/answers.hpp"
#include "tuner/cli/arguments.hpp"
#include "tuner/cli/db_export.hpp"
#include "tuner/cli/report.hpp"
#include "tuner/records/records.hpp"
#include "tuner/runtime/autotune.h"
#include "tuner/target/catalog.hpp"

namespace autotune {
namespace {

constexpr const char* kPolicy = "l2=hot launch=graph context=between";

using Sizes = std::vector<std::int64_t>;
struct Close {
  void operator()(autotune_handle* handle) const { autotune_close(handle); }
};
using Handle = std::unique_ptr<autotune_handle, Close>;

class Askers : public testing::Test {
 protected:
  Askers() {
    setenv("AUTOTUNE_KERNEL_PATH", AUTOTUNE_SOURCE_DIR "/kernel_sources", 1);
    db::TunedStore store(file_);  // a GPU that is not here is known by its rows
    const db::Sample sample(store, "2026-03-01T12:00:00.000Z");
    add(store, {8, 8, 8}, "layout=TT", 5000);
  }

  /// The default configuration as the result of these sizes. `library_ns` 0: it was not timed.
  db::ProblemKey add(db::TunedStore& store, const Sizes& sizes, const std::string& settings,
                     double ns, double library_ns = 0, const db::DeviceRow& device = db::h200(),
                     const std::string& fingerprint = "") {
    db::Sample sample(store);
    sample.key.device = store.add_device(device);
    db::KernelRow kernel = kernel_row(gemm_);
    if (!fingerprint.empty()) kernel.fingerprint = fingerprint;
    sample.key.kernel = store.add_kernel(kernel);
    sample.key.policy = kPolicy;
    const Problem problem = problem_with(sizes, settings);
    sample.key.problem = problem.text();
    db::DecisionRow row = sample.decision(default_of(problem), ns);
    if (library_ns > 0) {
      row.baseline = {"cublas", "cublasSgemm", library_ns, {}, {}, library_ns < ns};
    }
    store.add_decision(row);
    return sample.key;
  }

  /// With the batch of this test.
  Problem problem_with(const Sizes& sizes, const std::string& settings) const {
    const NamedValues values{{"M", sizes[0]}, {"N", sizes[1]}, {"K", sizes[2]}, {"batch", batch_}};
    return problem_of(gemm_, values, parse_named_values(settings));
  }
  /// The first default configuration that is valid there.
  std::string default_of(const Problem& problem) const {
    const TargetProgram program(gemm_, problem, device_of(db::h200()));
    for (const Levels& each : program.defaults()) {
      if (program.is_valid(each)) return to_text(configuration_of(gemm_.parameters, each));
    }
    return to_text(gemm_.default_configuration);
  }

  autotune_handle* open(const std::string& target, const std::string& settings) {
    const std::string file = file_.string();
    autotune_options options{};
    options.size = sizeof options;
    options.target = target.c_str();
    options.settings = settings.c_str();
    options.policy = kPolicy;
    options.user_database = file.c_str();
    options.shipped_database = "";
    options.device = "NVIDIA H200";
    autotune_handle* handle = nullptr;
    EXPECT_EQ(autotune_open(&options, &handle), AUTOTUNE_OK) << autotune_message();
    return handle;
  }

  /// With the batch of this test, and free sizes that follow M, N and K.
  Sizes whole(Sizes sizes) const {
    sizes.insert(sizes.begin() + 3, batch_);
    return sizes;
  }
  autotune_answer lookup(autotune_handle* handle, const Sizes& sizes) const {
    autotune_answer answer{};
    answer.size = sizeof answer;
    const Sizes all = whole(sizes);
    EXPECT_EQ(autotune_lookup(handle, all.data(), all.size(), &answer), AUTOTUNE_OK)
        << autotune_message();
    return answer;
  }
  /// Leading dimensions, strides and alignments, each its default or larger, of which some are
  /// multiples of a power of two: in each class of alignment.
  Sizes with_free(Sizes sizes, const std::string& settings) {
    const Problem problem = problem_with(sizes, settings);
    const TargetProgram program(gemm_, problem, device_of(db::h200()), SizeBinding::given);
    for (std::size_t i = 0; i < gemm_.free_sizes.size(); ++i) {
      const std::int64_t usual = program.free_values(whole(sizes)).at(i);
      const std::int64_t step = std::int64_t{1} << (random_() % 6);
      std::int64_t size = (usual + static_cast<std::int64_t>(random_() % 100)) / step * step;
      if (size < usual) size += step;
      if (gemm_.free_sizes[i].most) size = std::clamp<std::int64_t>(step, 4, usual);
      sizes.push_back(random_() % 3 == 0 ? kDefaultSize : size);
    }
    return sizes;
  }

  /// Of a command line.
  std::vector<std::string> words_for(const std::string& settings) const {
    std::vector<std::string> words{"--db", file_.string(), "--target",
                                   "gemm", "--device",     "NVIDIA H200"};
    for (const NamedValue& each : parse_named_values(settings)) {
      words.insert(words.end(), {"--set", to_text({each})});
    }
    return words;
  }

  /// Asks all for `count` random sizes, and for these.
  void expect_the_same(const std::string& settings, int count, std::vector<Sizes> all = {}) {
    std::uniform_real_distribution<double> doublings(0, 13);
    while (count-- > 0) {
      Sizes& sizes = all.emplace_back();
      for (int i = 0; i < 3; ++i) {
        sizes.push_back(static_cast<std::int64_t>(std::exp2(doublings(random_))));
      }
    }
    const Handle program(open("gemm", settings));
    if (has_free_) {  // of some targets' types there are packed products only
      for (Sizes& sizes : all) {
        Sizes away = with_free(sizes, settings);
        autotune_answer ignored{.size = sizeof ignored};
        const Sizes whole_away = whole(away);
        if (autotune_lookup(program.get(), whole_away.data(), whole_away.size(), &ignored) ==
            AUTOTUNE_OK) {
          sizes = std::move(away);
          ++away_;
        }
      }
    }
    std::string list;
    for (const Sizes& sizes : all) {
      list +=
          format("{}{}x{}x{}x{}", list.empty() ? "" : ",", sizes[0], sizes[1], sizes[2], batch_);
      for (std::size_t i = 3; i < sizes.size(); ++i) {
        if (sizes[i] != kDefaultSize) {
          list += format(",{}={}", gemm_.free_sizes[i - 3].name, sizes[i]);
        }
      }
    }
    std::vector<std::string> words = words_for(settings);
    words.insert(words.end(), {"--size", list});
    const cli::Arguments arguments(cli::verb_called("query"), words);
    cli::AnswerJudge judge(arguments);
    cli::Databases databases(arguments, judge);
    std::map<std::string, cli::Answer> shown;
    for (cli::Answer& answer : databases.answers(cli::FreeSizes::taken)) {
      const db::ProblemKey key = answer.entry.best.key;
      const std::string problem = answer.given.problem.text_with_free();
      if (key.policy == kPolicy) shown.emplace(problem, std::move(answer));
    }
    cli::ProgramAnswers programs(arguments, judge);
    std::set<std::pair<std::string, std::string>> warmed;
    const DeviceInfo gpu = device_of(db::h200());
    for (const db::TunedEntry& one : cli::given_on(gpu, databases.asked_on(gpu), programs, judge)) {
      warmed.emplace(one.best.key.problem, one.best.configuration);
    }
    TargetLookup names(gemm_, parse_named_values(settings), device_of(db::h200()), kPolicy,
                       std::vector<db::Layer>());
    for (const Sizes& sizes : all) {
      const std::string problem = names.problem_for(whole(sizes)).text_with_free();
      SCOPED_TRACE(problem);
      ASSERT_TRUE(shown.contains(problem));
      expect_shown(shown.at(problem), program.get(), sizes);
      EXPECT_TRUE(warmed.contains({problem, lookup(program.get(), sizes).configuration}));
    }
  }

  /// By exports and reports, which know stored results only; and by warm.
  void expect_given(const std::string& settings) {
    const std::vector<std::string> words = words_for(settings);
    std::vector<std::string> with_output = words;
    with_output.insert(with_output.end(), {"--output", "unused"});
    const cli::Arguments arguments(cli::verb_called("query"), words);
    const cli::Arguments of_report(cli::verb_called("report"), with_output);
    cli::AnswerJudge judge(arguments);
    cli::Databases databases(arguments, judge);
    cli::ProgramAnswers programs(arguments, judge);
    const db::TunedStore store(file_, db::Mode::read_only);
    std::vector<db::TunedEntry> kept = cli::chosen_entries(arguments, store);
    const std::vector<db::TunedEntry> all = kept;
    cli::keep_given(kept, programs);
    std::map<std::string, std::string> exported, measured, reported;  // by problem
    for (const db::TunedEntry& one : kept) {
      exported[one.best.key.problem] = one.best.configuration;
    }
    for (const db::TunedEntry& one : databases.measured()) {
      measured[one.best.key.problem] = one.best.configuration;
    }
    for (const report::ReportedProblem& one : cli::ReportSource(of_report).read().problems) {
      if (judge.target_of(one.entry)) {
        reported[one.entry.best.key.problem] = one.entry.best.configuration;
      }
    }
    std::set<std::tuple<std::string, std::string, std::string>> warmed;
    for (const db::TunedEntry& one : cli::given_on(device_of(db::h200()), all, programs, judge)) {
      warmed.emplace(one.kernel.target, one.best.key.problem, one.best.configuration);
    }
    const Handle program(open("gemm", settings));
    for (const db::TunedEntry& one : all) {
      const std::string& problem = one.best.key.problem;
      SCOPED_TRACE(problem);
      Sizes sizes;
      for (const NamedValue& size : cli::problem_of(one).sizes) {
        sizes.push_back(size.value.integer());
      }
      sizes.resize(3);
      const autotune_answer answer = lookup(program.get(), sizes);
      const std::string exact = answer.origin == AUTOTUNE_EXACT ? answer.configuration : "";
      EXPECT_EQ(exported[problem], exact);
      EXPECT_EQ(measured[problem], exact);
      if (judge.target_of(one)) {
        EXPECT_EQ(reported[problem], exact);
      }
      EXPECT_TRUE(warmed.contains({"gemm", problem, answer.configuration}));
    }
  }

  /// By query and explain.
  void expect_shown(const cli::Answer& shown, autotune_handle* program, const Sizes& sizes) const {
    const autotune_answer answer = lookup(program, sizes);
    const cli::ProgramAnswer& given = shown.given;
    EXPECT_EQ(given.lookup->target().name, answer.target);
    EXPECT_EQ(given.answer.configuration, answer.configuration);
    EXPECT_EQ(given.answer.provenance, answer.provenance);
    EXPECT_EQ(static_cast<int>(given.answer.origin), static_cast<int>(answer.origin));
    EXPECT_EQ(given.answer.baseline, answer.baseline);
    EXPECT_EQ(given.answer.baseline_ns, answer.baseline_ns);
    EXPECT_EQ(given.answer.expected_ns, answer.expected_ns);
    char text[4096];
    const Sizes all = whole(sizes);
    ASSERT_EQ(autotune_explain(program, all.data(), all.size(), text, sizeof text), AUTOTUNE_OK);
    EXPECT_EQ(
        explanation_of(given.lookup->target(), given.problem, given.lookup->device(), given.answer),
        text);
    EXPECT_EQ(shown.entry.best.configuration, answer.configuration);
    EXPECT_EQ(shown.is_stored, answer.origin == AUTOTUNE_EXACT);
    EXPECT_EQ(shown.entry.best.median_ns.value_or(0), shown.is_stored ? answer.median_ns : 0);
  }

  db::TemporaryFolder folder_;
  std::filesystem::path file_ = folder_ / "t.db";
  const Target gemm_ = find_target(AUTOTUNE_SOURCE_DIR "/kernel_sources/gemm/gemm.target.toml");
  std::mt19937_64 random_{40};
  std::int64_t batch_ = 1;
  bool has_free_ = false;
  int away_ = 0;  // problems with free sizes so far
};

TEST_F(Askers, SayTheSameWhereNothingIsTuned) {
  expect_the_same("layout=NT", 40);
  expect_the_same("dtype=f64", 10);
  expect_the_same("dtype=i32", 10);
}

TEST_F(Askers, SayTheSameOfWhatIsShipped) {
  std::filesystem::copy_file(AUTOTUNE_BINARY_DIR "/share/autotune/shipped.db", file_,
                             std::filesystem::copy_options::overwrite_existing);
  expect_the_same("layout=NN", 40, {{1024, 1024, 1024}, {128, 128, 128}, {512, 512, 512}});
  expect_the_same("layout=NT", 20);
}

TEST_F(Askers, SayTheSameWithFreeSizes) {
  has_free_ = true;
  expect_the_same("layout=NT", 20);  // nothing is tuned
  expect_the_same("scale=beta", 10);
  batch_ = 3;
  expect_the_same("layout=NN", 10);
  batch_ = 1;
  std::filesystem::copy_file(AUTOTUNE_BINARY_DIR "/share/autotune/shipped.db", file_,
                             std::filesystem::copy_options::overwrite_existing);
  expect_the_same("layout=NN", 20, {{1024, 1024, 1024}, {128, 128, 128}, {512, 512, 512}});
  expect_the_same("dtype=bf16 layout=NT", 10);
  EXPECT_GT(away_, 55);
}

/// Tuned with and without the library, for another GPU, by another source; pinned, and refuted.
class HalfTuned : public Askers, public testing::WithParamInterface<const char*> {
 protected:
  HalfTuned() {
    batch_ = settings_.find("batch") == std::string::npos ? 1 : 3;
    if (batch_ > 1) settings_ = "layout=NT";
    db::TunedStore store(file_);
    for (const std::int64_t m : {1, 16, 64, 512}) {
      add(store, {m, 1024, 1024}, settings_, 9000.0 + static_cast<double>(m), 12000);
      add(store, {m, 2048, 1024}, settings_, 9000);
      add(store, {m, 512, 512}, settings_, 9000, 7000);
    }
    db::DeviceRow other = db::h200();
    other.name = "NVIDIA H100 80GB HBM3";
    add(store, {4, 1024, 1024}, settings_, 9000, 12000, other);
    add(store, {8, 1024, 1024}, settings_, 9000, 12000, db::h200(), "stale");
    const db::ProblemKey pinned = add(store, {32, 1024, 1024}, settings_, 9000, 8000);
    const std::string configuration = default_of(problem_with({32, 1024, 1024}, settings_));
    store.pin({"", pinned, configuration, "because", "2026-03-01T12:02:00.000Z"});
    db::Sample sample(store);
    sample.key = add(store, {48, 1024, 1024}, settings_, 9000, 12000);
    db::TrialRow failure = sample.failure(configuration, "wrong");
    failure.created_at = "2026-03-01T12:03:00.000Z";
    store.append({&failure, 1});
    sample.key = add(store, {4096, 1024, 1024}, "layout=TT", 9000, 12000);
    sample.key.problem = problem_with({96, 1024, 1024}, settings_).text();
    store.append(std::vector{sample.trial(configuration, 3000)});  // its run was killed
    for (const std::int64_t m : {1, 4, 8, 16, 32, 48, 64, 96, 512}) {
      for (const std::int64_t n : {512, 1024, 2048})
        exact_.push_back({m, n, n == 512 ? 512 : 1024});
    }
  }

  std::string settings_ = GetParam();
  std::vector<Sizes> exact_;
};

TEST_P(HalfTuned, AllSayTheSame) {
  expect_the_same(settings_, 10, exact_);
  expect_given(settings_);
  has_free_ = true;
  expect_the_same(settings_, 10, exact_);
}

INSTANTIATE_TEST_SUITE_P(Products, HalfTuned,
                         testing::Values("layout=NT", "batch", "dtype=bf16 layout=NT",
                                         "dtype=i8 layout=NT", "layout=NT math=tf32",
                                         "dtype=e4m3 layout=NT scales=rows"));

class Damaged : public HalfTuned {};

TEST_P(Damaged, AllSayTheSame) {
  db::execute(
      file_,
      "UPDATE best SET median_ns = 5 WHERE problem LIKE 'M=16 %' OR problem LIKE 'M=64 N=1%'");
  expect_the_same(settings_, 20, exact_);
  expect_given(settings_);
}

INSTANTIATE_TEST_SUITE_P(Products, Damaged, testing::Values("layout=NT", "batch"));

}  // namespace
}  // namespace autotune
