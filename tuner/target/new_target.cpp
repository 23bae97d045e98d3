// SPDX-License-Identifier: Apache-2.0
#include "tuner/target/new_target.hpp"

#include "tuner/core/error.hpp"
#include "tuner/target/node.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

constexpr const char* kSource =
    R"cuda(// out[i] = a x[i] + y[i] for i < n: replace it with a kernel of yours.
// A block of BLOCK threads makes BLOCK * ITEMS elements; grid n / (BLOCK * ITEMS), rounded up.
// BLOCK, ITEMS and DTYPE are #defined by autotune: NAME.target.toml declares them.

#if DTYPE == DTYPE_F64
typedef double real;
#else
typedef float real;
#endif

extern "C" __global__ void __launch_bounds__(BLOCK)
    NAME_kernel(const real* __restrict__ x, const real* __restrict__ y, real* __restrict__ out,
                real a, int n) {
  const long long first = (long long)blockIdx.x * BLOCK * ITEMS + threadIdx.x;
  for (int item = 0; item < ITEMS; ++item) {
    const long long i = first + item * BLOCK;
    if (i < n) out[i] = a * x[i] + y[i];
  }
}

// The right answer, as plain as it can be. It writes double, so that only the tuned kernel rounds.
extern "C" __global__ void NAME_reference(const real* x, const real* y, double* out, real a, int n) {
  const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = (double)a * x[i] + y[i];
}
)cuda";

constexpr const char* kManifest =
    R"toml(# What autotune knows of NAME.cu. Every key is explained in docs/manifest.md.
#   autotune check ./NAME.target.toml                    compiles it, and runs the default once
#   autotune --target ./NAME.target.toml --sizes 65536   tunes it
manifest = 2
name = "NAME"
description = "out = a x + y over N elements"
source = "NAME.cu"

# The problem: its sizes, in the order of --sizes, and named choices; --set dtype=f64 picks another.
sizes = ["N"]
settings.dtype = ["f32", "f64"]

# What is tuned: each becomes a #define. Blocks of one thread are fast on the host device only.
parameters.BLOCK = [1, 32, 64, 128, 256, 512, 1024]
parameters.ITEMS = [1, 2, 4, 8, 1024, 4096]
# A configuration is valid when all of these hold, one on a line.
constraints = '''
BLOCK <= device.max_threads
BLOCK > 1 or device.is_host
(BLOCK == 1) == (ITEMS >= 1024)
'''
# What the winner is compared with; the rest takes its first value.
default = { BLOCK = 256 }

# Buffers have a length, scalars a value. The tolerance counts roundings: here a product and a sum.
arguments.x = { type = "dtype", length = "N" }
arguments.y = { type = "dtype", length = "N" }
arguments.out = { type = "dtype", length = "N", role = "output", tolerance = 2 }
arguments.a = { type = "dtype", value = 3 }
launch.arguments = ["x", "y", "out", "a", "N"]

kernels.NAME_kernel = { grid = "ceil_div(N, BLOCK * ITEMS)", block = "BLOCK" }
reference.kernels.NAME_reference = { grid = "ceil_div(N, 256)", block = 256 }
reference.outputs = "f64"  # the reference writes double, so that only the tuned kernel rounds

# Of one call, for FLOP/s and GB/s.
work = '''
flops = 2 * N
bytes = 3 * N * dtype_bytes
'''
)toml";

std::string with_name(std::string text, const std::string& name) {
  static const std::string placeholder = "NAME";
  for (std::size_t at = text.find(placeholder); at != std::string::npos;
       at = text.find(placeholder, at + name.size())) {
    text.replace(at, placeholder.size(), name);
  }
  return text;
}

}  // namespace

TargetFiles new_target_files(const std::string& name) {
  if (!is_identifier(name)) {
    throw UsageError(
        format("\"{}\" cannot name a target: use letters, digits and _, a letter first", name));
  }
  return {with_name(kSource, name), with_name(kManifest, name)};
}

}  // namespace autotune
