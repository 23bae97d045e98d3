// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "tuner/core/error.hpp"
#include "tuner/core/expression.hpp"
#include "tuner/target/fact_reader.hpp"
#include "tuner/target/usual_names.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"

namespace autotune {

void FactReader::find_texture(const Declaration& each) {
  std::string type = "f32";
  std::size_t dimensions = 2;
  const Tokens& body = kernel_.body;
  for (std::size_t i = 5; i + 1 < body.size(); ++i) {
    if (body[i] != each.name || body[i - 1] != "(" || body[i - 2] != ">") continue;
    if (!body[i - 5].starts_with("tex")) continue;
    type = type_name(file_.resolved(body[i - 3]));
    dimensions = body[i - 5].find("1D") != std::string::npos ? 1 : 2;
    break;
  }
  KernelFacts::Texture made{manifest_name(each.name), manifest_name(each.name) + "_texels", {}};
  std::string length;
  for (std::size_t axis = 0; axis < dimensions; ++axis) {
    made.dims.push_back(sizes_.empty() ? "N"
                                       : manifest_name(sizes_[std::min(axis, sizes_.size() - 1)]));
    length += (axis > 0 ? " * " : "") + made.dims.back();
  }
  facts_.buffers.push_back({.name = made.buffer, .type = type, .length = length});
  facts_.textures.push_back(std::move(made));
  facts_.are_lengths_known = false;
}

namespace {

/// The value of an expression of numbers; 0 if it has names.
std::int64_t number_in(const std::string& length) {
  if (length.find_first_not_of("0123456789+-*/() ") != std::string::npos || length.empty())
    return 0;
  return Scope().evaluate(Expression::parse(length));
}

}  // namespace

void FactReader::find_buffers() {
  const KernelText own = text_with(false);
  const auto loop = own.loop();
  facts_.are_lengths_known = !sizes_.empty();
  std::map<std::string, std::string> lengths;
  for (const Declaration& each : kernel_.parameters) {
    if (each.pointers == 0) continue;
    const bool were_known = facts_.are_lengths_known;
    lengths[each.name] = length_of(own, own.use_of(each.name));
    const bool is_guessed = were_known && !facts_.are_lengths_known;
    const std::string allocated = allocated_length(each);
    const bool is_longer = sizes_in(allocated) > sizes_in(lengths[each.name]) ||
                           number_in(allocated) > number_in(lengths[each.name]);
    if (allocated.empty() || (!is_guessed && were_known && !is_longer)) continue;
    lengths[each.name] = allocated;
    facts_.are_lengths_known = were_known;
  }
  bool has_output = false;
  for (const Declaration& each : kernel_.parameters) {
    if (is_texture(each)) find_texture(each);
    if (each.pointers == 0) continue;
    const BufferUse use = own.use_of(each.name);
    KernelFacts::Buffer buffer{manifest_name(each.name), type_of(each), lengths[each.name]};
    // Another manifest says what is written; this one needs an output.
    if (given_ ? !has_output : !each.is_const && use.is_written) {
      buffer.role = use.is_read || corrections_.in_part.contains(buffer.name) ? "inout" : "output";
      buffer.is_zero = use.is_atomic;
      buffer.is_positive = corrections_.is_positive && buffer.role == "inout" && !buffer.is_zero &&
                           !is_integer_type(buffer.type);
      if (!is_integer_type(buffer.type)) {
        buffer.tolerance = loop ? format("\"{}\"", loop->length()) : "8";
      }
      has_output = true;
    } else if (const std::string indexed = indexed_by(own, each); !indexed.empty()) {
      facts_.are_lengths_known = false;
      buffer.indexed = lengths[indexed];
    } else {
      buffer.is_positive = corrections_.is_positive && !is_integer_type(buffer.type);
    }
    facts_.buffers.push_back(std::move(buffer));
  }
  for (const Declaration& each : file_.constant_arrays) {
    const bool is_used = contains(kernel_.body, each.name);
    Tokens all = parenthesized(each.length);
    for (const Tokens& row : each.rows) {
      all.emplace_back("*");
      append(all, parenthesized(row));
    }
    const auto length = own.value(each.rows.empty() ? each.length : all);
    if (!is_used || !length || each.pointers != 1) continue;
    std::string declared = text_of(all);
    pin_parameters_in(declared);
    const std::string indexed = indexed_by(own, each);
    if (!indexed.empty()) facts_.are_lengths_known = false;
    facts_.buffers.push_back({.name = manifest_name(each.name),
                              .type = type_of(each),
                              .length = length->length(),
                              .is_constant = true,
                              .indexed = indexed.empty() ? "" : lengths[indexed]});
  }
  if (!has_output && !given_) {
    throw Error(format(
        "{}:{}: {} writes to none of its arguments, as far as its text shows: autotune compares "
        "what a kernel writes; write the manifest by hand if it writes elsewhere",
        file_name_, kernel_.line, kernel_.name));
  }
}

std::string FactReader::allocated_length(const Declaration& buffer) const {
  if (!launch_) return "";
  const Tokens given = passed_for(buffer.name);
  Tokens bytes = HostCode::bytes_of(launch_->function, given.empty() ? "" : given.back());
  if (split_tokens(bytes, "+").size() > 1) return "";
  Tokens elements;
  bool has_type = false;
  for (const Tokens& factor : split_tokens(bytes, "*")) {
    if (!has_type && !factor.empty() && factor[0] == "sizeof") {
      has_type = true;
      continue;
    }
    if (!elements.empty()) elements.emplace_back("*");
    append(elements, factor);
  }
  const auto value = has_type ? host_text(false).value(elements) : std::nullopt;
  if (!value) return "";
  const std::string length = value->length();
  return value->sizes > 0 || number_in(length) > 0 ? length : "";
}

std::string FactReader::size_of_entries(const BufferUse& use) const {
  const bool is_flat =
      std::ranges::all_of(use.indices, [](const Tokens& index) { return index.size() == 1; });
  for (const std::string& each : sizes_) {
    if (is_flat && names_entries(each)) return manifest_name(each);
  }
  return "";
}

bool FactReader::names_a_buffer(const BufferUse& use) const {
  return std::ranges::any_of(use.indices, [&](const Tokens& index) {
    return std::ranges::any_of(kernel_.parameters, [&](const Declaration& each) {
      return each.pointers > 0 && free_names(index).contains(each.name);
    });
  });
}

bool FactReader::multiplies(const std::string& size) const {
  const Tokens& body = kernel_.body;
  for (std::size_t i = 1; i + 1 < body.size(); ++i) {
    if (body[i] == size && (body[i - 1] == "*" || body[i + 1] == "*")) return true;
  }
  return false;
}

std::string FactReader::length_of(const KernelText& own, const BufferUse& use) {
  std::string all;
  for (const std::string& size : sizes_) {
    all += format("{}{}", all.empty() ? "" : " * ", manifest_name(size));
  }
  if (all.empty()) all = "N";
  if (sizes_.size() == 1 && multiplies(sizes_[0])) all = format("{0} * {0}", all);
  std::optional<IndexEnd> longest;
  bool is_by_block = false;
  for (const Tokens& index : use.indices) {
    const auto one = own.extent(index);
    if (one && (!longest || one->sizes > longest->sizes ||
                (one->sizes == longest->sizes && one->offset > longest->offset))) {
      longest = one;
    }
    is_by_block = is_by_block || own.is_block(index);
  }
  if (is_by_block && (!longest || longest->sizes == 0)) {
    std::string blocks = joined(grid_, " * ");
    pin_parameters_in(blocks);
    facts_.has_element_per_block = true;
    return blocks;
  }
  const std::string length = longest ? longest->length() : all;
  const bool is_number = length.find_first_not_of("0123456789 *+") == std::string::npos &&
                         Scope().evaluate(Expression::parse(length)) > 0;
  if (longest && (longest->sizes > 0 || is_number)) return length;
  facts_.are_lengths_known = false;
  if (const std::string entries = size_of_entries(use); !entries.empty()) return entries;
  const bool is_gathered = !longest && names_a_buffer(use);
  return is_gathered && !sizes_.empty() ? manifest_name(sizes_.back()) : all;
}

std::string FactReader::indexed_by(const KernelText& own, const Declaration& buffer) {
  const auto members = file_.structs.find(file_.resolved(buffer.type));
  const bool is_struct = members != file_.structs.end();
  const bool has_integers =
      is_struct ? std::ranges::all_of(members->second,
                                      [&](const Declaration& each) {
                                        const std::string type = type_of(each);
                                        return is_integer_type(type) && type.substr(1) != "8";
                                      })
                : is_integer_type(type_of(buffer));
  if (!has_integers) return "";
  const Words variables = own.variables_from(buffer.name);
  for (const Declaration& each : kernel_.parameters) {
    if (each.pointers == 0 || each.name == buffer.name) continue;
    for (const Tokens& index : own.use_of(each.name).indices) {
      if (std::ranges::any_of(free_names(index),
                              [&](const auto& word) { return variables.contains(word); })) {
        return each.name;
      }
    }
  }
  return "";
}

void FactReader::find_scalars() {
  for (const Declaration& each : kernel_.parameters) {
    const bool is_expression =
        is_size_name(each.name) || computed_.contains(each.name) || parameter(each.name);
    if (each.pointers > 0 || is_expression || is_texture(each)) continue;
    const std::string type = type_of(each);
    const auto given = passed(each.name);
    std::string value = given.value_or("1");
    if (const auto x = type.rfind('x'); x != std::string::npos && x + 2 == type.size()) {
      value = type.back() == '2' ? "[1, 1]" : type.back() == '3' ? "[1, 1, 1]" : "[1, 1, 1, 1]";
    } else if (file_.structs.contains(type)) {
      value = ones_of(type);
    }
    facts_.scalars.push_back({manifest_name(each.name), type, value, !given});
  }
}

std::string FactReader::ones_of(const std::string& type) {
  std::vector<std::string> members;
  for (const auto& [name, inner] : struct_of(type).members) {
    const std::size_t array = inner.find('[');
    const std::string element = inner.substr(0, array);
    std::string one = file_.structs.contains(element) ? ones_of(element) : "1";
    const bool is_vector = element.size() > 2 && element[element.size() - 2] == 'x';
    if (is_vector) one = list_of(std::vector<std::string>(element.back() - '0', "1"));
    for (std::size_t at = inner.rfind('['); at != std::string::npos && at >= array && at > 0;
         at = inner.rfind('[', at - 1)) {
      const auto count = static_cast<std::size_t>(std::stoul(inner.substr(at + 1)));
      one = list_of(std::vector<std::string>(count, one));
    }
    members.push_back(std::move(one));
  }
  return list_of(members);
}

KernelFacts::Struct FactReader::struct_of(const std::string& type) {
  KernelFacts::Struct made{type, {}};
  for (const Declaration& each : file_.structs.at(type)) {
    std::string array;
    std::vector<Tokens> lengths = each.rows;
    if (!each.length.empty()) lengths.insert(lengths.begin(), each.length);
    for (const Tokens& one : lengths) {
      const auto length = text_with(false).value(one);
      array += length ? format("[{}]", Scope().evaluate(Expression::parse(length->length())))
                      : "[" + text_of(one) + "]";
    }
    made.members.emplace_back(each.name, type_of(each) + array);
  }
  return made;
}

}  // namespace autotune
