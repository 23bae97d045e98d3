// SPDX-License-Identifier: Apache-2.0
// The header for C++, as a program in C++11 uses it: that this compiles is the test.
#include "tuner/runtime/autotune.hpp"

int use_all_of_it() {
  autotune_runtime::Lookup gemm("gemm", "dtype=f32");
  const autotune_answer answer = gemm.find({512, 512, 512});
  gemm.pin({512, 512, 512}, answer.configuration);
  gemm.refresh();
  autotune_runtime::Kernel kernel = gemm.prepare({512, 512, 512});
  std::string text = gemm.explain({512, 512, 512}) + gemm.device() + gemm.warnings();
  kernel.launch({nullptr, nullptr, nullptr, nullptr}, nullptr);
  kernel.launch({nullptr, nullptr, nullptr, nullptr}, {1.0, 0.0}, nullptr);
  return kernel.engine(&text) == AUTOTUNE_TUNED_KERNEL ? static_cast<int>(kernel.launches()) : 1;
}
