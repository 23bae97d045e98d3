// SPDX-License-Identifier: Apache-2.0
#include "tuner/target/kernel_file.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "tuner/cache/directives.hpp"
#include "tuner/cache/flat_source.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/expression.hpp"
#include "tuner/target/usual_names.hpp"
#include "tuner/text/format.hpp"
#include "tuner/text/strings.hpp"

namespace autotune {
namespace {

class FileReader {
 public:
  /// With macros of other files.
  FileReader(std::string_view source, const KernelFile& others)
      : parts_(masked(source)), others_(others) {}

  KernelFile read() {
    file_.names = words_of(parts_.code);
    read_directives();
    std::vector<Piece> pieces = pieces_of(parts_.code);
    // What the file's own macros exclude counts where nothing else has its name.
    std::stable_partition(pieces.begin(), pieces.end(),
                          [&](const Piece& piece) { return is_read(line_of(parts_, piece)); });
    for (const Piece& piece : pieces) {
      const Tokens tokens = expanded(
          tokens_of(std::string_view(parts_.code).substr(piece.begin, piece.end - piece.begin)));
      const bool is_kernel = piece.words.contains("__global__");
      if (!is_kernel && piece.kind != Piece::Kind::other) {
        file_.words[piece.name].insert(piece.words.begin(), piece.words.end());
      }
      if (is_kernel) {
        read_kernel(piece, tokens);
      } else if (piece.kind == Piece::Kind::type) {
        read_struct(piece.name, tokens);
        add_launches(piece.name, tokens);  // of a method
        read_copies(tokens);
      } else if (piece.kind == Piece::Kind::function) {
        file_.functions.insert(piece.name);
        read_expression_function(piece.name, tokens);
        add_launches(piece.name, tokens);
        read_instances(tokens);
        if (!piece.words.contains("__device__")) file_.host_functions.push_back(tokens);
        read_copies(tokens);
      } else {
        read_other(tokens);
      }
    }
    return std::move(file_);
  }

 private:
  void add_launches(const std::string& function, const Tokens& tokens) {
    std::ranges::move(launches_in(function, tokens), std::back_inserter(file_.launches));
  }

  bool is_read(std::size_t line) const {
    const auto behind = are_read_.upper_bound(line);
    return behind == are_read_.begin() || std::prev(behind)->second;
  }

  void read_directives() {
    std::map<std::string, Tokens> excluded;  // constants of lines that its macros exclude
    MacroTable macros;
    Branches branches;
    for (const LogicalLine& line : logical_lines(parts_.directives)) {
      const Words words = words_of(line.text);
      std::string_view rest = line.text;
      const std::string name = take_defined_name(rest);
      if (name.empty()) {
        rest = line.text;
        const std::string_view word = take_directive(rest);
        if (word.empty()) continue;
        branches.follow(word, rest, macros);
        are_read_[static_cast<std::size_t>(line.number)] = branches.is_active();
        if (word == "if" || word == "elif") file_.conditions.push_back(tokens_of(rest));
        if (word == "if" || word == "elif" || word == "ifdef") {
          file_.words["#if"].insert(words.begin(), words.end());
        }
        continue;
      }
      file_.words[name].insert(words.begin(), words.end());
      if (rest.starts_with('(')) {
        if (branches.is_active()) read_macro_function(name, rest);
        continue;
      }
      file_.names.insert(name);
      if (branches.is_active()) macros.known.emplace(name, trimmed(rest));
      Tokens value = tokens_of(rest);
      if (value.size() == 3 && value[0] == "(") value = {value[1]};
      auto& constants = branches.is_active() ? file_.constants : excluded;
      if (!value.empty()) constants.emplace(name, std::move(value));
    }
    file_.constants.merge(excluded);
  }

