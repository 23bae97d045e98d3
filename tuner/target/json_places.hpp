// SPDX-License-Identifier: Apache-2.0
// Finds the places of values in a JSON text, which the parser does not report.
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
  /// The text must be valid JSON with comments. Throws Error if an object has a key twice.
  explicit JsonPlaces(std::shared_ptr<const Document> document);

  /// Sets the node's place. Its key is the path: `kernels[0].grid`.
  void place(Node& node) const;
  /// The number, flag or null at a path, as it is written; empty if the path is unknown.
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
