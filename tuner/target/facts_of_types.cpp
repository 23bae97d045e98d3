// SPDX-License-Identifier: Apache-2.0
// The types of arguments: of elements, structs, instances of struct templates, and the classes of
// what a launch passes.
#include <algorithm>
#include <map>

#include "tuner/core/error.hpp"
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
    throw Error(format(
        "{}:{}: {} takes {}, a pointer to a function: a manifest passes none; make it a parameter "
        "of a template, or pass a struct with an operator()",
        file_name_, kernel_.line, kernel_.name, declaration.name));
  }
  if (const auto known = classes_.find(type); known != classes_.end()) type = known->second;
  if (const auto setting = types_.find(type); setting != types_.end()) return setting->second;
  if (std::string name = type_name(type); !name.empty()) return name;
  if (const std::string instance = instance_of(type); !instance.empty()) type = instance;
  const auto known = structs_.find(type);
  if (known == structs_.end()) {
    throw Error(format(
        "{}:{}: {} takes {} of type {}, which init cannot describe: write the manifest by hand "
        "(docs/manifest.md, \"An argument\"), or give the kernel plain arguments",
        file_name_, kernel_.line, kernel_.name, declaration.name, type));
  }
  if (!contains(used_structs_, type)) {
    for (const Declaration& member : known->second) {
      if (member.pointers > (member.length.empty() ? 0 : 1)) {
        throw Error(
            format("{}:{}: {} takes {}, a {} with the pointer {}: a manifest passes no pointers "
                   "in structs; "
                   "give the kernel the pointer as an argument",
                   file_name_, kernel_.line, kernel_.name, declaration.name, type, member.name));
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
    const bool is_declared =
        function[i] == name && (is_name(function[i - 1]) || function[i - 1] == ">");
    if (!is_declared) continue;
    std::size_t from = i - 1;
    while (from > 0 && function[from - 1] != ";" && function[from - 1] != "{" &&
           function[from - 1] != "}" && function[from - 1] != ")" && function[from - 1] != "(" &&
           function[from - 1] != ",") {
      --from;
    }
    Tokens type = part_of(function, from, i);
    std::erase_if(type, [](const auto& word) { return word == "const" || word == "constexpr"; });
    const std::string& next = function[i + 1];
    if (next == "=" && (type == Tokens{"auto"} || function[i + 2] != "{"))
      return constructed(part_of(function, i + 2, position(function, ";", i)), function, depth + 1);
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

}  // namespace autotune
