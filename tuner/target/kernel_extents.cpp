// SPDX-License-Identifier: Apache-2.0
// KernelText: how far its indices go, and what a block advances.
#include <algorithm>
#include <utility>

#include "tuner/target/kernel_text.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

constexpr int kDeepestIndex = 12;

bool is_index(const Tokens& tokens, std::string_view of, char axis) {
  return tokens.size() == 3 && tokens[0] == of && tokens[1] == "." &&
         tokens[2] == std::string(1, axis);
}

}  // namespace

std::optional<IndexEnd> KernelText::product(const std::vector<Tokens>& factors, int depth) const {
  IndexEnd all;
  static const Words kComparisons = {"==", "!=", "<", ">", "<=", ">=", "!"};
  for (const Tokens& each : factors) {
    const auto compares = [&](const std::string& word) { return kComparisons.contains(word); };
    if (std::ranges::any_of(each, compares)) continue;  // at most 1
    auto one = value(each);
    if (one && one->offset != 0) one->text = "(" + one->sum() + ")";
    if (!one) {
      one = extent(each, depth + 1);
      if (one) one->text = one->length();
    }
    if (!one) return std::nullopt;
    if (one->text == "0") return IndexEnd{"0", 0, 0};
    if (one->text == "1" && one->sizes == 0 && factors.size() > 1) continue;
    const bool is_sum = one->text.find(" + ") != std::string::npos && !one->text.starts_with('(');
    all.text +=
        format("{}{}", all.text.empty() ? "" : " * ", is_sum ? "(" + one->text + ")" : one->text);
    all.sizes += one->sizes;
  }
  return all;
}

std::optional<IndexEnd> KernelText::extent_of_word(const std::string& word, int depth) const {
  if (const IndexEnd* const end = bound_of(word)) return *end;
  const auto defined = definitions_.find(word);
  const bool is_known = defined != definitions_.end() && !defined->second.empty();
  if (!is_known || changing_.contains(word)) return std::nullopt;
  return extent(defined->second, depth + 1);
}

/// The number of all threads along an axis, of `blockIdx.x * blockDim.x + threadIdx.x`.
std::optional<IndexEnd> KernelText::spread(const Tokens& index) const {
  const std::vector<Summand> terms = summands_of(index);
  for (const char axis : {'x', 'y'}) {
    const bool is_thread = terms.size() == 2 && terms[0].is_added && terms[1].is_added &&
                           (is_index(bare(terms[0].tokens), "threadIdx", axis) ||
                            is_index(bare(terms[1].tokens), "threadIdx", axis));
    const auto step = is_thread ? advance(index, axis, 0) : std::nullopt;
    const auto known = step ? value(*step) : std::nullopt;
    const auto all =
        known ? names_(format("blockIdx.{} {}", std::string(1, axis), known->text)) : std::nullopt;
    if (all) return IndexEnd{all->text, 0, 1};
  }
  return std::nullopt;
}

