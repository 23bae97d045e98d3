// SPDX-License-Identifier: Apache-2.0
// Fixtures of the C API's tests: a tuned database, and options that open it.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

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

  db::TemporaryFolder folder_;
  std::string database_;
  autotune_options options_{};
  autotune_handle* handle_ = nullptr;
  const int64_t sizes_[3] = {512, 512, 512};
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
