// SPDX-License-Identifier: Apache-2.0
#include "tuner/interchange/recorded_results.hpp"

#include <gmock/gmock.h>

#include <string>

#include "tests/tuner/interchange/recorded_files.hpp"

namespace autotune {
namespace {

using testing::sample_text;
using testing::written;

TEST(RecordedResults, ACacheThatIsCutOffAnywhereKeepsItsCompleteResults) {
  const std::string text = sample_text("kernel_tuner_cache.json");
  const std::size_t first = text.find("}", text.find("\"cache\""));
  std::size_t before = 1;
  for (std::size_t end = first + 1; end < text.size(); end += 61) {
    const auto file = written("cut.json", text.substr(0, end));
    const std::size_t complete = read_recorded_results(file).results.size();
    EXPECT_GE(complete, before);
    before = complete;
  }
  EXPECT_GE(before, 11u);
  const std::size_t last = text.rfind("\"16,1,2.0\"") + 20;
  EXPECT_TRUE(read_recorded_results(written("cut.json", text.substr(0, last))).is_cut_off);
  const std::size_t comma =
      text.find("},\n\"16,0,2.0\"") + 2;  // as a run that was killed leaves it
  const auto open = read_recorded_results(written("open.json", text.substr(0, comma)));
  EXPECT_EQ(open.results.size(), 1u);
  EXPECT_FALSE(open.is_cut_off);
}

}  // namespace
}  // namespace autotune
