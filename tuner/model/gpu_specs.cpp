// SPDX-License-Identifier: Apache-2.0
#include "tuner/model/gpu_specs.hpp"

#include <algorithm>
#include <cctype>

#include "tuner/core/error.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"
#include "tuner/text/strings.hpp"

namespace autotune {
namespace {

struct Row {
  const char* name;
  int compute_capability;
  int multiprocessors;
  int clock_mhz;  // boost, of an SM
  int memory_mib;
  double memory_gb_s;
  int l2_kib;
  std::vector<int> cluster_groups;
};

// A new GPU is one row. Clocks, memory and cache from NVIDIA's data sheets and whitepapers.
const std::vector<Row>& rows() {
  const std::vector<int> h100_groups{16, 16, 16, 16, 16, 16, 18, 18},
      h200_groups{2, 2, 2, 2, 8, 16, 16, 16, 16, 16, 18, 18};
  static const std::vector<Row> table = {
      // name                                     cc  SMs    MHz      MiB    GB/s  L2 KiB
      {"GeForce 8800 GTX", 10, 16, 1350, 768, 86.4, 0, {}},
      {"GeForce 9800 GT", 11, 14, 1500, 512, 57.6, 0, {}},
      {"GeForce GT 240", 12, 12, 1340, 512, 54.4, 0, {}},
      {"Tesla C1060", 13, 30, 1296, 4096, 102.4, 0, {}},
      {"Tesla C2050", 20, 14, 1150, 3072, 144, 768, {}},
      {"GeForce GTX 560 Ti", 21, 8, 1645, 1024, 128.3, 512, {}},
      {"GeForce GTX 680", 30, 8, 1058, 2048, 192.3, 512, {}},
      {"Tesla K20X", 35, 14, 732, 6144, 249.6, 1536, {}},
      {"Tesla K40", 35, 15, 875, 12288, 288.4, 1536, {}},
      {"Tesla K80", 37, 13, 875, 12288, 240.5, 1536, {}},  // one of its two GPUs
      {"GeForce GTX 750 Ti", 50, 5, 1085, 2048, 86.4, 2048, {}},
      {"GeForce GTX 980", 52, 16, 1216, 4096, 224.4, 2048, {}},
      {"Tesla P100-SXM2-16GB", 60, 56, 1480, 16384, 732, 4096, {}},
      {"Tesla P40", 61, 30, 1531, 24576, 347.1, 3072, {}},
      {"GeForce GTX 1080", 61, 20, 1733, 8192, 320.3, 2048, {}},
      {"GeForce GTX 1080 Ti", 61, 28, 1582, 11264, 484.4, 2816, {}},
      {"Tesla V100-SXM2-16GB", 70, 80, 1530, 16384, 898, 6144, {}},
      {"Tesla V100-SXM2-32GB", 70, 80, 1530, 32768, 898, 6144, {}},
      {"Tesla T4", 75, 40, 1590, 16384, 320, 4096, {}},
      {"NVIDIA GeForce RTX 2080 Ti", 75, 68, 1545, 11264, 616, 5632, {}},
      {"NVIDIA A100-SXM4-40GB", 80, 108, 1410, 40960, 1555, 40960, {}},
      {"NVIDIA A100-SXM4-80GB", 80, 108, 1410, 81920, 2039, 40960, {}},
      {"NVIDIA A30", 80, 56, 1440, 24576, 933, 24576, {}},
      {"NVIDIA A10", 86, 72, 1695, 24576, 600, 6144, {}},
      {"NVIDIA A40", 86, 84, 1740, 49152, 696, 6144, {}},
      {"NVIDIA RTX A4000", 86, 48, 1560, 16384, 448, 4096, {}},
      {"NVIDIA RTX A6000", 86, 84, 1800, 49152, 768, 6144, {}},
      {"NVIDIA GeForce RTX 3060", 86, 28, 1777, 12288, 360, 3072, {}},
      {"NVIDIA GeForce RTX 3070", 86, 46, 1725, 8192, 448, 4096, {}},
      {"NVIDIA GeForce RTX 3080", 86, 68, 1710, 10240, 760.3, 5120, {}},
      {"NVIDIA GeForce RTX 3090", 86, 82, 1695, 24576, 936.2, 6144, {}},
      {"NVIDIA Jetson AGX Orin", 87, 16, 1300, 65536, 204.8, 4096, {}},
      {"NVIDIA GeForce RTX 4070", 89, 46, 2475, 12288, 504.2, 36864, {}},
      {"NVIDIA GeForce RTX 4080", 89, 76, 2505, 16384, 716.8, 65536, {}},
      {"NVIDIA GeForce RTX 4090", 89, 128, 2520, 24576, 1008, 73728, {}},
      {"NVIDIA RTX 6000 Ada Generation", 89, 142, 2505, 49152, 960, 98304, {}},
      {"NVIDIA L4", 89, 58, 2040, 24576, 300, 49152, {}},
      {"NVIDIA L40S", 89, 142, 2520, 49152, 864, 98304, {}},
      {"NVIDIA H100 80GB HBM3", 90, 132, 1980, 81920, 3352, 51200, h100_groups},
      {"NVIDIA H100 PCIe", 90, 114, 1755, 81920, 2039, 51200, {}},
      {"NVIDIA H200", 90, 132, 1980, 144384, 4800, 61440, h200_groups},
      {"NVIDIA B200", 100, 148, 1965, 184320, 8000, 129024, {}},
      {"NVIDIA GeForce RTX 5080", 120, 84, 2617, 16384, 960, 65536, {}},
      {"NVIDIA GeForce RTX 5090", 120, 170, 2407, 32768, 1792, 98304, {}},
      {"NVIDIA RTX PRO 6000 Blackwell Server Edition", 120, 188, 2617, 98304, 1597, 131072, {}},
  };
  return table;
}

GpuSpec spec_of(const Row& row) {
  GpuSpec spec;
  spec.name = row.name;
  spec.multiprocessors = row.multiprocessors;
  spec.clock_hz = row.clock_mhz * 1e6;
  spec.memory_bytes = std::int64_t{row.memory_mib} << 20;
  spec.memory_bytes_per_second = row.memory_gb_s * 1e9;
  spec.l2_bytes = std::int64_t{row.l2_kib} << 10;
  spec.cluster_groups = row.cluster_groups;
  spec.sm = multiprocessor(row.compute_capability);
  return spec;
}

/// `NVIDIA GeForce RTX 4090` -> rtx, 4090: lower case, without brand names.
std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> words(1);
  for (const char letter : lowered(std::string(name))) {
    if (std::isalnum(static_cast<unsigned char>(letter))) {
      words.back() += letter;
    } else {
      words.emplace_back();
    }
  }
  std::erase_if(words, [](const std::string& word) {
    return word.empty() || word == "nvidia" || word == "geforce" || word == "tesla" ||
           word == "quadro";
  });
  return words;
}

bool is_series(const std::string& word) { return word == "rtx" || word == "gtx" || word == "gt"; }

/// Whether `asked` is the first words of `words` joined, with or without prefixes such as `rtx`:
/// rtx4090 and 4090, a100 and a100sxm4. A series alone names none.
bool names(const std::string& asked, std::span<const std::string> words) {
  for (std::size_t first = 0; first <= (is_series(words[0]) ? 1u : 0u) && first < words.size();
       ++first) {
    std::string joined;
    for (std::size_t i = first; i < words.size(); ++i) {
      joined += words[i];
      if (joined == asked && !is_series(asked)) return true;
    }
  }
  return false;
}

/// What a person would type: h200, rtx4090.
std::string nickname(std::span<const std::string> words) {
  return is_series(words[0]) ? words[0] + words[1] : words[0];
}

/// The row with the longest name that the device's name begins with, or nullptr.
const GpuSpec* row_of(const DeviceInfo& info) {
  const std::vector<std::string> words = words_of(info.name);
  const GpuSpec* best = nullptr;
  std::size_t longest = 0;
  for (const GpuSpec& spec : gpu_specs()) {
    const std::vector<std::string> row = words_of(spec.name);
    const bool begins =
        row.size() <= words.size() && std::equal(row.begin(), row.end(), words.begin());
    if (begins && row.size() > longest && spec.sm.compute_capability == info.compute_capability) {
      best = &spec;
      longest = row.size();
    }
  }
  return best;
}

}  // namespace

