// SPDX-License-Identifier: Apache-2.0
// Launches, buffers and arguments of one configuration, from a target's expressions.
#include <algorithm>
#include <limits>

#include "tuner/core/target.hpp"
#include "tuner/core/target_scope.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

constexpr std::int64_t kLongestBuffer = std::int64_t{1} << 48;  // elements; bytes cannot overflow
constexpr std::int64_t kLongestBox = 256;                       // of TMA, in each dimension

void require_int(const TargetScope& scope, const std::string& key, std::int64_t value) {
  if (value < std::numeric_limits<std::int32_t>::min() ||
      value > std::numeric_limits<std::int32_t>::max()) {
    scope.fail(key, format("{} does not fit an int: give it type i64 under \"arguments\"", value));
  }
}

BufferSpec buffer_of(const TargetScope& scope, const std::string& key, const ArgumentSpec& spec) {
  BufferSpec buffer;
  buffer.name = spec.name;
  buffer.type = scope.type(key + ".type", spec.type);
  buffer.length = scope.at_least(1, key + ".length", *spec.length);
  if (buffer.length > kLongestBuffer) {
    scope.fail(key + ".length", format("{} elements are too many", buffer.length));
  }
  buffer.role = spec.role;
  buffer.fill = spec.fill;
  if (spec.tolerance) {
    buffer.tolerance = static_cast<double>(scope.at_least(0, key + ".tolerance", *spec.tolerance));
  }
  return buffer;
}

Scalar scalar_of(const TargetScope& scope, const std::string& key, const ArgumentSpec& spec) {
  Scalar scalar;
  scalar.name = spec.name;
  scalar.type = scope.type(key + ".type", spec.type);
  if (spec.real) {
    if (!is_floating(scalar.type)) {
      scope.fail(key + ".value", format("{} is no value of an integer type", *spec.real));
    }
    scalar.real = *spec.real;
    return scalar;
  }
  const std::int64_t value = scope.evaluate(key + ".value", *spec.value);
  if (scalar.type == ElementType::i32) require_int(scope, key + ".value", value);
  if (is_floating(scalar.type)) {
    scalar.real = static_cast<double>(value);
  } else {
    scalar.integer = value;
  }
  return scalar;
}

/// Turns the kernels of one configuration into launches and collects the workspace they use.
class Planner {
 public:
  explicit Planner(const TargetScope& scope) : scope_(scope) {
    for (const ArgumentSpec& spec : scope.target().arguments) {
      if (spec.length) buffers_.push_back(spec.name);
    }
  }

