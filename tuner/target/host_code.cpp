// SPDX-License-Identifier: Apache-2.0
#include "tuner/target/host_code.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include "tuner/target/source_pieces.hpp"
#include "tuner/text/strings.hpp"

namespace autotune {
namespace {

/// Names of CUDA's libraries that only host code uses.
bool is_of_host_library(std::string_view word) {
  static constexpr std::array<std::string_view, 5> kOnGpu = {
      "cudaTexture", "cudaSurface", "cudaBoundary", "cudaReadMode", "cudaAddressMode"};
  static constexpr std::array<std::string_view, 8> kLibraries = {
      "cuda", "cublas", "cufft", "cusparse", "cusolver", "cudnn", "curandCreate", "curandGenera"};
  if (std::ranges::any_of(kOnGpu, [&](std::string_view each) { return word.starts_with(each); })) {
    return false;
  }
  return std::ranges::any_of(kLibraries, [&](std::string_view each) {
    return word.starts_with(each) && word.size() > each.size() &&
           (std::isupper(static_cast<unsigned char>(word[each.size()])) != 0 ||
            each.starts_with("curand"));
  });
}

/// Names of C's and C++'s host libraries.
const Words& host_words() {
  static const Words words = {"atof",   "atoi",         "cerr",    "cout",   "endl",   "exit",
                              "fclose", "fopen",        "fprintf", "fread",  "fscanf", "fwrite",
                              "getenv", "gettimeofday", "rand",    "scanf",  "srand",  "sscanf",
                              "stderr", "stdout",       "strcmp",  "strtol", "usleep"};
  return words;
}

constexpr std::array<std::string_view, 22> kHostNames = {
    "std::vector",   "std::string",     "std::cout",     "std::cerr",       "std::chrono",
    "std::ostream",  "std::ofstream",   "std::ifstream", "std::mt19937",    "std::unique_ptr",
    "std::map",      "std::shared_ptr", "std::thread",   "std::unordered_", "std::function",
    "thrust::host_", "thrust::device",  "thrust::raw_",  "std::accumulate", "std::ostring",
    "std::runtime_", "std::default_ra"};

/// Words that give an execution space: CUDA's own, and macros of the source for them.
Words spaces_in(std::string_view directives) {
  Words spaces = {"__global__", "__device__", "__constant__", "__shared__", "__managed__"};
  for (std::string_view line : split(directives, '\n')) {
    line = trimmed(line);
    if (!line.starts_with('#')) continue;
    line = trimmed(line.substr(1));
    if (take_identifier(line) != "define") continue;
    line = trimmed(line);
    const std::string_view name = take_identifier(line);
    const Words value = words_of(line);
    if (std::ranges::any_of(value, [&](const std::string& word) { return spaces.contains(word); }))
      spaces.emplace(name);
  }
  return spaces;
}

bool meets(const Words& some, const Words& others) {
  return std::ranges::any_of(some, [&](const std::string& word) { return others.contains(word); });
}

}  // namespace

DeviceCode without_host_code(std::string_view source) {
  const MaskedSource parts = masked(source);
  std::vector<Piece> pieces = pieces_of(parts.code);
  const Words spaces = spaces_in(parts.directives);
  Words names = host_words();
  for (const Piece& piece : pieces) names.erase(piece.name);  // the source's own
  const auto is_host = [&](const Piece& piece) {
    if (meets(piece.words, spaces)) return false;
    if (piece.is_function && piece.name == "main") return true;
    const std::string_view text =
        std::string_view(parts.code).substr(piece.begin, piece.end - piece.begin);
    const auto is_there = [&](std::string_view word) { return text.find(word) != text.npos; };
    return is_there("<<<") || meets(piece.words, names) ||
           std::ranges::any_of(kHostNames, is_there) ||
           std::ranges::any_of(piece.words, is_of_host_library);
  };
  DeviceCode result{std::string(source)};
  for (bool again = true; again;) {
    again = false;
    for (Piece& piece : pieces) {
      if (piece.begin == piece.end || !is_host(piece)) continue;
      again = true;
      blank_out(result.text, parts, piece.begin, piece.end);
      if (piece.is_function) result.left_out.push_back({piece.name, line_of(parts, piece)});
      if (!piece.name.empty()) names.insert(piece.name);
      piece.end = piece.begin;
    }
  }
  std::ranges::sort(result.left_out, {}, &LeftOut::line);
  return result;
}

}  // namespace autotune
