// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <bit>
#include <regex>
#include <set>

#include "tuner/target/fact_reader.hpp"
#include "tuner/target/usual_names.hpp"
#include "tuner/text/format.hpp"
#include "tuner/text/strings.hpp"

namespace autotune {

bool FactReader::is_size(const Declaration& each) const {
  if (given_) return given_->sizes.contains(each.name);
  if (first_turn(each.name) || is_radius(each.name)) return false;
  if (small_number(each.name) && has_passed_variable()) return false;
  if (names_a_size(each.name)) return true;
  if (small_number(each.name)) return false;
  const Tokens& body = kernel_.body;
  for (std::size_t i = 1; i + 1 < body.size(); ++i) {
    if (body[i] != each.name) continue;
    std::size_t before = i - 1, behind = i + 1;  // also of `i < (n)`, as macros have it
    for (; before > 0 && behind + 1 < body.size() && body[before] == "(" && body[behind] == ")";
         --before, ++behind) {
    }
    static const std::set<std::string> kBefore = {"<", "<=", ">=", "*", "%"};
    if (kBefore.contains(body[before]) || body[behind] == "*") return true;
  }
  return false;
}

void FactReader::find_sizes() {
  for (const Declaration& each : kernel_.parameters) {
    if (each.pointers > 1) {
      refuse(format(
          "takes {}, a pointer to pointers: a manifest passes none; give the kernel one array "
          "with an index",
          each.name));
    }
    if (!is_integer(each) || find_tile(each)) continue;
    if (is_size(each) && !is_size_name(each.name)) sizes_.push_back(each.name);
  }
  find_sizes_of_host();
  find_sizes_of_macros();
  find_computed();
}

void FactReader::find_sizes_of_host() {
  if (!launch_) return;
  const Words of_grid = host_.words_behind(launch_->configuration[0]);
  for (const std::string& each : given_ ? given_->sizes : std::set<std::string>{}) {
    if (!of_grid.contains(each) || is_size_name(each)) continue;
    sizes_.push_back(each);
    sizes_of_host_.insert(each);
  }
  if (given_) return;
  const Words of_block = host_.words_behind(block_of_host());
  const Words of_memory = host_.words_behind(host_.allocated());
  Words passed;
  for (const Declaration& each : kernel_.parameters) {
    const Tokens given = passed_for(each.name);
    if (given.size() == 1) passed.insert(given[0]);
    const bool is_known = given.size() != 1 || is_size_name(each.name) || parameter(each.name) ||
                          small_number(each.name);
    if (is_known || !is_integer(each)) continue;
    const bool is_counted = of_grid.contains(given[0]) || of_memory.contains(given[0]);
    if (is_counted && is_name(given[0]) && !file_.integer(given[0]) && !first_turn(each.name)) {
      sizes_.push_back(each.name);
    }
  }
  static const std::regex kOfBlocks("block|grid|thread|warp|stream|argc");
  std::vector<Declaration> all = launch_->parameters;
  const Tokens& code = launch_->function;
  const auto shape = host_.dimensions(launch_->configuration[0]);
  for (std::size_t i = 0; i + 4 < code.size(); ++i) {  // int rows = atoi(argv[1]);
    const bool is_set = code[i + 2] == "=";
    const bool is_number_of_many =  // int rows = 400; which memory is allocated for
        is_set && is_number(code[i + 3]) && host_.multiplies_in_length(code[i + 1]);
    const bool is_called = is_set && is_name(code[i + 3]) &&
                           manifest_function(code[i + 3]).empty() &&
                           (code[i + 4] == "(" || code[i + 4] == "." || code[i + 4] == "->");
    const auto has_it = [&](const Tokens& each) { return contains(each, code[i + 1]); };
    if ((is_number_of_many || is_called) && std::ranges::any_of(shape, has_it))
      all.push_back(
          {.type = code[i] == "," || code[i] == "auto" ? "int" : code[i], .name = code[i + 1]});
  }
  for (const Declaration& each : all) {
    const bool is_other = passed.contains(each.name) || is_own(each.name) || each.pointers > 0 ||
                          file_.names.contains(each.type + "*") ||
                          !is_integer_type(type_name(file_.resolved(each.type)));
    if (is_other || !of_grid.contains(each.name) || of_block.contains(each.name) ||
        std::regex_search(lowered(each.name), kOfBlocks)) {
      continue;
    }
    sizes_.push_back(each.name);
    sizes_of_host_.insert(each.name);
  }
}

void FactReader::find_sizes_of_macros() {
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

bool FactReader::find_tile(const Declaration& each) {
  if (!launch_ || given_ || names_a_size(each.name)) return false;
  const Tokens given = passed_for(each.name);
  const auto number = passed(each.name);
  const bool is_small = number && is_number(*number) && number->size() < 4 && *number != "1" &&
                        std::has_single_bit(std::stoull(*number));
  if (given.size() != 1 || !is_name(given[0]) || !is_small || host_.multiplies_in_length(given[0]))
    return false;
  add_parameter(each.name, std::stoll(*number));
  parameter(each.name)->is_passed = true;
  return true;
}

void FactReader::find_computed() {
  for (const Declaration& each : kernel_.parameters) {
    const std::string expression = given_expression(each.name);
    const bool is_stride = !stride_of_bytes(each.name).empty();
    if (is_stride) std::erase(sizes_, each.name);
    if (is_stride || !expression.empty()) computed_.insert(each.name);
    for (const std::string& word : words_of(expression)) {
      if (given_->sizes.contains(word) && !is_size_name(word)) sizes_.push_back(word);
    }
  }
  if (!launch_ || given_) return;
  for (const Declaration& each : kernel_.parameters) {
    if (!is_integer(each)) continue;
    const std::vector<std::string> before = sizes_;
    std::erase(sizes_, each.name);
    const auto value = host_text(true).value(in_numbers(passed_for(each.name)));
    // One variable for two sizes may be a square; for a pitch, it is a matrix without gaps.
    static const std::regex kPitch("pitch|stride|^ld[a-z]?$", std::regex::icase);
    const bool is_other = value && !contains(before, value->text);
    if (value && value->sizes > 0 && (is_other || std::regex_search(each.name, kPitch))) {
      computed_.insert(each.name);
    } else {
      sizes_ = before;
    }
  }
}

void FactReader::find_assertions() {
  const Tokens& body = kernel_.body;
  for (std::size_t i = 0; i + 7 < body.size(); ++i) {
    const bool is_divided = body[i] == "assert" && body[i + 3] == "%" && body[i + 5] == "==" &&
                            body[i + 6] == "0" && body[i + 7] == ")";
    if (!is_divided || !is_size_name(body[i + 2])) continue;
    const auto by = name_in(body[i + 4], true);
    if (!by && !is_number(body[i + 4])) continue;
    facts_.constraints.push_back(
        format("{} % {} == 0", manifest_name(body[i + 2]), by ? by->text : body[i + 4]));
  }
}

void FactReader::find_vectors() {
  const Tokens& body = kernel_.body;
  bool casts = contains(body, "reinterpret_cast");
  for (std::size_t i = 2; i + 1 < body.size() && !casts; ++i) {  // (const float4*)x
    casts = body[i] == "*" && body[i + 1] == ")" && !type_name(file_.resolved(body[i - 1])).empty();
  }
  for (std::size_t i = 0; casts && i + 2 < body.size(); ++i) {
    const auto number = integer_of(body[i + 2]);
    const bool is_small = number && *number > 1 && *number <= 16 &&
                          std::has_single_bit(static_cast<std::uint64_t>(*number));
    if (!is_size_name(body[i]) || body[i + 1] != "/" || !is_small) continue;
    const std::string multiple = format("{} % {} == 0", manifest_name(body[i]), *number);
    if (!contains(facts_.constraints, multiple)) facts_.constraints.push_back(multiple);
  }
}

void FactReader::find_divisions() {
  static const std::array kAbove = {
      std::regex("ceil_div\\((.+), ([^,]+)\\)"), std::regex("\\((.+) \\+ (\\w+) - 1\\) / \\2"),
      std::regex("\\((.+) - 1\\) / (\\w+) \\+ 1"), std::regex("\\((.+) \\+ [0-9]+\\) / ([0-9]+)")};
  std::smatch parts;
  for (const std::string& each : grid_) {
    const auto is_it = [&](const std::regex& form) { return std::regex_match(each, parts, form); };
    if (std::ranges::none_of(kAbove, is_it)) continue;
    facts_.divisions.push_back(
        format("{} % {} == 0", factor_of(parts[1].str()), factor_of(parts[2].str())));
  }
}

void FactReader::divide_evenly(const std::vector<std::string>& dimensions) {
  static const std::regex kQuotient(
      "(^|\\()([A-Za-z0-9_ *]+) / (\\([^()]*\\)|[A-Za-z0-9_]+)( / 1)?(\\)(?! \\+)|$)");
  for (const std::string& each : dimensions) {
    for (std::sregex_iterator at(each.begin(), each.end(), kQuotient), end; at != end; ++at) {
      const std::string above = (*at)[2], below = (*at)[3];
      if (below != "1" && sizes_in(above) > 0)
        facts_.constraints.push_back(format("{} % {} == 0", factor_of(above), below));
    }
  }
}

std::ptrdiff_t FactReader::sizes_in(const std::string& length) const {
  const Tokens tokens = tokens_of(length);
  return std::ranges::count_if(tokens, [&](const std::string& each) {
    return std::ranges::any_of(
        sizes_, [&](const std::string& size) { return manifest_name(size) == each; });
  });
}

}  // namespace autotune
