// SPDX-License-Identifier: Apache-2.0
// What a device runs: sources, buffers, launches. Plain values, copied to worker processes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tuner/core/element_type.hpp"

namespace autotune {

/// Structs, laid out as C++ does: each member at the next multiple of its alignment, and the whole
/// padded to a multiple of the largest. Members that are structs, arrays or vectors are flat lists
/// of their own members here: `inner.by`, `w[2]`, `v.x`.
struct Member {
  std::string name;
  ElementType type = ElementType::f32;
  std::int64_t offset = 0;     // bytes from the start of the struct
  std::int64_t alignment = 0;  // bytes; 0: that of its type
  friend bool operator==(const Member&, const Member&) = default;
};

/// Members `first` … `end` - 1, which C++ aligns as one: a struct, or a vector of 2 or 4 elements.
struct MemberGroup {
  std::size_t first = 0, end = 0;
  bool is_vector = false;
  friend bool operator==(const MemberGroup&, const MemberGroup&) = default;
};

/// The same members in their order, with their offsets and alignments.
std::vector<Member> laid_out(std::vector<Member> members,
                             const std::vector<MemberGroup>& groups = {});

/// The size of the struct in bytes, with its padding.
std::int64_t struct_bytes(const std::vector<Member>& members);

/// A program with its arguments, in place of a compiler or a kernel. In the words, `{program}`
/// stands for the file that a build writes, `{calls}` for the number of calls to time, and `{y}`
/// for the file of the buffer y.
struct Command {
  std::vector<std::string> words;
  std::filesystem::path folder = {};  // in which it runs
  /// How it prints the time of a call: `Elapsed: {ms} ms`. kProcessTime: the time that it takes.
  std::string time = {};
  double limit_seconds = 0;  // then it is killed
  friend bool operator==(const Command&, const Command&) = default;
};

inline constexpr std::string_view kProcessTime = "process";

/// As a shell reads it.
std::string shell_text(const Command& command);

/// One translation unit of a compiler: `prelude` (#defines), then `text`. With `build`, `text` has
/// the sources of a program that the command builds, or nothing is built if it has no words.
struct SourceUnit {
  std::string name;  // shown in compiler messages: `gemm.cu`
  std::string prelude;
  std::string text;
  std::vector<std::filesystem::path> include_folders;
  std::vector<std::string> options;  // the manifest's own, after the device's
  std::vector<std::string> entries;  // required kernels: extern "C", or C++ names
  /// The target's inputs and results, which no compiler may read.
  std::vector<std::filesystem::path> data_files = {};
  /// Kernels that may wait for their whole grid: entries, and others that the source has.
  std::vector<std::string> cooperative = {};
  std::optional<Command> build = {};
};

/// An option of the host device: each access to an array of the kernel's own must be inside of it.
inline constexpr std::string_view kCheckedAccesses = "-fsanitize=object-size";

/// Whether `entry` is a C++ name expression (`conv::filter<float>`). Otherwise it is the name of an
/// extern "C" function.
bool is_name_expression(std::string_view entry);

struct Dim3 {
  std::int64_t x = 1, y = 1, z = 1;
  std::int64_t count() const { return x * y * z; }
  friend bool operator==(const Dim3&, const Dim3&) = default;
};

/// A buffer's role. Outputs are poisoned with NaN (integers: a pattern) before every verified run.
/// An inout is restored to its fill. Workspace and unchecked outputs are never compared. Check
/// kernels compute the checked outputs from the unchecked ones.
enum class Role : std::uint8_t { input, output, inout, workspace, unchecked, checked };

/// How an input set is generated from (seed, buffer name, index). `fill_values` holds, for uniform:
/// least, greatest; normal: mean, standard deviation; value: the value; range: first, step;
/// integers: least, greatest. The
/// kernels of Workload::preparation write `prepared` inputs.
enum class Fill : std::uint8_t {
  random,
  zero,
  iota,
  one,
  uniform,
  normal,
  value,
  range,
  prepared,
  integers
};

/// An array in device memory.
struct BufferSpec {
  std::string name;
  ElementType type = ElementType::f32;
  std::int64_t length = 0;  // elements, from the first to the last
  Role role = Role::input;
  Fill fill = Fill::random;
  /// Outputs: an element is right if |c - r| <= tolerance * u * magnitude + absolute. u is the
  /// type's unit roundoff (0 for integers), r the reference, and `magnitude` the reference on
  /// absolute inputs. 0: must be equal.
  double tolerance = 0;
  std::filesystem::path file = {};  // if given, holds the elements; `fill` is not used
  std::int64_t file_offset = 0;     // where they begin in the file, in bytes
  std::vector<double> fill_values = {};
  std::optional<std::uint64_t> seed = {};  // replaces the workload's
  double absolute = 0;                     // see tolerance
  bool repeatable = false;                 // runs on the same inputs must give the same bits
  bool streams = false;  // timed calls find it in memory, not in a cache, even with a hot L2
  /// Members of a struct element. `type` is then the type of the first member.
  std::vector<Member> members = {};
  /// Programs pass addresses that are multiples of this, in bytes. 0: nothing is asked for.
  std::int64_t alignment = 0;
  /// Of a buffer with gaps: the elements of each dimension, the innermost first, and the distance
  /// of neighbours in dimensions 1 and up. Empty: all elements between the first and the last.
  std::vector<std::int64_t> dims = {}, strides = {};
  std::int64_t shift = 0;  // verified this many bytes beyond an address with any alignment

