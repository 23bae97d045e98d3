// SPDX-License-Identifier: Apache-2.0
// The buffers of a problem in this process's memory.
#include "tuner/host/process_memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <functional>
#include <utility>

#include "tests/support/gaps_case.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/verdicts.hpp"
#include "tests/tuner/host/kernel_case.hpp"
#include "tuner/measure/inputs.hpp"

namespace autotune {
namespace {

constexpr std::int64_t kCells = 1000;

Workload memory_workload() {
  const auto spec = [](const char* name, Role role) {
    return BufferSpec{name, ElementType::f32, kCells, role};
  };
  Workload made;
  made.buffers = {spec("a", Role::input), spec("b", Role::inout), spec("c", Role::output)};
  made.seed = 7;
  return made;
}

class HostBuffers : public testing::Test {
 protected:
  float* floats(std::size_t index) {
    return reinterpret_cast<float*>(buffers_.buffer(index, InputSet::uniform).start());
  }
  std::vector<float> values(std::size_t index) {
    return std::vector<float>(floats(index), floats(index) + kCells);
  }

  ThreadPool threads_{2};
  ProcessMemory memory_{threads_};
  const Workload workload_ = memory_workload();
  ProblemBuffers buffers_{memory_, workload_};
};

/// Hashes when it finishes, as a GPU does.
class LateMemory : public ProcessMemory {
 public:
  using ProcessMemory::ProcessMemory;
  void hash(const std::byte* start, std::int64_t bytes, std::uint64_t* to) override {
    late_.emplace_back([=, this] { ProcessMemory::hash(start, bytes, to); });
  }
  void finish() override {
    for (const auto& one : std::exchange(late_, {})) one();
  }

