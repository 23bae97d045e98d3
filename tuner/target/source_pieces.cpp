// SPDX-License-Identifier: Apache-2.0
#include "tuner/target/source_pieces.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <regex>
#include <utility>

#include "tuner/cache/directives.hpp"
#include "tuner/text/strings.hpp"

namespace autotune {
namespace {

class Masking {
 public:
  explicit Masking(std::string_view source) : source_(source), code_(source.size(), ' ') {
    for (std::size_t i = 0; i < source.size(); ++i) {
      if (source[i] == '\n') code_[i] = '\n';
    }
  }

  MaskedSource masked() {
    std::string directives = code_;
    bool line_is_blank = true;
    while (at_ < source_.size()) {
      const char c = source_[at_];
      if (c == '#' && line_is_blank) {
        const std::size_t from = at_;
        skip_directive();
        directives.replace(from, at_ - from, source_.substr(from, at_ - from));
        continue;
      }
      if (c == '\n') line_is_blank = true;
      if (std::isspace(static_cast<unsigned char>(c)) == 0) line_is_blank = false;
      if (c == '/' && starts("//")) {
        skip_to("\n");
      } else if (c == '/' && starts("/*")) {
        skip_to("*/");
        at_ = std::min(at_ + 2, source_.size());
      } else if (c == '"' && at_ > 0 && source_[at_ - 1] == 'R') {
        skip_raw();
      } else if (c == '"' || (c == '\'' && !(at_ > 0 && is_in_identifier(source_[at_ - 1])))) {
        skip_quoted(c);
      } else {
        if (!starts("\\\n")) code_[at_] = c;
        ++at_;
      }
    }
    return {code_, directives};
  }

 private:
  bool starts(std::string_view text) const { return source_.substr(at_).starts_with(text); }
  void skip_to(std::string_view end) { at_ = std::min(source_.find(end, at_), source_.size()); }
  void skip_directive() {
    do {
      skip_to("\n");
      at_ = std::min(at_ + 1, source_.size());
    } while (at_ >= 2 && at_ < source_.size() && source_[at_ - 2] == '\\');
  }
  void skip_raw() {
    const std::size_t open = std::min(source_.find('(', at_), source_.size() - 1);
    const std::string end = ")" + std::string(source_.substr(at_ + 1, open - at_ - 1)) + '"';
    code_[at_] = '"';
    at_ = open;
    skip_to(end);
    at_ = std::min(at_ + end.size(), source_.size());
    code_[at_ - 1] = '"';
  }
  void skip_quoted(char quote) {
    code_[at_++] = quote;
    while (at_ < source_.size() && source_[at_] != quote && source_[at_] != '\n') {
      at_ += source_[at_] == '\\' ? 2 : 1;
    }
    at_ = std::min(at_, source_.size());
    if (at_ < source_.size() && source_[at_] == quote) code_[at_++] = quote;
  }

