// SPDX-License-Identifier: Apache-2.0
// A target: a kernel with a tunable space, from a manifest or a plugin.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tuner/core/access.hpp"
#include "tuner/core/device.hpp"
#include "tuner/core/expression.hpp"
#include "tuner/core/launch.hpp"
#include "tuner/core/parameter_space.hpp"
#include "tuner/core/problem.hpp"

namespace autotune {

/// A named choice that is part of the problem, such as dtype.
struct Setting {
  std::string name;
  std::vector<Value> values;
  WordForm form = WordForm::number;
  WordTexts texts = {};
  /// The value if the user chooses none, by settings before it. Absent: the first value.
  std::optional<Expression> if_absent = {};
  /// Values whose problems take about the same times in the same configurations, as f16 and bf16.
  std::vector<Value> alike = {};
};

/// The value of a setting if the user chooses none. `before` holds the settings before it. Throws
/// Error if its expression gives none of its values.
Value default_value(const Setting& setting, const NamedValues& before);
/// Whether a problem with these settings has this value without being told. False where a stored
/// problem lacks a setting that the default depends on.
bool is_default(const Setting& setting, const Value& value, const NamedValues& settings);

/// A file with the elements of an input, little-endian.
struct InputFile {
  std::filesystem::path path;
  std::int64_t offset = 0;  // of the first element
  std::int64_t bytes = 0;   // of all elements
  std::string type = {};    // an ElementType's name; empty if the file has none
  std::string hash = {};    // of the content
};

/// A member of a struct, see Member. `type` is the name of an ElementType, or of a setting that
/// holds one.
struct MemberSpec {
  std::string name;
  std::string type;
};

/// An array, scalar or struct in kernels' arguments. Exactly one of `length` (buffer), `value`,
/// `real` (scalar) and `fields` (struct or vector by value) is given.
struct ArgumentSpec {
  std::string name;
  /// The name of an ElementType, or of a setting that holds one. For workspace, also of a parameter
  /// that holds one.
  std::string type;
  std::optional<Expression> length;
  Role role = Role::input;
  Fill fill = Fill::random;
  std::optional<Expression> tolerance;  // outputs; in units of roundoff, see BufferSpec
  std::optional<Expression> value;
  std::optional<double> real;  // in place of `value`: a floating scalar such as 1.5
  /// Inputs: if not 0, each call first copies the buffer into the source's `__constant__` variable
  /// of this name.
  std::optional<Expression> constant = {};
  std::int64_t width = 1;  // of a vector or struct: its members, which all have this type
  std::optional<Expression> absolute = {};  // outputs
  /// Outputs and inouts: where it holds, runs on the same inputs must give the same bits.
  std::optional<Expression> repeatable = {};
  /// Inputs: where it holds, programs read the buffer from memory, as the weights of a layer.
  std::optional<Expression> streams = {};
  std::vector<Expression> fill_values = {};  // see BufferSpec
  std::optional<std::uint64_t> seed = {};    // see BufferSpec
  std::optional<InputFile> file = {};        // inputs and inouts; in place of `fill`
  bool has_own_length = true;                // false: `length` comes from the file
  std::vector<MemberSpec> members = {};  // of a struct with several types; `type` is the first's
  std::vector<MemberGroup> groups = {};  // of its members
  /// Buffers: bytes, a power of two. If not given, that of the widest member of an element.
  std::optional<Expression> alignment = {};
  /// Bytes. If not 0, the alignment is a free size with this default; see aligned_name().
  std::int64_t aligned = 0;
  /// Buffers: elements of each dimension, the innermost first, and the distance of neighbours in
  /// dimensions 1 and up. Without dims, `length` elements without gaps.
  std::vector<Expression> dims = {}, strides = {};
  /// Buffers: where it does not hold, there is none, and kernels get a null pointer.
  std::optional<Expression> when = {};
  /// Of a struct or vector by value: a scalar for each of `members`, such as `shift.by`.
  std::vector<ArgumentSpec> fields = {};
};

/// A TMA descriptor in kernels' arguments; see TensorMap.
struct TensorMapSpec {
  std::string name;
  Expression buffer;  // its name, or as chosen by `? :`
  std::vector<Expression> dims, strides, box;
  std::optional<Expression> swizzle_bytes;
  bool tf32 = false;
};

/// A texture object in kernels' arguments; see Texture.
struct TextureSpec {
  std::string name;
  Expression buffer;  // its name, or as chosen by `? :`
  std::vector<Expression> dims;
  TextureFilter filter = TextureFilter::point;
  TextureAddress address = TextureAddress::clamp;
  bool normalized = false;
};

/// An argument of a launch: an expression, or a buffer, scalar, tensor map or texture, by name or
/// as chosen by `? :`. A parameter that holds a word is passed as the number of its macro.
struct PassedArgument {
  PassedArgument(Expression passed)
      : value(std::move(passed)) {}  // NOLINT(google-explicit-constructor)
  /// Throws ExpressionError.
  PassedArgument(const char* text)
      : value(Expression::parse(text)) {}  // NOLINT(google-explicit-constructor)

