// SPDX-License-Identifier: Apache-2.0
// What a kernel's text shows of its parameters, arguments and launch: the facts of a first
// manifest.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tuner/target/kernel_file.hpp"

namespace autotune {

/// Expressions and types are those of a manifest. Names of sizes and arguments are, too: a name
/// that manifests reserve has a `_` behind it.
struct KernelFacts {
  struct Parameter {
    std::string name;
    std::vector<std::int64_t> values;  // ascending
    std::int64_t by_default = 0;
    bool is_guessed = false;  // the source does not define it
    bool is_passed = false;   // an argument of the kernel, and no macro
  };
  struct Struct {
    std::string name;
    std::vector<std::pair<std::string, std::string>> members;  // name, type
  };
  struct Buffer {
    std::string name, type, length;
    std::string role = {};  // empty: input
    bool is_zero = false;   // filled with 0, because the kernel adds atomically
    bool is_constant = false;
    bool is_positive = false;    // filled with positive numbers
    std::string tolerance = {};  // of floating-point outputs
    std::string indexed = {};    // the length of the buffer that the elements are indices of
    bool are_starts = false;     // of rows: each is read with the next one
  };
  struct Texture {
    std::string name, buffer;
    std::vector<std::string> dims;
  };
  struct Scalar {
    std::string name, type, value;
    bool is_guessed = false;  // the source passes no number
  };
  struct Launch {
    std::string kernel;  // without namespaces
    std::vector<std::string> grid, block, cluster;
    /// The name of each argument, and its type if that is not the argument's own.
    std::vector<std::pair<std::string, std::string>> arguments;
  };

  Launch launch;
  std::string entry;  // the C++ name of the kernel; empty if it is launch.kernel
  std::vector<std::string> sizes;
  std::vector<std::pair<std::string, std::vector<std::string>>> type_settings;  // name, values
  std::vector<Parameter> parameters;
  std::vector<std::string> constraints;
  std::vector<std::string> divisions;  // constraints by which no block is beyond the end
  std::vector<Struct> structs;
  std::vector<Buffer> buffers;
  std::vector<Texture> textures;
  std::vector<Scalar> scalars;
  std::string dynamic_shared_bytes;     // empty: none
  std::optional<Launch> reference;      // a plain kernel with the same arguments
  std::vector<std::string> unfilled;    // variables with __device__ that the host fills
  std::vector<std::string> uncompared;  // variables with __device__ that the kernel changes
  std::vector<std::string> kept;        // constants that are no parameters: `RADIUS = 3`
  bool are_lengths_known = true, is_launch_known = true;
  bool is_cooperative = false;         // its blocks wait for each other
  bool has_sizes_of_macros = false;    // which the source defines
  bool has_element_per_block = false;  // a buffer's length is the number of blocks
};

/// What the user gave, and what compiling and running the kernel has shown.
struct Corrections {
  std::vector<std::string> include;        // folders of headers, relative to the manifest
  std::vector<std::string> empty_headers;  // which are not there
  std::set<std::string> in_part;           // outputs that keep what the kernel does not write
  bool is_divided = false;                 // blocks beyond the end read what nobody wrote
  bool is_positive = false;                // results of negative inputs are no numbers
};

/// The arguments of a launch that another kernel computes, by the names in its manifest.
struct GivenArguments {
  /// Names and expressions of them, in the order of its launch; empty if there are others.
  std::vector<std::string> launched;
  std::set<std::string> all;
  std::set<std::string> sizes, buffers;  // of these
};

/// A list in TOML.
std::string list_of(const std::vector<std::string>& items);

/// `file_name` is for messages.
/// With `given`, the kernel's parameters have the names there: their own, or by their order if that
/// is how another kernel has them. Throws Error if the kernel takes what a manifest cannot give, or
/// writes to no argument.
KernelFacts kernel_facts(const KernelFile& file, const KernelCode& kernel,
                         const std::string& file_name, const Corrections& corrections,
                         const GivenArguments* given = nullptr);

}  // namespace autotune
