// SPDX-License-Identifier: Apache-2.0
// Calls of a program that find out whether a kernel or the vendor's library is faster.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <thread>

#include "db/store.hpp"
#include "tests/gpu/gpu_fixture.hpp"
#include "tests/gpu/vendor_library.hpp"
#include "tests/support/source_folder.hpp"
#include "tuner/core/target.hpp"
#include "tuner/gpu/cuda_handles.hpp"
#include "tuner/gpu/on_device.hpp"
#include "tuner/records/records.hpp"
#include "tuner/runtime/autotune.h"
#include "tuner/target/manifest.hpp"

namespace autotune {
namespace {

class EarningOnGpu : public Gpu {
 protected:
  static constexpr std::size_t kBytes = std::size_t{256} << 20;

  void SetUp() override {
    Gpu::SetUp();
    if (IsSkipped()) return;
    stream_ = make_stream();
    memory_ = DeviceMemory(kBytes);
  }
  void work() const {
    EXPECT_EQ(cudaMemsetAsync(memory_.get(), 0, kBytes, stream_.get()), cudaSuccess);
  }

  Stream stream_;
  DeviceMemory memory_;
};

TEST_F(EarningOnGpu, OnlyCallsWithWorkAheadAreTimed) {
  const auto timer = make_call_timer(0);
  ASSERT_TRUE(timer->may_time(stream_.get()));
  EXPECT_EQ(cudaStreamSynchronize(stream_.get()), cudaSuccess);
  timer->begin(stream_.get());
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  work();
  EXPECT_FALSE(timer->end(stream_.get())) << "the stream had nothing to do";

  for (int i = 0; i < 200; ++i) work();
  timer->begin(stream_.get());
  work();
  ASSERT_TRUE(timer->end(stream_.get()));
  EXPECT_FALSE(timer->seconds()) << "the work ahead takes longer";
  EXPECT_EQ(cudaStreamSynchronize(stream_.get()), cudaSuccess);
  const auto seconds = timer->seconds();
  ASSERT_TRUE(seconds);
  EXPECT_GT(*seconds, 10e-6);
  EXPECT_LT(*seconds, 10e-3);
}

TEST_F(EarningOnGpu, NoCallIsTimedInACapture) {
  const auto timer = make_call_timer(0);
  ASSERT_EQ(cudaStreamBeginCapture(stream_.get(), cudaStreamCaptureModeGlobal), cudaSuccess);
  EXPECT_FALSE(timer->may_time(stream_.get()));
  const Stream other = make_stream();
  std::thread([&] {  // while this thread captures in the strictest mode
    EXPECT_TRUE(timer->may_time(other.get()));
    timer->begin(other.get());
    timer->end(other.get());
    while (!timer->seconds()) std::this_thread::yield();
  })
      .join();
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(cudaStreamEndCapture(stream_.get(), &graph), cudaSuccess) << "it is not broken";
  const Graph owned(graph);
}

/// A program's products, of which the database has a result of gemm's family `tiled`. It is far
/// slower than cuBLAS at this size, which was not timed beside it.
class Products : public EarningOnGpu {
 protected:
  void SetUp() override {
    EarningOnGpu::SetUp();
    if (IsSkipped()) return;
    setenv("AUTOTUNE_CACHE", (folder() / "cache").c_str(), 1);
    setenv("AUTOTUNE_PLUGIN_PATH", cublas_plugin().parent_path().c_str(), 0);
    const std::filesystem::path manifest = source_folder() / "kernel_sources/gemm/gemm.target.toml";
    std::filesystem::remove(file_);
    const Target gemm = load_manifest(manifest), tiled = with_fixed(gemm, {{"KERNEL", "tiled"}});
    const Problem problem = problem_of(gemm, {{"M", 512}, {"N", 512}, {"K", 512}}, {});
    db::TunedStore store(file_);
    db::DecisionRow row;
    row.key.device = store.add_device(device_row(device().info()));
    row.key.kernel = store.add_kernel(kernel_row(gemm));
    row.key.problem = problem.text();
    row.key.policy = "l2=hot launch=graph context=between";
    row.session = store.begin_session({});
    row.configuration = to_text(valid_default(tiled, problem, device().info()));
    row.median_ns = 30000;
    store.add_decision(row);
    target_ = manifest.string();
    database_ = file_.string();
    options_.size = sizeof options_;
    options_.target = target_.c_str();
    options_.user_database = database_.c_str();
    options_.shipped_database = "";
    options_.earn = 1;
    open();
  }
  void TearDown() override { autotune_close(handle_); }

