// SPDX-License-Identifier: Apache-2.0
#include "tuner/target/manifest.hpp"

#include "tests/support/matchers.hpp"
#include "tests/support/scratch_folder.hpp"
#include "tuner/core/error.hpp"

namespace autotune {
namespace {

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

// Families in files of their own.

constexpr const char* kManifestOfFamilies = R"toml(manifest = 2
name = "sums"
source = "sums.cu"
sizes = ["N"]
family = "KERNEL"
families = ["slow.toml", "families/fast.toml"]
default = { KERNEL = "fast" }
arguments.x = { type = "f32", length = "N" }
arguments.y = { type = "f32", length = "N", role = "output" }
launch = { grid = 1, arguments = ["x", "y", "N"] }
reference.kernels.check = { grid = 1, block = 1 }
)toml";

constexpr const char* kSlow = R"toml([families.slow]
source = "slow.cu"
parameters.BLOCK = [32, 64]
kernels.slow = { block = "BLOCK" }
)toml";

constexpr const char* kFast = R"toml([parts.blocks]
source = "blocks.cu"
parameters.BLOCK = [64, 128]
constraints = "BLOCK <= N"
[families.fast]
when = "device.compute_capability >= 90"
parts = ["blocks"]
source = "fast.cu"
parameters.STAGES = [1, 2]
default = { STAGES = 2 }
let = "depth = STAGES * BLOCK"
defines = "DEPTH = depth"
main = "fast"
kernels.fast = { block = "BLOCK" }
model = "steps = N / depth"
resources = "registers = 8 * STAGES"
)toml";

DeviceInfo a_gpu(int compute_capability) {
  DeviceInfo device;
  device.compute_capability = compute_capability;
  device.multiprocessors = 4;
  return device;
}

class FamilyFiles : public ::testing::Test {
 protected:
  FamilyFiles() {
    folder_.write("sums.cu", "// sums\n");
    folder_.write("slow.cu", "// slow\n");
    folder_.write("slow.toml", kSlow);
    folder_.write("families/fast.cu", "// fast\n");
    folder_.write("families/blocks.cu", "// blocks\n");
    folder_.write("families/fast.toml", kFast);
  }
  Target load(const std::string& text = kManifestOfFamilies) {
    return load_manifest(folder_.write("sums.target.toml", text));
  }
  void refuses(const std::vector<std::string>& parts_of_message) {
    for (const std::string& part : parts_of_message) EXPECT_REFUSAL(Error, load(), part);
  }
  /// The texts that a configuration compiles: macros and source.
  std::string compiled(const Target& target, const Configuration& configuration) {
    const SourceUnit unit =
        source_unit(target, problem_of(target, {{"N", 256}}, {}), configuration, a_gpu(90));
    return unit.prelude + unit.text;
  }

  ScratchFolder folder_;
};

TEST_F(FamilyFiles, EachCompilesTheSharedSourceAndItsOwn) {
  const Target target = load();
  EXPECT_EQ(compiled(target, {{"KERNEL", "slow"}, {"BLOCK", 64}, {"STAGES", 1}}),
            "#define KERNEL_SLOW 0\n"
            "#define KERNEL_FAST 1\n"
            "#define KERNEL KERNEL_SLOW\n"
            "#define BLOCK 64\n"
            "// sums\n\n#line 1 \"slow.cu\"\n// slow\n");
  EXPECT_THAT(compiled(target, {{"KERNEL", "fast"}, {"BLOCK", 64}, {"STAGES", 2}}),
              AllOf(HasSubstr("#define DEPTH 128\n// sums\n\n#line 1 \"blocks.cu\"\n// blocks\n"
                              "\n#line 1 \"fast.cu\"\n// fast\n"),
                    Not(HasSubstr("slow.cu"))));
}

TEST_F(FamilyFiles, AFamilyExistsOnlyWhereItsConditionHolds) {
  const Target target = load();
  const Problem problem = problem_of(target, {{"N", 256}}, {});
  EXPECT_EQ(space_of(target, problem, a_gpu(80)).size(), 2u);
  EXPECT_EQ(space_of(target, problem, a_gpu(90)).size(), 2u + 2u * 2u);
}

