// SPDX-License-Identifier: Apache-2.0
#include "tuner/interchange/python_translation.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "tuner/core/error.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

using Kind = PythonNode::Kind;

/// Precedence of operators in a manifest, loosest first.
enum Binding { conditional, disjunction, conjunction, negation, comparison, sum, product, operand };

struct Text {
  std::string text;
  Binding binding = operand;
};

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The values that an expression may have.
struct Range {
  double least = -kInfinity, most = kInfinity;
  bool is_negative() const { return !(least >= 0); }
};

Range either(const Range& a, const Range& b) {
  return {std::min(a.least, b.least), std::max(a.most, b.most)};
}

/// Of numbers from 0 on; 0 times infinity is 0.
double times(double a, double b) { return a == 0 || b == 0 ? 0 : a * b; }

Range range_of_binary(std::string_view sign, const Range& a, const Range& b) {
  if (sign == "+") return {a.least + b.least, a.most + b.most};
  if (sign == "-") return {a.least - b.most, a.most - b.least};
  if (sign == "%" && !b.is_negative()) return {0, b.most};
  if (a.is_negative() || b.is_negative()) return {};
  if (sign == "*") return {times(a.least, b.least), times(a.most, b.most)};
  return {0, sign == "//" && b.least >= 1 ? a.most : kInfinity};
}

constexpr std::array kFunctions{"min", "max", "abs", "int"};
/// Exponents up to this are written as a product.
constexpr int kMostFactors = 4;
/// Powers of powers grow with each level.
constexpr std::size_t kLongestTranslation = 10000;

std::string in_parentheses_below(Binding least, const Text& text) {
  return text.binding < least ? "(" + text.text + ")" : text.text;
}

class Translator {
 public:
  explicit Translator(const PythonName& name) : name_(name) {}

  Text text(const PythonNode& node) {
    switch (node.kind) {
      case Kind::integer:
      case Kind::real:
        return {node.text};
      case Kind::text:
        if (node.text.find('\'') != std::string::npos) throw Error("a word has a quote");
        return {"'" + node.text + "'"};
      case Kind::name:
        return {named(node.text, -1, false)};
      case Kind::index:
        return {indexed(node)};
      case Kind::call:
        return {called(node)};
      case Kind::unary:
        return unary(node);
      case Kind::binary:
        return binary(node);
      case Kind::logical: {
        const Binding binding = node.text == "or" ? disjunction : conjunction;
        return {below(binding, node.children[0]) + " " + node.text + " " +
                    below(binding, node.children[1]),
                binding};
      }
      case Kind::comparison:
        return compared(node);
      case Kind::conditional:
        return {below(disjunction, node.children[1]) + " ? " +
                    below(disjunction, node.children[0]) + " : " +
                    below(conditional, node.children[2]),
                conditional};
      default:
        throw Error("a list stands where a number is expected");
    }
  }

  std::vector<std::string> notes;

 private:
  std::string below(Binding least, const PythonNode& node) {
    return in_parentheses_below(least, text(node));
  }

  std::string named(const std::string& name, std::int64_t index, bool is_whole) const {
    std::string meaning = name_(name, index, is_whole).text;
    if (meaning.empty()) throw Error(format("{} is not a parameter", name));
    return meaning;
  }

  static std::int64_t index_of(const PythonNode& place) {
    std::int64_t index = -1;
    std::from_chars(place.text.data(), place.text.data() + place.text.size(), index);
    return index;
  }

  std::string indexed(const PythonNode& node) const {
    const PythonNode& place = node.children[0];
    const std::int64_t index = index_of(place);
    if (place.kind != Kind::integer || index < 0) throw Error("an index is not a number from 0 on");
    return named(node.text, index, false);
  }

  std::string called(const PythonNode& node) {
    if (std::ranges::count(kFunctions, node.text) == 0) {
      throw Error(format("the function {} has no counterpart", node.text));
    }
    const bool one = node.children.size() == 1;
    if (one && (node.text == "min" || node.text == "max")) {
      if (node.children[0].kind != Kind::name) throw Error(node.text + " of one value");
      return named(node.children[0].text, node.text == "min" ? 0 : 1, true);
    }
    std::string arguments;
    for (const PythonNode& child : node.children) {
      arguments += (arguments.empty() ? "" : ", ") + text(child).text;
    }
    return node.text + "(" + arguments + ")";
  }

  Text unary(const PythonNode& node) {
    if (node.text == "not") return {"not " + below(negation, node.children[0]), negation};
    return {"-" + below(operand, node.children[0]), product};
  }

