// SPDX-License-Identifier: Apache-2.0
// Any text as a cache of Kernel Tuner or T4 results: it is refused, or can be written again.
#include "tests/fuzz/fuzz.hpp"
#include "tuner/interchange/recorded_results.hpp"

void autotune::fuzz::feed(std::string_view input) {
  const UnfinishedJson read = parse_unfinished_json(input, "fuzz");
  const CheckedJson document(read.json, "fuzz");
  const bool is_t4 = read.json.is_object() && read.json.contains("results");
  const RecordedResults results =
      is_t4 ? read_t4_results(document) : read_kernel_tuner_cache(document);
  kernel_tuner_cache(results);
  t4_results(results);
}
