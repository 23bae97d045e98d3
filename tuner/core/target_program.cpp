// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/target_program.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <mutex>
#include <utility>

#include "tuner/core/formula_values.hpp"
#include "tuner/core/launch_planner.hpp"
#include "tuner/core/sized_validity.hpp"
#include "tuner/core/source_writer.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

/// An expression over `value`, which is a name that no manifest can write.
Expression of_given(const char* text, const std::string& name) {
  return Expression::parse(text, [&](const std::string&) {
    return NameMeaning{ValueKind::integer, name};
  });
}

}  // namespace

NameTable name_table_of(const Target& target, std::span<const Parameter> parameters,
                        const Problem& problem, const DeviceInfo& device, SizeBinding sizes,
                        std::optional<FixedLevel> fixed) {
  Scope constants = scope_of(problem, device);
  std::int64_t number = 0;
  for (const ArgumentSpec& each : target.arguments) constants.bind(each.name, number++);
  for (const ArgumentSpec& each : target.workspace) constants.bind(each.name, number++);
  for (const TensorMapSpec& each : target.tensor_maps) constants.bind(each.name, number++);
  for (const TextureSpec& each : target.textures) constants.bind(each.name, number++);
  if (sizes == SizeBinding::fixed) {
    return NameTable(parameters, target.defines, std::move(constants), {}, fixed);
  }
  std::vector<std::string> given = target.sizes;
  std::vector<DefineSpec> defines = target.defines;
  for (const FreeSize& each : target.free_sizes) {
    given.push_back("given " + each.name);
    DefineSpec& define = *std::ranges::find(defines, each.name, &DefineSpec::name);
    define.value = Expression::choice(of_given("value < 0", given.back()), define.value,
                                      of_given("value", given.back()));
  }
  return NameTable(parameters, defines, std::move(constants), given, fixed);
}

namespace {

Levels expected_levels(const Target& target, const Configuration& configuration) {
  auto levels = levels_of(target.parameters, configuration);
  if (levels) return std::move(*levels);
  throw Error(
      format("{}: \"{}\" is not a configuration of this target: it gives each parameter one "
             "of its values",
             place_of(target), to_text(configuration)));
}

/// Where the family parameter is a constant, expressions of other families are folded away.
NameTable names_at(const Target& target, const Problem& problem, const DeviceInfo& device,
                   std::span<const std::uint16_t> levels) {
  std::optional<FixedLevel> family;
  if (target.family) family = FixedLevel{*target.family, levels[*target.family]};
  return name_table_of(target, target.parameters, problem, device, SizeBinding::fixed, family);
}

}  // namespace

CallPlan call_plan_of(const Target& target, const Problem& problem, const DeviceInfo& device,
                      const Configuration& configuration) {
  const Levels levels = expected_levels(target, configuration);
  NameTable names = names_at(target, problem, device, levels);
  const LaunchPlanner planner(target, problem, device, names);
  return {planner.plan(levels), planner.buffers(), planner.scalars()};
}

/// Plans of one family.
struct TargetProgram::FamilyPlans {
  std::once_flag is_made;
  std::optional<NameTable> names;
  std::optional<LaunchPlanner> planner;
};

