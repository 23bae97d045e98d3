// SPDX-License-Identifier: Apache-2.0
#include "tuner/target/input_file.hpp"

#include <gmock/gmock.h>

#include <sstream>

#include "tuner/core/error.hpp"

namespace autotune {
namespace {

using ::testing::HasSubstr;

/// A header of this version of the format; its length is that of the dictionary plus `excess`.
std::string header(const std::string& dictionary, char version = 1, int excess = 0) {
  const auto length = static_cast<unsigned>(static_cast<int>(dictionary.size()) + excess);
  std::string bytes = std::string("\x93NUMPY") + version + '\0';
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) {
    bytes += static_cast<char>(length >> 8 * i & 255);
  }
  return bytes + dictionary;
}

NpyArray read(const std::string& bytes) {
  std::istringstream file(bytes);
  return read_npy_header(file);
}

void expect_refused(const std::string& bytes, const std::string& why) {
  try {
    read(bytes);
    ADD_FAILURE() << "it was read; expected: " << why;
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr(why));
  }
}

constexpr const char* kFloats =
    "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }        \n";

TEST(Npy, TypeBytesAndOffsetAreRead) {
  for (const char version : {1, 2, 3}) {
    const std::string bytes = header(kFloats, version);
    const NpyArray array = read(bytes + "elements");
    EXPECT_EQ(array.type, "f32");
    EXPECT_EQ(array.bytes, 24);
    EXPECT_EQ(array.offset, static_cast<std::int64_t>(bytes.size()));
  }
}

TEST(Npy, EveryKindOfNumberHasItsName) {
  const auto type = [](const std::string& descr) {
    return read(header("{'descr': '" + descr + "', 'fortran_order': False, 'shape': (4,)}")).type;
  };
  EXPECT_EQ(type("<f8"), "f64");
  EXPECT_EQ(type("<f2"), "f16");
  EXPECT_EQ(type("|i1"), "i8");
  EXPECT_EQ(type("<u2"), "u16");
  EXPECT_EQ(type("<u4"), "u32");
  EXPECT_EQ(type("<u8"), "u64");
  EXPECT_EQ(type("|b1"), "bool");
}

TEST(Npy, AScalarIsOneElement) {
  EXPECT_EQ(read(header("{'descr': '<f8', 'fortran_order': False, 'shape': ()}")).bytes, 8);
}

TEST(Npy, WhatIsNoHeaderIsRefused) {
  expect_refused("", "cut off");
  expect_refused("PK\x03\x04 a zip file", "does not begin with the bytes of one");
  expect_refused(header(kFloats, 4), "version 4");
  expect_refused(header(kFloats, 1, 1), "cut off");
  expect_refused(header("{}", 2, 1 << 20), "too long");
  expect_refused(header("{'fortran_order': False, 'shape': (4,)}"), "no descr");
  expect_refused(header("{'descr': '<f4', 'shape': (4,)}"), "no fortran_order");
  expect_refused(header("{'descr': '<f4', 'fortran_order': False}"), "no shape");
}

TEST(Npy, WhatCannotBeUsedIsRefused) {
  const auto array = [](const std::string& descr, const std::string& shape) {
    return header("{'descr': " + descr + ", 'fortran_order': False, 'shape': " + shape + "}");
  };
  expect_refused(array("'>f4'", "(4,)"), "big-endian");
  expect_refused(array("'<c8'", "(4,)"), "elements are <c8");
  expect_refused(array("[('x', '<f4')]", "(4,)"), "structs");
  expect_refused(array("'<f4'", "(-1,)"), "not a list of sizes");
  expect_refused(array("'<f4'", "(4294967296, 4294967296)"), "not a list of sizes");
  expect_refused(array("'<f4'", "(4, x)"), "not a list of sizes");
  expect_refused(array("'<f4'", "4"), "no shape");
  expect_refused(header("{'descr': '<f4', 'fortran_order': True, 'shape': (4,)}"), "Fortran order");
}

}  // namespace
}  // namespace autotune
