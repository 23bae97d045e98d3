// SPDX-License-Identifier: Apache-2.0
#include "tuner/model/cost_model.hpp"

#include <algorithm>
#include <cmath>
#include <future>
#include <limits>
#include <thread>

#include "tuner/core/error.hpp"
#include "tuner/core/sized_validity.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

/// Of a core, in bytes: two loads and a store of 64 bytes; of no CPU is the clock higher.
constexpr double kHostBytesPerCycle = 192, kHostClock = 6e9;
/// Of a multiprocessor: 64 bytes from L2 and 64 to it.
constexpr double kGpuBytesPerCycle = 128;

}  // namespace

double least_bytes(const TargetProgram& program) {
  double all = 0, outputs = 0;
  for (const BufferSpec& buffer : program.buffers()) {
    const auto bytes = static_cast<double>(buffer.bytes());
    if (buffer.role != Role::workspace && buffer.role != Role::checked) all += bytes;
    if (buffer.role == Role::output) outputs += bytes;
  }
  const double stated = program.work().bytes;
  return stated > 0 ? std::min(stated, all) : outputs;
}

double time_floor(const TargetProgram& program, const DeviceInfo& device) {
  const bool is_host = device.kind == DeviceKind::host;
  const double clock = is_host ? kHostClock : device.clock_hz;
  if (clock <= 0) return 0;
  const double bytes_per_cycle =
      device.multiprocessors * (is_host ? kHostBytesPerCycle : kGpuBytesPerCycle);
  return std::max(1.0, least_bytes(program) / bytes_per_cycle) / clock;
}

namespace {

constexpr std::size_t kFewestOfAThread = 4096;  // configurations: a few milliseconds of work

/// For a CPU, only the name and the number of cores, as multiprocessors.
GpuSpec modelled(const DeviceInfo& device, const Calibration& calibration) {
  if (device.kind != DeviceKind::host && device.compute_capability > 0) {
    return calibrated(gpu_spec(device), calibration);
  }
  GpuSpec spec;
  spec.name = device.name;
  spec.multiprocessors = device.multiprocessors;
  return spec;
}

CostEstimate estimate_on(const GpuSpec& gpu, const Calibration& calibration,
                         const CostInput& input) {
  const bool host = gpu.sm.compute_capability == 0;
  return host ? host_estimate(gpu.multiprocessors, input) : estimate(gpu, calibration, input);
}

}  // namespace

CostModel::CostModel(const Target& target, const Problem& problem, const ParameterSpace& space,
                     const DeviceInfo& device, const Calibration& calibration)
    : formulas_(std::make_unique<const CostFormulas>(target, problem, space.parameters(), device,
                                                     SizeBinding::fixed)),
      space_(&space),
      gpu_(modelled(device, calibration)),
      calibration_(calibration) {}

CostModel::~CostModel() = default;
CostModel::CostModel(CostModel&&) noexcept = default;

CostEstimate CostModel::estimate(std::size_t index) const { return estimate(index, {}); }

CostEstimate CostModel::estimate(std::size_t index,
                                 std::span<const KernelResources> compiled) const {
  return estimate(input(index, compiled));
}

CostEstimate CostModel::estimate(const CostInput& input) const {
  return estimate_on(gpu_, calibration_, input);
}

CostInput CostModel::input(std::size_t index, std::span<const KernelResources> compiled) const {
  return formulas_->input(space_->levels(index), {}, compiled);
}

std::vector<double> CostModel::predict_all() const {
  std::vector<double> seconds(space_->size());
  const auto predict = [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) seconds[i] = estimate(i).seconds;
  };
  const std::size_t threads = std::max(1u, std::thread::hardware_concurrency());
  const std::size_t share = std::max(kFewestOfAThread, (seconds.size() + threads - 1) / threads);
  std::vector<std::future<void>> others;
  for (std::size_t first = share; first < seconds.size(); first += share) {
    const std::size_t last = std::min(first + share, seconds.size());
    others.push_back(std::async(std::launch::async, predict, first, last));
  }
  predict(0, std::min(share, seconds.size()));
  for (std::future<void>& other : others) other.get();
  return seconds;
}

struct SizedCostModel::Families {
  Families(const Target& of, const Problem& with, const DeviceInfo& on)
      : target(of), problem(with), device(on), formulas(of) {}
  const CostFormulas& at(std::size_t index) const {
    return formulas.at(index, [&](std::optional<CostFormulas>& made) {
      made.emplace(target, problem, target.parameters, device, SizeBinding::given,
                   formulas.fixed(index));
    });
  }