  std::string_view source_;
  std::size_t at_ = 0;
  std::string code_;
};

std::string_view first_word(std::string_view head) { return take_word(head); }

/// Without what stands in parentheses and template arguments, where default values may be.
std::string outside_parentheses(std::string_view head) {
  std::string outside;
  int open = 0;
  for (const char c : head) {
    if (c == ')' || c == '>') open = std::max(open - 1, 0);
    if (open == 0) outside += c;
    if (c == '(' || c == '<') ++open;
  }
  return outside;
}

std::string_view without_template(std::string_view head) {
  head = trimmed(head);
  while (first_word(head) == "template") {
    head = trimmed(head.substr(8));
    if (!head.starts_with('<')) break;
    int open = 0;
    std::size_t at = 0;
    for (; at < head.size(); ++at) {
      if (head[at] == '<' || head[at] == '(') ++open;
      if ((head[at] == '>' || head[at] == ')') && --open == 0) break;
    }
    head = trimmed(head.substr(std::min(at + 1, head.size())));
  }
  return head;
}

/// Of a function: what stands before its first parenthesis. Of a class: what stands behind `class`.
std::string name_in(std::string_view head) {
  std::string outside = outside_parentheses(without_template(head));
  for (const std::string_view attribute :
       {"__launch_bounds__", "__cluster_dims__", "__maxnreg__", "__block_size__", "__attribute__",
        "__align__", "alignas"}) {
    const std::size_t at = outside.find(attribute);
    if (at == std::string::npos) continue;
    outside.erase(at, outside.find(')', at) - at + 1);
  }
  std::string_view behind = outside;
  const std::string_view first = take_word(behind);
  if (first == "struct" || first == "class" || first == "union")
    return std::string(take_word(behind));
  std::string_view before = trimmed(std::string_view(outside).substr(0, outside.find('(')));
  if (before.ends_with("<>")) before = trimmed(before.substr(0, before.size() - 2));
  return std::string(identifier_at_end(before));
}

Piece::Kind kind_of(std::string_view head) {
  const std::string outside = outside_parentheses(without_template(head));
  const std::string_view first = first_word(outside);
  if (first == "struct" || first == "class" || first == "union") return Piece::Kind::type;
  if (first == "enum" || first == "typedef" || first == "using") return Piece::Kind::other;
  const bool is_function =
      outside.find('(') != std::string::npos &&
      (outside.find('=') == std::string::npos || outside.find("operator") != std::string::npos);
  return is_function ? Piece::Kind::function : Piece::Kind::other;
}

bool is_transparent(std::string_view head) {
  const std::string_view first = first_word(head);
  if (first == "namespace" || first == "inline") {
    return head.find("namespace") != std::string_view::npos;
  }
  return first == "extern" && head.find('(') == std::string_view::npos &&
         trimmed(head).ends_with('"');
}

}  // namespace

Words words_of(std::string_view text) {
  Words words;
  while (!text.empty()) {
    const std::string_view word = take_identifier(text);
    if (word.empty()) {
      text.remove_prefix(1);
    } else {
      words.emplace(word);
    }
  }
  return words;
}

bool meets(const Words& some, const Words& others) {
  return std::ranges::any_of(some, [&](const std::string& word) { return others.contains(word); });
}

std::string take_defined_name(std::string_view& line) {
  // Blanks behind the name tell an object from a function: `N (1)`.
  return take_directive(line) == "define" ? std::string(take_identifier(line)) : "";
}

MaskedSource masked(std::string_view source) { return Masking(source).masked(); }

namespace {

/// Reads the pieces of a text one after another.
class Pieces {
 public:
  explicit Pieces(std::string_view code) : code_(code) {}

  /// Empty if braces do not match.
  std::vector<Piece> read() {
    for (std::size_t at = 0; at < code_.size(); ++at) {
      const char c = code_[at];
      if (c == ';') end_piece(at + 1);
      if (c == '}') {
        if (scopes_.empty()) return {};
        scopes_.pop_back();
        begin_ = at + 1;
      }
      if (c != '{') continue;
      const std::string_view head = code_.substr(begin_, at - begin_);
      if (is_transparent(head)) {
        scopes_.emplace_back(trimmed(head));
        begin_ = at + 1;
        continue;
      }
      if (now_.name.empty()) {
        now_.name = name_in(head);
        now_.kind = kind_of(head);
      }
      at = end_of_braces(at);
      if (at == code_.size()) return {};
      if (now_.kind == Piece::Kind::function) end_piece(at + 1);
    }
    return scopes_.empty() ? std::move(pieces_) : std::vector<Piece>{};
  }

 private:
  std::size_t end_of_braces(std::size_t at) const {
    for (int open = 0; at < code_.size(); ++at) {
      if (code_[at] == '{') ++open;
      if (code_[at] == '}' && --open == 0) break;
    }
    return at;
  }

  void end_piece(std::size_t end) {
    const std::string_view text = code_.substr(begin_, end - begin_);
    now_.begin = begin_;
    now_.end = end;
    if (now_.name.empty()) {
      now_.name = name_in(text);
      now_.kind = kind_of(text);
    }
    now_.words = words_of(text);
    now_.is_c = is_c(text);
    for (std::string_view scope : scopes_) {
      if (is_c(scope)) {
        now_.is_c = true;
        continue;
      }
      scope = trimmed(scope.substr(scope.find("namespace") + 9));
      if (!scope.empty()) now_.scope += std::string(scope) + "::";
    }
    pieces_.push_back(std::move(now_));
    now_ = {};
    begin_ = end;
  }

  static bool is_c(std::string_view head) {
    if (first_word(head) != "extern") return false;
    return trimmed(trimmed(head).substr(6)).starts_with('"');
  }

