// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/reduction_class.hpp"

#include <stdlib.h>  // mkdtemp

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <numeric>
#include <optional>
#include <random>

#include "tuner/core/element_type.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/narrow_float.hpp"
#include "tuner/core/target_program.hpp"
#include "tuner/hash/hash.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

namespace fs = std::filesystem;

/// Around the heights of tiles, so that there are whole and partial ones.
constexpr std::array<std::int64_t, 3> kRows{1, 33, 257};
constexpr std::int64_t kMostHostColumns = 512;
constexpr int kSeeds = 32;  // columns repeat after so many
constexpr int kLargestExponent = 8;

/// A folder for inputs that a worker reads too.
class InputFolder {
 public:
  InputFolder() {
    std::string name = (fs::temp_directory_path() / "autotune-bits-XXXXXX").string();
    if (!mkdtemp(name.data())) throw Error(format("{}: cannot be made", name));
    path_ = name;
  }
  ~InputFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  InputFolder(const InputFolder&) = delete;
  InputFolder& operator=(const InputFolder&) = delete;

  fs::path write(const std::string& name, const std::vector<std::byte>& bytes) const {
    const fs::path file = path_ / name;
    std::ofstream stream(file, std::ios::binary);
    stream.write(reinterpret_cast<const char*>(bytes.data()), std::ssize(bytes));
    if (!stream.flush()) throw Error(format("{}: cannot be written", file.string()));
    return file;
  }

 private:
  fs::path path_;
};

template <class T>
void append(std::vector<std::byte>& bytes, T value) {
  const std::size_t at = bytes.size();
  bytes.resize(at + sizeof value);
  std::memcpy(&bytes[at], &value, sizeof value);
}

void append(std::vector<std::byte>& bytes, ElementType type, double value) {
  switch (type) {
    case ElementType::f64:
      return append(bytes, value);
    case ElementType::f32:
      return append(bytes, static_cast<float>(value));
    case ElementType::f16:
      return append(bytes, Float16(value).bits);
    case ElementType::bf16:
      return append(bytes, BFloat16(value).bits);
    default:
      throw Error(format("{} has no roundings", name_of(type)));
  }
}

/// The factors along K. Each product of a column has a partner of the other sign, so that the exact
/// sum is 0. Exponents are spread, so that roundings depend on the order.
struct Factors {
  std::vector<double> a;               // of every row
  std::vector<std::vector<double>> b;  // of each seed
};

Factors factors_of(std::int64_t k, bool is_narrow) {
  std::mt19937_64 random(20261126);
  std::uniform_int_distribution<int> exponent(-kLargestExponent, kLargestExponent);
  // A narrow type must hold the number exactly.
  const std::int64_t steps = is_narrow ? 1 << 7 : 1 << 22;
  std::uniform_int_distribution<std::int64_t> fraction(0, steps - 1);
  const auto draw = [&] {
    const double one = 1 + static_cast<double>(fraction(random)) / static_cast<double>(steps);
    return std::ldexp(random() % 2 == 0 ? one : -one, exponent(random));
  };
  const auto count = static_cast<std::size_t>(k);
  Factors factors;
  factors.a.resize(count);
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::shuffle(order, random);
  for (std::size_t i = 0; i < count; i += 2) {
    factors.a[order[i]] = draw();
    if (i + 1 < count) factors.a[order[i + 1]] = factors.a[order[i]];
  }
  for (int seed = 0; seed < kSeeds; ++seed) {
    std::vector<double>& b = factors.b.emplace_back(count);
    for (std::size_t i = 0; i < count; i += 2) {
      b[order[i]] = i + 1 < count ? draw() : std::ldexp(1, -2 * kLargestExponent);
      if (i + 1 < count) b[order[i + 1]] = -b[order[i]];
    }
  }
  return factors;
}

std::string layout_of(const Problem& problem) {
  const Value* const layout = find_value(problem.values, "layout");
  return layout ? layout->text() : "";
}

std::int64_t size_of(const Problem& problem, const char* name) {
  return find_value(problem.values, name)->integer();
}

/// Rows of A are equal; columns of B repeat.
class Inputs {
 public:
  Inputs(const Problem& problem, ElementType type)
      : problem_(problem),
        type_(type),
        factors_(factors_of(size_of(problem, "K"),
                            type == ElementType::f16 || type == ElementType::bf16)) {}

  /// With these inputs, and without a reference, which is not asked for.
  Workload with(Workload workload) const {
    for (BufferSpec& buffer : workload.buffers) {
      const bool is_input = buffer.role == Role::input || buffer.role == Role::inout;
      if (buffer.name == "A") {
        buffer.file = folder_.write("A", first());
      } else if (buffer.name == "B") {
        buffer.file = folder_.write("B", second());
      } else if (is_input) {
        std::vector<std::byte> bytes;
        for (std::int64_t i = 0; i < buffer.length; ++i) append(bytes, buffer.type, 0.03125);
        buffer.file = folder_.write(buffer.name, bytes);
      }
    }
    return workload;
  }

