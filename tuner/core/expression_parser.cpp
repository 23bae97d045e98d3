// SPDX-License-Identifier: Apache-2.0
// Compiles the text of an expression by recursive descent, in one pass.
#include <algorithm>
#include <bit>
#include <charconv>
#include <optional>
#include <span>
#include <utility>

#include "tuner/core/element_type.hpp"
#include "tuner/core/expression.hpp"
#include "tuner/core/expression_program.hpp"
#include "tuner/core/value.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

constexpr std::size_t kLongestText = 10000;
constexpr std::size_t kMostInstructions = 20000;  // with functions written out
constexpr int kDeepestNesting = 100;
constexpr std::string_view kDevicePrefix = "device.";

/// What a function takes: `rounded` ones make an integer of a real number.
enum class Takes : std::uint8_t { integers, numbers, reals, rounded };

struct Function {
  std::string_view name;
  Op op;
  int arguments;  // at least; exactly, unless `more`
  Takes takes = Takes::integers;
  bool more = false;  // folded from the left
};
constexpr Function kFunctions[] = {
    {"min", Op::minimum, 2, Takes::numbers, true},
    {"max", Op::maximum, 2, Takes::numbers, true},
    {"ceil_div", Op::ceil_div, 2},
    {"round_up", Op::round_up, 2},
    {"round_down", Op::round_down, 2},
    {"gcd", Op::gcd, 2, Takes::integers, true},
    {"is_pow2", Op::is_pow2, 1},
    {"abs", Op::absolute, 1, Takes::numbers},
    {"log2", Op::log2, 1},
    {"int", Op::truncate, 1, Takes::rounded},
    {"floor", Op::floor, 1, Takes::rounded},
    {"ceil", Op::ceil, 1, Takes::rounded},
    {"sqrt", Op::square_root, 1, Takes::reals},
    {"pow", Op::power, 2, Takes::reals},
};
constexpr std::string_view kBytes = "bytes";  // of an element type

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

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_rising(Op relation) { return relation == Op::less || relation == Op::less_equal; }

/// The operation on real numbers, if there is one.
std::optional<Op> real_version(Op op) {
  if (op == Op::negate) return Op::negate_real;
  if (op == Op::absolute) return Op::absolute_real;
  if (op >= Op::add && op <= Op::divide) return Op(int(Op::add_real) + int(op) - int(Op::add));
  if (op >= Op::less && op <= Op::maximum) return Op(int(Op::less_real) + int(op) - int(Op::less));
  return std::nullopt;
}

bool is_comparison(Op op) { return op >= Op::less && op <= Op::not_equal; }

class Parser {
 public:
  Parser(std::string_view text, const NameResolver& resolver) : resolver_(resolver), text_(text) {
    program_.text = text;
  }

  ExpressionProgram parse() {
    if (text_.size() > kLongestText) fail_at(kLongestText, "the expression is too long");
    const Operand result = whole();
    if (result.literal) refuse(result);
    program_.kind = result.kind == ValueKind::any ? ValueKind::integer : result.kind;
    return std::move(program_);
  }

 private:
  /// What was parsed, and where it starts.
  struct Operand {
    ValueKind kind = ValueKind::integer;
    std::size_t start = 0;
    std::string name = {};                            // where it is a name
    const std::vector<std::string>* words = nullptr;  // of a name that holds a word
    std::optional<std::string> literal = {};          // a quoted word
    bool is_number() const { return is_integer() || kind == ValueKind::real; }
    bool is_integer() const { return kind == ValueKind::integer || kind == ValueKind::any; }
    bool is_word() const { return kind == ValueKind::word || kind == ValueKind::any; }
  };
  using Rule = Operand (Parser::*)();

  /// A parameter of the function that is being written out: `at` counts from the stack's bottom.
  struct Local {
    std::string name;
    int at;
    Operand value;
  };

  Operand whole() {
    Operand result = conditional();
    skip_spaces();
    if (position_ < text_.size()) fail_at(position_, unexpected());
    return result;
  }

