// SPDX-License-Identifier: Apache-2.0
#include "tuner/target/fingerprint.hpp"

#include "tuner/cache/included_text.hpp"
#include "tuner/hash/hash.hpp"

namespace autotune {

std::string fingerprint_of(const Json& manifest, const Target& target) {
  Json kept = manifest;
  for (const char* key : {"description", "default", "work", "resources", "model"}) kept.erase(key);
  return hash128(kept.dump() + '\0' + target.source_text + '\0' +
                 included(target.source_text, target.include_folders, target.options).text());
}

}  // namespace autotune
