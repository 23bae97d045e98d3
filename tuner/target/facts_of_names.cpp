// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <regex>

#include "tuner/core/element_type.hpp"
#include "tuner/core/expression.hpp"
#include "tuner/target/fact_reader.hpp"
#include "tuner/target/usual_names.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

/// With the words that `size` gives for axes in place of `name.x`, which may be a name of the
/// host's for the block; empty words change nothing.
void replace_axes(Tokens& tokens, const Tokens& name,
                  const std::function<std::string(std::size_t axis)>& size) {
  for (std::size_t i = 0; i + 2 < tokens.size(); ++i) {
    if (name != Tokens{tokens[i]} || tokens[i + 1] != ".") continue;
    const bool is_set = i + 3 < tokens.size() && tokens[i + 3] == "=";
    const std::string known = is_set ? "" : size(static_cast<std::size_t>(tokens[i + 2][0] - 'x'));
    if (!known.empty()) replace(tokens, i, i + 3, {known});
  }
}

}  // namespace

std::size_t FactReader::index_of(const std::string& name) const {
  const auto own = std::ranges::find(kernel_.parameters, name, &Declaration::name);
  return static_cast<std::size_t>(own - kernel_.parameters.begin());
}

Tokens FactReader::passed_for(const std::string& name) const {
  return launch_ && is_own(name) ? launch_->arguments[index_of(name)] : Tokens{};
}

bool FactReader::has_passed_variable() const {
  for (std::size_t i = 0; launch_ && i < kernel_.parameters.size(); ++i) {
    const Declaration& each = kernel_.parameters[i];
    const bool is_one = is_integer_type(type_name(file_.resolved(each.type)));
    const Tokens& given = launch_->arguments[i];
    if (each.pointers == 0 && is_one && !given.empty() && is_name(given[0])) return true;
  }
  return false;
}

std::optional<std::string> FactReader::small_number(const std::string& name) const {
  Tokens given = passed_for(name);
  const auto set = given.size() == 1 && !names_a_size(name) ? host_value(given[0]) : std::nullopt;
  if (set && set->size() == 1) given = {*set};  // `int stride = 1;`
  const bool is_small = given.size() == 1 && given[0].size() <= 3 && is_number(given[0]);
  return is_small ? std::optional(given[0]) : std::nullopt;
}

std::optional<std::string> FactReader::first_turn(const std::string& name) const {
  const Tokens given = passed_for(name);
  return given.size() == 1 ? host_.first_turn(given[0]) : std::nullopt;
}

std::optional<std::string> FactReader::host_value(const std::string& variable) const {
  if (!launch_) return std::nullopt;
  const Tokens& code = launch_->function;
  std::optional<std::string> last;
  for (std::size_t i = 0; i + 3 < code.size(); ++i) {
    const bool is_set = code[i] == variable && code[i + 1] == "=";
    if (is_set && (code[i + 3] == ";" || code[i + 3] == ",")) last = code[i + 2];
  }
  return last;
}

std::optional<std::string> FactReader::passed(const std::string& name) const {
  if (!launch_) return std::nullopt;
  const Tokens given = passed_for(name);
  const auto value = given.size() == 1 ? host_value(given[0]) : std::nullopt;
  return number_of(value ? Tokens{*value} : given);
}

std::string FactReader::given_expression(const std::string& name) const {
  const std::size_t at = index_of(name);
  const bool is_known = given_ && !given_->all.contains(name) && is_own(name);
  return is_known && at < given_->launched.size() ? given_->launched[at] : "";
}