  Operand conditional() {
    const Nesting nesting(*this);
    const Operand condition = implication();
    const std::size_t sign = next_position();
    if (!accept("?")) return condition;
    require_truth(condition);
    const std::size_t to_else = emit(Op::jump_if_zero, sign);
    const Operand yes = conditional();
    const std::size_t convert = emit(Op::keep, sign);  // yes, to a real where no is one
    const std::size_t to_end = emit(Op::jump, sign);
    if (!accept(":")) fail_at(position_, "expected ':' of the '?'");
    land(to_else);
    --depth_;  // only one of the two sides leaves its value
    const Operand no = conditional();
    const ValueKind kind = common_kind(yes, no);
    if (kind == ValueKind::real && yes.is_integer()) program_.code[convert].op = Op::to_real;
    if (kind == ValueKind::real && no.is_integer()) emit(Op::to_real, sign);
    land(to_end);
    return {kind, condition.start};
  }

  ValueKind common_kind(const Operand& yes, const Operand& no) const {
    if (yes.kind == ValueKind::handle || no.kind == ValueKind::handle) {
      if (yes.kind != no.kind) refuse(yes.kind == ValueKind::handle ? yes : no);
      return ValueKind::handle;
    }
    require_number(yes);
    require_number(no);
    const bool real = yes.kind == ValueKind::real || no.kind == ValueKind::real;
    return real ? ValueKind::real : ValueKind::integer;
  }

  /// `a implies b` as a ? truth(b) : 1.
  Operand implication() {
    const Nesting nesting(*this);
    const Operand left = either();
    const std::size_t at = next_position();
    if (!accept_word("implies")) return left;
    require_truth(left);
    const std::size_t to_one = emit(Op::jump_if_zero, at);
    truth_of(&Parser::implication, at);
    const std::size_t to_end = emit(Op::jump, at);
    land(to_one);
    --depth_;
    emit(Op::constant, at, 1);
    land(to_end);
    return {ValueKind::integer, left.start};
  }

  Operand either() { return logical(&Parser::both, "||", "or", false); }
  Operand both() { return logical(&Parser::negation, "&&", "and", true); }

  /// `a && b` as a ? truth(b) : 0, and `a || b` as a ? 1 : truth(b).
  Operand logical(Rule operand, std::string_view sign, std::string_view word, bool is_and) {
    Operand left = (this->*operand)();
    for (std::size_t at = next_position(); accept(sign) || accept_word(word);
         at = next_position()) {
      require_truth(left);
      const std::size_t to_zero = emit(Op::jump_if_zero, at);
      if (!is_and) emit(Op::constant, at, 1);
      if (is_and) truth_of(operand, at);
      const std::size_t to_end = emit(Op::jump, at);
      land(to_zero);
      --depth_;
      if (is_and) emit(Op::constant, at, 0);
      if (!is_and) truth_of(operand, at);
      land(to_end);
      left = {ValueKind::integer, left.start};
    }
    return left;
  }

  void truth_of(Rule operand, std::size_t at) {
    require_truth((this->*operand)());
    emit(Op::truth, at);
  }

  Operand negation() {
    const Nesting nesting(*this);
    const std::size_t at = next_position();
    if (!accept_word("not")) return equality();
    require_truth(negation());
    emit(Op::logical_not, at);
    return {ValueKind::integer, at};
  }

  Operand equality() {
    const Operand left = relation();
    const std::size_t at = next_position();
    const std::optional<Op> op = accept_any(kEqualities);
    if (!op) return left;
    const Operand right = relation();
    require_comparable(left, right);
    combine(*op, at, left, right);
    const std::size_t next = next_position();
    if (accept_any(kEqualities)) fail_at(next, "== does not chain: join comparisons with 'and'");
    return {ValueKind::integer, left.start};
  }

  /// `a <= b < c` is a <= b and b < c, with b evaluated once.
  Operand relation() {
    Operand left = membership();
    std::size_t at = next_position();
    std::optional<Op> op = accept_any(kRelations);
    if (!op) return left;
    const std::size_t start = left.start;
    require_number(left);
    Operand right = number(&Parser::membership);
    std::vector<std::size_t> to_zero;
    for (std::size_t next = next_position(); const auto more = accept_any(kRelations);
         next = next_position()) {
      if (is_rising(*more) != is_rising(*op)) {
        fail_at(next, "comparisons do not chain in two directions: join them with 'and'");
      }
      emit(Op::copy, at, 1);
      emit(Op::copy, at, 1);
      combine(*op, at, left, right);
      to_zero.push_back(emit(Op::jump_if_zero, at));
      emit(Op::drop_below, at, 1);
      left = right;
      at = next;
      op = more;
      right = number(&Parser::membership);
    }
    combine(*op, at, left, right);
    if (!to_zero.empty()) {
      const std::size_t to_end = emit(Op::jump, at);
      for (const std::size_t jump : to_zero) land(jump);
      ++depth_;  // the two values that were compared
      emit(Op::constant, at, 0);
      emit(Op::drop_below, at, 2);
      land(to_end);
    }
    return {ValueKind::integer, start};
  }

