// SPDX-License-Identifier: Apache-2.0
// The --sizes syntax.
#include "tuner/core/problem.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <set>

#include "tuner/core/error.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"
#include "tuner/text/strings.hpp"

namespace autotune {
namespace {

constexpr std::int64_t kLargestSize = std::numeric_limits<std::int32_t>::max();
constexpr std::size_t kMostProblems = 10000;

/// Collects the problems of one --sizes text.
class Sizes {
 public:
  Sizes(const std::vector<std::string>& names, std::string_view option, std::size_t needed)
      : names_(names),
        needed_(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(needed)),
        option_(option) {}

  std::vector<NamedValues> parse(std::string_view text) {
    if (trimmed(text).empty()) fail(text, "is empty", kExample);
    for (const std::string_view part : split(text, ',')) {
      const std::string_view item = trimmed(part);
      if (item.empty()) fail(text, "has an empty item", "leave out the extra comma");
      if (item.find('=') != std::string_view::npos) {
        add_named(item);
      } else {
        finish_named();
        add_item(item);
      }
    }
    finish_named();
    return std::move(problems_);
  }

 private:
  void add_item(std::string_view item) {
    const std::vector<std::string_view> parts = split(item, 'x');
    if (parts.size() == 1) {
      for (const std::int64_t n : values_of(item, item)) add_square(n);
      return;
    }
    if (parts.size() < needed_.size() || parts.size() > names_.size()) {
      const std::string fewest =
          needed_.size() < names_.size() ? format("{} to ", needed_.size()) : "";
      fail(item, format("gives {} sizes", parts.size()),
           format("the target has {}{}: {}", fewest, names_.size(), joined(names_, " x ")));
    }
    NamedValues values;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      values.push_back({names_[i], size(trimmed(parts[i]), item)});
    }
    add(std::move(values));
  }

  /// `512`, `128..1024`, `128..1024:64` or `1..4096*2`.
  std::vector<std::int64_t> values_of(std::string_view text, std::string_view item) const {
    const std::size_t dots = text.find("..");
    if (dots == std::string_view::npos) return {size(text, item)};
    const std::int64_t first = size(trimmed(text.substr(0, dots)), item);
    const std::string_view rest = trimmed(text.substr(dots + 2));
    const std::size_t sign = rest.find_first_of(":*");
    const std::int64_t last = size(trimmed(rest.substr(0, sign)), item);
    if (last < first) {
      fail(item, "goes down", format("write {}..{}", last, first));
    }
    const bool by_factor = sign != std::string_view::npos && rest[sign] == '*';
    std::int64_t step = first;
    if (sign != std::string_view::npos) step = size(trimmed(rest.substr(sign + 1)), item);
    if (by_factor && step < 2) fail(item, "has a factor below 2", "128..8192*2 doubles");
    std::vector<std::int64_t> values;
    for (std::int64_t n = first; n <= last; n = by_factor ? n * step : n + step) {
      values.push_back(n);
      if (values.size() > kMostProblems) too_many();
    }
    return values;
  }

  void add_square(std::int64_t n) {
    NamedValues values;
    for (const std::string& name : needed_) values.push_back({name, n});
    add(std::move(values));
  }

  void add_named(std::string_view item) {
    const std::size_t equals = item.find('=');
    const std::string name(trimmed(item.substr(0, equals)));
    if (std::find(names_.begin(), names_.end(), name) == names_.end()) {
      fail(item, format("names a size \"{}\" that the target has not", name),
           suggestion(name, names_));
    }
    if (find_named(name)) {
      if (const std::string missing = first_missing(); !missing.empty()) {
        fail(item, format("gives {} again before {}", name, missing),
             format("give each of {} once", joined(needed_, ", ")));
      }
      finish_named();
    }
    named_.push_back({name, values_of(trimmed(item.substr(equals + 1)), item), std::string(item)});
  }

  /// Adds the product of the values of every name; the last name changes fastest.
  void finish_named() {
    if (named_.empty()) return;
    if (const std::string missing = first_missing(); !missing.empty()) {
      std::vector<std::string> items;
      for (const Named& each : named_) items.push_back(each.item);
      fail(joined(items, ","), format("gives no {}", missing),
           format("give each of {}", joined(needed_, ", ")));
    }
    std::vector<NamedValues> rows(1);
    for (const std::string& name : names_) {
      if (const Named* const named = find_named(name)) rows = product(rows, *named);
    }
    named_.clear();
    for (NamedValues& row : rows) add(std::move(row));
  }

  /// The values of one named size.
  struct Named {
    std::string name;
    std::vector<std::int64_t> values;
    std::string item;
  };

  std::vector<NamedValues> product(const std::vector<NamedValues>& rows, const Named& by) const {
    if (rows.size() * by.values.size() > kMostProblems) too_many();
    std::vector<NamedValues> longer;
    for (const NamedValues& row : rows) {
      for (const std::int64_t n : by.values) longer.emplace_back(row).push_back({by.name, n});
    }
    return longer;
  }

  const Named* find_named(const std::string& name) const {
    const auto found = std::ranges::find(named_, name, &Named::name);
    return found == named_.end() ? nullptr : &*found;
  }

  /// The first size that must be given and is not; empty if there is none.
  std::string first_missing() const {
    const auto missing =
        std::ranges::find_if(needed_, [&](const auto& name) { return !find_named(name); });
    return missing == needed_.end() ? "" : *missing;
  }

  void add(NamedValues values) {
    if (!seen_.insert(to_text(values)).second) return;
    problems_.push_back(std::move(values));
    if (problems_.size() > kMostProblems) too_many();
  }

  [[noreturn]] void too_many() const {
    throw UsageError(
        format("{} asks for more than {} problems: use a larger step, such as "
               "128..8192:128 or 128..8192*2",
               option_, kMostProblems));
  }

  std::int64_t size(std::string_view text, std::string_view item) const {
    if (text.empty()) fail(item, "lacks a number", kExample);
    std::int64_t value = 0;
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, value);
    if (error == std::errc::result_out_of_range || (rest == end && value > kLargestSize)) {
      fail(item, "is too large", format("the largest size is {}", kLargestSize));
    }
    if (error != std::errc{} || rest != end) {
      fail(item, format("has \"{}\" where a number belongs", text), kExample);
    }
    if (value < 1) fail(item, format("has {}", value), "sizes, steps and factors are 1 or more");
    return value;
  }

  [[noreturn]] void fail(std::string_view item, std::string_view what,
                         std::string_view remedy) const {
    throw UsageError(format("{}: \"{}\" {} ({})", option_, item, what, remedy));
  }

  static constexpr std::string_view kExample =
      "examples: 512; 128..1024; 128..1024:64; 128..8192*2; 1037x1031x1055; M=1,N=4096,K=4096; "
      "M=1..4096*2,N=4096,K=4096";

  const std::vector<std::string>& names_;
  const std::vector<std::string> needed_;
  const std::string_view option_;
  std::vector<NamedValues> problems_;
  std::set<std::string> seen_;
  std::vector<Named> named_;  // sizes of the current M=…,N=… item
};

}  // namespace

std::vector<NamedValues> parse_sizes(std::string_view text, const std::vector<std::string>& names,
                                     std::string_view option, std::optional<std::size_t> needed) {
  return Sizes(names, option, needed.value_or(names.size())).parse(text);
}

}  // namespace autotune
