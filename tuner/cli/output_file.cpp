// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/output_file.hpp"

#include <array>
#include <fstream>
#include <iostream>
#include <string_view>
#include <system_error>

#include "tuner/core/error.hpp"
#include "tuner/file/replace_file.hpp"
#include "tuner/text/format.hpp"

namespace autotune::cli {

bool is_database(const std::filesystem::path& file) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(file, ignored)) return false;
  std::ifstream stream(file, std::ios::binary);
  std::array<char, 15> magic{};
  stream.read(magic.data(), magic.size());
  return std::string_view(magic.data(), magic.size()) == "SQLite format 3";
}

void refuse_existing(const std::filesystem::path& file) {
  if (!std::filesystem::exists(file)) return;
  throw Error(format("{} already exists: give another name, or move the file", file.string()));
}

void write_output(const std::filesystem::path& file,
                  const std::function<void(std::ostream& stream)>& write) {
  if (is_database(file)) {
    throw UsageError(
        format("{}: is a database, which this would overwrite: name another file", file.string()));
  }
  try {
    write_file(file, write);
  } catch (const std::system_error& error) {
    const bool no_folder = error.code() == std::errc::no_such_file_or_directory;
    throw Error(
        format("{}; {}name another file", error.what(), no_folder ? "create its folder, or " : ""));
  }
}

void write_result(const std::optional<std::string>& file,
                  const std::function<void(std::ostream& stream)>& write) {
  if (file) return write_output(*file, write);
  write(std::cout);
}

}  // namespace autotune::cli
