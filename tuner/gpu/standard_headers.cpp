// SPDX-License-Identifier: Apache-2.0
#include "tuner/gpu/standard_headers.hpp"

#include <algorithm>
#include <system_error>

#include "tuner/hash/hash.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

constexpr const char* kMath = R"(#pragma once
#ifndef INFINITY
#define INFINITY __builtin_bit_cast(float, 0x7f800000)
#endif
#ifndef NAN
#define NAN __builtin_bit_cast(float, 0x7fc00000)
#endif
#define HUGE_VAL __builtin_bit_cast(double, 0x7ff0000000000000ll)
#define HUGE_VALF INFINITY
#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LOG10E 0.43429448190325182765
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
)";

constexpr const char* kFloat = R"(#pragma once
#define FLT_RADIX 2
#define FLT_MANT_DIG 24
#define FLT_DIG 6
#define FLT_MIN_EXP (-125)
#define FLT_MAX_EXP 128
#define FLT_MIN 1.17549435082228750797e-38F
#define FLT_MAX 3.40282346638528859812e+38F
#define FLT_EPSILON 1.19209289550781250000e-7F
#define DBL_MANT_DIG 53
#define DBL_DIG 15
#define DBL_MIN_EXP (-1021)
#define DBL_MAX_EXP 1024
#define DBL_MIN 2.22507385850720138309e-308
#define DBL_MAX 1.79769313486231570815e+308
#define DBL_EPSILON 2.22044604925031308085e-16
)";

/// What every C++ program of nvcc gets.
constexpr const char* kRuntime = R"(#pragma once
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
)";

/// The types of cuRAND's host interface that <curand_kernel.h> names.
constexpr const char* kCurand = R"(#pragma once
typedef double curandDistribution_st;
typedef curandDistribution_st* curandDistribution_t;
typedef struct curandDistributionShift_st* curandDistributionShift_t;
typedef struct curandDistributionM2Shift_st* curandDistributionM2Shift_t;
typedef struct curandHistogramM2_st* curandHistogramM2_t;
typedef unsigned int curandHistogramM2K_st;
typedef curandHistogramM2K_st* curandHistogramM2K_t;
typedef curandDistribution_st curandHistogramM2V_st;
typedef curandHistogramM2V_st* curandHistogramM2V_t;
typedef struct curandDiscreteDistribution_st* curandDiscreteDistribution_t;
typedef unsigned int curandDirectionVectors32_t[32];
typedef unsigned long long curandDirectionVectors64_t[64];
enum curandMethod { CURAND_CHOOSE_BEST, CURAND_ITR, CURAND_KNUTH, CURAND_HITR, CURAND_M1,
  CURAND_M2, CURAND_BINARY_SEARCH, CURAND_DISCRETE_GAUSS, CURAND_REJECTION, CURAND_DEVICE_API,
  CURAND_FAST_REJECTION, CURAND_3RD, CURAND_DEFINITION, CURAND_POISSON };
typedef enum curandMethod curandMethod_t;
)";

constexpr const char* kAlgorithm = R"(#pragma once
namespace std {
template <class T> constexpr const T& min(const T& a, const T& b) { return b < a ? b : a; }
template <class T> constexpr const T& max(const T& a, const T& b) { return a < b ? b : a; }
template <class T> constexpr const T& clamp(const T& x, const T& least, const T& most) {
  return x < least ? least : most < x ? most : x;
}
}
)";

/// Functions of CUDA that C++ has in std, too.
constexpr std::string_view kFunctions[] = {
    "abs",    "acos",    "acosh",     "asin",      "asinh",    "atan",      "atan2", "atanh",
    "cbrt",   "ceil",    "copysign",  "cos",       "cosh",     "erf",       "erfc",  "exp",
    "exp2",   "expm1",   "fabs",      "fdim",      "floor",    "fma",       "fmax",  "fmin",
    "fmod",   "frexp",   "hypot",     "ilogb",     "isfinite", "isinf",     "isnan", "ldexp",
    "lgamma", "llrint",  "llround",   "log",       "log10",    "log1p",     "log2",  "logb",
    "lrint",  "lround",  "nearbyint", "nextafter", "pow",      "remainder", "rint",  "round",
    "scalbn", "signbit", "sin",       "sinh",      "sqrt",     "tan",       "tanh",  "tgamma",
    "trunc"};

/// Headers of C++ that libcu++ has.
constexpr const char* kOfLibcuxx[] = {
    "array",     "atomic",  "barrier", "bit",         "bitset",           "complex",
    "concepts",  "cstring", "ctime",   "functional",  "initializer_list", "iterator",
    "latch",     "limits",  "numeric", "numbers",     "optional",         "ratio",
    "semaphore", "span",    "tuple",   "type_traits", "utility",          "variant",
};

