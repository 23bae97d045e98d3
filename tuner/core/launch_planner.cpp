// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/launch_planner.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "tuner/core/fill.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

constexpr std::int64_t kLongestBuffer = std::int64_t{1} << 48;  // elements; bytes cannot overflow
constexpr std::int64_t kLongestBox = 256;                       // of TMA, in each dimension

bool fits_int(std::int64_t value) {
  return value >= std::numeric_limits<std::int32_t>::min() &&
         value <= std::numeric_limits<std::int32_t>::max();
}

/// `key` makes the text of a key; it is asked for in errors only.
template <class Key>
void require_int(const FormulaValues& values, const Key& key, std::int64_t value) {
  if (fits_int(value)) return;
  values.fail(key(), format("{} does not fit an int: give it type i64 under \"arguments\"", value));
}

/// Limits of the device: what is over one makes the configuration invalid, which is no error.
class Limits {
 public:
  explicit Limits(const DeviceInfo& device) : device_(device) {}

  void check(const Launch& launch, const std::string& key) const {
    check(launch.grid, device_.max_grid, key, "grid");
    check(launch.block, device_.max_block, key, "block");
    if (launch.block.count() > device_.max_threads_per_block) {
      refuse(key + ".block", format("{} threads", launch.block.count()),
             std::to_string(device_.max_threads_per_block));
    }
    if (launch.dynamic_shared_bytes > device_.shared_bytes_per_block) {
      refuse(key + ".dynamic_shared_bytes", format("{} bytes", launch.dynamic_shared_bytes),
             std::to_string(device_.shared_bytes_per_block));
    }
    const Dim3 &grid = launch.grid, &cluster = launch.cluster;
    if (grid.x % cluster.x != 0 || grid.y % cluster.y != 0 || grid.z % cluster.z != 0) {
      throw KernelFailure(Outcome::invalid,
                          format("{}.grid: {}x{}x{} is no multiple of the cluster {}x{}x{}", key,
                                 grid.x, grid.y, grid.z, cluster.x, cluster.y, cluster.z));
    }
  }

  [[noreturn]] void refuse(const std::string& key, const std::string& what,
                           const std::string& most) const {
    throw KernelFailure(Outcome::invalid,
                        format("{}: {}, {} allows {}", key, what, device_.name, most));
  }

 private:
  void check(const Dim3& size, const Dim3& most, const std::string& key, const char* part) const {
    if (size.x <= most.x && size.y <= most.y && size.z <= most.z) return;
    refuse(format("{}.{}", key, part), format("{}x{}x{}", size.x, size.y, size.z),
           format("{}x{}x{}", most.x, most.y, most.z));
  }

  const DeviceInfo& device_;
};

}  // namespace

/// The plan of one configuration, in the making. Of the definitions, those are computed that what
/// is launched needs.
class LaunchPlanner::Plan {
 public:
  Plan(const LaunchPlanner& planner, std::span<const std::uint16_t> levels)
      : planner_(planner),
        slots_(planner.names_.slots(levels, {}, {})),
        is_computed_(planner.names_.definitions()),
        question_{planner.target_, planner.problem_, levels},
        values_(planner.names_, slots_, question_),
        workspace_(planner.workspace_.size(), kNone) {}

  LaunchPlan make(const Program& program, bool is_reference) {
    need(program.schedule);
    add_constants(is_reference);
    if (!is_reference) add_unchecked();
    plan_.launches = launches(program);
    if (plan_.launches.empty()) {
      values_.fail(program.key, "no kernel is launched: every \"when\" is 0");
    }
    if (!is_reference) plan_.checks = launches(planner_.checks_);
    return std::move(plan_);
  }

 private:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  void need(const Schedule& schedule) {
    for (const std::uint32_t definition : schedule) {
      if (!std::exchange(is_computed_[definition], 1)) planner_.names_.compute(slots_, definition);
    }
  }

  /// The reference may read from constant memory whatever the configuration does.
  void add_constants(bool is_reference) {
    for (const Array& array : planner_.arguments_) {
      if (!array.constant) continue;
      if (is_reference || values_.holds(array.constant, [&] { return array.key + ".constant"; })) {
        plan_.constants.push_back({array.index, array.spec->name, is_reference});
      }
    }
  }

