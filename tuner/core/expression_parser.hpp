// SPDX-License-Identifier: Apache-2.0
// Compiles the text of an expression by recursive descent, in one pass. Used by expression_*.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/core/expression.hpp"
#include "tuner/core/expression_program.hpp"

namespace autotune {

/// Error message for a real number where only an integer makes sense.
inline constexpr const char* kNoInteger =
    "it must be an integer: int(), floor() or ceil() make one";

struct ExpressionOperator {
  std::string_view sign;
  Op op;
};

struct ExpressionFunction {
  /// `rounded` functions convert a real number to an integer.
  enum class Takes : std::uint8_t { integers, numbers, reals, rounded };

  std::string_view name;
  Op op;
  int arguments;  // exact number; with `more`, the least
  Takes takes = Takes::integers;
  bool more = false;  // folded from the left
};

/// The same operation on real numbers, if it exists.
std::optional<Op> real_version(Op op);

/// Each rule of the grammar reads the construct that it is named after, emits code for it, and
/// returns its kind and place.
class ExpressionParser {
 public:
  ExpressionParser(std::string_view text, const NameResolver& resolver);

  /// Throws ExpressionError.
  ExpressionProgram parse();

 private:
  /// A parsed operand and its start.
  struct Operand {
    ValueKind kind = ValueKind::integer;
    std::size_t start = 0;
    std::string name = {};                            // if it is a name
    const std::vector<std::string>* words = nullptr;  // if it is a name that holds a word
    std::optional<std::string> literal = {};          // if it is a quoted word
    bool is_number() const { return is_integer() || kind == ValueKind::real; }
    bool is_integer() const { return kind == ValueKind::integer || kind == ValueKind::any; }
    bool is_word() const { return kind == ValueKind::word || kind == ValueKind::any; }
  };
  using Rule = Operand (ExpressionParser::*)();

  /// A parameter of the function that is being expanded; `at` counts from the stack's bottom.
  struct Local {
    std::string name;
    int at;
    Operand value;
  };

  /// Counts how deeply rules are nested.
  struct Nesting {
    explicit Nesting(ExpressionParser& of);
    ~Nesting() { --parser.nesting_; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;
    ExpressionParser& parser;
  };

  // Operators, loosest first: expression_operators.cpp.
  Operand conditional();
  Operand implication();
  Operand either();
  Operand both();
  Operand negation();
  Operand equality();
  Operand relation();
  Operand membership();
  Operand sum();
  Operand product();
  Operand unary();
  Operand logical(Rule operand, std::string_view sign, std::string_view word, bool is_and);
  Operand left_associative(Rule operand, std::span<const ExpressionOperator> operators);
  void truth_of(Rule operand, std::size_t at);
  ValueKind common_kind(const Operand& yes, const Operand& no) const;
  ValueKind combine(Op op, std::size_t at, const Operand& left, const Operand& right);
  std::optional<Op> accept_any(std::span<const ExpressionOperator> operators);
  void refuse_foreign_operators(std::size_t at) const;

  // Numbers, words, names and calls: expression_parser.cpp.
  Operand primary();
  Operand literal_number();
  Operand word();
  Operand name_or_call();
  std::string identifier();
  void load(const std::string& name, std::size_t start);
  NameMeaning meaning_of(const std::string& name, std::size_t start) const;
  Operand call(const std::string& name, std::size_t start);
  Operand argument(const ExpressionFunction& function, std::size_t at);
  ValueKind one(const ExpressionFunction& function, std::size_t at, ValueKind kind);
  ValueKind two(const ExpressionFunction& function, std::size_t at, const Operand& a,
                const Operand& b);
  Operand bytes(std::size_t start);
  Operand call_of_manifest(const std::string& name, std::size_t start);
  Operand body_of(const FunctionText& function, const std::string& name, std::size_t start,
                  std::vector<Local> locals);

  // Text, code, and checks of kinds: expression_parser.cpp.
  Operand whole();
  Operand number(Rule rule);
  void require_number(const Operand& value) const;
  void require_integer(const Operand& value) const;
  void require_truth(const Operand& value) const;
  void require_comparable(const Operand& left, const Operand& right) const;
  void require_word(const Operand& literal, const Operand& named) const;
  static bool is_letter(char c);
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }
  void skip_spaces();
  std::size_t next_position();
  bool accept(std::string_view sign);
  bool accept_word(std::string_view word);
  std::size_t emit(Op op, std::size_t at, std::int64_t operand = 0);
  void land(std::size_t jump);
  std::string unexpected() const;
  [[noreturn]] void refuse(const Operand& value) const;
  [[noreturn]] void fail_at(std::size_t position, const std::string& what) const;

  const NameResolver& resolver_;
  ExpressionProgram program_;
  std::string_view text_;  // of the expression, or of the body of a function
  std::size_t position_ = 0;
  int depth_ = 0;                         // of the stack, after the code so far
  int nesting_ = 0;                       // of conditional(), implication(), negation() and unary()
  std::optional<std::size_t> call_site_;  // of the outermost call that is being expanded
  std::vector<std::string> calls_;
  std::vector<Local> locals_;
};

}  // namespace autotune
