// SPDX-License-Identifier: Apache-2.0
#include "tuner/interchange/recorded_results.hpp"

#include "tuner/core/error.hpp"
#include "tuner/interchange/gzip.hpp"
#include "tuner/interchange/kernel_tuner_cache.hpp"
#include "tuner/interchange/t4_results.hpp"
#include "tuner/interchange/unfinished_json.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
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