  Text power(const PythonNode& node) {
    const std::string base = below(operand, node.children[0]);
    const PythonNode& exponent = node.children[1];
    int times = 0;
    std::from_chars(exponent.text.data(), exponent.text.data() + exponent.text.size(), times);
    if (exponent.kind != Kind::integer || times < 1 || times > kMostFactors) {
      return {format("int(pow({}, {}))", text(node.children[0]).text, text(exponent).text)};
    }
    std::string factors = base;
    for (int i = 1; i < times; ++i) factors += " * " + base;
    if (factors.size() > kLongestTranslation) throw Error("the expression is too long");
    return {factors, times == 1 ? operand : product};
  }

  Range range_of_name(const std::string& name, std::int64_t index, bool is_whole) const {
    const PythonOperand meaning = name_(name, index, is_whole);
    return {meaning.least, meaning.most};
  }

  Range range_of_call(const PythonNode& node) const {
    const bool is_extreme = node.text == "min" || node.text == "max";
    if (node.children.empty()) return {};
    if (is_extreme && node.children.size() == 1) {
      return range_of_name(node.children[0].text, node.text == "min" ? 0 : 1, true);
    }
    Range range = range_of(node.children[0]);
    if (node.text == "abs") return range.is_negative() ? Range{0, kInfinity} : range;
    for (const PythonNode& child : node.children) {
      const Range its = range_of(child);
      if (node.text == "min") range = {std::min(range.least, its.least), range.most};
      if (node.text == "max") range = {std::max(range.least, its.least), kInfinity};
    }
    return range;
  }

  Range range_of(const PythonNode& node) const {
    switch (node.kind) {
      case Kind::integer:
      case Kind::real: {
        double number = 0;
        std::from_chars(node.text.data(), node.text.data() + node.text.size(), number);
        return {number, number};
      }
      case Kind::name:
        return range_of_name(node.text, -1, false);
      case Kind::index:
        return range_of_name(node.text, index_of(node.children[0]), false);
      case Kind::call:
        return range_of_call(node);
      case Kind::unary: {
        const Range negated = range_of(node.children[0]);
        return node.text == "not" ? Range{0, 1} : Range{-negated.most, -negated.least};
      }
      case Kind::binary:
        return range_of_binary(node.text, range_of(node.children[0]), range_of(node.children[1]));
      case Kind::conditional:
        return either(range_of(node.children[0]), range_of(node.children[2]));
      case Kind::logical:
      case Kind::comparison:
        return {0, 1};
      default:
        return {};
    }
  }

  /// `//` and `%` where an operand may be negative.
  Text rounded_down(const PythonNode& node) {
    const std::string a = below(product, node.children[0]), b = below(operand, node.children[1]);
    if (node.text == "//")
      return {format("floor(1.0 * {} / {})", below(operand, node.children[0]), b)};
    if (a.size() + 3 * b.size() > kLongestTranslation) throw Error("the expression is too long");
    return {format("({} % {} + {}) % {}", a, b, b, b), product};
  }

  Text binary(const PythonNode& node) {
    if (node.text == "**") return power(node);
    const bool rounds = node.text == "//" || node.text == "%";
    const bool may_be_negative =
        range_of(node.children[0]).is_negative() || range_of(node.children[1]).is_negative();
    if (rounds && may_be_negative) return rounded_down(node);
    const bool is_sum = node.text == "+" || node.text == "-";
    const Binding binding = is_sum ? sum : product;
    if (node.text == "/") notes.emplace_back("/ truncates here, and is exact in Python");
    const std::string sign = node.text == "//" ? "/" : node.text;
    const auto tighter = static_cast<Binding>(binding + 1);
    return {below(binding, node.children[0]) + " " + sign + " " + below(tighter, node.children[1]),
            binding};
  }

  std::string members(const PythonNode& node) {
    if (node.kind != Kind::list || node.children.empty()) throw Error("in wants a list");
    std::string all;
    for (const PythonNode& child : node.children) {
      all += (all.empty() ? "" : ", ") + text(child).text;
    }
    return "[" + all + "]";
  }

  std::string pair(const PythonNode& left, const std::string& sign, const PythonNode& right) {
    const bool is_in = sign.ends_with("in");
    return below(sum, left) + " " + sign + " " + (is_in ? members(right) : below(sum, right));
  }

  /// Python chains comparisons: `a < b == c` becomes `a < b and b == c`.
  Text compared(const PythonNode& node) {
    std::string all;
    for (std::size_t i = 0; i < node.operators.size(); ++i) {
      if (i > 0) all += " and ";
      all += pair(node.children[i], node.operators[i], node.children[i + 1]);
    }
    return {all, node.operators.size() > 1 ? conjunction : comparison};
  }

  const PythonName& name_;
};

}  // namespace

PythonTranslation translate_python(std::string_view text, const PythonName& name) {
  Translator translator(name);
  std::string translated = translator.text(parse_python(text)).text;
  return {std::move(translated), std::move(translator.notes)};
}

}  // namespace autotune
