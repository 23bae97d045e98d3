// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/launch_planner.hpp"

#include <algorithm>

#include "tuner/text/format.hpp"

namespace autotune {

LaunchPlanner::LaunchPlanner(const Target& target, const Problem& problem, const DeviceInfo& device,
                             NameTable& names)
    : target_(target),
      problem_(problem),
      device_(device),
      names_(names),
      turn_(names.variable(kTurn)),
      turns_(names.variable(kTurns)) {
  for (const ArgumentSpec& spec : target.arguments) {
    arguments_.push_back(array_of(spec, "arguments." + spec.name));
    arguments_.back().is_absent = is_absent(arguments_.back());
    if (spec.length && !arguments_.back().is_absent) arguments_.back().index = buffers_++;
  }
  for (const ArgumentSpec& spec : target.workspace) {
    workspace_.push_back(array_of(spec, "workspace." + spec.name));
  }
  for (const TensorMapSpec& spec : target.tensor_maps) maps_.push_back(map_of(spec));
  for (const TextureSpec& spec : target.textures) textures_.push_back(texture_of(spec));
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
              names_.bind(spec.repeatable),
              names_.bind(spec.streams),
              names_.bind(spec.alignment),
              names_.bind(spec.fill_values)};
  array.dims = names_.bind(spec.dims);
  array.strides = names_.bind(spec.strides);
  array.schedule = names_.schedule(array.length, array.dims, array.strides);
  for (const MemberSpec& member : spec.members) {
    array.members.push_back(type_of(key + ".type", member.type));
  }
  for (const ArgumentSpec& field : spec.fields) {
    array.fields.push_back(array_of(field, "arguments." + field.name));
  }
  if (is_plain(array)) {
    BufferSpec& plain = array.plain.emplace();
    plain.name = short_name(spec.name);
    plain.type = array.type.choices.front();
    plain.role = spec.role;
    plain.fill = spec.fill;
    plain.seed = spec.seed;
  }
  return array;
}

/// Its condition has the same value in all configurations.
bool LaunchPlanner::is_absent(const Array& array) const {
  if (!array.spec->when) return false;
  const Formula when = names_.bind(*array.spec->when);
  const Slots slots = names_.slots(Levels(names_.parameters()), {}, names_.schedule(when));
  const Question question{target_, problem_, {}};
  return FormulaValues(names_, slots, question).value(when, [&] { return array.key + ".when"; }) ==
         0;
}

bool LaunchPlanner::is_plain(const Array& array) {
  const bool is_filled_simply =
      array.fill_values.empty() && !array.spec->file && array.members.empty();
  const bool is_compared = array.tolerance || array.absolute || array.repeatable || array.streams;
  return array.length && array.dims.empty() && array.type.choices.size() == 1 && is_filled_simply &&
         !is_compared;
}

bool LaunchPlanner::is_fixed_value(const Array& array) {
  if (!array.fields.empty()) return std::ranges::all_of(array.fields, is_fixed_value);
  return array.type.choices.size() == 1 && (array.spec->real || array.value->is_fixed());
}

LaunchPlanner::Map LaunchPlanner::map_of(const TensorMapSpec& spec) {
  const std::string key = "tensor_maps." + spec.name;
  require_handle(spec.buffer, key);
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

LaunchPlanner::TextureObject LaunchPlanner::texture_of(const TextureSpec& spec) {
  const std::string key = "textures." + spec.name;
  require_handle(spec.buffer, key);
  TextureObject texture{&spec, key, names_.bind(spec.buffer), names_.bind(spec.dims)};
  texture.schedule = names_.schedule(texture.buffer, texture.dims);
  return texture;
}

void LaunchPlanner::require_handle(const Expression& buffer, const std::string& key) const {
  for (const std::string& name : buffer.names()) {
    if (is_handle(name) || buffer.names().size() > 1) continue;
    Question{target_, problem_, {}}.fail(key + ".buffer", format("there is no buffer {}", name));
  }
}

LaunchPlanner::Program LaunchPlanner::program_of(const std::vector<KernelSpec>& kernels,
                                                 const std::string& key) {
  Program program{key, {}, {}};
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const std::string& own = kernels[i].key;
    program.kernels.push_back(kernel_of(kernels[i], own.empty() ? format("{}[{}]", key, i) : own));
    names_.add_to(program.schedule, program.kernels.back().when);
    names_.add_to(program.schedule, program.kernels.back().repeat);
  }
  for (const Array& each : arguments_) names_.add_to(program.schedule, each.constant);
  std::ranges::sort(program.schedule);
  return program;
}