/// Headers that host code needs.
constexpr const char* kForTheHost[] = {
    "cassert",     "assert.h", "cerrno",    "chrono",      "cstdio",        "cstdlib",

    "deque",       "errno.h",  "exception", "fstream",     "getopt.h",

    "iomanip",     "ios",      "iostream",  "istream",     "list",          "map",
    "memory",      "mutex",    "omp.h",     "ostream",     "queue",         "random",
    "set",         "sstream",  "stack",     "stdbool.h",   "stdexcept",     "stdio.h",
    "stdlib.h",    "string",   "string.h",  "string_view", "sys/stat.h",    "sys/time.h",
    "sys/types.h", "thread",   "time.h",    "unistd.h",    "unordered_map", "unordered_set",
    "vector"};

constexpr const char* kOfCub[] = {"block/block_adjacent_difference",
                                  "block/block_discontinuity",
                                  "block/block_exchange",
                                  "block/block_histogram",
                                  "block/block_load",
                                  "block/block_merge_sort",
                                  "block/block_radix_rank",
                                  "block/block_radix_sort",
                                  "block/block_reduce",
                                  "block/block_run_length_decode",
                                  "block/block_scan",
                                  "block/block_shuffle",
                                  "block/block_store",
                                  "warp/warp_exchange",
                                  "warp/warp_load",
                                  "warp/warp_merge_sort",
                                  "warp/warp_reduce",
                                  "warp/warp_scan",
                                  "warp/warp_store"};

struct Header {
  std::string name, text;
  bool is_in_toolkit = false;  // for nvcc: this one is preferred
};

std::string of_libcuxx(const char* name) {
  return format("#include <cuda/std/{}>\nnamespace std {{ using namespace cuda::std; }}\n", name);
}

std::string functions_in_std() {
  std::string text = "#pragma once\n#include <math.h>\nnamespace std {\n";
  for (const std::string_view function : kFunctions) text += format("using ::{};\n", function);
  return text + "}\n";
}

/// What <cub/cub.cuh> has for kernels.
std::string for_kernels_of_cub() {
  std::string text = "#pragma once\n";
  for (const char* const name : kOfCub) text += format("#include <cub/{}.cuh>\n", name);
  return text;
}

std::vector<Header> all_headers() {
  std::vector<Header> headers = {
      {"algorithm", kAlgorithm},
      {"cfloat", kFloat},
      {"cinttypes", of_libcuxx("cstdint")},
      {"climits", "#include <cuda/std/climits>\n"},
      {"cmath", functions_in_std()},
      {"cstddef", "#include <stddef.h>\n" + of_libcuxx("cstddef")},
      {"cstdint", of_libcuxx("cstdint")},
      {"cub/cub.cuh", for_kernels_of_cub(), true},
      {"cuda_runtime.h", kRuntime, true},
      {"curand.h", kCurand, true},
      {"float.h", kFloat},
      {"inttypes.h", "#include <cuda/std/cstdint>\n"},
      {"limits.h", "#include <cuda/std/climits>\n"},
      {"math.h", kMath},
      {"stddef.h", "#pragma once\n#include <cuda/std/cstddef>\nusing cuda::std::ptrdiff_t;\n"},
      {"stdint.h", "#include <cuda/std/cstdint>\n"},
  };
  for (const char* const name : kOfLibcuxx) headers.push_back({name, of_libcuxx(name)});
  for (const char* const name : kForTheHost) headers.push_back({name, ""});
  headers.push_back({"cufft.h", kCufftTypes, true});
  for (const char* const name : kHostHeaders) headers.push_back({name, "", true});
  return headers;
}

const std::vector<Header>& headers() {
  static const std::vector<Header> headers = all_headers();
  return headers;
}

}  // namespace

HeaderList standard_headers(std::span<const std::filesystem::path> folders) {
  HeaderList list;
  for (const Header& header : headers()) {
    const bool is_here = std::ranges::any_of(folders, [&](const std::filesystem::path& folder) {
      std::error_code failed;
      return std::filesystem::exists(folder / header.name, failed);
    });
    if (is_here && !header.is_in_toolkit) continue;
    list.names.push_back(header.name.c_str());
    list.texts.push_back(header.text.c_str());
  }
  return list;
}

bool is_standard_header(std::string_view name) {
  return std::ranges::any_of(headers(), [&](const Header& header) { return header.name == name; });
}

const std::string& standard_headers_hash() {
  static const std::string hash = [] {
    std::string all;
    for (const Header& header : headers()) all += header.name + '\0' + header.text + '\0';
    return hash128(all);
  }();
  return hash;
}

}  // namespace autotune
