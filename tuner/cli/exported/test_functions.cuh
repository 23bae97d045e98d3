// SPDX-License-Identifier: Apache-2.0
// The part that the tests of all exported kernels share.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <random>
#include <string>
#include <vector>

namespace tuned_test {

enum class Type { f32, f64, i32, i64, f16, bf16, i8, u8, i16, u16, u32, u64, e4m3, e5m2 };

/// A number in each element. A result c is right if |c - r| <= tolerance * m + unit * |r|
/// + absolute, where r is the reference, and m the reference on absolute inputs, or |r| if
/// that is larger or m is not finite.
struct Field {
  Type type;
  std::size_t offset;
  double tolerance, unit, absolute;
};

struct Buffer {
  const char* name;
  std::size_t length, stride;  // in elements; bytes
  bool is_input, is_compared;
  bool is_double;  // the reference writes doubles
  const char* fill;
  double first, second;  // least and greatest; mean and deviation; value; first and step
  const char* file;      // with the elements, if not empty
  long long file_offset;
  std::vector<Field> fields;

  std::size_t bytes() const { return length * stride; }
  std::size_t answer_bytes() const { return is_double ? length * sizeof(double) : bytes(); }
};

typedef std::vector<unsigned char> Bytes;

inline void expect(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
  std::exit(1);
}

inline void* workspace(std::size_t bytes, int byte) {
  void* memory = nullptr;
  expect(cudaMalloc(&memory, bytes > 0 ? bytes : 1), "allocating");
  expect(cudaMemset(memory, byte, bytes > 0 ? bytes : 1), "setting memory");
  return memory;
}

template <class T>
T taken(const unsigned char* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <class T>
void put(T value, unsigned char* to) {
  std::memcpy(to, &value, sizeof value);
}

inline double read(Type type, const unsigned char* at) {
  switch (type) {
    case Type::f32:
      return taken<float>(at);
    case Type::f64:
      return taken<double>(at);
    case Type::i32:
      return taken<int>(at);
    case Type::i64:
      return static_cast<double>(taken<long long>(at));
    case Type::f16:
      return __half2float(taken<__half>(at));
    case Type::bf16:
      return __bfloat162float(taken<__nv_bfloat16>(at));
    case Type::e4m3:
      return static_cast<float>(taken<__nv_fp8_e4m3>(at));
    case Type::e5m2:
      return static_cast<float>(taken<__nv_fp8_e5m2>(at));
    case Type::i8:
      return taken<signed char>(at);
    case Type::u8:
      return taken<unsigned char>(at);
    case Type::i16:
      return taken<short>(at);
    case Type::u16:
      return taken<unsigned short>(at);
    case Type::u32:
      return taken<unsigned>(at);
    case Type::u64:
      return static_cast<double>(taken<unsigned long long>(at));
  }
  return 0;
}

inline void write(Type type, double value, unsigned char* at) {
  switch (type) {
    case Type::f32:
      return put(static_cast<float>(value), at);
    case Type::f64:
      return put(value, at);
    case Type::i32:
      return put(static_cast<int>(value), at);
    case Type::i64:
      return put(static_cast<long long>(value), at);
    case Type::f16:
      return put(__float2half(static_cast<float>(value)), at);
    case Type::bf16:
      return put(__float2bfloat16(static_cast<float>(value)), at);
    case Type::e4m3:
      return put(__nv_fp8_e4m3(value), at);
    case Type::e5m2:
      return put(__nv_fp8_e5m2(value), at);
    case Type::i8:
      return put(static_cast<signed char>(value), at);
    case Type::u8:
      return put(static_cast<unsigned char>(value), at);
    case Type::i16:
      return put(static_cast<short>(value), at);
    case Type::u16:
      return put(static_cast<unsigned short>(value), at);
    case Type::u32:
      return put(static_cast<unsigned>(value), at);
    case Type::u64:
      return put(static_cast<unsigned long long>(value), at);
  }
}

inline bool is_real(Type type) {
  return type == Type::f32 || type == Type::f64 || type == Type::f16 || type == Type::bf16 ||
         type == Type::e4m3 || type == Type::e5m2;
}

inline Bytes from_file(const Buffer& buffer) {
  Bytes bytes(buffer.bytes());
  std::ifstream file(buffer.file, std::ios::binary);
  file.seekg(buffer.file_offset);
  if (!file.read(reinterpret_cast<char*>(bytes.data()), static_cast<long long>(bytes.size()))) {
    std::fprintf(stderr, "%s: cannot be read\n", buffer.file);
    std::exit(1);
  }
  return bytes;
}

inline Bytes made(const Buffer& buffer, std::mt19937_64& random) {
  if (buffer.file[0] != '\0') return from_file(buffer);
  const std::string fill = buffer.fill;
  std::normal_distribution<double> normal(buffer.first, buffer.second > 0 ? buffer.second : 1);
  Bytes bytes(buffer.bytes());
  for (std::size_t i = 0; i < buffer.length; ++i) {
    for (const Field& field : buffer.fields) {
      const double share = static_cast<double>(random() >> 11) * 0x1p-53;
      double value = fill == "uniform"  ? buffer.first + share * (buffer.second - buffer.first)
                     : fill == "integers"
                         ? buffer.first + std::floor(share * (buffer.second - buffer.first + 1))
                     : fill == "normal" ? normal(random)
                     : fill == "value"  ? buffer.first
                     : fill == "range"  ? buffer.first + static_cast<double>(i) * buffer.second
                                        : 0;
      if (!is_real(field.type)) value = std::floor(value);
      write(field.type, value, &bytes[i * buffer.stride + field.offset]);
    }
  }
  return bytes;
}

inline Bytes downloaded(const void* memory, std::size_t count) {
  Bytes bytes(count);
  expect(cudaMemcpy(bytes.data(), memory, count, cudaMemcpyDefault), "copying");
  return bytes;
}

inline void upload(void* memory, const Bytes& bytes) {
  expect(cudaMemcpy(memory, bytes.data(), bytes.size(), cudaMemcpyDefault), "copying");
}

/// Device memory of all buffers: inputs have their contents, outputs bytes that are no
/// result.
inline std::vector<void*> filled(const std::vector<Buffer>& buffers) {
  std::mt19937_64 random(1);
  std::vector<void*> memory;
  for (const Buffer& buffer : buffers) {
    memory.push_back(workspace(buffer.bytes(), 0xff));
    if (buffer.is_input) upload(memory.back(), made(buffer, random));
  }
  return memory;
}

inline Bytes absolute(const Buffer& buffer, Bytes bytes) {
  for (std::size_t i = 0; i < buffer.length; ++i) {
    for (const Field& field : buffer.fields) {
      unsigned char* const at = &bytes[i * buffer.stride + field.offset];
      if (is_real(field.type)) write(field.type, std::fabs(read(field.type, at)), at);
    }
  }
  return bytes;
}

struct Comparison {
  double worst = 0;  // largest error, over what is allowed
  std::string first_wrong;
};

/// What the reference makes of the inputs, and of their absolute values.
struct Answers {
  std::vector<Bytes> values, magnitudes;  // of compared buffers; else empty

  Comparison compare(const std::vector<Buffer>& buffers, const std::vector<void*>& memory) const {
    Comparison result;
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      if (!buffers[i].is_compared) continue;
      const Bytes got = downloaded(memory[i], buffers[i].bytes());
      for (const Field& field : buffers[i].fields) compare(buffers[i], field, i, got, result);
    }
    return result;
  }

 private:
  void compare(const Buffer& buffer, const Field& field, std::size_t index, const Bytes& got,
               Comparison& result) const {
    const Type type = buffer.is_double ? Type::f64 : field.type;
    const std::size_t stride = buffer.is_double ? sizeof(double) : buffer.stride;
    for (std::size_t i = 0; i < buffer.length; ++i) {
      const double c = read(field.type, &got[i * buffer.stride + field.offset]);
      const double r = read(type, &values[index][i * stride + field.offset]);
      const double all = std::fabs(read(type, &magnitudes[index][i * stride + field.offset]));
      const double m = std::isfinite(all) ? std::fmax(all, std::fabs(r)) : std::fabs(r);
      const double allowed = field.tolerance * m + field.unit * std::fabs(r) + field.absolute;
      const double error = std::fabs(c - r);
      if (c == r) continue;
      if (error <= allowed) {
        result.worst = std::fmax(result.worst, error / allowed);
      } else if (result.first_wrong.empty()) {
        char text[200];
        std::snprintf(text, sizeof text, "%s[%zu] is %.9g, right is %.9g within %.2g", buffer.name,
                      i, c, r, allowed);
        result.first_wrong = text;
      }
    }
  }
};

template <class Reference>
std::vector<Bytes> results(const std::vector<Buffer>& buffers, const std::vector<void*>& memory,
                           Reference reference, bool is_absolute) {
  std::vector<void*> own = memory;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    if (!buffers[i].is_compared) continue;
    own[i] = workspace(buffers[i].answer_bytes(), 0xff);
    if (buffers[i].is_input) upload(own[i], downloaded(memory[i], buffers[i].bytes()));
  }
  expect(reference(own, is_absolute, nullptr), "launching the reference");
  expect(cudaDeviceSynchronize(), "the reference");
  std::vector<Bytes> all(buffers.size());
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    if (!buffers[i].is_compared) continue;
    all[i] = downloaded(own[i], buffers[i].answer_bytes());
    expect(cudaFree(own[i]), "freeing");
  }
  return all;
}

