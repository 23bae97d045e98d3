// SPDX-License-Identifier: Apache-2.0
// The part that all headers of `autotune db export --embed` share.
#ifndef AUTOTUNE_EMBEDDED
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
  CUtensorMapDataType type;
  std::uint32_t rank;
  cuuint64_t dims[5], strides[5];
  cuuint32_t box[5];
  CUtensorMapSwizzle swizzle;
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

/// A row, loaded into the current context. It must not run twice at a time if it has
/// workspace.
class Kernel {
 public:
  Kernel() = default;
  ~Kernel() { unload(); }
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;

  /// Loads the code, and allocates and fills the workspace.
  CUresult load(const Row& row) {
    unload();
    row_ = &row;
    CUresult result = cuModuleLoadData(&module_, row.cubin.data);
    for (const Launch& launch : row.launches) {
      if (result == CUDA_SUCCESS) result = add_function(launch);
    }
    for (const Workspace& each : row.workspace) {
      if (result == CUDA_SUCCESS) result = add_workspace(each);
    }
    if (result != CUDA_SUCCESS) unload();
    return result;
  }

  void unload() {
    for (CUdeviceptr each : workspace_) cuMemFree(each);
    if (module_ != nullptr) cuModuleUnload(module_);
    workspace_.clear();
    functions_.clear();
    module_ = nullptr;
    row_ = nullptr;
  }

  /// Enqueues the launches. `buffers` has an address for each of Row::buffers. `scalars`
  /// has a value for each of Row::scalars; nullptr: those that it was tuned with.
  CUresult launch(const CUdeviceptr* buffers, CUstream stream,
                  const double* scalars = nullptr) const {
    if (row_ == nullptr) return CUDA_ERROR_NOT_INITIALIZED;
    std::vector<CUdeviceptr> memory(buffers, buffers + row_->buffers.size);
    memory.insert(memory.end(), workspace_.begin(), workspace_.end());
    CUresult result = CUDA_SUCCESS;
    for (const Constant& each : row_->constants) {
      if (result == CUDA_SUCCESS) result = copy(each, memory, stream);
    }
    for (std::size_t i = 0; i < row_->launches.size; ++i) {
      if (result == CUDA_SUCCESS) result = launch_one(i, memory, stream, scalars);
    }
    return result;
  }

 private:
  struct alignas(128) Slot {
    unsigned char bytes[sizeof(CUtensorMap)];
  };

