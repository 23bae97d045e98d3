// SPDX-License-Identifier: Apache-2.0
// Texture objects on the host device.
#include <gmock/gmock.h>

#include "tests/support/texture_case.hpp"
#include "tests/tuner/host/kernel_case.hpp"

namespace autotune {
namespace {

void expect_right(Device& device, const Texture& texture) {
  const Verdict verdict = testing::texture_verdict(device, texture);
  EXPECT_EQ(verdict.outcome, Outcome::ok)
      << verdict.message << "; filter " << int(texture.filter) << ", address "
      << int(texture.address) << ", normalized " << texture.normalized;
}

TEST(TexturesOnHost, AreReadAsDeclared) {
  using enum TextureAddress;
  const auto host = make_host_device(test_cache());
  Device& device = *host;
  for (const TextureFilter filter : {TextureFilter::point, TextureFilter::linear}) {
    for (const TextureAddress address : {clamp, border}) {
      expect_right(device, {0, {}, 1, filter, address, false});
    }
  }
  for (const TextureAddress address : {clamp, border, wrap, mirror}) {
    expect_right(device, {0, {}, 1, TextureFilter::linear, address, true});
  }
}

TEST(TexturesOnHost, OfOneDimensionAreFetchedAndZeroBehindTheirEnd) {
  const Verdict verdict = testing::fetch_verdict(*make_host_device(test_cache()));
  EXPECT_EQ(verdict.outcome, Outcome::ok) << verdict.message;
}

}  // namespace
}  // namespace autotune