  /// Checks of errors stay calls.
  void read_macro_function(const std::string& name, std::string_view rest) {
    const Tokens tokens = tokens_of(rest);
    const std::size_t end = closing(tokens, 0);
    MacroFunction macro{{}, part_of(tokens, end + 1, tokens.size())};
    for (const Tokens& each : items_in(tokens, 0)) {
      if (!each.empty()) macro.parameters.push_back(each[0] == "." ? "__VA_ARGS__" : each[0]);
    }
    const auto has = [&](std::string_view word) { return contains(macro.body, word); };
    const bool is_statement =
        !macro.body.empty() &&
        (macro.body[0] == "do" || macro.body[0] == "{" || macro.body[0] == "if");
    if (has("<<<") || (!says_more(name, macro) && !is_statement))
      file_.macro_functions.emplace(name, macro);
  }

  /// `int at(int i, int j, int n) { return j * n + i; }` is as good as a macro.
  void read_expression_function(const std::string& name, const Tokens& tokens) {
    const std::size_t at = position(tokens, name);
    if (at + 1 >= tokens.size() || tokens[at + 1] != "(" || tokens[0] == "template") return;
    const std::size_t end = closing(tokens, at + 1);
    const bool is_one = end + 4 < tokens.size() && tokens[end + 1] == "{" &&
                        tokens[end + 2] == "return" && tokens[tokens.size() - 2] == ";" &&
                        position(tokens, ";") == tokens.size() - 2;
    const bool is_index =
        is_one && std::ranges::any_of(part_of(tokens, 0, at), [](const auto& each) {
          return is_integer_type(type_name(each)) || each == "auto";
        });
    if (!is_index) return;
    MacroFunction macro;
    for (const Declaration& each : declarations(part_of(tokens, at + 2, end))) {
      macro.parameters.push_back(each.name);
    }
    macro.body = {"("};
    for (const std::string& each : part_of(tokens, end + 3, tokens.size() - 2)) {
      const bool is_given = contains(macro.parameters, each);
      append(macro.body, is_given ? parenthesized({each}) : Tokens{each});
    }
    macro.body.emplace_back(")");
    if (!says_more(name, macro)) file_.macro_functions.emplace(name, std::move(macro));
  }

  /// Choices and quotients stay calls, because their names are known.
  static bool says_more(const std::string& name, const MacroFunction& macro) {
    return contains(macro.body, "?") || !manifest_function(name).empty();
  }

  const MacroFunction* macro_function(const std::string& name) const {
    for (const KernelFile* const file : std::array{&std::as_const(file_), &others_}) {
      const auto known = file->macro_functions.find(name);
      if (known != file->macro_functions.end()) return &known->second;
    }
    static const MacroFunction kProduct{{"a", "b"}, tokens_of("((a) * (b))")};
    return name == "__umul24" || name == "__mul24" ? &kProduct : nullptr;
  }

  /// The value of a macro that stands for code: `(blockIdx.x * blockDim.x + threadIdx.x)`, or a
  /// call of a macro. Null for other words.
  const Tokens* code_of(const std::string& word) const {
    static const Words kIndices = {"threadIdx", "blockIdx", "blockDim", "gridDim"};
    for (const KernelFile* const file : std::array{&std::as_const(file_), &others_}) {
      const auto known = file->constants.find(word);
      if (known == file->constants.end()) continue;
      const bool is_code = std::ranges::any_of(known->second, [&](const std::string& each) {
        return kIndices.contains(each) || macro_function(each);
      });
      return is_code ? &known->second : nullptr;
    }
    return nullptr;
  }

  /// Without macros that stand for code.
  Tokens expanded(const Tokens& tokens, int depth = 0) const {
    constexpr int kDeepest = 8;
    Tokens all;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      const bool may_be = is_name(tokens[i]) && depth < kDeepest;
      const MacroFunction* const macro = may_be ? macro_function(tokens[i]) : nullptr;
      Tokens made = {tokens[i]};
      if (macro && i + 1 < tokens.size() && tokens[i + 1] == "(") {
        const std::size_t end = closing(tokens, i + 1);
        made = expanded(call_of(*macro, part_of(tokens, i + 2, end)), depth + 1);
        i = end;
      } else if (const Tokens* const code = may_be ? code_of(tokens[i]) : nullptr) {
        made = expanded(*code, depth + 1);
      }
      append(all, made);
    }
    return all;
  }

