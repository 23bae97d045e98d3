// SPDX-License-Identifier: Apache-2.0
#include "tuner/target/names.hpp"

#include "tuner/text/format.hpp"

namespace autotune {

Names::Names() {
  for (const char* name : {"is_host", "compute_capability", "multiprocessors", "max_threads",
                           "shared_bytes", "l2_bytes", "memory_bytes", "warp_size"}) {
    per_problem_.names.insert(std::string("device.") + name);
  }
  all_ = per_problem_;
}

std::string Names::declare(const Node& node, const std::string& name, NameLevel level) {
  if (!declared_.insert(name).second) {
    node.fail(
        format("{} is declared twice: sizes, settings, parameters, defines and arguments "
               "need names of their own",
               name));
  }
  if (level == NameLevel::problem) per_problem_.names.insert(name);
  if (level != NameLevel::argument) all_.names.insert(name);
  return name;
}

void Names::add_word(const std::string& word, NameLevel level) {
  if (level == NameLevel::problem) per_problem_.words.insert(word);
  all_.words.insert(word);
}

}  // namespace autotune