  /// These stand first, so that an application knows where its own buffers for them go.
  void add_unchecked() {
    for (std::size_t i = 0; i < workspace_.size(); ++i) {
      const bool is_unchecked = planner_.workspace_[i].spec->role == Role::unchecked;
      if (is_unchecked) (void)buffer(planner_.arguments_.size() + i);
    }
  }

  std::vector<Launch> launches(const Program& program) {
    need(program.schedule);
    std::vector<Launch> launches;
    launches.reserve(program.kernels.size());
    for (const Kernel& kernel : program.kernels) {
      const auto key = [&] { return kernel.key + ".when"; };
      if (values_.holds(kernel.when, key)) launches.push_back(launch_of(kernel));
    }
    return launches;
  }

  Launch launch_of(const Kernel& kernel) {
    need(kernel.schedule);
    Launch launch;
    launch.entry = kernel.entry.text(values_, kernel.key);
    launch.grid = dimensions(kernel.grid, kernel.key, "grid");
    launch.block = dimensions(kernel.block, kernel.key, "block");
    launch.cluster = dimensions(kernel.cluster, kernel.key, "cluster");
    if (kernel.dynamic_shared_bytes) {
      launch.dynamic_shared_bytes = values_.at_least(
          0, *kernel.dynamic_shared_bytes, [&] { return kernel.key + ".dynamic_shared_bytes"; });
    }
    launch.starts_early = kernel.starts_early && values_.holds(kernel.starts_early, [&] {
      return kernel.key + ".starts_early";
    });
    Limits(planner_.device_).check(launch, kernel.key);
    launch.arguments.reserve(kernel.arguments.size());
    for (std::size_t i = 0; i < kernel.arguments.size(); ++i) {
      const Passed& passed = kernel.arguments[i];
      const auto key = [&] { return format("{}.arguments[{}]", kernel.key, i); };
      if (values_.holds(passed.when, key)) launch.arguments.push_back(argument(passed, key));
    }
    return launch;
  }

  Dim3 dimensions(const std::vector<Formula>& formulas, const std::string& key,
                  const char* part) const {
    std::array<std::int64_t, 3> sizes{1, 1, 1};
    for (std::size_t i = 0; i < formulas.size(); ++i) {
      sizes[i] =
          values_.at_least(1, formulas[i], [&] { return format("{}.{}[{}]", key, part, i); });
    }
    return {sizes[0], sizes[1], sizes[2]};
  }

  template <class Key>
  Argument argument(const Passed& passed, const Key& key) {
    if (passed.ready) return *passed.ready;
    if (passed.kind == Passed::Kind::handle) return handle(values_.value(passed.value, key));
    if (passed.kind == Passed::Kind::level) {
      return Scalar{ElementType::i32, values_.levels()[passed.parameter], 0};
    }
    const ElementType type = passed.type.of(values_.levels());
    if (is_floating(type)) return Scalar{type, 0, values_.number(passed.value)};
    const std::int64_t value = values_.value(passed.value, key);
    if (type == ElementType::i32) require_int(values_, key, value);
    return Scalar{type, value, 0};
  }

  /// By its number: an argument, a workspace or a tensor map.
  Argument handle(std::int64_t number) {
    const auto index = static_cast<std::size_t>(number);
    const std::size_t arguments = planner_.arguments_.size();
    if (index >= arguments + workspace_.size()) {
      return tensor_map(planner_.maps_[index - arguments - workspace_.size()]);
    }
    if (index < arguments && !planner_.arguments_[index].length) {
      return planner_.scalar_of(planner_.arguments_[index], values_);
    }
    return BufferRef{buffer(index)};
  }

  /// A workspace is made on first use.
  std::uint32_t buffer(std::size_t handle) {
    const std::size_t arguments = planner_.arguments_.size();
    if (handle < arguments) return planner_.arguments_[handle].index;
    std::uint32_t& index = workspace_[handle - arguments];
    if (index == kNone) {
      const Array& array = planner_.workspace_[handle - arguments];
      need(array.schedule);
      index = planner_.buffers_ + static_cast<std::uint32_t>(plan_.workspace.size());
      plan_.workspace.push_back(planner_.buffer_of(array, values_));
    }
    return index;
  }