  static Tokens call_of(const MacroFunction& macro, const Tokens& given) {
    const std::vector<Tokens> arguments = split_tokens(given, ",");
    const std::vector<std::string>& names = macro.parameters;
    Tokens all;
    for (std::size_t i = 0; i < macro.body.size(); ++i) {
      const std::string& word = macro.body[i];
      if (word == "#" && i + 2 < macro.body.size() && macro.body[i + 1] == "#") {
        const Tokens next = call_of({names, {macro.body[i += 2]}}, given);  // `a ## b`
        if (all.empty() || next.empty()) continue;
        all.back() += next[0];
        all.insert(all.end(), next.begin() + 1, next.end());
        continue;
      }
      const auto index = static_cast<std::size_t>(std::ranges::find(names, word) - names.begin());
      if (index >= names.size()) {
        all.push_back(word);
        continue;
      }
      const bool takes_rest = word == "__VA_ARGS__";
      for (std::size_t at = index; at < arguments.size() && (at == index || takes_rest); ++at) {
        if (at > index) all.emplace_back(",");
        append(all, arguments[at]);
      }
    }
    return all;
  }

  void read_kernel(const Piece& piece, const Tokens& tokens) {
    const bool is_instance = tokens.size() > 1 && tokens[0] == "template" && tokens[1] != "<";
    if (is_instance) return read_instances(tokens);
    KernelCode kernel;
    kernel.name = piece.scope + piece.name;
    kernel.line = line_of(parts_, piece);
    std::size_t at = position(tokens, "__global__");
    if (const std::size_t angle = position(tokens, "template"); angle < at) {
      kernel.templates = template_parameters(tokens, angle);
    }
    if (const std::size_t bound = position(tokens, "__launch_bounds__"); bound < tokens.size()) {
      kernel.launch_bound = items_in(tokens, bound + 1).front();
    }
    for (; at < tokens.size(); ++at) {
      if (tokens[at] != "(") continue;
      if (tokens[at - 1] == piece.name) break;
      at = closing(tokens, at);
    }
    const std::size_t end = closing(tokens, at);
    const std::size_t body = position(tokens, "{", end);
    if (body >= tokens.size()) return;  // a declaration
    for (Declaration& each : declarations(part_of(tokens, at + 1, end))) {
      const auto known = std::ranges::find(kernel.parameters, each.name, &Declaration::name);
      if (known == kernel.parameters.end())  // of the alternatives of an #if, the first
        kernel.parameters.push_back(std::move(each));
    }
    kernel.body = part_of(tokens, body + 1, tokens.size() - 1);
    name_indices_of_groups(kernel.body);
    file_.kernels.push_back(std::move(kernel));
  }

  void read_struct(const std::string& name, const Tokens& tokens) {
    const std::size_t open = position(tokens, "{");
    if (open >= tokens.size() || name.empty()) return;
    const auto data = data_of(part_of(tokens, open + 1, closing(tokens, open)));
    const bool has_base = position(tokens, ":") < open;
    if (!data || has_base) return;
    if (tokens[0] == "template") file_.struct_templates.emplace(name, template_parameters(tokens));
    file_.structs.emplace(name, members(*data));
  }

  /// An enumeration is an integer.
  void read_enumeration(const Tokens& tokens, std::size_t open) {
    const std::size_t colon = position(tokens, ":");
    const std::size_t end = closing(tokens, open);
    const bool is_named_behind = tokens[0] == "typedef" && end + 1 < tokens.size();
    const std::string& name = is_named_behind ? tokens[end + 1] : tokens[std::min(colon, open) - 1];
    file_.types[name] = colon < open ? text_of(part_of(tokens, colon + 1, open)) : "int";
    std::int64_t next = 0;
    for (const Tokens& each : items_in(tokens, open)) {
      if (each.empty()) continue;
      const auto given = each.size() == 3 ? integer_of(each[2]) : std::nullopt;
      next = given.value_or(next);
      file_.enumerations[name].push_back(next);
      file_.enumerators.emplace(each[0], next++);
    }
  }

