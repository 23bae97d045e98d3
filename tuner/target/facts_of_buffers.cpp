// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <regex>

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

std::optional<std::int64_t> number_in(const std::string& expression) {
  const auto other = expression.find_first_not_of("0123456789+-*/%() ");
  if (other != std::string::npos || expression.empty()) return std::nullopt;
  return Scope().evaluate(Expression::parse(expression));
}

void FactReader::find_buffers() {
  const KernelText own = text_with(false), tuned = text_with(true);
  const auto loop = own.loop();
  facts_.are_lengths_known = !sizes_.empty();
  std::map<std::string, std::string> lengths;
  for (const Declaration& each : kernel_.parameters) {
    if (each.pointers == 0) continue;
    const bool were_known = facts_.are_lengths_known;
    const BufferUse use = own.use_of(each.name);
    pin_parameters_of(tuned, use);
    lengths[each.name] = length_of(own, use);
    const bool is_guessed = were_known && !facts_.are_lengths_known;
    const std::string allocated = allocated_length(each);
    const bool is_longer =
        allocated.starts_with(lengths[each.name] + " + ") ||
        sizes_in(allocated) > sizes_in(lengths[each.name]) ||
        (number_in(lengths[each.name]) > 0 && number_in(allocated) > number_in(lengths[each.name]));
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
    } else if (std::string indexed = indexed_by(own, each, lengths); !indexed.empty()) {
      buffer.indexed = std::move(indexed);
      buffer.are_starts = std::ranges::any_of(use.indices, [&](Tokens next) {
        append(next, {"+", "1"});
        return std::ranges::find(use.indices, next) != use.indices.end();
      });
    } else {
      buffer.is_positive = corrections_.is_positive && !is_integer_type(buffer.type);
    }
    facts_.buffers.push_back(std::move(buffer));
  }
  for (const Declaration& each : file_.constant_arrays) {
    const bool is_array = !each.length.empty();
    Tokens all = is_array ? parenthesized(each.length) : Tokens{"1"};
    for (const Tokens& row : each.rows) {
      all.emplace_back("*");
      append(all, parenthesized(row));
    }
    const auto length = own.value(is_array && each.rows.empty() ? each.length : all);
    if (!used_.contains(each.name) || !length || each.pointers != (is_array ? 1 : 0)) continue;
    std::string declared = text_of(all);
    pin_parameters_in(declared);
    const std::string indexed = indexed_by(own, each, lengths);
    facts_.buffers.push_back({.name = manifest_name(each.name),
                              .type = type_of(each),
                              .length = length->length(),
                              .is_constant = true,
                              .indexed = indexed});
  }
  for (const std::string& each : file_.device_variables) {
    if (!is_own(each) && own.changes(each)) facts_.uncompared.push_back(each);
  }
  for (const std::string& each : file_.filled_variables) {
    const bool is_new = !contains(facts_.uncompared, each) && !is_own(each);
    if (is_new && used_.contains(each)) facts_.unfilled.push_back(each);
  }
  if (has_output) {  // a counter that the last block sets back is no result
    std::erase_if(facts_.uncompared, [&](const std::string& each) {
      return contains(kernel_.body, Tokens{each, "=", "0", ";"});
    });
  }
  if (!has_output && !facts_.uncompared.empty()) {
    const std::string& variable = facts_.uncompared.front();
    refuse(format(
        "writes its result to {}, a variable with __device__: autotune compares what "
        "kernels write to their arguments; give it {} as an argument, a pointer, or write the "
        "manifest by hand, with a second kernel that copies {} to an argument and resets it",
        variable, variable, variable));
  }
  if (!has_output && !given_) {
    refuse(
        "writes to none of its arguments, as far as its text shows: autotune compares what a "
        "kernel writes; write the manifest by hand if it writes elsewhere");
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
    return !contains(index, "*") &&
           std::ranges::any_of(kernel_.parameters, [&](const Declaration& each) {
             return each.pointers > 0 && free_names(index).contains(each.name);
           });
  });
}

void FactReader::pin_parameters_of(const KernelText& tuned, const BufferUse& use) {
  for (const Tokens& index : use.indices) {
    const auto extent = tuned.extent(index);
    if (!extent) continue;
    const std::string length = factor_of(extent->length());
    for (Parameter& each : facts_.parameters) {
      if (!words_of(length).contains(each.name)) continue;
      constexpr std::int64_t kOfEach = 1 << 14;  // which tiles divide, or nearly
      const auto differs = [&](std::int64_t value) {
        const std::string other = with_default(length, {each.name, {}, value});
        const std::string difference = format("abs({0} - {1}) * {2} > {1}", other, length,
                                              sizes_in(length) > 0 ? 64 : kOfEach);
        return holds(with_sizes(difference, kOfEach));
      };
      if (std::ranges::any_of(each.values, [&](auto value) { return differs(value) == true; }))
        each.values = {each.by_default};
    }
  }
}

std::string FactReader::with_sizes(std::string text, std::int64_t each) const {
  for (const std::string& size : sizes_) text = with_default(text, {manifest_name(size), {}, each});
  return text;
}