std::optional<std::string> FactReader::number_of(const Tokens& given) const {
  static const std::regex kNumber("-?[0-9]+(\\.[0-9]*)?(e-?[0-9]+)?[fFuUlL]*");
  std::string text = text_of(given);
  if (text.starts_with("- ")) text.erase(1, 1);
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

std::optional<NamedInManifest> FactReader::computed(const std::string& name,
                                                    bool with_parameters) const {
  if (const std::string expression = given_expression(name); !expression.empty())
    return NamedInManifest{expression, true};
  const auto value = host_text(with_parameters).value(in_numbers(passed_for(name)));
  const std::string text = value ? value->sum() : stride_of_bytes(name);
  return text.empty() ? std::nullopt : std::optional(NamedInManifest{text, true});
}

std::string FactReader::stride_of_bytes(const std::string& name) const {
  static const std::regex kStride("nb([0-9])([0-9])");
  std::smatch parts;
  if (given_ || !std::regex_match(name, parts, kStride)) return "";
  std::string bytes = "4";
  for (char axis = '0'; axis < parts[2].str()[0]; ++axis) {
    const std::string size = format("ne{}{}", parts[1].str(), std::string(1, axis));
    if (!is_own(size)) return "";
    bytes += " * " + size;
  }
  return bytes;
}

Tokens FactReader::in_numbers(Tokens tokens) const {
  for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
    if (tokens[i] != "sizeof" || tokens[i + 1] != "(") continue;
    const std::size_t end = closing(tokens, i + 1);
    const std::string type = type_name(file_.resolved(text_of(part_of(tokens, i + 2, end))));
    const auto element = element_type(type.substr(0, type.find('x')));
    if (!element) continue;
    const std::size_t width = type.find('x') == std::string::npos ? 1 : type.back() - '0';
    replace(tokens, i, end + 1,
            {std::to_string(static_cast<std::size_t>(bytes_of(*element)) * width)});
  }
  return tokens;
}

KernelText FactReader::host_text(bool with_parameters) const {
  KernelCode host{.body = with_block(host_.tokens(), block_of_host())};
  host.has_last_values = true;
  return {host, [this, with_parameters](const std::string& word) -> std::optional<NamedInManifest> {
            for (std::size_t i = 0; i < launch_->arguments.size(); ++i) {
              const std::string& own = kernel_.parameters[i].name;
              if (launch_->arguments[i] != Tokens{word}) continue;
              if (is_size_name(own)) return NamedInManifest{manifest_name(own), true};
              if (parameter(own) && parameter(own)->is_passed) return name_in(own, with_parameters);
            }
            for (std::size_t i = 0; i < launch_->templates.size() && i < kernel_.templates.size();
                 ++i) {
              const std::string& own = kernel_.templates[i].name;
              if (launch_->templates[i] == Tokens{word} && parameter(own))
                return name_in(own, with_parameters);
            }
            // Others of the names of kernel parameters are the host's own.
            const bool is_foreign = is_size_name(word) && !sizes_of_host_.contains(word) &&
                                    !file_.constants.contains(word);
            if (is_foreign || computed_.contains(word)) return std::nullopt;
            if (const auto known = name_in(word, with_parameters)) return known;
            if (const auto turn = host_.first_turn(word)) return NamedInManifest{*turn};
            if (const std::string size = block_named(word); !size.empty()) {
              return name_in(size, with_parameters);
            }
            if (word != host_block()) return std::nullopt;
            return block_.empty() ? NamedInManifest{"BLOCK"} : name_in(block_[0], with_parameters);
          }};
}

std::string FactReader::block_named(const std::string& word) const {
  if (launch_->configuration.size() < 2 || block_.empty()) return "";
  const std::vector<Tokens> by_host = host_.dimensions(launch_->configuration[1]);
  for (std::size_t axis = 0; axis < std::min(by_host.size(), block_.size()); ++axis) {
    if (by_host[axis] == Tokens{word} && parameter(block_[axis])) return block_[axis];
  }
  return "";
}

Tokens FactReader::block_of_host() const {
  const bool has_block = launch_ && launch_->configuration.size() > 1;
  return has_block ? launch_->configuration[1] : Tokens{};
}

