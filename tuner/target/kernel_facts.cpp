// SPDX-License-Identifier: Apache-2.0
#include "tuner/target/kernel_facts.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <regex>
#include <type_traits>

#include "tuner/core/element_type.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/expression.hpp"
#include "tuner/target/host_code.hpp"
#include "tuner/target/kernel_text.hpp"
#include "tuner/target/usual_names.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"
#include "tuner/text/strings.hpp"

namespace autotune {
namespace {

bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }
template <class Item>
bool contains(const std::vector<Item>& all, const std::type_identity_t<Item>& item) {
  return std::ranges::find(all, item) != all.end();
}
bool is_power_of_two(std::int64_t value) { return value > 0 && (value & (value - 1)) == 0; }

class FactReader {
 public:
  FactReader(const KernelFile& file, const KernelCode& kernel, const std::string& file_name,
             const Corrections& corrections, const GivenArguments* given = nullptr)
      : file_(file),
        kernel_(kernel),
        file_name_(file_name),
        corrections_(corrections),
        given_(given) {
    facts_.launch.kernel = last_name();
    const auto launch = std::ranges::find_if(file.launches, [&](const LaunchInSource& each) {
      return each.kernel == last_name() && each.arguments.size() == kernel.parameters.size();
    });
    used_ = file.used_by(kernel);
    if (launch == file.launches.end()) return;
    launch_ = &*launch;
    host_ = HostCode(in_numbers(launch->function));
  }

  KernelFacts facts() {
    find_templates();
    find_launch();
    find_buffers();
    find_scalars();
    find_dynamic_shared();
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

 private:
  using Parameter = KernelFacts::Parameter;

  void find_launch() {
    find_constants();
    find_sizes();
    find_block();
    find_grid();
    facts_.launch.grid = grid_;
    facts_.launch.block = block_;
    for (const Declaration& each : kernel_.parameters) {
      const bool is_computed = computed_.contains(each.name);
      const std::string type = is_size_name(each.name) || is_computed ? type_of(each) : "";
      facts_.launch.arguments.emplace_back(
          is_computed ? computed(each.name, true)->text : manifest_name(each.name),
          type == "i32" || type == "u32" ? "" : type);
    }
  }

  bool is_cooperative() const {
    return (launch_ && launch_->is_cooperative) || contains(kernel_.body, "grid_group") ||
           contains(kernel_.body, "this_grid");
  }

  /// Of the kernel, or of its launch; what the host uses otherwise is not tuned.
  bool is_used(const Parameter& each) const {
    const std::regex word("\\b" + each.name + "\\b");
    const auto has = [&](const std::string& text) { return std::regex_search(text, word); };
    const auto passes = [&](const auto& argument) { return has(argument.first); };
    return each.is_passed || used_.contains(each.name) || has(facts_.entry) ||
           has(facts_.dynamic_shared_bytes) || std::ranges::any_of(grid_, has) ||
           std::ranges::any_of(block_, has) || std::ranges::any_of(facts_.constraints, has) ||
           std::ranges::any_of(facts_.launch.arguments, passes);
  }

  std::string last_name() const {
    const std::size_t colon = kernel_.name.rfind(':');
    return colon == std::string::npos ? kernel_.name : kernel_.name.substr(colon + 1);
  }
  bool is_own(const std::string& name) const {
    return std::ranges::find(kernel_.parameters, name, &Declaration::name) !=
           kernel_.parameters.end();
  }
  /// A name that the source does not use.
  std::string free_name(std::string name) const {
    while (file_.names.contains(name)) name += "_";
    return name;
  }
  /// Operators and functions of expressions have their names for themselves.
  static std::string manifest_name(const std::string& name) {
    static const std::set<std::string> kTaken = {
        "in",  "and",  "or",    "not", "implies", "min",      "max",      "true", "false",
        "int", "turn", "turns", "abs", "device",  "ceil_div", "round_up", "log2"};
    return kTaken.contains(name) ? name + "_" : name;
  }
  static void include(std::vector<std::int64_t>& values, std::int64_t value) {
    if (contains(values, value)) return;
    values.push_back(value);
    std::ranges::sort(values);
  }

  const Parameter* parameter(const std::string& name) const {
    const auto found = std::ranges::find(facts_.parameters, name, &Parameter::name);
    return found == facts_.parameters.end() ? nullptr : &*found;
  }
  void add_parameter(const std::string& name, std::int64_t by_default,
                     std::vector<std::int64_t> values = {}, bool is_guessed = false) {
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
    include(values, by_default);
    facts_.parameters.push_back({name, std::move(values), by_default, is_guessed});
  }
  void set_block_values(const std::string& name, int dimensions) {
    const auto known = std::ranges::find(facts_.parameters, name, &Parameter::name);
    if (known == facts_.parameters.end()) return;
    known->values = dimensions == 1 ? std::vector<std::int64_t>{32, 64, 128, 256, 512, 1024}
                                    : std::vector<std::int64_t>{4, 8, 16, 32, 64};
    include(known->values, known->by_default);
  }

  void find_templates() {
    std::string passed;
    for (std::size_t i = 0; i < kernel_.templates.size(); ++i) {
      const Declaration& each = kernel_.templates[i];
      const Tokens given = launch_ && i < launch_->templates.size()
                               ? file_.instance(*launch_, launch_->templates[i])
                               : each.if_absent;
      std::string passed_type = type_name(file_.resolved(text_of(given)));
      static const std::regex kIndex("index|offset|^(int|size|count)", std::regex::icase);
      if (passed_type.empty() && std::regex_search(each.name, kIndex)) passed_type = "i32";
      const bool is_class = passed_type.empty() && given.size() == 1 && is_name(given[0]) &&
                            file_.words.contains(given[0]) && !types_.contains(given[0]);
      if (each.type == "typename" && is_class) {  // such as a layout: no type of elements
        passed += format("{}{}", passed.empty() ? "" : ", ", given[0]);
        continue;
      }
      if (each.type == "typename" && passed_type.find('x') != std::string::npos) {
        types_[each.name] = passed_type;  // settings have no vectors
        passed += format("{}{}", passed.empty() ? "" : ", ", text_of(given));
        continue;
      }
      if (each.type == "typename") {
        const std::string name = free_name(
            facts_.type_settings.empty() ? "dtype"
                                         : format("dtype{}", facts_.type_settings.size() + 1));
        facts_.type_settings.emplace_back(name, types_with(passed_type));
        types_[each.name] = name;
        passed += format("{}{{{}}}", passed.empty() ? "" : ", ", name);
        continue;
      }
      std::optional<std::int64_t> value =
          each.type == "bool" ? std::optional<std::int64_t>(0) : std::nullopt;
      if (given.size() == 1) {
        const std::string& text = given[0];
        if (text == "true" || text == "false") value = text == "true" ? 1 : 0;
        if (is_digit(text[0])) value = std::stoll(text);
        if (const auto known = file_.integer(text)) value = known;
        if (const auto own = host_value(text); own && is_number(*own)) value = std::stoll(*own);
      }
      const auto choices = file_.enumerations.find(each.type);
      const auto choice =
          given.empty() ? file_.enumerators.end() : file_.enumerators.find(given.back());
      if (choices != file_.enumerations.end()) {
        if (choice != file_.enumerators.end()) value = choice->second;
        add_parameter(each.name, value.value_or(choices->second.front()), choices->second, !value);
        passed += format("{}({}){{{}}}", passed.empty() ? "" : ", ", each.type, each.name);
        continue;
      }
      const bool is_block = is_of_blocks(each.name);
      // A choice of what is computed, and a 0 that stands for "at run time", are not tuned.
      const bool is_case = !is_flag(each.name) && (each.type == "bool" || value == 0);
      add_parameter(each.name, value.value_or(is_block ? default_block() : 1),
                    is_case               ? std::vector<std::int64_t>{value.value_or(0)}
                    : each.type == "bool" ? std::vector<std::int64_t>{0, 1}
                                          : std::vector<std::int64_t>{},
                    !value);
      passed += format("{}{{{}}}", passed.empty() ? "" : ", ", each.name);
    }
    if (kernel_.name != last_name()) facts_.entry = kernel_.name;
    if (!passed.empty()) facts_.entry = format("{}<{}>", kernel_.name, passed);
  }

  /// The type that the program passes, and one that it may be compared with.
  static std::vector<std::string> types_with(const std::string& type) {
    if (type.empty()) return {"f32", "f64"};
    if (is_integer_type(type)) return {type};
    return {type, type == "f32" ? "f64" : "f32"};
  }

  std::int64_t default_block() const { return threads_dimensions() > 1 ? 16 : 256; }
  int threads_dimensions() const {
    int most = 1;
    for (std::size_t i = 0; i + 2 < kernel_.body.size(); ++i) {
      if (kernel_.body[i] == "threadIdx") most = std::max(most, kernel_.body[i + 2][0] - 'x' + 1);
    }
    return most;
  }

  void find_constants() {
    const bool has_block = launch_ && launch_->configuration.size() > 1;
    const Words of_block = has_block ? host_.words_behind(launch_->configuration[1]) : Words();
    static const std::regex kWarp("warp_?size", std::regex::icase), kMost("max", std::regex::icase);
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
          (is_power_of_two(*number) || (is_choice && is_flag(name)))) {
        add_parameter(name, *number);
      }
    }
    find_undefined();
  }

