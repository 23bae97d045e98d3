// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/arguments.hpp"

#include <boost/program_options.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <iostream>
#include <system_error>

#include "db/store.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/near_problem.hpp"
#include "tuner/core/target_program.hpp"
#include "tuner/file/replace_file.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"
#include "tuner/text/strings.hpp"

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

/// `hot or cold`, `time, energy or edp`.
std::string either(const std::vector<std::string_view>& words) {
  std::string text(words.front());
  for (std::size_t i = 1; i < words.size(); ++i) {
    text += format("{}{}", i + 1 == words.size() ? " or " : ", ", words[i]);
  }
  return text;
}

void expect_words_of(const Option& option, const std::vector<std::string>& values) {
  const bool is_open = option.words.empty() || option.words.find('=') != std::string_view::npos;
  if (is_open) return;
  const std::vector<std::string_view> words = split(option.words, ' ');
  for (const std::string& value : values) {
    if (std::ranges::find(words, value) != words.end()) continue;
    throw UsageError(format("--{} is {}, not \"{}\"", option.name, either(words), value));
  }
}

/// The first positional argument of a verb with a list of them.
void expect_words_of(const Verb& verb, const std::vector<std::string>& positional) {
  if (verb.words.empty()) return;
  std::vector<std::string> words;
  for (const std::string_view word : split(verb.words, ' ')) words.emplace_back(word);
  if (positional.empty()) {
    throw UsageError(sentence(verb, format("{} needs one of {}", verb.name, joined(words, ", "))));
  }
  if (std::ranges::find(words, positional[0]) != words.end()) return;
  throw UsageError(format("{} does not know \"{}\": {}", verb.name, positional[0],
                          suggestion(positional[0], words)));
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
    expect_words_of(option, found->second);
  }
  expect_words_of(verb, positional_);
  if (verb.positional.empty() && !positional_.empty()) {
    const std::string& word = positional_[0];
    const bool has_target = std::ranges::any_of(
        verb.options, [](const Option& option) { return option.name == "target"; });
    throw UsageError(
        sentence(verb, format("{} does not know what to do with \"{}\"{}", verb.name, word,
                              has_target ? ": a target is --target " + word : "")));
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

NamedValues named_values_in(const std::vector<std::string>& items, std::string_view option,
                            std::string_view example) {
  NamedValues values;
  for (const std::string& item : items) {
    const auto equals = item.find('=');
    if (equals == 0 || equals == std::string::npos || equals + 1 == item.size()) {
      throw UsageError(format("{}\"{}\" is not NAME=VALUE, such as {}", option, item, example));
    }
    const std::string name = item.substr(0, equals);
    if (find_value(values, name)) {
      throw UsageError(format("{}{} is given twice: leave one out", option, name));
    }
    values.push_back({name, parse_value(item.substr(equals + 1))});
  }
  return values;
}

const std::string& only_word(const Arguments& arguments, const char* otherwise) {
  if (arguments.positional().size() != 1) throw UsageError(otherwise);
  return arguments.positional()[0];
}

NamedValues settings_of(const Arguments& arguments) {
  return named_values_in(arguments.all("set"), "--set: ", "dtype=f64");
}

NamedValues fixed_of(const Arguments& arguments) {
  return named_values_in(arguments.all("fix"), "--fix: ", "BLOCK=256");
}

namespace {

/// Whether an item such as `25000x40` has all sizes, fixed ones too.
bool has_fixed(std::string_view item, const Target& target) {
  const std::vector<std::string_view> parts = split(item, 'x');
  if (parts.size() == 1 || parts.size() == target.sizes.size()) return parts.size() > 1;
  for (std::size_t i = 0; i < std::min(parts.size(), target.sizes.size()); ++i) {
    const auto fixed = size_rule(target, i).fixed;
    if (fixed && trimmed(parts[i]) == std::to_string(*fixed)) return true;
  }
  return false;
}

/// The sizes that a text gives: those that are not fixed, and the fixed ones that it has, too.
std::vector<std::string> given_sizes(std::string_view text, const Target& target) {
  const std::vector<std::string_view> items = split(text, ',');
  const bool has_all =
      std::ranges::any_of(items, [&](std::string_view item) { return has_fixed(item, target); });
  const auto is_named = [&](const std::string& size) {
    return std::ranges::any_of(items, [&](std::string_view item) {
      return trimmed(item.substr(0, item.find('='))) == size;
    });
  };
  std::vector<std::string> given;
  for (std::size_t i = 0; i < target.sizes.size(); ++i) {
    if (has_all || !size_rule(target, i).fixed || is_named(target.sizes[i])) {
      given.push_back(target.sizes[i]);
    }
  }
  return given.empty() ? target.sizes : given;
}

/// The value of a size that is left out.
Value left_out_size(const Target& target, std::size_t i) {
  const SizeRule rule = size_rule(target, i);
  return Value(rule.fixed ? *rule.fixed : *rule.if_absent);
}

}  // namespace

bool needs_sizes(const Target& target) {
  for (std::size_t i = 0; i < target.sizes.size(); ++i) {
    if (!size_rule(target, i).fixed) return true;
  }
  return false;
}

bool fits_an_example(const Target& target, const NamedValues& sizes) try {
  constexpr std::int64_t kMostBytes = std::int64_t{1} << 28;
  const Problem problem = problem_of(target, sizes, {});
  const TargetProgram program(target, problem, DeviceInfo{});
  std::int64_t bytes = 0;
  for (const BufferSpec& each : program.buffers()) bytes += each.bytes();
  return bytes <= kMostBytes;
} catch (const std::exception&) {  // lengths depend on the device, or the sizes are not offered
  return true;
}

namespace {

/// With the sizes nearest to this that the target offers.
std::string sizes_near(const Target& target, std::int64_t each) {
  const std::size_t count = needed_sizes(target);
  std::string text;
  bool are_equal = true;
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t size = size_from(target, i, each);
    are_equal = are_equal && size == each;
    text += format("{}{}", text.empty() ? "" : "x", size);
  }
  return are_equal ? std::to_string(each) : text;
}

}  // namespace

