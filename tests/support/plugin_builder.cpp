// SPDX-License-Identifier: Apache-2.0
#include "tests/support/plugin_builder.hpp"

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace autotune::testing {

namespace fs = std::filesystem;

PluginWorkshop::PluginWorkshop() {
  fs::create_directories(folder_ / "include/autotune");
  fs::copy_file(fs::path(AUTOTUNE_SOURCE_DIR) / "plugins/sdk/autotune_plugin.h",
                folder_ / "include/autotune/autotune_plugin.h");
}

fs::path PluginWorkshop::build(const std::string& name, const std::string& source,
                               const std::string& compiler, const std::string& flags) const {
  const bool is_c = !compiler.ends_with("++");
  const fs::path from = write(name + (is_c ? ".c" : ".cpp"), source);
  const fs::path library = folder_ / (name + ".so");
  const fs::path log = folder_ / (name + ".log");
  const std::string command = compiler + " -shared -fPIC -Wall -Wextra -Werror -I" +
                              (folder_ / "include").string() + " " + from.string() + " -o " +
                              library.string() + " " + flags + " >" + log.string() + " 2>&1";
  if (std::system(command.c_str()) != 0) {
    std::ostringstream said;
    said << std::ifstream(log).rdbuf();
    throw std::runtime_error(command + "\n" + said.str());
  }
  return library;
}

bool has_program(const std::string& name) {
  return std::system(("command -v " + name + " >/dev/null 2>&1").c_str()) == 0;
}

namespace {

std::string plugin_of(const std::string& source, const std::string& abi, const std::string& name,
                      const std::string& facet) {
  return "#include <autotune/autotune_plugin.h>\n" + source +
         "\nstatic const autotune_plugin_v1 plugin = {" + abi + ", \"" + name +
         "\", \"1.0\", \"a test\", " + facet +
         "};\n"
         "AUTOTUNE_PLUGIN_EXPORT const autotune_plugin_v1* autotune_plugin(void) {\n"
         "  return &plugin;\n}\n";
}

}  // namespace

std::string plugin_with(const std::vector<std::pair<std::string, std::string>>& facets,
                        const std::string& name, const std::string& source) {
  std::string text =
      "#include <string.h>\n" + source + "static const void* facet(const char* id) {";
  for (const auto& [id, table] : facets)
    text += "\n  if (strcmp(id, AUTOTUNE_FACET_" + id + ") == 0) return &" + table + ";";
  return plugin_of(text + "\n  return 0;\n}", "AUTOTUNE_PLUGIN_ABI", name, "facet");
}

std::string plain_plugin(const std::string& name, const std::string& abi,
                         const std::string& before) {
  return plugin_of(before, abi, name, "0");
}

}  // namespace autotune::testing