  std::string_view code_;
  std::size_t begin_ = 0;
  Piece now_;
  std::vector<std::string> scopes_;
  std::vector<Piece> pieces_;
};

}  // namespace

std::vector<Piece> pieces_of(std::string_view code) { return Pieces(code).read(); }

void blank_out(std::string& source, const MaskedSource& masked, std::size_t begin,
               std::size_t end) {
  for (std::size_t at = begin; at < end; ++at) {
    const bool is_directive = masked.directives[at] != ' ' && masked.directives[at] != '\n';
    if (!is_directive && source[at] != '\n') source[at] = ' ';
  }
}

std::size_t line_of(const MaskedSource& masked, const Piece& piece) {
  const std::size_t first = masked.code.find_first_not_of(" \n", piece.begin);
  const auto end = masked.code.begin() + static_cast<std::ptrdiff_t>(std::min(first, piece.end));
  return static_cast<std::size_t>(std::count(masked.code.begin(), end, '\n')) + 1;
}

namespace {

/// Names of CUDA's libraries that only host code uses.
bool is_of_host_library(std::string_view word) {
  static constexpr std::array<std::string_view, 5> kOnGpu = {
      "cudaTexture", "cudaSurface", "cudaBoundary", "cudaReadMode", "cudaAddressMode"};
  static constexpr std::array<std::string_view, 8> kLibraries = {
      "cuda", "cublas", "cufft", "cusparse", "cusolver", "cudnn", "curandCreate", "curandGenera"};
  if (std::ranges::any_of(kOnGpu, [&](std::string_view each) { return word.starts_with(each); })) {
    return false;
  }
  return std::ranges::any_of(kLibraries, [&](std::string_view each) {
    return word.starts_with(each) && word.size() > each.size() &&
           (std::isupper(static_cast<unsigned char>(word[each.size()])) != 0 ||
            each.starts_with("curand"));
  });
}

/// Names of C's and C++'s host libraries.
const Words& host_words() {
  static const Words words = words_of(
      "CUcontext CUdevice CUdeviceptr CUfunction CUmodule CUresult CUstream EXIT_FAILURE "
      "EXIT_SUCCESS StopWatchInterface checkCudaErrors findCudaDevice atof atoi cerr "
      "cout endl exit fclose fopen fprintf fread fscanf fwrite getenv gettimeofday rand scanf "
      "srand "
      "sscanf stderr stdout strcmp strtol usleep");
  return words;
}

constexpr std::array<std::string_view, 22> kHostNames = {
    "std::vector",   "std::string",     "std::cout",     "std::cerr",       "std::chrono",
    "std::ostream",  "std::ofstream",   "std::ifstream", "std::mt19937",    "std::unique_ptr",
    "std::map",      "std::shared_ptr", "std::thread",   "std::unordered_", "std::function",
    "thrust::host_", "thrust::device",  "thrust::raw_",  "std::accumulate", "std::ostring",
    "std::runtime_", "std::default_ra"};

/// Words that give an execution space: CUDA's own, and macros of the source for them.
Words spaces_in(std::string_view directives) {
  Words spaces = {"__global__", "__device__", "__constant__", "__shared__", "__managed__"};
  for (std::string_view line : split(directives, '\n')) {
    const std::string name = take_defined_name(line);
    if (name.empty()) continue;
    const Words value = words_of(line);
    if (meets(value, spaces)) spaces.insert(name);
  }
  return spaces;
}

class HostPart {
 public:
  explicit HostPart(std::string_view source)
      : source_(source),
        parts_(masked(source)),
        pieces_(pieces_of(parts_.code)),
        spaces_(spaces_in(parts_.directives)) {}

  DeviceCode without(const Words& named_elsewhere) {
    DeviceCode result{std::string(source_)};
    find_host_libraries();
    if (std::ranges::any_of(on_host_, std::identity())) {
      find_unused(named_elsewhere);
      find_variables();
    }
    for (std::size_t i = pieces_.size(); i-- > 0;) {  // from behind, as declarations make it longer
      if (!on_host_[i]) declare_namespace(result.text, pieces_[i], named_elsewhere);
      if (!on_host_[i]) continue;
      const Piece& piece = pieces_[i];
      blank_out(result.text, parts_, piece.begin, piece.end);
      const bool has_body = text_of(piece).ends_with('}');
      if (has_body && piece.kind == Piece::Kind::function)
        result.left_out.insert(result.left_out.begin(), {piece.name, line_of(parts_, piece)});
    }
    return result;
  }

 private:
  bool is_for_gpu(const Piece& piece) const { return meets(piece.words, spaces_); }
  std::string_view text_of(const Piece& piece) const {
    return std::string_view(parts_.code).substr(piece.begin, piece.end - piece.begin);
  }

  /// Of `using namespace at;` and `using at::Tensor;`, which only host code needs if no header here
  /// has them.
  void declare_namespace(std::string& text, const Piece& piece, const Words& elsewhere) const {
    static const std::regex kUsing(
        "\\s*using\\s+(?:namespace\\s+(\\w+(?:::\\w+)*)|(\\w+(?:::\\w+)*)::(\\w+))\\s*;");
    static const Words kKnown = words_of("std cuda cub thrust nvcuda cooperative_groups");
    const std::string own(text_of(piece));
    std::smatch name;
    if (!std::regex_match(own, name, kUsing)) return;
    const std::string scope = name[1].str() + name[2].str(), member = name[3];
    const std::regex declared("namespace\\s+" + scope + (member.empty() ? "\\s*=" : "\\b"));
    if (meets(words_of(scope), kKnown) || std::regex_search(parts_.code, declared) ||
        (!member.empty() && elsewhere.contains(member)))
      return;
    text.insert(parts_.code.find("using", piece.begin),
                "namespace " + scope + (member.empty() ? " {} " : " { struct " + member + "; } "));
  }