  bool has_gaps() const { return !dims.empty(); }
  /// How many elements there are, without gaps.
  std::int64_t elements() const {
    std::int64_t count = has_gaps() ? 1 : length;
    for (const std::int64_t each : dims) count *= each;
    return count;
  }
  std::int64_t element_bytes() const {
    return members.empty() ? bytes_of(type) : struct_bytes(members);
  }
  std::int64_t bytes() const { return length * element_bytes(); }
  friend bool operator==(const BufferSpec&, const BufferSpec&) = default;
};

/// `f32`, or `{f32 x, i32 id}`.
std::string type_text(const BufferSpec& buffer);
/// Whether its elements, or members of them, have a floating type.
bool has_floating(const BufferSpec& buffer);

/// A scalar passed by value; `real` for floating types, else `integer`.
struct Scalar {
  ElementType type = ElementType::i32;
  std::int64_t integer = 0;
  double real = 0;
  std::string name = {};  // of a named scalar, such as `alpha`; else empty
  friend bool operator==(const Scalar&, const Scalar&) = default;
};

/// The bytes of its value in its own type.
std::array<std::byte, 8> memory_of(const Scalar& scalar);
double value_of(const Scalar& scalar);
/// The same scalar with another value, converted to its type.
Scalar with_value(Scalar scalar, double value);

/// A struct or vector passed by value. Its fields are scalars with names such as `shift.by`.
struct Record {
  struct Field {
    Scalar value;
    std::int64_t offset = 0;  // bytes
    friend bool operator==(const Field&, const Field&) = default;
  };
  std::string name = {};  // of the argument
  std::vector<Field> fields;
  std::int64_t bytes = 0;
  friend bool operator==(const Record&, const Record&) = default;
};

/// Its bytes, with zeros between the fields.
std::vector<std::byte> memory_of(const Record& record);
/// `{f32 by, i32 every}`.
std::string type_text(const Record& record);

/// A pointer to a buffer of the workload, by its index.
struct BufferRef {
  std::uint32_t index = 0;
  friend bool operator==(const BufferRef&, const BufferRef&) = default;
};

/// A TMA descriptor (CUtensorMap) of a buffer, passed by value. Innermost dimension first;
/// `strides` in bytes for dimensions 1 and up; `swizzle_bytes` 0, 32, 64 or 128. `tf32`: elements
/// are f32, and copies to shared memory round them to tf32.
struct TensorMap {
  std::uint32_t buffer = 0;
  std::vector<std::int64_t> dims, strides, box;
  int swizzle_bytes = 0;
  bool tf32 = false;
  friend bool operator==(const TensorMap&, const TensorMap&) = default;
};
/// As CUDA calls them: `CU_TENSOR_MAP_DATA_TYPE_BFLOAT16`, `CU_TENSOR_MAP_SWIZZLE_128B`.
std::string cuda_type_of(const TensorMap& map, ElementType type);
std::string cuda_swizzle_of(const TensorMap& map);

enum class TextureFilter : std::uint8_t { point, linear };
enum class TextureAddress : std::uint8_t { clamp, border, wrap, mirror };

/// A texture object (cudaTextureObject_t) over a buffer. Kernels read one dimension by tex1Dfetch()
/// and two by tex2D(). Innermost dimension first, in texels of `channels` elements.
struct Texture {
  std::uint32_t buffer = 0;
  std::vector<std::int64_t> dims;
  int channels = 1;  // 1, 2 or 4
  // With two dimensions only.
  TextureFilter filter = TextureFilter::point;
  TextureAddress address = TextureAddress::clamp;
  bool normalized = false;  // coordinates from 0 to 1
  friend bool operator==(const Texture&, const Texture&) = default;
};

using Argument = std::variant<BufferRef, Scalar, TensorMap, Texture, Record>;

/// The grid of later calls while the contents of `buffer` do not change. A grid of 0 drops the
/// launch.
struct ConstantGrid {
  std::string buffer;
  Dim3 grid;
  friend bool operator==(const ConstantGrid&, const ConstantGrid&) = default;
};

struct Launch {
  std::string entry;
  Dim3 grid, block, cluster;
  std::int64_t dynamic_shared_bytes = 0;
  std::vector<Argument> arguments;
  /// Programmatic dependent launch: blocks may start before the previous kernel in the stream ends.
  /// The kernel waits for that end itself.
  bool starts_early = false;
  std::vector<ConstantGrid> with_constant = {};
  bool cooperative = false;  // all blocks are resident at once and may wait for each other
  std::optional<Command> command = {};  // runs in place of a kernel, on files of the arguments
  friend bool operator==(const Launch&, const Launch&) = default;
};

/// Threads of a cooperative launch on the host device. Each is a fibre, and all live at once.
inline constexpr std::int64_t kMostHostThreads = 8192;

/// A sentence if a cooperative launch has more blocks than the device holds at once; else empty.
std::string not_resident(const Launch& launch, std::int64_t most_blocks);

/// Calls each(scalar) for every scalar that the launch passes, alone or in a struct.
template <class SomeLaunch, class Each>
void for_each_scalar(SomeLaunch& launch, const Each& each) {
  for (auto& argument : launch.arguments) {
    if (auto* const scalar = std::get_if<Scalar>(&argument)) each(*scalar);
    if (auto* const record = std::get_if<Record>(&argument)) {
      for (auto& field : record->fields) each(field.value);
    }
  }
}

/// When the first kernel of a call may start before the previous kernel in the stream ends.
/// Concerns launches with `starts_early` only. Later kernels of a call may always start early.
enum class EarlyStart : std::uint8_t {
  never,
  captured,   // only in a stream capture, after a kernel that is known to permit it
  everywhere  // also in every stream that is not captured
};

/// Every call first copies the buffer into the source's `__constant__` variable `symbol`.
struct ConstantCopy {
  std::uint32_t buffer = 0;
  std::string symbol;
  bool optional = false;  // no copy if the source has no such variable
  friend bool operator==(const ConstantCopy&, const ConstantCopy&) = default;
};

/// How one configuration computes one problem: copies into constant memory, then launches, in order
/// on one stream. Indices of workspace buffers follow those of the workload's buffers; unchecked
/// outputs come first.
struct LaunchPlan {
  std::vector<BufferSpec> workspace;
  std::vector<Launch> launches;
  std::vector<ConstantCopy> constants = {};
  std::vector<Launch> checks = {};  // check kernels: run after a verified call, never timed
  friend bool operator==(const LaunchPlan&, const LaunchPlan&) = default;
};

/// The plan of later calls while the contents of `buffer` do not change.
LaunchPlan with_constant(LaunchPlan plan, std::string_view buffer);

/// How a timed batch is launched: as one CUDA graph, or call by call on a stream.
enum class LaunchForm : std::uint8_t { graph, stream };

/// The buffers of a problem and its reference. With `float64_outputs`, the reference kernel writes
/// f32 outputs as double.
struct Workload {
  std::string problem;  // canonical text, for messages
  std::vector<BufferSpec> buffers;
  std::vector<Scalar> scalars = {};  // the target's own, by name
  SourceUnit reference_source;       // has the preparation's kernels, too
  /// Computes the prepared inputs from the others. It runs first, once for each input set.
  LaunchPlan preparation = {};
  /// The compiled reference, for a device that compiles nothing itself.
  std::shared_ptr<const std::string> reference_binary = nullptr;
  LaunchPlan reference;
  std::filesystem::path expected_file;  // if given, holds the outputs; no reference is launched
  bool float64_outputs = true;
  std::uint64_t seed = 1;
  LaunchForm form = LaunchForm::graph;
  bool runs_commands = false;  // its launches are commands

  /// Whether reference_source must be compiled.
  bool runs_kernels() const { return expected_file.empty() || !preparation.launches.empty(); }
};

/// Moves unchecked outputs from the plan's workspace to the end of the caller's buffers, and drops
/// the check kernels. The numbers of buffers do not change.
void pass_unchecked(LaunchPlan& plan, std::vector<BufferSpec>& buffers);

}  // namespace autotune
