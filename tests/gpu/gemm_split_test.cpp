// SPDX-License-Identifier: Apache-2.0
// gemm on tensor cores keeps the contract of f32: whatever the operands hold, its result is what a
// plain f32 kernel gives, or nearer to the exact one.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <random>

#include "tests/gpu/gpu_fixture.hpp"
#include "tests/support/source_folder.hpp"
#include "tuner/core/target.hpp"
#include "tuner/gpu/cuda_handles.hpp"
#include "tuner/gpu/kernel_launch.hpp"
#include "tuner/gpu/on_device.hpp"
#include "tuner/target/manifest.hpp"

namespace autotune {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kLargest = std::numeric_limits<float>::max();

struct Shape {
  std::int64_t m, n, k;
};

/// Row-major, A m x k and B k x n.
struct Operands {
  Shape shape;
  std::vector<float> a, b;

  float& a_at(std::int64_t m, std::int64_t k) {
    return a[static_cast<std::size_t>(m * shape.k + k)];
  }
  float& b_at(std::int64_t k, std::int64_t n) {
    return b[static_cast<std::size_t>(k * shape.n + n)];
  }
};

std::vector<float> uniform(std::int64_t count, float least, std::mt19937& random) {
  std::uniform_real_distribution<float> value(least, 1);
  std::vector<float> all(static_cast<std::size_t>(count));
  for (float& each : all) each = value(random);
  return all;
}

Operands operands_of(const Shape& shape, float least = -1) {
  std::mt19937 random(7);
  Operands operands{shape, uniform(shape.m * shape.k, least, random), {}};
  operands.b = uniform(shape.k * shape.n, least, random);
  return operands;
}

std::vector<double> exact_product(const Operands& operands) {
  const auto [m_size, n_size, k_size] = operands.shape;
  std::vector<double> product(static_cast<std::size_t>(m_size * n_size));
  for (std::int64_t m = 0; m < m_size; ++m) {
    double* const row = product.data() + m * n_size;
    for (std::int64_t k = 0; k < k_size; ++k) {
      const double a = operands.a[static_cast<std::size_t>(m * k_size + k)];
      const float* const b = operands.b.data() + k * n_size;
      for (std::int64_t n = 0; n < n_size; ++n) row[n] += a * b[n];
    }
  }
  return product;
}

/// A kernel with memory for one problem.
class Product {
 public:
  Product(Device& device, const Target& target, const Shape& shape, const Configuration& chosen)
      : shape_(shape),
        problem_(problem_of(target, {{"M", shape.m}, {"N", shape.n}, {"K", shape.k}}, {})),
        plan_(launch_plan(target, problem_, chosen, device.info())),
        kernel_(device.compile(source_unit(target, problem_, chosen, device.info()))) {
    if (kernel_.outcome != Outcome::ok) throw KernelFailure(kernel_.outcome, kernel_.log);
    cubin_ = std::make_unique<LoadedCubin>(*kernel_.binary);
    std::vector<BufferSpec> specs = workload_of(target, problem_, device.info()).buffers;
    specs.insert(specs.end(), plan_.workspace.begin(), plan_.workspace.end());
    std::vector<std::byte*> addresses;
    for (const BufferSpec& spec : specs) {
      buffers_.emplace_back(spec.bytes());
      addresses.push_back(buffers_.back().get());
      check_cuda(cudaMemset(addresses.back(), 0, spec.bytes()), "set");  // counters begin at 0
      if (spec.role == Role::output) output_ = buffers_.size() - 1;
    }
    bound_ = std::make_unique<BoundPlan>(*cubin_, plan_, addresses, specs);
  }

