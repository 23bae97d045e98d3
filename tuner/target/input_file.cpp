// SPDX-License-Identifier: Apache-2.0
#include "tuner/target/input_file.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <istream>
#include <limits>
#include <string_view>

#include "tuner/core/error.hpp"
#include "tuner/hash/hash.hpp"
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

namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::uint32_t kLongestHeader = 1 << 16;
constexpr std::int64_t kMostElements = std::int64_t{1} << 48;

[[noreturn]] void refuse(const std::string& why) {
  throw Error(format("not a supported .npy file: {}", why));
}

std::string bytes_in(std::istream& file, std::size_t count) {
  std::string bytes(count, '\0');
  if (!file.read(bytes.data(), static_cast<std::streamsize>(count)))
    refuse("its header is cut off");
  return bytes;
}

/// The Python dictionary after the magic number, the version and its own length.
std::string dictionary_in(std::istream& file) {
  if (bytes_in(file, kMagic.size()) != kMagic) refuse("it does not begin with the bytes of one");
  const int version = bytes_in(file, 2)[0];
  if (version < 1 || version > 3) refuse(format("version {} of the format is not known", version));
  std::uint32_t length = 0;
  int shift = 0;
  for (const char digit : bytes_in(file, version == 1 ? 2 : 4)) {
    length |= std::uint32_t{static_cast<unsigned char>(digit)} << shift;
    shift += 8;
  }
  if (length > kLongestHeader) refuse("its header is too long");
  return bytes_in(file, length);
}

/// The text after `'key':`, without leading spaces.
std::string_view value_of(std::string_view dictionary, std::string_view key) {
  const std::size_t at = dictionary.find(format("'{}':", key));
  if (at == std::string_view::npos) refuse(format("its header has no {}", key));
  std::string_view value = dictionary.substr(at + key.size() + 3);
  value.remove_prefix(std::min(value.find_first_not_of(' '), value.size()));
  return value;
}

/// `'<f4'` as `f32` and 4.
struct Element {
  std::string type;
  std::int64_t bytes = 0;
};
Element element_of(std::string_view value) {
  const std::size_t end = value.find('\'', 1);
  if (!value.starts_with('\'') || end == std::string_view::npos) {
    refuse("its elements are structs: save a plain array");
  }
  const std::string_view text = value.substr(1, end - 1);  // <f4
  if (text.starts_with('>')) refuse("it is big-endian: save array.astype(\"<f4\") or the like");
  Element element;
  if (text.size() >= 3) {
    std::from_chars(text.data() + 2, text.data() + text.size(), element.bytes);
  }
  static constexpr std::string_view kKinds = "fiub";
  if (text.size() != 3 || element.bytes < 1 || kKinds.find(text[1]) == std::string_view::npos) {
    refuse(format("its elements are {}, not numbers", text));
  }
  element.type = text == "|b1" ? "bool" : format("{}{}", text[1], 8 * element.bytes);
  return element;
}

/// `(3, 4)` as 12; `()` is 1.
std::int64_t elements_of(std::string_view shape) {
  std::int64_t count = 1;
  const char* at = shape.data();
  const char* const end = at + std::min(shape.find(')'), shape.size());
  if (shape.empty() || *at++ != '(') refuse("its header has no shape");
  while (at < end) {
    std::int64_t size = 0;
    const auto [next, failed] = std::from_chars(at, end, size);
    if (failed != std::errc() || size < 0 || size > kMostElements ||
        __builtin_mul_overflow(count, size, &count) || count > kMostElements) {
      refuse("its shape is not a list of sizes");
    }
    at = next;
    while (at < end && (*at == ',' || *at == ' ')) ++at;
  }
  return count;
}

}  // namespace

NpyArray read_npy_header(std::istream& file) {
  const std::string dictionary = dictionary_in(file);
  if (value_of(dictionary, "fortran_order").starts_with("True")) {
    throw Error("it is in Fortran order: save numpy.ascontiguousarray(array)");
  }
  const Element element = element_of(value_of(dictionary, "descr"));
  return {element.type, elements_of(value_of(dictionary, "shape")) * element.bytes,
          static_cast<std::int64_t>(file.tellg())};
}

}  // namespace autotune
