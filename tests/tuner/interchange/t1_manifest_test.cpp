// SPDX-License-Identifier: Apache-2.0
#include "tuner/interchange/t1_problem.hpp"

#include <unistd.h>

#include <fstream>

#include "tests/support/matchers.hpp"
#include "tests/support/scratch_folder.hpp"

namespace autotune {
namespace {

T1Manifest sample() {
  return t1_manifest(AUTOTUNE_SOURCE_DIR "/tests/tuner/interchange/samples/t1_problem.json");
}

TEST(T1Manifest, ParametersHaveTheirValuesAndDefaults) {
  const T1Manifest manifest = sample();
  EXPECT_EQ(manifest.name, "fill_2d");
  for (const char* line :
       {"parameters.block_size_x = [16, 32, 64]\n", "parameters.block_size_y = [1, 2, 4]\n",
        "parameters.FACTOR = [0.5, 1.0]\n",
        "parameters.REAL = { values = [\"float\", \"double\"], as = \"text\" }\n",
        "default = { block_size_x = 32, REAL = \"double\" }\n"}) {
    EXPECT_THAT(manifest.text, HasSubstr(line));
  }
}

TEST(T1Manifest, ConditionsAndLaunchesAreTranslated) {
  const std::string text = sample().text;
  for (const char* line :
       {"\n16 <= block_size_x * block_size_y and block_size_x * block_size_y <= 128\n",
        "\nblock_size_y in [1, 2] or REAL == 'float'\n",
        "\nblock_size_x * block_size_y <= device.max_threads",
        "grid = [\"ceil_div(problem_size_x, block_size_x)\", "
        "\"ceil_div(problem_size_y, block_size_y)\"]\n",
        "block = [\"block_size_x\", \"block_size_y\"]\n", "sizes.problem_size_y = { fixed = 60 }\n",
        "length = \"problem_size_x * problem_size_y\", role = \"output\", tolerance = 64, "
        "absolute = 1e-6 }\n",
        "length = \"64 - 1\", fill = { value = 324 } }\n",
        "launch.arguments = [\"out\", \"in\", \"scale\"]\n"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

TEST(T1Manifest, WhatHasNoCounterpartIsNamedWithItsPlaceAndLeftAsAComment) {
  const T1Manifest manifest = sample();
  for (const char* what : {"Default of block_size_y: 3 is not among its values",
                           "Conditions[2]: \"fits(block_size_x)\"",
                           "LocalSize.Z: \"wave\" is not translated: wave is not a parameter",
                           "Arguments[3]: half has the type half3"}) {
    EXPECT_THAT(manifest.to_complete, Contains(HasSubstr(what)));
    EXPECT_THAT(manifest.text, HasSubstr(what));
  }
  EXPECT_THAT(manifest.text, HasSubstr("\n# fits(block_size_x)\n"));
  EXPECT_THAT(manifest.text, HasSubstr("\n# arguments.half = { … }\n"));
}

std::string manifest_of(const std::string& text) {
  const ScratchFolder folder;
  return t1_manifest(folder.write("t1.json", text)).text;
}

std::string refusal(const std::string& text) {
  return thrown_by([&] { manifest_of(text); });
}

TEST(T1Manifest, ANumberStandsWhereverAnExpressionDoes) {
  const std::string text = manifest_of(R"t1({"ConfigurationSpace": {"TuningParameters": [
      {"Name": "BX", "Type": "int", "Values": "[32, 64]"}], "Conditions": [{"Expression": 1}]},
      "KernelSpecification": {"KernelName": "k", "KernelFile": "k.cu", "ProblemSize": [1024, 6, 4],
        "LocalSize": {"X": "BX", "Y": 2.0, "Z": 1}, "GridDivX": 64, "GridDivY": [2, "BX"],
        "GlobalSize": {"X": 1, "Z": 3}, "Arguments": []}})t1");
  EXPECT_THAT(text, HasSubstr("\n1\n"));
  EXPECT_THAT(text, HasSubstr("block = [\"BX\", \"2\"]\n"));
  EXPECT_THAT(text, HasSubstr("grid = [\"ceil_div(problem_size_x, 64)\", "
                              "\"ceil_div(problem_size_y, 2 * BX)\", \"3\"]\n"));
}

TEST(T1Manifest, AFileForKttsLoaderHasTheBlocksOfAllAxesAndItsReferenceIsListed) {
  const std::string text = manifest_of(R"t1({"ConfigurationSpace": {"TuningParameters": [
      {"Name": "BX", "Type": "int", "Values": "[32, 64]"}]},
      "KernelSpecification": {"KernelName": "k", "KernelFile": "k.cu", "Arguments": [],
        "LocalSize": {"X": "BX", "Y": "2"}, "GlobalSize": {"X": "512 // BX", "Y": 64, "Z": "1"},
        "ReferenceArguments": [{"TargetName": "out", "ReferenceKernel": "plain"}]}})t1");
  EXPECT_THAT(text, HasSubstr("grid = [\"512 / BX\", \"64\"]\n"));
  EXPECT_THAT(text, HasSubstr("#   ReferenceArguments: write the reference kernel"));
}

TEST(T1Manifest, AnArgumentThatIsPassedTwiceIsDeclaredOnce) {
  const std::string text = manifest_of(R"t1({"ConfigurationSpace": {"TuningParameters": [
      {"Name": "BX", "Type": "int", "Values": "[32, 64]"}]},
      "KernelSpecification": {"KernelName": "k", "KernelFile": "k.cu", "ProblemSize": [1024],
        "Arguments": [
          {"Name": "n", "Type": "int32", "MemoryType": "Scalar", "FillValue": 7},
          {"Name": "n", "Type": "int32", "MemoryType": "Scalar", "FillValue": 7}]}})t1");
  EXPECT_THAT(text, HasSubstr("launch.arguments = [\"n\", \"n\"]\n"));
  const std::string declared = "arguments.n = { type = \"i32\", value = 7 }\n";
  EXPECT_THAT(text, HasSubstr(declared));
  EXPECT_EQ(text.find(declared), text.rfind(declared));
}

TEST(T1Manifest, OtherFilesAreRefused) {
  EXPECT_THAT(refusal("{}"), HasSubstr("no ConfigurationSpace"));
  EXPECT_THAT(refusal(R"t1({"ConfigurationSpace": {}, "KernelSpecification": {}})t1"),
              HasSubstr("KernelName"));
  EXPECT_THAT(refusal(R"t1({"ConfigurationSpace": {"TuningParameters": [
      {"Name": "a\nb = 1", "Type": "int", "Values": "[1]"}]}, "KernelSpecification":
      {"KernelName": "k"}})t1"),
              HasSubstr("is not the name of a parameter"));
  EXPECT_THAT(refusal(R"t1({"ConfigurationSpace": {"TuningParameters": [
      {"Name": "a", "Type": "int", "Values": "eval(1)"}]}, "KernelSpecification":
      {"KernelName": "k"}})t1"),
              HasSubstr("the values of the parameter a: the function eval"));
}

}  // namespace
}  // namespace autotune
