// SPDX-License-Identifier: Apache-2.0
// Queries of an expression, and its evaluation by name lookup.
#include "tuner/core/expression.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

#include "tuner/core/expression_parser.hpp"
#include "tuner/core/expression_program.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
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

}  // namespace autotune
