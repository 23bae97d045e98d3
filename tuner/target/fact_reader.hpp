// SPDX-License-Identifier: Apache-2.0
// How kernel_facts() finds its facts, one file for each kind of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tuner/core/error.hpp"
#include "tuner/target/host_code.hpp"
#include "tuner/target/kernel_facts.hpp"
#include "tuner/target/kernel_text.hpp"
#include "tuner/text/format.hpp"

namespace autotune {

/// The value of an expression of numbers; nullopt if it has names.
std::optional<std::int64_t> number_in(const std::string& expression);

class FactReader {
 public:
  FactReader(const KernelFile& file, const KernelCode& kernel, const std::string& file_name,
             const Corrections& corrections, const GivenArguments* given = nullptr);

  KernelFacts facts();

 private:
  using Parameter = KernelFacts::Parameter;

  // Parameters: kernel_facts.cpp

  /// Of the kernel, or of its launch; what the host uses otherwise is not tuned.
  bool is_used(const Parameter& each) const;
  /// Throws Error with the place of the kernel, behind its name.
  [[noreturn]] void refuse(const std::string& what) const {
    throw Error(format("{}:{}: {} {}", file_name_, kernel_.line, kernel_.name, what));
  }
  std::string last_name() const;
  /// Among the kernel's own; their number for other names.
  std::size_t index_of(const std::string& name) const;
  bool is_own(const std::string& name) const { return index_of(name) < kernel_.parameters.size(); }
  /// A name that the source does not use.
  std::string free_name(std::string name) const;
  /// Operators and functions of expressions have their names for themselves.
  static std::string manifest_name(const std::string& name);
  const Parameter* parameter(const std::string& name) const;
  Parameter* parameter(const std::string& name);
  void add_parameter(const std::string& name, std::int64_t by_default,
                     std::vector<std::int64_t> values = {}, bool is_guessed = false);
  void set_block_values(const std::string& name, int dimensions);
  void find_templates();
  /// What the host passes where a template deduces the type, with its class: `Scale<float>{2}` of
  /// `Scale<float> op{2};`, also through a function around the launch. Empty if made otherwise.
  Tokens constructed(const Tokens& passed, const Tokens& function, int depth = 0) const;
  /// The class in `Scale<float>{2}`, which the source defines; empty for other expressions.
  Tokens class_of(const Tokens& expression) const;
  /// Adds the struct that a template makes: `Box_float` of `Box<float>`. Empty if it is none.
  std::string instance_of(const std::string& type);
  /// Whether a parameter of a template is a pointer to a function.
  bool is_function(const Declaration& each) const;
  /// The one that is given, or the file's first, where a template around the launch gives it.
  std::string function_for(const Tokens& given) const;
  void find_constants();
  /// What kernels use and the source does not define: those who build it do, by -D.
  void find_undefined();
  /// 0 and what conditions compare a macro with.
  std::vector<std::int64_t> compared_values(const std::string& macro) const;
  /// The type that a `void*` is cast to: `(const block*)x`, `static_cast<const block*>(x)`.
  std::string cast_of(const std::string& name) const;
  std::string type_of(const Declaration& declaration);
  bool is_texture(const Declaration& each) const;
  bool is_integer(const Declaration& each);
  /// With the default in place of a parameter's name.
  static std::string with_default(const std::string& text, const Parameter& each);
  /// Replaces parameters by their defaults, which become their only values.
  void pin_parameters_in(std::string& text);

  // Names and numbers that the host passes, in those of a manifest: facts_of_names.cpp

