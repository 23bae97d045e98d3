// SPDX-License-Identifier: Apache-2.0
#include "tuner/interchange/python_translation.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "tuner/core/error.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

using Kind = PythonNode::Kind;
using List = std::vector<PythonConstant>;

constexpr std::size_t kLongestList = 65536;

/// A constant or a list of them.
struct Evaluated {
  PythonConstant constant;
  List list = {};
  bool is_list = false;
};

std::int64_t integer_of(const PythonConstant& constant) {
  if (const auto* integer = std::get_if<std::int64_t>(&constant)) return *integer;
  if (const auto* real = std::get_if<double>(&constant)) {
    throw Error(format("{} is not an integer: write int() around it", *real));
  }
  throw Error(format("'{}' is text, not a number", std::get<std::string>(constant)));
}

double real_of(const PythonConstant& constant) {
  if (const auto* real = std::get_if<double>(&constant)) return *real;
  return static_cast<double>(integer_of(constant));
}

std::int64_t checked(bool overflows, std::int64_t value) {
  if (overflows) throw Error("a number does not fit into 64 bits");
  return value;
}

/// Truncates like Python's int().
std::int64_t truncated(const PythonConstant& constant) {
  if (std::holds_alternative<std::int64_t>(constant)) return std::get<std::int64_t>(constant);
  const double real = real_of(constant);
  const bool fits = std::abs(real) < 0x1p63;
  return checked(!fits, fits ? static_cast<std::int64_t>(real) : 0);
}

bool is_true(const PythonConstant& constant) { return real_of(constant) != 0; }

