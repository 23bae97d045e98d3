// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/reduction_class.hpp"

#include <stdlib.h>  // mkdtemp

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <optional>
#include <random>
#include <set>
#include <utility>

#include "db/lookup_source.hpp"
#include "tuner/core/element_type.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/narrow_float.hpp"
#include "tuner/core/target_program.hpp"
#include "tuner/hash/hash.hpp"
#include "tuner/records/records.hpp"
#include "tuner/session/compile_pool.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

namespace fs = std::filesystem;

/// Around the heights of tiles, so that there are whole and partial ones.
constexpr std::array<std::int64_t, 3> kRows{1, 33, 257};
/// On a GPU also more tiles than multiprocessors: kernels may split the last ones only.
constexpr std::int64_t kManyRows = 4097;
constexpr std::int64_t kMostColumns = 2048, kMostHostColumns = 256, kColumnsKept = 256;
constexpr std::int64_t kMostElements = std::int64_t{1} << 28;
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

  fs::path write(const std::string& name, const std::vector<std::byte>& bytes,
                 std::size_t copies = 1) const {
    const fs::path file = path_ / name;
    std::ofstream stream(file, std::ios::binary);
    for (; copies > 0; --copies) {
      stream.write(reinterpret_cast<const char*>(bytes.data()), std::ssize(bytes));
    }
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
  const Value* const size = find_value(problem.values, name);
  return size ? size->integer() : 1;
}

void set_size(Problem& problem, const char* name, std::int64_t size) {
  for (NamedValue& value : problem.values) {
    if (value.name == name) value.value = size;
  }
}

/// `vectors` along k, one after the other as often as there are lines, as a matrix in memory.
std::vector<std::byte> matrix_of(const std::vector<std::vector<double>>& vectors, bool by_k,
                                 std::size_t lines, std::size_t k, ElementType type) {
  std::vector<std::byte> bytes;
  const auto append_line = [&](const std::vector<std::byte>& pattern, std::size_t length) {
    for (std::size_t left = length; left > 0;) {
      const std::size_t count = std::min(left, pattern.size());
      bytes.insert(bytes.end(), pattern.begin(),
                   pattern.begin() + static_cast<std::ptrdiff_t>(count));
      left -= count;
    }
  };
  std::vector<std::vector<std::byte>> patterns(by_k ? vectors.size() : k);
  for (std::size_t vector = 0; vector < vectors.size(); ++vector) {
    for (std::size_t along = 0; along < k; ++along) {
      append(patterns[by_k ? vector : along], type, vectors[vector][along]);
    }
  }
  const std::size_t width = patterns.front().size() / (by_k ? k : vectors.size());
  bytes.reserve(lines * k * width);
  for (std::size_t line = 0; line < (by_k ? lines : k); ++line) {
    append_line(patterns[line % patterns.size()], (by_k ? k : lines) * width);
  }
  return bytes;
}

/// Rows of A are equal; columns of B repeat.
class Inputs {
 public:
  Inputs(const Problem& problem, ElementType type)
      : type_(type),
        factors_(factors_of(size_of(problem, "K"),
                            type == ElementType::f16 || type == ElementType::bf16)) {}

  /// With these inputs, and without a reference, which is not asked for.
  Workload with(const Problem& problem, Workload workload) {
    const auto k = static_cast<std::size_t>(size_of(problem, "K"));
    const auto lines = [&](const char* name) {
      return static_cast<std::size_t>(size_of(problem, name));
    };
    const std::string layout = layout_of(problem);
    for (BufferSpec& buffer : workload.buffers) {
      const bool is_input = buffer.role == Role::input || buffer.role == Role::inout;
      if (buffer.name == "A") {
        buffer.file = folder_.write(
            "A", matrix_of({factors_.a}, layout.starts_with('N'), lines("M"), k, type_),
            lines("batch"));
      } else if (buffer.name == "B") {
        if (b_.empty()) {
          b_ =
              folder_.write("B", matrix_of(factors_.b, layout.ends_with('T'), lines("N"), k, type_),
                            lines("batch"));
        }
        buffer.file = b_;
      } else if (is_input) {
        std::vector<std::byte> bytes;
        for (std::int64_t i = 0; i < buffer.length; ++i) append(bytes, buffer.type, 0.03125);
        buffer.file = folder_.write(buffer.name, bytes);
      }
    }
    return workload;
  }

 private:
  const ElementType type_;
  const Factors factors_;
  const InputFolder folder_;
  std::filesystem::path b_;  // the same for every M
};

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

ElementType type_of(const TargetProgram& program) {
  const std::vector<BufferSpec> buffers = program.buffers();
  return std::ranges::find(buffers, "A", &BufferSpec::name)->type;
}

/// The problem with few columns: what a row's bits depend on is the same.
Problem with_few_columns(Problem problem, DeviceKind kind) {
  const std::int64_t most = kind == DeviceKind::host ? kMostHostColumns : kMostColumns;
  const std::int64_t n = size_of(problem, "N");
  if (n > most + kColumnsKept) set_size(problem, "N", most + n % kColumnsKept);
  return problem;
}