  Expression value;
  std::string type = "i32";  // of an expression, as ArgumentSpec::type
  std::optional<Expression> when = {};
};

/// A grid that replaces the kernel's own (see ConstantGrid): 1 to 3 expressions.
struct ConstantGridSpec {
  std::string buffer;
  std::vector<Expression> grid;
};

/// An option of compilers that depends on the configuration, such as `-maxrregcount={}`, with a
/// value for each `{}`. Sources are preprocessed alike with and without it. Or a word of a command.
struct OptionSpec {
  std::string text;
  std::vector<Expression> values = {};
  std::optional<Expression> when = {};
};

/// The words of a Command.
using CommandSpec = std::vector<OptionSpec>;

/// One launch of a configuration. `entry` is the name of an extern "C" kernel, or any C++ name of
/// one, such as `conv::filter<float, {}>`, with a value for each `{}`.
struct KernelSpec {
  std::string entry;
  std::optional<Expression> when;
  std::vector<Expression> grid, block, cluster;  // 1 to 3 each; cluster may be empty
  std::optional<Expression> dynamic_shared_bytes;
  std::optional<Expression> starts_early = {};
  std::vector<PassedArgument> arguments;
  std::string key = {};  // for errors: `kernels[0]`; derived from the position if empty
  bool is_main = false;  // the cost model describes this kernel, if it is launched
  std::vector<Expression> entry_values = {};
  std::vector<AccessSpec> accesses = {};  // declared ones, to global memory
  std::vector<ConstantGridSpec> with_constant = {};
  std::optional<Expression> cooperative = {};  // see Launch
  /// How often it is launched. Its expressions may use `turn` (from 0 on) and `turns`.
  std::optional<Expression> repeat = {};
  /// Neighbours with the same name here, if it is not empty, are repeated together, in order.
  std::string group = {};
  CommandSpec command = {};  // runs in place of a kernel, if it has words
};

/// The names of a repeated kernel's turn and of the number of turns.
inline constexpr const char* kTurn = "turn";
inline constexpr const char* kTurns = "turns";

/// The source of the reference results.
struct ReferenceSpec {
  enum class Kind : std::uint8_t { kernels, file, default_configuration } kind = Kind::kernels;
  std::vector<KernelSpec> kernels;        // plain kernels in the same source
  std::filesystem::path file;             // raw little-endian elements of the outputs, in order
  std::string file_hash = {};             // of its content
  bool float64_outputs = true;            // the reference kernel writes f32 outputs as double
  std::optional<CommandSpec> build = {};  // of its command, if not the target's own
};

/// The values that a size may have.
struct SizeRule {
  std::optional<std::int64_t> fixed = {};  // always this
  std::int64_t multiple = 1, least = 1;
  /// Its value where it is left out. Only the last sizes have one.
  std::optional<std::int64_t> if_absent = {};
};

/// A size of 64 bits outside of the key, such as a leading dimension. Each call may give it. Its
/// default is the definition of this name.
struct FreeSize {
  std::string name;
  Expression least;
  std::optional<std::int64_t> most = {};
};

/// The free size that is the alignment of an argument, in bytes: `A_aligned`.
inline std::string aligned_name(const std::string& argument) { return argument + "_aligned"; }

/// What a problem must fulfil.
struct ProblemRule {
  Expression condition;
  std::string message;  // if it does not hold
};

/// A parameter's value in a default configuration, as an expression of the problem. The
/// configuration itself has the parameter's first value there.
struct SizedDefault {
  std::size_t configuration = 0;  // 0: Target::default_configuration, then Target::other_defaults
  std::size_t parameter = 0;
  Expression value;
};

/// The source of one family, which is compiled after the target's.
struct FamilySource {
  std::filesystem::path path = {};
  std::string text = {};  // with a #line before it; empty if the family has none of its own
};

/// Names in all expressions: sizes, settings, parameters, defines (those above), `device.*`.
struct Target {
  std::string name;
  std::string description;
  std::filesystem::path manifest;            // empty for a plugin's
  std::filesystem::path source_path;         // the first, if there are several
  std::string source_text;                   // all sources, with a #line before each but the first
  std::string system_includes = {};          // lines that precede the macros, too
  std::vector<std::string> host_code = {};   // left out of the sources: `main (scale.cu:13)`
  std::vector<std::string> own_values = {};  // the same, of parameters: `BLOCK (scale.cu:2)`
  std::vector<FamilySource> family_sources = {};  // by the level of `family`, or none
  std::vector<std::filesystem::path> include_folders;
  std::vector<std::string> empty_headers;  // what includes them reads nothing
  std::vector<std::string> sizes;
  std::vector<SizeRule> size_rules = {};  // one per size, or none
  std::vector<FreeSize> free_sizes = {};
  std::vector<ProblemRule> rules = {};
  std::vector<Setting> settings;
  std::vector<Parameter> parameters;
  std::optional<std::size_t> family = {};  // the parameter that chooses among families
  std::vector<Expression> constraints;
  Configuration default_configuration;
  std::vector<Configuration> other_defaults = {};  // tried in order where it is not valid
  std::vector<SizedDefault> sized_defaults = {};   // values of these that depend on the problem
  std::vector<DefineSpec> defines;
  std::optional<Expression> bake_sizes;             // where 1, sizes are compiled in as macros:
  std::string size_macros = "SIZE_*";               // `*` stands for the name of a size
  std::vector<std::string> options;                 // the same in all configurations
  std::vector<OptionSpec> configured_options = {};  // after those; not of the reference
  /// Of a target that is a command: what builds it, see SourceUnit, and the rest of its Command.
  std::optional<CommandSpec> build = {};
  std::string time = {};
  double limit_seconds = 0;
  std::vector<ArgumentSpec> arguments;
  std::vector<ArgumentSpec> workspace;  // and unchecked outputs; lengths may depend on parameters
  std::vector<TensorMapSpec> tensor_maps;
  std::vector<TextureSpec> textures = {};
  std::vector<KernelSpec> kernels;
  std::vector<KernelSpec> prepare_kernels = {};  // write inputs whose fill is Fill::prepared
  std::vector<KernelSpec> check_kernels = {};    // write outputs with the role checked
  ReferenceSpec reference;
  std::optional<Expression> flops, bytes;  // of one call
  std::optional<Expression> registers;     // per thread; estimate before compiling
  std::optional<Expression> shared_bytes;  // per block, static; estimate before compiling
  /// Input of the cost model: named quantities of one call, such as `l2_bytes`.
  /// tuner/model/cost_model.hpp lists the names.
  std::vector<DefineSpec> model;  // of several with one name, the first whose `when` holds
  /// Hash of all that a measurement depends on: source, included files, launches and arguments. It
  /// excludes parameters and constraints.
  std::string fingerprint;
  std::string space_fingerprint = {};  // of parameters and constraints
  /// A plugin's own inputs and reference results: writes files of them for the workload. May be
  /// empty.
  std::function<Workload(Workload)> prepare;
  /// The target whose workload this one has, if it has none of its own: see candidate_for().
  std::shared_ptr<const Target> against = nullptr;
};

/// `shared` for `fast.shared`: names of a family have its name as a prefix.
std::string short_name(const std::string& name);

/// The start of errors about a target: its manifest's path, or its name.
std::string place_of(const Target& target);

/// The rule of the size with this number; without one, any size is allowed.
SizeRule size_rule(const Target& target, std::size_t i);

/// How many sizes must be given; those after them have a value where they are left out.
std::size_t needed_sizes(const Target& target);

/// Sizes in the target's order, then any free sizes, with the values of sizes that are left out.
/// Unchanged if there are fewer than needed.
std::vector<std::int64_t> all_sizes(const Target& target, std::span<const std::int64_t> given);

/// Sizes and settings of one problem. Sizes and settings that are left out have their default.
/// Throws UsageError for a size that has none, an unknown name, and for a value that is not
/// offered.
Problem problem_of(const Target& target, const NamedValues& sizes, const NamedValues& chosen);

/// Throws UsageError if the target has not this value of its i-th size.
void check_size(const Target& target, std::size_t i, std::int64_t size);

/// The first value from `least` on that the target has of its i-th size; the value of a fixed one.
std::int64_t size_from(const Target& target, std::size_t i, std::int64_t least);

/// A problem of the target with these settings, for what does not depend on sizes: those from
/// `least` on.
Problem problem_from(const Target& target, std::int64_t least, const NamedValues& settings);

/// Every setting in the target's order: as given, else its default.
NamedValues all_settings(const Target& target, const NamedValues& given);

/// These settings with the default of each whose default is alike, but for types: what is pinned
/// for the plain product is pinned for whatever else is done to its result.
NamedValues plain_settings(const Target& target, const NamedValues& settings);

/// Settings whose problems take about the same times in the same configurations: see
/// Setting::alike. Settings that have their default keep it.
std::vector<NamedValues> alike_settings(const Target& target, const NamedValues& settings);

/// The names of all sizes: those of the key, then the free ones.
std::vector<std::string> size_names(const Target& target);

/// The sizes of a problem in the target's order. Throws Error if the problem lacks one, such as a
/// stored problem of an earlier manifest.
std::vector<std::int64_t> sizes_of(const Target& target, const Problem& problem);

/// The problem as text for people, with sizes and the settings and free sizes that are not at their
/// default: `M=512 N=512 K=512 layout=NT lda=520`. Problem::text() has all settings.
std::string problem_text(const Target& target, const Problem& problem);

/// Sizes, settings, free sizes away from their defaults and `device.*`; a setting that holds an
/// element type also gives its size, as `dtype_bytes`.
Scope scope_of(const Problem& problem, const DeviceInfo& device);

/// The target with some parameters fixed to one value by additional constraints. Word numbers and
/// ranks do not change. A configuration in which a fixed parameter has no meaning is not valid.
/// Throws UsageError for an unknown parameter or value, and for one that is given twice.
Target with_fixed(Target target, const NamedValues& fixed);

/// Throws UsageError with near names if there is none.
const Parameter& parameter_called(const Target& target, const std::string& name);

/// with_fixed(), and parameters for bits that are not among these have their first value.
Target for_speed(Target target, const NamedValues& fixed = {});

/// Throws UsageError if the problem breaks a rule of the target, or a free size is below its least.
void require_offered(const Target& target, const Problem& problem, const DeviceInfo& device);

/// The space of one problem on one device. Throws Error that names the target, and UsageError if
/// the problem breaks a rule of the target.
ParameterSpace space_of(const Target& target, const Problem& problem, const DeviceInfo& device);

/// Whether one configuration is valid. Cheap: does not build the space.
bool is_valid(const Target& target, const Problem& problem, const Configuration& configuration,
              const DeviceInfo& device);

/// Whether problems may be refused: TargetProgram::refusal().
bool has_rules(const Target& target);

/// A sentence if no configuration is valid, with what to do; else "".
std::string why_refused(const Target& target, const ParameterSpace& space);

/// The index of the default configuration: the first of `defaults` (TargetProgram::defaults()) that
/// is valid for this problem and device. If none is, the valid configuration with most values of
/// one of them (lowest index first). Throws Error if the space is empty.
std::size_t default_index(const Target& target, const std::vector<Levels>& defaults,
                          const ParameterSpace& space);
/// The same among the others than `excluded`; nullopt if there is none.
std::optional<std::size_t> default_index_without(const std::vector<Levels>& defaults,
                                                 const ParameterSpace& space,
                                                 std::span<const Configuration> excluded);

/// The configuration at default_index(). Builds the space only if no default of the manifest is
/// valid.
Configuration valid_default(const Target& target, const Problem& problem, const DeviceInfo& device);

/// The active parameters of a configuration with their values; all of them if the configuration
/// does not belong to the target, such as one of an earlier manifest.
NamedValues active_values(const Target& target, const Problem& problem,
                          const Configuration& configuration, const DeviceInfo& device);

/// The active parameters as text.
std::string configuration_text(const Target& target, const Problem& problem,
                               const Configuration& configuration, const DeviceInfo& device);
/// The same for a stored configuration; unchanged if it does not belong to the target.
std::string configuration_text(const Target& target, const Problem& problem,
                               std::string_view stored, const DeviceInfo& device);

/// Prelude and source. Settings, in upper case, parameters and defines become macros. Words:
/// `#define PREFETCH_NONE 0 … #define PREFETCH PREFETCH_NONE` (level numbers), unless WordForm says
/// otherwise. Run-time parameters have no macro of their own; `bake_sizes` adds SIZE_<name>.
SourceUnit source_unit(const Target& target, const Problem& problem,
                       const Configuration& configuration, const DeviceInfo& device);

/// A macro that source_unit() may define, and its origin in the manifest: `parameter BLOCK`.
struct Macro {
  std::string name;
  std::string owner;
  std::string family = {};  // of a family's define or parameter
};
/// A parameter of several families gives one entry for each.
std::vector<Macro> macros_of(const Target& target);

/// The target's source and those of all families.
std::string all_sources(const Target& target);

/// The commands that build and run a configuration of a target that is a program; else empty.
std::vector<Command> commands_of(const Target& target, const Problem& problem,
                                 const Configuration& configuration, const DeviceInfo& device);

/// Throws Error if the target is a program: `what`, such as libautotune, launches kernels only.
void require_kernels(const Target& target, std::string_view what);

/// Launch geometry and arguments. Throws KernelFailure (invalid) if a launch exceeds a limit of the
/// device, and Error with manifest, key and column if an expression makes no sense.
LaunchPlan launch_plan(const Target& target, const Problem& problem,
                       const Configuration& configuration, const DeviceInfo& device);

/// The buffers of a problem, without workspace.
std::vector<BufferSpec> buffers_of(const Target& target, const Problem& problem,
                                   const DeviceInfo& device);

/// The scalars of a problem with their values, which may not depend on parameters.
std::vector<Scalar> scalars_of(const Target& target, const Problem& problem,
                               const DeviceInfo& device);

/// Buffers, scalars and reference.
Workload workload_of(const Target& target, const Problem& problem, const DeviceInfo& device);

/// The same after Target::prepare, ready for a device to open. Throws Error.
Workload prepared_workload_of(const Target& target, const Problem& problem,
                              const DeviceInfo& device);

/// FLOPs and bytes of one call; 0 if the manifest has none.
struct Work {
  double flops = 0;
  double bytes = 0;
};
Work work_of(const Target& target, const Problem& problem, const DeviceInfo& device);

}  // namespace autotune