  TensorMap tensor_map(const Map& map) {
    need(map.schedule);
    TensorMap made;
    const auto key = [&](const char* part) { return format("{}.{}", map.key, part); };
    made.buffer =
        buffer(static_cast<std::size_t>(values_.value(map.buffer, [&] { return key("buffer"); })));
    made.dims = sizes(map.dims, map.key, "dims");
    made.strides = sizes(map.strides, map.key, "strides");
    made.box = sizes(map.box, map.key, "box");
    for (const std::int64_t length : made.box) {
      if (length <= kLongestBox) continue;
      Limits(planner_.device_)
          .refuse(key("box"), std::to_string(length), std::to_string(kLongestBox));
    }
    if (map.swizzle_bytes) {
      const auto at = [&] { return key("swizzle_bytes"); };
      const std::int64_t bytes = values_.value(*map.swizzle_bytes, at);
      if (bytes != 0 && bytes != 32 && bytes != 64 && bytes != 128) {
        values_.fail(at(), format("{} is none of 0, 32, 64, 128", bytes));
      }
      made.swizzle_bytes = static_cast<int>(bytes);
    }
    return made;
  }

  std::vector<std::int64_t> sizes(const std::vector<Formula>& formulas, const std::string& key,
                                  const char* part) const {
    std::vector<std::int64_t> values;
    values.reserve(formulas.size());
    for (std::size_t i = 0; i < formulas.size(); ++i) {
      values.push_back(
          values_.at_least(1, formulas[i], [&] { return format("{}.{}[{}]", key, part, i); }));
    }
    return values;
  }

  const LaunchPlanner& planner_;
  Slots slots_;
  std::vector<std::uint8_t> is_computed_;  // by definition
  const Question question_;
  const FormulaValues values_;
  std::vector<std::uint32_t> workspace_;  // where each stands in the plan
  LaunchPlan plan_;
};

LaunchPlanner::LaunchPlanner(const Target& target, const Problem& problem, const DeviceInfo& device,
                             NameTable& names)
    : target_(target), problem_(problem), device_(device), names_(names) {
  for (const ArgumentSpec& spec : target.arguments) {
    arguments_.push_back(array_of(spec, "arguments." + spec.name));
    if (spec.length) arguments_.back().index = buffers_++;
  }
  for (const ArgumentSpec& spec : target.workspace) {
    workspace_.push_back(array_of(spec, "workspace." + spec.name));
  }
  for (const TensorMapSpec& spec : target.tensor_maps) maps_.push_back(map_of(spec));
  fixed_slots_ = names_.initial();
  kernels_ = program_of(target.kernels, "kernels");
  checks_ = program_of(target.check_kernels, "check.kernels");
  reference_ = program_of(target.reference.kernels, "reference.kernels");
  preparation_ = program_of(target.prepare_kernels, "prepare.kernels");
}

LaunchPlanner::Array LaunchPlanner::array_of(const ArgumentSpec& spec, const std::string& key) {
  Array array{&spec,
              key,
              type_of(key + ".type", spec.type),
              names_.bind(spec.length),
              names_.bind(spec.tolerance),
              names_.bind(spec.value),
              names_.bind(spec.constant),
              names_.bind(spec.absolute),
              names_.bind(spec.fill_values)};
  array.schedule = names_.schedule(array.length);
  return array;
}

LaunchPlanner::Map LaunchPlanner::map_of(const TensorMapSpec& spec) {
  const std::string key = "tensor_maps." + spec.name;
  for (const std::string& name : spec.buffer.names()) {
    if (is_handle(name) || spec.buffer.names().size() > 1) continue;
    Question{target_, problem_, {}}.fail(key + ".buffer", format("there is no buffer {}", name));
  }
  Map map{&spec,
          key,
          names_.bind(spec.buffer),
          names_.bind(spec.dims),
          names_.bind(spec.strides),
          names_.bind(spec.box),
          names_.bind(spec.swizzle_bytes)};
  map.schedule = names_.schedule(map.buffer, map.dims, map.strides, map.box, map.swizzle_bytes);
  return map;
}

LaunchPlanner::Program LaunchPlanner::program_of(const std::vector<KernelSpec>& kernels,
                                                 const std::string& key) {
  Program program{key, {}, {}};
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const std::string& own = kernels[i].key;
    program.kernels.push_back(kernel_of(kernels[i], own.empty() ? format("{}[{}]", key, i) : own));
    names_.add_to(program.schedule, program.kernels.back().when);
  }
  for (const Array& each : arguments_) names_.add_to(program.schedule, each.constant);
  std::ranges::sort(program.schedule);
  return program;
}

