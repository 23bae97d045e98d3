// SPDX-License-Identifier: Apache-2.0
#include "tuner/lock/lock.hpp"

#include "tests/support/matchers.hpp"
#include "tuner/core/problem.hpp"

namespace autotune {
namespace {

LockedAnswer answer_at(std::vector<std::int64_t> sizes, const std::string& configuration,
                       std::size_t kernel = 0) {
  LockedAnswer answer;
  answer.last = sizes.front();
  answer.sizes = std::move(sizes);
  answer.configuration = configuration;
  answer.kernel = kernel;
  answer.median_ns = 1000;
  return answer;
}

LockedAnswer by_library(std::vector<std::int64_t> sizes) {
  LockedAnswer answer = answer_at(std::move(sizes), "");
  answer.library = "cublas cublasSgemm";
  return answer;
}

/// Sizes M, N and a free size.
Lock sample() {
  Lock lock;
  lock.tool_version = "0.1.0";
  lock.device.name = "NVIDIA H200";
  lock.device.kind = "cuda";
  lock.device.multiprocessors = 132;
  lock.environment = "driver 580.82, CUDA 13.0";
  lock.fallback = LockFallback::error;
  lock.kernels = {{"k0", std::make_shared<const std::string>("first\0binary", 12)},
                  {"k1", std::make_shared<const std::string>("second")}};
  LockedTarget& target = lock.targets.emplace_back();
  target.target = "gemm";
  target.fingerprint = "f1";
  target.sizes = {"M", "N", "lda"};
  target.key_sizes = 2;
  target.settings = "dtype=f32";
  target.policy = "l2=hot launch=graph";
  target.answers = {
      answer_at({1, 8, kDefaultSize}, "BM=1"),    answer_at({2, 8, kDefaultSize}, "BM=1"),
      answer_at({3, 8, kDefaultSize}, "BM=2", 1), answer_at({5, 8, kDefaultSize}, "BM=2", 1),
      by_library({1, 16, kDefaultSize}),          answer_at({5, 8, 64}, "BM=4", 1)};
  merge_ranges(target.answers);
  return lock;
}

std::string refusal_of(std::string_view bytes) {
  return thrown_by([&] { parse_lock(bytes, "app.lock"); });
}

TEST(Lock, IsReadAsItWasWritten) {
  const Lock lock = sample();
  const Lock read = parse_lock(lock_text(lock), "app.lock");
  EXPECT_EQ(read.device, lock.device);
  EXPECT_EQ(read.environment, lock.environment);
  EXPECT_EQ(read.fallback, LockFallback::error);
  ASSERT_EQ(read.kernels.size(), 2u);
  EXPECT_EQ(*read.kernels[0].binary, *lock.kernels[0].binary);
  ASSERT_NE(read.find("gemm", "dtype=f32", "l2=hot launch=graph"), nullptr);
  EXPECT_EQ(read.targets[0].answers, lock.targets[0].answers);
  EXPECT_EQ(lock_text(read), lock_text(lock));
  EXPECT_EQ(read.find("gemm", "dtype=f16", "l2=hot launch=graph"), nullptr);
}

TEST(Lock, AnyFlippedBitAndAnyMissingEndIsRefusedWithASentence) {
  const std::string whole = lock_text(sample());
  for (std::size_t i = 0; i < whole.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string flipped = whole;
      flipped[i] = static_cast<char>(flipped[i] ^ 1 << bit);
      ASSERT_THAT(refusal_of(flipped), HasSubstr("app.lock: ")) << "byte " << i << ", bit " << bit;
    }
    ASSERT_THAT(refusal_of(std::string_view(whole).substr(0, i)), HasSubstr("app.lock: ")) << i;
  }
  EXPECT_THAT(refusal_of(whole + "x"), HasSubstr("checksum does not match"));
  EXPECT_THAT(refusal_of(std::string_view(whole).substr(0, 200)), HasSubstr("is cut off"));
  EXPECT_THAT(refusal_of("SQLite format 3"), HasSubstr("is not a lock"));
  EXPECT_THAT(refusal_of("autotune lock 2\n0 0 x\n"), HasSubstr("this version reads format 1"));
}

TEST(Lock, MergesSizesThatFollowEachOtherAndHaveOneAnswer) {
  const std::vector<LockedAnswer> answers = sample().targets[0].answers;
  ASSERT_EQ(answers.size(), 5u);
  EXPECT_THAT(answers[0].sizes, testing::ElementsAre(1, 8, kDefaultSize));
  EXPECT_EQ(answers[0].last, 2);
  EXPECT_EQ(answers[1].last, 3) << "4 is not held, so 3 and 5 stay apart";
}

TEST(LockTable, FindsRangesAndFreeSizesAndNothingElse) {
  const Lock lock = sample();
  const LockTable table(lock.targets[0]);
  const auto found = [&](std::vector<std::int64_t> sizes) -> std::string {
    const LockedAnswer* const answer = table.find(sizes);
    if (!answer) return "none";
    return answer->configuration.empty() ? answer->library : answer->configuration;
  };
  EXPECT_EQ(found({1, 8}), "BM=1");
  EXPECT_EQ(found({2, 8}), "BM=1");
  EXPECT_EQ(found({3, 8}), "BM=2");
  EXPECT_EQ(found({4, 8}), "none");
  EXPECT_EQ(found({5, 8}), "BM=2");
  EXPECT_EQ(found({6, 8}), "none");
  EXPECT_EQ(found({0, 8}), "none");
  EXPECT_EQ(found({1, 16}), "cublas cublasSgemm");
  EXPECT_EQ(found({5, 8, 64}), "BM=4");
  EXPECT_EQ(found({5, 8, 65}), "none");
  EXPECT_EQ(found({5}), "none");
}

}  // namespace
}  // namespace autotune