TEST_F(FamilyFiles, AFamilyWithoutAValidConfigurationLeavesTheOthers) {
  const Target target = load();
  const Problem problem = problem_of(target, {{"N", 32}}, {});
  EXPECT_EQ(space_of(target, problem, a_gpu(90)).size(), 2u);
  const ParameterSpace none =
      space_of(with_fixed(target, {{"KERNEL", "fast"}}), problem, a_gpu(90));
  EXPECT_THAT(why_refused(target, none),
              AllOf(HasSubstr("no configuration is valid"), HasSubstr("BLOCK <= N"),
                    HasSubstr("at N=32"), HasSubstr("try --sizes 64")));
}

TEST_F(FamilyFiles, AManifestThatExtendsHasItsBasesFamilies) {
  folder_.write("sums.cu", "#if KERNEL == KERNEL_SLOW\n#endif\n");  // knows the family all the same
  load();
  const Target target = load_manifest(folder_.write("more/own.target.toml", R"toml(manifest = 2
extends = "../sums.target.toml"
name = "own"
source = "../sums.cu"
families.slow = false
)toml"));
  EXPECT_THAT(target.parameters.front().values, ElementsAre(Value("fast")));
  EXPECT_THAT(all_sources(target), HasSubstr("// fast"));
}

TEST_F(FamilyFiles, TheSourcesOfAllBelongToTheFingerprint) {
  const std::string before = load().fingerprint;
  folder_.write("slow.cu", "// slower\n");
  EXPECT_NE(load().fingerprint, before);
}

TEST_F(FamilyFiles, AMissingFileIsReportedWhereItIsNamed) {
  std::filesystem::remove(folder_.path() / "slow.toml");
  refuses({"sums.target.toml:6:13: ", "slow.toml cannot be read"});
}

TEST_F(FamilyFiles, AMissingSourceIsReportedInTheFileOfItsFamily) {
  std::filesystem::remove(folder_.path() / "slow.cu");
  refuses({"slow.toml:2:10: ", "slow.cu cannot be read"});
}

TEST_F(FamilyFiles, AnUnknownNameIsReportedInTheFileOfItsFamily) {
  folder_.write("slow.toml", std::string(kSlow) + "constraints = \"STAGES > 1\"\n");
  refuses({"slow.toml:5:16: ", "STAGES belongs to the family fast"});
}

TEST_F(FamilyFiles, AnUnknownPartIsReportedInTheFileOfItsFamily) {
  folder_.write("slow.toml", std::string(kSlow) + "parts = [\"block\"]\n");
  refuses({"slow.toml:5:10: ", "there is no part block", "blocks"});
}

TEST_F(FamilyFiles, TwoOfOneNameAreRefused) {
  folder_.write("families/fast.toml", kSlow);
  refuses({"families/fast.toml:1:", "slow.toml", "rename one"});
}

TEST_F(FamilyFiles, AFileHoldsFamiliesAndPartsOnly) {
  folder_.write("slow.toml", std::string("sizes = [\"K\"]\n") + kSlow);
  refuses({"slow.toml:1:1: ", "there is no key \"sizes\""});
  folder_.write("slow.toml", "# nothing\n");
  EXPECT_REFUSAL(Error, load(), "neither [families.NAME] nor");
}

TEST_F(FamilyFiles, AConditionOnAFamilyThatDoesNotExistIsRefused) {
  folder_.write("sums.cu", "\n#if KERNEL == KERNEL_SLOW\n#elif KERNEL == KERNEL_MMA\n#endif\n");
  refuses({"sums.cu:3: KERNEL_MMA would be 0 here", "no family of this name"});
}

TEST_F(FamilyFiles, ASourceKnowsTheMacrosOfItsOwnFamilyOnly) {
  folder_.write("slow.cu", "#if BLOCK > 32\n#endif\n#if STAGES > 1\n#endif\n");
  refuses({"slow.cu:3: STAGES would be 0 here", "belongs to the family fast"});
  for (const char* const text : {"#ifdef STAGES\n#if STAGES > 1\n#endif\n#endif\n",
                                 "#if defined(STAGES) && STAGES > 1\n#endif\n",
                                 "#if KERNEL == KERNEL_FAST\n#if STAGES > 1\n#endif\n#endif\n",
                                 "#define STAGES_HERE 1\n#if STAGES_HERE > 1\n#endif\n"}) {
    folder_.write("slow.cu", text);
    EXPECT_NO_THROW(load()) << text;
  }
}

}  // namespace
}  // namespace autotune
