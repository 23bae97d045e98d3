// SPDX-License-Identifier: Apache-2.0
#include "tuner/cache/directives.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace autotune {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Directives, PlainIncludesAreTold) {
  const Directives found = directives_of("#include \"a.h\"\n  # include <b.h> // why\nint c;\n");
  EXPECT_THAT(found.plain, ElementsAre(HeaderName{"a.h", false}, HeaderName{"b.h", true}));
  EXPECT_THAT(found.others, IsEmpty());
  EXPECT_FALSE(found.has_computed);
}

TEST(Directives, AnyOtherSpellingIsTold) {
  for (const char* text :
       {"#include /*c*/ \"x.h\"", "#/**/include \"x.h\"", "#inc\\\nlude \"x.h\"",
        "#include \\\n  \"x.h\"", "%:include \"x.h\"", "/* a */ #include \"x.h\"",
        "#include /* two\nlines */ \"x.h\"", "#import \"x.h\"", "# /**/ import\t\"x.h\"",
        "#if __has_include(\"x.h\")\n#endif", "#inc\\\r\nlude \"x.h\"\r\n"}) {
    const Directives found = directives_of(text);
    EXPECT_THAT(found.others, ElementsAre(HeaderName{"x.h", false})) << text;
    EXPECT_FALSE(found.has_computed) << text;
  }
  EXPECT_THAT(directives_of("#include_next <x.h>").next, ElementsAre(HeaderName{"x.h", true}));
}

TEST(Directives, ANameByAMacroIsTold) {
  for (const char* text : {"#include HEADER", "#include NAME(x)", "#include /**/ HEADER",
                           "#import HEADER", "#include_next HEADER"}) {
    EXPECT_TRUE(directives_of(text).has_computed) << text;
  }
  EXPECT_THAT(directives_of("#define HEADER \"x.h\"\n#define N 3\n#define OTHER <y.h>").defined,
              ElementsAre(HeaderName{"x.h", false}, HeaderName{"y.h", true}));
}

TEST(Directives, CommentsAndLiteralsAreNoDirectives) {
  for (const char* text :
       {"// #include HEADER\n", "/*\n#include HEADER\n*/", "const char* a = \"/*\";\n",
        "R\"x(\n#include HEADER\n)x\";", "int a = 1'000'000; // '\n", "#error don't\nint a;",
        "const char c = '\"'; // #include HEADER"}) {
    const Directives found = directives_of(text);
    EXPECT_FALSE(found.has_computed) << text;
    EXPECT_THAT(found.others, IsEmpty()) << text;
  }
  // What follows them is read again.
  for (const char* text : {"#error don't\n#import \"x.h\"", "char* a = \"/*\";\n#import \"x.h\"",
                           "int a = 1'000;\n#import \"x.h\"", "R\"(\")\";\n#import \"x.h\""}) {
    EXPECT_THAT(directives_of(text).others, ElementsAre(HeaderName{"x.h", false})) << text;
  }
}

}  // namespace
}  // namespace autotune
