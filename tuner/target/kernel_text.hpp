// SPDX-License-Identifier: Apache-2.0
// How a kernel uses its buffers, threads and blocks, as far as its text shows.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/target/kernel_file.hpp"

namespace autotune {

struct BufferUse {
  bool is_read = false, is_written = false, is_atomic = false;
  std::vector<Tokens> indices;
};

/// How far an index goes: `text + offset` elements, in names of a manifest.
struct IndexEnd {
  std::string text;
  std::int64_t offset = 0;
  int sizes = 0;  // how many sizes the text names

  std::string sum() const;
  /// An offset below 0 is a border that the kernel leaves out.
  std::string length() const;
};

/// A name or number of the source in a manifest's expression; nullopt if it has no place there.
struct NamedInManifest {
  std::string text;
  bool is_size = false;
};
using ManifestNames = std::function<std::optional<NamedInManifest>(const std::string& word)>;

/// The names in it, without those of members: `threadIdx.x` names no buffer x.
Words free_names(const Tokens& tokens);

/// Of threadIdx or blockIdx: how many of x, y, z the code uses.
int dimensions_of(const Tokens& body, std::string_view index);

class KernelText {
 public:
  KernelText(const KernelCode& kernel, ManifestNames names);

  const Tokens& body() const { return body_; }
  BufferUse use_of(const std::string& buffer) const;
  /// Whether the kernel changes a variable that is none of its arguments.
  bool changes(const std::string& variable) const;
  /// Of one index into a buffer.
  std::optional<IndexEnd> extent(const Tokens& index, int depth = 0) const;
  /// The largest value of an index, by the sizes of the block: `threadIdx.x` is among the names.
  /// Conditions count if `guarded`, loops always.
  std::optional<IndexEnd> greatest(const Tokens& index, bool guarded, int depth = 0) const;
  /// Threads and turns of a loop that have each index below an end once, if the step divides it.
  struct Turns {
    IndexEnd end;
    std::string step;  // as many as the threads
    std::string evenly() const;
  };
  /// Of `threadIdx.y + j`; nullopt of any other index.
  std::optional<Turns> turns(const Tokens& index) const;
  /// Of loops from 0 to an end that no size changes.
  std::vector<Turns> loops() const;
  /// Whether an index, or what it is computed from, has this word; in `[…]` if `through_elements`.
  bool depends_on(const Tokens& index, std::string_view word, bool through_elements = true,
                  int depth = 0) const;
  /// What a block advances along an axis: `{"BLOCK", "*", "ITEMS"}` of `blockIdx.x * BLOCK *
  /// ITEMS + threadIdx.x`.
  std::optional<Tokens> advance(char axis) const;
  /// The end of the elements along an axis; nullopt if the kernel checks none.
  std::optional<IndexEnd> end(char axis) const;
  /// What a word has as its only value; itself if there is none.
  Tokens definition(const std::string& word) const;
  /// Whether an index is that of the block.
  bool is_block(const Tokens& index) const { return advance(index, 'x', 0) == Tokens{"1"}; }
  /// Variables that hold an element of a buffer, or end or begin at one.
  Words variables_from(const std::string& buffer) const;
  /// The first end of a loop that is a size.
  std::optional<IndexEnd> loop() const;
  /// A manifest's expression.
  std::optional<IndexEnd> value(const Tokens& tokens) const;

 private:
  struct Bound {
    std::string variable;  // or `i + BLOCK`
    IndexEnd end;
    bool is_loop = false;
    std::string step = {};  // of a loop that begins at 0, by `+=`; else empty
  };

  /// The end of a variable, or of an index such as `i + BLOCK`; null if the kernel checks none.
  const IndexEnd* bound_of(const std::string& text) const;
  bool goes_on_from(std::size_t pointer) const;
  /// Each variable has its first value, or its last.
  void tell_variables_apart(bool are_blocks_told);
  void read_definitions(bool takes_last);
  void round_quotients_up();
  void read_bounds();
  std::string step_of_loop(const std::string& variable, std::size_t condition) const;
  std::optional<IndexEnd> greatest_of_word(const std::string& word, bool guarded, int depth) const;
  std::optional<IndexEnd> end_of_variable(const Tokens& tokens) const;
  std::optional<IndexEnd> spread(const Tokens& index) const;
  std::optional<IndexEnd> extent_of_word(const std::string& word, int depth) const;
  std::optional<IndexEnd> product(const std::vector<Tokens>& factors, int depth) const;
  std::optional<Tokens> advance(const Tokens& index, char axis, int depth) const;

  Tokens body_;  // with elements of buffers in place of other pointers into them
  ManifestNames names_;
  std::map<std::string, Tokens> definitions_;
  Words changing_;  // with more than one value
  Words moving_;    // of these: by `+=` or `++`
  std::vector<Bound> bounds_;
};

// A kernel's pointers into its buffers: kernel_pointers.cpp.

struct WithoutPointers {
  Tokens body;
  std::map<std::string, Tokens> offsets;  // of the pointers, in elements of their buffers
};

/// With `x[(row * n) + i]` in place of `p[i]` behind `p = x + row * n` or `x += row * n`.
WithoutPointers without_pointers(const KernelCode& kernel);

}  // namespace autotune
