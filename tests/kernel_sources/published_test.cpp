// SPDX-License-Identifier: Apache-2.0
// The published kernels that docs/targets.md lists are points of the spaces that ship: each of its
// commands leaves something of its target's space, on the host and on an H200.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>

#include "tuner/core/target.hpp"
#include "tuner/model/coalescing.hpp"
#include "tuner/model/gpu_specs.hpp"
#include "tuner/target/manifest.hpp"

namespace autotune::published_test {
namespace {

/// What a command of the document asks for.
struct Asked {
  std::string target, sizes;
  NamedValues settings, fixed;
};

NamedValue named_value(const std::string& text) {
  const auto equals = text.find('=');
  return {text.substr(0, equals), parse_value(text.substr(equals + 1))};
}

Asked asked_by(const std::string& command) {
  std::istringstream words(command);
  Asked asked;
  for (std::string option, value; words >> option;) {
    if (!option.starts_with("--") || !(words >> value)) continue;
    if (option == "--target") asked.target = value;
    if (option == "--sizes") asked.sizes = value;
    if (option == "--set") asked.settings.push_back(named_value(value));
    if (option == "--fix") asked.fixed.push_back(named_value(value));
  }
  return asked;
}

/// The commands that tune in the rows of the table, by the rows' first column.
std::map<std::string, std::vector<std::string>> documented() {
  std::map<std::string, std::vector<std::string>> commands;
  std::ifstream document(AUTOTUNE_SOURCE_DIR "/docs/targets.md");
  for (std::string line; std::getline(document, line);) {
    if (!line.starts_with("| K")) continue;
    const std::string row = line.substr(2, line.find(' ', 2) - 2);
    constexpr std::string_view kCommand = "`autotune --target ";
    for (auto at = line.find(kCommand); at != std::string::npos; at = line.find(kCommand, at + 1)) {
      commands[row].push_back(line.substr(at + 1, line.find('`', at + 1) - at - 1));
    }
  }
  return commands;
}

DeviceInfo host() {
  DeviceInfo info;
  info.name = "host";
  info.kind = DeviceKind::host;
  info.multiprocessors = 2;
  return info;
}

DeviceInfo h200() { return device_info(find_gpu("NVIDIA H200")); }

const Target& shipped(const std::string& name) {
  static std::map<std::string, Target> loaded;
  const auto found = loaded.find(name);
  if (found != loaded.end()) return found->second;
  const std::string path = AUTOTUNE_SOURCE_DIR "/kernel_sources/" + name + "/" + name;
  return loaded.emplace(name, load_manifest(path + ".target.toml")).first->second;
}

/// The first configuration that is left; empty when there is none.
Configuration first_of(const Asked& asked, const DeviceInfo& device) {
  const Target part = with_fixed(shipped(asked.target), asked.fixed);
  const NamedValues sizes =
      parse_sizes(asked.sizes, part.sizes, "--sizes", needed_sizes(part)).front();
  const Problem problem = problem_of(part, sizes, asked.settings);
  const ParameterSpace space = space_of(part, problem, device);
  if (space.empty()) return {};
  const Configuration configuration = space.at(0);
  EXPECT_FALSE(launch_plan(part, problem, configuration, device).launches.empty());
  return configuration;
}

void expect_reachable(const Asked& asked, bool on_host = true) {
  SCOPED_TRACE(asked.target + " " + asked.sizes + ": " + to_text(asked.fixed));
  for (const DeviceInfo& device : {h200(), host()}) {
    if (device.kind == DeviceKind::host && !on_host) continue;
    const Configuration found = first_of(asked, device);
    EXPECT_FALSE(found.empty()) << "nothing is left on " << device.name;
    for (const NamedValue& each : asked.fixed) {
      const Value* const value = find_value(found, each.name);
      EXPECT_TRUE(value && *value == each.value) << each.name;
    }
  }
}

TEST(Published, EveryKernelHasACommandThatReachesIt) {
  const auto commands = documented();
  for (int number = 1; number <= 14; ++number) {
    const std::string row = "K" + std::to_string(number);
    SCOPED_TRACE(row);
    ASSERT_TRUE(commands.contains(row)) << "docs/targets.md has no command for it";
    // The family with dynamic shared memory is a GPU's.
    for (const std::string& each : commands.at(row)) expect_reachable(asked_by(each), row != "K14");
  }
}

/// Every value that was published, in place of the command's own.
TEST(Published, EveryValueOfATableIsOffered) {
  const std::map<std::string, std::pair<std::string, std::vector<int>>> tables = {
      {"K2", {"TILE_SIZE", {1, 2, 4, 8, 16, 32, 64}}},
      {"K3", {"BLOCK_SIZE", {1, 2, 4, 8, 16, 22, 32}}},
      {"K4", {"BLOCK_SIZE", {8, 16, 22}}},
      {"K5", {"BLOCK_SIZE", {8, 16, 22}}},
      {"K6", {"BLOCK_SIZE", {8, 16, 22}}},
      {"K7", {"BLOCK_SIZE", {8, 16, 22}}},
      {"K8", {"BLOCK_SIZE", {8, 16}}},
      {"K11", {"BLOCK", {32, 64, 128, 256, 512, 1024}}},
      {"K13", {"BLOCK_X", {32, 64, 128, 256, 512, 1024}}},
  };
  const auto commands = documented();
  for (const auto& [row, table] : tables) {
    const auto& [name, values] = table;
    for (const int value : values) {
      Asked asked = asked_by(commands.at(row).front());
      std::erase_if(asked.fixed,
                    [&name = name](const NamedValue& each) { return each.name == name; });
      asked.fixed.push_back({name, value});
      expect_reachable(asked);
    }
  }
}

TEST(Published, MatrixAdditionHasEveryShapeOfTheTable) {
  for (const char* order : {"row", "column"}) {
    for (const auto& [x, y] : {std::pair(32, 32), {32, 16}, {16, 16}}) {
      expect_reachable({"matrix_add",
                        "16384",
                        {},
                        {{"GRID", "tiles"}, {"ORDER", order}, {"BLOCK_X", x}, {"BLOCK_Y", y}}});
    }
  }
}

TEST(Published, DeclaredAccessesOfMatrixAdditionShowTheProfileOfAK80) {
  struct Row {
    const char* order;
    int x, y;
    std::int64_t loads, stores;  // transactions
    double load_percent, store_percent;
  };
  constexpr Row kRows[] = {
      {"row", 32, 32, 16777216, 8388608, 100, 100},
      {"row", 32, 16, 16777216, 8388608, 100, 100},
      {"row", 16, 16, 33554432, 16777216, 50, 100},
      {"column", 32, 32, 536870912, 268435456, 3.125, 12.5},
      {"column", 32, 16, 536870912, 268435456, 3.125, 12.5},
      {"column", 16, 16, 268435456, 134217728, 6.25, 25},
  };
  const Target& target = shipped("matrix_add");
  const NamedValues sizes{{"ROWS", 16384}, {"COLUMNS", 16384}};
  const Problem problem = problem_of(target, sizes, {});
  const GpuSpec& gpu = find_gpu("k80");
  for (const Row& row : kRows) {
    SCOPED_TRACE(std::string(row.order) + " " + std::to_string(row.x));
    const Configuration configuration{{"GRID", "tiles"},  {"ORDER", row.order}, {"BLOCK_X", row.x},
                                      {"BLOCK_Y", row.y}, {"ITEMS", 1},         {"VECTOR", 1},
                                      {"STREAM", 0}};
    const auto traffic = traffic_of(gpu.sm, target, problem, device_info(gpu), configuration);
    ASSERT_EQ(traffic.size(), 3u);  // load a, load b, store c
    EXPECT_EQ(traffic[0].traffic.transactions + traffic[1].traffic.transactions, row.loads);
    EXPECT_EQ(traffic[2].traffic.transactions, row.stores);
    EXPECT_DOUBLE_EQ(100 * traffic[1].traffic.efficiency(), row.load_percent);
    EXPECT_DOUBLE_EQ(100 * traffic[2].traffic.efficiency(), row.store_percent);
  }
}

TEST(Published, SharedMemoryMayBeSizedAtTheLaunch) {
  const Asked asked = asked_by(documented().at("K14").front());
  const Target& target = shipped("gemm");
  const Problem problem = problem_of(
      target, parse_sizes(asked.sizes, target.sizes, "--sizes", needed_sizes(target)).front(),
      asked.settings);
  const LaunchPlan plan = launch_plan(target, problem, first_of(asked, h200()), h200());
  EXPECT_GT(plan.launches.front().dynamic_shared_bytes, 0);
}

}  // namespace
}  // namespace autotune::published_test
