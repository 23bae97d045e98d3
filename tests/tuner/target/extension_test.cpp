// SPDX-License-Identifier: Apache-2.0
#include "tuner/target/manifest.hpp"

#include <gmock/gmock.h>

#include "tests/tuner/target/scratch.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/target.hpp"

namespace autotune {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr const char* kBase = R"toml(manifest = 2
name = "base"
description = "the base"
source = "base.cu"
sizes = ["N"]
settings.dtype = ["f32", "f64"]
parameters.BLOCK = [64, 128]
parameters.ITEMS = [1, 2]
constraints = "BLOCK * ITEMS <= 128"
arguments.x = { type = "dtype", length = "N" }
arguments.y = { type = "dtype", length = "N", role = "output" }
launch.arguments = ["x", "y", "N"]
kernels.first = { grid = 1, block = "BLOCK" }
kernels.second = { grid = 2, block = "BLOCK" }
reference.configuration = "default"
)toml";

constexpr const char* kOwn = R"toml(manifest = 2
extends = "base.target.toml"
name = "own"
source = "own.cu"
settings.dtype = ["f32"]
parameters.ITEMS = [4]
constraints = "ITEMS == 4"
arguments.y.length = "2 * N"
kernels.first = false
)toml";

class Extension : public ::testing::Test {
 protected:
  Extension() {
    folder_.write("base.target.toml", kBase);
    folder_.write("base.cu", "// base");
    folder_.write("own.cu", "// own");
  }
  Target load(const std::string& text) {
    return load_manifest(folder_.write("own.target.toml", text));
  }

  ScratchFolder folder_;
};

TEST_F(Extension, HasTheKeysOfBothItsOwnOnTop) {
  const Target own = load(kOwn);
  EXPECT_EQ(own.name, "own");
  EXPECT_EQ(own.description, "");
  EXPECT_EQ(own.source_text, "// own");
  EXPECT_THAT(own.sizes, ElementsAre("N"));
  EXPECT_THAT(own.settings.at(0).values, ElementsAre(Value(std::string("f32"))));
  ASSERT_EQ(own.parameters.size(), 2u);
  EXPECT_EQ(own.parameters[0].name, "BLOCK");
  EXPECT_THAT(own.parameters[1].values, ElementsAre(Value(std::int64_t{4})));
  EXPECT_EQ(own.constraints.size(), 1u);
  ASSERT_EQ(own.kernels.size(), 1u);
  EXPECT_EQ(own.kernels[0].entry, "second");
}

TEST_F(Extension, MergesTablesAtEveryDepth) {
  const Target own = load(kOwn);
  const Problem problem = problem_of(own, {{"N", std::int64_t{10}}}, {});
  const Workload workload = workload_of(own, problem, {});
  EXPECT_EQ(workload.buffers.at(1).role, Role::output);
  EXPECT_EQ(workload.buffers.at(1).length, 20u);
}

TEST_F(Extension, AFingerprintIsThatOfWhatIsRead) {
  const Target base = load_manifest(folder_.path() / "base.target.toml");
  const Target same = load(R"toml(manifest = 2
extends = "base.target.toml"
name = "same"
source = "base.cu"
)toml");
  EXPECT_EQ(same.fingerprint, base.fingerprint);
  EXPECT_NE(load(kOwn).fingerprint, base.fingerprint);
}

TEST_F(Extension, AMistakeIsNamedInTheFileThatHasIt) {
  const auto loading = [&](const std::string& text) { return [=, this] { load(text); }; };
  const std::string own = kOwn;
  EXPECT_THAT(loading(own + "parameters.BLOCK = [\"a b\"]\n"),
              ThrowsMessage<Error>(HasSubstr("own.target.toml:10:")));
  folder_.write("base.target.toml", std::string(kBase) + "blocks = 3\n");
  EXPECT_THAT(loading(own), ThrowsMessage<Error>(HasSubstr("base.target.toml:16:")));
  folder_.write("base.target.toml", std::string(kBase) + "extends = \"other\"\n");
  EXPECT_THAT(loading(own), ThrowsMessage<Error>(HasSubstr("extends another manifest itself")));
  EXPECT_THAT(loading("manifest = 2\nextends = \"none.toml\"\nname = \"x\"\n"),
              ThrowsMessage<Error>(HasSubstr("none.toml cannot be read")));
}

}  // namespace
}  // namespace autotune