  void open() {
    autotune_close(handle_);  // waits until what calls found is stored
    handle_ = nullptr;
    ASSERT_EQ(autotune_open(&options_, &handle_), AUTOTUNE_OK) << autotune_message();
  }
  autotune_answer lookup(const std::vector<std::int64_t>& sizes) {
    autotune_answer answer{};
    answer.size = sizeof answer;
    EXPECT_EQ(autotune_lookup(handle_, sizes.data(), sizes.size(), &answer), AUTOTUNE_OK)
        << autotune_message();
    return answer;
  }
  /// Until it is decided that the library is faster.
  void call(const std::vector<std::int64_t>& sizes) {
    EXPECT_EQ(lookup(sizes).is_open, 1);
    autotune_kernel* kernel = nullptr;
    ASSERT_EQ(autotune_prepare(handle_, sizes.data(), sizes.size(), &kernel), AUTOTUNE_OK)
        << autotune_message();
    ASSERT_EQ(autotune_kernel_earns(kernel), 1) << "needs the plugin cublas";
    std::vector<DeviceMemory> memory;
    std::vector<void*> buffers;
    for (std::size_t i = 0; i < autotune_kernel_buffers(kernel); ++i) {
      std::uint64_t bytes = 0;
      autotune_kernel_buffer(kernel, i, &bytes);
      memory.emplace_back(static_cast<std::int64_t>(std::max<std::uint64_t>(bytes, 256)));
      EXPECT_EQ(cudaMemset(memory.back().get(), 0, bytes), cudaSuccess);
      buffers.push_back(memory.back().get());
    }
    for (int call = 0; call < 60'000; ++call) {
      if (call % 20 == 0) work();  // calls of an idle stream are not timed
      ASSERT_EQ(autotune_launch(kernel, buffers.data(), buffers.size(), stream_.get()), AUTOTUNE_OK)
          << autotune_message();
    }
    EXPECT_EQ(cudaStreamSynchronize(stream_.get()), cudaSuccess);
    EXPECT_EQ(autotune_kernel_engine(kernel, nullptr), AUTOTUNE_VENDOR_LIBRARY);
    autotune_release(kernel);
  }

  const std::filesystem::path file_ = folder() / "earned.db";
  std::string target_, database_;
  autotune_options options_{};
  autotune_handle* handle_ = nullptr;
};

TEST_F(Products, WithLeadingDimensionsEarnForAllThatAreAsAligned) {
  call({512, 512, 512, 1, 513});
  for (const std::int64_t lda : {513, 515}) {
    const autotune_answer answer = lookup({512, 512, 512, 1, lda});
    EXPECT_STREQ(answer.baseline, "cublas") << lda;
    EXPECT_EQ(answer.is_open, 0) << lda;
    EXPECT_STREQ(answer.provenance, "in use") << lda;
  }
  EXPECT_EQ(lookup({512, 512, 512, 1, 514}).is_open, 1);
  EXPECT_EQ(lookup({512, 512, 512}).is_open, 1);
  open();
  const db::TunedStore store(file_, db::Mode::read_only);
  EXPECT_NE(store.tuned({}).at(0).best.provenance, "in use") << "no result is stored for them";
}

TEST_F(Products, WhatCallsFindServesAndIsTheAnswerOfTheNextProgram) {
  call({512, 512, 512});
  open();
  EXPECT_EQ(lookup({512, 512, 512}).is_open, 0);
  const db::TunedStore store(file_, db::Mode::read_only);
  const auto entries = store.tuned({});
  ASSERT_EQ(entries.size(), 1u);
  std::printf("provenance %s, kernel %.2f us, library %.2f us\n",
              entries[0].best.provenance.c_str(), entries[0].best.median_ns.value_or(0) * 1e-3,
              entries[0].best.baseline.ns.value_or(0) * 1e-3);
  EXPECT_EQ(entries[0].best.provenance, "in use");
  EXPECT_TRUE(entries[0].best.baseline.wins);
}

}  // namespace
}  // namespace autotune
