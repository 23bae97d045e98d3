// SPDX-License-Identifier: Apache-2.0
// The types of arguments: of elements, structs, instances of struct templates, and the classes of
// what a launch passes.
#include <algorithm>
#include <map>
#include <utility>

#include "tuner/core/element_type.hpp"
#include "tuner/core/expression.hpp"
#include "tuner/target/fact_reader.hpp"
#include "tuner/target/usual_names.hpp"
#include "tuner/text/format.hpp"
#include "tuner/text/strings.hpp"

namespace autotune {

std::string FactReader::cast_of(const std::string& name) const {
  const Tokens& body = kernel_.body;
  for (std::size_t i = 2; i < body.size(); ++i) {
    if (body[i] != name) continue;
    std::size_t end = i - 1;
    if (body[end] == "(" && end > 0) --end;  // static_cast<…>(x)
    const std::string open = body[end] == ")" ? "(" : body[end] == ">" ? "<" : "";
    std::size_t from = end;
    while (from > 0 && body[from] != open) --from;
    // `(const float*)((const char*)x + row * bytes)`
    if (from > 3 && contains(part_of(body, from, end), "char") && body[from - 1] == "(" &&
        body[from - 2] == ")")
      for (end = from - 2, from = end; from > 0 && body[from] != "(";) --from;
    Tokens type = part_of(body, from + 1, end);
    std::erase_if(type, [](const std::string& each) { return each == "const" || each == "*"; });
    if (!open.empty() && !type.empty() && std::ranges::all_of(type, is_name)) return text_of(type);
  }
  return "";
}

std::string FactReader::type_of(const Declaration& declaration) {
  std::string type = file_.resolved(declaration.type);
  if (type == "void" && declaration.pointers == 1) {
    const std::string cast = cast_of(declaration.name);
    if (cast.empty()) return "u8";
    type = file_.resolved(cast);
  }
  if (type == kFunctionType) {
    refuse(
        format("takes {}, a pointer to a function: a manifest passes none; make it a parameter "
               "of a template, or pass a struct with an operator()",
               declaration.name));
  }
  if (const auto known = classes_.find(type); known != classes_.end()) type = known->second;
  if (const auto setting = types_.find(type); setting != types_.end()) return setting->second;
  if (std::string name = type_name(type); !name.empty()) return name;
  if (const std::string instance = instance_of(type); !instance.empty()) type = instance;
  const auto known = structs_.find(type);
  if (known == structs_.end()) {
    refuse(
        format("takes {} of type {}, which init cannot describe: write the manifest by hand "
               "(docs/manifest.md, \"An argument\"), or give the kernel plain arguments",
               declaration.name, type));
  }
  if (!contains(used_structs_, type)) {
    for (const Declaration& member : known->second) {
      if (member.pointers > (member.length.empty() ? 0 : 1)) {
        refuse(
            format("takes {}, a {} with the pointer {}: a manifest passes no pointers in structs; "
                   "give the kernel the pointer as an argument",
                   declaration.name, type, member.name));
      }
      (void)type_of(member);
    }
    used_structs_.push_back(type);
  }
  return type;
}

std::string FactReader::instance_of(const std::string& type) {
  const Tokens tokens = tokens_of(type);
  const std::size_t open = position(tokens, "<");
  const auto known = open > 0 && open < tokens.size()
                         ? file_.struct_templates.find(tokens[open - 1])
                         : file_.struct_templates.end();
  if (known == file_.struct_templates.end()) return "";
  const std::vector<Tokens> given = items_in(tokens, open);
  std::map<std::string, Tokens> arguments;
  std::string name = tokens[open - 1];
  for (std::size_t i = 0; i < known->second.size(); ++i) {
    const Declaration& each = known->second[i];
    const Tokens& argument = i < given.size() ? given[i] : each.if_absent;
    arguments[each.name] = argument;
    for (const std::string& word : argument) {
      if (is_in_identifier(word.back())) name += "_" + word;
    }
  }
  const auto replace_in = [&](Tokens& all) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (const auto one = arguments.find(all[i]); one != arguments.end()) {
        replace(all, i, i + 1, one->second);
        i += one->second.size() - 1;
      }
    }
  };
  std::vector<Declaration> members = structs_.at(tokens[open - 1]);
  for (Declaration& each : members) {
    Tokens of_member = tokens_of(each.type);
    replace_in(of_member);
    each.type = text_of(of_member);
    replace_in(each.length);
    for (Tokens& row : each.rows) replace_in(row);
  }
  structs_.emplace(name, std::move(members));
  return name;
}

Tokens FactReader::class_of(const Tokens& expression) const {
  std::size_t end = 0;
  std::string last;
  while (end < expression.size() && (is_name(expression[end]) || expression[end] == "::" ||
                                     (end > 0 && expression[end] == "<"))) {
    if (is_name(expression[end])) last = expression[end];
    end = expression[end] == "<" ? closing_angle(expression, end) + 1 : end + 1;
  }
  return structs_.contains(last) ? part_of(expression, 0, end) : Tokens{};
}

