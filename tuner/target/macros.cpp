// SPDX-License-Identifier: Apache-2.0
#include "tuner/target/macros.hpp"

#include <map>

#include "tuner/text/format.hpp"

namespace autotune {

void refuse_equal_macros(const Node& place, const Target& target) {
  std::multimap<std::string, Macro> known;
  for (const Macro& macro : macros_of(target)) {
    const auto [first, last] = known.equal_range(macro.name);
    for (auto other = first; other != last; ++other) {
      const Macro& before = other->second;
      const bool apart =
          !macro.family.empty() && !before.family.empty() && macro.family != before.family;
      if (apart) continue;
      place.fail(format("{} and {} would both give the macro {}: rename one", before.owner,
                        macro.owner, macro.name));
    }
    known.emplace(macro.name, macro);
  }
}

}  // namespace autotune