  std::vector<float> of(const Operands& operands) {
    copy(buffers_[0].get(), operands.a.data(), operands.a.size());
    copy(buffers_[1].get(), operands.b.data(), operands.b.size());
    std::vector<float> result(static_cast<std::size_t>(shape_.m * shape_.n));
    check_cuda(cudaMemset(buffers_[output_].get(), 0xFF, result.size() * sizeof(float)), "set");
    bound_->launch(nullptr, EarlyStart::everywhere);
    copy(result.data(), buffers_[output_].get(), result.size());
    return result;
  }

 private:
  static void copy(void* to, const void* from, std::size_t floats) {
    check_cuda(cudaMemcpy(to, from, floats * sizeof(float), cudaMemcpyDefault), "copy memory");
  }

  Shape shape_;
  Problem problem_;
  LaunchPlan plan_;
  CompiledKernel kernel_;
  std::unique_ptr<LoadedCubin> cubin_;
  std::vector<DeviceMemory> buffers_;
  std::size_t output_ = 0;
  std::unique_ptr<BoundPlan> bound_;
};

/// NaNs and infinities must be those of the exact product, as f32. Returns the relative error of
/// the others in the Frobenius norm.
double error_of(const std::vector<float>& got, const std::vector<double>& exact) {
  double difference = 0, all = 0;
  std::size_t unlike = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const auto rounded = static_cast<float>(exact[i]);
    if (!std::isfinite(rounded)) {
      unlike += !(std::isnan(rounded) ? std::isnan(got[i]) : got[i] == rounded);
      continue;
    }
    unlike += !std::isfinite(got[i]);
    difference += (got[i] - exact[i]) * (got[i] - exact[i]);
    all += exact[i] * exact[i];
  }
  EXPECT_EQ(unlike, 0U);
  return all > 0 ? std::sqrt(difference / all) : std::sqrt(difference);
}

class GemmSplit : public Gpu {
 protected:
  void SetUp() override {
    Gpu::SetUp();
    if (IsSkipped()) return;
    if (device().info().compute_capability != 90) GTEST_SKIP() << "only with wgmma";
    cudaSetDevice(0);
  }

  ParameterSpace space(const std::string& kernel, const Shape& shape) const {
    const Target held = with_fixed(target_, {{"KERNEL", kernel}});
    const Problem problem = problem_of(held, {{"M", shape.m}, {"N", shape.n}, {"K", shape.k}}, {});
    return space_of(held, problem, device().info());
  }
  Product product(const std::string& kernel, const Shape& shape) const {
    const ParameterSpace all = space(kernel, shape);
    return Product(device(), target_, shape, all.at(all.size() / 2));
  }
  /// Those on tensor cores that take the shape; `streamed` wants aligned lines.
  std::vector<std::string> families(const Shape& shape) const {
    std::vector<std::string> names{"split", "streamed"};
    std::erase_if(names, [&](const std::string& name) { return space(name, shape).empty(); });
    return names;
  }

  /// No further from the exact product than a plain kernel.
  void expect_as_good(const Operands& operands) const {
    const std::vector<double> exact = exact_product(operands);
    const double plain = error_of(product("tiled", operands.shape).of(operands), exact);
    for (const std::string& family : families(operands.shape)) {
      SCOPED_TRACE(family);
      EXPECT_LE(error_of(product(family, operands.shape).of(operands), exact), plain);
    }
  }

  Target target_ = load_manifest(source_folder() / "kernel_sources/gemm/gemm.target.toml");
};

constexpr Shape kUneven{150, 100, 520};

struct SpecialCase {
  const char* name;
  std::function<void(Operands&)> change;
  double factor = 1;  // denormal results have fewer bits in either way
};

void scale(std::vector<float>& all, float by) {
  for (float& each : all) each *= by;
}