  /// What kernels use and the source does not define: those who build it do, by -D.
  void find_undefined() {
    static const Words kKnown = {
        "INFINITY", "NAN",       "NULL",       "FLT_MAX",  "FLT_MIN",     "DBL_MAX",
        "DBL_MIN",  "INT_MAX",   "INT_MIN",    "UINT_MAX", "FLT_EPSILON", "DBL_EPSILON",
        "CHAR_BIT", "LLONG_MAX", "ULLONG_MAX", "RAND_MAX", "HUGE_VALF"};
    static const std::regex kStyle(
        "[A-Z][A-Z0-9_]+|(block|tile|grid|thread|work|use|loop|vector)_[a-z0-9_]+|.*_(per_thread|"
        "factor)(_[xyz])?");
    const auto is_free = [&](const std::string& name) {
      return std::regex_match(name, kStyle) && !kKnown.contains(name) &&
             !file_.constants.contains(name) && !file_.types.contains(name) &&
             !file_.enumerators.contains(name) && !file_.structs.contains(name) && !is_own(name) &&
             !parameter(name) && !name.starts_with("M_") && !name.starts_with("CUDA") &&
             !types_.contains(name) && !name.starts_with("WIN") && !name.starts_with("NDEBUG");
    };
    for (const Tokens& condition : file_.conditions) {
      for (std::size_t i = 0; i < condition.size(); ++i) {
        if (!is_free(condition[i]) ||
            (i > 0 && (condition[i - 1] == "defined" || condition[i - 1] == "(")))
          continue;
        std::vector<std::int64_t> values = compared_values(condition[i]);
        add_parameter(condition[i], values.front(), values, true);
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
  static bool is_declared(const Tokens& body, std::size_t at) {
    const auto is_declaration = [&](std::size_t i) {
      if (i == 0 || !is_in_identifier(body[i - 1].back())) return false;
      return body[i - 1] != "return" && !is_digit(body[i - 1][0]);
    };
    for (std::size_t i = 0; i < body.size(); ++i) {
      if (body[i] == body[at] && is_declaration(i)) return true;
    }
    return false;
  }
  /// 0 and what conditions compare a macro with.
  std::vector<std::int64_t> compared_values(const std::string& macro) const {
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
        if (sign == "==" && number == 1) values.insert(0);
        if (sign == ">" || sign == "!=") values.insert(number + 1);
        if (sign == ">=" || sign == "<") values.insert(std::max<std::int64_t>(number - 1, 0));
      }
    }
    return {values.begin(), values.end()};
  }

  /// The type that a `void*` is cast to: `(const block*)x`, `static_cast<const block*>(x)`.
  std::string cast_of(const std::string& name) const {
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
      if (!open.empty() && !type.empty() && std::ranges::all_of(type, is_name))
        return text_of(type);
    }
    return "";
  }
  std::string type_of(const Declaration& declaration) {
    std::string type = file_.resolved(declaration.type);
    if (type == "void" && declaration.pointers == 1) {
      const std::string cast = cast_of(declaration.name);
      if (cast.empty()) return "u8";
      type = file_.resolved(cast);
    }
    if (const auto setting = types_.find(type); setting != types_.end()) return setting->second;
    if (std::string name = type_name(type); !name.empty()) return name;
    const auto known = file_.structs.find(type);
    if (known == file_.structs.end()) {
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

  /// A number of one or two digits that the host's launch itself has for an argument.
  std::optional<std::string> small_number(const std::string& name) const {
    for (std::size_t i = 0; launch_ && i < kernel_.parameters.size(); ++i) {
      const Tokens& given = launch_->arguments[i];
      const bool is_small = given.size() == 1 && given[0].size() <= 2 && is_number(given[0]);
      if (kernel_.parameters[i].name == name && is_small) return given[0];
    }
    return std::nullopt;
  }

  bool is_texture(const Declaration& each) const {
    return each.pointers == 0 && file_.resolved(each.type) == "cudaTextureObject_t";
  }
  bool is_integer(const Declaration& each) {
    return each.pointers == 0 && !is_texture(each) && is_integer_type(type_of(each));
  }

  /// A texture of the sizes, as its first fetch `tex2D<float4>(name, x, y)` reads it.
  void find_texture(const Declaration& each) {
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
      made.dims.push_back(
          sizes_.empty() ? "N" : manifest_name(sizes_[std::min(axis, sizes_.size() - 1)]));
      length += (axis > 0 ? " * " : "") + made.dims.back();
    }
    facts_.buffers.push_back({.name = made.buffer, .type = type, .length = length});
    facts_.textures.push_back(std::move(made));
    facts_.are_lengths_known = false;
  }

  /// Whether an integer argument is a size: it ends a loop, or is a factor of an index.
  bool is_size(const Declaration& each) const {
    if (given_) return given_->sizes.contains(each.name);
    if (first_turn(each.name)) return false;
    if (names_a_size(each.name)) return true;
    if (small_number(each.name)) return false;
    const Tokens& body = kernel_.body;
    for (std::size_t i = 1; i + 1 < body.size(); ++i) {
      if (body[i] != each.name) continue;
      static const std::set<std::string> kBefore = {"<", "<=", ">=", "*", "%"};
      if (kBefore.contains(body[i - 1]) || body[i + 1] == "*") return true;
    }
    return false;
  }

  void find_sizes() {
    for (const Declaration& each : kernel_.parameters) {
      if (each.pointers > 1) {
        throw Error(
            format("{}:{}: {} takes {}, a pointer to pointers: a manifest passes none; give the "
                   "kernel one "
                   "array with an index",
                   file_name_, kernel_.line, kernel_.name, each.name));
      }
      if (!is_integer(each) || find_tile(each)) continue;
      if (is_size(each)) sizes_.push_back(each.name);
    }
    find_sizes_of_host();
    find_sizes_of_macros();
    find_computed();
  }

  /// The first value of the host's loop over launches, where its variable is passed for an
  /// argument.
  std::optional<std::string> first_turn(const std::string& name) const {
    for (std::size_t i = 0; launch_ && i < kernel_.parameters.size(); ++i) {
      const Tokens& given = launch_->arguments[i];
      if (kernel_.parameters[i].name == name && given.size() == 1)
        return host_.first_turn(given[0]);
    }
    return std::nullopt;
  }

  /// Integers of the host's function that the number of blocks depends on, whether the kernel gets
  /// them or not, and arguments that what it allocates depends on.
  void find_sizes_of_host() {
    if (!launch_ || given_) return;
    const Words of_grid = host_.words_behind(launch_->configuration[0]);
    const Words of_memory = host_.words_behind(host_.allocated());
    Words passed;
    for (std::size_t i = 0; i < kernel_.parameters.size(); ++i) {
      const Declaration& each = kernel_.parameters[i];
      const Tokens& given = launch_->arguments[i];
      passed.insert(given.begin(), given.end());
      const bool is_known = given.size() != 1 || is_size_name(each.name) || parameter(each.name);
      if (is_known || !is_integer(each)) continue;
      const bool is_counted = of_grid.contains(given[0]) || of_memory.contains(given[0]);
      if (is_counted && is_name(given[0]) && !file_.integer(given[0]) && !first_turn(each.name)) {
        sizes_.push_back(each.name);
      }
    }
    static const std::regex kOfBlocks("block|grid|thread|warp|stream|argc");
    std::vector<Declaration> all = launch_->parameters;
    const Tokens& code = launch_->function;
    for (std::size_t i = 0; i + 4 < code.size(); ++i) {  // int rows = atoi(argv[1]);
      const bool is_called = code[i + 2] == "=" && is_name(code[i + 3]) &&
                             (code[i + 4] == "(" || code[i + 4] == "." || code[i + 4] == "->");
      const bool divides = is_called && !manifest_function(code[i + 3]).empty();
      if (is_called && !divides && host_.has_dimension_of(code[i + 1], launch_->configuration[0]))
        all.push_back({.type = code[i], .name = code[i + 1]});
    }
    for (const Declaration& each : all) {
      const bool is_other = passed.contains(each.name) || is_own(each.name) || each.pointers > 0 ||
                            file_.names.contains(each.type + "*") ||
                            !is_integer_type(type_name(file_.resolved(each.type)));
      if (is_other || !of_grid.contains(each.name) ||
          std::regex_search(lowered(each.name), kOfBlocks)) {
        continue;
      }
      sizes_.push_back(each.name);
      sizes_of_host_.insert(each.name);
    }
  }

  /// Where no argument is a size, macros that end an index or a loop are.
  void find_sizes_of_macros() {
    constexpr std::int64_t kLeast = 32;
    if (!sizes_.empty() || given_) return;
    for (const auto& [name, value] : file_.constants) {
      const auto number = file_.integer(name);
      const bool is_candidate = number && *number >= kLeast && file_.is_literal(name) &&
                                !parameter(name) && !file_.of_headers.contains(name);
      if (is_candidate && contains(kernel_.body, name) && is_size({.name = name})) {
        sizes_.push_back(name);
      }
    }
    has_sizes_of_macros_ = !sizes_.empty();
  }

  /// An argument for which the host passes a constant of its own is a parameter.
  bool find_tile(const Declaration& each) {
    if (!launch_ || given_ || names_a_size(each.name)) return false;
    const auto index = static_cast<std::size_t>(&each - kernel_.parameters.data());
    const Tokens& given = launch_->arguments[index];
    const auto number = passed(index);
    const bool is_small = number && is_number(*number) && number->size() < 4 && *number != "1" &&
                          is_power_of_two(std::stoll(*number));
    if (given.size() != 1 || !is_name(given[0]) || !is_small ||
        host_.multiplies_in_length(given[0]))
      return false;
    add_parameter(each.name, std::stoll(*number));
    std::ranges::find(facts_.parameters, each.name, &Parameter::name)->is_passed = true;
    return true;
  }

  /// Integers that the host computes from sizes, such as a number of tiles, are none.
  void find_computed() {
    if (!launch_ || given_) return;
    for (std::size_t i = 0; i < kernel_.parameters.size(); ++i) {
      const Declaration& each = kernel_.parameters[i];
      if (!is_integer(each)) continue;
      const std::vector<std::string> before = sizes_;
      std::erase(sizes_, each.name);
      const auto value = host_text(true).value(in_numbers(launch_->arguments[i]));
      // One variable for two sizes may be a square; for a pitch, it is a matrix without gaps.
      static const std::regex kPitch("pitch|stride|^ld[a-z]?$", std::regex::icase);
      const bool is_other = value && !contains(before, value->text);
      if (value && value->sizes > 0 && (is_other || std::regex_search(each.name, kPitch))) {
        computed_.emplace(each.name, i);
      } else {
        sizes_ = before;
      }
    }
  }
  /// What the host passes for a parameter that it computes.
  std::optional<NamedInManifest> computed(const std::string& name, bool with_parameters) const {
    const auto value =
        host_text(with_parameters).value(in_numbers(launch_->arguments[computed_.at(name)]));
    if (!value) return std::nullopt;
    std::string text = value->text;
    if (value->offset != 0) {
      text += format(" {} {}", value->offset < 0 ? "-" : "+", std::abs(value->offset));
    }
    return NamedInManifest{text, true};
  }

  /// With the size of each type in place of `sizeof(type)`.
  Tokens in_numbers(Tokens tokens) const {
    for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
      if (tokens[i] != "sizeof" || tokens[i + 1] != "(") continue;
      const std::size_t end = closing(tokens, i + 1);
      const std::string type = type_name(file_.resolved(text_of(part_of(tokens, i + 2, end))));
      const auto element = element_type(type.substr(0, type.find('x')));
      if (!element) continue;
      const std::size_t width = type.find('x') == std::string::npos ? 1 : type.back() - '0';
      tokens[i] = std::to_string(static_cast<std::size_t>(bytes_of(*element)) * width);
      tokens.erase(tokens.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                   tokens.begin() + static_cast<std::ptrdiff_t>(std::min(end + 1, tokens.size())));
    }
    return tokens;
  }
  /// The host's function around the launch. Its names of arguments and of the block are the
  /// kernel's.
  KernelText host_text(bool with_parameters) const {
    return {with_block({.body = host_.tokens()},
                       launch_->configuration.size() > 1 ? launch_->configuration[1] : Tokens{}),
            [this, with_parameters](const std::string& word) -> std::optional<NamedInManifest> {
              for (std::size_t i = 0; i < launch_->arguments.size(); ++i) {
                const std::string& own = kernel_.parameters[i].name;
                if (is_size_name(own) && launch_->arguments[i] == Tokens{word}) {
                  return NamedInManifest{manifest_name(own), true};
                }
              }
              for (std::size_t i = 0; i < launch_->templates.size() && i < kernel_.templates.size();
                   ++i) {
                const std::string& own = kernel_.templates[i].name;
                if (launch_->templates[i] == Tokens{word} && parameter(own))
                  return name_in(own, with_parameters);
              }
              // Others of the names of kernel parameters are the host's own.
              const bool is_foreign = is_size_name(word) && !sizes_of_host_.contains(word);
              if (is_foreign || computed_.contains(word)) return std::nullopt;
              if (const auto known = name_in(word, with_parameters)) return known;
              if (const auto turn = host_.first_turn(word)) return NamedInManifest{*turn};
              if (word != host_block()) return std::nullopt;
              return block_.empty() ? NamedInManifest{"BLOCK"}
                                    : name_in(block_[0], with_parameters);
            }};
  }
  /// The host's variable for the number of threads, if that is all it says of them.
  std::string host_block() const {
    if (launch_->configuration.size() < 2 || launch_->configuration[1].size() != 1) return "";
    const std::string& word = launch_->configuration[1][0];
    const bool is_free = is_name(word) && !host_.sets(word) && !name_in(word, true);
    return is_free && threads_dimensions() == 1 ? word : "";
  }
  std::optional<NamedInManifest> name_in(const std::string& word, bool with_parameters,
                                         int depth = 0) const {
    if (is_size_name(word)) return NamedInManifest{manifest_name(word), true};
    if (const auto turn = first_turn(word)) return NamedInManifest{*turn};
    if (const auto number = small_number(word)) return NamedInManifest{*number};
    if (computed_.contains(word)) {
      auto value = computed(word, with_parameters);
      if (value && value->text.find(' ') != std::string::npos)
        value->text = "(" + value->text + ")";
      return value;
    }
    if (const Parameter* const known = parameter(word)) {
      return NamedInManifest{with_parameters ? word : std::to_string(known->by_default)};
    }
    if (auto value = expanded(word, with_parameters, depth)) return value;
    if (const auto number = file_.integer(word)) return NamedInManifest{std::to_string(*number)};
    return std::nullopt;
  }
  /// A macro of sizes and parameters.
  std::optional<NamedInManifest> expanded(const std::string& word, bool with_parameters,
                                          int depth) const {
    constexpr int kDeepest = 8;
    const auto macro = file_.constants.find(word);
    if (macro == file_.constants.end() || macro->second.size() < 2 || depth > kDeepest) {
      return std::nullopt;
    }
    NamedInManifest all;
    bool has_names = false;
    for (const std::string& each : macro->second) {
      const auto part = is_name(each) ? name_in(each, with_parameters, depth + 1)
                                      : std::optional<NamedInManifest>();
      if (is_name(each) && !part) return std::nullopt;
      const auto number = integer_of(each);
      const bool is_operator = each.find_first_not_of("+-*/%()") == std::string::npos;
      if (!part && !number && !is_operator) return std::nullopt;
      if (part) all.is_size = all.is_size || part->is_size;
      has_names = has_names || (part && !is_number(part->text));
      const std::string text = part ? part->text : number ? std::to_string(*number) : each;
      const bool is_spaced = is_operator && each != "(" && each != ")";
      all.text += is_spaced ? " " + text + " " : text;
    }
    if (!has_names) return std::nullopt;
    if (!all.text.starts_with('(')) all.text = "(" + all.text + ")";
    return all;
  }
  /// With the block's sizes in place of what code calls them, as far as they are known.
  KernelCode with_block(KernelCode code, const Tokens& name) const {
    for (std::size_t i = 0; i + 2 < code.body.size(); ++i) {
      if (name != Tokens{code.body[i]} || code.body[i + 1] != ".") continue;
      const auto axis = static_cast<std::size_t>(code.body[i + 2][0] - 'x');
      const bool is_set = i + 3 < code.body.size() && code.body[i + 3] == "=";
      if (is_set || axis >= block_.size() || block_[axis].empty()) continue;
      code.body[i] = block_[axis];
      code.body.erase(code.body.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                      code.body.begin() + static_cast<std::ptrdiff_t>(i) + 3);
    }
    return code;
  }
  KernelText text_with(bool with_parameters) const {
    KernelCode code = with_block(kernel_, {"blockDim"});
    for (std::size_t i = 0; i + 2 < code.body.size(); ++i) {
      const bool is_grid = code.body[i] == "gridDim" && code.body[i + 1] == ".";
      const auto axis = static_cast<std::size_t>(code.body[i + 2][0] - 'x');
      if (!is_grid || axis >= grid_.size() || !is_size_name(grid_[axis])) continue;
      code.body[i] = grid_[axis];
      code.body.erase(code.body.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                      code.body.begin() + static_cast<std::ptrdiff_t>(i) + 3);
    }
    for (std::size_t i = 0; i + 2 < code.body.size(); ++i) {
      if (code.body[i] != "blockDim") continue;
      code.body.erase(code.body.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                      code.body.begin() + static_cast<std::ptrdiff_t>(i) + 3);
    }
    return {code,
            [this, with_parameters](const std::string& word) -> std::optional<NamedInManifest> {
              if (!word.starts_with("blockIdx.")) return name_in(word, with_parameters);
              const auto axis = static_cast<std::size_t>(word[9] - 'x');
              if (axis >= grid_.size()) return std::nullopt;
              if (word.size() > 10) return spread_over(grid_[axis], word.substr(11));
              const std::vector<Tokens> factors = split_tokens(tokens_of(grid_[axis]), "*");
              const bool is_product = std::ranges::all_of(factors, [&](const Tokens& each) {
                return each.size() == 1 && (is_size_name(each[0]) || is_number(each[0]));
              });
              if (!is_product) return std::nullopt;
              return NamedInManifest{factors.size() == 1 ? grid_[axis] : "(" + grid_[axis] + ")",
                                     true};  // a block for each
            }};
  }