  CUresult add_function(const Launch& launch) {
    CUfunction function = nullptr;
    CUresult result = cuModuleGetFunction(&function, module_, launch.entry);
    const unsigned* const cluster = launch.cluster;
    if (result == CUDA_SUCCESS && launch.dynamic_shared_bytes > 0) {
      result = cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                  static_cast<int>(launch.dynamic_shared_bytes));
    }
    if (result == CUDA_SUCCESS && cluster[0] * cluster[1] * cluster[2] > 8) {
      result = cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1);
    }
    functions_.push_back(function);
    return result;
  }

  CUresult add_workspace(const Workspace& each) {
    CUdeviceptr memory = 0;
    const CUresult result = cuMemAlloc(&memory, each.bytes);
    if (result != CUDA_SUCCESS) return result;
    workspace_.push_back(memory);
    return cuMemsetD8(memory, each.fill, each.bytes);
  }

  CUresult copy(const Constant& each, const std::vector<CUdeviceptr>& memory,
                CUstream stream) const {
    CUdeviceptr variable = 0;
    std::size_t bytes = 0;
    const CUresult found = cuModuleGetGlobal(&variable, &bytes, module_, each.symbol);
    if (found == CUDA_ERROR_NOT_FOUND && each.optional) return CUDA_SUCCESS;
    if (found != CUDA_SUCCESS) return found;
    const std::size_t given = row_->buffers[each.buffer].bytes;
    if (given > bytes) return CUDA_ERROR_INVALID_VALUE;
    return cuMemcpyDtoDAsync(variable, memory[each.buffer], given, stream);
  }

  CUresult launch_one(std::size_t number, const std::vector<CUdeviceptr>& memory, CUstream stream,
                      const double* scalars) const {
    const Launch& launch = row_->launches[number];
    std::vector<std::vector<Slot>> slots;
    std::vector<void*> pointers;
    for (std::size_t i = 0; i < launch.arguments.size; ++i) {
      const Argument& argument = launch.arguments[i];
      const bool is_record = argument.kind == Kind::record;
      // The last field may be shorter than the eight bytes that are stored.
      slots.emplace_back(is_record ? (argument.bits + 8) / sizeof(Slot) + 1 : 1);
      pointers.push_back(slots.back().data());
      const std::size_t fields = is_record ? argument.index : 0;
      CUresult result = is_record ? CUDA_SUCCESS : put(argument, memory, scalars, slots.back()[0]);
      for (std::size_t field = 0; field < fields && result == CUDA_SUCCESS; ++field) {
        const Argument& value = launch.arguments[++i];
        Slot slot{};
        result = put(value, memory, scalars, slot);
        std::memcpy(slots.back()[0].bytes + value.offset, slot.bytes, 8);
      }
      if (result != CUDA_SUCCESS) return result;
    }
    CUlaunchAttribute attributes[2] = {};
    unsigned count = 0;
    if (launch.cluster[0] * launch.cluster[1] * launch.cluster[2] > 1) {
      CUlaunchAttribute& cluster = attributes[count++];
      cluster.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
      cluster.value.clusterDim = {launch.cluster[0], launch.cluster[1], launch.cluster[2]};
    }
    if (launch.cooperative) {
      attributes[count].id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
      attributes[count++].value.cooperative = 1;
    }
    CUlaunchConfig config{};
    config.gridDimX = launch.grid[0];
    config.gridDimY = launch.grid[1];
    config.gridDimZ = launch.grid[2];
    config.blockDimX = launch.block[0];
    config.blockDimY = launch.block[1];
    config.blockDimZ = launch.block[2];
    config.sharedMemBytes = launch.dynamic_shared_bytes;
    config.hStream = stream;
    config.attrs = attributes;
    config.numAttrs = count;
    return cuLaunchKernelEx(&config, functions_[number], pointers.data(), nullptr);
  }

  CUresult put(const Argument& argument, const std::vector<CUdeviceptr>& memory,
               const double* scalars, Slot& slot) const {
    switch (argument.kind) {
      case Kind::buffer:
        store(slot, memory[argument.index]);
        return CUDA_SUCCESS;
      case Kind::tensor_map:
        return encode(row_->maps[argument.index], memory, slot);
      case Kind::scalar:
        if (scalars != nullptr) {
          store_scalar(slot, row_->scalars[argument.index].type, scalars[argument.index]);
          return CUDA_SUCCESS;
        }
        break;
      case Kind::value:
      case Kind::record:
        break;
    }
    store(slot, argument.bits);
    return CUDA_SUCCESS;
  }

  template <class T>
  static void store(Slot& slot, const T& value) {
    static_assert(sizeof value <= sizeof slot.bytes, "an argument is larger than its slot");
    std::memcpy(slot.bytes, &value, sizeof value);
  }

  static void store_scalar(Slot& slot, Type type, double value) {
    switch (type) {
      case Type::f32:
        return store(slot, static_cast<float>(value));
      case Type::f64:
        return store(slot, value);
      case Type::i32:
        return store(slot, static_cast<std::int32_t>(value));
      case Type::i64:
        return store(slot, static_cast<std::int64_t>(value));
      case Type::f16:
        return store(slot, narrow<10>(value));
      case Type::bf16:
        return store(slot, narrow<7>(value));
      case Type::i8:
        return store(slot, static_cast<std::int8_t>(value));
      case Type::u8:
        return store(slot, static_cast<std::uint8_t>(value));
      case Type::i16:
        return store(slot, static_cast<std::int16_t>(value));
      case Type::u16:
        return store(slot, static_cast<std::uint16_t>(value));
      case Type::u32:
        return store(slot, static_cast<std::uint32_t>(value));
      case Type::u64:
        return store(slot, static_cast<std::uint64_t>(value));
    }
  }

  /// The bits of a number with `Fraction` bits of fraction: to nearest, ties to even.
  template <int Fraction>
  static std::uint16_t narrow(double value) {
    constexpr int kLeast = Fraction == 10 ? -24 : -133;  // the smallest is 2^kLeast
    constexpr unsigned kInfinity = 0x8000u - (1u << Fraction);
    int exponent = kLeast;
    if (value != 0) std::frexp(value, &exponent);
    const int step = exponent - 1 - Fraction > kLeast ? exponent - 1 - Fraction : kLeast;
    unsigned bits = kInfinity;
    if (std::isnan(value)) {
      bits = 0x7fff;
    } else if (std::fabs(value) < std::ldexp(1.0, kLeast + Fraction + (1 << (15 - Fraction)))) {
      bits = static_cast<unsigned>(std::nearbyint(std::ldexp(std::fabs(value), -step))) +
             (static_cast<unsigned>(step - kLeast) << Fraction);
    }
    if (!std::isnan(value) && bits > kInfinity) bits = kInfinity;
    return static_cast<std::uint16_t>(bits | (std::signbit(value) ? 0x8000u : 0u));
  }

  static CUresult encode(const TensorMap& map, const std::vector<CUdeviceptr>& memory, Slot& slot) {
    const cuuint32_t steps[5] = {1, 1, 1, 1, 1};
    CUtensorMap encoded;
    const CUresult result = cuTensorMapEncodeTiled(
        &encoded, map.type, map.rank, reinterpret_cast<void*>(memory[map.buffer]), map.dims,
        map.strides, map.box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, map.swizzle,
        CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    store(slot, encoded);
    return result;
  }

  const Row* row_ = nullptr;
  CUmodule module_ = nullptr;
  std::vector<CUfunction> functions_;  // one for each launch
  std::vector<CUdeviceptr> workspace_;
};

}  // namespace autotune_embedded
#endif