  const Target& target;
  const Problem problem;
  const DeviceInfo device;
  const PerFamily<CostFormulas> formulas;
};

SizedCostModel::SizedCostModel(const Target& target, const Problem& problem,
                               const DeviceInfo& device)
    : families_(std::make_unique<const Families>(target, problem, device)),
      gpu_(modelled(device, {})) {
  families_->at(0);  // throws if a name is not bound, in whichever family
}

SizedCostModel::~SizedCostModel() = default;
SizedCostModel::SizedCostModel(SizedCostModel&&) noexcept = default;

SizedCostModel::AtSizes SizedCostModel::at(std::span<const std::int64_t> sizes) const {
  return AtSizes(*this, sizes);
}

CostEstimate SizedCostModel::estimate(std::span<const std::uint16_t> levels,
                                      std::span<const std::int64_t> sizes) const {
  return at(sizes).estimate(levels);
}

double SizedCostModel::ideal_seconds(std::span<const std::uint16_t> levels,
                                     std::span<const std::int64_t> sizes) const {
  return at(sizes).ideal_seconds(levels);
}

SizedCostModel::AtSizes::AtSizes(const SizedCostModel& model, std::span<const std::int64_t> sizes)
    : model_(&model), sizes_(sizes), families_(model.families_->formulas.count()) {}

CostEstimate SizedCostModel::AtSizes::estimate(std::span<const std::uint16_t> levels) {
  return estimate_on(model_->gpu_, {}, input(levels));
}

double SizedCostModel::AtSizes::ideal_seconds(std::span<const std::uint16_t> levels) {
  const KernelWork work = input(levels).work;
  const GpuSpec& gpu = model_->gpu_;
  return work.flops / gpu.flops_per_second() + work.dram_bytes / gpu.memory_bytes_per_second;
}

CostInput SizedCostModel::AtSizes::input(std::span<const std::uint16_t> levels) {
  const std::size_t index = model_->families_->formulas.index_of(levels);
  Family& family = families_[index];
  if (family.formulas == nullptr) {
    family.formulas = &model_->families_->at(index);
    family.slots = family.formulas->of_sizes(sizes_);
  }
  return family.formulas->input(levels, family.slots, {});
}

namespace {

// Measured on fibres of Boost.Context with g++ -O3 on a server core.
constexpr double kStartOfBlock = 300e-9;
constexpr double kStartOfThread = 60e-9;
constexpr double kBarrierOfThread = 24e-9;
constexpr double kScalarFlops = 1.2e9;   // a second, one sum at a time
constexpr double kVectorFlops = 90e9;    // a second, many independent sums in registers
constexpr double kBytesPerSecond = 8e9;  // a core

/// FLOP/s of one core with this many independent sums per thread. The compiler vectorizes 64 or
/// more sums if the block has one thread (`alone`), but not across the barriers of fibres.
double flops_per_second(double ilp, bool alone) {
  const double rate = kScalarFlops * std::pow(std::max(ilp, 1.0), alone ? 0.85 : 0.6);
  return std::min(rate, kVectorFlops);
}

}  // namespace

CostEstimate host_estimate(int cores, const CostInput& input) {
  const KernelWork& work = input.work;
  const double blocks = static_cast<double>(input.blocks);
  const double threads = input.shape.threads;
  const double barriers = threads > 1 ? work.barriers * std::max(work.steps, 1.0) + 1 : 0;
  const double fibres = threads > 1 ? threads * (kStartOfThread + barriers * kBarrierOfThread) : 0;
  // Cores take whole blocks: a grid of one block uses one core.
  const double share = std::ceil(blocks / cores);

  CostEstimate result;
  result.terms = {
      input.launches * 5e-6,
      share * (kStartOfBlock + fibres),
      0,
      share * work.flops / blocks / flops_per_second(work.ilp, input.shape.threads == 1),
      0,
      0,
      share * work.dram_bytes / blocks / kBytesPerSecond,
  };
  for (const double term : result.terms) result.seconds += term;
  result.binding = static_cast<Term>(std::max_element(result.terms.begin(), result.terms.end()) -
                                     result.terms.begin());
  result.waves = blocks / cores;
  result.balance = blocks / (cores * share);
  return result;
}

namespace {

constexpr int kTypicalRegisters = 32;
constexpr double kInstructionsOfAnyThread = 20;

}  // namespace