  /// What blocks of so many elements each go over: `n`, if there are `ceil_div(n, step)` of them.
  std::optional<NamedInManifest> spread_over(const std::string& blocks,
                                             const std::string& step) const {
    std::string counted = blocks;
    for (const Parameter& each : facts_.parameters) {
      const std::regex word("\\b" + each.name + "\\b");
      if (is_number(step)) {
        counted = std::regex_replace(counted, word, std::to_string(each.by_default));
      }
    }
    for (const std::string& each : sizes_) {
      const std::string size = manifest_name(each);
      const std::vector<std::string> ways = {
          format("ceil_div({}, {})", size, step), format("{} / {}", size, step),
          format("{} / ({})", size, step), format("({} + {} - 1) / {}", size, step, step)};
      if (contains(ways, counted)) return NamedInManifest{size, true};
    }
    return std::nullopt;
  }

  /// The dimensions of a dim3 or an int of the host's code.
  std::vector<std::string> host_dimensions(std::size_t which) const {
    if (!launch_ || launch_->configuration.size() <= which) return {};
    if (which == 1 && !host_block().empty()) return {};
    const KernelText shape = host_text(true);
    std::vector<std::string> texts;
    for (const Tokens& each : host_.dimensions(in_numbers(launch_->configuration[which]))) {
      const Tokens block = launch_->configuration.size() > 1 ? launch_->configuration[1] : Tokens{};
      const auto value = shape.value(with_block({.body = each}, block).body);
      if (!value) return {};
      std::string text = value->text;
      if (value->offset != 0)
        text += format(" {} {}", value->offset < 0 ? "-" : "+", std::abs(value->offset));
      static const std::regex kNothing("\\((\\w+) - 0\\)");  // of the first turn of a loop
      text = std::regex_replace(text, kNothing, "$1");
      const bool is_constant = text.find_first_not_of("0123456789+-*/%() ") == std::string::npos;
      if (is_constant && !is_number(text)) {
        text = std::to_string(Scope().evaluate(Expression::parse(text)));
      }
      texts.push_back(std::move(text));
    }
    return texts;
  }