 private:
  std::vector<std::byte> first() const {
    const bool by_k = layout_of(problem_).starts_with('N');
    const std::int64_t m = size_of(problem_, "M"), k = size_of(problem_, "K");
    std::vector<std::byte> bytes;
    for (std::int64_t i = 0; i < batches() * m * k; ++i) {
      append(bytes, type_, factors_.a[static_cast<std::size_t>(by_k ? i % k : i / m % k)]);
    }
    return bytes;
  }

  std::vector<std::byte> second() const {
    const bool by_k = layout_of(problem_).ends_with('T');
    const std::int64_t n = size_of(problem_, "N"), k = size_of(problem_, "K");
    std::vector<std::byte> bytes;
    for (std::int64_t i = 0; i < batches() * n * k; ++i) {
      const std::int64_t along_k = by_k ? i % k : i / n % k;
      const std::int64_t column = by_k ? i / k % n : i % n;
      append(
          bytes, type_,
          factors_.b[static_cast<std::size_t>(column % kSeeds)][static_cast<std::size_t>(along_k)]);
    }
    return bytes;
  }

  std::int64_t batches() const {
    return find_value(problem_.values, "batch") ? size_of(problem_, "batch") : 1;
  }

  const Problem& problem_;
  const ElementType type_;
  const Factors factors_;
  const InputFolder folder_;
};

void set_size(Problem& problem, const char* name, std::int64_t size) {
  for (NamedValue& value : problem.values) {
    if (value.name == name) value.value = size;
  }
}

/// The bits of each seed's column, if all columns of a seed have the same, and all rows.
std::optional<std::vector<std::uint64_t>> bits_by_seed(const RowBits& rows) {
  if (rows.different > 0) return std::nullopt;
  std::vector<std::uint64_t> bits;
  for (std::size_t column = 0; column < rows.first.size(); ++column) {
    if (column < kSeeds) {
      bits.push_back(rows.first[column]);
    } else if (rows.first[column] != bits[column % kSeeds]) {
      return std::nullopt;
    }
  }
  return bits;
}

/// What is known of one configuration after some numbers of rows.
struct Known {
  std::optional<std::vector<std::uint64_t>> bits;
  bool depends_on_place = false;

  void add(const RowBits& rows) {
    if (rows.first.empty()) return;
    const auto now = bits_by_seed(rows);
    depends_on_place = depends_on_place || !now || (bits && *bits != *now);
    if (now) bits = *now;
  }

  std::string text() const {
    if (depends_on_place) return kPlaceDependent;
    if (!bits) return "";
    const std::string_view bytes(reinterpret_cast<const char*>(bits->data()),
                                 bits->size() * sizeof(std::uint64_t));
    return format("{:016x}", hash64(bytes));
  }
};

/// Runs the configurations that are valid for these rows, and adds what their bits show.
void run(Device& device, const Target& target, const Problem& problem,
         const std::vector<std::string>& configurations, std::vector<Known>& known) {
  const TargetProgram program(target, problem, device.info());
  if (!program.refusal().empty()) return;
  const std::vector<BufferSpec> buffers = program.buffers();
  const auto a = std::ranges::find(buffers, "A", &BufferSpec::name);
  const Inputs inputs(problem, a->type);
  const auto bench = device.open(inputs.with(workload_of(target, problem, device.info())));
  for (std::size_t i = 0; i < configurations.size(); ++i) {
    if (known[i].depends_on_place) continue;
    try {
      const Levels levels = program.levels(parse_named_values(configurations[i]));
      if (!program.is_valid(levels)) continue;
      const CompiledKernel kernel = device.compile(program.source_unit(levels));
      if (kernel.outcome != Outcome::ok) continue;
      known[i].add(bench->load(kernel, program.plan(levels))->rows(size_of(problem, "N")));
    } catch (const KernelFailure&) {  // it has no bits
    }
  }
}

}  // namespace

bool has_reduction_classes(const Target& target, const Problem& problem) {
  const auto has_size = [&](const char* name) {
    return std::ranges::find(target.sizes, name) != target.sizes.end();
  };
  const auto has_input = [&](const char* name) {
    return std::ranges::any_of(target.arguments,
                               [&](const ArgumentSpec& one) { return one.name == name; });
  };
  const Value* const type = find_value(problem.values, "dtype");
  return has_size("M") && has_size("N") && has_size("K") && has_input("A") && has_input("B") &&
         layout_of(problem).size() == 2 && type &&
         std::ranges::any_of(std::array{"f64", "f32", "f16", "bf16"},
                             [&](const char* name) { return type->text() == name; }) &&
         problem.free.empty();
}

std::vector<std::string> reduction_classes(Device& device, const Target& target,
                                           const Problem& problem,
                                           const std::vector<std::string>& configurations) {
  std::vector<Known> known(configurations.size());
  if (has_reduction_classes(target, problem)) {
    Problem probe = problem;
    const std::int64_t n = size_of(problem, "N");
    if (device.info().kind == DeviceKind::host && n > kMostHostColumns) {
      set_size(probe, "N", kMostHostColumns / 2 + n % 64);
    }
    for (const std::int64_t rows : kRows) {
      set_size(probe, "M", rows);
      run(device, target, probe, configurations, known);
    }
  }
  std::vector<std::string> classes;
  for (const Known& each : known) classes.push_back(each.text());
  return classes;
}

}  // namespace autotune