CostFormulas::CostFormulas(const Target& target, const Problem& problem,
                           std::span<const Parameter> parameters, const DeviceInfo& device,
                           SizeBinding sizes, std::optional<FixedLevel> fixed) try
    : names_(name_table_of(target, parameters, problem, device, sizes, fixed)),
      turn_(names_.variable(kTurn)),
      turns_(names_.variable(kTurns)) {
  bind_kernels(target);
  bind_quantities(target);
  schedule();
} catch (const Error& error) {
  throw Error(format("the cost model of target {}: {}", target.name, error.what()));
}

CostInput CostFormulas::input(std::span<const std::uint16_t> levels,
                              std::span<const std::int64_t> sizes,
                              std::span<const KernelResources> compiled) const {
  Slots slots = of_sizes(sizes);
  return input(levels, slots, compiled);
}

Slots CostFormulas::of_sizes(std::span<const std::int64_t> sizes) const {
  return names_.given_slots(sizes, of_sizes_);
}

CostInput CostFormulas::input(std::span<const std::uint16_t> levels, Slots& slots,
                              std::span<const KernelResources> compiled) const {
  names_.set(slots, levels);
  for (const std::uint32_t definition : of_levels_) names_.compute(slots, definition);
  const Kernel& kernel = main_kernel(slots);
  CostInput input;
  input.launches = 0;
  for (const Kernel& each : kernels_) {
    const std::int64_t count = turns(each, slots);
    if (names_.value(each.when, slots) != 0) input.launches += static_cast<int>(count);
  }
  input.blocks = turns(kernel, slots);
  if (__builtin_mul_overflow(input.blocks, product(kernel.grid, slots), &input.blocks)) {
    input.blocks = std::numeric_limits<std::int64_t>::max();
  }
  KernelShape& shape = input.shape;
  shape.threads = static_cast<int>(product(kernel.block, slots));
  shape.cluster = static_cast<int>(product(kernel.cluster, slots));
  shape.dynamic_shared_bytes = names_.value(kernel.dynamic_shared_bytes, slots);
  shape.registers = registers_ ? static_cast<int>(names_.value(*registers_, slots)) : 0;
  if (shape.registers == 0) shape.registers = kTypicalRegisters;
  shape.static_shared_bytes = shared_bytes_ ? names_.value(*shared_bytes_, slots) : 0;
  const auto resources =
      std::find_if(compiled.begin(), compiled.end(),
                   [&](const KernelResources& each) { return each.entry == kernel.entry; });
  if (resources != compiled.end()) {
    if (resources->registers >= 0) shape.registers = resources->registers;
    shape.static_shared_bytes = resources->shared_bytes;
  }
  input.work = work(slots, static_cast<double>(input.blocks) * shape.threads);
  return input;
}

void CostFormulas::bind_kernels(const Target& target) {
  const Expression always = Expression::constant(1);
  const Expression none = Expression::constant(0);
  for (const KernelSpec& kernel : target.kernels) {
    kernels_.push_back(
        {.entry = kernel.entry,
         .is_main = kernel.is_main,
         .when = names_.bind(kernel.when.value_or(always)),
         .dynamic_shared_bytes = names_.bind(kernel.dynamic_shared_bytes.value_or(none)),
         .grid = names_.bind(kernel.grid),
         .block = names_.bind(kernel.block),
         .cluster = names_.bind(kernel.cluster),
         .repeat = names_.bind(kernel.repeat)});
  }
  if (kernels_.empty()) throw Error("it has no kernels");
}

void CostFormulas::bind_quantities(const Target& target) {
  for (const DefineSpec& given : target.model) {
    const auto found = std::find(kQuantities.begin(), kQuantities.end(), given.name);
    if (found == kQuantities.end()) {
      const std::vector<std::string> known(kQuantities.begin(), kQuantities.end());
      throw Error(format("\"{}\" in \"model\" is not a quantity ({})", given.name,
                         suggestion(given.name, known)));
    }
    quantities_[static_cast<std::size_t>(found - kQuantities.begin())].push_back(
        {names_.bind(given.when), names_.bind(given.value)});
  }
  registers_ = names_.bind(target.registers);
  shared_bytes_ = names_.bind(target.shared_bytes);
  flops_ = names_.bind(target.flops);
  bytes_ = names_.bind(target.bytes);
}

