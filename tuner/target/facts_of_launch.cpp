// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>
#include <regex>
#include <utility>

#include "tuner/core/element_type.hpp"
#include "tuner/core/expression.hpp"
#include "tuner/target/fact_reader.hpp"
#include "tuner/target/usual_names.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"
#include "tuner/text/strings.hpp"

namespace autotune {

void FactReader::find_launch() {
  find_constants();
  find_sizes();
  find_members();
  find_block();
  divide_evenly(block_);
  find_grid();
  facts_.launch.grid = grid_;
  facts_.launch.block = block_;
  find_divisions();
  for (const Tokens& each : launch_ ? launch_->cluster : std::vector<Tokens>{}) {
    const auto blocks = host_text(true).value(each);
    facts_.launch.cluster.push_back(blocks ? blocks->sum() : "1");
    facts_.is_launch_known = facts_.is_launch_known && blocks;
  }
  for (const Declaration& each : kernel_.parameters) {
    const bool is_computed = computed_.contains(each.name);
    const std::string type = is_size_name(each.name) || is_computed ? type_of(each) : "";
    facts_.launch.arguments.emplace_back(
        is_computed ? computed(each.name, true)->text : manifest_name(each.name),
        type == "i32" || type == "u32" ? "" : type);
  }
}

bool FactReader::is_cooperative() const {
  const bool has_grid = contains(kernel_.body, "grid_group") || contains(kernel_.body, "this_grid");
  return (launch_ && launch_->is_cooperative) || (has_grid && used_.contains("sync"));
}

std::vector<std::string> FactReader::host_dimensions(std::size_t which) const {
  if (!launch_ || launch_->configuration.size() <= which) return {};
  if (which == 1 && !host_block().empty()) return {};
  const KernelText shape = host_text(true);
  std::vector<std::string> texts;
  for (const Tokens& each : host_.dimensions(in_numbers(launch_->configuration[which]))) {
    const auto value = shape.value(with_block(each, block_of_host()));
    if (!value) return {};
    std::string text = value->sum();
    static const std::regex kNothing("\\((\\w+) - 0\\)");  // of the first turn of a loop
    text = std::regex_replace(text, kNothing, "$1");
    if (const auto known = number_in(text)) text = std::to_string(*known);
    texts.push_back(std::move(text));
  }
  return texts;
}

void FactReader::find_block() {
  const auto dimensions = static_cast<std::size_t>(threads_dimensions());
  const std::vector<std::string> by_host = host_dimensions(1);
  const bool is_literal = std::ranges::all_of(by_host, is_number);
  const bool has_dim = contains(kernel_.body, "blockDim");
  const bool counts_threads =
      used_.contains("blockDim") || used_.contains("meta_group_size");  // of a group of them
  if (!by_host.empty() && (!is_literal || shares_constant(1))) {
    block_ = by_host;
    return mark_block();
  }
  is_block_of_host_ = by_host.empty();  // numbers become parameters, which a grid must follow
  block_.resize(dimensions);
  const KernelText own = text_with(true);
  for (std::size_t axis = 0; axis < dimensions; ++axis) {
    std::string& size = block_[axis];
    const bool has_literal = is_literal && axis < by_host.size();
    if (has_literal && dimensions > 1 && by_host[axis] == "1") size = "1";
    const char letter = "xyz"[axis];
    for (const Parameter& each : facts_.parameters) {
      const std::string lower = lowered(each.name);
      const bool is_axis = lower.ends_with(std::string("_") + letter) ||
                           lower.ends_with(std::string("dim") + letter) ||
                           lower == std::string("b") + letter ||
                           lower == (letter == 'x' ? "mdimc" : "ndimc");  // as in CLBlast
      if (is_of_blocks(each.name) && is_axis && size.empty()) size = each.name;
    }
    if (!size.empty()) continue;
    if (dimensions == 1 && !has_dim && kernel_.launch_bound.size() == 1 &&
        name_or_number(kernel_.launch_bound[0])) {
      size = kernel_.launch_bound[0];
      continue;
    }
    // `__launch_bounds__(BM * BN / (TM * TN))`, where nothing is launched, counts the threads.
    const bool is_computed = dimensions == 1 && !launch_ && kernel_.launch_bound.size() > 1;
    const auto most = is_computed ? own.value(kernel_.launch_bound) : std::nullopt;
    if (most && most->sizes == 0 && !integer_of(most->text)) {
      size = most->sum();
      continue;
    }
    const auto advance = own.advance(letter);
    if (advance && !contains(*advance, "blockDim")) {
      for (const std::string& word : *advance) {
        const auto product = is_of_blocks(word) ? own.value({word}) : std::nullopt;
        if (product && product->sizes == 0 && !integer_of(product->text)) size = product->sum();
      }
    }
    for (const Parameter& each : facts_.parameters) {
      const bool is_passed =
          dimensions == 1 && has_literal && std::to_string(each.by_default) == by_host[0];
      if (size.empty() && is_of_blocks(each.name) && (!has_dim || is_passed)) size = each.name;
    }
    for (const std::string& word : advance.value_or(Tokens{})) {
      const bool is_of_host = is_digit(word[0]) && has_literal;  // `blockIdx.x * 512` of 2 each
      const bool may_be = !contains(*advance, "blockDim") && !is_size_name(word) && !is_of_host;
      if (size.empty() && may_be && name_or_number(word)) size = word;
    }
    if (size.empty() && has_literal && !counts_threads) size = by_host[axis];
    if (!size.empty()) continue;
    size = free_name(dimensions == 1
                         ? "BLOCK"
                         : std::string("BLOCK_") + static_cast<char>(std::toupper(letter)));
    std::int64_t by_default = dimensions == 1
                                  ? std::min<std::int64_t>(most_threads().value_or(256), 256)
                              : axis < 2 ? 16
                                         : 1;
    if (has_literal) {
      by_default = std::stoll(by_host[axis]);
    } else if (!has_dim) {
      facts_.is_launch_known = false;
    }
    add_parameter(size, by_default, {by_default});
    const auto most_of_launch = most_threads();
    if (dimensions == 1 && most_of_launch >= by_default) most_threads_[size] = *most_of_launch;
  }
  mark_block();
  is_block_of_host_ = is_block_of_host_ || block_ == by_host;
  for (const auto& [name, most] : most_threads_) {
    std::erase_if(parameter(name)->values,
                  [most = most](std::int64_t each) { return each > most; });
  }
}

std::optional<std::int64_t> FactReader::most_threads() const {
  return kernel_.launch_bound.size() == 1 ? integer_of(kernel_.launch_bound[0]) : std::nullopt;
}

bool FactReader::name_or_number(const std::string& word) const {
  return parameter(word) || file_.integer(word) || (is_digit(word[0]) && word != "1");
}

void FactReader::mark_block() {
  const auto own = static_cast<std::size_t>(threads_dimensions());
  for (std::size_t axis = 0; axis < block_.size(); ++axis) {
    std::string& each = block_[axis];
    set_block_values(each, static_cast<int>(std::min(block_.size(), own)));
    Parameter* const known = parameter(each);
    if (known && axis >= own) known->values = {known->by_default};  // more compute the same again
    if (const auto number = parameter(each) ? std::nullopt : file_.integer(each))
      each = std::to_string(*number);
  }
}

std::string FactReader::step_of(const std::optional<Tokens>& advance, const KernelText& own,
                                Words& strides) const {
  if (!advance) return "";
  Tokens rest;
  for (const Tokens& factor : split_tokens(*advance, "*")) {
    const bool is_size = factor.size() == 1 && is_size_name(factor[0]);
    if (is_size) strides.insert(factor[0]);
    // Of `row * n * 3` the 3 is within a row, of `row * 16 * n` a block has 16 of them.
    const bool is_within = !strides.empty() && factor.size() == 1 && is_number(factor[0]);
    if (is_size || is_within) continue;
    if (!rest.empty()) rest.emplace_back("*");
    append(rest, factor);
  }
  if (rest.empty()) return "1";
  const auto value = own.value(rest);
  return value ? value->text : "";
}

std::string FactReader::row_size(const KernelText& own) const {
  for (const Declaration& each : kernel_.parameters) {
    if (each.pointers == 0 || each.is_const) continue;
    for (const Tokens& index : own.use_of(each.name).indices) {
      for (std::size_t i = 0; i + 1 < index.size(); ++i) {
        if (is_size_name(index[i]) && index[i + 1] == "*") return index[i];
        if (is_size_name(index[i + 1]) && index[i] == "*") return index[i + 1];
      }
    }
  }
  return "";
}

bool FactReader::shares_constant(std::size_t which) const {
  if (!launch_ || launch_->configuration.size() <= which) return false;
  const Words behind = host_.words_behind(launch_->configuration[which]);
  return std::ranges::any_of(behind, [&](const std::string& each) {
    return file_.constants.contains(each) && used_.contains(each);
  });
}

void FactReader::follow_axes(const KernelText& own) {
  const std::vector<Tokens> by_host = host_.dimensions(block_of_host());
  for (std::size_t axis = 1; axis < std::min({grid_.size(), block_.size(), by_host.size()});
       ++axis) {
    const bool is_one = by_host[axis] == by_host[0] && block_[axis] != block_[0];
    if (!is_one || !words_of(grid_[axis]).contains(block_[0])) continue;
    const auto step = own.advance("xyz"[axis]);
    if (step && contains(*step, block_[axis])) {
      grid_[axis] =
          std::regex_replace(grid_[axis], std::regex("\\b" + block_[0] + "\\b"), block_[axis]);
    } else {
      facts_.constraints.push_back(format("{} == {}", block_[0], block_[axis]));
    }
  }
}

void FactReader::find_grid() {
  grid_ = host_dimensions(0);
  // By a number of threads, or of elements for a block.
  std::string of_threads = "\\b[0-9]{2,}";
  for (const std::string& size : block_) {
    const Parameter* const known = parameter(size);
    const std::string number = known ? std::to_string(known->by_default) : size;
    if (is_number(number) && number != "1") of_threads += "|(/|,) " + number + "\\b";
  }
  const std::regex threads_in(of_threads);
  const auto counts_threads = [&](const std::string& each) {
    const bool follows_block = std::ranges::any_of(block_, [&](const std::string& size) {
      return parameter(size) && std::regex_search(each, std::regex("\\b" + size + "\\b"));
    });
    return !follows_block && std::regex_search(each, threads_in);
  };
  const bool is_of_block = std::ranges::any_of(grid_, counts_threads);
  const std::vector<std::string> by_host = grid_;
  // Unless it is the same for all sizes, and the kernel has it, too.
  const bool is_meant = std::ranges::all_of(grid_, is_number) &&
                        (contains(kernel_.body, "gridDim") || shares_constant(0));
  if (!is_block_of_host_ && is_of_block && !is_meant) grid_.clear();
  static const std::regex kOfNumbers("(ceil_div\\()?[0-9].*");
  const bool is_literal = std::ranges::any_of(grid_, [&](const std::string& each) {
    return each != "1" && sizes_in(each) == 0 && std::regex_match(each, kOfNumbers);
  });
  const KernelText own = text_with(true);
  follow_axes(own);
  const auto dimensions =
      static_cast<std::size_t>(std::max(1, dimensions_of(kernel_.body, "blockIdx")));
  // A number of blocks that depends on no size was for one size.
  if (!grid_.empty() && (!is_literal || is_meant) && grid_.size() >= dimensions) {
    return divide_evenly(grid_);
  }
  grid_.assign(dimensions, "");
  if (is_cooperative()) {
    facts_.is_launch_known = false;
    std::ranges::fill(grid_, "1");
    grid_[0] = "device.multiprocessors";
    return;
  }
  std::string of_rows;
  for (std::size_t axis = 0; axis < dimensions; ++axis) {
    const char letter = "xyz"[axis];
    Words strides;
    const std::optional<Tokens> advance = own.advance(letter);
    const bool is_in_functions = dimensions_of(kernel_.body, "blockIdx") == 0 &&
                                 (used_.contains("blockIdx") || contains(kernel_.body, "gridDim"));
    const bool is_used =
        is_in_functions || contains(kernel_.body, Tokens{"blockIdx", ".", std::string(1, letter)});
    if (!is_used || (advance && contains(*advance, "gridDim"))) {
      grid_[axis] = "1";  // one long row of blocks, or one block
      continue;
    }
    std::string step = step_of(advance, own, strides);
    if (step.find('-') != std::string::npos) {  // it may be 0
      step.clear();
      facts_.is_launch_known = false;
    }
    if (step.empty()) step = axis < block_.size() ? block_[axis] : "1";
    const bool is_of_host = axis < by_host.size() && is_of_block && sizes_in(by_host[axis]) > 0 &&
                            !counts_threads(by_host[axis]);
    if (is_of_host) {
      grid_[axis] = by_host[axis];
      continue;
    }
    if (const auto end = own.end(letter)) {
      grid_[axis] = step == "1" ? end->length() : format("ceil_div({}, {})", end->length(), step);
      continue;
    }
    facts_.is_launch_known = false;
    std::string size = axis == 0 && dimensions > 1 ? row_size(own) : "";
    for (const bool may_be_stride : {false, true}) {
      for (const std::string& each : sizes_) {
        if (size.empty() && each != of_rows && (may_be_stride || !strides.contains(each)))
          size = each;
      }
    }
    if (axis == 0) of_rows = size;
    if (size.empty() && !sizes_.empty()) size = sizes_.back();
    size = size.empty() ? "N" : manifest_name(size);
    step = factor_of(step);
    grid_[axis] = step == "1" ? size : format("{} / {}", size, step);
    if (step != "1") facts_.constraints.push_back(format("{} % {} == 0", size, step));
  }
}

void FactReader::find_dynamic_shared() {
  const Tokens& body = kernel_.body;
  const auto is_extern = std::ranges::find(body, "extern");
  if (is_extern == body.end() && (!launch_ || launch_->configuration.size() < 3)) return;
  if (const auto by_host = host_dimensions(2); by_host.size() == 1) {
    if (by_host[0] == "0") return;
    facts_.dynamic_shared_bytes = by_host[0];
    const bool is_tuned = std::ranges::any_of(block_, [&](const auto& each) {
      return parameter(each) && parameter(each)->values.size() > 1;
    });
    if (is_tuned && is_number(by_host[0])) facts_.is_launch_known = false;
    return;
  }
  std::string type = "f32";
  for (auto at = is_extern; at != body.end() && *at != "["; ++at) {
    if (const std::string known = type_name(file_.resolved(*at)); !known.empty()) type = known;
  }
  const auto element = element_type(type);
  facts_.dynamic_shared_bytes =
      format("{} * {}", element ? bytes_of(*element) : 4, joined(block_, " * "));
  facts_.is_launch_known = false;
}

std::optional<bool> FactReader::holds(std::string text, const ValueOf& value) const {
  for (Parameter each : facts_.parameters) {
    each.by_default = value(each);
    text = with_default(text, each);
  }
  try {
    const Expression constraint = Expression::parse(text);
    if (!constraint.names().empty()) return std::nullopt;
    return Scope().evaluate(constraint) != 0;
  } catch (const Error&) {  // it divides by 0
    return false;
  }
}

void FactReader::require(const std::string& constraint, const std::string& length,
                         const std::string& divisor) {
  const Words of_length = words_of(length);
  const auto least = [](const Parameter& each) { return each.values.front(); };
  const auto largest = [](const Parameter& each) { return each.values.back(); };
  const auto worst = [&](const Parameter& each) {
    return of_length.contains(each.name) ? least(each) : largest(each);
  };
  const auto always = [&](const ValueOf& value) { return *holds(constraint, value); };
  if (always(least) && always(largest) && always(worst)) return;
  const auto add = [&](const std::string& each) {
    if (!contains(facts_.constraints, each)) facts_.constraints.push_back(each);
  };
  static const std::regex kQuotient("[/%] (\\([^()]*[-/][^()]*\\))");  // which may be 0
  for (std::sregex_iterator at(constraint.begin(), constraint.end(), kQuotient), end; at != end;
       ++at) {
    add((*at)[1].str() + " > 0");
  }
  if (!divisor.empty()) add(divisor + " > 0");
  add(constraint);
}

bool FactReader::bound_by(const KernelText& own, const Tokens& index, const Tokens& length) {
  const auto most = own.value(length);
  if (!most || most->sizes > 0) return false;
  for (const bool guarded : {false, true}) {
    const auto greatest = own.greatest(index, guarded);
    if (!greatest) continue;
    if (greatest->sizes > 0) return true;  // sizes are not the block's
    if (greatest->text.empty()) return true;
    const std::string constraint =
        std::ranges::any_of(tokens_of(most->sum()), is_name)
            ? format("{} < {}", greatest->sum(), most->sum())
            : format("{} <= {}", greatest->text,
                     Scope().evaluate(Expression::parse(most->sum())) - 1 - greatest->offset);
    const auto by_default = holds(constraint);
    if (!by_default) return false;
    if (!*by_default) continue;
    require(constraint, most->sum());
    return true;
  }
  const auto turns = own.turns(index);  // which divide_loops() divides evenly
  return turns && turns->end.text == most->text && turns->end.offset <= most->offset &&
         holds(turns->evenly()).value_or(false);
}

void FactReader::divide_loops() {
  for (const KernelText::Turns& each : text_with(true).loops()) {
    const bool is_divided = each.step.find('/') != std::string::npos;
    if (holds(each.evenly()).value_or(false))
      require(each.evenly(), each.end.sum(), is_divided ? each.step : "");
  }
}

std::vector<Declaration> FactReader::shared_arrays(const Tokens& body) {
  std::vector<Declaration> arrays;
  for (std::size_t i = 0; i < body.size(); ++i) {
    if (body[i] != "__shared__" || (i > 0 && body[i - 1] == "extern")) continue;
    const std::size_t end = position(body, ";", i);
    std::ranges::move(members(part_of(body, i + 1, end)), std::back_inserter(arrays));
  }
  return arrays;
}

void FactReader::bound_by_shared_arrays() {
  KernelCode code = kernel_;
  code.body = with_block(code.body, {"blockDim"});
  const KernelText own(code, [this](const std::string& word) -> std::optional<NamedInManifest> {
    if (!word.starts_with("threadIdx.")) return name_in(word, true);
    const auto axis = static_cast<std::size_t>(word[10] - 'x');
    return NamedInManifest{axis < block_.size() ? block_[axis] : "1"};
  });
  const Tokens& body = own.body();
  bool is_known = true;
  for (const Declaration& array : shared_arrays(body)) {
    std::vector<Tokens> lengths = {array.length};
    lengths.insert(lengths.end(), array.rows.begin(), array.rows.end());
    for (std::size_t i = 0; i + 1 < body.size(); ++i) {
      if (body[i] != array.name || body[i + 1] != "[") continue;
      std::size_t open = i + 1;
      for (const Tokens& length : lengths) {
        if (open >= body.size() || body[open] != "[") break;
        const std::size_t end = closing(body, open);
        const Tokens index = part_of(body, open + 1, end);
        const auto known = own.value(length);
        const bool follows = known && std::ranges::any_of(tokens_of(known->text), is_name);
        if (own.depends_on(index, "threadIdx", false) && !bound_by(own, index, length))
          is_known = is_known && follows;
        open = end + 1;
      }
    }
  }
  if (is_known) return;
  for (const std::string& each : block_) {
    if (Parameter* const known = parameter(each)) known->values = {known->by_default};
  }
}

void FactReader::find_plain_reference() {
  const auto is_same = [](const Declaration& a, const Declaration& b) {
    return a.name == b.name && a.type == b.type && a.pointers == b.pointers;
  };
  if (is_plain(kernel_.name)) return;
  for (const KernelCode& other : file_.kernels) {
    const bool is_alike = is_plain(other.name) && other.templates.empty() &&
                          std::ranges::equal(other.parameters, kernel_.parameters, is_same);
    const auto computes_it = [&](const KernelCode& each) {  // `copy` is no `transpose_naive`
      return lowered(each.name).find(without_plain(other.name)) != std::string::npos;
    };
    const bool is_of_another =
        !computes_it(kernel_) && std::ranges::count_if(file_.kernels, computes_it) > 1;
    if (!is_alike || is_of_another) continue;
    FactReader plain(file_, other, file_name_, corrections_);
    plain.find_launch();
    if (!plain.facts_.is_launch_known) continue;
    for (auto* const all : {&plain.facts_.launch.grid, &plain.facts_.launch.block}) {
      for (std::string& each : *all) plain.pin_parameters_in(each);
    }
    facts_.reference = std::move(plain.facts_.launch);
    return;
  }
}

}  // namespace autotune
