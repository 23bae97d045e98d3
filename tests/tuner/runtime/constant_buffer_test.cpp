// SPDX-License-Identifier: Apache-2.0
#include "tuner/runtime/c_handle.hpp"

#include <algorithm>
#include <fstream>
#include <functional>
#include <map>
#include <random>
#include <stdexcept>

#include "tests/support/matchers.hpp"
#include "tests/tuner/runtime/c_api_case.hpp"

namespace autotune {
namespace {

class ConstantBufferCase : public CApiCase {};

/// Launches that note from which buffer each workspace was made, and graphs of them.
class Graphs {
 public:
  explicit Graphs(std::size_t most_workspaces) : constant(most_workspaces) {}

  /// Throws before or after its work on the buffer if `fails` says so.
  void launch(void* from, bool captured, int fails = 0) {
    void* addresses[1] = {from};
    const auto call_on = [&](const ConstantBuffer::Call& call) {
      const auto work = [this, call, from] {
        if (call.constant.empty()) made_from_[call.workspace] = from;
        if (call.constant.empty()) ++packed;
        wrong += made_from_[call.workspace] == from ? 0 : 1;
      };
      workspaces = std::max(workspaces, call.workspace + 1);
      if (fails == 1) throw std::runtime_error("before");
      if (captured) {
        graphs_.push_back(work);
      } else {
        work();
      }
      if (fails == 2) throw std::runtime_error("after");
    };
    try {
      constant.launch(
          addresses, [&] { return !captured; }, call_on);
    } catch (const std::runtime_error&) {
      ++failed;
    }
  }
  void replay(std::size_t graph) { graphs_[graph](); }
  std::size_t graphs() const { return graphs_.size(); }

  ConstantBuffer constant;
  std::size_t workspaces = 0;
  int wrong = 0, packed = 0, failed = 0;

 private:
  std::map<std::size_t, void*> made_from_;
  std::vector<std::function<void()>> graphs_;
};

int p, q, r;  // buffers

TEST(ConstantBuffer, WhatAGraphReliesOnIsNotOverwritten) {
  for (const std::size_t most : {1, 2, 16}) {
    Graphs graphs(most);
    graphs.constant.hold("B", 0);
    graphs.launch(&p, false);
    graphs.launch(&p, true);
    graphs.launch(&q, false);
    graphs.replay(0);
    EXPECT_EQ(graphs.packed, most == 1 ? 3 : 2) << "with two, the graph leaves the work out";
    graphs.constant.hold("", 0);
    graphs.launch(&r, false);
    graphs.replay(0);
    EXPECT_EQ(graphs.wrong, 0);
    EXPECT_EQ(graphs.workspaces, std::min<std::size_t>(most, 2));
  }
}

TEST(ConstantBuffer, AGraphUsesWhatWasMadeAgainAfterAChange) {
  Graphs graphs(2);
  graphs.constant.hold("B", 0);
  graphs.launch(&p, false);
  graphs.launch(&p, true);
  graphs.launch(&q, false);
  graphs.constant.invalidate();
  graphs.launch(&p, false);
  EXPECT_EQ(graphs.packed, 3);
  graphs.replay(0);
  EXPECT_EQ(graphs.packed, 3);
  EXPECT_EQ(graphs.wrong, 0);
  EXPECT_EQ(graphs.workspaces, 2u);
}

TEST(ConstantBuffer, ALaunchThatThrowsPromisesNothing) {
  Graphs graphs(1);
  graphs.constant.hold("B", 0);
  graphs.launch(&p, false);
  graphs.launch(&q, false, 2);
  graphs.launch(&p, false);
  EXPECT_EQ(graphs.failed, 1);
  EXPECT_EQ(graphs.packed, 3);
  EXPECT_EQ(graphs.wrong, 0);
}

TEST(ConstantBuffer, NoOrderOfLaunchesCapturesAndPromisesIsWrong) {
  std::mt19937 random(1);
  const auto pick = [&](int below) { return static_cast<int>(random() % below); };
  int left_out = 0;
  for (int round = 0; round < 2000; ++round) {
    Graphs graphs(1 + pick(3));
    int launches = 0;
    for (int step = 0; step < 40; ++step) {
      int* const buffers[] = {&p, &q, &r};
      switch (pick(10)) {
        case 0:
          graphs.constant.hold(pick(3) == 0 ? "" : "B", 0);
          break;
        case 1:
          graphs.constant.invalidate();
          break;
        case 2:
        case 3:
        case 4:
          if (graphs.graphs() > 0) {
            graphs.replay(random() % graphs.graphs());
            ++launches;
          }
          break;
        default:
          const bool captured = pick(4) == 0;
          graphs.launch(buffers[pick(3)], captured, pick(20) == 0 ? 1 + pick(2) : 0);
          launches += captured ? 0 : 1;
      }
    }
    ASSERT_EQ(graphs.wrong, 0) << round;
    left_out += launches - graphs.packed;
  }
  EXPECT_GT(left_out, 3000);
}

/// d = a + 2 b, where a first kernel makes 2 b.
std::string target_that_prepares_b(const std::filesystem::path& folder) {
  std::ofstream(folder / "added.cu") << R"(
extern "C" __global__ void twice(const float* b, float* made) {
  made[blockIdx.x] = 2 * b[blockIdx.x];
}
extern "C" __global__ void added(const float* a, const float* made, float* d) {
  d[blockIdx.x] = a[blockIdx.x] + made[blockIdx.x];
}
extern "C" __global__ void reference(const float* a, const float* b, double* d) {
  d[blockIdx.x] = a[blockIdx.x] + 2.0 * b[blockIdx.x];
})";
  std::ofstream(folder / "added.target.toml") << R"(manifest = 2
name = "added"
source = "added.cu"
sizes = ["N"]
parameters.UNUSED = [1]
arguments.a = { type = "f32", length = "N" }
arguments.b = { type = "f32", length = "N" }
arguments.d = { type = "f32", length = "N", role = "output", tolerance = "4" }
workspace.made = { type = "f32", length = "N" }
main = "added"
launch.grid = "N"
launch.block = 1
kernels.twice = { arguments = ["b", "made"], grid_with_constant.b = 0 }
kernels.added.arguments = ["a", "made", "d"]
reference.outputs = "f64"
reference.kernels.reference = { grid = "N", block = 1, arguments = ["a", "b", "d"] }
)";
  return (folder / "added.target.toml").string();
}

