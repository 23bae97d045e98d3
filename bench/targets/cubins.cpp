// SPDX-License-Identifier: Apache-2.0
// Compiles listed configurations for an H200 into one cubin each, for scripts/compare_sass. No GPU
// is needed; AUTOTUNE_KERNEL_PATH says where targets are. usage: cubins LIST FOLDER
// A line of LIST: NAME | TARGET | SIZES | SETTING=VALUE… | PARAMETER=VALUE…. Parameters that the
// line leaves out have their first value; names that the target does not have are ignored.
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "tuner/core/error.hpp"
#include "tuner/core/target.hpp"
#include "tuner/gpu/nvrtc.hpp"
#include "tuner/model/gpu_specs.hpp"
#include "tuner/target/catalog.hpp"
#include "tuner/text/format.hpp"

namespace {

using namespace autotune;
namespace fs = std::filesystem;

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream text(line);
  for (std::string cell; std::getline(text, cell, '|');) {
    const auto first = cell.find_first_not_of(' ');
    cells.push_back(first == std::string::npos
                        ? ""
                        : cell.substr(first, cell.find_last_not_of(' ') - first + 1));
  }
  cells.resize(5);
  return cells;
}

Configuration configuration_of(const Target& target, const NamedValues& chosen) {
  Configuration configuration;
  for (const Parameter& parameter : target.parameters) {
    const Value* const value = find_value(chosen, parameter.name);
    configuration.push_back({parameter.name, value ? *value : parameter.values.front()});
  }
  return configuration;
}

void write_cubin(const std::vector<std::string>& cells, const fs::path& file) {
  const Target target = find_target(cells[1]);
  const NamedValues sizes =
      parse_sizes(cells[2], target.sizes, "--sizes", needed_sizes(target)).front();
  const Problem problem = problem_of(target, sizes, parse_named_values(cells[3]));
  const SourceUnit unit =
      source_unit(target, problem, configuration_of(target, parse_named_values(cells[4])),
                  device_info(find_gpu("h200")));
  const Build build = compile_with_nvrtc(nvrtc_task(unit, 90), std::chrono::duration<double>(120));
  if (!build.binary) throw Error(format("{}: {}", cells[0], build.log));
  std::ofstream(file, std::ios::binary) << *build.binary;
}

int write_all(const fs::path& list, const fs::path& folder) {
  std::ifstream lines(list);
  if (!lines) throw Error(format("{}: there is no such list", list.string()));
  fs::create_directories(folder);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.starts_with('#')) continue;
    const std::vector<std::string> cells = cells_of(line);
    write_cubin(cells, folder / (cells[0] + ".cubin"));
  }
  return 0;
}

}  // namespace

int main(int count, char** words) {
  if (count != 3) {
    std::cerr << "usage: cubins LIST FOLDER\n";
    return 2;
  }
  try {
    return write_all(words[1], words[2]);
  } catch (const std::exception& error) {
    std::cerr << "error: " << error.what() << '\n';
    return 1;
  }
}
