// SPDX-License-Identifier: Apache-2.0
// Texture objects on a GPU.
#include <gmock/gmock.h>

#include "tests/gpu/gpu_fixture.hpp"
#include "tests/support/texture_case.hpp"

namespace autotune {
namespace {

class TexturesOnGpu : public Gpu {};

void expect_right(Device& device, const Texture& texture) {
  const Verdict verdict = testing::texture_verdict(device, texture);
  EXPECT_EQ(verdict.outcome, Outcome::ok)
      << verdict.message << "; filter " << int(texture.filter) << ", address "
      << int(texture.address) << ", normalized " << texture.normalized;
}

TEST_F(TexturesOnGpu, AreReadAsDeclared) {
  using enum TextureAddress;
  Device& gpu = device();
  for (const TextureFilter filter : {TextureFilter::point, TextureFilter::linear}) {
    for (const TextureAddress address : {clamp, border}) {
      expect_right(gpu, {0, {}, 1, filter, address, false});
    }
  }
  for (const TextureAddress address : {clamp, border, wrap, mirror}) {
    expect_right(gpu, {0, {}, 1, TextureFilter::linear, address, true});
  }
}

TEST_F(TexturesOnGpu, OfOneDimensionAreFetchedAndZeroBehindTheirEnd) {
  const Verdict verdict = testing::fetch_verdict(device());
  EXPECT_EQ(verdict.outcome, Outcome::ok) << verdict.message;
}

}  // namespace
}  // namespace autotune
