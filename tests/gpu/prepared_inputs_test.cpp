// SPDX-License-Identifier: Apache-2.0
// Inputs from files and from prepare kernels on a GPU.
#include <gmock/gmock.h>

#include <fstream>

#include "tests/gpu/gpu_fixture.hpp"
#include "tuner/core/error.hpp"

namespace autotune {
namespace {

using testing::HasSubstr;

class PreparedInputsOnGpu : public Gpu {
 protected:
  /// out = 2 x + y, where a prepare kernel makes y of x.
  static Workload workload(std::int64_t n) {
    Workload made = saxpy_workload(n);
    made.buffers[1].fill = Fill::prepared;
    made.reference_source.text +=
        "extern \"C\" __global__ void prepare(const float* x, float* y, int n) {\n"
        "  for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = -3 * x[i];\n}\n";
    made.reference_source.entries.emplace_back("prepare");
    Launch launch;
    launch.entry = "prepare";
    launch.block.x = 256;
    launch.arguments = {BufferRef{0}, BufferRef{1}, Scalar{ElementType::i32, n, 0}};
    made.preparation.launches = {launch};
    return made;
  }
  Verdict verdict(const Workload& opened, const std::string& body) {
    const std::int64_t n = opened.buffers[0].length;
    const auto bench = device().open(opened);
    return bench->load(compiled(saxpy_unit(body)), saxpy_plan(n))->verify();
  }
};

TEST_F(PreparedInputsOnGpu, AreThereForTheReferenceAndForTunedKernels) {
  const Verdict through = verdict(workload(10'000), kRightBody);
  EXPECT_EQ(through.outcome, Outcome::ok) << through.message;
  const Verdict direct = verdict(workload(10'000), "if (i < n) out[i] = a * x[i] - 3 * x[i];");
  EXPECT_EQ(direct.outcome, Outcome::ok) << direct.message;
  EXPECT_EQ(verdict(workload(10'000), "if (i < n) out[i] = a * x[i];").outcome, Outcome::wrong);
}

TEST_F(PreparedInputsOnGpu, MustNotBeChanged) {
  const Verdict changed =
      verdict(workload(1000), "if (i < n) { out[i] = a * x[i] + y[i]; ((float*)y)[i] = 12; }");
  EXPECT_EQ(changed.outcome, Outcome::wrong);
  EXPECT_THAT(changed.message, HasSubstr("the input y was changed"));
}

TEST_F(PreparedInputsOnGpu, OrStandInAFileBehindAHeader) {
  const std::int64_t n = 1000;
  Workload made = saxpy_workload(n);
  made.buffers[0].file = folder() / "x.npy";
  made.buffers[0].file_offset = 128;
  std::ofstream file(made.buffers[0].file, std::ios::binary);
  file << std::string(128, '#');
  for (std::int64_t i = 0; i < n; ++i) {
    const float element = 0.5f * static_cast<float>(i);
    file.write(reinterpret_cast<const char*>(&element), sizeof element);
  }
  file.close();
  const Verdict right = verdict(made, "if (i < n) out[i] = 1.0f * i + y[i];");
  EXPECT_EQ(right.outcome, Outcome::ok) << right.message;
}

}  // namespace
}  // namespace autotune