Schedule LaunchPlanner::schedule_of(const Kernel& kernel) const {
  Schedule schedule = names_.schedule(kernel.grid, kernel.block, kernel.cluster,
                                      kernel.dynamic_shared_bytes, kernel.starts_early);
  kernel.entry.add_to(schedule, names_);
  for (const Passed& each : kernel.arguments) {
    names_.add_to(schedule, each.value);
    names_.add_to(schedule, each.when);
  }
  std::ranges::sort(schedule);
  return schedule;
}

LaunchPlanner::Kernel LaunchPlanner::kernel_of(const KernelSpec& spec, const std::string& key) {
  Kernel kernel{key,
                EntryName(target_, problem_, spec, names_),
                names_.bind(spec.when),
                names_.bind(spec.grid),
                names_.bind(spec.block),
                names_.bind(spec.cluster),
                names_.bind(spec.dynamic_shared_bytes),
                names_.bind(spec.starts_early),
                {},
                {}};
  for (std::size_t i = 0; i < spec.arguments.size(); ++i) {
    kernel.arguments.push_back(passed_of(spec.arguments[i], format("{}.arguments[{}]", key, i)));
  }
  kernel.schedule = schedule_of(kernel);
  return kernel;
}

LaunchPlanner::Passed LaunchPlanner::passed_of(const PassedArgument& argument,
                                               const std::string& key) {
  using Kind = Passed::Kind;
  const std::vector<std::string>& names = argument.value.names();
  const bool is_handle =
      std::ranges::any_of(names, [&](auto& name) { return this->is_handle(name); });
  Passed passed{is_handle ? Kind::handle : Kind::value, names_.bind(argument.value),
                type_of(key, argument.type), 0, names_.bind(argument.when)};
  for (std::size_t i = 0; i < target_.parameters.size(); ++i) {
    const Parameter& parameter = target_.parameters[i];
    if (argument.value.text() != parameter.name || !parameter.values.front().is_word()) continue;
    passed.kind = Kind::level;
    passed.parameter = i;
  }
  passed.ready = ready_argument(passed);
  return passed;
}

/// Of what no configuration changes: a buffer of the problem, or an integer.
std::optional<Argument> LaunchPlanner::ready_argument(const Passed& passed) const {
  if (!passed.value.is_fixed() || passed.kind == Passed::Kind::level) return std::nullopt;
  const std::int64_t value = *passed.value.value(fixed_slots_);
  if (passed.kind == Passed::Kind::handle) {
    const auto index = static_cast<std::size_t>(value);
    if (index >= arguments_.size() || !arguments_[index].length) return std::nullopt;
    return BufferRef{arguments_[index].index};
  }
  const ElementType type = passed.type.choices.front();
  if (passed.type.choices.size() > 1 || is_floating(type)) return std::nullopt;
  if (type == ElementType::i32 && !fits_int(value)) return std::nullopt;
  return Scalar{type, value, 0};
}

/// What names a handle is one: expressions only choose among them.
bool LaunchPlanner::is_handle(const std::string& name) const {
  const auto named = [&](const auto& each) { return each.name == name; };
  return std::ranges::any_of(target_.arguments, named) ||
         std::ranges::any_of(target_.workspace, named) ||
         std::ranges::any_of(target_.tensor_maps, named);
}

LaunchPlanner::Type LaunchPlanner::type_of(const std::string& key, const std::string& name) const {
  const auto parameter = std::ranges::find(target_.parameters, name, &Parameter::name);
  if (parameter == target_.parameters.end()) return {{element_type_of(key, name)}, 0};
  Type type{{}, static_cast<std::size_t>(parameter - target_.parameters.begin())};
  for (const Value& value : parameter->values) {
    type.choices.push_back(element_type_of(key, value.text()));
  }
  return type;
}

ElementType LaunchPlanner::element_type_of(const std::string& key, const std::string& name) const {
  const Value* const setting = find_value(problem_.values, name);
  const auto type = element_type(setting ? setting->text() : name);
  if (type) return *type;
  Question{target_, problem_, {}}.fail(key,
                                       format("{} is no element type ({})", name, element_types()));
}

LaunchPlan LaunchPlanner::plan(std::span<const std::uint16_t> levels) const {
  return Plan(*this, levels).make(kernels_, false);
}

LaunchPlan LaunchPlanner::reference_plan(std::span<const std::uint16_t> levels) const {
  return Plan(*this, levels).make(reference_, true);
}