std::string FactReader::host_block() const {
  const Tokens block = block_of_host();
  if (block.size() != 1) return "";
  const std::string& word = block[0];
  const bool is_set =
      contains(host_.tokens(), Tokens{word, "="}) || contains(host_.tokens(), Tokens{word, "("});
  const bool is_free = is_name(word) && !is_set && !name_in(word, true);
  return is_free && threads_dimensions() == 1 ? word : "";
}

std::optional<NamedInManifest> FactReader::name_in(const std::string& word, bool with_parameters,
                                                   int depth) const {
  if (is_size_name(word)) return NamedInManifest{manifest_name(word), true};
  if (const auto turn = first_turn(word)) return NamedInManifest{*turn};
  if (const auto number = small_number(word)) return NamedInManifest{*number};
  if (computed_.contains(word)) {
    auto value = computed(word, with_parameters);
    if (value) value->text = factor_of(value->text);
    return value;
  }
  if (const Parameter* const known = parameter(word)) {
    return NamedInManifest{with_parameters ? word : std::to_string(known->by_default)};
  }
  if (auto value = expanded(word, with_parameters, depth)) return value;
  if (const auto number = file_.integer(word)) return NamedInManifest{std::to_string(*number)};
  return std::nullopt;
}

std::optional<NamedInManifest> FactReader::expanded(const std::string& word, bool with_parameters,
                                                    int depth) const {
  constexpr int kDeepest = 8;
  const auto macro = file_.constants.find(word);
  if (macro == file_.constants.end() || macro->second.size() < 2 || depth > kDeepest) {
    return std::nullopt;
  }
  const KernelText text(
      {}, [&](const std::string& each) { return name_in(each, with_parameters, depth + 1); });
  const auto value = text.value(macro->second);
  if (!value || number_in(value->text)) return std::nullopt;
  return NamedInManifest{"(" + value->sum() + ")", value->sizes > 0};
}

Tokens FactReader::with_block(Tokens tokens, const Tokens& name) const {
  replace_axes(tokens, name, [&](std::size_t axis) {
    return axis < block_.size() ? block_[axis] : std::string();
  });
  return tokens;
}

KernelText FactReader::text_with(bool with_parameters) const {
  KernelCode code = kernel_;
  code.body = with_block(kernel_.body, {"blockDim"});
  for (const auto& [member, size] : members_) {
    for (std::size_t i = 0; i + 2 < code.body.size(); ++i) {
      if (part_of(code.body, i, i + 3) == member) replace(code.body, i, i + 3, size);
    }
  }
  replace_axes(code.body, {"gridDim"}, [&](std::size_t axis) {
    const bool is_word =
        axis < grid_.size() && (is_size_name(grid_[axis]) || is_number(grid_[axis]));
    return is_word ? grid_[axis] : std::string();
  });
  replace_axes(code.body, {"blockDim"}, [](std::size_t) { return "blockDim"; });
  return {code, [this, with_parameters](const std::string& word) -> std::optional<NamedInManifest> {
            if (!word.starts_with("blockIdx.")) return name_in(word, with_parameters);
            const auto axis = static_cast<std::size_t>(word[9] - 'x');
            if (axis >= grid_.size()) return std::nullopt;
            if (word.size() > 10) return spread_over(grid_[axis], word.substr(11));
            const Tokens blocks = tokens_of(grid_[axis]);
            const bool is_of_sizes = std::ranges::all_of(blocks, [&](const std::string& each) {
              return is_size_name(each) || !is_name(each);
            });
            if (!is_of_sizes) return std::nullopt;
            return NamedInManifest{blocks.size() == 1 ? grid_[axis] : "(" + grid_[axis] + ")",
                                   true};  // a block for each
          }};
}

std::optional<NamedInManifest> FactReader::spread_over(const std::string& blocks,
                                                       const std::string& step) const {
  std::string counted = blocks;
  for (const Parameter& each : facts_.parameters) {
    if (is_number(step)) counted = with_default(counted, each);
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

}  // namespace autotune
