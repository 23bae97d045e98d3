// SPDX-License-Identifier: Apache-2.0
// What a .cu file says of its kernels, for a manifest to start from. It is read without a compiler:
// NVRTC gives the types of parameters, but neither their names nor templates that nobody calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/target/declarations.hpp"
#include "tuner/target/source_pieces.hpp"

namespace autotune {

// Launches of kernels in the code of the host: source_launches.cpp.

/// `kernel<<<grid, block, shared>>>(arguments)` in host code, or the call of the CUDA runtime for
/// it, with the function around it.
struct LaunchInSource {
  std::string kernel;
  std::vector<Tokens> templates, configuration, arguments;
  std::vector<Tokens> cluster;  // blocks of one, along x, y, z; none without clusters
  std::string function_name;
  std::vector<Declaration> function_templates, parameters;  // of the function
  Tokens function;                                          // up to the end of the launch
  bool is_cooperative = false;
};

/// What a function sets a member of its variable `name` to before `end`: by an assignment, or in
/// the braces of its declaration, by name or as the member at `index`. Empty if it does not.
Tokens member_of(const Tokens& function, std::size_t end, const std::string& name,
                 std::string_view member, std::size_t index);

/// Of a function of this name.
std::vector<LaunchInSource> launches_in(const std::string& function, const Tokens& tokens);

struct KernelCode {
  std::string name;  // with namespaces
  std::size_t line = 1;
  std::vector<Declaration> templates, parameters;
  Tokens launch_bound;  // of __launch_bounds__
  Tokens body;
  /// Of a variable that is set twice, as by `blocks = 1; if (n > MOST) blocks = n / MOST;`
  bool has_last_values = false;

  bool is_called(const std::string& text) const {
    return name == text || name.ends_with("::" + text);
  }
};

/// `#define NAME(parameters) body`
struct MacroFunction {
  std::vector<std::string> parameters;  // `...` is `__VA_ARGS__`
  Tokens body;
};

struct KernelFile {
  std::vector<KernelCode> kernels;
  std::vector<LaunchInSource> launches;
  /// `#define NAME 16` and `const int NAME = 16;`
  std::map<std::string, Tokens> constants;
  /// Those that stand for code. What is in `kernels` and `launches` is without them.
  std::map<std::string, MacroFunction> macro_functions;
  Words of_headers;                          // constants that included files define
  std::map<std::string, std::string> types;  // typedef, using, enum
  std::map<std::string, std::int64_t> enumerators;
  std::map<std::string, std::vector<std::int64_t>> enumerations;  // their values
  std::map<std::string, std::vector<Declaration>> structs;        // their data, without functions
  std::map<std::string, std::vector<Declaration>> struct_templates;  // their parameters
  Words filled_variables;  // of __device__, which the host copies to
  Words device_variables;  // of __device__
  Words variables;         // outside of functions, of any kind
  std::vector<Tokens> host_functions;
  std::vector<Declaration> constant_arrays;  // of __constant__
  std::vector<Tokens> conditions;            // of `#if`
  std::map<std::string, Words> words;        // of functions, types, variables and macros, by name
  Words names;                               // all words of the file
  Words functions;                           // the names of all
  std::map<std::string, std::vector<Tokens>> instances;  // `f<float, 4>(…)`: its first arguments

  /// Through typedefs and macros.
  std::string resolved(std::string type) const;
  /// Of `16`, `16U` and expressions of other constants; nullopt if it is no integer constant.
  std::optional<std::int64_t> integer(const std::string& name, int depth = 0) const;
  /// Whether a constant is one number, and not computed from others.
  bool is_literal(const std::string& name) const;
  /// A template's argument of a launch; where it is a parameter of the function around it, that
  /// function's own argument.
  Tokens instance(const LaunchInSource& launch, const Tokens& argument) const;
  /// What the kernel names, also through functions, types and macros.
  Words used_by(const KernelCode& kernel) const;
};

/// `headers` are the texts of files that it includes: their types, constants and macros count, too,
/// and their kernels if the source has none that is called `entry`, or none at all.
KernelFile kernel_file(std::string_view source, std::string_view headers = {},
                       const std::string& entry = {});

/// Puts `blockIdx.x * blockDim.x + threadIdx.x` in place of `cg::this_grid().thread_rank()`, and so
/// on: also for `block.group_index().x` of a variable for the group.
void name_indices_of_groups(Tokens& body);

}  // namespace autotune
