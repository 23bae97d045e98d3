// SPDX-License-Identifier: Apache-2.0
// Families in files of their own.
#include <gmock/gmock.h>

#include <filesystem>

#include "tests/tuner/target/scratch.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/target.hpp"
#include "tuner/target/manifest.hpp"

namespace autotune {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::ThrowsMessage;

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

TEST_F(FamilyFiles, TheManifestsDefaultIsThatOfTheFamily) {
  EXPECT_EQ(to_text(load().default_configuration), "KERNEL=fast BLOCK=64 STAGES=2");
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
              AllOf(HasSubstr("no configuration is valid"), HasSubstr("BLOCK <= N")));
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
  EXPECT_THAT([&] { load(); }, ThrowsMessage<Error>(AllOf(HasSubstr("sums.target.toml:6:13: "),
                                                          HasSubstr("slow.toml cannot be read"))));
}

TEST_F(FamilyFiles, AMissingSourceIsReportedInTheFileOfItsFamily) {
  std::filesystem::remove(folder_.path() / "slow.cu");
  EXPECT_THAT([&] { load(); }, ThrowsMessage<Error>(AllOf(HasSubstr("slow.toml:2:10: "),
                                                          HasSubstr("slow.cu cannot be read"))));
}

TEST_F(FamilyFiles, AnUnknownNameIsReportedInTheFileOfItsFamily) {
  folder_.write("slow.toml", std::string(kSlow) + "constraints = \"STAGES > 1\"\n");
  EXPECT_THAT([&] { load(); },
              ThrowsMessage<Error>(AllOf(HasSubstr("slow.toml:5:16: "),
                                         HasSubstr("STAGES belongs to the family fast"))));
}

TEST_F(FamilyFiles, AnUnknownPartIsReportedInTheFileOfItsFamily) {
  folder_.write("slow.toml", std::string(kSlow) + "parts = [\"block\"]\n");
  EXPECT_THAT([&] { load(); }, ThrowsMessage<Error>(AllOf(HasSubstr("slow.toml:5:10: "),
                                                          HasSubstr("there is no part block"),
                                                          HasSubstr("blocks"))));
}

TEST_F(FamilyFiles, TwoOfOneNameAreRefused) {
  folder_.write("families/fast.toml", kSlow);
  EXPECT_THAT([&] { load(); },
              ThrowsMessage<Error>(AllOf(HasSubstr("families/fast.toml:1:"), HasSubstr("slow.toml"),
                                         HasSubstr("rename one"))));
}

TEST_F(FamilyFiles, AFileHoldsFamiliesAndPartsOnly) {
  folder_.write("slow.toml", std::string("sizes = [\"K\"]\n") + kSlow);
  EXPECT_THAT([&] { load(); }, ThrowsMessage<Error>(AllOf(HasSubstr("slow.toml:1:1: "),
                                                          HasSubstr("there is no key \"sizes\""))));
  folder_.write("slow.toml", "# nothing\n");
  EXPECT_THAT([&] { load(); }, ThrowsMessage<Error>(HasSubstr("neither [families.NAME] nor")));
}

TEST_F(FamilyFiles, AConditionOnAFamilyThatDoesNotExistIsRefused) {
  folder_.write("sums.cu", "\n#if KERNEL == KERNEL_SLOW\n#elif KERNEL == KERNEL_MMA\n#endif\n");
  EXPECT_THAT([&] { load(); },
              ThrowsMessage<Error>(AllOf(HasSubstr("sums.cu:3: KERNEL_MMA would be 0 here"),
                                         HasSubstr("no family of this name"))));
}

TEST_F(FamilyFiles, ASourceKnowsTheMacrosOfItsOwnFamilyOnly) {
  folder_.write("slow.cu", "#if BLOCK > 32\n#endif\n#if STAGES > 1\n#endif\n");
  EXPECT_THAT([&] { load(); },
              ThrowsMessage<Error>(AllOf(HasSubstr("slow.cu:3: STAGES would be 0 here"),
                                         HasSubstr("belongs to the family fast"))));
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
