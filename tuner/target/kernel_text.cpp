// SPDX-License-Identifier: Apache-2.0
#include "tuner/target/kernel_text.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "tuner/target/usual_names.hpp"
#include "tuner/text/format.hpp"
#include "tuner/text/strings.hpp"

namespace autotune {
namespace {

/// n and m of `n / m + (n % m ? 1 : 0)`, in the ways that it is written.
std::optional<std::pair<std::string, std::string>> quotient_above(
    const std::vector<Summand>& terms) {
  if (terms.size() != 2 || !terms[1].is_added) return std::nullopt;
  const std::vector<Tokens> both = split_tokens(bare(terms[0].tokens), "/");
  if (both.size() != 2 || bare(both[0]).size() != 1 || bare(both[1]).size() != 1) {
    return std::nullopt;
  }
  const Tokens& rest = terms[1].tokens;
  const auto sign = std::ranges::find(rest, "%");
  if (sign == rest.begin() || rest.end() - sign < 2) return std::nullopt;
  const std::string n = bare(both[0])[0], m = bare(both[1])[0];
  if (*(sign - 1) != n || *(sign + 1) != m) return std::nullopt;
  return std::pair(n, m);
}

/// `min(a, b)` of `a < b ? a : b`.
std::optional<Tokens> least_of(const Tokens& tokens) {
  const bool is_it = tokens.size() == 7 && tokens[1] == "<" &&
                     part_of(tokens, 3, 7) == Tokens{"?", tokens[0], ":", tokens[2]};
  return is_it ? std::optional(Tokens{"min", "(", tokens[0], ",", tokens[2], ")"}) : std::nullopt;
}

/// The same text for `a * b + c` and `c + b * a`.
std::string in_order(const Tokens& tokens) {
  std::vector<std::string> terms;
  for (const Summand& term : summands_of(tokens)) {
    std::vector<std::string> factors;
    for (const Tokens& each : split_tokens(term.tokens, "*")) factors.push_back(text_of(each));
    std::ranges::sort(factors);
    std::string all = term.is_added ? "+" : "-";
    for (const std::string& each : factors) all += each + "*";
    terms.push_back(std::move(all));
  }
  std::ranges::sort(terms);
  std::string all;
  for (const std::string& each : terms) all += each;
  return all;
}

}  // namespace

Words free_names(const Tokens& tokens) {
  Words names;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const bool is_member = i > 0 && (tokens[i - 1] == "." || tokens[i - 1] == "->");
    if (!is_member && is_name(tokens[i])) names.insert(tokens[i]);
  }
  return names;
}

std::string IndexEnd::sum() const {
  return offset == 0 ? text : format("{} {} {}", text, offset < 0 ? "-" : "+", std::abs(offset));
}

std::string IndexEnd::length() const {
  if (offset <= 0) return text;
  return sizes == 0 && integer_of(text) ? std::to_string(*integer_of(text) + offset)
                                        : format("{} + {}", text, offset);
}

KernelText::KernelText(const KernelCode& kernel, ManifestNames names) : names_(std::move(names)) {
  WithoutPointers made = without_pointers(kernel);
  body_ = std::move(made.body);
  definitions_ = std::move(made.offsets);
  tell_variables_apart(!kernel.has_last_values);
  read_definitions(kernel.has_last_values);
  read_bounds();
}