std::string FactReader::length_of(const KernelText& own, const BufferUse& use) {
  std::string all;
  for (const std::string& size : sizes_) {
    all += format("{}{}", all.empty() ? "" : " * ", manifest_name(size));
  }
  if (all.empty()) all = "N";
  const auto has = [&](const Tokens& code) { return contains(kernel_.body, code); };
  if (sizes_.size() == 1 && (has({sizes_[0], "*"}) || has({"*", sizes_[0]})))  // rows of a square
    all = format("{0} * {0}", all);
  std::optional<IndexEnd> longest;
  const auto is_longer = [&](const IndexEnd& one) {
    if (!longest || one.sizes != longest->sizes) return !longest || one.sizes > longest->sizes;
    constexpr std::int64_t kOfEach = 64;
    return holds(with_sizes(format("{} > {}", one.length(), longest->length()), kOfEach))
        .value_or(one.offset > longest->offset);
  };
  bool is_by_block = false;
  for (const Tokens& index : use.indices) {
    const auto one = own.extent(index);
    if (one && is_longer(*one)) longest = one;
    is_by_block = is_by_block || own.is_block(index);
  }
  if (is_by_block && (!longest || longest->sizes == 0)) {
    std::string blocks = joined(grid_, " * ");
    pin_parameters_in(blocks);
    facts_.has_element_per_block = true;
    return blocks;
  }
  const std::string length = longest ? longest->length() : all;
  if (longest && (longest->sizes > 0 || number_in(length) > 0)) return length;
  facts_.are_lengths_known = false;
  if (const std::string entries = size_of_entries(use); !entries.empty()) return entries;
  const bool is_gathered = !longest && names_a_buffer(use);
  return is_gathered && !sizes_.empty() ? manifest_name(sizes_.back()) : all;
}

std::string FactReader::end_of_elements(const KernelText& own, const Tokens& index,
                                        const Words& variables, const std::string& length) const {
  const auto is_from = [&](const Tokens& each) { return meets(free_names(each), variables); };
  const auto sizes_of = [&](const std::vector<Tokens>& factors) {
    IndexEnd all;
    for (const Tokens& each : factors) {
      const auto one = is_from(each) ? std::nullopt : own.value(each);
      if (!one) continue;
      const std::string text = one->offset == 0 ? one->text : "(" + one->sum() + ")";
      all.text += (all.text.empty() ? "" : " * ") + text;
      all.sizes += one->sizes;
    }
    return all;
  };
  IndexEnd step;  // of the elements, in the buffer
  std::vector<IndexEnd> widths;
  const Tokens whole = index.size() == 1 ? bare(own.definition(index[0])) : index;
  for (const Summand& term : summands_of(whole)) {
    Tokens one = bare(term.tokens);
    if (one.size() == 1 && is_from(one)) one = bare(own.definition(one[0]));
    const std::vector<Tokens> factors = split_tokens(one, "*");
    if (factors.size() < 2) continue;
    const IndexEnd all = sizes_of(factors);
    if (is_from(one)) step = all;
    if (is_from(one) && all.sizes == 0) return length;
    if (!is_from(one)) widths.push_back(all);
  }
  std::erase_if(widths, [&](const IndexEnd& each) { return each.sizes <= step.sizes; });
  const auto least = std::ranges::min_element(widths, {}, &IndexEnd::sizes);
  const std::string end = least == widths.end() ? length : least->text;
  if (step.sizes == 0) return end;
  const std::string last = " * " + step.text;
  return end.ends_with(last) ? end.substr(0, end.size() - last.size())
                             : format("({}) / ({})", end, step.text);
}

std::string FactReader::indexed_by(const KernelText& own, const Declaration& buffer,
                                   const std::map<std::string, std::string>& lengths) {
  const auto members = structs_.find(type_of(buffer));
  const bool is_struct = members != structs_.end();
  const bool has_integers =
      is_struct
          ? std::ranges::all_of(members->second,
                                [&](const Declaration& each) {
                                  const std::string type = type_of(each);
                                  return is_integer_type(type) && type.substr(1) != "8";
                                })
          : is_integer_type(type_of(buffer)) && type_of(buffer).find("8x") == std::string::npos;
  if (!has_integers) return "";
  const Words variables = own.variables_from(buffer.name);
  for (const Declaration& each : kernel_.parameters) {
    if (each.pointers == 0 || each.name == buffer.name) continue;
    for (const Tokens& index : own.use_of(each.name).indices) {
      if (!meets(free_names(index), variables)) continue;
      facts_.are_lengths_known = false;
      return end_of_elements(own, index, variables, lengths.at(each.name));
    }
  }
  for (const Declaration& each : shared_arrays(kernel_.body)) {
    const auto length = own.value(each.length);
    for (const Tokens& index : own.use_of(each.name).indices) {
      if (!length || !meets(free_names(index), variables)) continue;
      const bool is_element = index[0] == buffer.name && closing(index, 1) + 1 == index.size();
      facts_.are_lengths_known = facts_.are_lengths_known && is_element;
      return length->length();
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
    auto given = passed(each.name);
    std::string value = given.value_or("1");
    if (const auto [members, are_all] = members_passed(each, type); !members.empty()) {
      value = members;
      given = are_all ? std::optional(members) : std::nullopt;
    } else if (structs_.contains(type)) {
      value = ones_of(type);
      if (structs_.at(type).empty()) given = value;  // nothing to give
    }
    facts_.scalars.push_back({manifest_name(each.name), type, value, !given});
  }
}

}  // namespace autotune
