// SPDX-License-Identifier: Apache-2.0
#include "tuner/target/input_file.hpp"

#include <fstream>
#include <limits>

#include "tuner/core/error.hpp"
#include "tuner/hash/hash.hpp"
#include "tuner/target/npy.hpp"
#include "tuner/text/file_text.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kPiece = std::size_t{16} << 20;

/// The hash of the hashes of its pieces, because a file may be larger than memory.
std::string hash_of(std::istream& file) {
  std::string hashes, piece(kPiece, '\0');
  while (file.read(piece.data(), static_cast<std::streamsize>(piece.size())) || file.gcount() > 0) {
    hashes += hash128({piece.data(), static_cast<std::size_t>(file.gcount())});
  }
  return hash128(hashes);
}

void describe_npy(InputFile& input, std::istream& file) {
  const NpyArray array = read_npy_header(file);
  const std::int64_t there = input.bytes - array.offset;
  if (there != array.bytes) {
    throw Error(
        format("its header announces {} bytes of elements, but {} follow", array.bytes, there));
  }
  input.type = array.type;
  input.offset = array.offset;
  input.bytes = array.bytes;
}

}  // namespace

InputFile input_file(const fs::path& path) try {
  if (const std::string why = why_unreadable(path, std::numeric_limits<std::int64_t>::max());
      !why.empty()) {
    throw Error(why);
  }
  std::ifstream file(path, std::ios::binary);
  InputFile input{path, 0, static_cast<std::int64_t>(fs::file_size(path))};
  if (path.extension() == ".npy") describe_npy(input, file);
  if (input.bytes == 0) throw Error("it has no elements");
  file.seekg(0);
  input.hash = hash_of(file);
  return input;
} catch (const std::exception& error) {
  throw Error(format("{} cannot be read: {}", path.string(), error.what()));
}

}  // namespace autotune
