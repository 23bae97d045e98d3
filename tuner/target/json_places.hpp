// SPDX-License-Identifier: Apache-2.0
// Where the values of a JSON text stand, which its reader does not tell.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "tuner/target/node.hpp"

namespace autotune {

class JsonPlaces {
 public:
  /// The text is JSON with comments. Throws Error where a key stands twice in one object.
  explicit JsonPlaces(std::shared_ptr<const Document> document);

  /// Gives a node, whose key is its path (`kernels[0].grid`), its place.
  void place(Node& node) const;
  /// The number, flag or null at a path, as it is written; empty if the path has no place.
  std::string_view written(const std::string& path) const;

 private:
  void read_value(const std::string& path);
  void read_object(const std::string& path);
  void read_list(const std::string& path);
  std::string read_quoted();
  void skip_spaces();
  bool accept(char c);

  std::shared_ptr<const Document> document_;
  std::size_t at_ = 0;
  std::map<std::string, std::size_t> places_;
};

}  // namespace autotune
