// SPDX-License-Identifier: Apache-2.0
// The data of a report as JSON for its script.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tuner/json/json.hpp"
#include "tuner/report/report.hpp"
#include "tuner/report/verdict.hpp"

namespace autotune::report {

/// A table as JSON of few bytes: each row is a string of bits, six to a character.
///   {"count": 2, "columns": [{"name": "BM", "values": ["64", "128"]}, {"name": "ns"}],
///    "rows": "AAAAA…"}
/// The bits of a row, column after column, the highest first, are filled up to whole characters of
/// base64. A column with `values` has the place of its value, in as few bits as the last place
/// needs. A column without has a number m * 10^(e-64): 17 bits of m, at most 99999, and 7 bits of
/// e. All 24 bits set stand for null.
class PackedTable {
 public:
  explicit PackedTable(std::size_t rows) : rows_(rows) {}

  /// One value a row; nullopt becomes null.
  void add_texts(std::string name, const std::vector<std::optional<std::string>>& texts);
  /// Numbers of at least 0, to five digits. Negative and infinite ones are nullopt.
  void add_numbers(std::string name, const std::vector<std::optional<double>>& numbers);

  Json json() const;

 private:
  struct Column {
    Json head;
    int bits = 0;
    std::vector<std::uint32_t> codes;  // one a row
  };
  template <class Key>
  void add_choices(std::string name, const std::vector<Key>& keys,
                   Json (*value_of)(const Key& key));

  std::size_t rows_;
  std::vector<Column> columns_;
};

/// Problems with their figures, trials and importances. Times are in seconds, of trials in
/// nanoseconds. Texts are printable().
Json script_data(const Report& report, const std::vector<Portability>& portability);

}  // namespace autotune::report