LaunchPlan LaunchPlanner::preparation(std::span<const std::uint16_t> levels) const {
  return preparation_.kernels.empty() ? LaunchPlan{} : Plan(*this, levels).make(preparation_, true);
}

std::vector<BufferSpec> LaunchPlanner::buffers() const {
  const Question question{target_, problem_, {}};
  const FormulaValues values(names_, fixed_slots_, question);
  std::vector<BufferSpec> buffers;
  for (const Array& array : arguments_) {
    if (array.length) buffers.push_back(buffer_of(array, values));
  }
  return buffers;
}

std::vector<Scalar> LaunchPlanner::scalars() const {
  const Question question{target_, problem_, {}};
  const FormulaValues values(names_, fixed_slots_, question);
  std::vector<Scalar> scalars;
  for (const Array& array : arguments_) {
    if (!array.length) scalars.push_back(scalar_of(array, values));
  }
  return scalars;
}

BufferSpec LaunchPlanner::buffer_of(const Array& array, const FormulaValues& values) const {
  const ArgumentSpec& spec = *array.spec;
  BufferSpec buffer;
  buffer.name = short_name(spec.name);
  buffer.type = array.type.of(values.levels());
  const auto key = [&] { return array.key + ".length"; };
  buffer.length = values.at_least(1, *array.length, key);
  if (buffer.length > kLongestBuffer / spec.width) {
    values.fail(key(), format("{} elements are too many", buffer.length));
  }
  buffer.length *= spec.width;
  buffer.role = spec.role;
  buffer.fill = spec.fill;
  buffer.seed = spec.seed;
  const auto fill_key = [&] { return array.key + ".fill"; };
  for (const Formula& each : array.fill_values) {
    (void)values.value(each, fill_key);  // or says why not
    buffer.fill_values.push_back(values.number(each));
  }
  if (const std::string why = fill_complaint(buffer); !why.empty()) values.fail(fill_key(), why);
  if (spec.file) {
    check_file(array, buffer, values);
    buffer.file = spec.file->path;
    buffer.file_offset = spec.file->offset;
  }
  if (array.tolerance) {
    buffer.tolerance = static_cast<double>(
        values.at_least(0, *array.tolerance, [&] { return array.key + ".tolerance"; }));
  }
  if (array.absolute) {
    const auto absolute_key = [&] { return array.key + ".absolute"; };
    (void)values.value(*array.absolute, absolute_key);  // or says why not
    buffer.absolute = values.number(*array.absolute);
    if (!(buffer.absolute >= 0) || !std::isfinite(buffer.absolute)) {
      values.fail(absolute_key(), format("{} is no error that could be allowed", buffer.absolute));
    }
  }
  return buffer;
}

void LaunchPlanner::check_file(const Array& array, const BufferSpec& buffer,
                               const FormulaValues& values) {
  const InputFile& file = *array.spec->file;
  const std::string name = file.path.filename().string();
  const std::string_view type = name_of(buffer.type);
  if (!file.type.empty() && file.type != type) {
    values.fail(array.key + ".type", format("is {}, and {} holds {}", type, name, file.type));
  }
  if (buffer.bytes() == file.bytes) return;
  values.fail(array.key + ".length", format("{} elements of {} are {} bytes, and {} has {}",
                                            buffer.length, type, buffer.bytes(), name, file.bytes));
}

Scalar LaunchPlanner::scalar_of(const Array& array, const FormulaValues& values) const {
  const ArgumentSpec& spec = *array.spec;
  const auto key = [&] { return array.key + ".value"; };
  Scalar scalar;
  scalar.name = spec.name;
  scalar.type = array.type.of(values.levels());
  const bool is_real = spec.real || array.value->expression().kind() == ValueKind::real;
  if (is_real && !is_floating(scalar.type)) {
    values.fail(key(), format("{} is no value of an integer type",
                              spec.real ? *spec.real : values.number(*array.value)));
  }
  if (is_floating(scalar.type)) {
    if (!spec.real) values.value(*array.value, key);  // or says why not
    scalar.real = spec.real ? *spec.real : values.number(*array.value);
    return scalar;
  }
  scalar.integer = values.value(*array.value, key);
  if (scalar.type == ElementType::i32) require_int(values, key, scalar.integer);
  return scalar;
}

}  // namespace autotune