/// Each variable of a loop, or also of a block, with an earlier one's name gets a name of its own.
void KernelText::tell_variables_apart(bool are_blocks_told) {
  static const Words kHeads = {"for", "if", "while"}, kNoTypes = {"return", "else", "do"};
  std::map<std::string, int> known;
  std::size_t head = 0;  // the end of a loop's head
  for (std::size_t i = 0; i + 5 < body_.size(); ++i) {
    std::size_t equals = i + 2, end = i;
    if (body_[i] == "for" && body_[i + 1] == "(") {
      equals = position(body_, "=", i);
      end = head = closing(body_, i + 1);
      if (equals >= end || equals < i + 4) continue;
      while (end + 2 < body_.size() && kHeads.contains(body_[end + 1]))
        end = closing(body_, end + 2);
      const bool is_block = end + 1 < body_.size() && body_[end + 1] == "{";
      end = is_block ? closing(body_, end + 1) : position(body_, ";", end);
    } else {
      const bool is_type = is_name(body_[i]) && !kNoTypes.contains(body_[i]);
      if (!are_blocks_told || i < head || !is_type || body_[equals] != "=") continue;
      for (int depth = 0; end < body_.size() && depth >= 0; ++end)
        depth += body_[end] == "{" ? 1 : body_[end] == "}" ? -1 : 0;
    }
    const std::string name = body_[equals - 1];
    if (!is_name(name) || ++known[name] == 1) continue;
    const std::string own = format("{}_{}", name, known[name]);
    known[own] = 1;
    for (std::size_t at = i; at < std::min(end, body_.size()); ++at) {
      const bool is_member = at > 0 && (body_[at - 1] == "." || body_[at - 1] == "->");
      if (body_[at] == name && !is_member) body_[at] = own;
    }
  }
}

void KernelText::read_definitions(bool takes_last) {
  for (std::size_t i = 1; i + 1 < body_.size(); ++i) {
    if (body_[i + 1] != "=" || !is_name(body_[i]) || body_[i - 1] == "." || body_[i - 1] == "->") {
      continue;
    }
    Tokens value = operand(body_, i + 2);
    // A choice, such as `fixed == 0 ? n : fixed`: what it is at run time.
    if (const std::size_t at = i + 2 + value.size(); at < body_.size() && body_[at] == "?") {
      const auto least = least_of(part_of(body_, i + 2, at + 4));
      value = least ? *least : operand(body_, at + 1);
      if (!least && value.size() != 1) value.clear();
    }
    const auto [known, is_new] = definitions_.emplace(body_[i], bare(value));
    if (!is_new && takes_last && !value.empty() && !contains(value, body_[i])) {
      known->second = bare(value);
    }
    if (!is_new && known->second != bare(operand(body_, i + 2))) changing_.insert(body_[i]);
  }
  for (std::size_t i = 1; i + 1 < body_.size(); ++i) {
    if (body_[i] != "+=" && body_[i] != "++") continue;
    for (const std::size_t at : {i - 1, i + 1}) {
      if (is_name(body_[at]) && (at < i || body_[i] == "++")) moving_.insert(body_[at]);
    }
  }
  changing_.insert(moving_.begin(), moving_.end());
  round_quotients_up();
}

/// `blocks = n / m; if (n % m) blocks++;` is a quotient that is rounded up, and so is `blocks = n %
/// m == 0 ? blocks : blocks + 1;` behind it.
void KernelText::round_quotients_up() {
  for (std::size_t i = 0; i + 6 < body_.size(); ++i) {
    const bool is_choice = body_[i + 1] == "=";
    if ((body_[i] != "if" && !is_choice) || body_[i + 3] != "%") continue;
    const std::size_t end = closing(body_, i + 1);
    const std::size_t behind = end + 1 < body_.size() && body_[end + 1] == "{" ? end + 2 : end + 1;
    const std::size_t at = is_choice ? i : behind;
    if (at + 1 >= body_.size()) continue;
    const std::string& name = body_[at] == "++" ? body_[at + 1] : body_[at];
    const bool is_raised =
        is_choice ? contains(part_of(body_, i, position(body_, ";", i)), Tokens{name, "+", "1"})
                  : body_[at] == "++" || body_[at + 1] == "++" || body_[at + 1] == "+=";
    const auto defined = definitions_.find(name);
    if (!is_raised || defined == definitions_.end()) continue;
    const std::string n = body_[i + 2], m = body_[i + 4];
    if (defined->second == Tokens{n, "/", m}) {
      defined->second = {"ceil_div", "(", n, ",", m, ")"};
    }
  }
}

