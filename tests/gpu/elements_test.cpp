// SPDX-License-Identifier: Apache-2.0
// What the GPU fills buffers with and finds of results is, bit by bit, what the host does.
#include <gmock/gmock.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "tests/gpu/gpu_fixture.hpp"
#include "tuner/gpu/device_kernels.hpp"
#include "tuner/measure/inputs.hpp"
#include "tuner/measure/verification.hpp"

namespace autotune {
namespace {

using Bytes = std::vector<std::byte>;

constexpr std::array kTypes{
    ElementType::f32,  ElementType::f64, ElementType::i32,  ElementType::i64, ElementType::f16,
    ElementType::bf16, ElementType::i8,  ElementType::u8,   ElementType::i16, ElementType::u16,
    ElementType::u32,  ElementType::u64, ElementType::e4m3, ElementType::e5m2};
constexpr std::int64_t kLength = 1'000'003;  // no multiple of a block

/// Where one right answer is broken, and how.
enum class Flaw : std::uint8_t { none, next, far, nan, infinite, same_infinity, minus_zero };
constexpr std::array kFlaws{Flaw::none,     Flaw::next,          Flaw::far,       Flaw::nan,
                            Flaw::infinite, Flaw::same_infinity, Flaw::minus_zero};

class Elements : public Gpu {
 protected:
  void SetUp() override {
    Gpu::SetUp();
    if (IsSkipped()) return;
    check_cuda(cudaSetDevice(0), "be used");
    stream_ = make_stream();
    const CubinCompiler compiler(device().info().compute_capability,
                                 std::make_shared<BuildCache>(folder() / "cache"));
    kernels_ = std::make_unique<DeviceKernels>(compiler, device().info().multiprocessors);
  }

  DeviceMemory on_device(const void* from, std::size_t bytes) const {
    DeviceMemory memory(static_cast<std::int64_t>(bytes));
    if (bytes > 0) check_cuda(cudaMemcpy(memory.get(), from, bytes, cudaMemcpyDefault), "copy");
    // A copy from pageable memory may return before it has arrived, and stream_ does not wait.
    check_cuda(cudaDeviceSynchronize(), "copy");
    return memory;
  }
  DeviceMemory on_device(std::span<const std::byte> bytes) const {
    return on_device(bytes.data(), bytes.size());
  }
  template <class T>
  T fetched(const DeviceMemory& memory) const {
    T value;
    check_cuda(cudaStreamSynchronize(stream_.get()), "run");
    check_cuda(cudaMemcpy(&value, memory.get(), sizeof value, cudaMemcpyDefault), "copy");
    return value;
  }

  Bytes filled(ElementType type, const ElementRule& rule) const {
    Bytes bytes(static_cast<std::size_t>(kLength * bytes_of(type)));
    const DeviceMemory memory = on_device(bytes);
    kernels_->fill(stream_.get(), type, rule, memory.get(), kLength);
    check_cuda(cudaStreamSynchronize(stream_.get()), "fill");
    check_cuda(cudaMemcpy(bytes.data(), memory.get(), bytes.size(), cudaMemcpyDefault), "copy");
    return bytes;
  }

  Finding compared(const BufferSpec& buffer, std::span<const std::byte> got,
                   const Expected& right) const {
    const DeviceMemory there = on_device(got), values = on_device(right.values),
                       magnitudes = on_device(right.magnitudes);
    const Finding nothing;
    const DeviceMemory finding = on_device(&nothing, sizeof nothing);
    const auto borrowed = [](const DeviceMemory& memory) {
      return Sealed(std::shared_ptr<void>(), memory.get());
    };
    const SealedAnswer sealed{0, right.type, borrowed(values), borrowed(magnitudes), right.exact};
    kernels_->compare(stream_.get(), buffer, there.get(), sealed, finding.as<Finding>());
    return fetched<Finding>(finding);
  }

  void expect_alike(const BufferSpec& buffer, std::span<const std::byte> got,
                    const Expected& right) const {
    const Finding host = compare_elements(buffer, got, right, 0, buffer.length);
    const Finding gpu = compared(buffer, got, right);
    EXPECT_EQ(gpu.wrong, host.wrong);
    EXPECT_EQ(gpu.first, host.first);
    EXPECT_EQ(std::memcmp(&gpu.worst, &host.worst, sizeof gpu.worst), 0)
        << gpu.worst << " and " << host.worst;
    EXPECT_EQ(gpu.unbounded, host.unbounded);
    EXPECT_EQ(gpu.squares, host.squares);
    EXPECT_EQ(gpu.shares, host.shares);
  }

