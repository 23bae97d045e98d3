// SPDX-License-Identifier: Apache-2.0
// Compiles the text of an expression by recursive descent, in one pass.
#include <algorithm>
#include <charconv>
#include <optional>
#include <span>

#include "tuner/core/expression.hpp"
#include "tuner/core/expression_program.hpp"
#include "tuner/core/value.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

constexpr std::size_t kLongestText = 10000;
constexpr int kDeepestNesting = 100;
constexpr std::string_view kDevicePrefix = "device.";

struct Function {
  std::string_view name;
  Op op;
  int arguments;      // at least; exactly, unless `more`
  bool more = false;  // folded from the left
};
constexpr Function kFunctions[] = {
    {"min", Op::minimum, 2, true}, {"max", Op::maximum, 2, true}, {"ceil_div", Op::ceil_div, 2},
    {"round_up", Op::round_up, 2}, {"is_pow2", Op::is_pow2, 1},   {"abs", Op::absolute, 1},
    {"log2", Op::log2, 1},
};

struct Operator {
  std::string_view sign;
  Op op;
};
constexpr Operator kEqualities[] = {{"==", Op::equal}, {"!=", Op::not_equal}};
constexpr Operator kRelations[] = {  // longer signs first
    {"<=", Op::less_equal},
    {">=", Op::greater_equal},
    {"<", Op::less},
    {">", Op::greater}};
constexpr Operator kSums[] = {{"+", Op::add}, {"-", Op::subtract}};
constexpr Operator kProducts[] = {{"*", Op::multiply}, {"/", Op::divide}, {"%", Op::modulo}};

/// What other languages write; kinds of text that no expression holds.
struct Foreign {
  std::string_view sign;
  const char* instead;
};
constexpr Foreign kForeign[] = {
    {"and", "'&&' is"},
    {"or", "'||' is"},
    {"not", "'!' is"},
    {"in", "compare with each value: a == 1 || a == 2"},
    {"//", "'/' divides integers, as in C"},
    {"**", "multiply, or list the powers as values"},
};

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

class Parser {
 public:
  explicit Parser(std::string_view text) { program_.text = text; }

  ExpressionProgram parse() {
    if (text().size() > kLongestText) fail_at(kLongestText, "the expression is too long");
    integer(&Parser::conditional);
    skip_spaces();
    if (position_ < text().size()) fail_unexpected();
    return std::move(program_);
  }

 private:
  /// What was parsed: words may only be compared.
  enum class Kind { integer, word };
  using Rule = Kind (Parser::*)();

  Kind conditional() {
    const Nesting nesting(*this);
    const std::size_t start = next_position();
    const Kind kind = either();
    const std::size_t sign = next_position();
    if (!accept("?")) return kind;
    if (kind == Kind::word) refuse_word(start);
    const std::size_t to_else = emit(Op::jump_if_zero, sign);
    integer(&Parser::conditional);
    const std::size_t to_end = emit(Op::jump, sign);
    if (!accept(":")) fail_at(position_, "expected ':' of the '?'");
    land(to_else);
    --depth_;  // only one of the two sides leaves its value
    integer(&Parser::conditional);
    land(to_end);
    return Kind::integer;
  }

  Kind either() { return logical(&Parser::both, "||", false); }
  Kind both() { return logical(&Parser::equality, "&&", true); }

  /// `a && b` as a ? truth(b) : 0, and `a || b` as a ? 1 : truth(b).
  Kind logical(Rule operand, std::string_view sign, bool is_and) {
    const std::size_t start = next_position();
    const Kind kind = (this->*operand)();
    for (std::size_t at = next_position(); accept(sign); at = next_position()) {
      if (kind == Kind::word) refuse_word(start);
      const std::size_t to_zero = emit(Op::jump_if_zero, at);
      if (!is_and) emit(Op::constant, at, 1);
      if (is_and) truth_of(operand, at);
      const std::size_t to_end = emit(Op::jump, at);
      land(to_zero);
      --depth_;
      if (is_and) emit(Op::constant, at, 0);
      if (!is_and) truth_of(operand, at);
      land(to_end);
    }
    return kind;
  }

  void truth_of(Rule operand, std::size_t at) {
    integer(operand);
    emit(Op::truth, at);
  }

  Kind equality() {
    const Kind left = relation();
    const std::size_t at = next_position();
    const std::optional<Op> op = accept_any(kEqualities);
    if (!op) return left;
    relation();
    emit(*op, at);
    refuse_chain(kEqualities);
    return Kind::integer;
  }

