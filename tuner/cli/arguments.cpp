// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/arguments.hpp"

#include <algorithm>
#include <array>
#include <boost/program_options.hpp>
#include <charconv>

#include "tuner/core/error.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"

namespace autotune::cli {
namespace {

namespace po = boost::program_options;

po::options_description description_of(const Verb& verb) {
  po::options_description description;
  for (const Option& option : verb.options) {
    const std::string name(option.name);
    if (option.value.empty()) {
      description.add_options()(name.c_str(), "");
    } else {
      description.add_options()(name.c_str(), po::value<std::vector<std::string>>(), "");
    }
  }
  return description;
}

std::string sentence(const Verb& verb, const std::string& what) {
  return format("{}; see autotune {} --help", what, verb.name);
}

/// Whether the value is a name. It must not be empty, as it is if a script's variable is not set.
bool names_a_thing(const Option& option) {
  static constexpr std::array<std::string_view, 6> kPlaceholders = {"FILE", "T",   "D",
                                                                    "NAME", "GPU", "STRATEGY"};
  return std::ranges::find(kPlaceholders, option.value) != kPlaceholders.end();
}

/// Boost's errors in our words.
[[noreturn]] void rethrow_as_usage(const Verb& verb, const po::error& error) {
  if (const auto* unknown = dynamic_cast<const po::unknown_option*>(&error)) {
    std::vector<std::string> names;
    for (const Option& option : verb.options) names.push_back("--" + std::string(option.name));
    const std::string given = unknown->get_option_name();
    const auto near = near_names(given, names);
    throw UsageError(near.empty() ? sentence(verb, format("{} has no option {}", verb.name, given))
                                  : format("{} has no option {}: {}", verb.name, given,
                                           suggestion(given, names)));
  }
  if (const auto* missing = dynamic_cast<const po::invalid_command_line_syntax*>(&error)) {
    if (missing->kind() == po::invalid_command_line_syntax::missing_parameter) {
      throw UsageError(sentence(verb, format("{} needs a value", missing->get_option_name())));
    }
  }
  throw UsageError(sentence(verb, error.what()));
}

}  // namespace

Arguments::Arguments(const Verb& verb, const std::vector<std::string>& words) : verb_(verb) {
  const po::options_description description = description_of(verb);
  try {
    namespace style = po::command_line_style;
    const auto parsed =
        po::command_line_parser(words)
            .options(description)
            .style(style::allow_long | style::long_allow_next | style::long_allow_adjacent)
            .run();
    for (const auto& option : parsed.options) {
      if (option.position_key != -1 || option.string_key.empty()) {
        positional_.insert(positional_.end(), option.value.begin(), option.value.end());
      } else {
        auto& values = values_[option.string_key];
        values.insert(values.end(), option.value.begin(), option.value.end());
        if (option.value.empty()) values.emplace_back();
      }
    }
  } catch (const po::error& error) {
    rethrow_as_usage(verb, error);
  }
  for (const Option& option : verb.options) {
    const auto found = values_.find(option.name);
    if (found == values_.end()) continue;
    if (found->second.size() > 1 && !option.repeatable) {
      throw UsageError(sentence(verb, format("--{} is given twice", option.name)));
    }
    const bool is_empty = std::ranges::find(found->second, "") != found->second.end();
    if (is_empty && names_a_thing(option)) {
      throw UsageError(sentence(verb, format("--{} is given an empty name", option.name)));
    }
  }
  if (verb.positional.empty() && !positional_.empty()) {
    throw UsageError(sentence(
        verb, format("{} does not know what to do with \"{}\"", verb.name, positional_[0])));
  }
}

bool Arguments::has(std::string_view option) const { return values_.find(option) != values_.end(); }

std::optional<std::string> Arguments::find(std::string_view option) const {
  if (const auto found = values_.find(option); found != values_.end()) return found->second.front();
  const auto row = std::find_if(verb_.options.begin(), verb_.options.end(),
                                [&](const Option& o) { return o.name == option; });
  if (row == verb_.options.end() || row->default_value.empty()) return std::nullopt;
  return std::string(row->default_value);
}

std::string Arguments::text(std::string_view option) const {
  if (auto value = find(option)) return *value;
  const bool has_action = !verb_.words.empty() && !positional_.empty();
  throw UsageError(sentence(verb_, format("{}{}{} needs --{}", verb_.name, has_action ? " " : "",
                                          has_action ? positional_[0] : "", option)));
}

std::int64_t Arguments::integer(std::string_view option, std::int64_t low,
                                std::int64_t high) const {
  const std::string value = text(option);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc() || end != value.data() + value.size() || number < low || number > high) {
    throw UsageError(
        format("--{}: \"{}\" is not an integer from {} to {}", option, value, low, high));
  }
  return number;
}

std::vector<std::string> Arguments::all(std::string_view option) const {
  const auto found = values_.find(option);
  return found == values_.end() ? std::vector<std::string>{} : found->second;
}

}  // namespace autotune::cli
