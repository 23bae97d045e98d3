// SPDX-License-Identifier: Apache-2.0
// Any bytes as a lock, and as the index of one whose checksum is right.
#include "tests/fuzz/fuzz.hpp"
#include "tuner/core/error.hpp"
#include "tuner/hash/hash.hpp"
#include "tuner/lock/lock.hpp"
#include "tuner/text/format.hpp"

namespace autotune::fuzz {
namespace {

/// What was read can be asked, and is the same when it is written and read again.
void use(const Lock& lock) {
  for (const LockedTarget& target : lock.targets) {
    const LockTable table(target);
    for (const LockedAnswer& answer : target.answers) table.find(answer.sizes);
  }
  const std::string text = lock_text(lock);
  require(lock_text(parse_lock(text, "again.lock")) == text,
          "a lock is not read as it was written");
}

}  // namespace

void feed(std::string_view input) {
  try {
    use(parse_lock(input, "raw.lock"));
  } catch (const Error&) {  // as for nearly all bytes
  }
  const std::string file =
      format("autotune lock 1\n{} 0 {}\n{}", input.size(), hash128(input), input);
  use(parse_lock(file, "index.lock"));
}

}  // namespace autotune::fuzz