/// Of `i` where `i < n`, and of `i = min(n, …)`.
std::optional<IndexEnd> KernelText::end_of_variable(const Tokens& tokens) const {
  if (tokens.size() != 1) return std::nullopt;
  if (const IndexEnd* const known = bound_of(tokens[0])) return *known;
  const auto defined = definitions_.find(tokens[0]);
  const bool is_least = defined != definitions_.end() && !defined->second.empty() &&
                        lowered(defined->second[0]) == "min";
  return is_least ? extent(defined->second) : std::nullopt;
}

void KernelText::read_bounds() {
  static const std::set<std::string> kBefore = {"(", ";", "&&", "||", ",",
                                                "{", "}", "!",  "=",  "return"};
  for (std::size_t i = 2; i + 1 < body_.size(); ++i) {
    const std::string& sign = body_[i];
    if (sign != "<" && sign != "<=" && sign != ">=" && sign != "!=") continue;
    std::size_t from = i;
    for (int depth = 0; from > 0; --from) {
      const std::string& each = body_[from - 1];
      if (each == ")") ++depth;
      if (depth == 0 && kBefore.contains(each)) break;
      if (each == "(") --depth;
    }
    const Tokens last = bare(operand(body_, i + 1));
    bool is_loop = from > 0 && body_[from - 1] == ";";
    auto end = value(last);
    if (end && sign == "<=") ++end->offset;
    if (!end && is_loop) {  // `k <= i`, where `i < n`
      is_loop = false;      // it makes fewer turns
      end = end_of_variable(last);
    } else if (end && end->sizes == 0 && !is_loop) {
      const auto number = integer_of(end->text);
      if (number && *number + end->offset <= 1) continue;  // `if (rows <= 0) return;`
    }
    if (!end || from == i) continue;
    const std::string variable = text_of(bare(part_of(body_, from, i)));
    bounds_.push_back({variable, *end, is_loop, is_loop ? step_of_loop(variable, i) : ""});
  }
}

std::string KernelText::step_of_loop(const std::string& variable, std::size_t condition) const {
  const auto begin = definitions_.find(variable);
  const std::size_t at = position(body_, ";", condition) + 1;
  const bool is_step = begin != definitions_.end() && begin->second == Tokens{"0"} &&
                       at + 2 < body_.size() && body_[at] == variable && body_[at + 1] == "+=";
  const auto step = is_step ? value(bare(operand(body_, at + 2))) : std::nullopt;
  return step && step->sizes == 0 ? step->sum() : "";
}

const IndexEnd* KernelText::bound_of(const std::string& text) const {
  const Bound* best = nullptr;
  const std::string sorted = in_order(tokens_of(text));
  for (const Bound& each : bounds_) {
    if (each.variable != text && in_order(tokens_of(each.variable)) != sorted) continue;
    const bool is_other = best && best->end.sizes > 0 && each.end.sizes > 0;
    if (is_other && best->end.text != each.end.text) return nullptr;  // it has two meanings
    if (!best || (best->end.sizes == 0 && each.end.sizes > 0)) best = &each;
  }
  return best ? &best->end : nullptr;
}