  Operand membership() {
    const Operand left = sum();
    const std::size_t at = next_position();
    const bool is_not = accept_word("not") && (next_position(), accept_word("in"));
    if (!is_not) {
      position_ = at;
      if (!accept_word("in")) return left;
    }
    emit(Op::constant, at, 0);
    if (!accept("[")) fail_at(next_position(), "expected a list: x in [1, 2]");
    do {
      emit(Op::copy, at, 1);
      const Operand item = conditional();
      require_comparable(left, item);
      combine(Op::equal, at, left, item);
      emit(Op::either, at);
    } while (accept(","));
    if (!accept("]")) fail_at(next_position(), "expected ']'");
    emit(Op::drop_below, at, 1);
    if (is_not) emit(Op::logical_not, at);
    return {ValueKind::integer, left.start};
  }

  Operand sum() { return left_associative(&Parser::product, kSums); }
  Operand product() { return left_associative(&Parser::unary, kProducts); }

  Operand left_associative(Rule operand, std::span<const Operator> operators) {
    Operand left = (this->*operand)();
    for (;;) {
      const std::size_t at = next_position();
      refuse_foreign_operators(at);
      const std::optional<Op> op = accept_any(operators);
      if (!op) return left;
      require_number(left);
      left = {combine(*op, at, left, number(operand)), left.start};
    }
  }

  /// Emits an operation on two numbers, or a comparison; both become real where one is.
  ValueKind combine(Op op, std::size_t at, const Operand& left, const Operand& right) {
    const bool left_real = left.kind == ValueKind::real, right_real = right.kind == ValueKind::real;
    if (!left_real && !right_real) {
      emit(op, at);
      return ValueKind::integer;
    }
    const std::optional<Op> real = real_version(op);
    if (!real) fail_at(at, "real numbers have no such operation: int() makes an integer");
    if (!left_real) emit(Op::to_real_below, at);
    if (!right_real) emit(Op::to_real, at);
    emit(*real, at);
    return is_comparison(op) ? ValueKind::integer : ValueKind::real;
  }

  Operand unary() {
    const Nesting nesting(*this);
    const std::size_t at = next_position();
    const bool is_not = !text_.substr(at).starts_with("!=") && accept("!");
    if (!is_not && !accept("-")) return primary();
    const Operand operand = unary();
    if (is_not) {
      require_truth(operand);
      emit(Op::logical_not, at);
      return {ValueKind::integer, at};
    }
    require_number(operand);
    const bool real = operand.kind == ValueKind::real;
    emit(real ? Op::negate_real : Op::negate, at);
    return {real ? ValueKind::real : ValueKind::integer, at};
  }

  Operand primary() {
    const std::size_t at = next_position();
    if (at == text_.size()) fail_at(at, at == 0 ? "the expression is empty" : "expected a value");
    const char first = text_[at];
    if (is_digit(first)) return literal_number();
    if (first == '\'' || first == '"') return word();
    if (is_letter(first)) return name_or_call();
    if (!accept("(")) fail_at(at, unexpected());
    Operand inner = conditional();
    inner.start = at;
    if (!accept(")")) fail_at(position_, "expected ')'");
    return inner;
  }

  Operand literal_number() {
    const std::size_t start = position_;
    const char* const first = text_.data() + start;
    const char* const end = text_.data() + text_.size();
    std::int64_t integer = 0;
    auto [rest, error] = std::from_chars(first, end, integer);
    const bool is_real = rest + 1 < end && *rest == '.' && is_digit(rest[1]);
    double real = 0;
    if (is_real) {
      const auto read = std::from_chars(first, end, real);
      rest = read.ptr;
      error = read.ec;
    }
    position_ = static_cast<std::size_t>(rest - text_.data());
    if (error != std::errc{}) fail_at(start, "the number is too large");
    if (rest != end && *rest == '.') fail_at(position_, "a digit follows the point of a number");
    if (rest != end && is_letter(*rest)) fail_at(position_, "a letter follows the number");
    emit(Op::constant, start, is_real ? std::bit_cast<std::int64_t>(real) : integer);
    return {is_real ? ValueKind::real : ValueKind::integer, start};
  }

