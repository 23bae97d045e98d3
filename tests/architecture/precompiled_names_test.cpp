// SPDX-License-Identifier: Apache-2.0
#include "tests/architecture/precompiled_names.hpp"

#include <utility>

#include "tests/architecture/planted.hpp"
#include "tests/support/matchers.hpp"

namespace autotune::architecture {
namespace {

TEST(PrecompiledNames, AreIncludedWhereTheyAreUsed) {
  EXPECT_THAT(missing_includes(AUTOTUNE_SOURCE_DIR), IsEmpty());
}

TEST(PrecompiledNames, WithoutTheirHeaderAreFound) {
  for (const auto& [line, header] : {std::pair{"const std::vector<int> values;", "<vector>"},
                                     {"x = std::ranges::find(values, 3);", "<algorithm>"},
                                     {"nlohmann::json document;", "<nlohmann/json.hpp>"},
                                     {"  EXPECT_THAT(values, IsEmpty());", "<gmock/gmock.h>"}}) {
    const Planted planted("tuner/core/wrong.cpp", line);
    EXPECT_THAT(missing_includes(planted.root()), ElementsAre(HasSubstr(header)));
  }
}

TEST(PrecompiledNames, MayComeThroughAHeaderOfTheTree) {
  const Planted planted("tuner/core/values.hpp", "#include <vector>\nstd::vector<int> values();");
  planted.add("tuner/core/values.cpp", "#include \"tuner/core/values.hpp\"\nstd::vector<int> v;");
  EXPECT_THAT(missing_includes(planted.root()), IsEmpty());
}

TEST(PrecompiledNames, InTextOfSeveralLinesAreNone) {
  const Planted planted("tuner/core/text.cpp", "text = R\"cpp(x\nstd::vector<int> v;\n)cpp\";");
  EXPECT_THAT(missing_includes(planted.root()), IsEmpty());
  planted.add("tuner/core/text.cpp", "text = R\"(x\n)\";\nstd::vector<int> v;");
  EXPECT_THAT(missing_includes(planted.root()), ElementsAre(HasSubstr("<vector>")));
}

TEST(PrecompiledNames, OfOtherNamespacesAndInCommentsAreNone) {
  const Planted planted("tuner/core/other.cpp", "my_std::vector<int> v;  // not std::vector<int>");
  EXPECT_THAT(missing_includes(planted.root()), IsEmpty());
}

TEST(OwnNames, WithoutTheirHeaderAreFound) {
  const Planted planted("tuner/core/shape.hpp",
                        "namespace autotune::shapes {\nstruct Shape { int n; };\n"
                        "constexpr int kSides = 4;\nint area_of(const Shape& shape);\n}");
  planted.add("tuner/core/other.hpp", "#include \"tuner/core/shape.hpp\"\n");
  for (const char* line :
       {"shapes::Shape shape;", "int sides = kSides;", "  return shapes::area_of(2);"}) {
    planted.add("tuner/core/user.cpp", line);
    EXPECT_THAT(missing_includes(planted.root()),
                ElementsAre(HasSubstr("\"tuner/core/shape.hpp\"")))
        << line;
    planted.add("tuner/core/user.cpp", std::string("#include \"tuner/core/other.hpp\"\n") + line);
    EXPECT_THAT(missing_includes(planted.root()), IsEmpty()) << line;
  }
}

TEST(OwnNames, AreNotThoseThatASourceMayHaveFromElsewhere) {
  const Planted planted("tuner/core/shape.hpp", "struct Shape {\n};\nint area_of(int sides);");
  for (const char* line :
       {"void turn(Shape Shape);", "class Shape;", "theirs::area_of(2);", "area = tile.area_of(2);",
        "text = \"a Shape\";  // a Shape", "int area_of(long sides) { return area_of(1); }"}) {
    planted.add("tuner/core/user.cpp", line);
    EXPECT_THAT(missing_includes(planted.root()), IsEmpty()) << line;
  }
}

}  // namespace
}  // namespace autotune::architecture
