// SPDX-License-Identifier: Apache-2.0
// Makes the launch plan of one configuration from the formulas of a LaunchPlanner.
#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <span>
#include <utility>

#include "tuner/core/launch_planner.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

constexpr std::int64_t kLongestBox = 256;  // of TMA, in each dimension
constexpr std::int64_t kMostLaunches = 10'000;

/// Limits of the device. A launch that exceeds one makes the configuration invalid; that is a
/// result, not an error.
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
    if (cluster.count() == 1) return;
    if (grid.x % cluster.x != 0 || grid.y % cluster.y != 0 || grid.z % cluster.z != 0) {
      throw KernelFailure(Outcome::invalid,
                          format("{}.grid: {}x{}x{} is not a multiple of the cluster {}x{}x{}", key,
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

/// Makes the plan of one configuration. Computes only the definitions that its launches need.
class LaunchPlanner::Plan {
 public:
  Plan(const LaunchPlanner& planner, std::span<const std::uint16_t> levels)
      : planner_(planner),
        slots_(planner.names_.slots(levels, {}, {})),
        is_computed_(planner.names_.definitions()),
        question_{planner.target_, planner.problem_, levels},
        values_(planner.names_, slots_, question_),
        workspace_(planner.workspace_.size(), kNone) {
    plan_.workspace.reserve(workspace_.size());
  }

  LaunchPlan make(const Program& program, bool is_reference) {
    need(program.schedule);
    add_constants(is_reference);
    if (!is_reference) add_unchecked();
    plan_.launches = launches(program);
    if (plan_.launches.empty()) {
      values_.fail(program.key, "no kernel is launched: every \"when\" or \"repeat\" is 0");
    }
    if (!is_reference) plan_.checks = launches(planner_.checks_);
    for (Launch& launch : plan_.launches) {
      if (is_reference && launch.command) launch.command->time = kProcessTime;
    }
    return std::move(plan_);
  }

 private:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  void need(const Schedule& schedule) {
    for (const std::uint32_t definition : schedule) {
      if (!std::exchange(is_computed_[definition], 1)) planner_.names_.compute(slots_, definition);
    }
  }

  /// The reference may read any constant memory, whichever the configuration uses.
  void add_constants(bool is_reference) {
    for (const Array& array : planner_.arguments_) {
      if (!array.constant || array.is_absent) continue;
      if (is_reference || values_.holds(array.constant, [&] { return array.key + ".constant"; })) {
        plan_.constants.push_back({array.index, array.spec->name, is_reference});
      }
    }
  }

  /// Unchecked outputs come first in the workspace, so that an application can pass its own
  /// buffers.
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
    for (auto first = program.kernels.begin(); first != program.kernels.end();) {
      const auto is_other = [&](const Kernel& each) { return each.group != first->group; };
      const auto end = first->group.empty() ? std::next(first)
                                            : std::find_if(first, program.kernels.end(), is_other);
      add_turns({first, end}, launches);
      first = end;
    }
    return launches;
  }

  /// A kernel or group, as often as its `repeat` says.
  void add_turns(std::span<const Kernel> kernels, std::vector<Launch>& launches) {
    const std::optional<Formula>& repeat = kernels.front().repeat;
    const auto repeat_key = [&] { return kernels.front().key + ".repeat"; };
    const std::int64_t turns = repeat ? values_.at_least(0, *repeat, repeat_key) : 1;
    if (turns > kMostLaunches / std::ssize(kernels)) {
      throw KernelFailure(Outcome::invalid,
                          format("{}: {} turns of {} kernels are more than the {} launches that a "
                                 "call may have: loop inside the kernel, or launch fewer times",
                                 repeat_key(), turns, kernels.size(), kMostLaunches));
    }
    for (std::int64_t turn = 0; turn < turns; ++turn) {
      if (repeat) slots_.values[planner_.turn_] = turn;
      if (repeat) slots_.values[planner_.turns_] = turns;
      for (const Kernel& kernel : kernels) {
        const auto key = [&] { return kernel.key + ".when"; };
        if (values_.holds(kernel.when, key)) launches.push_back(launch_of(kernel));
      }
    }
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
    const auto cooperative_key = [&] { return kernel.key + ".cooperative"; };
    launch.cooperative = kernel.cooperative && values_.holds(kernel.cooperative, cooperative_key);
    if (launch.cooperative && launch.starts_early) {
      values_.fail(cooperative_key(), "a kernel cannot be cooperative and start early");
    }
    if (kernel.command) {
      launch.command = command_of(planner_.target_, kernel.command->texts(values_, kernel.key));
    }
    for (const ConstantGridFormulas& each : kernel.with_constant) {
      launch.with_constant.push_back(
          {each.buffer, dimensions(each.grid, kernel.key, "grid_with_constant", 0)});
    }
    Limits(planner_.device_).check(launch, kernel.key);
    launch.arguments.reserve(kernel.arguments.size());
    launch.arguments.insert(launch.arguments.end(), kernel.prefix.begin(), kernel.prefix.end());
    for (std::size_t i = kernel.prefix.size(); i < kernel.arguments.size(); ++i) {
      const Passed& passed = kernel.arguments[i];
      const auto key = [&] { return format("{}.arguments[{}]", kernel.key, i); };
      if (values_.holds(passed.when, key)) launch.arguments.push_back(argument(passed, key));
    }
    return launch;
  }

  Dim3 dimensions(const std::vector<Formula>& formulas, const std::string& key, const char* part,
                  std::int64_t least = 1) const {
    std::array<std::int64_t, 3> sizes{1, 1, 1};
    for (std::size_t i = 0; i < formulas.size(); ++i) {
      sizes[i] =
          values_.at_least(least, formulas[i], [&] { return format("{}.{}[{}]", key, part, i); });
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
    values_.require(type, value, key);
    return Scalar{type, value, 0};
  }

  /// The argument of a handle: a buffer or scalar, a workspace, a tensor map or a texture.
  Argument handle(std::int64_t number) {
    const auto index = static_cast<std::size_t>(number);
    const std::size_t arguments = planner_.arguments_.size();
    if (index >= arguments + workspace_.size()) {
      const std::size_t object = index - arguments - workspace_.size();
      const std::size_t maps = planner_.maps_.size();
      if (object >= maps) return texture(planner_.textures_[object - maps]);
      return tensor_map(planner_.maps_[object]);
    }
    if (index < arguments && !planner_.arguments_[index].length) {
      return planner_.value_of(planner_.arguments_[index], values_);
    }
    if (index < arguments && planner_.arguments_[index].is_absent) return kNull;
    return BufferRef{buffer(index)};
  }

  /// The buffer under a tensor map or texture: its handle and declaration.
  template <class Key>
  std::pair<std::size_t, const Array*> base(const Formula& buffer, const Key& key) const {
    const auto number = static_cast<std::size_t>(values_.value(buffer, key));
    const std::size_t arguments = planner_.arguments_.size();
    if (number >= arguments + workspace_.size()) values_.fail(key(), "is not a buffer");
    const Array& array =
        number < arguments ? planner_.arguments_[number] : planner_.workspace_[number - arguments];
    if (!array.length) values_.fail(key(), "is a scalar, not a buffer");
    if (array.is_absent) {
      values_.fail(key(), format("{} is not there: its \"when\" does not hold", array.spec->name));
    }
    return {number, &array};
  }

  /// The index of a buffer. A workspace is added to the plan on first use.
  std::uint32_t buffer(std::size_t handle) {
    const std::size_t arguments = planner_.arguments_.size();
    if (handle < arguments) return planner_.arguments_[handle].index;
    std::uint32_t& index = workspace_[handle - arguments];
    if (index == kNone) {
      index = planner_.buffers_ + static_cast<std::uint32_t>(plan_.workspace.size());
      add_workspace(planner_.workspace_[handle - arguments]);
    }
    return index;
  }

  void add_workspace(const Array& array) {
    need(array.schedule);
    if (array.plain) {
      plan_.workspace.push_back(*array.plain);
      plan_.workspace.back().length = length_of(array, values_);
    } else {
      plan_.workspace.push_back(planner_.buffer_of(array, values_));
    }
  }

  TensorMap tensor_map(const Map& map) {
    need(map.schedule);
    TensorMap made;
    const auto key = [&](const char* part) { return format("{}.{}", map.key, part); };
    const auto [handle, array] = base(map.buffer, [&] { return key("buffer"); });
    if (!array->members.empty()) {
      values_.fail(key("buffer"), "is of structs with several types, which no tensor map has");
    }
    made.buffer = buffer(handle);
    made.tf32 = map.spec->tf32 && array->type.of(values_.levels()) == ElementType::f32;
    made.dims = sizes(map.dims, map.key, "dims");
    made.strides = sizes(map.strides, map.key, "strides");
    made.box = sizes(map.box, map.key, "box", 0);
    leave_out_last_dimensions(made, key("box"));
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
    expect_room(made, *array, key("dims"));
    return made;
  }

  /// Those whose box is 0.
  void leave_out_last_dimensions(TensorMap& map, const std::string& key) const {
    while (map.box.size() > 1 && map.box.back() == 0) map.box.pop_back();
    if (std::ranges::count(map.box, 0) > 0) {
      values_.fail(key, "only the last dimensions, but not the first one, may be left out by a 0");
    }
    map.dims.resize(map.box.size());
    map.strides.resize(map.box.size() - 1);
  }

  Texture texture(const TextureObject& object) {
    need(object.schedule);
    const auto key = [&](const char* part) { return format("{}.{}", object.key, part); };
    const TextureSpec& spec = *object.spec;
    const auto [handle, array] = base(object.buffer, [&] { return key("buffer"); });
    Texture made{buffer(handle),
                 sizes(object.dims, object.key, "dims"),
                 static_cast<int>(array->spec->width),
                 spec.filter,
                 spec.address,
                 spec.normalized};
    const ElementType type = array->type.of(values_.levels());
    const bool fits = array->members.empty() && made.channels != 3 && made.channels <= 4 &&
                      (type == ElementType::f32 || type == ElementType::i32);
    if (!fits) {
      values_.fail(key("buffer"), "a texture is over f32 or i32, or vectors of 2 or 4 of these");
    }
    if (spec.filter == TextureFilter::linear && type != ElementType::f32) {
      values_.fail(key("filter"), "only f32 is filtered linearly");
    }
    expect_room(made, *array, key("dims"));
    return made;
  }

  /// Past its dims a map reads zeros and writes nothing, so its last element must be in the buffer.
  void expect_room(const TensorMap& map, const Array& array, const std::string& key) {
    need(array.schedule);
    const std::int64_t element = bytes_of(array.type.of(values_.levels()));
    const std::int64_t bytes = length_of(array, values_) * element;
    std::int64_t left = bytes / element - map.dims.front();
    if (left >= 0) left *= element;
    for (std::size_t i = 1; i < map.dims.size() && left >= 0; ++i) {
      const std::int64_t steps = map.dims[i] - 1, stride = map.strides[i - 1];
      left = steps > left / stride ? -1 : left - steps * stride;
    }
    if (left >= 0) return;
    values_.fail(
        key, format("{}, with strides of {} bytes, reach beyond {}, which has {} bytes",
                    joined(map.dims, " x "), joined(map.strides, " x "), array.spec->name, bytes));
  }

  void expect_room(const Texture& texture, const Array& array, const std::string& key) {
    need(array.schedule);
    std::int64_t left = length_of(array, values_) / texture.channels;
    const std::int64_t texels = left;
    for (const std::int64_t size : texture.dims) left /= size;
    if (left >= 1) return;
    values_.fail(key, format("{} has {} texels, which are too few", array.spec->name, texels));
  }

  std::vector<std::int64_t> sizes(const std::vector<Formula>& formulas, const std::string& key,
                                  const char* part, std::int64_t least = 1) const {
    std::vector<std::int64_t> values;
    values.reserve(formulas.size());
    for (std::size_t i = 0; i < formulas.size(); ++i) {
      values.push_back(
          values_.at_least(least, formulas[i], [&] { return format("{}.{}[{}]", key, part, i); }));
    }
    return values;
  }

  const LaunchPlanner& planner_;
  Slots slots_;
  std::vector<std::uint8_t> is_computed_;  // by definition
  const Question question_;
  const FormulaValues values_;
  std::vector<std::uint32_t> workspace_;  // the index of each in the plan, or kNone
  LaunchPlan plan_;
};

LaunchPlan LaunchPlanner::plan(std::span<const std::uint16_t> levels) const {
  return Plan(*this, levels).make(kernels_, false);
}

LaunchPlan LaunchPlanner::reference_plan(std::span<const std::uint16_t> levels) const {
  return Plan(*this, levels).make(reference_, true);
}

LaunchPlan LaunchPlanner::preparation(std::span<const std::uint16_t> levels) const {
  return preparation_.kernels.empty() ? LaunchPlan{} : Plan(*this, levels).make(preparation_, true);
}

}  // namespace autotune
