// SPDX-License-Identifier: Apache-2.0
// What a device is asked to run: sources, buffers, launches. Plain values; a worker process
// receives copies of them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "tuner/core/element_type.hpp"

namespace autotune {

/// One translation unit as a compiler gets it: `prelude` (#defines), then `text`.
struct SourceUnit {
  std::string name;  // shown in compiler messages: `gemm.cu`
  std::string prelude;
  std::string text;
  std::vector<std::filesystem::path> include_folders;
  std::vector<std::string> options;  // the manifest's own, after the device's
  std::vector<std::string> entries;  // extern "C" kernels that must be there
};

struct Dim3 {
  std::int64_t x = 1, y = 1, z = 1;
  std::int64_t count() const { return x * y * z; }
  friend bool operator==(const Dim3&, const Dim3&) = default;
};

/// What a buffer is to the kernel. Outputs are poisoned with NaN (integers: a pattern) before every
/// verifying run; an inout is restored to its fill; workspace is never compared.
enum class Role : std::uint8_t { input, output, inout, workspace };

/// How an input set is drawn, always by the same generator from (seed, buffer name, index).
enum class Fill : std::uint8_t { random, zero, iota, one };

/// An array in device memory; elements are contiguous.
struct BufferSpec {
  std::string name;
  ElementType type = ElementType::f32;
  std::int64_t length = 0;  // elements
  Role role = Role::input;
  Fill fill = Fill::random;
  /// Outputs: an element is right when |c - r| <= tolerance * u * magnitude, where u is the type's
  /// unit roundoff, r the reference and `magnitude` the reference run on absolute inputs. 0 =
  /// exact.
  double tolerance = 0;
  std::filesystem::path file = {};  // when given, holds the elements in place of `fill`

  std::int64_t bytes() const { return length * bytes_of(type); }
  friend bool operator==(const BufferSpec&, const BufferSpec&) = default;
};

/// A scalar passed by value; `integer` for i32 and i64, `real` for f32 and f64.
struct Scalar {
  ElementType type = ElementType::i32;
  std::int64_t integer = 0;
  double real = 0;
  std::string name = {};  // of a target's own, such as `alpha`; others have none
  friend bool operator==(const Scalar&, const Scalar&) = default;
};

/// Its value in its own type, as it lies in memory.
std::array<std::byte, 8> memory_of(const Scalar& scalar);
double value_of(const Scalar& scalar);
/// The same scalar with another value, converted to its type.
Scalar with_value(Scalar scalar, double value);

/// A pointer to a buffer of the workload, by its index.
struct BufferRef {
  std::uint32_t index = 0;
  friend bool operator==(const BufferRef&, const BufferRef&) = default;
};

/// A TMA descriptor (CUtensorMap) of a buffer, passed by value. Innermost dimension first;
/// `strides` in bytes for dimensions 1 and up; `swizzle_bytes` 0, 32, 64 or 128.
struct TensorMap {
  std::uint32_t buffer = 0;
  std::vector<std::int64_t> dims, strides, box;
  int swizzle_bytes = 0;
  friend bool operator==(const TensorMap&, const TensorMap&) = default;
};

using Argument = std::variant<BufferRef, Scalar, TensorMap>;

struct Launch {
  std::string entry;
  Dim3 grid, block, cluster;
  std::int64_t dynamic_shared_bytes = 0;
  std::vector<Argument> arguments;
  /// Its blocks may start before the kernel ahead of it in the stream has ended; it waits for that
  /// itself (programmatic dependent launch).
  bool starts_early = false;
  friend bool operator==(const Launch&, const Launch&) = default;
};

/// A buffer that every call first copies into the source's `__constant__` variable `symbol`.
struct ConstantCopy {
  std::uint32_t buffer = 0;
  std::string symbol;
  bool optional = false;  // nothing is copied where the source has no such variable
  friend bool operator==(const ConstantCopy&, const ConstantCopy&) = default;
};

/// One configuration on one problem: workspace it needs beyond the workload's buffers (numbered
/// on after them), copies into constant memory, then its launches, in order on one stream.
struct LaunchPlan {
  std::vector<BufferSpec> workspace;
  std::vector<Launch> launches;
  std::vector<ConstantCopy> constants = {};
  friend bool operator==(const LaunchPlan&, const LaunchPlan&) = default;
};

/// How a batch is launched when it is timed: as one CUDA graph, or call by call on a stream.
enum class LaunchForm : std::uint8_t { graph, stream };

/// The buffers of a problem and how the right answer is made. Where `float64_outputs`, the
/// reference kernel writes outputs as double in place of f32.
struct Workload {
  std::string problem;  // canonical text, for messages
  std::vector<BufferSpec> buffers;
  std::vector<Scalar> scalars = {};  // the target's own, by name
  SourceUnit reference_source;
  /// What a compiler made of it, for a device that is to compile nothing itself.
  std::shared_ptr<const std::string> reference_binary = nullptr;
  LaunchPlan reference;
  std::filesystem::path expected_file;  // when given, holds the outputs; nothing is launched
  bool float64_outputs = true;
  std::uint64_t seed = 1;
  LaunchForm form = LaunchForm::graph;
};

}  // namespace autotune
