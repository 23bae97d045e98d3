// SPDX-License-Identifier: Apache-2.0
#include "tuner/target/host_code.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <functional>

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
  static const Words words = {"EXIT_FAILURE",
                              "EXIT_SUCCESS",
                              "StopWatchInterface",
                              "checkCudaErrors",
                              "findCudaDevice",
                              "atof",
                              "atoi",
                              "cerr",
                              "cout",
                              "endl",
                              "exit",
                              "fclose",
                              "fopen",
                              "fprintf",
                              "fread",
                              "fscanf",
                              "fwrite",
                              "getenv",
                              "gettimeofday",
                              "rand",
                              "scanf",
                              "srand",
                              "sscanf",
                              "stderr",
                              "stdout",
                              "strcmp",
                              "strtol",
                              "usleep"};
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
    const std::string name = take_defined_name(line);
    if (name.empty()) continue;
    const Words value = words_of(line);
    if (std::ranges::any_of(value, [&](const std::string& word) { return spaces.contains(word); }))
      spaces.insert(name);
  }
  return spaces;
}

bool meets(const Words& some, const Words& others) {
  return std::ranges::any_of(some, [&](const std::string& word) { return others.contains(word); });
}

class HostCode {
 public:
  explicit HostCode(std::string_view source)
      : source_(source),
        parts_(masked(source)),
        pieces_(pieces_of(parts_.code)),
        spaces_(spaces_in(parts_.directives)) {}

  DeviceCode without(const Words& named_elsewhere) {
    DeviceCode result{std::string(source_)};
    find_host_libraries();
    if (std::ranges::none_of(on_host_, std::identity())) return result;
    find_unused(named_elsewhere);
    find_variables();
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
      if (!on_host_[i]) continue;
      const Piece& piece = pieces_[i];
      blank_out(result.text, parts_, piece.begin, piece.end);
      const bool has_body = text_of(piece).ends_with('}');
      if (has_body && piece.kind == Piece::Kind::function)
        result.left_out.push_back({piece.name, line_of(parts_, piece)});
    }
    return result;
  }

 private:
  bool is_for_gpu(const Piece& piece) const { return meets(piece.words, spaces_); }
  std::string_view text_of(const Piece& piece) const {
    return std::string_view(parts_.code).substr(piece.begin, piece.end - piece.begin);
  }

  /// What is main() or names something of the host.
  void find_host_libraries() {
    Words words = host_words();
    for (const Piece& piece : pieces_) words.erase(piece.name);  // the source's own
    for (const Piece& piece : pieces_) {
      const auto is_there = [&](std::string_view word) {
        return text_of(piece).find(word) != std::string_view::npos;
      };
      on_host_.push_back(!is_for_gpu(piece) &&
                         ((piece.kind == Piece::Kind::function && piece.name == "main") ||
                          is_there("<<<") || meets(piece.words, words) ||
                          std::ranges::any_of(kHostNames, is_there) ||
                          std::ranges::any_of(piece.words, is_of_host_library)));
    }
  }

  /// Functions and classes whose name nothing has that a kernel uses.
  void find_unused(const Words& named_elsewhere) {
    Words used = words_of(parts_.directives);
    used.insert(named_elsewhere.begin(), named_elsewhere.end());
    std::vector<bool> is_used;
    for (const Piece& piece : pieces_) {
      const bool has_name = piece.kind != Piece::Kind::other && !piece.name.empty() &&
                            !piece.words.contains("operator");
      is_used.push_back(is_for_gpu(piece) || !has_name);
    }
    for (bool again = true; again;) {
      again = false;
      for (std::size_t i = 0; i < pieces_.size(); ++i) {
        if (on_host_[i] || (!is_used[i] && !used.contains(pieces_[i].name))) continue;
        is_used[i] = true;
        const std::size_t before = used.size();
        used.insert(pieces_[i].words.begin(), pieces_[i].words.end());
        again = again || used.size() > before;
      }
    }
    for (std::size_t i = 0; i < pieces_.size(); ++i) on_host_[i] = on_host_[i] || !is_used[i];
  }

  /// Variables of classes that are left out.
  void find_variables() {
    Words types;
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
      if (on_host_[i] && pieces_[i].kind == Piece::Kind::type) types.insert(pieces_[i].name);
    }
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
      const bool is_of_host = !is_for_gpu(pieces_[i]) && meets(pieces_[i].words, types);
      if (pieces_[i].kind == Piece::Kind::other && is_of_host) on_host_[i] = true;
    }
  }

  std::string_view source_;
  MaskedSource parts_;
  std::vector<Piece> pieces_;
  Words spaces_;
  std::vector<bool> on_host_;
};

}  // namespace

DeviceCode without_host_code(std::string_view source, const Words& named_elsewhere) {
  return HostCode(source).without(named_elsewhere);
}

void add_device_words(std::string_view source, Words& words) {
  const MaskedSource parts = masked(source);
  const Words own = words_of(parts.code);
  if (own.contains("__device__") || own.contains("__global__"))
    words.insert(own.begin(), own.end());
}

}  // namespace autotune