  Kind relation() {
    const std::size_t start = next_position();
    const Kind left = sum();
    const std::size_t at = next_position();
    const std::optional<Op> op = accept_any(kRelations);
    if (!op) return left;
    if (left == Kind::word) refuse_word(start);
    integer(&Parser::sum);
    emit(*op, at);
    refuse_chain(kRelations);
    return Kind::integer;
  }

  Kind sum() { return left_associative(&Parser::product, kSums); }
  Kind product() { return left_associative(&Parser::unary, kProducts); }

  Kind left_associative(Rule operand, std::span<const Operator> operators) {
    const std::size_t start = next_position();
    const Kind kind = (this->*operand)();
    for (;;) {
      const std::size_t at = next_position();
      const std::optional<Op> op = accept_any(operators);
      if (!op) return kind;
      if (kind == Kind::word) refuse_word(start);
      integer(operand);
      emit(*op, at);
    }
  }

  Kind unary() {
    const Nesting nesting(*this);
    const std::size_t at = next_position();
    const bool is_not = !text().substr(at).starts_with("!=") && accept("!");
    if (!is_not && !accept("-")) return primary();
    integer(&Parser::unary);
    emit(is_not ? Op::logical_not : Op::negate, at);
    return Kind::integer;
  }

  Kind primary() {
    const std::size_t at = next_position();
    if (at == text().size()) fail_at(at, at == 0 ? "the expression is empty" : "expected a value");
    const char first = text()[at];
    if (is_digit(first)) return number();
    if (first == '\'') return word();
    if (is_letter(first)) return name_or_call();
    if (!accept("(")) fail_unexpected();
    const Kind kind = conditional();
    if (!accept(")")) fail_at(position_, "expected ')'");
    return kind;
  }

  Kind number() {
    const std::size_t start = position_;
    std::int64_t value = 0;
    const char* const end = text().data() + text().size();
    const auto [rest, error] = std::from_chars(text().data() + start, end, value);
    position_ = static_cast<std::size_t>(rest - text().data());
    if (error != std::errc{}) fail_at(start, "the number is too large");
    if (rest != end && *rest == '.') fail_at(position_, "only integers are allowed");
    if (rest != end && is_letter(*rest)) fail_at(position_, "a letter follows the number");
    emit(Op::constant, start, value);
    return Kind::integer;
  }

  Kind word() {
    const std::size_t start = position_++;
    const std::size_t close = text().find('\'', position_);
    if (close == std::string_view::npos) fail_at(start, "the quoted word does not end");
    const std::string word(text().substr(position_, close - position_));
    std::vector<std::string>& words = program_.words;
    if (std::find(words.begin(), words.end(), word) == words.end()) words.push_back(word);
    emit(Op::constant, start, word_code(word));
    position_ = close + 1;
    return Kind::word;
  }

  Kind name_or_call() {
    const std::size_t start = position_;
    if (text().substr(position_).starts_with(kDevicePrefix)) position_ += kDevicePrefix.size();
    const std::size_t stem = position_;
    while (position_ < text().size() &&
           (is_letter(text()[position_]) || is_digit(text()[position_])))
      ++position_;
    if (position_ == stem) fail_at(stem, "expected a name after 'device.'");
    const std::string name(text().substr(start, position_ - start));
    if (accept("(")) return call(name, start);
    if (position_ < text().size() && text()[position_] == '.') {
      fail_at(position_, "only 'device' has names with a dot");
    }
    auto found = std::find(program_.names.begin(), program_.names.end(), name);
    if (found == program_.names.end()) found = program_.names.insert(found, name);
    emit(Op::load, start, found - program_.names.begin());
    return Kind::integer;
  }

  Kind call(const std::string& name, std::size_t start) {
    if (const Foreign* const foreign = foreign_at(start)) refuse(*foreign, start);
    const Function* const function = std::find_if(std::begin(kFunctions), std::end(kFunctions),
                                                  [&](auto& f) { return f.name == name; });
    if (function == std::end(kFunctions)) fail_at(start, unknown_function(name));
    int arguments = 0;
    do {
      integer(&Parser::conditional);
      if (++arguments == 2 || (arguments > 2 && function->more)) emit(function->op, start);
    } while ((function->more || arguments < function->arguments) && accept(","));
    if (function->arguments == 1) emit(function->op, start);
    const bool closed = accept(")");
    if (arguments < function->arguments || !closed) {
      const bool too_many = !closed && next_position() < text().size() && text()[position_] == ',';
      if (!closed && !too_many) fail_at(position_, "expected ')'");
      fail_at(start, format("{} takes {}{} argument{}", name, function->arguments,
                            function->more ? " or more" : "", function->arguments == 1 ? "" : "s"));
    }
    return Kind::integer;
  }