const SpecialCase kSpecialCases[] = {
    {"uniform", [](Operands&) {}},
    {"infinities", [](Operands& o) { o.a_at(3, 5) = kInfinity, o.a_at(140, 519) = -kInfinity; }},
    {"infinities of B",
     [](Operands& o) { o.b_at(0, 0) = kInfinity, o.b_at(519, 99) = -kInfinity; }},
    {"infinities that cancel",
     [](Operands& o) { o.a_at(3, 5) = kInfinity, o.a_at(3, 6) = -kInfinity; }},
    {"NaN", [](Operands& o) { o.a_at(77, 64) = NAN; }},
    {"denormal A", [](Operands& o) { scale(o.a, 1e-20F), scale(o.a, 1e-20F); }, 1.2},
    {"near the largest",
     [](Operands& o) {
       scale(o.a, kLargest), scale(o.b, 1.F / 2048);
       o.a_at(9, 9) = kLargest, o.a_at(10, 9) = -kLargest;
     }},
    {"large times denormal",
     [](Operands& o) { scale(o.a, kLargest), scale(o.b, 1e-20F), scale(o.b, 1e-20F); }, 1.2},
    {"denormal results", [](Operands& o) { scale(o.a, 1e-30F), scale(o.b, 1e-8F); }, 1.2},
    {"large times small",
     [](Operands& o) { scale(o.a, std::ldexp(1.F, 100)), scale(o.b, std::ldexp(1.F, -100)); }},
    {"a large column times zeros",
     [](Operands& o) {
       for (int m = 0; m < kUneven.m; ++m) o.a_at(m, 0) = std::ldexp(1.F, 40);
       for (int n = 0; n < kUneven.n; ++n) o.b_at(0, n) = 0;
     }},
    {"wide exponents",
     [](Operands& o) {
       for (int k = 0; k < kUneven.k; ++k) {
         const int exponent = k * 13 % 41 - 20;
         for (int m = 0; m < kUneven.m; ++m) o.a_at(m, k) = std::ldexp(o.a_at(m, k), exponent);
         for (int n = 0; n < kUneven.n; ++n) o.b_at(k, n) = std::ldexp(o.b_at(k, n), -exponent);
       }
     }},
    {"zeros", [](Operands& o) { scale(o.a, 0); }},
};

TEST_F(GemmSplit, KeepsSpecialValues) {
  Product plain = product("tiled", kUneven);
  for (const std::string& family : families(kUneven)) {
    Product split = product(family, kUneven);
    for (const SpecialCase& each : kSpecialCases) {
      SCOPED_TRACE(family + ": " + each.name);
      Operands operands = operands_of(kUneven);
      each.change(operands);
      const std::vector<double> exact = exact_product(operands);
      const double allowed = each.factor * error_of(plain.of(operands), exact);
      const double error = error_of(split.of(operands), exact);
      figure(format("gemm, {}, {}: relative error", family, each.name), format("{:.2g}", error),
             format("{:.2g} of a plain kernel", allowed));
      EXPECT_LE(error, allowed);
    }
  }
}

/// What one call could not split is forgotten in the next one.
TEST_F(GemmSplit, CallsDoNotDisturbEachOther) {
  const Operands plain = operands_of(kUneven);
  Operands special = plain;
  special.a_at(3, 5) = kInfinity;
  for (const std::string& family : families(kUneven)) {
    SCOPED_TRACE(family);
    Product split = product(family, kUneven);
    const std::vector<float> before = split.of(plain);
    split.of(special);
    EXPECT_EQ(split.of(plain), before);
  }
}

/// The least time of a call, of nine batches in a stream.
double seconds_of(const std::function<void(cudaStream_t)>& call) {
  constexpr int kCalls = 20;
  const Stream stream = make_stream();
  cudaEvent_t start, stop;
  check_cuda(cudaEventCreate(&start), "create an event");
  check_cuda(cudaEventCreate(&stop), "create an event");
  float least = std::numeric_limits<float>::infinity();
  for (int batch = 0; batch < 10; ++batch) {  // the first one warms up
    check_cuda(cudaEventRecord(start, stream.get()), "record an event");
    for (int i = 0; i < kCalls; ++i) call(stream.get());
    check_cuda(cudaEventRecord(stop, stream.get()), "record an event");
    check_cuda(cudaEventSynchronize(stop), "wait for an event");
    float ms = 0;
    check_cuda(cudaEventElapsedTime(&ms, start, stop), "read events");
    if (batch > 0) least = std::min(least, ms);
  }
  cudaEventDestroy(start);
  cudaEventDestroy(stop);
  return least * 1e-3 / kCalls;
}