TargetProgram::TargetProgram(const Target& target, const Problem& problem, const DeviceInfo& device,
                             SizeBinding sizes)
    : target_(target),
      problem_(problem),
      device_(device),
      names_(name_table_of(target, target.parameters, problem, device, sizes)),
      constraints_(names_.bind(target.constraints)),
      registers_(names_.bind(target.registers)),
      shared_bytes_(names_.bind(target.shared_bytes)),
      flops_(names_.bind(target.flops)),
      bytes_(names_.bind(target.bytes)) {
  for (const Parameter& parameter : target.parameters) {
    whens_.push_back(names_.bind(parameter.when));
    names_.add_to(activity_, whens_.back());
  }
  std::ranges::sort(activity_);
  validity_ = activity_;
  names_.add_to(validity_, constraints_);
  std::ranges::sort(validity_);
  estimates_ = names_.schedule(registers_, shared_bytes_);
  for (const FreeSize& each : target.free_sizes) {
    free_.push_back(names_.bind(of_given("value", each.name)));
    least_.push_back(names_.bind(each.least));
  }
  for (const ProblemRule& each : target.rules) rules_.push_back(names_.bind(each.condition));
  std::vector<Configuration> defaults = target.other_defaults;
  defaults.insert(defaults.begin(), target.default_configuration);
  for (const Configuration& each : defaults) {
    defaults_.push_back(levels_of(target.parameters, each));
  }
  for (const SizedDefault& each : target.sized_defaults) {
    sized_defaults_.push_back(names_.bind(each.value));
  }
  free_sizes_ = names_.schedule(free_, least_, rules_, sized_defaults_);
  if (sizes == SizeBinding::given) {
    sized_validity_ = std::make_unique<SizedValidity>(target_, problem_, device_);
    return;
  }
  planner_ = std::make_unique<LaunchPlanner>(target_, problem_, device_, names_);
  if (target.family) {
    const std::size_t count = target.parameters[*target.family].values.size();
    families_ = std::make_unique<FamilyPlans[]>(count);
  }
  writer_ = std::make_unique<SourceWriter>(target_, problem_, names_);
}

TargetProgram::~TargetProgram() = default;

Levels TargetProgram::levels(const Configuration& configuration) const {
  return expected_levels(target_, configuration);
}

bool TargetProgram::is_valid(std::span<const std::uint16_t> levels,
                             std::span<const std::int64_t> sizes) const {
  const Slots slots = names_.slots(levels, sizes, validity_);
  const Formula* faulty = nullptr;
  const auto holds = [&](const Formula& formula) {
    const auto value = formula.value(slots);
    if (!value && !faulty) faulty = &formula;
    return value.value_or(1) != 0;
  };
  for (std::size_t i = 0; i < levels.size(); ++i) {
    // A parameter without meaning takes its first value.
    if (levels[i] != 0 && whens_[i] && !holds(*whens_[i])) return false;
  }
  if (!std::ranges::all_of(constraints_, holds)) return false;
  if (faulty) throw names_.explain(*faulty, slots);
  return true;
}

std::vector<std::int64_t> TargetProgram::free_values(std::span<const std::int64_t> sizes) const {
  const Slots slots = names_.given_slots(sizes, free_sizes_);
  const Question question{target_, problem_, {}};
  const FormulaValues values(names_, slots, question);
  std::vector<std::int64_t> free;
  for (std::size_t i = 0; i < free_.size(); ++i) {
    free.push_back(values.value(free_[i], [&] { return "free." + target_.free_sizes[i].name; }));
  }
  return free;
}

std::string TargetProgram::refusal(std::span<const std::int64_t> sizes) const try {
  const std::vector<std::int64_t> free = free_values(sizes);
  const Slots slots = names_.given_slots(sizes, free_sizes_);
  const Question question{target_, problem_, {}};
  const FormulaValues values(names_, slots, question);
  for (std::size_t i = 0; i < free.size(); ++i) {
    const FreeSize& size = target_.free_sizes[i];
    const std::int64_t least =
        values.value(least_[i], [&] { return format("free.{}.least", size.name); });
    if (size.most && free[i] > *size.most) {
      return format("{}: the size {}={} is too large: the most is {}", target_.name, size.name,
                    free[i], *size.most);
    }
    if (free[i] >= least) continue;
    return format("{}: the size {}={} is too small: the least is {} ({})", target_.name, size.name,
                  free[i], least, size.least.text());
  }
  for (std::size_t i = 0; i < rules_.size(); ++i) {
    if (values.value(rules_[i], [] { return std::string("requires"); }) != 0) continue;
    return format("{}: {}", target_.name, target_.rules[i].message);
  }
  for (std::size_t i = 0; i < sized_defaults_.size(); ++i) {
    if (sized_level(i, slots)) continue;
    const SizedDefault& one = target_.sized_defaults[i];
    return format("{0}: the default of {1}, \"{2}\", is {3} here, which is no value of {1}",
                  target_.name, target_.parameters[one.parameter].name, one.value.text(),
                  sized_value(i, slots).text());
  }
  return "";
} catch (const Error&) {
  const std::span<const std::int64_t> free =
      sizes.subspan(std::min(target_.sizes.size(), sizes.size()));
  const auto largest = std::ranges::max_element(free);
  // Numbers as small as other sizes are the manifest's fault.
  if (largest == free.end() || *largest <= std::numeric_limits<std::int32_t>::max()) throw;
  return format("{}: the size {}={} is too large", target_.name,
                target_.free_sizes[static_cast<std::size_t>(largest - free.begin())].name,
                *largest);
}