std::optional<IndexEnd> KernelText::value(const Tokens& given) const {
  Tokens tokens = bare(given);
  if (tokens.size() > 2 && tokens[0] == "std" && tokens[1] == "::") {
    tokens = part_of(tokens, 2, tokens.size());
  }
  if (const auto least = least_of(tokens)) return value(*least);
  IndexEnd all;
  const std::vector<Summand> terms = summands_of(tokens);
  if (const auto quotient = quotient_above(terms)) {
    return value({"ceil_div", "(", quotient->first, ",", quotient->second, ")"});
  }
  if (terms.size() > 1) {
    for (const Summand& term : terms) {
      const auto literal = term.tokens.size() == 1 ? integer_of(term.tokens[0]) : std::nullopt;
      if (literal) {
        all.offset += term.is_added ? *literal : -*literal;
        continue;
      }
      const auto one = value(term.tokens);
      if (!one || (all.text.empty() && !term.is_added)) return std::nullopt;
      if (const auto known = integer_of(one->text); known && one->sizes == 0 && !all.text.empty()) {
        all.offset += term.is_added ? *known : -*known;
        continue;
      }
      all.text +=
          all.text.empty() ? one->text : format(" {} {}", term.is_added ? "+" : "-", one->text);
      all.sizes += one->sizes;
    }
    if (all.text.empty()) return std::nullopt;
    return all;
  }
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::string& each = tokens[i];
    if (const auto known = integer_of(each)) {
      all.text += std::to_string(*known);
    } else if (is_name(each)) {
      if (i + 1 < tokens.size() && tokens[i + 1] == "(") {  // iDivUp(n, BLOCK)
        std::vector<Tokens> both = items_in(tokens, i + 1);
        const std::string function = manifest_function(each);
        const bool is_ceil = each == "ceil" || each == "ceilf";
        if (is_ceil && both.size() == 1) both = split_tokens(bare(both[0]), "/");  // ceil(n / m)
        const bool is_known = !function.empty() && both.size() == 2;
        const auto above = is_known ? value(both[0]) : std::nullopt;
        const auto below = above ? value(both[1]) : std::nullopt;
        if (!below) return std::nullopt;
        all.text += format("{}({}, {})", function, above->length(), below->length());
        all.sizes += above->sizes;
        i = closing(tokens, i + 1);
        continue;
      }
      auto name = names_(each);
      if (!name) {
        const auto defined = definitions_.find(each);
        if (defined == definitions_.end() || defined->second.empty() || bound_of(each) ||
            contains(defined->second, each)) {
          return std::nullopt;
        }
        const auto inner = value(defined->second);
        if (!inner) return std::nullopt;
        all.text += tokens.size() == 1 && inner->offset == 0
                        ? inner->text
                        : format("({}{})", inner->text,
                                 inner->offset == 0 ? "" : format(" + {}", inner->offset));
        all.sizes += inner->sizes;
        continue;
      }
      all.text += name->text;
      all.sizes += name->is_size ? 1 : 0;
    } else if (each == "*" || each == "/" || each == "%" || each == "+" || each == "-") {
      all.text += " " + each + " ";
    } else if (each == "(" || each == ")") {
      all.text += each;
    } else {
      return std::nullopt;
    }
  }
  if (all.text.empty()) return std::nullopt;
  return all;
}

