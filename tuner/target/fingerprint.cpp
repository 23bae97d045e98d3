// SPDX-License-Identifier: Apache-2.0
#include "tuner/target/fingerprint.hpp"

#include <fstream>
#include <optional>
#include <set>
#include <sstream>

#include "tuner/hash/hash.hpp"

namespace autotune {
namespace {

namespace fs = std::filesystem;

/// The name in `#include "name"`.
std::optional<std::string> included_name(const std::string& line) {
  const std::size_t sign = line.find_first_not_of(" \t");
  if (sign == std::string::npos || line[sign] != '#') return std::nullopt;
  const std::size_t word = line.find_first_not_of(" \t", sign + 1);
  if (word == std::string::npos || line.compare(word, 7, "include") != 0) return std::nullopt;
  const std::size_t open = line.find('"', word);
  if (open == std::string::npos) return std::nullopt;
  const std::size_t close = line.find('"', open + 1);
  if (close == std::string::npos) return std::nullopt;
  return line.substr(open + 1, close - open - 1);
}

/// Appends the text and, after it, those of the files that it includes, each once.
class Collector {
 public:
  explicit Collector(const std::vector<fs::path>& folders) : folders_(folders) {}

  void add(const std::string& text, const fs::path& folder) {
    all_ += text;
    all_ += '\0';
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      const auto name = included_name(line);
      if (name) add_file(*name, folder);
    }
  }

  const std::string& all() const { return all_; }

 private:
  void add_file(const std::string& name, const fs::path& folder) {
    std::vector<fs::path> candidates = {folder / name};
    for (const fs::path& each : folders_) candidates.push_back(each / name);
    for (const fs::path& candidate : candidates) {
      std::ifstream stream(candidate, std::ios::binary);
      if (!stream || !fs::is_regular_file(candidate)) continue;
      if (!seen_.insert(fs::weakly_canonical(candidate).string()).second) return;
      std::stringstream text;
      text << stream.rdbuf();
      add(text.str(), candidate.parent_path());
      return;
    }
  }

  const std::vector<fs::path>& folders_;
  std::set<std::string> seen_;
  std::string all_;
};

}  // namespace

std::string fingerprint_of(const Json& manifest, const Target& target) {
  Collector collected(target.include_folders);
  collected.add(target.source_text, target.source_path.parent_path());
  Json kept = manifest;
  for (const char* key : {"description", "default", "work", "resources", "model"}) kept.erase(key);
  return hash128(kept.dump() + '\0' + collected.all());
}

}  // namespace autotune