std::string example_sizes(const Target& target, std::int64_t each) {
  const std::size_t count = needed_sizes(target);
  if (each == 0) each = count < 4 ? 512 : count == 4 ? 64 : 16;  // products fit into a grid
  std::string text = sizes_near(target, each);
  while (each > 16 && !fits_an_example(target, sizes_in(text, target)[0])) {
    each /= 2;
    text = sizes_near(target, each);
  }
  const Problem problem = problem_of(target, sizes_in(text, target)[0], {});
  const auto near = near_problem(target, problem, DeviceInfo{});
  return near && *near != problem ? size_text(target, *near) : text;
}

std::vector<NamedValues> sizes_in(std::string_view text, const Target& target,
                                  std::string_view option, FreeSizes free) {
  const std::vector<std::string> names = given_sizes(text, target);
  const std::size_t left_out = target.sizes.size() - needed_sizes(target);
  std::vector<std::string> free_names = size_names(target);
  free_names.erase(free_names.begin(), free_names.begin() + std::ssize(target.sizes));
  std::vector<NamedValues> all;
  for (const NamedValues& given :
       parse_sizes(text, names, option, names.size() - left_out, free_names)) {
    NamedValues sizes;
    for (std::size_t i = 0; i < target.sizes.size(); ++i) {
      const Value* const size = find_value(given, target.sizes[i]);
      sizes.push_back({target.sizes[i], size ? *size : left_out_size(target, i)});
    }
    for (const std::string& name : free_names) {
      const Value* const size = find_value(given, name);
      if (size && free == FreeSizes::refused) {
        throw UsageError(
            format("{}: {} is a free size of {}: results belong to its default; leave it out",
                   option, name, target.name));
      }
      if (size) sizes.push_back({name, *size});
    }
    if (std::ranges::find(all, sizes) == all.end()) all.push_back(std::move(sizes));
  }
  return all;
}

std::vector<Problem> problems_of(const Arguments& arguments, const Target& target) {
  std::vector<Problem> problems;
  const std::string text = arguments.find("sizes").value_or(example_sizes(target));
  for (const NamedValues& sizes : sizes_in(text, target)) {
    problems.push_back(problem_of(target, sizes, settings_of(arguments)));
  }
  return problems;
}

Problem problem_of(const Arguments& arguments, const Target& target, std::string_view option) {
  const std::string text = arguments.find(option).value_or(example_sizes(target));
  const std::vector<NamedValues> sizes = sizes_in(text, target, format("--{}", option));
  if (sizes.size() == 1) return problem_of(target, sizes.front(), settings_of(arguments));
  throw UsageError(format("{} takes one problem, and --{} \"{}\" is {}: give it one item",
                          arguments.verb().name, option, text, sizes.size()));
}

std::filesystem::path database_path(const Arguments& arguments) {
  const auto given = arguments.find("db");
  if (!given) return db::default_store_path();
  std::filesystem::path path = *given;
  std::error_code ignored;
  const auto folder = std::filesystem::status(path.parent_path(), ignored);
  if (path.has_parent_path() && folder.type() == std::filesystem::file_type::not_found) {
    throw Error(format("--db {}: there is no folder {}: create it, or name another file",
                       path.string(), path.parent_path().string()));
  }
  return path;
}

bool is_database(const std::filesystem::path& file) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(file, ignored)) return false;
  std::ifstream stream(file, std::ios::binary);
  std::array<char, 15> magic{};
  stream.read(magic.data(), magic.size());
  return std::string_view(magic.data(), magic.size()) == "SQLite format 3";
}

void refuse_existing(const std::filesystem::path& file) {
  if (!std::filesystem::exists(file)) return;
  throw Error(format("{} already exists: give another name, or move the file", file.string()));
}

void write_output(const std::filesystem::path& file,
                  const std::function<void(std::ostream& stream)>& write) {
  if (is_database(file)) {
    throw UsageError(
        format("{}: is a database, which this would overwrite: name another file", file.string()));
  }
  try {
    write_file(file, write);
  } catch (const std::system_error& error) {
    const bool no_folder = error.code() == std::errc::no_such_file_or_directory;
    throw Error(
        format("{}; {}name another file", error.what(), no_folder ? "create its folder, or " : ""));
  }
}

void write_result(const std::optional<std::string>& file,
                  const std::function<void(std::ostream& stream)>& write) {
  if (file) return write_output(*file, write);
  write(std::cout);
}

}  // namespace autotune::cli