 private:
  std::vector<std::function<void()>> late_;
};

TEST_F(HostBuffers, KnowTheHashesOfManyInputsThatCameLate) {
  Workload many = workload_;
  for (int i = 0; i < 9; ++i) {
    many.buffers.push_back({"x" + std::to_string(i), ElementType::f32, kCells});
  }
  LateMemory late(threads_);
  const ProblemBuffers buffers(late, many);
  for (std::size_t i = 0; i < many.buffers.size(); ++i) {
    if (many.buffers[i].role != Role::input) continue;
    for (const InputSet set : kInputSets) {
      std::uint64_t hash = 0;
      memory_.hash(buffers.buffer(i, set).start(), kCells * 4, &hash);
      EXPECT_EQ(buffers.hash(i, set), hash) << many.buffers[i].name;
    }
  }
}

TEST_F(HostBuffers, AFewElementsVaryForATime) {
  const auto changed = [](const std::vector<float>& one, const std::vector<float>& other) {
    int count = 0;
    for (std::size_t i = 0; i < one.size(); ++i) count += one[i] != other[i];
    return count;
  };
  ASSERT_TRUE(buffers_.can_vary());
  buffers_.reset(InputSet::uniform, Poison::nan);
  const std::vector<float> input = values(0), inout = values(1);
  buffers_.vary();
  EXPECT_GT(changed(values(0), input), 50);
  EXPECT_LE(changed(values(0), input), 64);
  EXPECT_GT(changed(values(1), inout), 50);
  buffers_.end_variation();
  EXPECT_EQ(values(0), input);
  buffers_.restore_inouts(InputSet::uniform);
  EXPECT_EQ(values(1), inout);
}

TEST_F(HostBuffers, TwoProblemsVaryInOtherPlaces) {
  ProblemBuffers others(memory_, workload_);
  buffers_.vary();
  others.vary();
  const auto* const other =
      reinterpret_cast<const float*>(others.buffer(0, InputSet::uniform).start());
  EXPECT_NE(values(0), std::vector<float>(other, other + kCells));
}

TEST_F(HostBuffers, WhatIsSealedIsReadAgainAndGoneFromMemory) {
  const std::vector<float> before = values(0);
  std::byte* const start = buffers_.buffer(0, InputSet::uniform).start();
  const Sealed sealed = memory_.seal(start, kCells * 4);
  EXPECT_EQ(values(0), std::vector<float>(kCells, 0));
  const std::vector<std::byte> bytes = memory_.unsealed(sealed, 40, 4);
  EXPECT_EQ(*reinterpret_cast<const float*>(bytes.data()), before[10]);
}

TEST_F(HostBuffers, HaveNothingNearThem) {
  const int file = memfd_create("any", 0);
  const auto is_readable = [&](const std::byte* at) { return ::write(file, at, 1) == 1; };
  const std::byte* const start = buffers_.buffer(0, InputSet::uniform).start();
  EXPECT_TRUE(is_readable(start));
  for (const std::ptrdiff_t far : {1 << 20, 4 << 20, 48 << 20}) {
    EXPECT_FALSE(is_readable(start - far)) << far;
    EXPECT_FALSE(is_readable(start + far)) << far;
  }
  close(file);
}

// Buffers with gaps between their lines: what is filled, compared and left alone.

using testing::Doubled;

Verdict verdict_of(const Doubled& doubled) {
  return doubled.verdict(*make_host_device(test_cache()));
}

void expect_wrong(const Doubled& doubled, const std::string& what) {
  expect_wrong_verdict(verdict_of(doubled), what);
}

TEST(GapsOnHost, ARightKernelPasses) {
  const Verdict verdict = verdict_of(Doubled{});
  EXPECT_EQ(verdict.outcome, Outcome::ok) << verdict.message;
  EXPECT_TRUE(verdict.repeats);
}

TEST(GapsOnHost, AnInoutKeepsItsGaps) {
  Doubled added{.body = "y[at_y] += x[at_x];", .role = Role::inout};
  added.reference = added.body;
  expect_right_verdict(verdict_of(added));
  added.body += " y[5] = 0;";
  expect_wrong(added, "wrote y[5], which is between the lines of y (dims 5, 4, 3, strides 6, 30)");
}

TEST(GapsOnHost, WhatIsWrongIsNamedByItsPlace) {
  const std::pair<const char*, const char*> cases[] = {
      {"y[at_y] = (b == 1 && i == 2 && j == 3 ? 3 : 2) * x[at_x];", "y[45] is "},
      {"y[at_y] = (b == 1 && i == 2 && j == 3 ? 3 : 2) * x[at_x];", "1 of 60 elements is wrong"},
      {"if (b < 2) y[at_y] = 2 * x[at_x];", "y[60] was not written"},
      {"y[at_y] = 2 * x[at_x]; if (b < 2) y[at_y + 1] = 2 * x[at_x];",
       "wrote y[5], which is between the lines of y"},
      {"y[at_y] = 2 * x[at_x] + 0 * x[7 * i + 5];",
       "y[0] was not written, or comes from memory that nobody wrote"},
      {"y[at_y] = 2 * x[at_x]; x[6] = 1;", "wrote x[6], which is between the lines of x"},
      {"y[at_y] = 2 * x[at_x]; if (b == 2) x[at_x] += 1;", "the input x was changed: x[0] was"}};
  for (const auto& [body, words] : cases) {
    SCOPED_TRACE(body);
    Doubled wrong;
    wrong.body = body;
    expect_wrong(wrong, words);
  }
}

TEST(GapsOnHost, AReferenceThatWritesBetweenLinesIsAnError) {
  Doubled wrong;
  wrong.reference = "y[at_y] = 2.0 * x[at_x]; y[5] = 1;";
  EXPECT_THAT([&] { verdict_of(wrong); },
              ::testing::ThrowsMessage<Error>(HasSubstr("wrote y[5], which is between the lines")));
}

TEST(Gaps, ElementsKeepTheirOrder) {
  BufferSpec spec{"x", ElementType::i8, 9};
  spec.dims = {2, 3};
  spec.strides = {3};
  const std::vector<std::byte> elements{std::byte{1}, std::byte{2}, std::byte{3},
                                        std::byte{4}, std::byte{5}, std::byte{6}};
  std::vector<std::byte> bytes(9);
  spread(bytes, spec, elements);
  EXPECT_THAT(bytes,
              ElementsAre(std::byte{1}, std::byte{2}, std::byte{0}, std::byte{3}, std::byte{4},
                          std::byte{0}, std::byte{5}, std::byte{6}, std::byte{0}));
  EXPECT_EQ(gathered(spec, bytes, 1), elements);
  EXPECT_EQ(position_of(spec, 3), 4);
}

}  // namespace
}  // namespace autotune
