// SPDX-License-Identifier: Apache-2.0
#include "db/problem_distance.hpp"

#include <charconv>
#include <cmath>

namespace autotune::db {

namespace {

/// Whether `name` is a word of `names`.
bool is_among(std::string_view name, std::string_view names) {
  for (std::size_t at = 0; (at = names.find(name, at)) != std::string_view::npos; ++at) {
    const std::size_t end = at + name.size();
    if ((at == 0 || names[at - 1] == ' ') && (end == names.size() || names[end] == ' '))
      return true;
  }
  return false;
}

}  // namespace

ProblemText ProblemText::parse(std::string_view text, std::string_view size_names) {
  ProblemText problem;
  while (!text.empty()) {
    const std::string_view item = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), item.size() + 1));
    const std::size_t equals = item.find('=');
    const std::string_view value =
        equals == std::string_view::npos ? std::string_view() : item.substr(equals + 1);
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    const bool is_number = error == std::errc() && end == value.data() + value.size() && number > 0;
    if (is_number && (size_names.empty() || is_among(item.substr(0, equals), size_names))) {
      problem.names.push_back(item.substr(0, equals));
      problem.sizes.push_back(number);
    } else if (!item.empty()) {
      if (!problem.settings.empty()) problem.settings += ' ';
      problem.settings += item;
    }
  }
  return problem;
}

std::optional<double> problem_distance(const ProblemText& a, const ProblemText& b) {
  if (a.settings != b.settings || a.names != b.names) return std::nullopt;
  double sum = 0;
  for (std::size_t i = 0; i < a.sizes.size(); ++i) {
    const double log = std::log2(static_cast<double>(a.sizes[i]) / static_cast<double>(b.sizes[i]));
    sum += log * log;
  }
  return a.sizes.empty() ? 0 : std::sqrt(sum / static_cast<double>(a.sizes.size()));
}

}  // namespace autotune::db
