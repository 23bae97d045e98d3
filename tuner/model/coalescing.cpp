// SPDX-License-Identifier: Apache-2.0
#include "tuner/model/coalescing.hpp"

#include <algorithm>
#include <iterator>
#include <span>

#include "tuner/core/error.hpp"
#include "tuner/core/name_table.hpp"
#include "tuner/core/target_program.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

constexpr std::int64_t kLine = 128;
constexpr std::int64_t kSector = 32;
/// Blocks whose first byte lies at each place of a line.
using Alignments = std::array<std::int64_t, kLine>;

std::int64_t positive_modulo(std::int64_t value, std::int64_t modulus) {
  return (value % modulus + modulus) % modulus;
}

/// Adds a dimension: `count` blocks, each `stride` bytes on from the last. Residues repeat after
/// at most a line's bytes.
Alignments spread(const Alignments& before, std::int64_t count, std::int64_t stride) {
  Alignments after{};
  const std::int64_t period = std::min(count, kLine);
  for (std::int64_t i = 0; i < period; ++i) {
    const std::int64_t times = count / period + (i < count % period ? 1 : 0);
    for (std::int64_t at = 0; at < kLine; ++at) {
      if (before[static_cast<std::size_t>(at)] == 0) continue;
      const std::int64_t to = positive_modulo(at + i * stride, kLine);
      after[static_cast<std::size_t>(to)] += times * before[static_cast<std::size_t>(at)];
    }
  }
  return after;
}

Alignments alignments_of(const MemoryAccess& access, const Dim3& grid) {
  const Dim3& step = access.index.per_block;
  Alignments all{};
  all[static_cast<std::size_t>(positive_modulo(access.index.offset * access.bytes, kLine))] = 1;
  all = spread(all, grid.x, step.x * access.bytes);
  all = spread(all, grid.y, step.y * access.bytes);
  return spread(all, grid.z, step.z * access.bytes);
}

/// Byte offsets of the threads of a block, in the order of their warps.
std::vector<std::int64_t> offsets_of(const MemoryAccess& access, const Dim3& block) {
  std::vector<std::int64_t> offsets;
  const Dim3& step = access.index.per_thread;
  for (std::int64_t z = 0; z < block.z; ++z) {
    for (std::int64_t y = 0; y < block.y; ++y) {
      for (std::int64_t x = 0; x < block.x; ++x) {
        offsets.push_back((x * step.x + y * step.y + z * step.z) * access.bytes);
      }
    }
  }
  return offsets;
}

/// The distinct pieces of `unit` bytes that accesses of `bytes` touch, ascending.
std::vector<std::int64_t> pieces(std::span<const std::int64_t> starts, int bytes,
                                 std::int64_t unit) {
  std::vector<std::int64_t> touched;
  for (const std::int64_t start : starts) {
    for (std::int64_t at = start / unit; at <= (start + bytes - 1) / unit; ++at) {
      touched.push_back(at);
    }
  }
  std::sort(touched.begin(), touched.end());
  touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
  return touched;
}

void add_request(GlobalTraffic& traffic, const Multiprocessor& sm, const MemoryAccess& access,
                 std::span<const std::int64_t> starts, std::int64_t times) {
  const auto lines = static_cast<std::int64_t>(pieces(starts, access.access_bytes(), kLine).size());
  const auto sectors =
      static_cast<std::int64_t>(pieces(starts, access.access_bytes(), kSector).size());
  const bool whole_lines = !access.store && sm.load_transaction_bytes == kLine;
  traffic.requests += times;
  traffic.bytes_asked += times * static_cast<std::int64_t>(starts.size()) * access.access_bytes();
  traffic.transactions += times * (sm.load_transaction_bytes == kLine ? lines : sectors);
  traffic.bytes_moved += times * (whole_lines ? lines * kLine : sectors * kSector);
}

}  // namespace

GlobalTraffic global_traffic(const Multiprocessor& sm, const MemoryAccess& access, const Dim3& grid,
                             const Dim3& block) {
  const std::size_t group = sm.compute_capability < 20 ? kWarp / 2 : kWarp;
  const std::vector<std::int64_t> offsets = offsets_of(access, block);
  const Alignments alignments = alignments_of(access, grid);
  // Far enough up that no offset is negative.
  const std::int64_t lowest = *std::min_element(offsets.begin(), offsets.end());
  const std::int64_t lift = lowest < 0 ? (-lowest / kLine + 1) * kLine : 0;

  GlobalTraffic traffic;
  std::vector<std::int64_t> starts;
  for (std::int64_t at = 0; at < kLine; ++at) {
    const std::int64_t times = alignments[static_cast<std::size_t>(at)];
    if (times == 0) continue;
    for (std::size_t first = 0; first < offsets.size(); first += group) {
      const std::size_t last = std::min(first + group, offsets.size());
      starts.assign(offsets.begin() + static_cast<std::ptrdiff_t>(first),
                    offsets.begin() + static_cast<std::ptrdiff_t>(last));
      for (std::int64_t& start : starts) start += at + lift;
      add_request(traffic, sm, access, starts, times);
    }
  }
  return traffic;
}

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