std::optional<IndexEnd> KernelText::extent(const Tokens& index, int depth) const {
  if (depth > kDeepestIndex || index.empty()) return std::nullopt;
  const Tokens tokens = bare(index);
  if (const IndexEnd* const end = bound_of(text_of(tokens))) return *end;
  if (const auto all = spread(tokens)) return all;
  const std::vector<Summand> terms = summands_of(tokens);
  if (terms.size() == 1) {
    if (const bool is_least = tokens[0] == "min" || tokens[0] == "MIN";
        is_least && tokens.size() > 2 && closing(tokens, 1) + 1 == tokens.size()) {
      for (const Tokens& each : items_in(tokens, 1)) {
        auto end = value(each);
        if (end && end->sizes > 0) return ++end->offset, end;
      }
      return std::nullopt;
    }
    if (tokens.size() == 3 && tokens[0] == "blockIdx") {
      const auto blocks = names_("blockIdx." + tokens[2]);
      return blocks ? std::optional(IndexEnd{blocks->text, 0, 1}) : std::nullopt;
    }
    if (tokens.size() == 1) {
      if (const auto known = integer_of(tokens[0])) return IndexEnd{"1", *known, 0};
      if (const auto inner = extent_of_word(tokens[0], depth)) return inner;
      const auto name = names_(tokens[0]);
      if (name) return IndexEnd{name->text, 1, name->is_size ? 1 : 0};
      return std::nullopt;
    }
    if (const auto divided = split_tokens(tokens, "/"); divided.size() == 2) {
      const std::vector<Summand> parts = summands_of(bare(divided[0]));
      const bool is_known = std::ranges::all_of(
          parts, [&](const Summand& each) { return extent(each.tokens, depth + 1).has_value(); });
      const auto above = is_known ? extent(divided[0], depth + 1) : std::nullopt;
      const auto below = value(divided[1]);
      if (!above || !below) return std::nullopt;
      return IndexEnd{format("ceil_div({}, {})", above->length(), below->text), 0, above->sizes};
    }
    if (const auto rest = split_tokens(tokens, "%"); rest.size() == 2) return value(rest[1]);
    const std::vector<Tokens> factors = split_tokens(tokens, "*");
    return factors.size() > 1 ? product(factors, depth) : std::nullopt;
  }
  if (const auto last =
          terms.back().tokens.size() == 1 ? integer_of(terms.back().tokens[0]) : std::nullopt) {
    auto all = extent(part_of(tokens, 0, tokens.size() - 2), depth + 1);
    // Of several dimensions, one of which may be a number: not at their end.
    const bool has_product = std::ranges::any_of(
        terms, [](const Summand& each) { return split_tokens(each.tokens, "*").size() > 1; });
    const bool is_within =
        all && (all->sizes > 1 || (all->sizes > 0 && has_product && terms.size() > 2));
    if (all && !is_within) all->offset += terms.back().is_added ? *last : -*last;
    return all;
  }
  std::optional<IndexEnd> best;  // of products: what is added to them is below their last factor
  IndexEnd sum, before;
  bool is_known = true;  // what no block adds to is less than a size
  for (const Summand& term : terms) {
    const auto literal = term.tokens.size() == 1 ? integer_of(term.tokens[0]) : std::nullopt;
    if (!term.is_added) {
      sum.offset -= literal.value_or(0);
      continue;
    }
    const std::vector<Tokens> factors = split_tokens(term.tokens, "*");
    auto one = factors.size() > 1 ? product(factors, depth) : extent(term.tokens, depth + 1);
    // The start of a pointer, or of a block's elements.
    if (!one &&
        (term.tokens.front() == "(" || (factors.size() > 1 && depends_on(term.tokens, "blockIdx"))))
      return std::nullopt;
    if (!one && term.tokens.size() == 1 && moving_.contains(term.tokens[0])) return std::nullopt;
    is_known = is_known && (one || !depends_on(term.tokens, "blockIdx"));
    if (!one || one->text == "0") continue;
    const auto start = factors.size() > 1 ? value(term.tokens) : std::nullopt;
    const auto is_constant = [&](const Tokens& factor) {
      const auto known = value(factor);
      return known && (known->sizes > 0 || integer_of(factor[0]));
    };
    if (start && start->sizes > 0 && std::ranges::all_of(factors, is_constant)) {  // `n * 2 + i`
      before.text += start->sum() + " + ";
      before.sizes += start->sizes;
      continue;
    }
    if (factors.size() > 1 || (one->text.find(" * ") != std::string::npos && one->sizes > 1)) {
      if (!best || one->sizes > best->sizes) best = one;
      continue;
    }
    const bool is_number = one->sizes == 0 && integer_of(one->text).has_value();
    if (is_number) {
      sum.offset += *integer_of(one->text) + one->offset - 1;
    } else {
      if (!sum.text.empty()) --sum.offset;
      sum.text += format("{}{}", sum.text.empty() ? "" : " + ", one->text);
      sum.offset += one->offset;
      sum.sizes += one->sizes;
    }
  }
  const bool is_best = best && (sum.text.empty() || (best->sizes > 0 && best->sizes >= sum.sizes));
  const IndexEnd* const rest = is_best ? &*best : sum.text.empty() ? nullptr : &sum;
  if (!rest || (!is_known && rest->sizes == 0)) return std::nullopt;
  return IndexEnd{before.text + rest->text, rest->offset, before.sizes + rest->sizes};
}

Tokens KernelText::definition(const std::string& word) const {
  const auto known = definitions_.find(word);
  return known == definitions_.end() || changing_.contains(word) ? Tokens{word} : known->second;
}

bool KernelText::depends_on(const Tokens& index, std::string_view word, bool through_elements,
                            int depth) const {
  for (std::size_t i = 0; i < index.size() && depth <= kDeepestIndex; ++i) {
    if (index[i] == "[" && !through_elements) i = closing(index, i);
    if (i >= index.size()) break;
    const auto defined = definitions_.find(index[i]);
    if (index[i] == word || (defined != definitions_.end() &&
                             depends_on(defined->second, word, through_elements, depth + 1)))
      return true;
  }
  return false;
}