Tokens FactReader::constructed(const Tokens& passed, const Tokens& function, int depth) const {
  constexpr int kDeepest = 4;
  if (depth > kDeepest || passed.empty()) return {};
  if (passed.size() > 1) return passed;
  const std::string& name = passed[0];
  for (std::size_t i = 1; i + 1 < function.size(); ++i) {
    const bool is_next = function[i - 1] == "," && function[i + 1] == "=";  // `int3 a = …, b = …`
    const bool is_declared =
        function[i] == name && (is_name(function[i - 1]) || function[i - 1] == ">" || is_next);
    if (!is_declared) continue;
    static const Words kEnds = {";", "{", "}", ")", "(", ","};
    std::size_t from = i - 1;
    while (from > 0 && !kEnds.contains(function[from - 1])) --from;
    Tokens type = part_of(function, from, i);
    std::erase_if(type, [](const auto& word) { return word == "const" || word == "constexpr"; });
    const std::string& next = function[i + 1];
    if (next == "=" && (type == Tokens{"auto"} || function[i + 2] != "{")) {
      const Tokens rest = part_of(function, i + 2, position(function, ";", i));
      return constructed(split_tokens(rest, ",").front(), function, depth + 1);
    }
    if (next == ";") append(type, {"{", "}"});
    if (next == "{" || next == "(")
      append(type, part_of(function, i + 1, closing(function, i + 1) + 1));
    if (next == "=") append(type, part_of(function, i + 2, closing(function, i + 2) + 1));
    if (next == ";" || next == "{" || next == "(" || next == "=") return type;
  }
  const std::vector<Declaration> own = parameters_of(function);
  const auto parameter = std::ranges::find(own, name, &Declaration::name);
  if (parameter == own.end()) return {};
  if (const Tokens type = tokens_of(parameter->type); !class_of(type).empty()) return type;
  const auto index = static_cast<std::size_t>(parameter - own.begin());
  for (const Tokens& caller : file_.host_functions) {  // of the function around the launch
    for (std::size_t i = 1; i + 1 < caller.size(); ++i) {
      if (caller[i] != launch_->function_name) continue;
      std::size_t open = i + 1;
      if (caller[open] == "<") open = closing_angle(caller, open) + 1;
      if (open >= caller.size() || caller[open] != "(") continue;
      const std::vector<Tokens> given = items_in(caller, open);
      const std::size_t end = closing(caller, open);
      const bool is_definition = end + 1 < caller.size() && caller[end + 1] == "{";
      if (is_definition || index >= given.size()) continue;
      Tokens made = constructed(given[index], caller, depth + 1);
      if (!made.empty()) return made;
    }
  }
  return {};
}

bool FactReader::is_texture(const Declaration& each) const {
  return each.pointers == 0 && file_.resolved(each.type) == "cudaTextureObject_t";
}

bool FactReader::is_integer(const Declaration& each) {
  if (each.pointers > 0 || is_texture(each)) return false;
  const std::string type = type_of(each);
  return is_integer_type(type) && type.find('x') == std::string::npos;
}

Tokens FactReader::member_passed(const Declaration& each, const std::string& member,
                                 std::size_t index) const {
  if (!launch_) return {};
  const Tokens passed = passed_for(each.name);
  const Tokens made = constructed(passed, launch_->function);
  const bool is_call = !made.empty() && made[0].starts_with("make_");  // make_float2(1, 2)
  const std::size_t open = is_call ? 1 : position(made, "{");
  const std::vector<Tokens> items =
      open < made.size() ? items_in(made, open) : std::vector<Tokens>{};
  if (index < items.size() && !items[index].empty() && items[index][0] != ".") return items[index];
  if (is_call || passed.size() != 1) return {};
  return member_of(launch_->function, launch_->function.size(), passed[0], member, index);
}

std::vector<Declaration> FactReader::members_of(const std::string& type) const {
  if (const auto known = structs_.find(type); known != structs_.end()) return known->second;
  std::vector<Declaration> made;
  const std::size_t x = type.find('x');
  for (char axis = '0'; x + 2 == type.size() && axis < type.back(); ++axis) {
    made.push_back({.type = std::string(cpp_name_of(*element_type(type.substr(0, x)))),
                    .name = std::string(1, "xyzw"[axis - '0'])});
  }
  return made;
}

std::pair<std::string, bool> FactReader::members_passed(const Declaration& each,
                                                        const std::string& type) {
  const std::vector<Declaration> members = members_of(type);
  std::vector<std::string> numbers;
  std::size_t shown = 0;
  for (std::size_t i = 0; i < members.size(); ++i) {
    const std::string own = type_of(members[i]);
    const bool is_number = !structs_.contains(own) && own.find('x') == std::string::npos;
    if (!is_number || !members[i].length.empty()) return {};
    const Tokens item = member_passed(each, members[i].name, i);
    const auto number = number_of(item);
    const auto of_sizes = number || item.empty() ? std::nullopt : host_text(false).value(item);
    const bool is_sized = of_sizes && of_sizes->sizes > 0;
    shown += number || is_sized ? 1 : 0;
    numbers.push_back(number ? *number : is_sized ? "\"" + of_sizes->sum() + "\"" : "1");
  }
  return {numbers.empty() ? "" : list_of(numbers), shown == members.size()};
}

void FactReader::find_members() {
  if (!launch_ || given_) return;
  for (const Declaration& each : kernel_.parameters) {
    if (each.pointers > 0 || is_texture(each)) continue;
    const std::vector<Declaration> members = members_of(type_of(each));
    for (std::size_t i = 0; i < members.size(); ++i) {
      const Tokens item = member_passed(each, members[i].name, i);
      const auto value = item.empty() ? std::nullopt : host_text(false).value(item);
      if (!value || value->sizes == 0) continue;
      const Tokens size = tokens_of(value->sum());
      members_.emplace_back(Tokens{each.name, ".", members[i].name},
                            size.size() > 1 ? parenthesized(size) : size);
    }
  }
}

std::string FactReader::ones_of(const std::string& type) {
  std::vector<std::string> members;
  for (const auto& [name, inner] : struct_of(type).members) {
    const std::size_t array = inner.find('[');
    const std::string element = inner.substr(0, array);
    std::string one = structs_.contains(element) ? ones_of(element) : "1";
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
  for (const Declaration& each : structs_.at(type)) {
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
  if (made.members.empty()) made.members.emplace_back("unused", "u8");  // C++ gives it a byte
  return made;
}

}  // namespace autotune
