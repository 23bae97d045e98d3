// SPDX-License-Identifier: Apache-2.0
#include "tuner/interchange/recorded_results.hpp"

#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <memory>
#include <set>
#include <system_error>
#include <utility>

#include "tuner/core/error.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/file_text.hpp"
#include "tuner/text/format.hpp"
#include "tuner/text/strings.hpp"

namespace autotune {
namespace {

/// Limits of the compressed and the uncompressed size. The largest known file has 0.2 GiB, and
/// caches are packed to a thirtieth.
constexpr std::uint64_t kLargestFile = std::uint64_t{1} << 30, kSmallFile = std::uint64_t{16} << 20;
constexpr std::uint64_t kMostTimes = 200;

std::uint64_t largest_text(const std::filesystem::path& file) {
  std::error_code unknown;
  const std::uint64_t bytes = std::filesystem::file_size(file, unknown);
  return unknown ? kSmallFile : std::clamp(bytes * kMostTimes, kSmallFile, kLargestFile);
}

}  // namespace

std::string read_maybe_gzip(const std::filesystem::path& file) {
  if (const std::string why = why_unreadable(file, kLargestFile); !why.empty()) {
    throw Error(format("{}: cannot be read: {}; name one file", file.string(), why));
  }
  errno = 0;
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> stream(gzopen(file.c_str(), "rb"), gzclose);
  if (!stream) throw Error(format("{}: cannot be read: {}", file.string(), std::strerror(errno)));
  const std::uint64_t most = largest_text(file);
  std::string text;
  std::array<char, 1 << 16> piece;
  while (true) {
    const int count = gzread(stream.get(), piece.data(), piece.size());
    if (count > 0) {
      text.append(piece.data(), static_cast<std::size_t>(count));
      if (text.size() <= most) continue;
      throw Error(
          format("{}: has more than {} when unpacked, the most that is read of a file of "
                 "its size",
                 file.string(), bytes_text(static_cast<std::int64_t>(most))));
    }
    int status = Z_OK;
    const char* const what = gzerror(stream.get(), &status);
    if (status != Z_OK && status != Z_STREAM_END) {
      std::string_view why = what;  // zlib often puts the file name first
      if (why.starts_with(file.string() + ": ")) why.remove_prefix(file.string().size() + 2);
      throw Error(format("{}: cannot be unpacked: {}; is it complete?", file.string(), why));
    }
    return text;
  }
}

namespace {

/// Nesting depth of the members of `cache`, which is a member of the document.
constexpr int kMemberDepth = 2;

/// The end of the string that begins at `at`; the end of the text if it is not terminated.
std::size_t end_of_string(std::string_view text, std::size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at) {
    if (text[at] == '\\') ++at;
  }
  return at;
}

/// The end of the last complete object that is a member of `cache`. The whole text if there is none
/// yet; nullopt if the document is complete.
std::optional<std::size_t> end_of_members(std::string_view text) {
  std::size_t end = text.size();
  int depth = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char letter = text[at];
    if (letter == '"') at = end_of_string(text, at);
    if (letter == '{' || letter == '[') ++depth;
    if (letter != '}' && letter != ']') continue;
    --depth;
    if (letter == '}' && depth == kMemberDepth) end = at + 1;
    if (depth <= 0) return std::nullopt;
  }
  return end;
}

}  // namespace

UnfinishedJson parse_unfinished_json(std::string_view text, std::string_view file) {
  try {
    return {parse_json(text, file)};
  } catch (const Error&) {
    const std::optional<std::size_t> end = end_of_members(text);
    if (!end) throw;
    const std::string_view rest = trimmed(text.substr(*end));
    const bool is_cut_off = !rest.empty() && rest != "," && rest != "}";
    const std::string closed = std::string(text.substr(0, *end)) + "}}";
    try {
      return {parse_json(closed, file), is_cut_off};
    } catch (const Error&) {  // not merely truncated: report the first error
    }
    throw;
  }
}

Value value_of(const Json& json) {
  if (json.is_boolean()) return Value(json.get<bool>() ? 1 : 0);
  const bool fits = !json.is_number_unsigned() || json.get<std::uint64_t>() <= INT64_MAX;
  if (json.is_number_integer() && fits) return Value(json.get<std::int64_t>());
  if (json.is_string()) return Value(json.get<std::string>());
  const double real = json.is_number() ? json.get<double>() : 0.5;
  if (real == std::floor(real) && std::abs(real) < 1e15) {
    return Value(static_cast<std::int64_t>(real));
  }
  return Value(json.dump());
}

Json json_of(const Value& value) {
  if (value.is_integer()) return value.integer();
  if (value.is_real()) return value.real();
  const std::string& word = value.word();
  double real = 0;
  const auto read = std::from_chars(word.data(), word.data() + word.size(), real);
  const bool is_number = read.ec == std::errc() && read.ptr == word.data() + word.size();
  return is_number && std::isfinite(real) ? Json(real) : Json(word);
}

std::vector<Value> values_of(const CheckedJson& configuration,
                             const std::vector<std::string>& names) {
  std::vector<Value> values;
  values.reserve(names.size());
  for (const std::string& name : names) values.push_back(value_of(configuration[name].json()));
  return values;
}

void drop_repeated(std::vector<Value>& values) {
  std::set<Value> seen;
  std::erase_if(values, [&](const Value& value) { return !seen.insert(value).second; });
}

Parameter parameter_of(std::string name, std::size_t place,
                       const std::vector<std::vector<Value>>& rows) {
  std::set<Value> values;
  for (const std::vector<Value>& row : rows) values.insert(row[place]);
  return {std::move(name), {values.begin(), values.end()}, std::nullopt};
}

double seconds_of(const CheckedJson& object, const char* member, double unit) {
  const auto found = object.find(member);
  return found && found->json().is_number() ? found->json().get<double>() * unit : 0;
}

double total_seconds_of(const CheckedJson& object, const CostNames& names, double unit) {
  double total = 0;
  for (const char* name : names.others) total += seconds_of(object, name, unit);
  const auto runs = object.find(names.runs);
  if (!runs || !runs->json().is_array()) return total + seconds_of(object, names.all_runs, unit);
  for (const Json& run : runs->json()) {
    if (run.is_number()) total += run.get<double>() * unit;
  }
  return total;
}

std::string text_of(const CheckedJson& object, const char* member, std::string otherwise) {
  const auto found = object.find(member);
  return found && found->json().is_string() ? found->json().get<std::string>() : otherwise;
}

namespace {

bool holds(const Json& json, const char* key) { return json.is_object() && json.contains(key); }

RecordedResults results_of(const Json& json, const std::string& file) {
  const CheckedJson document(json, file);
  if (holds(json, "cache")) return read_kernel_tuner_cache(document);
  if (holds(json, "results")) return read_t4_results(document);
  throw Error(
      format("{}: is neither a Kernel Tuner cache (`cache`) nor T4 results (`results`)", file));
}

}  // namespace

std::string key_of(std::span<const Value> values) {
  std::string key;
  for (const Value& value : values) key += (key.empty() ? "" : ",") + value.text();
  return key;
}

RecordedResults read_recorded_results(const std::filesystem::path& file) {
  const UnfinishedJson read = parse_unfinished_json(read_maybe_gzip(file), file.string());
  RecordedResults results = results_of(read.json, file.string());
  if (results.results.empty()) throw Error(format("{}: holds no configuration", file.string()));
  results.is_cut_off = read.is_cut_off;
  return results;
}

}  // namespace autotune