  LaunchPlan plan(const std::vector<KernelSpec>& kernels, const std::string& key) {
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      const std::string at = format("{}[{}]", key, i);
      if (scope_.holds(at + ".when", kernels[i].when)) {
        plan_.launches.push_back(launch(kernels[i], at));
      }
    }
    if (plan_.launches.empty()) scope_.fail(key, "no kernel is launched: every \"when\" is 0");
    return std::move(plan_);
  }

  /// The same, with what the kernels find in constant memory.
  LaunchPlan plan_with_constants(const std::vector<KernelSpec>& kernels, const std::string& key) {
    for (const ArgumentSpec& spec : scope_.target().arguments) {
      if (!spec.constant) continue;
      if (!scope_.holds("arguments." + spec.name + ".constant", spec.constant)) continue;
      plan_.constants.push_back({*buffer(spec.name), spec.name});
    }
    return plan(kernels, key);
  }

  /// Of the reference, which may read from constant memory whatever the configuration does.
  LaunchPlan reference_plan(const std::vector<KernelSpec>& kernels) {
    for (const ArgumentSpec& spec : scope_.target().arguments) {
      if (spec.constant) plan_.constants.push_back({*buffer(spec.name), spec.name, true});
    }
    return plan(kernels, "reference.kernels");
  }

 private:
  Launch launch(const KernelSpec& kernel, const std::string& key) {
    Launch launch;
    launch.entry = kernel.entry;
    launch.grid = dimensions(kernel.grid, key + ".grid");
    launch.block = dimensions(kernel.block, key + ".block");
    launch.cluster = dimensions(kernel.cluster, key + ".cluster");
    if (kernel.dynamic_shared_bytes) {
      launch.dynamic_shared_bytes =
          scope_.at_least(0, key + ".dynamic_shared_bytes", *kernel.dynamic_shared_bytes);
    }
    launch.starts_early =
        kernel.starts_early && scope_.holds(key + ".starts_early", kernel.starts_early);
    check_limits(launch, key);
    for (std::size_t i = 0; i < kernel.arguments.size(); ++i) {
      launch.arguments.push_back(argument(kernel.arguments[i], format("{}.arguments[{}]", key, i)));
    }
    return launch;
  }

  Dim3 dimensions(const std::vector<Expression>& expressions, const std::string& key) const {
    std::int64_t sizes[3] = {1, 1, 1};
    for (std::size_t i = 0; i < expressions.size(); ++i) {
      sizes[i] = scope_.at_least(1, format("{}[{}]", key, i), expressions[i]);
    }
    return {sizes[0], sizes[1], sizes[2]};
  }

  void check_limits(const Launch& launch, const std::string& key) const {
    const DeviceInfo& device = scope_.device();
    check_dimensions(launch.grid, device.max_grid, key + ".grid");
    check_dimensions(launch.block, device.max_block, key + ".block");
    if (launch.block.count() > device.max_threads_per_block) {
      refuse(key + ".block", format("{} threads", launch.block.count()),
             std::to_string(device.max_threads_per_block));
    }
    if (launch.dynamic_shared_bytes > device.shared_bytes_per_block) {
      refuse(key + ".dynamic_shared_bytes", format("{} bytes", launch.dynamic_shared_bytes),
             std::to_string(device.shared_bytes_per_block));
    }
    const Dim3 &grid = launch.grid, &cluster = launch.cluster;
    if (grid.x % cluster.x != 0 || grid.y % cluster.y != 0 || grid.z % cluster.z != 0) {
      throw KernelFailure(Outcome::invalid,
                          format("{}.grid: {}x{}x{} is no multiple of the cluster {}x{}x{}", key,
                                 grid.x, grid.y, grid.z, cluster.x, cluster.y, cluster.z));
    }
  }

  void check_dimensions(const Dim3& size, const Dim3& most, const std::string& key) const {
    if (size.x <= most.x && size.y <= most.y && size.z <= most.z) return;
    refuse(key, format("{}x{}x{}", size.x, size.y, size.z),
           format("{}x{}x{}", most.x, most.y, most.z));
  }

  [[noreturn]] void refuse(const std::string& key, const std::string& what,
                           const std::string& most) const {
    throw KernelFailure(Outcome::invalid,
                        format("{}: {}, {} allows {}", key, what, scope_.device().name, most));
  }

  Argument argument(const std::string& text, const std::string& key) {
    const Target& target = scope_.target();
    const auto named = [&](const auto& spec) { return spec.name == text; };
    const auto scalar = std::find_if(target.arguments.begin(), target.arguments.end(), named);
    if (scalar != target.arguments.end() && !scalar->length) {
      return scalar_of(scope_, "arguments." + text, *scalar);
    }
    const auto map = std::find_if(target.tensor_maps.begin(), target.tensor_maps.end(), named);
    if (map != target.tensor_maps.end()) return tensor_map(*map);
    if (const auto index = buffer(text)) return BufferRef{*index};
    return integer(text, key);
  }

  /// The index of a buffer, or of a workspace buffer that is made on first use.
  std::optional<std::uint32_t> buffer(const std::string& name) {
    const auto found = std::find(buffers_.begin(), buffers_.end(), name);
    if (found != buffers_.end()) return static_cast<std::uint32_t>(found - buffers_.begin());
    for (const ArgumentSpec& spec : scope_.target().workspace) {
      if (spec.name != name) continue;
      plan_.workspace.push_back(buffer_of(scope_, "workspace." + name, spec));
      buffers_.push_back(name);
      return static_cast<std::uint32_t>(buffers_.size() - 1);
    }
    return std::nullopt;
  }

  /// An int: a word is passed as the number that its macro has.
  Scalar integer(const std::string& text, const std::string& key) const {
    for (const Parameter& parameter : scope_.target().parameters) {
      const Value* const value = parameter.name == text ? scope_.find(text) : nullptr;
      if (!value || !value->is_word()) continue;
      const auto level = std::find(parameter.values.begin(), parameter.values.end(), *value);
      return {ElementType::i32, level - parameter.values.begin(), 0};
    }
    const std::int64_t value = scope_.evaluate(key, parsed(text, key));
    require_int(scope_, key, value);
    return {ElementType::i32, value, 0};
  }

  Expression parsed(const std::string& text, const std::string& key) const {
    try {
      return Expression::parse(text);
    } catch (const ExpressionError& error) {
      scope_.fail(key, error.what());
    }
  }

  TensorMap tensor_map(const TensorMapSpec& spec) {
    const std::string key = "tensor_maps." + spec.name;
    TensorMap map;
    const auto index = buffer(spec.buffer);
    if (!index) scope_.fail(key + ".buffer", format("there is no buffer {}", spec.buffer));
    map.buffer = *index;
    map.dims = sizes(spec.dims, key + ".dims");
    map.strides = sizes(spec.strides, key + ".strides");
    map.box = sizes(spec.box, key + ".box");
    for (const std::int64_t length : map.box) {
      if (length > kLongestBox) {
        refuse(key + ".box", std::to_string(length), std::to_string(kLongestBox));
      }
    }
    if (spec.swizzle_bytes) {
      const std::int64_t bytes = scope_.evaluate(key + ".swizzle_bytes", *spec.swizzle_bytes);
      if (bytes != 0 && bytes != 32 && bytes != 64 && bytes != 128) {
        scope_.fail(key + ".swizzle_bytes", format("{} is none of 0, 32, 64, 128", bytes));
      }
      map.swizzle_bytes = static_cast<int>(bytes);
    }
    return map;
  }

  std::vector<std::int64_t> sizes(const std::vector<Expression>& expressions,
                                  const std::string& key) const {
    std::vector<std::int64_t> values;
    for (std::size_t i = 0; i < expressions.size(); ++i) {
      values.push_back(scope_.at_least(1, format("{}[{}]", key, i), expressions[i]));
    }
    return values;
  }

  const TargetScope& scope_;
  std::vector<std::string> buffers_;  // the problem's, then workspace
  LaunchPlan plan_;
};

