// SPDX-License-Identifier: Apache-2.0
#include "tuner/target/usual_names.hpp"

#include <map>
#include <regex>
#include <set>

#include "tuner/text/format.hpp"
#include "tuner/text/strings.hpp"

namespace autotune {

std::string type_name(const std::string& given) {
  std::string type = given;
  for (const std::string_view scope : {"::", "cuda::", "std::"}) {  // cuda::std::int64_t
    if (type.starts_with(scope)) type.erase(0, scope.size());
  }
  static const std::map<std::string, std::set<std::string>> kNames = {
      {"f32", {"float", "cufftReal"}},
      {"f64", {"double", "cufftDoubleReal"}},
      {"i32", {"int", "signed int", "signed", "int32_t"}},
      {"u32", {"unsigned int", "unsigned", "uint", "uint32_t"}},
      {"i64",
       {"long long", "long", "long int", "long long int", "signed long long", "int64_t",
        "ptrdiff_t"}},
      {"u64",
       {"unsigned long", "unsigned long long", "unsigned long int", "unsigned long long int",
        "long unsigned int", "long unsigned", "long long unsigned", "ulong", "size_t", "uint64_t"}},
      {"i16", {"short", "short int", "int16_t"}},
      {"u16", {"unsigned short", "unsigned short int", "ushort", "uint16_t"}},
      {"i8", {"char", "signed char", "int8_t"}},
      {"u8", {"unsigned char", "uchar", "uint8_t", "bool"}},
      {"f16", {"half", "__half"}},
      {"bf16", {"nv_bfloat16", "__nv_bfloat16"}},
      {"e4m3", {"__nv_fp8_e4m3"}},
      {"e5m2", {"__nv_fp8_e5m2"}},
      {"f32x2", {"cufftComplex", "cuFloatComplex", "cuComplex"}},
      {"f64x2", {"cufftDoubleComplex", "cuDoubleComplex"}}};
  static const std::map<std::string, std::string> kVectors = {
      {"float", "f32"},        {"double", "f64"},        {"int", "i32"},   {"uint", "u32"},
      {"char", "i8"},          {"uchar", "u8"},          {"short", "i16"}, {"ushort", "u16"},
      {"longlong", "i64"},     {"ulonglong", "u64"},     {"half", "f16"},  {"__half", "f16"},
      {"nv_bfloat16", "bf16"}, {"__nv_bfloat16", "bf16"}};
  for (const auto& [name, types] : kNames) {
    if (types.contains(type)) return name;
  }
  if (type.empty()) return "";
  const char width = type.back();
  const auto vector = kVectors.find(type.substr(0, type.size() - 1));
  if (vector == kVectors.end() || width < '2' || width > '4') return "";
  return format("{}x{}", vector->second, std::string(1, width));
}

bool is_integer_type(const std::string& type) {
  return !type.empty() && (type[0] == 'i' || type[0] == 'u');
}

bool is_of_the_work(const std::string& name) {
  static const std::regex kWords(
      "block|tile|thread|unroll|items|(^|_)per_|vec|work|wpt|chunk|coarsen|factor|warps|stages|"
      "use_|enable|group|prefetch|blk|strip|^t?[bt]_?[xyzmnk]$|_t?[bt]?[xyz]$|^bs|padding|order|"
      "load|^[mnk]wg$|^[mn]dim[abc]$|^kwi$|^vw[mn]$");
  return std::regex_search(lowered(name), kWords);
}

bool is_flag(const std::string& name) {
  static const std::regex kWords("use_|enable|^do_|^is_|shared|padding|prefetch|swap|^pre|cache");
  return std::regex_search(lowered(name), kWords);
}

bool is_of_blocks(const std::string& name) {
  static const std::regex kWords("block|thread|work_?group|^tb|^bs$|blk|^wg|^[mn]dimc$");
  static const std::regex kThreads("threads?_?per_?(block|cta)");
  static const std::regex kOthers("per_?(block|thread|warp)|tile|work_per|items|unroll");
  const std::string text = lowered(name);
  return std::regex_search(text, kThreads) ||
         (std::regex_search(text, kWords) && !std::regex_search(text, kOthers));
}

std::string without_plain(const std::string& name) {
  static const std::regex kWords("_*(ref(erence)?|naive|simple|gold(en)?|plain)_*");
  return std::regex_replace(lowered(name), kWords, "");
}

bool is_plain(const std::string& name) { return without_plain(name) != lowered(name); }

bool names_a_size(const std::string& name) {
  static const std::regex kNames(
      "n|m|k|w|h|d|nx|ny|nz|len.*|.*(size|count|width|height|depth|rows|cols|columns|length|num|"
      "dim|"
      "total|channels|batch|hidden|pixels|particles|bodies|points).*|n_.*|ne[0-9]+|w[ab]|h[ab]|"
      "nn?[a-z]");
  static const std::regex kEndsInN("[a-z][A-Za-z0-9_]*[a-z_]N");
  return std::regex_match(lowered(name), kNames) || std::regex_match(name, kEndsInN);
}

bool names_entries(const std::string& name) {
  static const std::regex kNames("nnz|.*(edge|entr|nonzero).*");
  return std::regex_match(lowered(name), kNames);
}

std::string manifest_function(const std::string& name) {
  const std::string text = lowered(name);
  if (text == "min" || text == "max") return text;
  if (text.starts_with("ceil") || text.find("div") != std::string::npos) return "ceil_div";
  const bool aligns = text.starts_with("round_up") || text.starts_with("roundup") ||
                      text.starts_with("align") || text.starts_with("ialign");
  return aligns ? "round_up" : "";
}

}  // namespace autotune
