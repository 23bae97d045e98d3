// SPDX-License-Identifier: Apache-2.0
// autotune lock --diff: what one lock has changed of another, as text.
#include <map>

#include "tuner/cli/lock.hpp"
#include "tuner/text/format.hpp"

namespace autotune::cli {
namespace {

/// `gemm dtype=f32 …` to `M=1..64 N=512 K=512` to what answers.
using AnswerTexts = std::map<std::pair<std::string, std::string>, std::string>;

std::string sizes_text(const LockedTarget& target, const LockedAnswer& answer) {
  std::string text;
  for (std::size_t i = 0; i < target.sizes.size(); ++i) {
    if (answer.sizes[i] < 0) continue;  // a free size that is left to its default
    text += format("{}{}={}", i == 0 ? "" : " ", target.sizes[i], answer.sizes[i]);
    if (i == 0 && answer.last != answer.sizes[i]) text += format("..{}", answer.last);
  }
  return text;
}

std::string answer_text(const Lock& lock, const LockedAnswer& answer) {
  if (answer.configuration.empty()) return answer.library;
  std::string text = answer.configuration;
  if (!answer.bits.empty()) text += format(", bits {}", answer.bits);
  return text + format(", kernel {}", lock.kernels[answer.kernel].key.substr(0, 12));
}

AnswerTexts answers_of(const Lock& lock) {
  AnswerTexts answers;
  for (const LockedTarget& target : lock.targets) {
    const std::string place = format("{} {} ({})", target.target, target.settings, target.policy);
    for (const LockedAnswer& answer : target.answers) {
      answers[{place, sizes_text(target, answer)}] = answer_text(lock, answer);
    }
  }
  return answers;
}

}  // namespace

std::string difference(const Lock& from, const Lock& to) {
  std::string text;
  const auto fact = [&](const char* what, const std::string& before, const std::string& after) {
    if (before != after) text += format("{}: {} is now {}\n", what, before, after);
  };
  fact("device", from.device.name, to.device.name);
  fact("environment", from.environment, to.environment);
  fact("autotune", from.tool_version, to.tool_version);
  fact("fallback", std::string(name_of(from.fallback)), std::string(name_of(to.fallback)));
  for (const LockedTarget& target : to.targets) {
    const LockedTarget* const before = from.find(target.target, target.settings, target.policy);
    if (before) fact(target.target.c_str(), before->fingerprint, target.fingerprint);
  }
  const AnswerTexts before = answers_of(from), after = answers_of(to);
  for (const auto& [place, answer] : before) {
    const auto found = after.find(place);
    const std::string where = format("{} {}", place.first, place.second);
    if (found == after.end()) {
      text += format("- {}: {}\n", where, answer);
    } else if (found->second != answer) {
      text += format("- {}: {}\n+ {}: {}\n", where, answer, where, found->second);
    }
  }
  for (const auto& [place, answer] : after) {
    if (!before.contains(place)) {
      text += format("+ {} {}: {}\n", place.first, place.second, answer);
    }
  }
  return text;
}

}  // namespace autotune::cli