std::span<const GpuSpec> gpu_specs() {
  static const std::vector<GpuSpec> specs = [] {
    std::vector<GpuSpec> made;
    for (const Row& row : rows()) made.push_back(spec_of(row));
    return made;
  }();
  return specs;
}

std::vector<std::string> gpu_nicknames() {
  std::vector<std::string> known;
  for (const GpuSpec& spec : gpu_specs()) {
    const std::string nick = nickname(words_of(spec.name));
    if (std::find(known.begin(), known.end(), nick) == known.end()) known.push_back(nick);
  }
  return known;
}

const GpuSpec& find_gpu(std::string_view name) {
  constexpr std::string_view kModel = "model:";
  if (name.starts_with(kModel)) name.remove_prefix(kModel.size());
  const std::string asked = joined(words_of(name), "");
  for (const GpuSpec& spec : gpu_specs()) {
    if (names(asked, words_of(spec.name))) return spec;
  }
  throw UsageError(
      format("GPU \"{}\" is not in the table: {}", name, suggestion(asked, gpu_nicknames())));
}

const GpuSpec* known_gpu(std::string_view name) try {
  return &find_gpu(name);
} catch (const UsageError&) {
  return nullptr;
}

DeviceInfo device_info(const GpuSpec& spec) {
  DeviceInfo info;
  info.name = spec.name;
  info.kind = DeviceKind::model;
  info.compute_capability = spec.sm.compute_capability;
  info.multiprocessors = spec.multiprocessors;
  info.max_threads_per_block = spec.sm.max_threads_per_block;
  info.max_block = {spec.sm.max_threads_per_block, spec.sm.max_threads_per_block, 64};
  if (spec.sm.compute_capability < 30) info.max_grid.x = 65535;
  if (spec.sm.compute_capability < 20) info.max_grid.z = 1;
  info.shared_bytes_per_block = spec.sm.shared_bytes_per_block;
  info.shared_bytes_per_multiprocessor = spec.sm.shared_bytes;
  info.registers_per_multiprocessor = spec.sm.registers;
  info.threads_per_multiprocessor = spec.sm.threads;
  info.blocks_per_multiprocessor = spec.sm.blocks;
  info.l2_bytes = spec.l2_bytes;
  info.memory_bytes = spec.memory_bytes;
  info.clock_hz = spec.clock_hz;
  info.memory_bytes_per_second = spec.memory_bytes_per_second;
  return info;
}