  Operand word() {
    const std::size_t start = position_++;
    const std::size_t close = text_.find(text_[start], position_);
    if (close == std::string_view::npos) fail_at(start, "the quoted word does not end");
    const std::string word(text_.substr(position_, close - position_));
    std::vector<std::string>& words = program_.words;
    if (std::find(words.begin(), words.end(), word) == words.end()) words.push_back(word);
    emit(Op::constant, start, word_code(word));
    position_ = close + 1;
    return {ValueKind::word, start, {}, nullptr, word};
  }

  Operand name_or_call() {
    const std::size_t start = position_;
    const std::string name = identifier();
    if (accept("(")) return call(name, start);
    if (position_ < text_.size() && text_[position_] == '.') {
      fail_at(position_, "only 'device' has names with a dot");
    }
    if (name == "true" || name == "false") {
      emit(Op::constant, start, name == "true");
      return {ValueKind::integer, start};
    }
    for (const Local& local : locals_) {
      if (local.name != name) continue;
      emit(Op::copy, start, depth_ - 1 - local.at);
      Operand value = local.value;
      value.start = start;
      return value;
    }
    const NameMeaning meaning = meaning_of(name, start);
    if (meaning.function) fail_at(start, format("{} is a function: {}(…)", name, name));
    load(meaning.name, start);
    return {meaning.kind, start, name, meaning.words};
  }

  std::string identifier() {
    const std::size_t start = position_;
    if (text_.substr(position_).starts_with(kDevicePrefix)) position_ += kDevicePrefix.size();
    const std::size_t stem = position_;
    while (position_ < text_.size() && (is_letter(text_[position_]) || is_digit(text_[position_])))
      ++position_;
    if (position_ == stem) fail_at(stem, "expected a name after 'device.'");
    return std::string(text_.substr(start, position_ - start));
  }

  void load(const std::string& name, std::size_t start) {
    auto found = std::find(program_.names.begin(), program_.names.end(), name);
    if (found == program_.names.end()) found = program_.names.insert(found, name);
    emit(Op::load, start, found - program_.names.begin());
  }

  NameMeaning meaning_of(const std::string& name, std::size_t start) const {
    try {
      return resolver_(name);
    } catch (const NameError& error) {
      fail_at(start, error.what());
    }
  }

  Operand call(const std::string& name, std::size_t start) {
    if (name == kBytes) return bytes(start);
    const Function* const function = std::find_if(std::begin(kFunctions), std::end(kFunctions),
                                                  [&](auto& f) { return f.name == name; });
    if (function == std::end(kFunctions)) return call_of_manifest(name, start);
    int arguments = 0;
    Operand value;
    do {
      const Operand next = argument(*function, start);
      value = ++arguments == 1 ? next : Operand{two(*function, start, value, next), start};
    } while ((function->more || arguments < function->arguments) && accept(","));
    const bool closed = accept(")");
    if (arguments < function->arguments || !closed) {
      const bool too_many = !closed && next_position() < text_.size() && text_[position_] == ',';
      if (!closed && !too_many) fail_at(position_, "expected ')'");
      fail_at(start, format("{} takes {}{} argument{}", name, function->arguments,
                            function->more ? " or more" : "", function->arguments == 1 ? "" : "s"));
    }
    if (function->arguments == 1) value.kind = one(*function, start, value.kind);
    return {value.kind == ValueKind::any ? ValueKind::integer : value.kind, start};
  }

  Operand argument(const Function& function, std::size_t at) {
    const Operand value = conditional();
    if (function.takes == Takes::integers) {
      require_integer(value);
    } else {
      require_number(value);
    }
    if (function.takes == Takes::reals && value.is_integer()) emit(Op::to_real, at);
    return value;
  }

  ValueKind one(const Function& function, std::size_t at, ValueKind kind) {
    const bool real = kind == ValueKind::real;
    if (function.takes == Takes::rounded && !real) return kind;
    emit(function.takes == Takes::numbers && real ? *real_version(function.op) : function.op, at);
    if (function.takes == Takes::reals) return ValueKind::real;
    return function.takes == Takes::numbers ? kind : ValueKind::integer;
  }

  ValueKind two(const Function& function, std::size_t at, const Operand& a, const Operand& b) {
    if (function.takes != Takes::reals) return combine(function.op, at, a, b);
    emit(function.op, at);
    return ValueKind::real;
  }

