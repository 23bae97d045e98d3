// SPDX-License-Identifier: Apache-2.0
#include "tuner/ranks/lessons.hpp"

#include <utility>

#include "tuner/search/transfer.hpp"

namespace autotune {

void Lessons::add(const NamedValues& problem, std::string text) {
  problems_.push_back(problem);
  texts_.push_back(std::move(text));
}

std::vector<std::string> Lessons::about(const NamedValues& problem,
                                        std::set<std::size_t>& known) const {
  std::vector<std::string> texts;
  for (const std::size_t i : telling_problems(problem, problems_)) {
    if (known.insert(i).second) texts.push_back(texts_[i]);
  }
  return texts;
}

}  // namespace autotune
