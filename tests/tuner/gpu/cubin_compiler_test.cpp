// SPDX-License-Identifier: Apache-2.0
#include "tuner/gpu/cubin_compiler.hpp"

#include <gtest/gtest.h>

#include "tests/tuner/target/scratch.hpp"

namespace autotune {
namespace {

/// What failed for want of a folder is compiled again once the unit names it.
TEST(CubinCompiler, AFolderThatTheUnitNamesIsInTheKey) {
  const ScratchFolder folder;
  folder.write("one/value.cuh", "#define VALUE 1\n");
  folder.write("two/value.cuh", "#define VALUE 2\n");
  const CubinCompiler compiler(80, std::make_shared<BuildCache>(folder.path() / "cache"));
  SourceUnit unit{"k.cu",
                  "",
                  "#include <value.cuh>\n"
                  "extern \"C\" __global__ void k(int* to) { *to = VALUE; }\n",
                  {"k"},
                  {},
                  {}};
  EXPECT_EQ(compiler.compile(unit).outcome, Outcome::compile_error);
  unit.options = {"-I" + (folder.path() / "one").string()};
  const CompiledKernel one = compiler.compile(unit);
  ASSERT_EQ(one.outcome, Outcome::ok) << one.log;
  unit.options = {"-I" + (folder.path() / "two").string()};
  const CompiledKernel two = compiler.compile(unit);
  ASSERT_EQ(two.outcome, Outcome::ok) << two.log;
  EXPECT_NE(*one.binary, *two.binary);
}

}  // namespace
}  // namespace autotune