  /// bytes('f32'), bytes(dtype).
  Operand bytes(std::size_t start) {
    const std::size_t at = next_position();
    if (at < text_.size() && (text_[at] == '\'' || text_[at] == '"')) {
      const Operand type = word();
      const auto element = element_type(*type.literal);
      if (!element)
        fail_at(at, format("{} is no element type (f32, f64, i32, i64)", *type.literal));
      program_.code.back().operand = bytes_of(*element);
    } else if (at < text_.size() && is_letter(text_[at])) {
      load(meaning_of(identifier() + "_bytes", at).name, at);
    } else {
      fail_at(at, "bytes takes an element type, 'f32', or a setting of such");
    }
    if (!accept(")")) fail_at(next_position(), "expected ')'");
    return {ValueKind::integer, start};
  }

  /// A call of a function that the manifest defines: its arguments stay on the stack below its
  /// body, which is compiled here once more.
  Operand call_of_manifest(const std::string& name, std::size_t start) {
    const auto function = meaning_of(name, start).function;
    if (!function) fail_at(start, unknown_function(name));
    if (std::find(calls_.begin(), calls_.end(), name) != calls_.end()) {
      fail_at(start, format("{} calls itself", name));
    }
    std::vector<Local> locals;
    do {
      const int at = depth_;
      Operand value = conditional();
      value.literal.reset();
      const std::size_t index = locals.size();
      const bool known = index < function->parameters.size();
      locals.push_back({known ? function->parameters[index] : "", at, value});
    } while (accept(","));
    if (!accept(")")) fail_at(next_position(), "expected ')'");
    const std::size_t wanted = function->parameters.size();
    if (locals.size() != wanted) {
      fail_at(start, format("{} takes {} argument{}", name, wanted, wanted == 1 ? "" : "s"));
    }
    const auto count = static_cast<std::int64_t>(locals.size());
    Operand result = body_of(*function, name, start, std::move(locals));
    emit(Op::drop_below, start, count);
    return result;
  }

  Operand body_of(const FunctionText& function, const std::string& name, std::size_t start,
                  std::vector<Local> locals) {
    const std::string_view text = std::exchange(text_, function.body);
    const std::size_t position = std::exchange(position_, 0);
    const auto site = std::exchange(call_site_, call_site_.value_or(start));
    locals_.swap(locals);
    calls_.push_back(name);
    Operand result = whole();
    if (result.literal) refuse(result);
    calls_.pop_back();
    locals_.swap(locals);
    call_site_ = site;
    position_ = position;
    text_ = text;
    return {result.kind, start};
  }

  Operand number(Rule rule) {
    const Operand value = (this->*rule)();
    require_number(value);
    return value;
  }

  void require_number(const Operand& value) const {
    if (!value.is_number()) refuse(value);
  }

  void require_integer(const Operand& value) const {
    require_number(value);
    if (value.kind == ValueKind::real) {
      fail_at(value.start, "an integer is wanted here: int(), floor() or ceil() make one");
    }
  }

  void require_truth(const Operand& value) const {
    require_number(value);
    if (value.kind == ValueKind::real) {
      fail_at(value.start, "a real number is neither true nor false: compare it");
    }
  }

  void require_comparable(const Operand& left, const Operand& right) const {
    const bool words = left.is_word() && right.is_word();
    if (!words && !(left.is_number() && right.is_number())) {
      if (!left.is_word() && !left.is_number()) refuse(left);
      if (!right.is_word() && !right.is_number()) refuse(right);
      fail_at(right.start, "a word is compared with words only");
    }
    if (left.literal && right.words) require_word(left, right);
    if (right.literal && left.words) require_word(right, left);
  }

  void require_word(const Operand& literal, const Operand& named) const {
    const std::vector<std::string>& words = *named.words;
    if (std::find(words.begin(), words.end(), *literal.literal) != words.end()) return;
    fail_at(literal.start, format("there is no {} '{}' ({})", named.name, *literal.literal,
                                  suggestion(*literal.literal, words)));
  }

