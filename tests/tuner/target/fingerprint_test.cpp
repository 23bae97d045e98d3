// SPDX-License-Identifier: Apache-2.0
#include "tuner/target/fingerprint.hpp"

#include <gtest/gtest.h>

#include "tests/support/hidden_headers.hpp"
#include "tests/tuner/target/scratch.hpp"

namespace autotune {
namespace {

TEST(Fingerprint, ChangesWithEveryHeaderHoweverItIsRead) {
  const ScratchFolder folder;
  const HiddenHeaders headers(folder.path());
  for (const auto& way : headers.ways()) {
    Target target;
    target.source_text = way.text;
    target.include_folders = headers.folders();
    target.options = way.options;
    headers.write("#define VALUE 1\n");
    const std::string before = fingerprint_of(Json::object(), target);
    EXPECT_EQ(fingerprint_of(Json::object(), target), before);
    headers.write("#error gone\n");
    EXPECT_NE(fingerprint_of(Json::object(), target), before) << way.text;
  }
}

/// Results that are stored already must stay found.
TEST(Fingerprint, OfPlainIncludesIsAsItEverWas) {
  const ScratchFolder folder;
  folder.write("a.cuh", "#include \"b.cuh\"\n");
  folder.write("b.cuh", "int b;\n");
  Target target;
  target.source_text = "#include \"a.cuh\"\n#include <cuda_fp16.h>\n// #include HEADER\n";
  target.include_folders = {folder.path()};
  EXPECT_EQ(
      fingerprint_of(Json{{"name", "scale"}, {"description", "any"}, {"alternative", "b"}}, target),
      "d0c0ed79bb412037e4013be090a4f96d");
}

}  // namespace
}  // namespace autotune