/// Everything that input() may need.
void CostFormulas::schedule() {
  Schedule all = names_.schedule(registers_, shared_bytes_, flops_, bytes_);
  for (const Kernel& kernel : kernels_) need(all, kernel);
  for (const std::vector<Rule>& rules : quantities_) {
    for (const Rule& rule : rules) {
      names_.add_to(all, rule.when);
      names_.add_to(all, rule.value);
    }
  }
  std::ranges::sort(all);  // a definition uses earlier ones only
  for (const std::uint32_t each : all) {
    (names_.is_of_parameters(each) ? of_levels_ : of_sizes_).push_back(each);
  }
}

void CostFormulas::need(Schedule& schedule, const Kernel& kernel) const {
  names_.add_to(schedule, kernel.when);
  names_.add_to(schedule, kernel.repeat);
  names_.add_to(schedule, kernel.dynamic_shared_bytes);
  for (const auto* sizes : {&kernel.grid, &kernel.block, &kernel.cluster}) {
    names_.add_to(schedule, *sizes);
  }
}

/// The product, saturated at the largest integer.
std::int64_t CostFormulas::product(const std::vector<Formula>& formulas, const Slots& slots) const {
  std::int64_t result = 1;
  for (const Formula& formula : formulas) {
    if (__builtin_mul_overflow(result, names_.value(formula, slots), &result)) {
      return std::numeric_limits<std::int64_t>::max();
    }
  }
  return result;
}

std::int64_t CostFormulas::turns(const Kernel& kernel, Slots& slots) const {
  if (!kernel.repeat) return 1;
  constexpr std::int64_t kMost = 1'000'000;  // more are refused anyway
  const std::int64_t turns =
      std::clamp<std::int64_t>(names_.value(*kernel.repeat, slots), 0, kMost);
  slots.values[turn_] = turns / 2;
  slots.values[turns_] = turns;
  return turns;
}

const CostFormulas::Kernel& CostFormulas::main_kernel(Slots& slots) const {
  if (const auto named = quantity(Quantity::main_kernel, slots)) {
    const auto index = static_cast<std::size_t>(*named);
    if (*named >= 0 && index < kernels_.size()) return kernels_[index];
  }
  const Kernel* largest = &kernels_.front();
  double most = -1;
  for (const Kernel& kernel : kernels_) {
    (void)turns(kernel, slots);
    if (names_.value(kernel.when, slots) == 0) continue;
    if (kernel.is_main) return kernel;
    const double threads = static_cast<double>(product(kernel.grid, slots)) *
                           static_cast<double>(product(kernel.block, slots));
    if (threads > most) {
      most = threads;
      largest = &kernel;
    }
  }
  return *largest;
}

std::optional<double> CostFormulas::quantity(Quantity which, const Slots& slots) const {
  for (const Rule& rule : quantities_[static_cast<std::size_t>(which)]) {
    if (rule.when && names_.value(*rule.when, slots) == 0) continue;
    return names_.number(rule.value, slots);
  }
  return std::nullopt;
}

KernelWork CostFormulas::work(const Slots& slots, double threads) const {
  const auto of = [&](Quantity which, double otherwise) {
    return std::max(0.0, quantity(which, slots).value_or(otherwise));
  };
  const KernelWork typical;
  KernelWork work;
  work.flops = flops_ ? names_.number(*flops_, slots) : 0;
  work.dram_bytes = of(Quantity::dram_bytes, bytes_ ? names_.number(*bytes_, slots) : 0);
  work.l2_bytes = of(Quantity::l2_bytes, work.dram_bytes);
  if (const auto sectors = quantity(Quantity::l2_transactions, slots)) {
    work.l2_bytes = *sectors * 32;
  }
  work.shared_wavefronts = of(Quantity::shared_wavefronts, 0);
  work.instructions =
      of(Quantity::instructions, kInstructionsOfAnyThread * threads + work.l2_bytes / 4);
  work.steps = std::max(1.0, of(Quantity::steps, typical.steps));
  work.prefetch = of(Quantity::prefetch, typical.prefetch);
  work.barriers = of(Quantity::barriers, typical.barriers);
  work.ilp = std::max(1.0, of(Quantity::ilp, typical.ilp));
  work.fma_percent = std::max(1.0, of(Quantity::fma_percent, typical.fma_percent));
  work.idle_percent = of(Quantity::idle_percent, typical.idle_percent);
  work.round_trips = of(Quantity::round_trips, typical.round_trips);
  work.epilogue = of(Quantity::epilogue, typical.epilogue);
  work.tensor_products = of(Quantity::tensor_products, typical.tensor_products);
  work.other_kernel_bytes = of(Quantity::other_kernel_bytes, typical.other_kernel_bytes);
  return work;
}

}  // namespace autotune