  void skip_spaces() {
    while (position_ < text_.size()) {
      const char c = text_[position_];
      if (c == '#') {
        position_ = std::min(text_.find('\n', position_), text_.size());
      } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
        ++position_;
      } else {
        return;
      }
    }
  }

  std::size_t next_position() {
    skip_spaces();
    return position_;
  }

  bool accept(std::string_view sign) {
    skip_spaces();
    if (!text_.substr(position_).starts_with(sign)) return false;
    position_ += sign.size();
    return true;
  }

  bool accept_word(std::string_view word) {
    skip_spaces();
    const std::size_t end = position_ + word.size();
    if (!text_.substr(position_).starts_with(word)) return false;
    if (end < text_.size() && (is_letter(text_[end]) || is_digit(text_[end]))) return false;
    position_ = end;
    return true;
  }

  std::optional<Op> accept_any(std::span<const Operator> operators) {
    for (const Operator& each : operators) {
      if (accept(each.sign)) return each.op;
    }
    return std::nullopt;
  }

  std::size_t emit(Op op, std::size_t at, std::int64_t operand = 0) {
    if (op == Op::constant || op == Op::load || op == Op::copy) ++depth_;
    if (op == Op::jump_if_zero || op >= Op::add) --depth_;
    if (op == Op::drop_below) depth_ -= static_cast<int>(operand);
    if (depth_ > kStackDepth) fail_at(at, "the expression is nested too deeply");
    if (program_.code.size() >= kMostInstructions) {
      fail_at(at, "the expression is too long with its functions written out");
    }
    const std::size_t column = call_site_.value_or(at) + 1;
    program_.code.push_back({op, static_cast<std::int32_t>(column), operand});
    return program_.code.size() - 1;
  }

  /// The jump goes to what is emitted next.
  void land(std::size_t jump) {
    program_.code[jump].operand = static_cast<std::int64_t>(program_.code.size());
  }

  void refuse_foreign_operators(std::size_t at) const {
    const std::string_view rest = text_.substr(at);
    if (rest.starts_with("//")) fail_at(at, "'//' is no operator: '/' divides integers as C does");
    if (rest.starts_with("**")) fail_at(at, "'**' is no operator: pow(a, b) is a power");
  }

  std::string unexpected() const {
    const char sign = text_[position_];
    if (sign == '=') return "'=' is no operator, '==' compares";
    if (sign == '&' || sign == '|')
      return format("'{}' is no operator, '{}{}' is", sign, sign, sign);
    if (sign < ' ' || sign > '~') return "an unexpected character";
    return format("unexpected '{}'", sign);
  }

  static std::string unknown_function(const std::string& name) {
    std::vector<std::string> names{std::string(kBytes)};
    for (const Function& function : kFunctions) names.emplace_back(function.name);
    return format("there is no function {} ({})", name, suggestion(name, names));
  }

  /// Of what is no number.
  [[noreturn]] void refuse(const Operand& value) const {
    if (value.kind == ValueKind::handle) {
      fail_at(value.start, format("{} is no number: a buffer or tensor map is passed as it is, or "
                                  "chosen by '? :'",
                                  value.name.empty() ? "this" : value.name));
    }
    fail_at(value.start, value.literal ? "a quoted word can only be compared with == and !="
                                       : format("{} holds a word, which can only be compared",
                                                value.name.empty() ? "this" : value.name));
  }

  /// In the body of a function, at its call.
  [[noreturn]] void fail_at(std::size_t position, const std::string& what) const {
    if (!call_site_) {
      throw ExpressionError(program_.text, static_cast<int>(position) + 1, what);
    }
    throw ExpressionError(program_.text, static_cast<int>(*call_site_) + 1,
                          format("in {}(): {}", calls_.back(), what));
  }

  struct Nesting {
    explicit Nesting(Parser& of) : parser(of) {
      if (++parser.nesting_ > kDeepestNesting * 4) {
        parser.fail_at(parser.position_, "the expression is nested too deeply");
      }
    }
    ~Nesting() { --parser.nesting_; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;
    Parser& parser;
  };

  const NameResolver& resolver_;
  ExpressionProgram program_;
  std::string_view text_;  // of the expression, or of the body of a function
  std::size_t position_ = 0;
  int depth_ = 0;                         // of the stack where the code now ends
  int nesting_ = 0;                       // of conditional(), implication(), negation() and unary()
  std::optional<std::size_t> call_site_;  // of the outermost call that is being written out
  std::vector<std::string> calls_;
  std::vector<Local> locals_;
};

}  // namespace

ExpressionProgram parse_expression(std::string_view text, const NameResolver& resolver) {
  return Parser(text, resolver).parse();
}

}  // namespace autotune
