// SPDX-License-Identifier: Apache-2.0
// The types of exported headers, and find(). They are the same in all headers.
#include "tuner/cli/embedded_header.hpp"

namespace autotune::cli {

const std::string_view kEmbeddedRows =
    R"header(#ifndef AUTOTUNE_EMBEDDED
#define AUTOTUNE_EMBEDDED
namespace autotune_embedded {

/// A view of constant elements.
template <class T>
struct Array {
  const T* data = nullptr;
  std::size_t size = 0;

  constexpr Array() = default;
  template <std::size_t N>
  constexpr Array(const T (&elements)[N]) : data(elements), size(N) {}
  constexpr const T* begin() const { return data; }
  constexpr const T* end() const { return data + size; }
  constexpr const T& operator[](std::size_t i) const { return data[i]; }
};

enum class Type : unsigned char { f32, f64, i32, i64, f16, bf16, i8, u8, i16, u16, u32, u64 };
enum class Kind : unsigned char { buffer, scalar, value, tensor_map, record };

/// Device memory that the program passes.
struct Buffer {
  const char* name;
  std::uint64_t bytes;
};
/// Device memory that Kernel allocates and fills with this byte.
struct Workspace {
  std::uint64_t bytes;
  unsigned char fill;
};
/// A value that the program may pass, such as alpha; `value` is the one it was tuned
/// with.
struct Scalar {
  const char* name;
  Type type;
  double value;
};
/// A TMA descriptor. `buffer` counts the buffers, then the workspace.
struct TensorMap {
  std::uint32_t buffer;
  Type type;
  std::uint32_t rank;
  cuuint64_t dims[5], strides[5];
  cuuint32_t box[5];
  int swizzle_bytes;
  bool tf32;  // f32 is rounded so in shared memory
};
/// A `__constant__` variable that gets the content of a buffer before the launches.
struct Constant {
  const char* symbol;
  std::uint32_t buffer;
  bool optional;
};
/// `index` counts buffers and workspace, scalars, or tensor maps; `bits` are a value's
/// own. A record is a struct of `bits` bytes; the next `index` elements are its fields, in
/// order, each a scalar or value with an `offset` in it.
struct Argument {
  Kind kind;
  std::uint32_t index;
  std::uint64_t bits;
  std::uint32_t offset;
};
/// One kernel launch. `entry` is the kernel's name in the cubin.
struct Launch {
  const char* entry;
  unsigned grid[3], block[3], cluster[3];
  unsigned dynamic_shared_bytes;
  bool cooperative;  // all blocks must be resident at once
  Array<Argument> arguments;
};

/// One tuned problem on one GPU.
struct Row {
  const char* device;  // as cuDeviceGetName() has it
  int compute_capability;
  int multiprocessors;
  Array<std::int64_t> sizes;
  const char* configuration;
  double median_ns;     // 0: not timed
  const char* library;  // the vendor's, if it was faster; else empty
  double library_ns;
  Array<unsigned char> cubin;
  Array<Buffer> buffers;  // in the order of Kernel::launch()
  Array<Workspace> workspace;
  Array<Scalar> scalars;
  Array<TensorMap> maps;
  Array<Constant> constants;
  Array<Launch> launches;  // in order, on one stream
};

struct Gpu {
  std::string name;
  int compute_capability = 0;  // 90 for sm_90
  int multiprocessors = 0;
};

inline CUresult describe(CUdevice device, Gpu& gpu) {
  char name[256] = "";
  int major = 0, minor = 0;
  CUresult result = cuDeviceGetName(name, sizeof name, device);
  const auto get = [&](int& value, CUdevice_attribute attribute) {
    if (result == CUDA_SUCCESS) result = cuDeviceGetAttribute(&value, attribute, device);
  };
  get(major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  get(minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  get(gpu.multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  gpu.name = name;
  gpu.compute_capability = major * 10 + minor;
  return result;
}

inline const Row* find(Array<Row> rows, const Gpu& gpu, const std::int64_t* sizes,
                       std::size_t count) {
  const Row* alike = nullptr;
  for (const Row& row : rows) {
    if (row.compute_capability != gpu.compute_capability || row.sizes.size != count ||
        std::memcmp(row.sizes.data, sizes, count * sizeof *sizes) != 0) {
      continue;
    }
    if (gpu.name == row.device && row.multiprocessors == gpu.multiprocessors) return &row;
    if (alike == nullptr) alike = &row;
  }
  return alike;
}
)header";

}  // namespace autotune::cli
