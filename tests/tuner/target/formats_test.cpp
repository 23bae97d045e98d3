// SPDX-License-Identifier: Apache-2.0
// The shipped manifests mean what their forerunners of format 1 meant, which stand in format1/.
#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <set>
#include <sstream>

#include "tuner/core/target.hpp"
#include "tuner/core/target_program.hpp"
#include "tuner/target/manifest.hpp"

namespace autotune {
namespace {

namespace fs = std::filesystem;

// Of each problem:
constexpr int kPlans = 100;
constexpr std::size_t kLookedUp = 5000;

std::string text_of(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

DeviceInfo gpu(int capability, int multiprocessors, std::int64_t shared_bytes) {
  DeviceInfo device;
  device.name = "a GPU";
  device.kind = DeviceKind::cuda;
  device.compute_capability = capability;
  device.multiprocessors = multiprocessors;
  device.shared_bytes_per_block = shared_bytes;
  return device;
}

DeviceInfo host() {
  DeviceInfo device;
  device.name = "a host";
  device.kind = DeviceKind::host;
  device.multiprocessors = 4;
  return device;
}

/// Whatever order parameters stand in.
std::set<std::string> in_any_order(const NamedValues& values) {
  std::set<std::string> parts;
  for (const NamedValue& each : values) parts.insert(each.name + "=" + each.value.text());
  return parts;
}

std::set<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::set<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.insert(line);
  return lines;
}

/// Without what the manifests of format 1 do not say.
std::vector<BufferSpec> in_format1(const TargetProgram& program) {
  std::vector<BufferSpec> buffers = program.buffers();
  for (BufferSpec& each : buffers) each.repeatable = false, each.alignment = 0;
  return buffers;
}

/// One target in both formats, for the same problem and device.
class Pair {
 public:
  Pair(const Target& one, const Target& two, const Problem& problem, const DeviceInfo& device)
      : one_(one),
        two_(two),
        problem_(problem),
        device_(device),
        first_(space_of(one, problem, device)),
        second_(space_of(two, problem, device)),
        a_(one, problem, device),
        b_(two, problem, device) {}

  void compare_problem() const {
    EXPECT_EQ(a_.work().flops, b_.work().flops);
    EXPECT_EQ(a_.work().bytes, b_.work().bytes);
    EXPECT_EQ(in_format1(a_), in_format1(b_));
    EXPECT_EQ(a_.scalars(), b_.scalars());
  }

  /// Equally large, and what is in the first is in the second: all of it, or every so many.
  void compare_spaces() const {
    ASSERT_EQ(first_.size(), second_.size());
    for (std::size_t i = 0; i < first_.size(); i += 1 + first_.size() / kLookedUp) {
      ASSERT_TRUE(second_.find(same(first_.at(i)))) << to_text(first_.at(i));
    }
    if (first_.empty()) return;
    EXPECT_EQ(default_of(one_, first_), default_of(two_, second_));
  }

  void compare_plans(std::minstd_rand& random) const {
    for (int i = 0; i < kPlans && !first_.empty(); ++i) {
      const Configuration chosen = first_.at(random() % first_.size());
      SCOPED_TRACE(to_text(chosen));
      compare(a_.levels(chosen), b_.levels(same(chosen)));
      if (testing::Test::HasFailure()) return;
    }
  }

 private:
  void compare(const Levels& one, const Levels& two) const {
    EXPECT_EQ(a_.plan(one), b_.plan(two));
    EXPECT_EQ(a_.reference_plan(one).launches, b_.reference_plan(two).launches);
    EXPECT_EQ(a_.estimates(one).registers.value_or(0), b_.estimates(two).registers.value_or(0));
    EXPECT_EQ(a_.estimates(one).shared_bytes.value_or(0),
              b_.estimates(two).shared_bytes.value_or(0));
    // Format 2 has no macros of other families, nor of what only expressions see.
    const std::set<std::string> theirs = lines_of(a_.source_unit(one).prelude);
    for (const std::string& line : lines_of(b_.source_unit(two).prelude)) {
      EXPECT_TRUE(theirs.contains(line)) << line;
    }
  }

  /// In the order of the second's parameters.
  Configuration same(const Configuration& configuration) const {
    Configuration made;
    for (const Parameter& each : two_.parameters) {
      made.push_back({each.name, *find_value(configuration, each.name)});
    }
    return made;
  }

  std::set<std::string> default_of(const Target& target, const ParameterSpace& space) const {
    return in_any_order(
        active_values(target, problem_, space.at(default_index(target, space)), device_));
  }

  const Target &one_, &two_;
  const Problem& problem_;
  const DeviceInfo& device_;
  const ParameterSpace first_, second_;
  const TargetProgram a_, b_;
};

class Formats : public testing::TestWithParam<const char*> {
 protected:
  static Target format1(const std::string& name) {
    const fs::path file =
        fs::path(AUTOTUNE_SOURCE_DIR "/tests/tuner/target/format1") / (name + ".target.json");
    return read_manifest(text_of(file), folder(name) / file.filename());
  }
  static Target format2(const std::string& name) {
    return load_manifest(folder(name) / (name + ".target.toml"));
  }

  static Problem random_problem(const Target& target, std::minstd_rand& random) {
    static constexpr int kSizes[] = {512, 1024, 128, 97, 640, 2048, 333, 4096};
    NamedValues sizes, settings;
    const int base = kSizes[random() % 8];
    for (const std::string& name : target.sizes) {
      const int size = random() % 3 == 0 ? kSizes[random() % 8] : base;
      sizes.push_back({name, name == "BATCH" ? 16 : size});
    }
    for (const Setting& setting : target.settings) {
      if (random() % 3 != 0) continue;
      settings.push_back({setting.name, setting.values[random() % setting.values.size()]});
    }
    return problem_of(target, sizes, settings);
  }

 private:
  static fs::path folder(const std::string& name) {
    return fs::path(AUTOTUNE_SOURCE_DIR "/kernel_sources") / name;
  }
};

/// AUTOTUNE_TEST_PROBLEMS=100 compares that many problems.
TEST_P(Formats, MeanTheSame) {
  const Target one = format1(GetParam()), two = format2(GetParam());
  const DeviceInfo devices[] = {gpu(90, 132, 227 << 10), gpu(86, 30, 99 << 10), host()};
  const char* const asked = std::getenv("AUTOTUNE_TEST_PROBLEMS");
  std::minstd_rand random(7);
  for (int round = 0; round < (asked ? std::atoi(asked) : 3); ++round) {
    const Problem problem = random_problem(one, random);
    const DeviceInfo& device = devices[round % 3];
    SCOPED_TRACE(problem.text() + " on " + device.name);
    const Pair pair(one, two, problem, device);
    pair.compare_problem();
    pair.compare_spaces();
    pair.compare_plans(random);
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, Formats,
                         testing::Values("vector_add", "matrix_add", "transpose", "reduction",
                                         "stencil", "convolution_2d", "gemm_batched", "gemm"));

}  // namespace
}  // namespace autotune
