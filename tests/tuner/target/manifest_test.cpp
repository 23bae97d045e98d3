// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>

#include "tests/tuner/target/one_manifest.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

using testing::Lt;

constexpr const char* kValid = R"toml(manifest = 2
name = "scale"
description = "y = a x"
source = "scale.cu"
sizes = ["N"]
settings.dtype = ["f32", "f64", "i32"]
parameters.MODE = ["plain", "unrolled"]
parameters.BLOCK = [64, 128, 256]
parameters.UNROLL = { values = [2, 4], when = "MODE == 'unrolled'" }
parameters.SPLIT = { values = [1, 2], run_time = true }
constraints = ["BLOCK <= device.max_threads", "TILE <= N"]
default.BLOCK = 128
defines.TILE = "BLOCK * (MODE == 'unrolled' ? UNROLL : 1)"
defines.TWICE = "2 * N"
bake_sizes = "MODE == 'unrolled'"
arguments.x = { type = "dtype", length = "N" }
arguments.y = { type = "dtype", length = "N", role = "output", tolerance = "2" }
arguments.a = { type = "dtype", value = 1.5 }
workspace.part = { type = "f32", length = "N * SPLIT" }
kernels.scale.grid = ["ceil_div(N, TILE)", "SPLIT"]
kernels.scale.block = ["BLOCK"]
kernels.scale.dynamic_shared_bytes = "4 * BLOCK"
kernels.scale.arguments = ["x", "y", "a", "N", "SPLIT", "N * 2"]
kernels.finish = { when = "SPLIT > 1", grid = ["1"], block = [32], arguments = ["part", "y"] }
reference.kernels.scale_reference.grid = ["ceil_div(N, 64)"]
reference.kernels.scale_reference.block = [64]
reference.kernels.scale_reference.arguments = ["x", "y", "a", "N"]
reference.outputs = "f64"
work.flops = "N"
work.bytes = "2 * N * dtype_bytes"
resources.registers = "16 + UNROLL"
model.l2_bytes = "8 * N"
)toml";

class ManifestTest : public OneManifest {
 protected:
  ManifestTest() : OneManifest("scale", kValid, "// the kernel\n") {}
  void expect_error(const std::string& from, const std::string& to, const std::string& what) const {
    EXPECT_THAT([&] { read(from, to); }, ThrowsMessage<Error>(AllOf(HasSubstr("scale.target.toml:"),
                                                                    HasSubstr(": " + what))))
        << from << " -> " << to;
  }
};

TEST_F(ManifestTest, IsReadAsWritten) {
  const Target target = read();
  EXPECT_EQ(target.name, "scale");
  EXPECT_EQ(target.source_text, "// the kernel\n");
  EXPECT_THAT(target.sizes, ElementsAre("N"));
  ASSERT_EQ(target.parameters.size(), 4u);
  EXPECT_EQ(target.parameters[2].when->text(), "MODE == 'unrolled'");
  EXPECT_TRUE(target.parameters[3].run_time);
  EXPECT_EQ(to_text(target.default_configuration), "MODE=plain BLOCK=128 UNROLL=2 SPLIT=1");
  EXPECT_EQ(target.arguments[2].real, 1.5);
  EXPECT_EQ(target.kernels[0].block[0].text(), "BLOCK");
  EXPECT_EQ(target.kernels[1].block[0].text(), "32");
  EXPECT_TRUE(target.reference.float64_outputs);
  EXPECT_EQ(target.fingerprint.size(), 32u);
}

/// An empty folder would be a lone -I, which takes the compiler's next argument for a folder.
TEST_F(ManifestTest, AFileInTheWorkingFolderHasThatFolder) {
  read();
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder_.path());
  const Target target = load_manifest("scale.target.toml");
  std::filesystem::current_path(before);
  EXPECT_THAT(target.include_folders, Not(IsEmpty()));
  EXPECT_THAT(target.include_folders, Not(Contains(std::filesystem::path())));
  EXPECT_EQ(target.fingerprint, read().fingerprint);
}

TEST_F(ManifestTest, AMissingKeyIsNamed) {
  expect_error("name = \"scale\"\n", "", "\"name\" is missing");
  expect_error("type = \"dtype\", length", "length", "arguments.x: \"type\" is missing");
}

TEST_F(ManifestTest, NamesAreUniqueAndWellFormed) {
  expect_error("parameters.SPLIT", "parameters.N", "N is declared");
  expect_error("parameters.SPLIT", "parameters.S-1", "\"S-1\" is not a name");
  expect_error("workspace.part", "workspace.x", "x is declared twice");
}

