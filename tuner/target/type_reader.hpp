// SPDX-License-Identifier: Apache-2.0
// Types in a manifest: element types, CUDA's vectors, structs of "types", and settings or
// parameters that hold a type. Every function throws Error with the place.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tuner/core/target.hpp"
#include "tuner/target/reading.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"

namespace autotune {

template <class Enumeration>
struct Choice {
  const char* name;
  Enumeration value;
};

/// The value that the node names.
template <class Enumeration, std::size_t count>
Enumeration choice(const Node& node, const Choice<Enumeration> (&choices)[count]) {
  const std::string text = node.text();
  std::vector<std::string> names;
  for (const auto& each : choices) {
    if (text == each.name) return each.value;
    names.emplace_back(each.name);
  }
  node.fail(format("\"{}\" is not known ({})", text, suggestion(text, names)));
}

/// Checks the structs of "types". Settings must have been read.
void check_types(Reading& reading, const Target& target);

/// Sets the type, width and members of a buffer: `f32`, a vector `f32x4`, or a struct.
void read_element(Reading& reading, const Target& target, ArgumentSpec& spec, const Node& type,
                  const ManifestScope* scope = nullptr);

/// If `type` is a struct or vector, sets the fields of an argument that is passed by value, from a
/// list of values or a table with a value for each member. Returns whether it is one.
bool read_fields(Reading& reading, const Target& target, ArgumentSpec& spec, const Node& type,
                 const Node& value);

/// The value of a scalar: a number, or an expression over problem names.
void read_value(Reading& reading, ArgumentSpec& spec, const Node& value);

/// The name of an element type, or of a setting that holds one. With a scope, also of one of its
/// parameters.
std::string type_of(Reading& reading, const Target& target, const Node& type,
                    const ManifestScope* scope = nullptr);

// Texture objects in a manifest. Every function throws Error with the place.

/// Reads a buffer's name, or an expression that chooses one by `? :`.
Expression chosen_buffer(Reading& reading, const ManifestScope& scope, const Node& buffer);

TextureSpec read_texture(Reading& reading, const ManifestScope& scope, const std::string& name,
                         const Node& node);

}  // namespace autotune