  void find_block() {
    const int dimensions = threads_dimensions();
    const std::vector<std::string> by_host = host_dimensions(1);
    const bool is_literal = std::ranges::all_of(by_host, is_number);
    const bool has_dim = contains(kernel_.body, "blockDim");
    if (!by_host.empty() && (!is_literal || shares_constant(1))) {
      block_ = by_host;
      return mark_block();
    }
    is_block_of_host_ = by_host.empty();  // numbers become parameters, which a grid must follow
    static constexpr std::string_view kAxes = "xyz";
    block_.resize(static_cast<std::size_t>(dimensions));
    const KernelText own = text_with(true);
    for (int axis = 0; axis < dimensions; ++axis) {
      std::string& size = block_[static_cast<std::size_t>(axis)];
      const char letter = kAxes[static_cast<std::size_t>(axis)];
      for (const Parameter& each : facts_.parameters) {
        const std::string lower = lowered(each.name);
        const bool is_axis = lower.ends_with(std::string("_") + letter) ||
                             lower.ends_with(std::string("dim") + letter) ||
                             lower == std::string("b") + letter ||
                             lower == (letter == 'x' ? "mdimc" : "ndimc");  // as in CLBlast
        if (is_of_blocks(each.name) && is_axis && size.empty()) size = each.name;
      }
      if (!size.empty()) continue;
      if (dimensions == 1 && !has_dim && kernel_.launch_bound.size() == 1 &&
          name_or_number(kernel_.launch_bound[0])) {
        size = kernel_.launch_bound[0];
        continue;
      }
      const auto advance = own.advance(letter);
      if (advance && !contains(*advance, "blockDim")) {
        for (const std::string& word : *advance) {
          if (parameter(word) && is_of_blocks(word)) size = word;
        }
        for (const std::string& word : *advance) {
          if (size.empty() && name_or_number(word)) size = word;
        }
      }
      if (size.empty() && !has_dim) {
        for (const Parameter& each : facts_.parameters) {
          if (is_of_blocks(each.name) && size.empty()) size = each.name;
        }
      }
      const bool has_literal = is_literal && static_cast<std::size_t>(axis) < by_host.size();
      for (const Parameter& each : facts_.parameters) {
        const bool is_passed =
            has_literal && is_of_blocks(each.name) &&
            std::to_string(each.by_default) == by_host[static_cast<std::size_t>(axis)];
        if (size.empty() && dimensions == 1 && is_passed) size = each.name;
      }
      if (size.empty() && has_literal && !has_dim) size = by_host[static_cast<std::size_t>(axis)];
      if (!size.empty()) continue;
      size = free_name(dimensions == 1
                           ? "BLOCK"
                           : std::string("BLOCK_") + static_cast<char>(std::toupper(letter)));
      std::int64_t by_default = dimensions == 1 ? default_threads() : axis < 2 ? 16 : 1;
      if (has_literal) {
        by_default = std::stoll(by_host[static_cast<std::size_t>(axis)]);
      } else if (!has_dim) {
        facts_.is_launch_known = false;
      }
      add_parameter(size, by_default, {by_default});
      bound_by_launch(size, dimensions, by_default);
    }
    mark_block();
    is_block_of_host_ = is_block_of_host_ || block_ == by_host;
    for (const auto& [name, most] : most_threads_) {
      auto& values = std::ranges::find(facts_.parameters, name, &Parameter::name)->values;
      std::erase_if(values, [most = most](std::int64_t each) { return each > most; });
    }
  }
  /// `__launch_bounds__(128)` is the most threads of a block.
  void bound_by_launch(const std::string& name, int dimensions, std::int64_t by_default) {
    const auto most =
        kernel_.launch_bound.size() == 1 ? integer_of(kernel_.launch_bound[0]) : std::nullopt;
    if (dimensions == 1 && most && *most >= by_default) most_threads_[name] = *most;
  }
  std::int64_t default_threads() const {
    const auto most =
        kernel_.launch_bound.size() == 1 ? integer_of(kernel_.launch_bound[0]) : std::nullopt;
    return most ? std::min<std::int64_t>(*most, 256) : 256;
  }
  bool name_or_number(const std::string& word) const {
    return parameter(word) || file_.integer(word) || (is_digit(word[0]) && word != "1");
  }
  void mark_block() {
    const auto own = static_cast<std::size_t>(threads_dimensions());
    for (std::size_t axis = 0; axis < block_.size(); ++axis) {
      std::string& each = block_[axis];
      set_block_values(each, static_cast<int>(std::min(block_.size(), own)));
      const auto known = std::ranges::find(facts_.parameters, each, &Parameter::name);
      if (axis >= own && known != facts_.parameters.end()) {
        known->values = {known->by_default};  // more would compute the same again
      }
      if (const auto number = parameter(each) ? std::nullopt : file_.integer(each))
        each = std::to_string(*number);
    }
  }

