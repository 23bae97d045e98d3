// SPDX-License-Identifier: Apache-2.0
// Each header of a kernel compiles by itself with NVRTC, but for those that imitate a GPU.
// tests/kernel_sources/headers_test.cpp compiles them for the host.
#include <gtest/gtest.h>

#include "tests/support/kernel_headers.hpp"
#include "tuner/gpu/nvrtc.hpp"

namespace autotune {
namespace {

TEST(KernelHeaders, CompileByThemselves) {
  for (const auto& header : kernel_headers()) {
    if (header.parent_path() == "device/on_host") continue;
    const SourceUnit unit = unit_of_header(header);
    for (const int capability : {75, 90}) {
      SCOPED_TRACE(header.string() + " for " + std::to_string(capability));
      const Build build = compile_with_nvrtc(nvrtc_task(unit, capability));
      EXPECT_TRUE(build.binary) << build.log;
      EXPECT_EQ(build.log.find("warning"), std::string::npos) << build.log;
    }
  }
}

}  // namespace
}  // namespace autotune
