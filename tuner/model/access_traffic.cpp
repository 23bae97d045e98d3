// SPDX-License-Identifier: Apache-2.0
#include "tuner/model/access_traffic.hpp"

#include <algorithm>
#include <iterator>

#include "tuner/core/error.hpp"
#include "tuner/core/name_table.hpp"
#include "tuner/core/target_program.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

std::int64_t predicted(const AffineIndex& index, const Coordinates& at) {
  return index.offset + index.per_thread.x * at[0] + index.per_thread.y * at[1] +
         index.per_thread.z * at[2] + index.per_block.x * at[3] + index.per_block.y * at[4] +
         index.per_block.z * at[5];
}

/// Derived from the index at the origin and at one step along each coordinate. Checked at the far
/// corner and the middle of the launch.
AffineIndex affine_index(const AccessSpec& access, const Dim3& grid, const Dim3& block,
                         const AccessValue& value) {
  const Coordinates extents{block.x, block.y, block.z, grid.x, grid.y, grid.z};
  const std::int64_t origin = value(access.index, {});
  Coordinates steps{}, corner{}, middle{};
  for (std::size_t i = 0; i < extents.size(); ++i) {
    corner[i] = extents[i] - 1;
    middle[i] = extents[i] / 2;
    Coordinates one{};
    one[i] = 1;
    if (extents[i] > 1) steps[i] = value(access.index, one) - origin;
  }
  const AffineIndex index{{steps[0], steps[1], steps[2]}, {steps[3], steps[4], steps[5]}, origin};
  for (const Coordinates& at : {corner, middle}) {
    if (value(access.index, at) == predicted(index, at)) continue;
    throw Error(
        format("\"{}\": the index is not affine in tx, ty, tz, bx, by and bz (write it as a "
               "sum of their multiples)",
               access.text));
  }
  return index;
}

/// Values of a target's expressions for one configuration and given coordinates.
class Values {
 public:
  Values(const Target& target, const Problem& problem, const DeviceInfo& device,
         const Configuration& configuration)
      : names_(target.parameters, target.defines, scope_of(problem, device),
               std::vector<std::string>(kCoordinates.begin(), kCoordinates.end())),
        levels_(levels_of(target.parameters, configuration).value()) {}

  std::int64_t operator()(const Expression& expression, const Coordinates& at) {
    const Formula formula = names_.bind(expression);
    return names_.value(formula, names_.slots(levels_, at, names_.schedule(formula)));
  }

 private:
  NameTable names_;
  Levels levels_;
};

/// Of a buffer of the problem or a workspace.
int element_bytes_of(const std::string& name, const std::vector<BufferSpec>& buffers) {
  const auto found = std::ranges::find(buffers, short_name(name), &BufferSpec::name);
  if (found == buffers.end())
    throw Error(format("accesses: {} is not a buffer of this launch", name));
  return static_cast<int>(found->element_bytes());
}

}  // namespace

std::optional<GlobalTraffic> access_traffic(const Multiprocessor& sm, const AccessSpec& access,
                                            int element_bytes, const Dim3& grid, const Dim3& block,
                                            const AccessValue& value) {
  const auto value_or_1 = [&](const std::optional<Expression>& expression) {
    return expression ? value(*expression, {}) : 1;
  };
  if (value_or_1(access.when) == 0) return std::nullopt;
  const std::int64_t wide = value_or_1(access.wide);
  const std::int64_t times = value_or_1(access.times);
  if (wide < 1 || times < 0) {
    throw Error(format("\"{}\": wide is {} and times {} (wide is at least 1, times at least 0)",
                       access.text, wide, times));
  }
  GlobalTraffic traffic = global_traffic(sm,
                                         {.index = affine_index(access, grid, block, value),
                                          .bytes = element_bytes,
                                          .width = static_cast<int>(wide),
                                          .store = access.store},
                                         grid, block);
  traffic.requests *= times;
  traffic.transactions *= times;
  traffic.bytes_asked *= times;
  traffic.bytes_moved *= times;
  return traffic;
}

std::vector<KernelTraffic> traffic_of(const Multiprocessor& sm, const Target& target,
                                      const Problem& problem, const DeviceInfo& device,
                                      const Configuration& configuration) {
  if (std::ranges::all_of(target.kernels, [](auto& each) { return each.accesses.empty(); })) {
    return {};
  }
  const TargetProgram program(target, problem, device);
  const LaunchPlan plan = program.plan(program.levels(configuration));
  std::vector<BufferSpec> buffers = program.buffers();
  std::ranges::copy(plan.workspace, std::back_inserter(buffers));
  Values values(target, problem, device, configuration);
  std::vector<KernelTraffic> all;
  auto launch = plan.launches.begin();
  for (const KernelSpec& kernel : target.kernels) {
    if (kernel.when && values(*kernel.when, {}) == 0) continue;
    for (const AccessSpec& access : kernel.accesses) {
      const auto traffic = access_traffic(sm, access, element_bytes_of(access.buffer, buffers),
                                          launch->grid, launch->block, std::ref(values));
      if (traffic) all.push_back({launch->entry, access.text, *traffic});
    }
    ++launch;
  }
  return all;
}

}  // namespace autotune
