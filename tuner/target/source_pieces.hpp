// SPDX-License-Identifier: Apache-2.0
// The declarations of a C++ source, found without a parser.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace autotune {

using Words = std::set<std::string, std::less<>>;

Words words_of(std::string_view text);
/// Whether they have a word in common.
bool meets(const Words& some, const Words& others);

/// The source with blanks for comments and for what is in quotes. Positions are the source's own.
struct MaskedSource {
  std::string code;        // without directives
  std::string directives;  // nothing else
};

MaskedSource masked(std::string_view source);

/// A declaration outside of all others, or in a namespace or `extern "C"`. Functions and classes
/// may lack their body.
struct Piece {
  std::size_t begin = 0, end = 0;
  enum class Kind : std::uint8_t { function, type, other } kind = Kind::other;
  std::string name;   // of a function or a class; else empty or any word
  std::string scope;  // the namespaces around it: `a::b::`
  bool is_c = false;  // `extern "C"`
  Words words;
};

/// The name in a line such as `#define NAME 1`, and removes all up to it; empty for other lines.
std::string take_defined_name(std::string_view& line);

/// Of a MaskedSource's code. Empty if braces do not match.
std::vector<Piece> pieces_of(std::string_view code);

/// Replaces what stands at these places by blanks, but not ends of lines and directives.
void blank_out(std::string& source, const MaskedSource& masked, std::size_t begin, std::size_t end);

/// The number of the line with the first character of the piece that is no blank.
std::size_t line_of(const MaskedSource& masked, const Piece& piece);

// Host code of a .cu, as most existing ones have: a main(), launches with <<<…>>>, cudaMalloc().
// Kernels are compiled without it.

/// A function of the host.
struct LeftOut {
  std::string name;
  std::size_t line = 1;
};

struct DeviceCode {
  std::string text;  // lines keep their numbers
  std::vector<LeftOut> left_out = {};
};

/// The source without its host code: functions, classes and variables outside of others, that have
/// no execution space (__global__, __device__, __constant__, or a macro of the source for one) and
/// that are main(), launch with <<<…>>>, or name something of CUDA's or C's host libraries
/// (cudaMalloc, cublasHandle_t, std::vector, fopen). If there is any, also functions and classes
/// whose names stand neither in what kernels use nor in `named_elsewhere`. Directives stay. A
/// source whose braces do not match is returned as it is.
DeviceCode without_host_code(std::string_view source, const Words& named_elsewhere = {});

/// Adds all words of an included file, if it has device code.
void add_device_words(std::string_view source, Words& words);

}  // namespace autotune
