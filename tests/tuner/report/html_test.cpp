// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/html.hpp"

#include <gmock/gmock.h>

namespace autotune::report {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Html, WhateverATextHoldsItStaysText) {
  EXPECT_EQ(html_text("<b a=\"1\" b='2'>&"), "&lt;b a=&quot;1&quot; b=&#39;2&#39;&gt;&amp;");
  EXPECT_EQ(html_text("\x1b[31m"), "\\u001b[31m");
  EXPECT_EQ(html_text("\xff"), "\xEF\xBF\xBD");
}

TEST(Html, NothingInJsonEndsItsElement) {
  const std::string text = script_json({{"a", "</script><!--"}, {"b", "\xE2\x80\xA8"}});
  EXPECT_THAT(text, Not(HasSubstr("<")));
  EXPECT_THAT(text, HasSubstr("\\u003c/script>"));
  EXPECT_THAT(text, HasSubstr("\\u2028"));
}

TEST(Html, AColumnWithoutTextsIsLeftOut) {
  const std::string html = html_table({"a", "b"}, {{{"1", "1"}, {}}, {{"2", "2"}, {}}});
  EXPECT_THAT(html, HasSubstr("<th scope=\"col\">a</th></tr>"));
  EXPECT_THAT(html, HasSubstr("<td class=\"n\" data-key=\"2\">2</td></tr>"));
}

TEST(Html, OnlyLongWordsBreakInside) {
  const std::string word(41, 'x');
  EXPECT_THAT(html_table({"a"}, {{{word + " y"}}}),
              HasSubstr("<td class=\"w\">" + word + " y</td>"));
  EXPECT_THAT(html_table({"a"}, {{{"compile_error"}}}), HasSubstr("<td>compile_error</td>"));
}

}  // namespace
}  // namespace autotune::report
