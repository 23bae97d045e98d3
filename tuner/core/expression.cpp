// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/expression.hpp"

#include <algorithm>
#include <cassert>
#include <iterator>

#include "tuner/core/expression_parser.hpp"
#include "tuner/core/expression_program.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
// Queries of an expression, and its evaluation by name lookup.

namespace {

template <class Name>
std::size_t index_in(std::vector<Name>& names, const Name& name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  names.push_back(name);
  return names.size() - 1;
}

/// Appends the code of `part` with names and jumps renumbered.
void append(ExpressionProgram& program, const ExpressionProgram& part) {
  const auto base = static_cast<std::int64_t>(program.code.size());
  for (Instruction each : part.code) {
    if (each.op == Op::jump || each.op == Op::jump_if_zero) each.operand += base;
    if (each.op == Op::load) {
      const std::string& name = part.names[static_cast<std::size_t>(each.operand)];
      each.operand = static_cast<std::int64_t>(index_in(program.names, name));
    }
    program.code.push_back(each);
  }
  for (const std::string& word : part.words) index_in(program.words, word);
}

}  // namespace

ExpressionError::ExpressionError(const std::string& text, int column, const std::string& what)
    : Error(format("{} at column {} of \"{}\"", what, column, text)),
      column_(column),
      reason_(what) {}

Expression Expression::parse(std::string_view text) {
  Expression expression = parse(text, [](const std::string& name) {
    return NameMeaning{ValueKind::any, name};
  });
  if (expression.kind() == ValueKind::integer) return expression;
  throw ExpressionError(expression.text(), 1, kNoInteger);
}

Expression Expression::parse(std::string_view text, const NameResolver& resolver) {
  return Expression(std::make_shared<const ExpressionProgram>(parse_expression(text, resolver)));
}

Expression Expression::constant(std::int64_t value) {
  return Expression(std::make_shared<const ExpressionProgram>(ExpressionProgram{
      std::to_string(value), ValueKind::integer, {}, {}, {{Op::constant, 1, value}}}));
}

Expression Expression::choice(const Expression& condition, const Expression& yes,
                              const Expression& no) {
  ExpressionProgram program{yes.text(), yes.kind(), {}, {}, {}};
  append(program, *condition.program_);
  const std::size_t to_no = program.code.size();
  program.code.push_back({Op::jump_if_zero, 1, 0});
  append(program, *yes.program_);
  const std::size_t to_end = program.code.size();
  program.code.push_back({Op::jump, 1, 0});
  program.code[to_no].operand = static_cast<std::int64_t>(program.code.size());
  append(program, *no.program_);
  program.code[to_end].operand = static_cast<std::int64_t>(program.code.size());
  return Expression(std::make_shared<const ExpressionProgram>(std::move(program)));
}

Expression Expression::called(std::string text) const {
  ExpressionProgram program = *program_;
  program.text = std::move(text);
  return Expression(std::make_shared<const ExpressionProgram>(std::move(program)));
}

const std::string& Expression::text() const { return program_->text; }

ValueKind Expression::kind() const { return program_->kind; }

const std::vector<std::string>& Expression::names() const { return program_->names; }

const std::vector<std::string>& Expression::words() const { return program_->words; }

int Expression::column_of(const std::string& name) const {
  const auto found = std::find(names().begin(), names().end(), name);
  if (found == names().end()) return static_cast<int>(text().find('\'' + name + '\'')) + 1;
  const auto load = std::find_if(program_->code.begin(), program_->code.end(), [&](auto& at) {
    return at.op == Op::load && at.operand == found - names().begin();
  });
  return load == program_->code.end() ? 1 : load->column;
}

std::int64_t Expression::evaluate(std::span<const std::int64_t> values) const {
  assert(values.size() == names().size());
  ExpressionFault fault;
  const auto value = run_expression(program_->code, values, {}, fault);
  if (!value) throw ExpressionError(text(), fault.column, fault.what);
  return *value;
}

std::int64_t Expression::evaluate(
    const std::function<std::int64_t(const std::string&)>& lookup) const {
  std::vector<std::int64_t> values;
  values.reserve(names().size());
  for (const std::string& name : names()) values.push_back(lookup(name));
  return evaluate(values);
}

void Scope::bind(const NamedValues& values) {
  for (const NamedValue& each : values) bind(each.name, each.value.code());
}

std::int64_t Scope::operator[](const std::string& name) const {
  if (const auto found = codes_.find(name); found != codes_.end()) return found->second;
  std::vector<std::string> names;
  for (const auto& [each, code] : codes_) names.push_back(each);
  std::sort(names.begin(), names.end());
  throw Error(format("there is no name {} here ({})", name, suggestion(name, names)));
}

std::int64_t Scope::evaluate(const Expression& expression) const {
  return expression.evaluate([this](const std::string& name) { return (*this)[name]; });
}

// The meaning of an expression as text. Fingerprints contain it, so its form must never change.

namespace {

/// By Op. A new operation gets a new name; the others keep theirs.
constexpr const char* kOpNames[] = {"constant",
                                    "load",
                                    "copy",
                                    "drop_below",
                                    "jump",
                                    "jump_if_zero",
                                    "keep",
                                    "truth",
                                    "negate",
                                    "logical_not",
                                    "is_pow2",
                                    "absolute",
                                    "log2",
                                    "to_real",
                                    "negate_real",
                                    "absolute_real",
                                    "truncate",
                                    "floor",
                                    "ceil",
                                    "square_root",
                                    "to_real_below",
                                    "add",
                                    "subtract",
                                    "multiply",
                                    "divide",
                                    "modulo",
                                    "less",
                                    "less_equal",
                                    "greater",
                                    "greater_equal",
                                    "equal",
                                    "not_equal",
                                    "minimum",
                                    "maximum",
                                    "ceil_div",
                                    "round_up",
                                    "round_down",
                                    "gcd",
                                    "either",
                                    "add_real",
                                    "subtract_real",
                                    "multiply_real",
                                    "divide_real",
                                    "less_real",
                                    "less_equal_real",
                                    "greater_real",
                                    "greater_equal_real",
                                    "equal_real",
                                    "not_equal_real",
                                    "minimum_real",
                                    "maximum_real",
                                    "power"};
static_assert(std::size(kOpNames) == static_cast<std::size_t>(Op::power) + 1);

}  // namespace

std::string Expression::identity(
    const std::function<std::string(const std::string&)>& identity_of) const {
  std::string text;
  for (const Instruction& each : program_->code) {
    text += kOpNames[static_cast<std::size_t>(each.op)];
    text += ' ';
    text += each.op == Op::load ? identity_of(names()[static_cast<std::size_t>(each.operand)])
                                : std::to_string(each.operand);
    text += ';';
  }
  return text;
}

}  // namespace autotune