  void read_other(const Tokens& tokens) {
    if (tokens.empty()) return;
    const bool is_on_device = contains(tokens, "__device__") || contains(tokens, "__managed__");
    if (is_on_device && !contains(tokens, "const") && !contains(tokens, "constexpr")) {
      for (const Declaration& each : members(tokens)) file_.device_variables.insert(each.name);
    }
    if (const std::size_t open = position(tokens, "{"); position(tokens, "enum") < open) {
      if (open < tokens.size()) read_enumeration(tokens, open);
      return;
    }
    if (tokens[0] != "typedef" && tokens[0] != "using") {
      for (const Tokens& each : split_tokens(part_of(tokens, 0, tokens.size() - 1), ",")) {
        const std::string name = declaration(part_of(each, 0, position(each, "{"))).name;
        if (!name.empty()) file_.variables.insert(name);
      }
    }
    if (tokens[0] == "typedef" && tokens.size() > 3) {
      if (const std::size_t open = position(tokens, "{"); open < tokens.size()) {
        read_struct(tokens[tokens.size() - 2], tokens);
        return;
      }
      if (const std::string name = function_pointer(tokens); !name.empty()) {
        file_.types.emplace(name, kFunctionType);
        return;
      }
      file_.types.emplace(tokens[tokens.size() - 2],
                          text_of(part_of(tokens, 1, tokens.size() - 2)));
    } else if (tokens[0] == "using" && tokens.size() > 4 && tokens[2] == "=") {
      file_.types.emplace(tokens[1], text_of(part_of(tokens, 3, tokens.size() - 1)));
    } else if (const std::size_t sign = position(tokens, "="); sign + 2 < tokens.size()) {
      const bool is_constant =
          position(tokens, "const") < sign || position(tokens, "constexpr") < sign;
      for (const Tokens& each : split_tokens(part_of(tokens, 0, tokens.size() - 1), ",")) {
        const std::size_t own = position(each, "=");
        if (!is_constant || own == 0 || own + 1 >= each.size()) continue;
        file_.words[each[own - 1]].insert(each.begin(), each.end());
        file_.constants.emplace(each[own - 1], part_of(each, own + 1, each.size()));
      }
    } else if (position(tokens, "__constant__") < tokens.size()) {
      std::ranges::move(members(tokens), std::back_inserter(file_.constant_arrays));
    }
  }

  /// `cudaMemcpyToSymbol(table, …)`
  void read_copies(const Tokens& tokens) {
    for (std::size_t i = 0; i + 2 < tokens.size(); ++i) {
      const bool copies = tokens[i].starts_with("cudaMemcpyToSymbol") && tokens[i + 1] == "(";
      const Tokens symbol = copies ? items_in(tokens, i + 1)[0] : Tokens{};
      if (!symbol.empty()) file_.filled_variables.insert(symbol.back());
    }
  }

  void read_instances(const Tokens& tokens) {
    for (std::size_t i = 0; i + 2 < tokens.size(); ++i) {
      if (!is_name(tokens[i]) || tokens[i + 1] != "<") continue;
      const std::size_t end = closing_angle(tokens, i + 1);
      if (end + 1 >= tokens.size() || tokens[end + 1] != "(") continue;
      file_.instances.emplace(tokens[i], items_in(tokens, i + 1));
    }
  }

  MaskedSource parts_;
  const KernelFile& others_;
  std::map<std::size_t, bool> are_read_;  // by the first of the lines
  KernelFile file_;
};

}  // namespace

std::string KernelFile::resolved(std::string type) const {
  for (int i = 0; i < 8; ++i) {
    const auto alias = types.find(type);
    const auto macro = constants.find(type);
    if (alias != types.end()) {
      type = alias->second;
    } else if (macro != constants.end() && is_name(macro->second.front())) {
      type = text_of(macro->second);
    } else {
      break;
    }
  }
  return type;
}

