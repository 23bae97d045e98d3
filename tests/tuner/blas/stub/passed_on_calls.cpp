// SPDX-License-Identifier: Apache-2.0
#include "tests/tuner/blas/stub/passed_on_calls.hpp"

#include <dlfcn.h>

#include <array>
#include <cstdint>

#include "tests/tuner/blas/stub/stub_cublas.hpp"

int invalid_calls() {
  alignas(16) static std::array<float, 256> a{}, b{}, c{}, d{};
  const float one = 1, zero = 0;
  stub::HandleState handle;
  stub::Operation operation;
  stub::stub_multiply(false);
  std::uint64_t calls = 0;
  const auto lt = [&](void* with, const float* scale, stub::Layout la, stub::Layout lb,
                      stub::Layout lc, stub::Layout ld, const float* from, float* to) {
    ++calls;
    cublasLtMatmul(with, &operation, &one, from, &la, b.data(), &lb, scale, c.data(), &lc, to, &ld,
                   nullptr, nullptr, 0, nullptr);
  };
  const stub::Layout eight{0, 0, 1, 8, 8, 8, 0}, four{0, 0, 1, 4, 4, 8, 0},
      four_rows{0, 0, 1, 4, 8, 8, 0}, wide{0, 0, 1, 8, 8, 12, 0};
  lt(&handle, &zero, eight, four, eight, eight, a.data(), d.data());
  lt(&handle, &zero, four_rows, eight, eight, eight, a.data(), d.data());
  lt(&handle, &one, eight, eight, four, eight, a.data(), d.data());
  lt(&handle, &one, eight, eight, wide, eight, a.data(), c.data());  // C is D
  lt(nullptr, &zero, eight, eight, eight, eight, a.data(), d.data());
  lt(&handle, &zero, eight, eight, eight, eight, nullptr, d.data());
  lt(&handle, &zero, eight, eight, eight, eight, a.data(), nullptr);
  const auto sgemm = [&](int op_a, int n, int ldb, int ldc, const float* from) {
    ++calls;
    cublasSgemm_v2(&handle, op_a, 0, 8, n, 8, &one, from, 8, b.data(), ldb, &zero, d.data(), ldc);
  };
  sgemm(0, 1, 0, 8, a.data());
  sgemm(0, 1, 8, -5, a.data());
  sgemm(256, 8, 8, 8, a.data());
  sgemm(3, 8, 8, 8, a.data());
  sgemm(0, 8, 8, 8, nullptr);
  for (const int algorithm : {-2, 24, 116}) {
    ++calls;
    cublasGemmEx(&handle, 0, 0, 8, 8, 8, &one, a.data(), 0, 8, b.data(), 0, 8, &zero, d.data(), 0,
                 8, 68, algorithm);
  }
  return static_cast<int>(calls - stub::stub_calls());
}

int calls_with_settings() {
  alignas(16) static std::array<float, 64> a{}, b{}, d{};
  const float one = 1, zero = 0;
  float amax = 0;
  stub::StreamState stream;
  stub::HandleState handle{&stream, 0, 0}, fewer_sms{&stream, 0, 0, 16};
  stub::stub_multiply(false);
  const auto call = [&](stub::Operation operation, stub::Layout layout,
                        const stub::Algorithm* algorithm = nullptr, std::size_t workspace = 0) {
    cublasLtMatmul(&handle, &operation, &one, a.data(), &layout, b.data(), &layout, &zero, d.data(),
                   &layout, d.data(), &layout, algorithm, a.data(), workspace, handle.stream);
  };
  const stub::Operation plain;
  const stub::Layout layout{0, 0, 1, 8, 8, 8, 0};
  const stub::Algorithm known{1, 64}, unknown{2, 0};
  call(plain, layout);
  call(plain, layout, &known, 64);
  const auto served = static_cast<int>(2 - stub::stub_calls());
  std::uint64_t calls = 0;
  const auto with = [&](auto member, auto value) {
    stub::Operation operation = plain;
    operation.*member = value;
    ++calls, call(operation, layout);
  };
  const auto with_layout = [&](auto member, auto value) {
    stub::Layout changed = layout;
    changed.*member = value;
    ++calls, call(plain, changed);
  };
  with(&stub::Operation::sm_count_target, 16);
  with(&stub::Operation::a_scale, &one);
  with(&stub::Operation::amax_d, &amax);
  with(&stub::Operation::newest, 1);
  with_layout(&stub::Layout::plane_offset, 64);
  with_layout(&stub::Layout::batch_mode, 1);
  with_layout(&stub::Layout::batch_mode, 2);
  with_layout(&stub::Layout::newest, 1);
  ++calls, call(plain, layout, &known, 63);
  ++calls, call(plain, layout, &unknown);
  ++calls;
  cublasSgemm_v2(&fewer_sms, 0, 0, 8, 8, 8, &one, a.data(), 8, b.data(), 8, &zero, d.data(), 8);
  return served == 2 ? static_cast<int>(calls - stub::stub_calls()) : -1;
}