  /// What the host's launch passes for a parameter; empty if it is none, or if nothing is launched.
  Tokens passed_for(const std::string& name) const;
  /// Whether the host's launch has a variable for an integer argument.
  bool has_passed_variable() const;
  /// A number of up to three digits that the launch has for an argument, of one in a variable.
  std::optional<std::string> small_number(const std::string& name) const;
  /// The first value of the host's loop over launches whose variable is passed for an argument.
  std::optional<std::string> first_turn(const std::string& name) const;
  /// Whether loops go from -name to name: it decides what is computed.
  bool is_radius(const std::string& name) const {
    return contains(kernel_.body, Tokens{"=", "-", name});
  }
  /// What the host passes for a parameter that it computes.
  std::optional<NamedInManifest> computed(const std::string& name, bool with_parameters) const;
  /// Of `nb02` beside `ne00` and `ne01`, as ggml has them: that of rows without gaps. Else empty.
  std::string stride_of_bytes(const std::string& name) const;
  /// With the size of each type in place of `sizeof(type)`.
  Tokens in_numbers(Tokens tokens) const;
  /// The host's function around the launch, with the kernel's names of arguments and the block.
  KernelText host_text(bool with_parameters) const;
  /// The parameter for a dimension of the block that is this variable of the host's.
  std::string block_named(const std::string& word) const;
  /// What the host launches with for a block.
  Tokens block_of_host() const;
  /// The host's variable for the number of threads, if that is all it says of them.
  std::string host_block() const;
  std::optional<NamedInManifest> name_in(const std::string& word, bool with_parameters,
                                         int depth = 0) const;
  /// A macro of sizes and parameters.
  std::optional<NamedInManifest> expanded(const std::string& word, bool with_parameters,
                                          int depth) const;
  /// With the block's sizes in place of what code calls them, as far as they are known.
  Tokens with_block(Tokens tokens, const Tokens& name) const;
  KernelText text_with(bool with_parameters) const;
  /// What blocks of so many elements each go over: `n`, if there are `ceil_div(n, step)` of them.
  std::optional<NamedInManifest> spread_over(const std::string& blocks,
                                             const std::string& step) const;
  /// The word that the host's function around the launch sets a variable to.
  std::optional<std::string> host_value(const std::string& variable) const;
  /// The value that the host's code passes, if it is a number.
  std::optional<std::string> passed(const std::string& name) const;
  /// What another kernel's launch passes in place of a name; empty if it passes one.
  std::string given_expression(const std::string& name) const;
  /// The number that tokens are, also by the name of a constant.
  std::optional<std::string> number_of(const Tokens& given) const;

  // Sizes: facts_of_sizes.cpp

  /// Whether an integer argument is a size: it ends a loop, or is a factor of an index.
  bool is_size(const Declaration& each) const;
  void find_sizes();
  /// Integers of the host's function that the number of blocks depends on, whether the kernel gets
  /// them or not, and arguments that what it allocates depends on.
  void find_sizes_of_host();
  /// Where no argument is a size, macros that end an index or a loop are.
  void find_sizes_of_macros();
  /// An argument for which the host passes a constant of its own is a parameter.
  bool find_tile(const Declaration& each);
  /// Integers that the host computes from sizes, such as a number of tiles, are none.
  void find_computed();
  /// `assert(n % 4 == 0)` says which sizes the kernel takes.
  void find_assertions();
  /// `n / 4` in a kernel that casts pointers, as to `float4*`: it takes multiples of 4.
  void find_vectors();
  /// How many times a length names sizes: as many as an array has dimensions.
  std::ptrdiff_t sizes_in(const std::string& length) const;
  bool is_size_name(const std::string& word) const { return contains(sizes_, word); }

  // The launch: facts_of_launch.cpp

  void find_launch();
  bool is_cooperative() const;
  std::int64_t default_block() const { return threads_dimensions() > 1 ? 16 : 256; }
  int threads_dimensions() const { return std::max(1, dimensions_of(kernel_.body, "threadIdx")); }
  /// The dimensions of a dim3 or an int of the host's code.
  std::vector<std::string> host_dimensions(std::size_t which) const;
  void find_block();
  /// `__launch_bounds__(128)` is the most threads of a block.
  std::optional<std::int64_t> most_threads() const;
  bool name_or_number(const std::string& word) const;
  void mark_block();
  /// Without the sizes among the factors, which are strides. They are added to `strides`.
  std::string step_of(const std::optional<Tokens>& advance, const KernelText& own,
                      Words& strides) const;
  /// The size that is the length of an output's rows, by the factors of its index.
  std::string row_size(const KernelText& own) const;
  /// Whether the launch's grid (0) or block (1) has a constant of the kernel's.
  bool shares_constant(std::size_t which) const;
  /// Where the host has one variable for several axes of the block, the kernel has one for each.
  void follow_axes(const KernelText& own);
  void find_grid();
  /// Where the host rounds a number of blocks or threads down, it has no rest.
  void divide_evenly(const std::vector<std::string>& dimensions);
  /// Sizes that the grid divides, rounded up.
  void find_divisions();
  void find_dynamic_shared();
  static std::vector<Declaration> shared_arrays(const Tokens& body);
  /// What indices of shared arrays ask of the block.
  void bound_by_shared_arrays();
  /// Requires that an index is below a length, as by default. False if its end is not known.
  bool bound_by(const KernelText& own, const Tokens& index, const Tokens& length);
  /// Requires that steps of loops divide what they go over, where they do so by default.
  void divide_loops();
  using ValueOf = std::function<std::int64_t(const Parameter&)>;
  /// Whether a constraint holds for these values of the parameters; nullopt if it has other names.
  std::optional<bool> holds(std::string text, const ValueOf& value = &Parameter::by_default) const;
  /// Adds a constraint on what is below `length`, unless it always holds. `divisor` may be 0.
  void require(const std::string& constraint, const std::string& length,
               const std::string& divisor = "");
  /// A kernel with the same parameters and a name that says so, in its own default configuration.
  void find_plain_reference();