namespace {

/// atomicAdd, and functions of the source that are called after it: `gpuAtomicAdd`.
bool is_atomic_function(const std::string& word) {
  return is_name(word) && lowered(word).find("atomic") != std::string::npos;
}

const std::set<std::string>& changing_operators() {
  static const std::set<std::string> kChanges = {
      "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "++", "--", "<<=", ">>="};
  return kChanges;
}

/// The index behind the members and elements that are taken there, as of `x[i].y`, and behind
/// tokens `also`.
std::size_t behind_parts(const Tokens& body, std::size_t at, std::string_view also = "") {
  while (at + 1 < body.size() && (body[at] == "." || body[at] == "[" || body[at] == also)) {
    at = body[at] == "." ? at + 2 : body[at] == "[" ? closing(body, at) + 1 : at + 1;
  }
  return at;
}

/// Whether an `&` behind it has two operands.
bool is_value(const std::string& word) {
  return word == ")" || word == "]" || (is_in_identifier(word.back()) && word != "return");
}

}  // namespace

/// Whether the pointer there is an argument of a call that gets a size, too: `row(x + i * n, n)`.
bool KernelText::goes_on_from(std::size_t pointer) const {
  int depth = 0;
  std::size_t open = pointer;
  while (open > 0 && depth >= 0) {
    const std::string& each = body_[--open];
    if (each == ";" || each == "{" || each == "}") return false;
    depth += each == ")" || each == "]" ? 1 : each == "(" || each == "[" ? -1 : 0;
  }
  const bool is_call = depth < 0 && open > 0 && body_[open] == "(" && is_name(body_[open - 1]) &&
                       !is_atomic_function(body_[open - 1]) && body_[open - 1] != "if";
  return is_call && std::ranges::any_of(items_in(body_, open), [&](const Tokens& each) {
           const auto name = each.size() == 1 ? names_(each[0]) : std::nullopt;
           return name && name->is_size;
         });
}

BufferUse KernelText::use_of(const std::string& buffer) const {
  BufferUse use;
  for (std::size_t i = 0; i < body_.size(); ++i) {
    if (body_[i] != buffer || (i > 0 && (body_[i - 1] == "." || body_[i - 1] == "->"))) continue;
    const bool is_atomic =
        std::ranges::any_of(part_of(body_, std::max<std::size_t>(i, 4) - 4, i), is_atomic_function);
    // `f(&x[i])`: what `f` does there is not known.
    const bool is_passed = i > 1 && body_[i - 1] == "&" && !is_value(body_[i - 2]);
    const bool goes_on = goes_on_from(is_passed ? i - 1 : i);
    std::size_t at = i + 1;
    if (at >= body_.size() || body_[at] != "[") {  // passed on, or moved
      use.is_read = use.is_written = true;
      use.is_atomic = use.is_atomic || is_atomic;
      const bool is_moved = at < body_.size() && body_[at] == "+";
      if (is_atomic && !is_moved) use.indices.push_back({"0"});
      if (is_moved && !goes_on) use.indices.push_back(operand(body_, at + 1));
      continue;
    }
    if (!goes_on || !is_passed) use.indices.push_back(part_of(body_, at + 1, closing(body_, at)));
    // Also of `(reinterpret_cast<float4*>(&(x[i]))[0]) = `, as macros have it.
    at = behind_parts(body_, at, ")");
    const bool is_set = at < body_.size() && body_[at] == "=";
    const bool is_changed = is_atomic ||
                            (at < body_.size() && changing_operators().contains(body_[at])) ||
                            (i > 0 && (body_[i - 1] == "++" || body_[i - 1] == "--"));
    use.is_written = use.is_written || is_set || is_changed || is_passed;
    use.is_read = use.is_read || !is_set;
    use.is_atomic = use.is_atomic || is_atomic;
  }
  return use;
}

bool KernelText::changes(const std::string& variable) const {
  for (std::size_t i = 1; i + 1 < body_.size(); ++i) {
    if (body_[i] != variable || body_[i - 1] == "." || body_[i - 1] == "->") continue;
    const std::size_t at = behind_parts(body_, i + 1);
    const bool is_passed = body_[i - 1] == "&" && i > 1 && !is_value(body_[i - 2]);
    const bool is_set =
        at < body_.size() && (body_[at] == "=" || changing_operators().contains(body_[at]));
    const bool is_atomic = body_[i - 1] == "(" && i > 1 && is_atomic_function(body_[i - 2]);
    if (is_passed || is_set || is_atomic || body_[i - 1] == "++" || body_[i - 1] == "--")
      return true;
  }
  return false;
}

int dimensions_of(const Tokens& body, std::string_view index) {
  int most = 0;
  for (std::size_t i = 0; i + 2 < body.size(); ++i) {
    if (body[i] == index && body[i + 1] == ".") most = std::max(most, body[i + 2][0] - 'x' + 1);
  }
  return most;
}

Words KernelText::variables_from(const std::string& buffer) const {
  Words all = {buffer};
  const auto is_from = [&](const Tokens& tokens) { return meets(free_names(tokens), all); };
  for (std::size_t before = 0; before < all.size();) {
    before = all.size();
    for (const auto& [name, value] : definitions_) {
      if (is_from(value)) all.insert(name);
    }
    for (std::size_t i = 1; i + 1 < body_.size(); ++i) {
      const std::size_t at = behind_parts(body_, i + 1);  // of the end of a loop, or of a new value
      const bool is_part = is_name(body_[i]) && at < body_.size() &&
                           (body_[at] == "=" || body_[at] == "<" || body_[at] == "<=");
      if (is_part && is_from(operand(body_, at + 1))) all.insert(body_[i]);
    }
  }
  return all;
}

}  // namespace autotune
