// SPDX-License-Identifier: Apache-2.0
// Leave-one-size-out regret of gemm on GPU 0: what libautotune chooses for each tuned size of a
// database if that size's own rows were not there, beside the size's winner.
//   left_out_bench --db FILE [--between yes|no]
// Both are prepared and launched through the C API and timed together. What is shipped is left out.
// Every result is verified. Prints a line a size, then the quantiles of the regret: the time of the
// choice over that of the winner, less 1.
#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <map>
#include <sstream>

#include "bench/lookup/shape_race.hpp"
#include "db/exchange.hpp"
#include "db/store.hpp"
#include "tuner/core/error.hpp"
#include "tuner/host/process.hpp"
#include "tuner/json/json.hpp"
#include "tuner/target/catalog.hpp"
#include "tuner/text/format.hpp"

using namespace autotune;
using namespace autotune::bench;

namespace {

using Options = std::map<std::string, std::string>;

Options options_of(int argc, char** argv) {
  Options options{{"--db", ""}, {"--between", "yes"}};
  for (int i = 1; i < argc; i += 2) {
    if (!options.contains(argv[i]) || i + 1 == argc) {
      throw UsageError(format("{}: it is unknown, or lacks its value", argv[i]));
    }
    options[argv[i]] = argv[i + 1];
  }
  if (options.at("--db").empty()) throw UsageError("left_out_bench needs --db FILE");
  return options;
}

/// The tuned gemms with default settings, by the texts of their problems.
std::map<std::string, Shape> tuned_shapes(const db::TunedStore& store) {
  const Target target = find_target("gemm");
  std::map<std::string, Shape> shapes;
  for (const db::TunedEntry& entry : store.tuned({"", target.name, "", ""})) {
    NamedValues sizes = parse_named_values(entry.best.key.problem);
    sizes.resize(target.sizes.size());
    if (problem_of(target, sizes, {}).text() != entry.best.key.problem) continue;
    shapes[entry.best.key.problem] = {sizes[0].value.integer(), sizes[1].value.integer(),
                                      sizes[2].value.integer()};
  }
  return shapes;
}

/// Writes a copy of a database without one problem's rows.
void write_without(const std::string& rows, const std::string& problem, const std::string& path) {
  std::istringstream in(rows);
  std::stringstream kept;
  for (std::string line; std::getline(in, line);) {
    if (Json::parse(line).value("problem", "") != problem) kept << line << '\n';
  }
  db::TunedStore store(path, db::Mode::read_write);
  db::import_json_lines(store, kept, path);
}

Kernel prepared_in(const std::string& database, const Shape& shape) {
  const Handle handle = opened({.target = "gemm", .database = database, .shipped = false});
  return prepared(handle.get(), std::array{shape.m, shape.n, shape.k});
}

std::string chosen(const Kernel& kernel) {
  const char* engine = nullptr;
  autotune_kernel_engine(kernel.get(), &engine);
  return *engine ? engine : autotune_kernel_configuration(kernel.get());
}

double quantile(const std::vector<double>& sorted, double q) {
  return sorted[static_cast<std::size_t>(q * static_cast<double>(sorted.size() - 1) + 0.5)];
}

int run(int argc, char** argv) {
  const Options options = options_of(argc, argv);
  const std::string& whole = options.at("--db");
  const db::TunedStore store(whole, db::Mode::read_only);
  std::ostringstream rows;
  db::export_json_lines(store, rows);
  const TemporaryFolder folder;
  const ShapeRace race(options.at("--between") == "yes", whole);
  std::vector<double> regrets;
  for (const auto& [problem, shape] : tuned_shapes(store)) {
    const std::string reduced = (folder.path() / (shape.text() + ".db")).string();
    write_without(rows.str(), problem, reduced);
    const Kernel choice = prepared_in(reduced, shape), winner = prepared_in(whole, shape);
    const Operands operands = race.operands(shape);
    const std::vector<double> times =
        race.seconds(operands, {race.tuned(choice, operands), race.tuned(winner, operands)});
    regrets.push_back(times[0] / times[1] - 1);
    std::printf("%s: %.2f us, the winner %.2f us, regret %.1f %%: %s\n", shape.text().c_str(),
                times[0] * 1e6, times[1] * 1e6, regrets.back() * 100, chosen(choice).c_str());
  }
  if (regrets.empty()) throw Error(format("{} has no tuned gemm with default settings", whole));
  std::ranges::sort(regrets);
  std::printf("regret over %zu sizes: median %.1f %%, 95 %% of them at most %.1f %%\n",
              regrets.size(), quantile(regrets, 0.5) * 100, quantile(regrets, 0.95) * 100);
  return 0;
}

}  // namespace

int main(int argc, char** argv) try {
  return run(argc, argv);
} catch (const std::exception& error) {
  std::cerr << "error: " << error.what() << '\n';
  return 1;
}