std::optional<std::int64_t> KernelFile::integer(const std::string& name, int depth) const {
  constexpr int kDeepest = 8, kLargestShift = 40;
  const auto known = constants.find(name);
  if (known == constants.end() || depth > kDeepest) return std::nullopt;
  std::string text;
  for (std::size_t i = 0; i < known->second.size(); ++i) {
    const std::string& each = known->second[i];
    if (each == "<<" && i + 1 < known->second.size()) {
      const std::string& by = known->second[++i];
      const auto bits = is_name(by) ? integer(by, depth + 1) : integer_of(by);
      if (!bits || *bits > kLargestShift) return std::nullopt;
      text += format(" * {}", std::int64_t{1} << *bits);
    } else if (const auto number = integer_of(each)) {
      text += std::to_string(*number);
    } else if (is_name(each)) {
      const auto inner = integer(each, depth + 1);
      if (!inner) return std::nullopt;
      text += format("({})", *inner);
    } else if (each.find_first_not_of("+-*/%()") == std::string::npos) {
      text += " " + each + " ";
    } else {
      return std::nullopt;
    }
  }
  try {
    return Scope().evaluate(Expression::parse(text));
  } catch (const Error&) {  // such as ( ) of a macro for two statements
    return std::nullopt;
  }
}

bool KernelFile::is_literal(const std::string& name) const {
  const auto known = constants.find(name);
  return known != constants.end() && known->second.size() == 1 && !is_name(known->second[0]);
}

Tokens KernelFile::instance(const LaunchInSource& launch, const Tokens& argument) const {
  const auto known = instances.find(launch.function_name);
  for (std::size_t i = 0; known != instances.end() && i < known->second.size(); ++i) {
    const bool is_it = i < launch.function_templates.size() &&
                       argument == Tokens{launch.function_templates[i].name};
    if (is_it) return known->second[i];
  }
  return argument;
}

Words KernelFile::used_by(const KernelCode& kernel) const {
  Words used(kernel.body.begin(), kernel.body.end());
  used.insert(kernel.launch_bound.begin(), kernel.launch_bound.end());
  std::vector<std::string> left(used.begin(), used.end());
  for (const Declaration& each : kernel.parameters) left.push_back(each.type);
  left.emplace_back("#if");
  while (!left.empty()) {
    const auto known = words.find(left.back());
    left.pop_back();
    if (known == words.end()) continue;
    for (const std::string& each : known->second) {
      if (used.insert(each).second) left.push_back(each);
    }
  }
  return used;
}

KernelFile kernel_file(std::string_view source, std::string_view headers,
                       const std::string& entry) {
  KernelFile more = FileReader(headers, {}).read();
  KernelFile file = FileReader(source, more).read();
  const auto add = [](auto& all, const auto& others) {
    all.insert(all.end(), others.begin(), others.end());
  };
  const auto is_asked = [&](const KernelCode& each) { return each.is_called(entry); };
  if (file.kernels.empty() || (!entry.empty() && std::ranges::none_of(file.kernels, is_asked))) {
    add(file.kernels, more.kernels);
  }
  add(file.launches, more.launches);
  add(file.constant_arrays, more.constant_arrays);
  add(file.host_functions, more.host_functions);
  for (const auto& [name, words] : more.words) file.words[name].insert(words.begin(), words.end());
  for (const auto& [name, value] : more.constants) {
    if (file.constants.emplace(name, value).second) file.of_headers.insert(name);
  }
  file.types.merge(more.types);
  file.enumerators.merge(more.enumerators);
  file.enumerations.merge(more.enumerations);
  file.structs.merge(more.structs);
  file.struct_templates.merge(more.struct_templates);
  using File = KernelFile;
  for (const auto each : {&File::functions, &File::device_variables, &File::names, &File::variables,
                          &File::filled_variables})
    (file.*each).merge(more.*each);
  std::erase_if(file.filled_variables,
                [&](const std::string& each) { return !file.device_variables.contains(each); });
  return file;
}

}  // namespace autotune
