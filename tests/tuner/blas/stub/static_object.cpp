// SPDX-License-Identifier: Apache-2.0
// A library whose static object is made by the first call, and tells its end. It stands for NVRTC,
// and for any other library.
#include <unistd.h>

#include <string_view>

namespace {

struct Object {
  ~Object() {
    constexpr std::string_view kText = STUB_NAME " is destroyed\n";
    [[maybe_unused]] const auto written = write(STDOUT_FILENO, kText.data(), kText.size());
  }
};

}  // namespace

extern "C" [[gnu::visibility("default")]] int call_product() {
  static const Object object;
  return 0;
}