Schedule LaunchPlanner::schedule_of(const Kernel& kernel) const {
  Schedule schedule =
      names_.schedule(kernel.grid, kernel.block, kernel.cluster, kernel.dynamic_shared_bytes,
                      kernel.starts_early, kernel.cooperative);
  kernel.entry.add_to(schedule, names_);
  if (kernel.command) kernel.command->add_to(schedule, names_);
  for (const ConstantGridFormulas& each : kernel.with_constant) names_.add_to(schedule, each.grid);
  for (const Passed& each : kernel.arguments) {
    names_.add_to(schedule, each.value);
    names_.add_to(schedule, each.when);
  }
  std::ranges::sort(schedule);
  return schedule;
}

LaunchPlanner::Kernel LaunchPlanner::kernel_of(const KernelSpec& spec, const std::string& key) {
  Kernel kernel{key,
                EntryName(target_, problem_, spec.entry, spec.entry_values, names_),
                names_.bind(spec.when),
                names_.bind(spec.grid),
                names_.bind(spec.block),
                names_.bind(spec.cluster),
                names_.bind(spec.dynamic_shared_bytes),
                names_.bind(spec.starts_early),
                {},
                {},
                {}};
  for (std::size_t i = 0; i < spec.arguments.size(); ++i) {
    kernel.arguments.push_back(passed_of(spec.arguments[i], format("{}.arguments[{}]", key, i)));
  }
  for (const ConstantGridSpec& each : spec.with_constant) {
    require_handle(Expression::parse(each.buffer), key + ".grid_with_constant");
    kernel.with_constant.push_back({each.buffer, names_.bind(each.grid)});
  }
  kernel.cooperative = names_.bind(spec.cooperative);
  kernel.repeat = names_.bind(spec.repeat);
  kernel.group = spec.group;
  if (!spec.command.empty()) kernel.command.emplace(target_, problem_, spec.command, names_);
  kernel.schedule = schedule_of(kernel);
  for (const Passed& each : kernel.arguments) {
    if (!each.ready || each.when) break;
    kernel.prefix.push_back(*each.ready);
  }
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

/// An argument that is the same in every plan: a buffer or scalar of the problem, or an integer.
std::optional<Argument> LaunchPlanner::ready_argument(const Passed& passed) const {
  if (!passed.value.is_fixed() || passed.kind == Passed::Kind::level) return std::nullopt;
  const std::int64_t value = *passed.value.value(fixed_slots_);
  if (passed.kind == Passed::Kind::handle) {
    const auto index = static_cast<std::size_t>(value);
    if (index >= arguments_.size()) return std::nullopt;
    const Array& array = arguments_[index];
    if (array.is_absent) return kNull;
    if (array.length) return BufferRef{array.index};
    if (!is_fixed_value(array)) return std::nullopt;
    const Question question{target_, problem_, {}};
    return value_of(array, FormulaValues(names_, fixed_slots_, question));
  }
  const ElementType type = passed.type.choices.front();
  if (passed.type.choices.size() > 1 || is_floating(type)) return std::nullopt;
  if (!holds(type, value)) return std::nullopt;
  return Scalar{type, value, 0};
}

/// An expression that names a handle has a handle as its value: it can only choose among handles.
bool LaunchPlanner::is_handle(const std::string& name) const {
  const auto named = [&](const auto& each) { return each.name == name; };
  return std::ranges::any_of(target_.arguments, named) ||
         std::ranges::any_of(target_.workspace, named) ||
         std::ranges::any_of(target_.tensor_maps, named) ||
         std::ranges::any_of(target_.textures, named);
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
  Question{target_, problem_, {}}.fail(key, unknown_type(name));
}

}  // namespace autotune
