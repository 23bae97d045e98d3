// SPDX-License-Identifier: Apache-2.0
// The --sizes syntax.
#include "tuner/core/problem.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <set>
#include <utility>

#include "tuner/core/error.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"
#include "tuner/text/strings.hpp"

namespace autotune {
namespace {

/// The values that a size may have.
struct Limits {
  std::int64_t least = 1, most = std::numeric_limits<std::int32_t>::max();
};
constexpr Limits kFreeLimits{0, std::numeric_limits<std::int64_t>::max()};
constexpr std::size_t kMostProblems = 10000;

/// Collects the problems of one --sizes text.
class Sizes {
 public:
  Sizes(const std::vector<std::string>& names, std::string_view option, std::size_t needed,
        const std::vector<std::string>& free)
      : names_(names),
        needed_(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(needed)),
        free_(free),
        all_(names),
        option_(option) {
    all_.insert(all_.end(), free.begin(), free.end());
  }

  std::vector<NamedValues> parse(std::string_view text) {
    if (trimmed(text).empty()) fail(text, "is empty", kExample);
    for (const std::string_view part : split(text, ',')) {
      const std::string_view item = trimmed(part);
      if (item.empty()) fail(text, "has an empty item", "leave out the extra comma");
      if (item.find('=') != std::string_view::npos) {
        add_named(item);
      } else {
        finish();
        add_item(item);
      }
    }
    finish();
    return std::move(problems_);
  }

 private:
  void add_item(std::string_view item) {
    const std::vector<std::string_view> parts = split(item, 'x');
    if (parts.size() == 1) {
      for (const std::int64_t n : values_of(item, item, {})) add_square(n);
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
      values.push_back({names_[i], size(trimmed(parts[i]), item, {})});
    }
    rows_.push_back(std::move(values));
  }

  /// `512`, `128..1024`, `128..1024:64` or `1..4096*2`.
  std::vector<std::int64_t> values_of(std::string_view text, std::string_view item,
                                      Limits limits) const {
    const std::size_t dots = text.find("..");
    if (dots == std::string_view::npos) return {size(text, item, limits)};
    const std::int64_t first = size(trimmed(text.substr(0, dots)), item, limits);
    const std::string_view rest = trimmed(text.substr(dots + 2));
    const std::size_t sign = rest.find_first_of(":*");
    const std::int64_t last = size(trimmed(rest.substr(0, sign)), item, limits);
    if (last < first) {
      fail(item, "goes down", format("write {}..{}", last, first));
    }
    const bool by_factor = sign != std::string_view::npos && rest[sign] == '*';
    std::int64_t step = first;
    if (sign != std::string_view::npos) {
      step = size(trimmed(rest.substr(sign + 1)), item, {.most = limits.most});
    }
    if (by_factor && step < 2) fail(item, "has a factor below 2", "128..8192*2 doubles");
    if (first == 0 && (by_factor || step == 0)) {
      fail(item, "starts at 0", format("give a step, as in 0..{}:1", last));
    }
    std::vector<std::int64_t> values{first};
    while (by_factor ? values.back() <= last / step : values.back() <= last - step) {
      values.push_back(by_factor ? values.back() * step : values.back() + step);
      if (values.size() > kMostProblems) too_many();
    }
    return values;
  }

  void add_square(std::int64_t n) {
    NamedValues values;
    for (const std::string& name : needed_) values.push_back({name, n});
    rows_.push_back(std::move(values));
  }

  void add_named(std::string_view item) {
    const std::size_t equals = item.find('=');
    const std::string name(trimmed(item.substr(0, equals)));
    if (std::ranges::find(all_, name) == all_.end()) {
      fail(item, format("names a size \"{}\" that the target has not", name),
           suggestion(name, all_));
    }
    const bool is_free = std::ranges::find(free_, name) != free_.end();
    if (!rows_.empty() && !is_free) finish();
    if (find_named(name)) {
      const std::string missing = rows_.empty() ? first_missing() : "";
      if (!missing.empty() || !rows_.empty()) {
        fail(item, format("gives {} again{}", name, missing.empty() ? "" : " before " + missing),
             format("give each of {} once", joined(rows_.empty() ? needed_ : free_, ", ")));
      }
      finish();
    }
    named_.push_back(
        {name, values_of(trimmed(item.substr(equals + 1)), item, is_free ? kFreeLimits : Limits()),
         std::string(item)});
  }

  /// Adds the product of the rows and of the values of every name; the last name changes fastest.
  void finish() {
    if (named_.empty() && rows_.empty()) return;
    if (const std::string missing = first_missing(); rows_.empty() && !missing.empty()) {
      std::vector<std::string> items;
      for (const Named& each : named_) items.push_back(each.item);
      fail(joined(items, ","), format("gives no {}", missing),
           format("give each of {}", joined(needed_, ", ")));
    }
    std::vector<NamedValues> rows = std::exchange(rows_, {});
    if (rows.empty()) rows.emplace_back();
    for (const std::string& name : all_) {
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

  std::int64_t size(std::string_view text, std::string_view item, Limits limits) const {
    if (text.empty()) fail(item, "lacks a number", kExample);
    std::int64_t value = 0;
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, value);
    if (error == std::errc::result_out_of_range || (rest == end && value > limits.most)) {
      fail(item, "is too large", format("the largest size is {}", limits.most));
    }
    if (error != std::errc{} || rest != end) {
      fail(item, format("has \"{}\" where a number belongs", text), kExample);
    }
    if (value < limits.least) {
      fail(item, format("has {}", value),
           limits.least > 0 ? "sizes, steps and factors are 1 or more"
                            : "a free size is 0 or more; leave it out for its default");
    }
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
  const std::vector<std::string>& free_;
  std::vector<std::string> all_;
  const std::string_view option_;
  std::vector<NamedValues> problems_;
  std::set<std::string> seen_;
  // The current item: the problems that it gives without names, and its sizes with names.
  std::vector<NamedValues> rows_;
  std::vector<Named> named_;
};

}  // namespace

std::vector<NamedValues> parse_sizes(std::string_view text, const std::vector<std::string>& names,
                                     std::string_view option, std::optional<std::size_t> needed,
                                     const std::vector<std::string>& free) {
  return Sizes(names, option, needed.value_or(names.size()), free).parse(text);
}

}  // namespace autotune
