// SPDX-License-Identifier: Apache-2.0
// Launches, buffers and arguments of a target's configurations, from formulas that are bound once.
// Used by tuner/core only.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tuner/core/formula_values.hpp"
#include "tuner/core/name_table.hpp"
#include "tuner/core/target.hpp"

namespace autotune {

/// A null pointer, as an address.
inline const Scalar kNull{ElementType::i64, 0, 0};

class LaunchPlanner {
 public:
  /// Target, problem, device and names must outlive it.
  LaunchPlanner(const Target& target, const Problem& problem, const DeviceInfo& device,
                NameTable& names);

  LaunchPlan plan(std::span<const std::uint16_t> levels) const;
  LaunchPlan reference_plan(std::span<const std::uint16_t> levels) const;
  LaunchPlan preparation(std::span<const std::uint16_t> levels) const;
  std::vector<BufferSpec> buffers() const;
  std::vector<Scalar> scalars() const;

 private:
  /// The type of an element: fixed, or chosen by a parameter.
  struct Type {
    std::vector<ElementType> choices;
    std::size_t parameter = 0;  // the one that chooses, if there are several choices
    ElementType of(std::span<const std::uint16_t> levels) const {
      return choices.size() == 1 ? choices.front() : choices[levels[parameter]];
    }
  };
  /// An argument or workspace: a buffer with a length, or a scalar.
  struct Array {
    const ArgumentSpec* spec;
    std::string key;
    Type type;
    std::optional<Formula> length, tolerance, value, constant, absolute, repeatable, streams,
        alignment;
    std::vector<Formula> fill_values;
    std::uint32_t index = 0;               // among the workload's buffers, or among workspaces
    Schedule schedule = {};                // computes the length
    std::vector<Type> members = {};        // of a struct with several types
    std::optional<BufferSpec> plain = {};  // all but the length, if only that must be computed
    std::vector<Formula> dims = {}, strides = {};
    bool is_absent = false;          // a buffer that this problem lacks
    std::vector<Array> fields = {};  // of a struct by value: its scalars
  };
  struct Map {
    const TensorMapSpec* spec;
    std::string key;
    Formula buffer;
    std::vector<Formula> dims, strides, box;
    std::optional<Formula> swizzle_bytes;
    Schedule schedule = {};
  };
  struct TextureObject {
    const TextureSpec* spec;
    std::string key;
    Formula buffer;
    std::vector<Formula> dims;
    Schedule schedule = {};
  };
  struct Passed {
    enum class Kind { handle, level, value } kind = Kind::value;
    Formula value;
    Type type;
    std::size_t parameter = 0;  // for Kind::level
    std::optional<Formula> when;
    std::optional<Argument> ready = {};  // the same in every plan
  };
  struct ConstantGridFormulas {
    std::string buffer;
    std::vector<Formula> grid;
  };
  struct Kernel {
    std::string key;
    EntryName entry;
    std::optional<Formula> when;
    std::vector<Formula> grid, block, cluster;
    std::optional<Formula> dynamic_shared_bytes, starts_early;
    std::vector<Passed> arguments;
    Schedule schedule;             // computes what a launch needs
    std::vector<Argument> prefix;  // its leading arguments that are the same in every plan
    std::vector<ConstantGridFormulas> with_constant = {};
    std::optional<Formula> cooperative = {}, repeat = {};
    std::string group = {};  // see KernelSpec
    std::optional<OptionTexts> command = {};
  };
  struct Program {
    std::string key;
    std::vector<Kernel> kernels;
    Schedule schedule;  // computes which kernels are launched
  };
  class Plan;

  Array array_of(const ArgumentSpec& spec, const std::string& key);
  Map map_of(const TensorMapSpec& spec);
  TextureObject texture_of(const TextureSpec& spec);
  void require_handle(const Expression& buffer, const std::string& key) const;
  Program program_of(const std::vector<KernelSpec>& kernels, const std::string& key);
  Kernel kernel_of(const KernelSpec& spec, const std::string& key);
  Passed passed_of(const PassedArgument& argument, const std::string& key);
  std::optional<Argument> ready_argument(const Passed& passed) const;
  bool is_handle(const std::string& name) const;
  Schedule schedule_of(const Kernel& kernel) const;
  Type type_of(const std::string& key, const std::string& name) const;
  ElementType element_type_of(const std::string& key, const std::string& name) const;
  static bool is_plain(const Array& array);
  static bool is_fixed_value(const Array& array);
  bool is_absent(const Array& array) const;
  BufferSpec buffer_of(const Array& array, const FormulaValues& values) const;
  static void set_dims(const Array& array, BufferSpec& buffer, const FormulaValues& values);
  static std::int64_t length_of(const Array& array, const FormulaValues& values);
  static std::int64_t alignment_of(const Array& array, const BufferSpec& buffer,
                                   const FormulaValues& values);
  static void check_file(const Array& array, const BufferSpec& buffer, const FormulaValues& values);
  std::vector<Member> members_of(const Array& array, const FormulaValues& values) const;
  /// Of an array without a length: a scalar, or a struct by value.
  Argument value_of(const Array& array, const FormulaValues& values) const;
  Scalar scalar_of(const Array& array, const FormulaValues& values) const;

  const Target& target_;
  const Problem& problem_;
  const DeviceInfo& device_;
  NameTable& names_;
  const std::uint32_t turn_, turns_;  // slots
  std::uint32_t buffers_ = 0;         // number of the workload's buffers
  std::vector<Array> arguments_, workspace_;
  std::vector<Map> maps_;
  std::vector<TextureObject> textures_;
  Slots fixed_slots_;
  Program kernels_, checks_, reference_, preparation_;
};

/// What a call of one configuration needs.
struct CallPlan {
  LaunchPlan plan;
  std::vector<BufferSpec> buffers;
  std::vector<Scalar> scalars;
};

/// The same as a TargetProgram with fixed sizes says. Compiles only what this configuration needs,
/// which takes a fraction of the time. Throws Error if the configuration is not the target's.
CallPlan call_plan_of(const Target& target, const Problem& problem, const DeviceInfo& device,
                      const Configuration& configuration);

}  // namespace autotune