TEST_F(ConstantBufferCase, ItsWorkIsDoneOnce) {
  const std::string target = target_that_prepares_b(folder_ / "");
  options_.target = target.c_str();
  options_.device = "host";
  open();
  const int64_t size[1] = {2};
  autotune_kernel* const kernel = prepare(size);
  float a[] = {1, 2}, b[] = {10, 20}, elsewhere[] = {7, 8}, d[2] = {};
  const auto launched = [&](float* from) {
    void* const buffers[] = {a, from, d};
    launch(kernel, buffers);
    return std::vector<float>(d, d + 2);
  };
  using testing::ElementsAre;
  EXPECT_THAT(launched(b), ElementsAre(21, 42));
  b[0] = 11;
  EXPECT_THAT(launched(b), ElementsAre(23, 42)) << "nothing was promised";

  ASSERT_EQ(autotune_hold_constant(kernel, "b"), AUTOTUNE_OK) << autotune_message();
  EXPECT_THAT(launched(b), ElementsAre(23, 42)) << "the first launch does all of its work";
  a[1] = 5, b[0] = 30;
  EXPECT_THAT(launched(b), ElementsAre(23, 45)) << "only a is read again";
  EXPECT_THAT(launched(elsewhere), ElementsAre(15, 21)) << "another buffer";
  EXPECT_THAT(launched(b), ElementsAre(61, 45));
  b[1] = 0;
  ASSERT_EQ(autotune_invalidate(kernel), AUTOTUNE_OK);
  EXPECT_THAT(launched(b), ElementsAre(61, 5));
  b[1] = 1;
  ASSERT_EQ(autotune_hold_constant(kernel, nullptr), AUTOTUNE_OK);
  EXPECT_THAT(launched(b), ElementsAre(61, 7));

  EXPECT_EQ(autotune_hold_constant(kernel, "B"), AUTOTUNE_WRONG_USAGE);
  EXPECT_THAT(autotune_message(), HasSubstr("no buffer B"));
  EXPECT_EQ(autotune_hold_constant(kernel, "d"), AUTOTUNE_WRONG_USAGE);
}

}  // namespace
}  // namespace autotune