  /// Without the sizes among the factors, which are strides. They are added to `strides`.
  std::string step_of(const std::optional<Tokens>& advance, const KernelText& own,
                      Words& strides) const {
    if (!advance) return "";
    Tokens rest;
    for (const Tokens& factor : split_tokens(*advance, "*")) {
      const bool is_stride = factor.size() == 1 && is_size_name(factor[0]);
      if (is_stride) {
        strides.insert(factor[0]);
        continue;
      }
      if (!rest.empty()) rest.emplace_back("*");
      rest.insert(rest.end(), factor.begin(), factor.end());
    }
    if (rest.empty()) return "1";
    const auto value = own.value(rest);
    return value ? value->text : "";
  }
  bool is_size_name(const std::string& word) const { return contains(sizes_, word); }
  /// The size that is the length of an output's rows, by the factors of its index.
  std::string row_size(const KernelText& own) const {
    for (const Declaration& each : kernel_.parameters) {
      if (each.pointers == 0 || each.is_const) continue;
      for (const Tokens& index : own.use_of(each.name).indices) {
        for (std::size_t i = 0; i + 1 < index.size(); ++i) {
          if (is_size_name(index[i]) && index[i + 1] == "*") return index[i];
          if (is_size_name(index[i + 1]) && index[i] == "*") return index[i + 1];
        }
      }
    }
    return "";
  }

