// SPDX-License-Identifier: Apache-2.0
// Fixtures of the C API's tests: a tuned database, and options that open it.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tests/db/sample.hpp"
#include "tuner/runtime/autotune.h"
#include "tuner/target/catalog.hpp"

namespace autotune {

/// gemm of the source tree, tuned at 512 for a GPU that is not here.
class CApiCase : public testing::Test {
 protected:
  CApiCase() {
    setenv("AUTOTUNE_KERNEL_PATH", AUTOTUNE_SOURCE_DIR "/kernel_sources", 1);
    setenv("AUTOTUNE_CACHE", (folder_ / "cache").c_str(), 1);
    database_ = (folder_ / "t.db").string();
    db::TunedStore store(database_);
    db::Sample sample(store);
    sample.key.kernel = store.add_kernel({"", "gemm", "f1", "M N K batch"});
    sample.key.problem =
        "M=512 N=512 K=512 batch=1 dtype=f32 layout=NN scale=none pad=0 epilogue=none";
    store.add_decision(sample.decision("BM=1", 10000));
    options_.size = sizeof options_;
    options_.target = "gemm";
    options_.user_database = database_.c_str();
    options_.shipped_database = "";
  }
  ~CApiCase() override { close(); }

  /// What was open is closed, with its kernels.
  void open() {
    close();
    ASSERT_EQ(autotune_open(&options_, &handle_), AUTOTUNE_OK) << autotune_message();
  }
  autotune_answer lookup(std::span<const int64_t> sizes) {
    autotune_answer answer{};
    answer.size = sizeof answer;
    EXPECT_EQ(autotune_lookup(handle_, sizes.data(), sizes.size(), &answer), AUTOTUNE_OK)
        << autotune_message();
    return answer;
  }
  autotune_kernel* prepare(std::span<const int64_t> sizes) {
    autotune_kernel*& kernel = kernels_.emplace_back();
    EXPECT_EQ(autotune_prepare(handle_, sizes.data(), sizes.size(), &kernel), AUTOTUNE_OK)
        << autotune_message();
    return kernel;
  }
  static void launch(autotune_kernel* kernel, std::span<void* const> buffers) {
    EXPECT_EQ(autotune_launch(kernel, buffers.data(), buffers.size(), nullptr), AUTOTUNE_OK)
        << autotune_message();
  }
  void close() {
    for (autotune_kernel* const kernel : std::exchange(kernels_, {})) autotune_release(kernel);
    autotune_close(std::exchange(handle_, nullptr));
  }

  db::TemporaryFolder folder_;
  std::string database_;
  autotune_options options_{};
  autotune_handle* handle_ = nullptr;
  const int64_t sizes_[3] = {512, 512, 512};

 private:
  std::vector<autotune_kernel*> kernels_;
};

/// A configuration of the sources as they are, tuned where cuBLAS was faster.
class CApiLostCase : public CApiCase {
 protected:
  CApiLostCase() {
    const Target target = find_target("gemm");
    db::TunedStore store(database_);
    db::Sample sample(store);
    sample.key.kernel = store.add_kernel({"", "gemm", target.fingerprint, "M N K batch"});
    const NamedValues sizes = {{"M", 512}, {"N", 512}, {"K", 512}};
    sample.key.problem = problem_of(target, sizes, {{"scale", "beta"}}).text();
    configuration_ = to_text(target.default_configuration);
    store.add_decision(sample.lost_decision(configuration_, 10000));
    options_.device = "NVIDIA H200";
    options_.settings = "scale=beta";
  }
  std::string configuration_;
};

}  // namespace autotune
