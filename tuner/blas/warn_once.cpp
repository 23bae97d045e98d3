// SPDX-License-Identifier: Apache-2.0
#include "tuner/blas/warn_once.hpp"

#include <array>
#include <atomic>
#include <cstdio>
#include <string>

namespace autotune::blas {
namespace {

std::atomic<bool> have_ended{false};

}  // namespace

void end_warnings() { have_ended = true; }

void warn_once(Topic topic, std::string_view sentence) {
  if (have_ended) return;
  static std::array<std::atomic<bool>, kTopics> warned{};
  if (warned[static_cast<std::size_t>(topic)].exchange(true)) return;
  const std::string_view line = sentence.substr(0, sentence.find('\n'));
  const std::string text = "autotune: " + std::string(line) + '\n';
  std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace autotune::blas