/// Numbers of rows that show whether bits depend on the row or on their number.
std::vector<std::int64_t> rows_for(const Problem& problem, DeviceKind kind) {
  std::vector<std::int64_t> rows(kRows.begin(), kRows.end());
  const std::int64_t widest = std::max(size_of(problem, "K"), size_of(problem, "N"));
  const bool is_small = kManyRows * widest <= kMostElements / size_of(problem, "batch");
  if (kind == DeviceKind::cuda && is_small) rows.push_back(kManyRows);
  return rows;
}

/// What the build was compiled from.
std::string unit_of(const Target& target, const DeviceInfo& device,
                    const BuiltConfiguration& build) {
  if (build.kernel.outcome != Outcome::ok) return "";
  const TargetProgram program(target, build.problem, device);
  return key_of(program.source_unit(program.levels(parse_named_values(build.configuration))));
}

/// Calls `use` with the number of each build that is also that of this problem, and with its bits.
template <class Use>
void run(Workbench& bench, const TargetProgram& program, std::int64_t columns,
         const std::vector<BuiltConfiguration>& builds, const std::vector<std::string>& units,
         Use&& use) {
  for (std::size_t i = 0; i < builds.size(); ++i) {
    if (builds[i].kernel.outcome != Outcome::ok) continue;
    try {
      const Levels levels = program.levels(parse_named_values(builds[i].configuration));
      if (!program.is_valid(levels) || key_of(program.source_unit(levels)) != units[i]) continue;
      use(i, bench.load(builds[i].kernel, program.plan(levels))->rows(columns));
    } catch (const KernelFailure&) {  // it has no bits
    }
  }
}

/// The key of a problem's classes; nullopt if the store lacks the device or the target.
std::optional<db::ProblemKey> key_in(const db::TunedStore& store, const db::DeviceRow& device,
                                     const Target& target, const Problem& problem) {
  db::ProblemKey key{"", "", for_every_row(problem).text(), ""};
  for (const db::DeviceRow& row : store.devices()) {
    if (db::is_same_device(row, device)) key.device = row.id;
  }
  for (const db::KernelRow& row : store.kernels()) {
    const bool is_this = row.target == target.name && row.fingerprint == target.fingerprint;
    if (is_this) key.kernel = row.id;
  }
  if (key.device.empty() || key.kernel.empty()) return std::nullopt;
  return key;
}

void store_classes(db::TunedStore& store, const DeviceInfo& device, const Target& target,
                   const Problem& problem, const std::vector<BuiltConfiguration>& builds,
                   const std::vector<std::string>& classes) {
  const db::ProblemKey key{store.add_device(device_row(device)),
                           store.add_kernel(kernel_row(target)), for_every_row(problem).text(), ""};
  std::vector<db::ReductionClassRow> rows;
  for (std::size_t i = 0; i < builds.size(); ++i) {
    if (classes[i].empty()) continue;
    rows.push_back(
        {"", key, builds[i].configuration, builds[i].kernel.key, classes[i], db::now_text()});
  }
  db::add_classes(store, rows);
}

std::vector<std::string> classes_by_running(Device& device, const Target& target,
                                            const Problem& problem,
                                            const std::vector<BuiltConfiguration>& builds) {
  const DeviceInfo& info = device.info();
  std::vector<std::string> units;
  for (const BuiltConfiguration& each : builds) units.push_back(unit_of(target, info, each));
  std::vector<Known> known(builds.size());
  const auto probe_at = [&](Problem probe, const std::vector<std::int64_t>& numbers_of_rows) {
    std::optional<Inputs> inputs;
    for (const std::int64_t rows : numbers_of_rows) {
      set_size(probe, "M", rows);
      const TargetProgram program(target, probe, info);
      if (!program.refusal().empty()) continue;
      if (!inputs) inputs.emplace(probe, type_of(program));
      const auto bench = device.open(inputs->with(probe, workload_of(target, probe, info)));
      run(*bench, program, size_of(probe, "N"), builds, units,
          [&](std::size_t i, const RowBits& bits) { known[i].add(bits); });
    }
  };
  const auto own_rows = [&] {  // of builds without bits
    std::set<std::int64_t> rows;
    for (std::size_t i = 0; i < builds.size(); ++i) {
      const bool is_build = builds[i].kernel.outcome == Outcome::ok;
      if (is_build && !known[i].bits && !known[i].depends_on_place)
        rows.insert(size_of(builds[i].problem, "M"));
    }
    return std::vector(rows.begin(), rows.end());
  };
  const Problem few_columns = with_few_columns(problem, info.kind);
  probe_at(few_columns, rows_for(few_columns, info.kind));
  probe_at(few_columns, own_rows());
  if (few_columns != problem) probe_at(problem, own_rows());
  std::vector<std::string> classes;
  for (const Known& each : known) classes.push_back(each.text());
  return classes;
}

}  // namespace