/// As default_index() finds it; the space is built only where the manifest's own is not valid.
Configuration legal_default(const Target& target, const Problem& problem,
                            const DeviceInfo& device) {
  if (is_valid(target, problem, target.default_configuration, device)) {
    return target.default_configuration;
  }
  const ParameterSpace space = space_of(target, problem, device);
  return space.at(default_index(target, space));
}

}  // namespace

LaunchPlan launch_plan(const Target& target, const Problem& problem,
                       const Configuration& configuration, const DeviceInfo& device) {
  const TargetScope scope(target, problem, device, &configuration);
  return Planner(scope).plan_with_constants(target.kernels, "kernels");
}

std::vector<BufferSpec> buffers_of(const Target& target, const Problem& problem,
                                   const DeviceInfo& device) {
  const TargetScope scope(target, problem, device);
  std::vector<BufferSpec> buffers;
  for (const ArgumentSpec& spec : target.arguments) {
    if (spec.length) buffers.push_back(buffer_of(scope, "arguments." + spec.name, spec));
  }
  return buffers;
}

std::vector<Scalar> scalars_of(const Target& target, const Problem& problem,
                               const DeviceInfo& device) {
  const TargetScope scope(target, problem, device);
  std::vector<Scalar> scalars;
  for (const ArgumentSpec& spec : target.arguments) {
    if (!spec.length) scalars.push_back(scalar_of(scope, "arguments." + spec.name, spec));
  }
  return scalars;
}

Workload workload_of(const Target& target, const Problem& problem, const DeviceInfo& device) {
  Workload workload;
  workload.problem = problem.text();
  workload.buffers = buffers_of(target, problem, device);
  workload.scalars = scalars_of(target, problem, device);
  using Kind = ReferenceSpec::Kind;
  workload.float64_outputs = target.reference.float64_outputs;
  if (target.reference.kind == Kind::file) {
    workload.expected_file = target.reference.file;
    return workload;
  }
  // The reference kernels stand in the same source, which needs its macros: the default's.
  const Configuration configuration = legal_default(target, problem, device);
  workload.reference_source = source_unit(target, problem, configuration, device);
  if (target.reference.kind == Kind::default_configuration) {
    workload.reference = launch_plan(target, problem, configuration, device);
    workload.float64_outputs = false;
    return workload;
  }
  const TargetScope full(target, problem, device, &configuration);
  workload.reference = Planner(full).reference_plan(target.reference.kernels);
  std::vector<std::string>& entries = workload.reference_source.entries;
  entries.clear();
  for (const Launch& launch : workload.reference.launches) {
    const bool known = std::find(entries.begin(), entries.end(), launch.entry) != entries.end();
    if (!known) entries.push_back(launch.entry);
  }
  return workload;
}

Workload prepared_workload_of(const Target& target, const Problem& problem,
                              const DeviceInfo& device) {
  Workload workload = workload_of(target, problem, device);
  return target.prepare ? target.prepare(std::move(workload)) : workload;
}

}  // namespace autotune