TEST_F(ManifestTest, ArgumentsAreBuffersOrScalars) {
  expect_error("value = 1.5", "value = 1.5, length = \"N\"", "give \"length\"");
  expect_error("value = 1.5", "value = 1.5, fill = \"one\"", "there is no key");
  expect_error("type = \"dtype\", value", "type = \"quad\", value",
               "\"quad\" is neither an element type nor a setting (there are: f32");
  expect_error("\"output\"", "\"out\"", "\"out\" is not known (did you mean inout or output?)");
  expect_error("role = \"output\", tolerance = \"2\"", "tolerance = \"2\"", "only an output");
  expect_error("role = \"output\"", "role = \"output\", constant = 1", "only an input");
  expect_error("role = \"output\", tolerance = \"2\"", "role = \"input\"", "no buffer has");
  expect_error("\"x\", \"y\", \"a\", \"N\", \"SPLIT\"", "\"x\", \"z\", \"a\", \"N\", \"SPLIT\"",
               "there is no name z");
  expect_error("\"N * 2\"", "\"a * 2\"", "a is not a number");
}

TEST_F(ManifestTest, AnErrorShowsItsLine) {
  expect_error("ceil_div(N, TILE)", "ceil_div(N, TIL)",
               "there is no name TIL (did you mean TILE?)\n   20 | ");
  EXPECT_REFUSAL(Error, read("ceil_div(N, TILE)", "ceil_div(N, TIL)"), "scale.target.toml:20:36: ");
  // Of a long line, the part round the mistake.
  EXPECT_THAT([&] { read("[64, 128", "[" + std::string(100'000, ' ') + "[6], 128"); },
              ThrowsMessage<Error>(AllOf(HasSubstr("8:100021: "), SizeIs(Lt(600)))));
}

TEST_F(ManifestTest, AFileThatIsNotThereIsNamed) {
  expect_error("scale.cu", "none.cu", (folder_.path() / "none.cu").string());
  EXPECT_REFUSAL(Error, load_manifest(folder_.path() / "none.toml"),
                 "none.toml: cannot be read: No such file");
}

TEST_F(ManifestTest, WhatIsNoRegularFileIsRefusedUnread) {
  expect_error("scale.cu", "/dev/zero", "/dev/zero cannot be read: it is a device");
  expect_error("scale.cu", ".", folder_.path().string() + "/. cannot be read: it is");
  const auto pipe = folder_.path() / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  expect_error("scale.cu", "pipe", pipe.string() + " cannot be read: it is a pipe");
  EXPECT_REFUSAL(Error, load_manifest(pipe), "pipe: cannot be read: it is a pipe");
  const auto large = folder_.write("large.toml", "a = 1");
  std::filesystem::resize_file(large, std::uint64_t{1} << 40);  // with no disk behind it
  EXPECT_REFUSAL(Error, load_manifest(large), "it has 1.000 TiB, the most are 64.00 MiB");
}

TEST_F(ManifestTest, WhatIsRepeatedBeyondReasonIsRefused) {
  std::string words, numbers, sizes;
  for (int i = 0; i < 65535; ++i)  // in one line each: places in it are found at once
    words += format("\"w{}\",", i), numbers += format("{},", i + 1000);
  for (int i = 0; i < 1001; ++i) sizes += format("\"S{}\",\n", i);
  expect_error("\"plain\"", words + "\"plain\"", "has 65537 items");
  words.resize(words.find("\"w65530"));
  expect_error("\"plain\"", words + "\"plain\"", "MODE has more than 1000");
  numbers.resize(numbers.find("66534"));
  EXPECT_EQ(read("64, 128, 256", numbers + "128").parameters[1].values.size(), 65535u);
  expect_error("[\"N\"]", "[" + sizes + "\"N\"]", "has 1002 items, expected 1000 at most");
}

TEST_F(ManifestTest, AnotherFormatIsRefused) {
  expect_error("manifest = 2", "manifest = 3",
               "format 3 is not known: a manifest has the number 2");
  const std::string old = "// Of format 1.\n{\"manifest\": 1}";
  EXPECT_THAT([&] { load_manifest(folder_.write("old.target.json", old)); },
              ThrowsMessage<Error>(AllOf(HasSubstr("old.target.json: this manifest is in JSON"),
                                         HasSubstr("autotune convert"))));
  EXPECT_REFUSAL(Error, read_manifest(old, "plugin.so"), "autotune convert");
}

TEST_F(ManifestTest, TheFingerprintFollowsWhatRuns) {
  const std::string first = read().fingerprint;
  EXPECT_EQ(read("y = a x", "other words").fingerprint, first);
  EXPECT_EQ(read("default.BLOCK = 128", "default.BLOCK = 256").fingerprint, first);
  EXPECT_EQ(read("[64, 128, 256]", "[64, 128]").fingerprint, first);
  folder_.write("scale.cu", "// another kernel\n");
  EXPECT_NE(read().fingerprint, first);
}

TEST_F(ManifestTest, TheFingerprintFollowsIncludedFilesAtAnyDepth) {
  folder_.write("scale.cu", "#include <a.cuh>\n#include <cuda_fp16.h>\n");
  folder_.write("a.cuh", "#pragma once\n  #  include \"deep/b.cuh\"\n#include \"a.cuh\"\n");
  folder_.write("deep/b.cuh", "int one;\n");
  const std::string first = read().fingerprint;
  folder_.write("deep/b.cuh", "int two;\n");
  EXPECT_NE(read().fingerprint, first);
}

}  // namespace
}  // namespace autotune