  /// What is main() or names something of the host.
  void find_host_libraries() {
    Words words = host_words();
    for (const Piece& piece : pieces_) words.erase(piece.name);  // the source's own
    for (const LogicalLine& line : logical_lines(parts_.directives)) {
      std::string_view rest = line.text;
      const std::string macro = take_defined_name(rest);
      const bool is_of_host = rest.find("<<<") != std::string_view::npos ||
                              std::ranges::any_of(words_of(rest), is_of_host_library);
      if (!macro.empty() && is_of_host) words.insert(macro);
    }
    for (const Piece& piece : pieces_) {
      const auto is_there = [&](std::string_view word) {
        return text_of(piece).find(word) != std::string_view::npos;
      };
      on_host_.push_back(!is_for_gpu(piece) &&
                         ((piece.kind == Piece::Kind::function && piece.name == "main") ||
                          is_there("<<<") || meets(piece.words, words) ||
                          std::ranges::any_of(kHostNames, is_there) ||
                          std::ranges::any_of(piece.words, is_of_host_library)));
    }
  }

  /// Functions and classes whose name nothing has that a kernel uses.
  void find_unused(const Words& named_elsewhere) {
    Words used = named_elsewhere;
    for (const LogicalLine& line : logical_lines(parts_.directives)) {
      std::string_view rest = line.text;
      const std::string_view word = take_directive(rest);
      if (word == "include" || word == "line") continue;  // a file may be called as a class
      const Words words = words_of(rest);
      used.insert(words.begin(), words.end());
    }
    std::vector<bool> is_used;
    for (const Piece& piece : pieces_) {
      const bool has_name =
          !piece.name.empty() &&
          (piece.kind == Piece::Kind::type ||
           (piece.kind == Piece::Kind::function && !piece.words.contains("operator")));
      is_used.push_back(is_for_gpu(piece) || !has_name);
    }
    for (bool again = true; again;) {
      again = false;
      for (std::size_t i = 0; i < pieces_.size(); ++i) {
        if (on_host_[i] || (!is_used[i] && !used.contains(pieces_[i].name))) continue;
        is_used[i] = true;
        const std::size_t before = used.size();
        used.insert(pieces_[i].words.begin(), pieces_[i].words.end());
        again = again || used.size() > before;
      }
    }
    for (std::size_t i = 0; i < pieces_.size(); ++i) on_host_[i] = on_host_[i] || !is_used[i];
  }

  /// `using NAME = …;` and `typedef … NAME;`; empty for others.
  std::string alias_of(const Piece& piece) const {
    static const std::regex kAlias("\\busing\\s+(\\w+)\\s*=|^\\s*typedef\\b.*\\b(\\w+)\\s*;?\\s*$");
    const std::string text(text_of(piece));
    std::smatch found;
    if (piece.kind != Piece::Kind::other || !std::regex_search(text, found, kAlias)) return "";
    return found[1].str() + found[2].str();
  }

  /// Variables and aliases of classes and aliases that are left out.
  void find_variables() {
    Words types;
    for (bool again = true; again;) {
      again = false;
      for (std::size_t i = 0; i < pieces_.size(); ++i) {
        if (!on_host_[i]) continue;
        const bool is_type = pieces_[i].kind == Piece::Kind::type;
        const std::string name = is_type ? pieces_[i].name : alias_of(pieces_[i]);
        if (!name.empty()) types.insert(name);
      }
      for (std::size_t i = 0; i < pieces_.size(); ++i) {
        if (on_host_[i] || pieces_[i].kind != Piece::Kind::other) continue;
        on_host_[i] = !is_for_gpu(pieces_[i]) && meets(pieces_[i].words, types);
        again = again || on_host_[i];
      }
    }
  }

  std::string_view source_;
  MaskedSource parts_;
  std::vector<Piece> pieces_;
  Words spaces_;
  std::vector<bool> on_host_;
};

}  // namespace

DeviceCode without_host_code(std::string_view source, const Words& named_elsewhere) {
  return HostPart(source).without(named_elsewhere);
}

void add_device_words(std::string_view source, Words& words) {
  const MaskedSource parts = masked(source);
  const Words own = words_of(parts.code);
  if (own.contains("__device__") || own.contains("__global__"))
    words.insert(own.begin(), own.end());
}

}  // namespace autotune