  // Buffers, textures and scalars: facts_of_buffers.cpp

  /// A texture of the sizes, as its first fetch `tex2D<float4>(name, x, y)` reads it.
  void find_texture(const Declaration& each);
  void find_buffers();
  /// The elements that the host allocates for a buffer; empty if its code does not say so.
  std::string allocated_length(const Declaration& buffer) const;
  /// The number of entries of a sparse matrix or a graph, for a buffer that one number indexes.
  std::string size_of_entries(const BufferUse& use) const;
  bool names_a_buffer(const BufferUse& use) const;
  /// Gives parameters that decide the length of a buffer, as in `k / GROUP`, their default only.
  void pin_parameters_of(const KernelText& tuned, const BufferUse& use);
  /// With the same number in place of each size.
  std::string with_sizes(std::string text, std::int64_t each) const;
  /// The elements of a buffer, by the longest of its indices.
  std::string length_of(const KernelText& own, const BufferUse& use);
  /// The length, or rows' width, of the buffer or shared array that elements are indices of, if
  /// any.
  std::string indexed_by(const KernelText& own, const Declaration& buffer,
                         const std::map<std::string, std::string>& lengths);
  /// What elements are below that an index has: the width of the rows in `row * width + element`,
  /// the number of rows in `element * width + i`, the buffer's length otherwise.
  std::string end_of_elements(const KernelText& own, const Tokens& index, const Words& variables,
                              const std::string& length) const;
  void find_scalars();
  /// What the host passes for the member at `index` of a struct or vector, also of
  /// `make_float2(1, 2)`; empty if its code does not show it.
  Tokens member_passed(const Declaration& each, const std::string& member, std::size_t index) const;
  /// Of a struct, and x, y … of a vector; none of other types.
  std::vector<Declaration> members_of(const std::string& type) const;
  /// Members of structs that are sizes.
  void find_members();
  /// The numbers and sizes that the host passes for the members of a struct or vector, 1 for
  /// others, and whether there are no others; empty if all are others.
  std::pair<std::string, bool> members_passed(const Declaration& each, const std::string& type);
  /// The value of a struct whose numbers are all 1.
  std::string ones_of(const std::string& type);
  KernelFacts::Struct struct_of(const std::string& type);

  const KernelFile& file_;
  const KernelCode& kernel_;
  const std::string& file_name_;
  const Corrections& corrections_;
  const GivenArguments* const given_;
  std::optional<LaunchInSource> own_launch_;  // with dimensions in place of members: `grid.x`
  const LaunchInSource* launch_ = nullptr;

  KernelFacts facts_;
  std::vector<std::string> sizes_;  // as in the source
  std::vector<std::string> block_, grid_, used_structs_;
  Words computed_;                              // integers that the host computes from sizes
  HostCode host_;                               // the host's function around the launch
  std::map<std::string, std::string> types_;    // of parameters of templates: settings
  std::map<std::string, std::string> classes_;  // of parameters of templates: classes
  std::map<std::string, std::vector<Declaration>> structs_;
  std::vector<std::pair<Tokens, Tokens>> members_;  // of structs, and the sizes that they are
  bool is_block_of_host_ = true;
  bool has_sizes_of_macros_ = false;
  Words sizes_of_host_;                               // which the kernel does not get
  std::map<std::string, std::int64_t> most_threads_;  // of parameters for blocks
  Words used_;                                        // by the kernel
};

}  // namespace autotune