  /// Whether the launch's grid (0) or block (1) has a constant of the source that the kernel has,
  /// too.
  bool shares_constant(std::size_t which) const {
    if (!launch_ || launch_->configuration.size() <= which) return false;
    const Words behind = host_.words_behind(launch_->configuration[which]);
    return std::ranges::any_of(behind, [&](const std::string& each) {
      return file_.constants.contains(each) && used_.contains(each);
    });
  }

  void find_grid() {
    grid_ = host_dimensions(0);
    // By a number of threads, or of elements for a block.
    static const std::regex kOfThreads("(/|,) [0-9]|\\b[0-9]{2,}");
    const bool is_of_block = std::ranges::any_of(
        grid_, [](const std::string& each) { return std::regex_search(each, kOfThreads); });
    // Unless it is the same for all sizes, and the kernel has it, too.
    const bool is_meant = std::ranges::all_of(grid_, is_number) &&
                          (contains(kernel_.body, "gridDim") || shares_constant(0));
    if (!is_block_of_host_ && is_of_block && !is_meant) grid_.clear();
    static const std::regex kOfNumbers("(ceil_div\\()?[0-9].*");
    const bool is_literal = std::ranges::any_of(grid_, [&](const std::string& each) {
      const bool is_sized = std::ranges::any_of(sizes_, [&](const std::string& size) {
        return std::regex_search(each, std::regex("\\b" + manifest_name(size) + "\\b"));
      });
      return each != "1" && !is_sized && std::regex_match(each, kOfNumbers);
    });
    const KernelText own = text_with(true);
    const auto dimensions = static_cast<std::size_t>(std::max(1, own.dimensions("blockIdx")));
    // A number of blocks that depends on no size was for one size.
    if (!grid_.empty() && (!is_literal || is_meant) && grid_.size() >= dimensions) {
      return divide_evenly();
    }
    grid_.assign(dimensions, "");
    if (is_cooperative()) {
      facts_.is_launch_known = false;
      std::ranges::fill(grid_, "1");
      grid_[0] = "device.multiprocessors";
      return;
    }
    std::string of_rows;
    for (std::size_t axis = 0; axis < dimensions; ++axis) {
      const char letter = "xyz"[axis];
      Words strides;
      const std::optional<Tokens> advance = own.advance(letter);
      if (advance && contains(*advance, "gridDim")) {
        grid_[axis] = "1";  // one long row of blocks
        continue;
      }
      std::string step = step_of(advance, own, strides);
      if (step.find('-') != std::string::npos) step.clear();  // it may be 0
      if (step.empty()) step = axis < block_.size() ? block_[axis] : "1";
      if (const auto end = own.end(letter)) {
        grid_[axis] = step == "1" ? end->length() : format("ceil_div({}, {})", end->length(), step);
        continue;
      }
      facts_.is_launch_known = false;
      const auto fits = [&](const std::string& size) {
        return !strides.contains(size) && size != of_rows;
      };
      std::string size = axis == 0 && dimensions > 1 ? row_size(own) : "";
      for (const std::string& each : sizes_) {
        if (size.empty() && fits(each)) size = each;
      }
      for (const std::string& each : sizes_) {
        if (size.empty() && each != of_rows) size = each;
      }
      if (axis == 0) of_rows = size;
      if (size.empty() && !sizes_.empty()) size = sizes_.back();
      size = size.empty() ? "N" : manifest_name(size);
      if (step.find(' ') != std::string::npos) step = "(" + step + ")";
      grid_[axis] = step == "1" ? size : format("{} / {}", size, step);
      if (step != "1") facts_.constraints.push_back(format("{} % {} == 0", size, step));
    }
  }