template <class Reference>
Answers right_answers(const std::vector<Buffer>& buffers, const std::vector<void*>& memory,
                      Reference reference) {
  Answers answers;
  answers.values = results(buffers, memory, reference, false);
  std::vector<Bytes> inputs(buffers.size());
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    if (!buffers[i].is_input) continue;
    inputs[i] = downloaded(memory[i], buffers[i].bytes());
    upload(memory[i], absolute(buffers[i], inputs[i]));
  }
  answers.magnitudes = results(buffers, memory, reference, true);
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    if (buffers[i].is_input) upload(memory[i], inputs[i]);
  }
  return answers;
}

/// Of one call: the mean over as many on one stream.
template <class Call>
double seconds_of(Call call) {
  constexpr int kCalls = 100;
  cudaEvent_t begin, end;
  expect(cudaEventCreate(&begin), "creating an event");
  expect(cudaEventCreate(&end), "creating an event");
  for (int i = 0; i < 10; ++i) expect(call(), "launching");
  expect(cudaEventRecord(begin), "recording");
  for (int i = 0; i < kCalls; ++i) expect(call(), "launching");
  expect(cudaEventRecord(end), "recording");
  expect(cudaDeviceSynchronize(), "the kernel");
  float milliseconds = 0;
  expect(cudaEventElapsedTime(&milliseconds, begin, end), "timing");
  return milliseconds * 1e-3 / kCalls;
}

/// The exit status.
inline int report(const char* problem, const Comparison& result, double seconds) {
  if (!result.first_wrong.empty()) {
    std::printf("%s: wrong: %s\n", problem, result.first_wrong.c_str());
    return 1;
  }
  std::printf("%s: right, the largest error is %.2g of what is allowed; %.2f us a call\n", problem,
              result.worst, seconds * 1e6);
  return 0;
}

}  // namespace tuned_test