std::int64_t floor_divided(std::int64_t a, std::int64_t b) {
  if (b == 0) throw Error("division by zero");
  if (b == -1) return checked(a == INT64_MIN, -a);
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

std::int64_t power(std::int64_t base, std::int64_t exponent) {
  if (exponent < 0 || exponent > 63) throw Error("an exponent of ** is outside 0 to 63");
  std::int64_t result = 1;
  for (; exponent > 0; --exponent) {
    const bool overflows = __builtin_mul_overflow(result, base, &result);
    checked(overflows, result);
  }
  return result;
}

PythonConstant of_integers(const std::string& sign, std::int64_t a, std::int64_t b) {
  if (sign == "+" || sign == "-" || sign == "*") {
    std::int64_t result = 0;
    const bool overflows = sign == "+"   ? __builtin_add_overflow(a, b, &result)
                           : sign == "-" ? __builtin_sub_overflow(a, b, &result)
                                         : __builtin_mul_overflow(a, b, &result);
    return checked(overflows, result);
  }
  if (sign == "**") return power(a, b);
  if (sign == "//") return floor_divided(a, b);
  if (sign == "%") return b == -1 ? 0 : a - floor_divided(a, b) * b;
  if (b == 0) throw Error("division by zero");
  return static_cast<double>(a) / static_cast<double>(b);
}

PythonConstant of_reals(const std::string& sign, double a, double b) {
  if (sign == "+") return a + b;
  if (sign == "-") return a - b;
  if (sign == "*") return a * b;
  if (sign == "**") return std::pow(a, b);
  if (b == 0) throw Error("division by zero");
  if (sign == "//") return std::floor(a / b);
  return sign == "/" ? a / b : a - std::floor(a / b) * b;
}

bool holds(const std::string& sign, double a, double b) {
  if (sign == "==") return a == b;
  if (sign == "!=") return a != b;
  if (sign == "<") return a < b;
  if (sign == "<=") return a <= b;
  if (sign == ">") return a > b;
  if (sign == ">=") return a >= b;
  throw Error(format("the operator \"{}\" is not supported in constants", sign));
}

class Evaluator {
 public:
  Evaluated value(const PythonNode& node) {
    switch (node.kind) {
      case Kind::integer:
      case Kind::real:
        return {number(node)};
      case Kind::text:
        return {node.text};
      case Kind::name:
        return {variable(node.text)};
      case Kind::list:
        return {{}, list(node), true};
      case Kind::call:
        return call(node);
      case Kind::unary:
        return unary(node);
      case Kind::binary:
        return binary(node);
      case Kind::comparison:
        return {comparison(node)};
      case Kind::logical: {
        const bool left = is_true(constant(node.children[0]));
        if (left == (node.text == "or")) return {std::int64_t{left}};
        return {std::int64_t{is_true(constant(node.children[1]))}};
      }
      case Kind::conditional:
        return value(node.children[is_true(constant(node.children[1])) ? 0 : 2]);
      default:
        throw Error(format("\"{}\" is not supported in constants", node.text));
    }
  }

 private:
  PythonConstant constant(const PythonNode& node) {
    Evaluated result = value(node);
    if (result.is_list) throw Error("a list stands where a number is expected");
    return result.constant;
  }

  static PythonConstant number(const PythonNode& node) {
    const char* const end = node.text.data() + node.text.size();
    if (node.kind == Kind::integer) {
      std::int64_t integer = 0;
      const auto read = std::from_chars(node.text.data(), end, integer);
      return checked(read.ec != std::errc() || read.ptr != end, integer);
    }
    double real = 0;
    const auto read = std::from_chars(node.text.data(), end, real);
    if (read.ec != std::errc() || read.ptr != end) throw Error(node.text + " is not a number");
    return real;
  }

  PythonConstant variable(const std::string& name) const {
    const auto found = variables_.find(name);
    if (found == variables_.end())
      throw Error(
          format("{} is not a constant: only variables of a comprehension are known here", name));
    return found->second;
  }

  void append(List& list, PythonConstant item) const {
    if (list.size() >= kLongestList) throw Error(format("has over {} values", kLongestList));
    list.push_back(std::move(item));
  }

  List list(const PythonNode& node) {
    List items;
    for (const PythonNode& child : node.children) {
      if (child.kind != Kind::generator) {
        append(items, constant(child));
        continue;
      }
      for (const PythonConstant& each : value(child.children[1]).list) {
        variables_[child.text] = each;
        if (child.children.size() > 2 && !is_true(constant(child.children[2]))) continue;
        append(items, constant(child.children[0]));
      }
      variables_.erase(child.text);
    }
    return items;
  }

  Evaluated range(const std::vector<PythonNode>& arguments) {
    if (arguments.empty() || arguments.size() > 3) throw Error("range takes 1 to 3 numbers");
    std::vector<std::int64_t> ends;
    for (const PythonNode& argument : arguments) ends.push_back(integer_of(constant(argument)));
    if (ends.size() == 1) ends.insert(ends.begin(), 0);
    if (ends.size() == 2) ends.push_back(1);
    if (ends[2] == 0) throw Error("the step of range is 0");
    Evaluated result{{}, {}, true};
    for (std::int64_t i = ends[0]; ends[2] > 0 ? i < ends[1] : i > ends[1];) {
      append(result.list, i);
      if (__builtin_add_overflow(i, ends[2], &i)) break;
    }
    return result;
  }

  Evaluated call(const PythonNode& node) {
    if (node.text == "range") return range(node.children);
    const bool one = node.children.size() == 1;
    const bool is_generator = one && node.children[0].kind == Kind::generator;
    Evaluated items =
        one && !is_generator ? value(node.children[0]) : Evaluated{{}, list(node), true};
    if (node.text == "list" || node.text == "tuple" || node.text == "sorted") {
      if (!items.is_list) throw Error(format("the argument of {}() is not a list", node.text));
      if (node.text == "sorted") std::sort(items.list.begin(), items.list.end());
      return items;
    }
    if ((node.text == "min" || node.text == "max") && !items.list.empty()) {
      const auto [least, most] =
          std::minmax_element(items.list.begin(), items.list.end(),
                              [](const auto& a, const auto& b) { return real_of(a) < real_of(b); });
      return {node.text == "min" ? *least : *most};
    }
    if (node.text == "int" && !items.is_list) {
      return {truncated(items.constant)};
    }
    throw Error(format(
        "the function {}() is not supported: use range, list, tuple, sorted, min, max or int",
        node.text));
  }

  Evaluated unary(const PythonNode& node) {
    const PythonConstant operand = constant(node.children[0]);
    if (node.text == "not") return {std::int64_t{!is_true(operand)}};
    if (std::holds_alternative<double>(operand)) return {-std::get<double>(operand)};
    return {of_integers("-", 0, integer_of(operand))};
  }

  Evaluated binary(const PythonNode& node) {
    Evaluated left = value(node.children[0]), right = value(node.children[1]);
    if (left.is_list && right.is_list && node.text == "+") {
      for (PythonConstant& item : right.list) append(left.list, std::move(item));
      return left;
    }
    if (left.is_list || right.is_list)
      throw Error("lists support only the operator +, with another list");
    const bool integers = std::holds_alternative<std::int64_t>(left.constant) &&
                          std::holds_alternative<std::int64_t>(right.constant);
    if (integers) {
      return {of_integers(node.text, integer_of(left.constant), integer_of(right.constant))};
    }
    return {of_reals(node.text, real_of(left.constant), real_of(right.constant))};
  }

  PythonConstant comparison(const PythonNode& node) {
    for (std::size_t i = 0; i < node.operators.size(); ++i) {
      const double left = real_of(constant(node.children[i]));
      if (!holds(node.operators[i], left, real_of(constant(node.children[i + 1])))) {
        return std::int64_t{0};
      }
    }
    return std::int64_t{1};
  }

  std::map<std::string, PythonConstant> variables_;
};

}  // namespace

std::vector<PythonConstant> python_list(std::string_view text) {
  const Evaluated result = Evaluator().value(parse_python(text));
  if (!result.is_list) throw Error("it is not a list, such as [1, 2, 4]");
  return result.list;
}

}  // namespace autotune