TEST_F(GemmSplit, AConstantBIsSplitOnce) {
  const Target held = with_fixed(target_, {{"KERNEL", std::string("split")},
                                           {"BN", std::int64_t{128}},
                                           {"BM", std::int64_t{128}},
                                           {"K_GROUPS", std::int64_t{1}},
                                           {"A_SOURCE", std::string("shared")}});
  for (const std::int64_t n : {1024, 2048, 4096, 8192}) {
    const Problem problem = problem_of(held, {{"M", n}, {"N", n}, {"K", n}}, {});
    const Configuration configuration = space_of(held, problem, device().info()).at(0);
    const CompiledKernel compiled =
        device().compile(source_unit(held, problem, configuration, device().info()));
    ASSERT_EQ(compiled.outcome, Outcome::ok) << compiled.log;
    PreparedKernel kernel(0, *compiled.binary,
                          launch_plan(held, problem, configuration, device().info()),
                          workload_of(held, problem, device().info()).buffers);
    const std::size_t bytes = static_cast<std::size_t>(n * n) * sizeof(float);
    std::vector<DeviceMemory> memory;
    for (int i = 0; i < 4; ++i) memory.emplace_back(static_cast<std::int64_t>(bytes));
    std::mt19937 random(11);
    const std::vector<float> values = uniform(n * n, -1, random);
    for (std::size_t i = 0; i < 2; ++i)
      check_cuda(cudaMemcpy(memory[i].get(), values.data(), bytes, cudaMemcpyDefault), "copy");
    void* const addresses[] = {memory[0].get(), memory[1].get(), memory[2].get(), memory[3].get()};
    const auto result = [&] {
      std::vector<float> all(values.size());
      check_cuda(cudaMemcpy(all.data(), memory[3].get(), bytes, cudaMemcpyDefault), "copy");
      return all;
    };
    const auto launch_whole = [&](cudaStream_t stream) { kernel.launch(addresses, {}, stream); };
    const auto launch_rest = [&](cudaStream_t stream) {
      kernel.launch(addresses, {}, stream, "B");
    };
    double whole = seconds_of(launch_whole);
    const std::vector<float> expected = result();
    check_cuda(cudaMemset(memory[3].get(), 0xFF, bytes), "set");
    double rest = seconds_of(launch_rest);
    EXPECT_EQ(result(), expected);
    whole = seconds_of(launch_whole);  // the first large one runs before the power limit is reached
    figure(format("gemm, {}: speedup by a constant B", n), format("{:.3f}", whole / rest), "1.05");
    EXPECT_LT(rest, whole);
  }
}

TEST_F(GemmSplit, IsAsGoodOnPositiveData) { expect_as_good(operands_of({150, 100, 4096}, 0)); }

TEST_F(GemmSplit, IsAsGoodOverWideExponents) {
  Operands operands = operands_of({150, 100, 1024});
  std::mt19937 random(3);
  std::uniform_int_distribution<int> exponent(-20, 20);
  for (float& each : operands.a) each = std::ldexp(each, exponent(random));
  for (float& each : operands.b) each = std::ldexp(each, exponent(random));
  expect_as_good(operands);
}

TEST_F(GemmSplit, IsAsGoodForAnyDepth) {
  for (const std::int64_t k : {64, 65, 1000, 65536}) {
    SCOPED_TRACE(k);
    expect_as_good(operands_of({70, 40, k}));
    expect_as_good(operands_of({70, 40, k}, 0));
  }
}

}  // namespace
}  // namespace autotune