int calls_of_pointers() {
  alignas(16) static std::array<float, 64> a{};
  const std::array<const float*, 5> in{a.data(), a.data(), a.data(), a.data(), a.data()};
  const std::array<const void*, 5> in_any{a.data(), a.data(), a.data(), a.data(), a.data()};
  const std::array<float*, 5> out{a.data(), a.data(), a.data(), a.data(), a.data()};
  const std::array<void*, 5> out_any{a.data(), a.data(), a.data(), a.data(), a.data()};
  const std::array<float, 2> ones{1, 1}, zeros{};
  stub::HandleState handle;
  const std::array<int, 2> plain{}, sizes{3, 2}, eights{8, 8};
  const std::array<std::int64_t, 2> long_sizes{3, 2}, long_eights{8, 8};
  const int* const s = eights.data();
  const std::int64_t* const l = long_eights.data();
  cublasSgemmBatched(&handle, 0, 0, 8, 8, 8, ones.data(), in.data(), 8, in.data(), 8, zeros.data(),
                     out.data(), 8, 5);
  cublasSgemmBatched_64(&handle, 0, 0, 8, 8, 8, ones.data(), in.data(), 8, in.data(), 8,
                        zeros.data(), out.data(), 8, 5);
  cublasGemmBatchedEx(&handle, 0, 0, 8, 8, 8, ones.data(), in_any.data(), 14, 8, in_any.data(), 14,
                      8, zeros.data(), out_any.data(), 14, 8, 5, 68, -1);
  cublasGemmBatchedEx_64(&handle, 0, 0, 8, 8, 8, ones.data(), in_any.data(), 14, 8, in_any.data(),
                         14, 8, zeros.data(), out_any.data(), 14, 8, 5, 68, -1);
  cublasSgemmGroupedBatched(&handle, plain.data(), plain.data(), s, s, s, ones.data(), in.data(), s,
                            in.data(), s, zeros.data(), out.data(), s, 2, sizes.data());
  cublasSgemmGroupedBatched_64(&handle, plain.data(), plain.data(), l, l, l, ones.data(), in.data(),
                               l, in.data(), l, zeros.data(), out.data(), l, 2, long_sizes.data());
  cublasGemmGroupedBatchedEx(&handle, plain.data(), plain.data(), s, s, s, ones.data(),
                             in_any.data(), 14, s, in_any.data(), 14, s, zeros.data(),
                             out_any.data(), 14, s, 2, sizes.data(), 68);
  cublasGemmGroupedBatchedEx_64(&handle, plain.data(), plain.data(), l, l, l, ones.data(),
                                in_any.data(), 14, l, in_any.data(), 14, l, zeros.data(),
                                out_any.data(), 14, l, 2, long_sizes.data(), 68);
  return static_cast<int>(8 - stub::stub_calls());
}

int call_of_plugin() {
  void* const plugin = dlopen("libcalling_plugin.so", RTLD_NOW | RTLD_LOCAL);
  auto* const call = reinterpret_cast<int (*)()>(plugin ? dlsym(plugin, "call_product") : nullptr);
  return call ? call() + static_cast<int>(1 - stub::stub_calls()) : 1;
}