std::optional<IndexEnd> KernelText::greatest_of_word(const std::string& word, bool guarded,
                                                     int depth) const {
  static const Words kGrowing = {"+=", "++", "*=", "<<=", "|=", "^=", "-=", "%="};
  const bool grows = changing_.contains(word) || contains(body_, Tokens{"++", word}) ||
                     std::ranges::any_of(kGrowing, [&](const std::string& sign) {
                       return contains(body_, Tokens{word, sign});
                     });
  std::optional<IndexEnd> best;
  for (const Bound& each : bounds_) {
    if (each.variable != word || (!each.is_loop && !guarded)) continue;
    best = each.end;
    --best->offset;
  }
  if (best) return best;
  if (const auto known = names_(word)) return IndexEnd{known->text, 0, known->is_size ? 1 : 0};
  const auto defined = definitions_.find(word);
  if (grows || defined == definitions_.end()) return std::nullopt;
  return greatest(defined->second, guarded, depth + 1);
}

std::optional<IndexEnd> KernelText::greatest(const Tokens& index, bool guarded, int depth) const {
  if (depth > kDeepestIndex || index.empty()) return std::nullopt;
  const Tokens tokens = bare(index);
  const std::string text = text_of(tokens);
  for (const Bound& each : bounds_) {
    if (guarded && each.variable == text)
      return IndexEnd{each.end.text, each.end.offset - 1, each.end.sizes};
  }
  if (tokens.size() == 1) {
    const auto number = integer_of(tokens[0]);
    return number ? IndexEnd{"", *number, 0} : greatest_of_word(tokens[0], guarded, depth);
  }
  if (tokens.size() == 3 && tokens[1] == ".") {
    const auto known = names_(tokens[0] + "." + tokens[2]);
    if (!known) return std::nullopt;
    return IndexEnd{known->text, tokens[0] == "threadIdx" ? -1 : 0, 0};
  }
  // Of the operator that is evaluated last: the operands on both sides of it.
  std::size_t at = 0;
  int level = 4, brackets = 0;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::string& each = tokens[i];
    if (each == "(" || each == "[") ++brackets;
    if (each == ")" || each == "]") --brackets;
    const int own = each == "&"                                 ? 0
                    : each == ">>" || each == "<<"              ? 1
                    : each == "+" || each == "-"                ? 2
                    : each == "*" || each == "/" || each == "%" ? 3
                                                                : 4;
    if (brackets == 0 && i > 0 && own < 4 && own <= level) {
      at = i;
      level = own;
    }
  }
  if (at == 0) return std::nullopt;
  const std::string& sign = tokens[at];
  const auto left = greatest(part_of(tokens, 0, at), guarded, depth + 1);
  const auto right = greatest(part_of(tokens, at + 1, tokens.size()), guarded, depth + 1);
  if (!right) return std::nullopt;
  if (sign == "%" || sign == "&") {
    return IndexEnd{right->text, right->offset - (sign == "%" ? 1 : 0), right->sizes};
  }
  if (!left) return std::nullopt;
  const int sizes = left->sizes + right->sizes;
  const bool is_number = right->text.empty();
  if (sign == "+") {
    const char* const between = left->text.empty() || is_number ? "" : " + ";
    return IndexEnd{left->text + between + right->text, left->offset + right->offset, sizes};
  }
  if (sign == "-") {  // what is subtracted may be 0
    return IndexEnd{left->text, left->offset - (is_number ? right->offset : 0), left->sizes};
  }
  const auto in_one = [](const IndexEnd& each) {
    const std::string sum = each.text.empty() ? std::to_string(each.offset) : each.sum();
    return factor_of(sum);
  };
  if (sign == "*" || sign == "/") {
    if (sign == "/" && is_number && right->offset == 0) return std::nullopt;
    return IndexEnd{format("{} {} {}", in_one(*left), sign, in_one(*right)), 0, sizes};
  }
  constexpr std::int64_t kMostBits = 30;
  if (!is_number || right->offset < 0 || right->offset > kMostBits) return std::nullopt;
  return IndexEnd{
      format("{} {} {}", in_one(*left), sign == ">>" ? "/" : "*", std::int64_t{1} << right->offset),
      0, sizes};
}