  void integer(Rule rule) {
    const std::size_t start = next_position();
    if ((this->*rule)() == Kind::word) refuse_word(start);
  }

  std::string_view text() const { return program_.text; }

  void skip_spaces() {
    while (position_ < text().size() && (text()[position_] == ' ' || text()[position_] == '\t')) {
      ++position_;
    }
  }

  std::size_t next_position() {
    skip_spaces();
    return position_;
  }

  bool accept(std::string_view sign) {
    skip_spaces();
    if (!text().substr(position_).starts_with(sign)) return false;
    position_ += sign.size();
    return true;
  }

  std::optional<Op> accept_any(std::span<const Operator> operators) {
    for (const Operator& each : operators) {
      if (accept(each.sign)) return each.op;
    }
    return std::nullopt;
  }

  void refuse_chain(std::span<const Operator> operators) {
    const std::size_t at = next_position();
    if (accept_any(operators)) fail_at(at, "comparisons do not chain: join them with '&&'");
  }

  std::size_t emit(Op op, std::size_t at, std::int64_t operand = 0) {
    if (op == Op::constant || op == Op::load) ++depth_;
    if (op == Op::jump_if_zero || (op >= Op::add && op <= Op::round_up)) --depth_;
    if (depth_ > kStackDepth) fail_at(at, "the expression is nested too deeply");
    program_.code.push_back({op, static_cast<std::int32_t>(at) + 1, operand});
    return program_.code.size() - 1;
  }

  /// The jump goes to what is emitted next.
  void land(std::size_t jump) {
    program_.code[jump].operand = static_cast<std::int64_t>(program_.code.size());
  }

  /// The text at position_ cannot be read, be it for a sign that begins there, or before it: the
  /// second `/` of `//`, the operand of `not`.
  [[noreturn]] void fail_unexpected() const {
    const std::size_t before = start_of_word_before(position_);
    for (const std::size_t at : {position_, position_ - (position_ > 0), before}) {
      if (const Foreign* const foreign = foreign_at(at)) refuse(*foreign, at);
    }
    fail_at(position_, unexpected());
  }

  [[noreturn]] void refuse(const Foreign& foreign, std::size_t at) const {
    fail_at(at, format("'{}' is no operator, {}", foreign.sign, foreign.instead));
  }

  /// nullptr where none begins.
  const Foreign* foreign_at(std::size_t at) const {
    const auto begins = [&](const Foreign& each) {
      const std::size_t end = at + each.sign.size();
      if (text().substr(at, each.sign.size()) != each.sign) return false;
      return !is_letter(each.sign[0]) || end == text().size() ||
             !(is_letter(text()[end]) || is_digit(text()[end]));
    };
    const Foreign* const found = std::find_if(std::begin(kForeign), std::end(kForeign), begins);
    return found == std::end(kForeign) ? nullptr : found;
  }

  std::size_t start_of_word_before(std::size_t at) const {
    while (at > 0 && text()[at - 1] == ' ') --at;
    while (at > 0 && (is_letter(text()[at - 1]) || is_digit(text()[at - 1]))) --at;
    return at;
  }

  std::string unexpected() const {
    const char sign = text()[position_];
    if (sign == '=') return "'=' is no operator, '==' compares";
    if (sign == '&' || sign == '|')
      return format("'{}' is no operator, '{}{}' is", sign, sign, sign);
    if (sign == '"') return "words stand in single quotes";
    if (sign < ' ' || sign > '~') return "an unexpected character";
    return format("unexpected '{}'", sign);
  }

  static std::string unknown_function(const std::string& name) {
    std::vector<std::string> names;
    for (const Function& function : kFunctions) names.emplace_back(function.name);
    return format("there is no function {} ({})", name, suggestion(name, names));
  }

  [[noreturn]] void refuse_word(std::size_t at) const {
    fail_at(at, "a quoted word can only be compared with == and !=");
  }

  [[noreturn]] void fail_at(std::size_t position, const std::string& what) const {
    throw ExpressionError(program_.text, static_cast<int>(position) + 1, what);
  }

  struct Nesting {
    explicit Nesting(Parser& of) : parser(of) {
      if (++parser.nesting_ > 2 * kDeepestNesting) {
        parser.fail_at(parser.position_, "the expression is nested too deeply");
      }
    }
    ~Nesting() { --parser.nesting_; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;
    Parser& parser;
  };

  ExpressionProgram program_;
  std::size_t position_ = 0;
  int depth_ = 0;    // of the stack where the code now ends
  int nesting_ = 0;  // of conditional() and unary()
};

}  // namespace

ExpressionProgram parse_expression(std::string_view text) { return Parser(text).parse(); }

}  // namespace autotune