  Stream stream_;
  std::unique_ptr<DeviceKernels> kernels_;
};

template <class T>
std::span<const std::byte> bytes_of_all(const std::vector<T>& values) {
  return std::as_bytes(std::span(values));
}

TEST_F(Elements, AreFilledAlikeInEveryTypeAndWay) {
  for (const ElementType type : kTypes) {
    for (const Drawing drawing :
         {Drawing::integers, Drawing::uniform, Drawing::zero, Drawing::one, Drawing::iota}) {
      for (const bool absolute : {false, true}) {
        SCOPED_TRACE(format("{} {} {}", name_of(type), static_cast<int>(drawing), absolute));
        const ElementRule rule{drawing, absolute, 0x123456789abcdef};
        Bytes host(static_cast<std::size_t>(kLength * bytes_of(type)));
        fill_elements(host, type, rule);
        EXPECT_TRUE(filled(type, rule) == host);
      }
    }
  }
}

TEST_F(Elements, AreDrawnAlikeFromEveryDistribution) {
  for (const ElementType type : kTypes) {
    for (const ElementRule& rule : {ElementRule{Drawing::between, false, 77, -3, 1000},
                                    ElementRule{Drawing::normal, false, 77, -0.3, 17.7},
                                    ElementRule{Drawing::value, false, 77, 3, 3},
                                    ElementRule{Drawing::range, false, 77, -5, 3}}) {
      SCOPED_TRACE(format("{} {}", name_of(type), static_cast<int>(rule.drawing)));
      Bytes host(static_cast<std::size_t>(kLength * bytes_of(type)));
      fill_elements(host, type, rule);
      EXPECT_TRUE(filled(type, rule) == host);
    }
  }
}

/// Right answers with noise of up to two tolerances, and one flaw.
template <class T, class Right>
void make_results(Flaw flaw, std::vector<T>& got, std::vector<Right>& right) {
  constexpr auto kAt = static_cast<std::size_t>(kLength - 7);
  for (std::size_t i = 0; i < right.size(); ++i) {
    if (i % 3 == 0) right[i] = static_cast<Right>(right[i] * 1.0000001);
    got[i] = static_cast<T>(right[i]);
    if (i % 5 == 0) got[i] = std::nextafter(got[i], T{4});
  }
  constexpr T kInfinite = std::numeric_limits<T>::infinity();
  if (flaw == Flaw::next) got[kAt] = std::nextafter(std::nextafter(got[kAt], T{9}), T{9});
  if (flaw == Flaw::far) got[kAt] += 1;
  if (flaw == Flaw::nan) got[kAt] = std::numeric_limits<T>::quiet_NaN();
  if (flaw == Flaw::infinite) got[kAt] = kInfinite;
  if (flaw == Flaw::same_infinity) got[kAt] = kInfinite, right[kAt] = kInfinite;
  if (flaw == Flaw::minus_zero) got[kAt] = -T{0}, right[kAt] = 0;
}

TEST_F(Elements, OfFloatingTypesAreComparedAlike) {
  const auto check = [&](auto zero, auto right_zero, ElementType type, ElementType right_type) {
    using T = decltype(zero);
    using Right = decltype(right_zero);
    std::vector<T> got(kLength);
    std::vector<Right> right(kLength), magnitudes(kLength);
    fill_elements(std::as_writable_bytes(std::span(magnitudes)), right_type,
                  {Drawing::uniform, false, 77});
    for (const Flaw flaw : kFlaws) {
      for (const double tolerance : {0.0, 1.0, 3.0}) {
        SCOPED_TRACE(format("{} {} flaw {} tolerance {}", name_of(type), name_of(right_type),
                            static_cast<int>(flaw), tolerance));
        fill_elements(std::as_writable_bytes(std::span(right)), right_type,
                      {Drawing::uniform, false, 5});
        make_results(flaw, got, right);
        const BufferSpec buffer{"c", type, kLength, Role::output, Fill::random, tolerance};
        const Expected expected{right_type, bytes_of_all(right)};
        Expected scaled = expected, exact = expected;
        scaled.magnitudes = bytes_of_all(magnitudes);
        exact.exact = true;
        for (const Expected& one : {expected, scaled, exact}) {
          expect_alike(buffer, bytes_of_all(got), one);
        }
      }
    }
  };
  check(float{}, float{}, ElementType::f32, ElementType::f32);
  check(float{}, double{}, ElementType::f32, ElementType::f64);
  check(double{}, double{}, ElementType::f64, ElementType::f64);
}

TEST_F(Elements, OfIntegerTypesAreComparedExactly) {
  const auto check = [&](auto zero, ElementType type) {
    using T = decltype(zero);
    std::vector<T> right(kLength, std::numeric_limits<T>::max() - 5), got = right;
    const BufferSpec buffer{"n", type, kLength, Role::output, Fill::zero, 1e6};
    expect_alike(buffer, bytes_of_all(got), {type, bytes_of_all(right)});
    got[4711] += 1;  // a double does not show it
    got[999999] -= 1;
    expect_alike(buffer, bytes_of_all(got), {type, bytes_of_all(right)});
    EXPECT_EQ(compared(buffer, bytes_of_all(got), {type, bytes_of_all(right)}).wrong, 2u);
  };
  check(std::int32_t{}, ElementType::i32);
  check(std::int64_t{}, ElementType::i64);
  check(std::int16_t{}, ElementType::i16);
  check(std::int8_t{}, ElementType::i8);
  check(std::uint8_t{}, ElementType::u8);
  check(std::uint16_t{}, ElementType::u16);
  check(std::uint32_t{}, ElementType::u32);
  check(std::uint64_t{}, ElementType::u64);
}

TEST_F(Elements, OfSixteenAndEightBitsAreComparedAlike) {
  const auto check = [&](auto zero, ElementType type) {
    using T = decltype(zero);
    std::vector<double> right(kLength);
    fill_elements(std::as_writable_bytes(std::span(right)), ElementType::f64,
                  {Drawing::uniform, false, 5});
    std::vector<T> got(right.begin(), right.end()), rounded = got;
    for (std::size_t i = 0; i < got.size(); i += 5) got[i].bits += i % 3;
    got[4711] = T(std::nan(""));
    for (const double tolerance : {0.0, 1.0, 1000.0}) {
      const BufferSpec buffer{"c", type, kLength, Role::output, Fill::random, tolerance};
      expect_alike(buffer, bytes_of_all(got), {ElementType::f64, bytes_of_all(right)});
      expect_alike(buffer, bytes_of_all(got), {type, bytes_of_all(rounded)});
    }
  };
  check(Float16{}, ElementType::f16);
  check(BFloat16{}, ElementType::bf16);
  check(Float8E4M3{}, ElementType::e4m3);
  check(Float8E5M2{}, ElementType::e5m2);
}

TEST_F(Elements, OfTwoRunsAreComparedBitByBit) {
  for (const ElementType type : kTypes) {
    const BufferSpec buffer{"c", type, kLength, Role::output, Fill::random, 0};
    Bytes one(static_cast<std::size_t>(buffer.bytes())), other;
    fill_elements(one, type, {Drawing::uniform, false, 3});
    other = one;
    other[other.size() - 1] ^= std::byte{1};
    other[other.size() / 2] ^= std::byte{0x80};
    const DeviceMemory here = on_device(one), there = on_device(other);
    const Finding nothing, host = compare_bits(type, one, other, 0, kLength);
    const DeviceMemory finding = on_device(&nothing, sizeof nothing);
    kernels_->compare_bits(stream_.get(), buffer, here.get(), there.get(), finding.as<Finding>());
    const auto gpu = fetched<Finding>(finding);
    EXPECT_EQ(gpu.wrong, 2u) << name_of(type);
    EXPECT_EQ(gpu.first, host.first) << name_of(type);
  }
}

TEST_F(Elements, AreSmallIntegersForBoth) {
  std::vector<float> values(kLength, -8388607.0f);
  const auto others = [&] {
    const DeviceMemory memory = on_device(bytes_of_all(values));
    const std::uint64_t none = 0;
    const DeviceMemory count = on_device(&none, sizeof none);
    kernels_->count_inexact(stream_.get(), ElementType::f32, memory.get(), kLength, 0x1p23,
                            count.as<std::uint64_t>());
    return fetched<std::uint64_t>(count);
  };
  EXPECT_EQ(others(), 0u);
  EXPECT_TRUE(all_small_integers(ElementType::f32, bytes_of_all(values), 0x1p23));
  for (const float other : {8388608.0f, 0.5f, -1e30f, std::nanf(""), INFINITY}) {
    values[123456] = other;
    EXPECT_EQ(others(), 1u) << other;
    EXPECT_FALSE(all_small_integers(ElementType::f32, bytes_of_all(values), 0x1p23)) << other;
  }
}

}  // namespace
}  // namespace autotune