std::vector<Levels> TargetProgram::defaults(std::span<const std::int64_t> sizes) const {
  std::vector<std::optional<Levels>> all = defaults_;
  if (!sized_defaults_.empty()) {
    const Slots slots = names_.given_slots(sizes, free_sizes_);
    for (std::size_t i = 0; i < sized_defaults_.size(); ++i) {
      const SizedDefault& one = target_.sized_defaults[i];
      std::optional<Levels>& levels = all[one.configuration];
      const std::optional<std::size_t> level = sized_level(i, slots);
      if (!level) levels.reset();
      if (levels) (*levels)[one.parameter] = static_cast<std::uint16_t>(*level);
    }
  }
  std::vector<Levels> known;
  for (std::optional<Levels>& each : all) {
    if (each) known.push_back(*std::move(each));
  }
  return known;
}

std::optional<Levels> TargetProgram::first_valid_default() const {
  for (Levels& each : defaults()) {
    if (is_valid(each)) return std::move(each);
  }
  return std::nullopt;
}

std::optional<std::size_t> TargetProgram::sized_level(std::size_t index, const Slots& slots) const {
  const std::vector<Value>& values =
      target_.parameters[target_.sized_defaults[index].parameter].values;
  const auto found = std::ranges::find(values, sized_value(index, slots));
  if (found == values.end()) return std::nullopt;
  return static_cast<std::size_t>(found - values.begin());
}

Value TargetProgram::sized_value(std::size_t index, const Slots& slots) const {
  const SizedDefault& one = target_.sized_defaults[index];
  const Parameter& parameter = target_.parameters[one.parameter];
  const Question question{target_, problem_, {}};
  const FormulaValues values(names_, slots, question);
  const Formula& formula = sized_defaults_[index];
  const std::int64_t code = values.value(formula, [&] { return "default." + parameter.name; });
  if (formula.expression().kind() == ValueKind::word) {
    const auto word = std::ranges::find(parameter.values, code, &Value::code);
    return word == parameter.values.end() ? Value("") : *word;
  }
  if (parameter.values.front().is_real()) return values.number(formula);
  return formula.expression().kind() == ValueKind::real ? Value(values.number(formula)) : code;
}

const LaunchPlanner& TargetProgram::planner_of(std::span<const std::uint16_t> levels) const {
  if (!families_) return *planner_;
  const std::uint16_t level = levels[*target_.family];
  FamilyPlans& one = families_[level];
  std::call_once(one.is_made, [&] {
    one.names.emplace(names_at(target_, problem_, device_, levels));
    one.planner.emplace(target_, problem_, device_, *one.names);
  });
  return *one.planner;
}

LaunchPlan TargetProgram::plan(std::span<const std::uint16_t> levels) const {
  return planner_of(levels).plan(levels);
}

LaunchPlan TargetProgram::reference_plan(std::span<const std::uint16_t> levels) const {
  return planner_->reference_plan(levels);
}

LaunchPlan TargetProgram::preparation(std::span<const std::uint16_t> levels) const {
  return planner_->preparation(levels);
}

SourceUnit TargetProgram::source_unit(std::span<const std::uint16_t> levels) const {
  return writer_->unit(levels);
}

SourceUnit TargetProgram::reference_unit(std::span<const std::uint16_t> levels) const {
  return writer_->reference_unit(levels);
}

std::vector<BufferSpec> TargetProgram::buffers() const { return planner_->buffers(); }

std::vector<Scalar> TargetProgram::scalars() const { return planner_->scalars(); }