std::optional<KernelText::Turns> KernelText::turns(const Tokens& index) const {
  const Bound* loop = nullptr;
  Tokens thread;
  for (const Summand& term : summands_of(bare(index))) {
    const std::string text = text_of(bare(term.tokens));
    const auto found = std::ranges::find_if(
        bounds_, [&](const Bound& each) { return each.variable == text && !each.step.empty(); });
    if (!term.is_added || (found == bounds_.end() && !thread.empty())) return std::nullopt;
    if (found != bounds_.end()) loop = &*found;
    if (found == bounds_.end()) thread = term.tokens;
  }
  const auto last = greatest(thread, false);
  const bool is_thread = loop && last && last->offset == -1 && last->text == loop->step;
  return is_thread ? std::optional(Turns{loop->end, loop->step}) : std::nullopt;
}

std::string KernelText::Turns::evenly() const {
  return format("{} % {} == 0", factor_of(end.sum()), factor_of(step));
}

std::vector<KernelText::Turns> KernelText::loops() const {
  std::vector<Turns> all;
  for (const Bound& each : bounds_) {
    if (!each.step.empty() && each.end.sizes == 0) all.push_back({each.end, each.step});
  }
  return all;
}

std::optional<Tokens> KernelText::advance(const Tokens& index, char axis, int depth) const {
  if (depth > kDeepestIndex) return std::nullopt;
  const Tokens tokens = bare(index);
  if (is_index(tokens, "blockIdx", axis)) return Tokens{"1"};
  const std::vector<Summand> terms = summands_of(tokens);
  if (terms.size() > 1) {
    for (const Summand& term : terms) {
      if (const auto found = advance(term.tokens, axis, depth + 1)) return found;
    }
    return std::nullopt;
  }
  const std::vector<Tokens> factors = split_tokens(tokens, "*");
  if (factors.size() > 1) {
    for (std::size_t i = 0; i < factors.size(); ++i) {
      const auto inner = advance(factors[i], axis, depth + 1);
      if (!inner) continue;
      Tokens all = *inner == Tokens{"1"} ? Tokens{} : *inner;
      for (std::size_t other = 0; other < factors.size(); ++other) {
        if (other == i) continue;
        if (!all.empty()) all.emplace_back("*");
        append(all, factors[other]);
      }
      return all;
    }
    return std::nullopt;
  }
  if (tokens.size() != 1) return std::nullopt;
  const auto defined = definitions_.find(tokens[0]);
  if (defined == definitions_.end() || defined->second.empty()) return std::nullopt;
  return advance(defined->second, axis, depth + 1);
}

std::optional<Tokens> KernelText::advance(char axis) const {
  std::optional<Tokens> found;
  for (const Bound& each : bounds_) {
    if (each.end.sizes == 0) continue;
    if (const auto one = advance(tokens_of(each.variable), axis, 0)) return one;
  }
  for (const auto& [name, value] : definitions_) {
    const auto one = advance(value, axis, 0);
    if (one && (!found || one->size() > found->size()) && *one != Tokens{"1"}) found = one;
  }
  for (std::size_t i = 1; !found && i < body_.size(); ++i) {  // `row = blockIdx.x; x[row * N]`
    if (body_[i] != "[") continue;
    found = advance(part_of(body_, i + 1, closing(body_, i)), axis, 0);
    if (found == Tokens{"1"}) found.reset();
  }
  return found;
}

std::optional<IndexEnd> KernelText::end(char axis) const {
  for (const Bound& each : bounds_) {
    if (each.end.sizes > 0 && advance(tokens_of(each.variable), axis, 0)) return each.end;
  }
  for (const Bound& each : bounds_) {  // `b < n`, where `b = blockIdx.z / m`
    const auto defined = definitions_.find(each.variable);
    const std::vector<Tokens> parts = split_tokens(
        bare(defined == definitions_.end() ? tokens_of(each.variable) : defined->second), "/");
    if (each.end.sizes == 0 || parts.size() != 2 || !advance(parts[0], axis, 0)) continue;
    if (const auto part = value(parts[1])) {
      const std::string end = each.end.length();
      return IndexEnd{format("{} * {}", factor_of(end),
                             part->offset == 0 ? part->text : "(" + part->sum() + ")"),
                      0, each.end.sizes + part->sizes};
    }
  }
  return std::nullopt;
}

std::optional<IndexEnd> KernelText::loop() const {
  for (const Bound& each : bounds_) {
    const bool is_spread =
        advance(tokens_of(each.variable), 'x', 0) || advance(tokens_of(each.variable), 'y', 0);
    if (each.is_loop && each.end.sizes > 0 && !is_spread) return each.end;
  }
  return std::nullopt;
}

}  // namespace autotune