  /// Where the host rounds a number of blocks down, it has no rest.
  void divide_evenly() {
    static const std::regex kQuotient("([A-Za-z0-9_ *]+) / (\\([^()]*\\)|[A-Za-z0-9_]+)");
    std::smatch parts;
    for (const std::string& each : grid_) {
      if (!std::regex_match(each, parts, kQuotient)) continue;
      const std::string product = parts[1].str();
      const bool has_one = product.find(' ') == std::string::npos;
      facts_.constraints.push_back(
          format("{} % {} == 0", has_one ? product : "(" + product + ")", parts[2].str()));
    }
  }

  void find_buffers() {
    const KernelText own = text_with(false);
    const auto loop = own.loop();
    facts_.are_lengths_known = !sizes_.empty();
    std::map<std::string, std::string> lengths;
    for (const Declaration& each : kernel_.parameters) {
      if (each.pointers == 0) continue;
      const bool were_known = facts_.are_lengths_known;
      lengths[each.name] = length_of(own, own.use_of(each.name));
      const bool is_guessed = were_known && !facts_.are_lengths_known;
      const std::string allocated =
          is_guessed || !were_known ? allocated_length(each) : std::string();
      if (allocated.empty()) continue;
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
        buffer.role =
            use.is_read || corrections_.in_part.contains(buffer.name) ? "inout" : "output";
        buffer.is_zero = use.is_atomic;
        buffer.is_positive = corrections_.is_positive && buffer.role == "inout" &&
                             !buffer.is_zero && !is_integer_type(buffer.type);
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
      Tokens all = {"("};
      all.insert(all.end(), each.length.begin(), each.length.end());
      all.emplace_back(")");
      for (const Tokens& row : each.rows) {
        all.insert(all.end(), {"*", "("});
        all.insert(all.end(), row.begin(), row.end());
        all.emplace_back(")");
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
  /// The elements that the host allocates for a buffer; empty if its code does not say so.
  std::string allocated_length(const Declaration& buffer) const {
    if (!launch_) return "";
    const auto index = static_cast<std::size_t>(&buffer - kernel_.parameters.data());
    const Tokens& given = launch_->arguments[index];
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
      elements.insert(elements.end(), factor.begin(), factor.end());
    }
    const auto value = has_type ? host_text(false).value(elements) : std::nullopt;
    return value && value->sizes > 0 ? value->length() : "";
  }
  /// The number of entries of a sparse matrix or a graph, for a buffer that one number indexes.
  std::string size_of_entries(const BufferUse& use) const {
    const bool is_flat =
        std::ranges::all_of(use.indices, [](const Tokens& index) { return index.size() == 1; });
    for (const std::string& each : sizes_) {
      if (is_flat && names_entries(each)) return manifest_name(each);
    }
    return "";
  }
  bool names_a_buffer(const BufferUse& use) const {
    return std::ranges::any_of(use.indices, [&](const Tokens& index) {
      return std::ranges::any_of(kernel_.parameters, [&](const Declaration& each) {
        return each.pointers > 0 && free_names(index).contains(each.name);
      });
    });
  }
  /// Whether the kernel multiplies by a size, as for the rows of a square matrix.
  bool multiplies(const std::string& size) const {
    const Tokens& body = kernel_.body;
    for (std::size_t i = 1; i + 1 < body.size(); ++i) {
      if (body[i] == size && (body[i - 1] == "*" || body[i + 1] == "*")) return true;
    }
    return false;
  }
  /// The elements of a buffer, by the longest of its indices.
  std::string length_of(const KernelText& own, const BufferUse& use) {
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
  /// The buffer that elements of this one are indices of; empty if there is none.
  std::string indexed_by(const KernelText& own, const Declaration& buffer) {
    const auto members = file_.structs.find(file_.resolved(buffer.type));
    const bool is_struct = members != file_.structs.end();
    const bool has_integers =
        is_struct ? std::ranges::all_of(
                        members->second,
                        [&](const Declaration& each) { return is_integer_type(type_of(each)); })
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
  /// Replaces parameters by their defaults, which become their only values.
  void pin_parameters_in(std::string& text) {
    for (Parameter& each : facts_.parameters) {
      const std::regex word("\\b" + each.name + "\\b");
      if (!std::regex_search(text, word)) continue;
      text = std::regex_replace(text, word, std::to_string(each.by_default));
      each.values = {each.by_default};
    }
  }

  /// The word that the host's function around the launch sets a variable to.
  std::optional<std::string> host_value(const std::string& variable) const {
    if (!launch_) return std::nullopt;
    const Tokens& code = launch_->function;
    std::optional<std::string> last;
    for (std::size_t i = 0; i + 3 < code.size(); ++i) {
      const bool is_set = code[i] == variable && code[i + 1] == "=";
      if (is_set && (code[i + 3] == ";" || code[i + 3] == ",")) last = code[i + 2];
    }
    return last;
  }
  /// The value that the host's code passes, if it is a number.
  std::optional<std::string> passed(std::size_t index) const {
    if (!launch_) return std::nullopt;
    static const std::regex kNumber("-?[0-9]+(\\.[0-9]*)?(e-?[0-9]+)?[fFuUlL]*");
    const Tokens& given = launch_->arguments[index];
    std::string text = text_of(given);
    if (given.size() == 1) text = host_value(given[0]).value_or(text);
    if (const auto known = file_.constants.find(text); known != file_.constants.end()) {
      text = text_of(known->second);
    }
    if (const auto known = file_.enumerators.find(text.substr(text.rfind(':') + 1));
        known != file_.enumerators.end()) {
      text = std::to_string(known->second);
    }
    if (!std::regex_match(text, kNumber)) return std::nullopt;
    text.resize(text.find_last_not_of("fFuUlL") + 1);
    if (text.ends_with('.')) text += '0';
    return text;
  }

  void find_scalars() {
    for (std::size_t i = 0; i < kernel_.parameters.size(); ++i) {
      const Declaration& each = kernel_.parameters[i];
      const bool is_expression =
          is_size_name(each.name) || computed_.contains(each.name) || parameter(each.name);
      if (each.pointers > 0 || is_expression || is_texture(each)) continue;
      const std::string type = type_of(each);
      const auto given = passed(i);
      std::string value = given.value_or("1");
      if (const auto x = type.rfind('x'); x != std::string::npos && x + 2 == type.size()) {
        value = type.back() == '2' ? "[1, 1]" : type.back() == '3' ? "[1, 1, 1]" : "[1, 1, 1, 1]";
      } else if (file_.structs.contains(type)) {
        value = ones_of(type);
      }
      facts_.scalars.push_back({manifest_name(each.name), type, value, !given});
    }
  }

  /// The value of a struct whose numbers are all 1.
  std::string ones_of(const std::string& type) {
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
  static std::string list_of(const std::vector<std::string>& all) {
    return "[" + joined(all, ", ") + "]";
  }

  void find_dynamic_shared() {
    const Tokens& body = kernel_.body;
    const auto is_extern = std::ranges::find(body, "extern");
    if (is_extern == body.end() && (!launch_ || launch_->configuration.size() < 3)) return;
    if (const auto by_host = host_dimensions(2); by_host.size() == 1) {
      if (by_host[0] != "0") facts_.dynamic_shared_bytes = by_host[0];
      return;
    }
    std::string type = "f32";
    for (auto at = is_extern; at != body.end() && *at != "["; ++at) {
      if (const std::string known = type_name(file_.resolved(*at)); !known.empty()) type = known;
    }
    const auto element = element_type(type);
    facts_.dynamic_shared_bytes =
        format("{} * {}", element ? bytes_of(*element) : 4, joined(block_, " * "));
    facts_.is_launch_known = false;
  }

  /// A kernel with the same parameters and a name that says so, in its own default configuration.
  void find_plain_reference() {
    const auto is_same = [](const Declaration& a, const Declaration& b) {
      return a.name == b.name && a.type == b.type && a.pointers == b.pointers;
    };
    if (is_plain(kernel_.name)) return;
    for (const KernelCode& other : file_.kernels) {
      const bool is_alike = is_plain(other.name) && other.templates.empty() &&
                            std::ranges::equal(other.parameters, kernel_.parameters, is_same);
      if (!is_alike) continue;
      FactReader plain(file_, other, file_name_, corrections_);
      plain.find_launch();
      if (!plain.facts_.is_launch_known) continue;
      for (auto* const all : {&plain.facts_.launch.grid, &plain.facts_.launch.block}) {
        for (std::string& each : *all) plain.pin_parameters_in(each);
      }
      facts_.reference = std::move(plain.facts_.launch);
      return;
    }
  }

  KernelFacts::Struct struct_of(const std::string& type) {
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

  const KernelFile& file_;
  const KernelCode& kernel_;
  const std::string& file_name_;
  const Corrections& corrections_;
  const GivenArguments* const given_;
  const LaunchInSource* launch_ = nullptr;

  KernelFacts facts_;
  std::vector<std::string> sizes_;  // as in the source
  std::vector<std::string> block_, grid_, used_structs_;
  std::map<std::string, std::size_t> computed_;  // integers that the host computes from sizes
  HostCode host_;                                // the host's function around the launch
  std::map<std::string, std::string> types_;     // of parameters of templates: settings
  bool is_block_of_host_ = true;
  bool has_sizes_of_macros_ = false;
  Words sizes_of_host_;                               // which the kernel does not get
  std::map<std::string, std::int64_t> most_threads_;  // of parameters for blocks
  Words used_;                                        // by the kernel
};

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
    names[kernel.parameters[i].name] = given.launched[i];
    kernel.parameters[i].name = given.launched[i];
  }
  for (std::string& word : kernel.body) {
    if (const auto known = names.find(word); known != names.end()) word = known->second;
  }
  return kernel;
}

/// Puts `u[(y) * (NX) + (x)]` in place of `u[y][x]`.
void flatten(Tokens& body, const Declaration& array) {
  for (std::size_t i = 0; !array.rows.empty() && i + 1 < body.size(); ++i) {
    if (body[i] != array.name || body[i + 1] != "[") continue;
    std::size_t end = closing(body, i + 1);
    Tokens index = part_of(body, i + 2, end);
    const auto append = [&](const Tokens& more) {
      index.insert(index.end(), more.begin(), more.end());
    };
    const auto enclose = [&] {
      index.insert(index.begin(), "(");
      index.emplace_back(")");
    };
    std::size_t left = array.rows.size();
    for (; left > 0 && end + 1 < body.size() && body[end + 1] == "["; --left) {
      enclose();
      append({"*", "("});
      append(array.rows[array.rows.size() - left]);
      append({")", "+", "("});
      const std::size_t open = end + 1;
      end = closing(body, open);
      append(part_of(body, open + 1, end));
      append({")"});
    }
    if (left > 0) continue;  // a row is passed on
    Tokens made = part_of(body, 0, i + 2);
    const std::size_t next = made.size() + index.size();
    made.insert(made.end(), index.begin(), index.end());
    made.insert(made.end(), body.begin() + static_cast<std::ptrdiff_t>(end), body.end());
    body = std::move(made);
    i = next;
  }
}

}  // namespace

KernelFacts kernel_facts(const KernelFile& file, const KernelCode& kernel,
                         const std::string& file_name, const Corrections& corrections,
                         const GivenArguments* given) {
  KernelCode named = given ? renamed(kernel, *given, file_name) : kernel;
  for (const Declaration& each : named.parameters) flatten(named.body, each);
  for (const Declaration& each : file.constant_arrays) flatten(named.body, each);
  return FactReader(file, named, file_name, corrections, given).facts();
}

}  // namespace autotune