Work TargetProgram::work() const {
  const Slots slots = names_.initial();
  const Question question{target_, problem_, {}};
  const FormulaValues values(names_, slots, question);
  const auto figure = [&](const char* key, const std::optional<Formula>& formula) {
    if (!formula) return 0.0;
    if (formula->expression().kind() == ValueKind::real) return values.number(*formula);
    return static_cast<double>(values.at_least(0, *formula, [&] { return std::string(key); }));
  };
  return {figure("work.flops", flops_), figure("work.bytes", bytes_)};
}

std::vector<bool> TargetProgram::active(std::span<const std::uint16_t> levels,
                                        std::span<const std::int64_t> sizes) const {
  const Slots slots = names_.slots(levels, sizes, activity_);
  std::vector<bool> active;
  for (const auto& when : whens_) active.push_back(!when || when->value(slots).value_or(1) != 0);
  return active;
}

TargetProgram::Estimates TargetProgram::estimates(std::span<const std::uint16_t> levels) const {
  const Slots slots = names_.slots(levels, {}, estimates_);
  const Question question{target_, problem_, levels};
  const FormulaValues values(names_, slots, question);
  const auto figure = [&](const char* key, const std::optional<Formula>& formula) {
    return formula ? std::optional(values.value(*formula, [&] { return std::string(key); }))
                   : std::nullopt;
  };
  return {figure("resources.registers", registers_),
          figure("resources.shared_bytes", shared_bytes_)};
}

// Makes the workload of a problem: buffers, scalars and the reference.

namespace {

/// Sets the entries of a source to the kernels of some plans, each once. Cooperative kernels stay
/// in the source.
void set_entries(SourceUnit& unit, std::initializer_list<const LaunchPlan*> plans) {
  unit.entries.clear();
  const auto add = [](std::vector<std::string>& entries, const std::string& entry) {
    if (std::ranges::find(entries, entry) == entries.end()) entries.push_back(entry);
  };
  for (const LaunchPlan* const plan : plans) {
    for (const auto* const launches : {&plan->launches, &plan->checks}) {
      for (const Launch& launch : *launches) {
        add(unit.entries, launch.entry);
        if (launch.cooperative) add(unit.cooperative, launch.entry);
      }
    }
  }
}

}  // namespace

Configuration valid_default(const Target& target, const Problem& problem,
                            const DeviceInfo& device) {
  const TargetProgram program(target, problem, device);
  const auto valid = program.first_valid_default();
  if (valid) return configuration_of(target.parameters, *valid);
  const ParameterSpace space = space_of(target, problem, device);
  return space.at(default_index(target, program.defaults(), space));
}

Workload workload_of(const Target& target, const Problem& problem, const DeviceInfo& device) {
  if (target.against) return workload_of(*target.against, problem, device);
  const TargetProgram program(target, problem, device);
  Workload workload;
  workload.problem = problem.text_with_free();
  workload.buffers = program.buffers();
  workload.scalars = program.scalars();
  workload.runs_commands = target.build.has_value();
  using Kind = ReferenceSpec::Kind;
  const Kind kind = target.reference.kind;
  workload.float64_outputs =
      target.reference.float64_outputs && kind != Kind::default_configuration;
  if (kind == Kind::file) workload.expected_file = target.reference.file;
  if (kind == Kind::file && target.prepare_kernels.empty()) return workload;
  // Reference and preparation share the source, which needs macros: those of the default.
  const Levels levels = program.levels(valid_default(target, problem, device));
  workload.reference_source = program.reference_unit(levels);
  workload.preparation = program.preparation(levels);
  if (kind == Kind::kernels) workload.reference = program.reference_plan(levels);
  if (kind == Kind::default_configuration) workload.reference = program.plan(levels);
  set_entries(workload.reference_source, {&workload.reference, &workload.preparation});
  return workload;
}

Workload prepared_workload_of(const Target& target, const Problem& problem,
                              const DeviceInfo& device) {
  if (target.against) return prepared_workload_of(*target.against, problem, device);
  Workload workload = workload_of(target, problem, device);
  return target.prepare ? target.prepare(std::move(workload)) : workload;
}

}  // namespace autotune