GpuSpec gpu_spec(const DeviceInfo& info) {
  GpuSpec spec;
  const Multiprocessor& sm = multiprocessor(info.compute_capability);
  if (const GpuSpec* row = row_of(info)) {
    spec = *row;
  } else {
    spec.sm = sm;
    spec.memory_bytes_per_second = 500e9;  // not in `info`: that of an average card
  }
  // A slice of a GPU has other groups than the whole.
  if (info.multiprocessors != spec.multiprocessors) spec.cluster_groups.clear();
  spec.name = info.name;
  spec.multiprocessors = info.multiprocessors;
  spec.sm.threads = info.threads_per_multiprocessor;
  spec.sm.warps = info.threads_per_multiprocessor / 32;
  spec.sm.blocks = info.blocks_per_multiprocessor;
  spec.sm.max_threads_per_block = info.max_threads_per_block;
  spec.sm.registers = info.registers_per_multiprocessor;
  spec.sm.shared_bytes = info.shared_bytes_per_multiprocessor;
  spec.sm.shared_bytes_per_block = info.shared_bytes_per_block;
  if (info.clock_hz > 0) spec.clock_hz = info.clock_hz;
  if (spec.clock_hz <= 0) spec.clock_hz = 1.5e9;
  if (info.l2_bytes > 0) spec.l2_bytes = info.l2_bytes;
  if (info.memory_bytes > 0) spec.memory_bytes = info.memory_bytes;
  if (info.memory_bytes_per_second > 0) {
    spec.memory_bytes_per_second = info.memory_bytes_per_second;
  }
  return spec;
}