bool has_reduction_classes(const Target& target, const Problem& problem) {
  const auto has_size = [&](const char* name) {
    return std::ranges::find(target.sizes, name) != target.sizes.end();
  };
  const auto is_prepared = [](const ArgumentSpec& one) { return one.fill == Fill::prepared; };
  const auto has_input = [&](const char* name) {
    return std::ranges::any_of(target.arguments,
                               [&](const ArgumentSpec& one) { return one.name == name; });
  };
  const Value* const type = find_value(problem.values, "dtype");
  return has_size("M") && has_size("N") && has_size("K") && has_input("A") && has_input("B") &&
         layout_of(problem).size() == 2 && type &&
         std::ranges::any_of(std::array{"f64", "f32", "f16", "bf16"},
                             [&](const char* name) { return type->text() == name; }) &&
         problem.free.empty() && std::ranges::none_of(target.arguments, is_prepared);
}

std::vector<BuiltConfiguration> builds_of(Device& device, const Target& target,
                                          const Problem& problem,
                                          const std::vector<std::string>& configurations,
                                          int threads) {
  std::vector<Problem> problems{problem};
  for (const std::int64_t rows : rows_for(problem, device.info().kind)) {
    set_size(problems.emplace_back(problem), "M", rows);
  }
  CompilePool pool(device, threads);
  CompileRequests requests(pool);
  std::vector<std::optional<CompilePool::Result>> results(configurations.size());
  std::vector<const Problem*> compiled_for(configurations.size(), &problem);
  for (const Problem& each : problems) {
    const TargetProgram program(target, each, device.info());
    if (!program.refusal().empty()) continue;
    for (std::size_t i = 0; i < configurations.size(); ++i) {
      const Levels levels = program.levels(parse_named_values(configurations[i]));
      if (results[i] || !program.is_valid(levels)) continue;
      results[i] = requests.compile(program.source_unit(levels));
      compiled_for[i] = &each;
    }
  }
  std::vector<BuiltConfiguration> builds;
  for (std::size_t i = 0; i < configurations.size(); ++i) {
    CompiledKernel kernel;
    kernel.outcome = Outcome::invalid;
    if (results[i]) kernel = *results[i]->get();
    builds.push_back({configurations[i], std::move(kernel), *compiled_for[i]});
  }
  return builds;
}

std::vector<std::string> stored_classes(const db::TunedStore& store, const db::DeviceRow& device,
                                        const Target& target, const Problem& problem,
                                        const std::vector<BuiltConfiguration>& builds) {
  std::vector<std::string> classes(builds.size());
  const auto key = key_in(store, device, target, problem);
  if (!key) return classes;
  for (const db::ReductionClassRow& row : db::classes_of(store, *key)) {
    for (std::size_t i = 0; i < builds.size(); ++i) {
      const bool is_this =
          builds[i].configuration == row.configuration && builds[i].kernel.key == row.binary_key;
      if (is_this && classes[i].empty()) classes[i] = row.bits;
    }
  }
  return classes;
}

std::vector<std::string> reduction_classes(Device& device, const Target& target,
                                           const Problem& problem,
                                           const std::vector<BuiltConfiguration>& builds,
                                           db::TunedStore* store) {
  std::vector<std::string> classes(builds.size());
  if (!has_reduction_classes(target, problem)) return classes;
  if (store) classes = stored_classes(*store, device_row(device.info()), target, problem, builds);
  std::vector<BuiltConfiguration> unknown;
  for (std::size_t i = 0; i < builds.size(); ++i) {
    if (classes[i].empty()) unknown.push_back(builds[i]);
  }
  if (unknown.empty()) return classes;
  const std::vector<std::string> found = classes_by_running(device, target, problem, unknown);
  if (store && store->mode() == db::Mode::read_write) {
    store_classes(*store, device.info(), target, problem, unknown, found);
  }
  auto next = found.begin();
  for (std::string& each : classes) {
    if (each.empty()) each = *next++;
  }
  return classes;
}

BitsOfLibrary bits_of_library(Device& device, const Target& target, const Problem& problem,
                              const std::vector<BuiltConfiguration>& builds,
                              const BaselineSource& library) {
  BitsOfLibrary result;
  result.alike.resize(builds.size());
  const TargetProgram program(target, problem, device.info());
  Inputs inputs(problem, type_of(program));
  const auto bench = device.open(inputs.with(problem, workload_of(target, problem, device.info())));
  const std::vector<std::string> candidates = bench->baselines(library);
  if (candidates.empty()) return result;
  result.candidate = candidates.front();
  const std::int64_t columns = size_of(problem, "N");
  const RowBits expected = bench->load_baseline(library, 0)->rows(columns);
  result.keeps_rows = !expected.first.empty() && expected.different == 0;
  if (!result.keeps_rows) return result;
  std::vector<std::string> units;
  for (const BuiltConfiguration& each : builds)
    units.push_back(unit_of(target, device.info(), each));
  run(*bench, program, columns, builds, units, [&](std::size_t i, const RowBits& bits) {
    result.alike[i] = bits.different == 0 && bits.first == expected.first;
  });
  return result;
}

}  // namespace autotune
