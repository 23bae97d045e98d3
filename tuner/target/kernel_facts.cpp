// SPDX-License-Identifier: Apache-2.0
#include "tuner/target/fact_reader.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <regex>

#include "tuner/core/element_type.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/expression.hpp"
#include "tuner/target/usual_names.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"
#include "tuner/text/strings.hpp"

namespace autotune {
namespace {

void add_value(std::vector<std::int64_t>& values, std::int64_t value) {
  if (std::ranges::find(values, value) != values.end()) return;
  values.push_back(value);
  std::ranges::sort(values);
}

/// The type that the program passes, and one that it may be compared with.
std::vector<std::string> types_with(const std::string& type) {
  if (type.empty()) return {"f32", "f64"};
  if (is_integer_type(type)) return {type};
  return {type, type == "f32" ? "f64" : "f32"};
}

bool is_declared(const Tokens& body, std::size_t at) {
  const auto is_declaration = [&](std::size_t i) {
    if (i + 1 < body.size() && body[i + 1] == "=") return true;  // `float a = 1, b = 2;`
    if (i == 0 || !is_in_identifier(body[i - 1].back())) return false;
    return body[i - 1] != "return" && !is_digit(body[i - 1][0]);
  };
  for (std::size_t i = 0; i < body.size(); ++i) {
    if (body[i] == body[at] && is_declaration(i)) return true;
  }
  return false;
}

}  // namespace

FactReader::FactReader(const KernelFile& file, const KernelCode& kernel,
                       const std::string& file_name, const Corrections& corrections,
                       const GivenArguments* given)
    : file_(file),
      kernel_(kernel),
      file_name_(file_name),
      corrections_(corrections),
      given_(given),
      structs_(file.structs) {
  facts_.launch.kernel = last_name();
  const auto launch = std::ranges::find_if(file.launches, [&](const LaunchInSource& each) {
    return each.kernel == last_name() && each.arguments.size() == kernel.parameters.size();
  });
  used_ = file.used_by(kernel);
  if (launch == file.launches.end()) return;
  own_launch_ = *launch;
  own_launch_->function = HostCode::without_placeholders(
      HostCode::without_limits(HostCode::without_pitches(launch->function)));
  const HostCode host(own_launch_->function);
  const Tokens block = launch->configuration.size() > 1 ? launch->configuration[1] : Tokens{};
  own_launch_->function = host.with_dimensions(own_launch_->function, block);
  for (Tokens& each : own_launch_->arguments) each = host.with_dimensions(each, block);
  launch_ = &*own_launch_;
  host_ = HostCode(in_numbers(launch_->function));
}

KernelFacts FactReader::facts() {
  find_templates();
  find_launch();
  find_assertions();
  find_vectors();
  find_buffers();
  find_scalars();
  find_dynamic_shared();
  bound_by_shared_arrays();
  divide_loops();
  find_plain_reference();
  for (const std::string& type : used_structs_) facts_.structs.push_back(struct_of(type));
  std::erase_if(facts_.parameters, [&](const Parameter& each) { return !is_used(each); });
  for (const auto& [name, value] : file_.constants) {
    const auto number = file_.integer(name);
    const bool is_kept = number && file_.is_literal(name) && !parameter(name);
    if (is_kept && used_.contains(name) && !is_size_name(name)) {
      facts_.kept.push_back(format("{} = {}", name, *number));
    }
  }
  facts_.is_cooperative = is_cooperative();
  facts_.has_sizes_of_macros = has_sizes_of_macros_;
  for (std::string& size : sizes_) facts_.sizes.push_back(manifest_name(size));
  return std::move(facts_);
}

bool FactReader::is_used(const Parameter& each) const {
  const auto has = [&](const std::string& text) { return words_of(text).contains(each.name); };
  const auto passes = [&](const auto& argument) { return has(argument.first); };
  return each.is_passed || used_.contains(each.name) || has(facts_.entry) ||
         has(facts_.dynamic_shared_bytes) || std::ranges::any_of(grid_, has) ||
         std::ranges::any_of(block_, has) || std::ranges::any_of(facts_.constraints, has) ||
         std::ranges::any_of(facts_.launch.arguments, passes);
}

std::string FactReader::last_name() const {
  const std::size_t colon = kernel_.name.rfind(':');
  return colon == std::string::npos ? kernel_.name : kernel_.name.substr(colon + 1);
}

std::string FactReader::free_name(std::string name) const {
  while (file_.names.contains(name)) name += "_";
  return name;
}

std::string FactReader::manifest_name(const std::string& name) {
  static const std::set<std::string> kTaken = {
      "in",  "and",  "or",    "not", "implies", "min",      "max",      "true", "false",
      "int", "turn", "turns", "abs", "device",  "ceil_div", "round_up", "log2"};
  return kTaken.contains(name) ? name + "_" : name;
}

const FactReader::Parameter* FactReader::parameter(const std::string& name) const {
  const auto found = std::ranges::find(facts_.parameters, name, &Parameter::name);
  return found == facts_.parameters.end() ? nullptr : &*found;
}

FactReader::Parameter* FactReader::parameter(const std::string& name) {
  return const_cast<Parameter*>(std::as_const(*this).parameter(name));
}

void FactReader::add_parameter(const std::string& name, std::int64_t by_default,
                               std::vector<std::int64_t> values, bool is_guessed) {
  if (parameter(name)) return;
  if (values.empty() && (by_default == 0 || by_default == 1) && is_flag(name)) {
    values = {0, 1};
  } else if (values.empty()) {
    const std::int64_t base = std::max<std::int64_t>(by_default, 1);
    for (std::int64_t each = std::max<std::int64_t>(base / 4, 1); each <= base * 4; each *= 2) {
      values.push_back(each);
    }
    if (base == 1) values.push_back(8);
  }
  add_value(values, by_default);
  facts_.parameters.push_back({name, std::move(values), by_default, is_guessed});
}

void FactReader::set_block_values(const std::string& name, int dimensions) {
  Parameter* const known = parameter(name);
  if (!known) return;
  known->values = dimensions == 1 ? std::vector<std::int64_t>{32, 64, 128, 256, 512, 1024}
                                  : std::vector<std::int64_t>{4, 8, 16, 32, 64};
  add_value(known->values, known->by_default);
}

bool FactReader::is_function(const Declaration& each) const {
  return file_.resolved(each.type) == kFunctionType;
}

std::string FactReader::function_for(const Tokens& given) const {
  if (given.size() == 1 && file_.functions.contains(given[0])) return given[0];
  for (const auto& [name, arguments] : file_.instances) {
    for (const Tokens& each : arguments) {
      if (each.size() == 1 && file_.functions.contains(each[0])) return each[0];
    }
  }
  return text_of(given);
}

void FactReader::find_templates() {
  std::vector<std::string> passed;
  for (std::size_t i = 0; i < kernel_.templates.size(); ++i) {
    const Declaration& each = kernel_.templates[i];
    const bool is_given = launch_ && i < launch_->templates.size();
    Tokens given = is_given ? file_.instance(*launch_, launch_->templates[i]) : each.if_absent;
    if (const auto made = file_.instances.find(last_name());
        !launch_ && made != file_.instances.end() && i < made->second.size()) {
      given = made->second[i];
    }
    if (launch_ && !is_given && each.type == "typename") {
      for (std::size_t at = 0; at < kernel_.parameters.size(); ++at) {
        const Declaration& own = kernel_.parameters[at];
        if (own.type != each.name || own.pointers > 0) continue;
        const Tokens made = class_of(constructed(launch_->arguments[at], launch_->function));
        if (!made.empty()) given = made;
        if (made.empty() && contains(kernel_.body, Tokens{own.name, "("})) {
          refuse(
              format("calls its argument {}, and the launch does not show a class of it: a "
                     "manifest passes "
                     "numbers and structs; pass a struct of the file with an operator(), such as "
                     "{}<<<…>>>(…, Op{{}}), in place of a lambda or of another library's class",
                     own.name, kernel_.name));
        }
      }
    }
    std::string passed_type = type_name(file_.resolved(text_of(given)));
    static const std::regex kIndex("index|offset|^(int|size|count)", std::regex::icase);
    if (passed_type.empty() && std::regex_search(each.name, kIndex)) passed_type = "i32";
    const bool is_word = given.size() == 1 && is_name(given[0]) && file_.words.contains(given[0]) &&
                         !types_.contains(given[0]);
    const bool is_class = passed_type.empty() && (is_word || !class_of(given).empty());
    if (each.type == "typename" && is_class) {  // such as a layout: no type of elements
      classes_[each.name] = text_of(given);
      passed.push_back(text_of(given));
      continue;
    }
    const bool is_vector = passed_type.find('x') != std::string::npos;
    if (each.type == "typename" && (is_vector || is_integer_type(passed_type))) {
      types_[each.name] = passed_type;  // settings have no vectors, and integers no other type
      const bool is_named = type_name(file_.resolved(text_of(given))) == passed_type;
      passed.push_back(is_named ? text_of(given)
                                : std::string(cpp_name_of(*element_type(passed_type))));
      continue;
    }
    if (each.type == "typename") {
      const std::string name = free_name(facts_.type_settings.empty()
                                             ? "dtype"
                                             : format("dtype{}", facts_.type_settings.size() + 1));
      facts_.type_settings.emplace_back(name, types_with(passed_type));
      types_[each.name] = name;
      passed.push_back("{" + name + "}");
      continue;
    }
    if (is_function(each)) {
      passed.push_back(function_for(given));
      continue;
    }
    std::optional<std::int64_t> value =
        each.type == "bool" ? std::optional<std::int64_t>(0) : std::nullopt;
    if (given.size() == 1) {
      const std::string& text = given[0];
      const auto is_false = [&](const LaunchInSource& one) {  // for some sizes
        return one.kernel == last_name() && i < one.templates.size() &&
               one.templates[i] == Tokens{"false"};
      };
      if (text == "true" || text == "false")
        value = std::ranges::none_of(file_.launches, is_false) ? 1 : 0;
      if (is_digit(text[0])) value = std::stoll(text);
      if (const auto known = file_.integer(text)) value = known;
      if (const auto own = host_value(text); own && is_number(*own)) value = std::stoll(*own);
      const auto made = value || !launch_ ? std::nullopt : host_text(false).value(given);
      if (made) value = number_in(made->sum());
    }
    const auto choices = file_.enumerations.find(each.type);
    const auto choice =
        given.empty() ? file_.enumerators.end() : file_.enumerators.find(given.back());
    if (choices != file_.enumerations.end()) {
      if (choice != file_.enumerators.end()) value = choice->second;
      const bool is_case = value && !is_flag(each.name) && !is_of_the_work(each.name);
      add_parameter(each.name, value.value_or(choices->second.front()),
                    is_case ? std::vector<std::int64_t>{*value} : choices->second, !value);
      passed.push_back(format("({}){{{}}}", each.type, each.name));
      continue;
    }
    const bool is_block = is_of_blocks(each.name);
    // A choice of what is computed, and a 0 that stands for "at run time", are not tuned.
    const bool is_case =
        is_radius(each.name) || (!is_flag(each.name) && (each.type == "bool" || value == 0));
    add_parameter(each.name, value.value_or(is_block ? default_block() : 1),
                  is_case ? std::vector<std::int64_t>{value.value_or(is_radius(each.name) ? 1 : 0)}
                  : each.type == "bool" ? std::vector<std::int64_t>{0, 1}
                                        : std::vector<std::int64_t>{},
                  !value);
    passed.push_back("{" + each.name + "}");
  }
  if (kernel_.name != last_name()) facts_.entry = kernel_.name;
  if (!passed.empty()) facts_.entry = format("{}<{}>", kernel_.name, joined(passed, ", "));
}

void FactReader::find_constants() {
  const Words of_block = host_.words_behind(block_of_host());
  static const std::regex kWarp("warp_?size|^k?warp$", std::regex::icase),
      kMost("max", std::regex::icase);
  for (const auto& [name, value] : file_.constants) {
    const auto number = file_.integer(name);
    if (!number || !file_.is_literal(name) || is_own(name) || std::regex_search(name, kWarp)) {
      continue;
    }
    const bool is_launched = launch_ && contains(launch_->function, name);
    const bool is_used = is_launched || used_.contains(name);
    const bool is_choice = *number == 0 || *number == 1;
    const bool is_of_block = of_block.contains(name) && !std::regex_search(name, kMost);
    if (is_used && (is_of_the_work(name) || is_of_block) &&
        ((*number > 0 && std::has_single_bit(static_cast<std::uint64_t>(*number))) ||
         (is_choice && is_flag(name)))) {
      add_parameter(name, *number);
    }
  }
  find_undefined();
}

void FactReader::find_undefined() {
  static const Words kKnown = words_of(
      "INFINITY NAN NULL FLT_MAX FLT_MIN DBL_MAX DBL_MIN INT_MAX INT_MIN UINT_MAX FLT_EPSILON "
      "DBL_EPSILON CHAR_BIT LLONG_MAX ULLONG_MAX RAND_MAX HUGE_VALF");
  static const std::regex kStyle(
      "(?!M_|CUDA|WIN|NDEBUG)[A-Z][A-Z0-9_]+|(block|tile|grid|thread|work|use|loop|vector)_[a-z0-9_"
      "]+|.*_(per_thread|"
      "factor)(_[xyz])?");
  const auto is_free = [&](const std::string& name) {
    return std::regex_match(name, kStyle) && !kKnown.contains(name) &&
           !file_.constants.contains(name) && !file_.variables.contains(name) &&
           !file_.types.contains(name) && !file_.enumerators.contains(name) &&
           !structs_.contains(name) && !is_own(name) && !parameter(name) && !types_.contains(name);
  };
  for (const Tokens& condition : file_.conditions) {
    for (std::size_t i = 0; i < condition.size(); ++i) {
      if (!is_free(condition[i]) ||
          (i > 0 && (condition[i - 1] == "defined" || condition[i - 1] == "(")))
        continue;
      std::vector<std::int64_t> values = compared_values(condition[i]);
      const bool is_block = values.size() > 2 && is_of_blocks(condition[i]);
      add_parameter(condition[i], is_block ? default_block() : values.front(), values, true);
    }
  }
  const Tokens& body = kernel_.body;
  for (std::size_t i = 0; i < body.size(); ++i) {
    const std::string after = i + 1 < body.size() ? body[i + 1] : "";
    const std::string before = i > 0 ? body[i - 1] : ";";
    const bool is_function = after == "<" && file_.functions.contains(body[i]);
    const bool is_part = is_function || before == "." || before == "->" || before == "::" ||
                         after == "::" || after == "(";
    if (is_part || !is_free(body[i]) || is_declared(body, i)) continue;
    const bool is_flag_name = is_flag(body[i]);
    add_parameter(body[i],
                  is_of_blocks(body[i]) ? default_block()
                  : is_flag_name        ? 0
                                        : 1,
                  {}, true);
  }
}

std::vector<std::int64_t> FactReader::compared_values(const std::string& macro) const {
  std::set<std::int64_t> values;
  for (const Tokens& condition : file_.conditions) {
    for (std::size_t i = 0; i < condition.size(); ++i) {
      if (condition[i] != macro) continue;
      const bool has_number = i + 2 < condition.size() && is_digit(condition[i + 2][0]);
      if (!has_number) {
        values.insert({0, 1});
        continue;
      }
      const std::int64_t number = std::stoll(condition[i + 2]);
      values.insert(number);
      const std::string& sign = condition[i + 1];
      if (sign == ">" || sign == "!=") values.insert(number + 1);
      if (sign == ">=" || sign == "<") values.insert(std::max<std::int64_t>(number - 1, 0));
    }
  }
  if (values == std::set<std::int64_t>{1}) values.insert(0);
  return {values.begin(), values.end()};
}

std::string FactReader::with_default(const std::string& text, const Parameter& each) {
  return std::regex_replace(text, std::regex("\\b" + each.name + "\\b"),
                            std::to_string(each.by_default));
}

void FactReader::pin_parameters_in(std::string& text) {
  for (Parameter& each : facts_.parameters) {
    if (!words_of(text).contains(each.name)) continue;
    text = with_default(text, each);
    each.values = {each.by_default};
  }
}

namespace {

/// Gives the kernel's parameters the names of `given`. Other words that are called so get new ones.
KernelCode renamed(KernelCode kernel, const GivenArguments& given, const std::string& file) {
  std::string foreign;
  for (const Declaration& each : kernel.parameters) {
    if (foreign.empty() && !given.all.contains(each.name)) foreign = each.name;
  }
  if (foreign.empty()) return kernel;
  bool is_alike = given.launched.size() == kernel.parameters.size();
  for (std::size_t i = 0; is_alike && i < given.launched.size(); ++i) {
    is_alike = (kernel.parameters[i].pointers > 0) == given.buffers.contains(given.launched[i]);
  }
  if (!is_alike) {
    const std::vector<std::string> all(given.all.begin(), given.all.end());
    throw Error(format(
        "{}:{}: {} takes {}, which is no argument of what it is compared with: name its parameters "
        "as there ({}), or take as many in the same order",
        file, kernel.line, kernel.name, foreign,
        joined(given.launched.empty() ? all : given.launched, ", ")));
  }
  std::map<std::string, std::string> names;
  for (const std::string& each : given.launched) names[each] = each + "_";
  for (std::size_t i = 0; i < given.launched.size(); ++i) {
    std::string name = given.launched[i];
    // An expression: the kernel's own name stands for it, or for itself if it is one of those.
    if (!given.all.contains(name)) name = kernel.parameters[i].name;
    names[kernel.parameters[i].name] = name;
    kernel.parameters[i].name = name;
  }
  for (std::size_t i = 0; i < kernel.body.size(); ++i) {
    const auto known = names.find(kernel.body[i]);
    const bool is_member = i > 0 && (kernel.body[i - 1] == "." || kernel.body[i - 1] == "->");
    if (known != names.end() && !is_member) kernel.body[i] = known->second;
  }
  return kernel;
}

/// Puts `u[(y) * (NX) + (x)]` in place of `u[y][x]`.
void flatten(Tokens& body, const Declaration& array) {
  for (std::size_t i = 0; !array.rows.empty() && i + 1 < body.size(); ++i) {
    if (body[i] != array.name || body[i + 1] != "[") continue;
    std::size_t end = closing(body, i + 1);
    Tokens index = part_of(body, i + 2, end);
    std::size_t left = array.rows.size();
    for (; left > 0 && end + 1 < body.size() && body[end + 1] == "["; --left) {
      const Tokens& row = array.rows[array.rows.size() - left];
      const std::size_t open = end + 1;
      end = closing(body, open);
      index = tokens_of(format("({}) * ({}) + ({})", text_of(index), text_of(row),
                               text_of(part_of(body, open + 1, end))));
    }
    if (left > 0) continue;  // a row is passed on
    replace(body, i + 2, end, index);
    i += 2 + index.size();
  }
}

}  // namespace

std::string list_of(const std::vector<std::string>& items) {
  return "[" + joined(items, ", ") + "]";
}

KernelFacts kernel_facts(const KernelFile& file, const KernelCode& kernel,
                         const std::string& file_name, const Corrections& corrections,
                         const GivenArguments* given) {
  KernelCode named = given ? renamed(kernel, *given, file_name) : kernel;
  for (const Declaration& each : named.parameters) flatten(named.body, each);
  for (const Declaration& each : file.constant_arrays) flatten(named.body, each);
  return FactReader(file, named, file_name, corrections, given).facts();
}

}  // namespace autotune