namespace {

constexpr int kKiB = 1024;

// Possible sizes of shared memory in KiB, if it shares its storage with L1.
constexpr int kFermi[] = {16, 48};
constexpr int kKepler[] = {16, 32, 48};
constexpr int kKepler37[] = {80, 96, 112};
constexpr int kVolta[] = {0, 8, 16, 32, 64, 96};
constexpr int kTuring[] = {32, 64};
constexpr int kAmpere[] = {0, 8, 16, 32, 64, 100, 132, 164};
constexpr int kAmpere100[] = {0, 8, 16, 32, 64, 100};
constexpr int kHopper[] = {0, 8, 16, 32, 64, 100, 132, 164, 196, 228};

/// What tells the architectures apart.
struct Architecture {
  int capability, warps, blocks;
  int registers, registers_per_block;  // in units of 1024
  int registers_per_thread, register_unit, warp_unit, partitions;
  int shared_kib, shared_kib_per_block, shared_unit, barriers, max_cluster;
  int schedulers, fma_lanes, tensor_lanes, shared_bytes_per_cycle;
  std::span<const int> shared_sizes;
};

// clang-format off
constexpr Architecture kArchitectures[] = {
    // warps, blocks; registers; shared memory, barriers, cluster; rates a cycle; settings
    { 10, 24,  8,   8,  8, 124, 256, 2, 1,  16,  16, 512,  0,  1, 1,   8,    0,  32, {}},
    { 11, 24,  8,   8,  8, 124, 256, 2, 1,  16,  16, 512,  0,  1, 1,   8,    0,  32, {}},
    { 12, 32,  8,  16, 16, 124, 512, 2, 1,  16,  16, 512,  0,  1, 1,   8,    0,  32, {}},
    { 13, 32,  8,  16, 16, 124, 512, 2, 1,  16,  16, 512,  0,  1, 1,   8,    0,  32, {}},
    { 20, 48,  8,  32, 32,  63,  64, 2, 1,  48,  48, 128,  0,  1, 2,  32,    0,  64, kFermi},
    { 21, 48,  8,  32, 32,  63,  64, 2, 1,  48,  48, 128,  0,  1, 2,  48,    0,  64, kFermi},
    { 30, 64, 16,  64, 64,  63, 256, 4, 4,  48,  48, 256,  0,  1, 4, 192,    0, 256, kKepler},
    { 32, 64, 16,  64, 64, 255, 256, 4, 4,  48,  48, 256,  0,  1, 4, 192,    0, 256, kKepler},
    { 35, 64, 16,  64, 64, 255, 256, 4, 4,  48,  48, 256,  0,  1, 4, 192,    0, 256, kKepler},
    { 37, 64, 16, 128, 64, 255, 256, 4, 4, 112,  48, 256,  0,  1, 4, 192,    0, 256, kKepler37},
    { 50, 64, 32,  64, 64, 255, 256, 4, 4,  64,  48, 256,  0,  1, 4, 128,    0, 128, {}},
    { 52, 64, 32,  64, 64, 255, 256, 4, 4,  96,  48, 256,  0,  1, 4, 128,    0, 128, {}},
    { 53, 64, 32,  64, 32, 255, 256, 4, 4,  64,  48, 256,  0,  1, 4, 128,    0, 128, {}},
    { 60, 64, 32,  64, 64, 255, 256, 2, 2,  64,  48, 256,  0,  1, 2,  64,    0, 128, {}},
    { 61, 64, 32,  64, 64, 255, 256, 4, 4,  96,  48, 256,  0,  1, 4, 128,    0, 128, {}},
    { 62, 64, 32,  64, 32, 255, 256, 4, 4,  64,  48, 256,  0,  1, 4, 128,    0, 128, {}},
    { 70, 64, 32,  64, 64, 255, 256, 4, 4,  96,  96, 256,  0,  1, 4,  64,  512, 128, kVolta},
    { 72, 64, 32,  64, 64, 255, 256, 4, 4,  96,  96, 256,  0,  1, 4,  64,  512, 128, kVolta},
    { 75, 32, 16,  64, 64, 255, 256, 4, 4,  64,  64, 256,  0,  1, 4,  64,  512, 128, kTuring},
    { 80, 64, 32,  64, 64, 255, 256, 4, 4, 164, 163, 128,  0,  1, 4,  64, 1024, 128, kAmpere},
    { 86, 48, 16,  64, 64, 255, 256, 4, 4, 100,  99, 128,  0,  1, 4, 128,  512, 128, kAmpere100},
    { 87, 48, 16,  64, 64, 255, 256, 4, 4, 164, 163, 128,  0,  1, 4, 128,  512, 128, kAmpere},
    { 89, 48, 24,  64, 64, 255, 256, 4, 4, 100,  99, 128,  0,  1, 4, 128,  512, 128, kAmpere100},
    { 90, 64, 32,  64, 64, 255, 256, 4, 4, 228, 227, 128, 64, 16, 4, 128, 2048, 128, kHopper},
    {100, 64, 32,  64, 64, 255, 256, 4, 4, 228, 227, 128, 64, 16, 4, 128, 4096, 128, kHopper},
    {101, 48, 24,  64, 64, 255, 256, 4, 4, 228, 227, 128, 24, 16, 4, 128, 4096, 128, kHopper},
    {103, 64, 32,  64, 64, 255, 256, 4, 4, 228, 227, 128, 64, 16, 4, 128, 4096, 128, kHopper},
    {110, 48, 24,  64, 64, 255, 256, 4, 4, 228, 227, 128, 24, 16, 4, 128, 4096, 128, kHopper},
    {120, 48, 24,  64, 64, 255, 256, 4, 4, 100,  99, 128, 24,  8, 4, 128,  512, 128, kAmpere100},
    {121, 48, 24,  64, 64, 255, 256, 4, 4, 100,  99, 128, 24,  8, 4, 128,  512, 128, kAmpere100},
};
// clang-format on

Multiprocessor multiprocessor_of(const Architecture& row) {
  Multiprocessor sm;
  sm.compute_capability = row.capability;
  sm.threads = row.warps * kWarp;
  sm.warps = row.warps;
  sm.blocks = row.blocks;
  sm.registers = row.registers * 1024;
  sm.registers_per_block = row.registers_per_block * 1024;
  sm.registers_per_thread = row.registers_per_thread;
  sm.register_unit = row.register_unit;
  sm.warp_unit = row.warp_unit;
  sm.partitions = row.partitions;
  sm.shared_bytes = row.shared_kib * kKiB;
  sm.shared_bytes_per_block = row.shared_kib_per_block * kKiB;
  sm.shared_unit = row.shared_unit;
  sm.shared_sizes = row.shared_sizes;
  sm.barriers = row.barriers;
  sm.max_cluster = row.max_cluster;
  sm.schedulers = row.schedulers;
  sm.fma_lanes = row.fma_lanes;
  sm.tensor_lanes = row.tensor_lanes;
  sm.shared_bytes_per_cycle = row.shared_bytes_per_cycle;
  if (row.capability < 30) sm.l2_bytes_per_cycle = row.capability < 20 ? 16 : 32;
  if (row.capability < 50) sm.load_transaction_bytes = 128;
  if (row.capability < 20) {
    sm.max_threads_per_block = 512;
    sm.registers_by_block = true;
  }
  if (row.capability >= 80) sm.reserved_shared_bytes = kKiB;
  return sm;
}

}  // namespace

std::span<const Multiprocessor> multiprocessors() {
  static const std::vector<Multiprocessor> rows = [] {
    std::vector<Multiprocessor> made;
    for (const Architecture& row : kArchitectures) made.push_back(multiprocessor_of(row));
    return made;
  }();
  return rows;
}

const Multiprocessor& multiprocessor(int compute_capability) {
  const Multiprocessor* nearest = nullptr;
  for (const Multiprocessor& row : multiprocessors()) {
    if (row.compute_capability <= compute_capability) nearest = &row;
  }
  const bool exact = nearest && nearest->compute_capability == compute_capability;
  if (exact || (nearest && compute_capability > 75)) return *nearest;
  throw UsageError(format("compute capability {}.{} is not known: the table has 1.0 to 12.1",
                          compute_capability / 10, compute_capability % 10));
}

}  // namespace autotune
