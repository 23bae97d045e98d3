// SPDX-License-Identifier: Apache-2.0
#include "tuner/cache/preprocessor_options.hpp"

#include <optional>
#include <string_view>

namespace autotune {
namespace {

/// Reads options in order. The value of an option may be the next word.
class Words {
 public:
  explicit Words(std::span<const std::string> words) : words_(words) {}

  bool at_end() const { return next_ == words_.size(); }
  const std::string& take_word() { return words_[next_++]; }

  /// The value of an option that is written `-I folder`, `-I=folder` or, where `glued`, `-Ifolder`.
  std::optional<std::string> take(std::string_view name, bool glued) {
    const std::string_view word = words_[next_];
    if (!word.starts_with(name)) return std::nullopt;
    const std::string_view rest = word.substr(name.size());
    if (rest.empty() && next_ + 1 < words_.size()) {
      next_ += 2;
      return words_[next_ - 1];
    }
    if (!rest.starts_with('=') && !(glued && !rest.empty())) return std::nullopt;
    ++next_;
    return std::string(rest.substr(rest.starts_with('=') ? 1 : 0));
  }

  std::optional<std::string> take_either(std::string_view letter, std::string_view name) {
    if (auto value = take(name, false)) return value;
    return take(letter, true);
  }

 private:
  std::span<const std::string> words_;
  std::size_t next_ = 0;
};

}  // namespace

PreprocessorOptions preprocessor_options(std::span<const std::string> options) {
  PreprocessorOptions found;
  for (Words words(options); !words.at_end();) {
    if (auto header = words.take("--pre-include", false)) {
      found.headers.push_back(*std::move(header));
    } else if (auto same = words.take("-include", false)) {
      found.headers.push_back(*std::move(same));
    } else if (auto folder = words.take_either("-I", "--include-path")) {
      found.folders.emplace_back(*std::move(folder));
    } else if (auto macro = words.take_either("-D", "--define-macro")) {
      found.defined.push_back(*std::move(macro));
    } else if (auto gone = words.take_either("-U", "--undefine-macro")) {
      found.undefined.push_back(*std::move(gone));
    } else if (auto language = words.take("--std", false)) {
      found.language = *std::move(language);
    } else if (auto short_form = words.take("-std", false)) {
      found.language = *std::move(short_form);
    } else {
      found.others.push_back(words.take_word());
    }
  }
  return found;
}

std::vector<std::string> common_options(const PreprocessorOptions& options) {
  std::vector<std::string> words;
  for (const auto& folder : options.folders) words.push_back("-I" + folder.string());
  for (const auto& macro : options.defined) words.push_back("-D" + macro);
  for (const auto& macro : options.undefined) words.push_back("-U" + macro);
  for (const auto& header : options.headers) words.insert(words.end(), {"-include", header});
  return words;
}

}  // namespace autotune
