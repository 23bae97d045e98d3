// SPDX-License-Identifier: Apache-2.0
// Random variants of gemm, fast family and ladder, and those of tensor cores in each type, are
// right at random shapes, layouts, scalings, element types, leading dimensions and batches; those
// of gemm_grouped at random groups. AUTOTUNE_TEST_VARIANTS says how many (60), AUTOTUNE_TEST_SEED
// repeats a run; both are printed. Kernels run in a worker: one that crashes is named and the
// others go on. For scripts/gpu_sanitize, AUTOTUNE_TEST_LARGEST bounds M, N and K, and with
// AUTOTUNE_TEST_LOCAL kernels run in the test itself.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <random>
#include <thread>

#include "tests/gpu/gpu_fixture.hpp"
#include "tests/support/source_folder.hpp"
#include "tuner/core/target.hpp"
#include "tuner/target/manifest.hpp"
#include "tuner/worker/worker_device.hpp"

namespace autotune {
namespace {

constexpr std::size_t kVariantsAProblem = 10;
constexpr std::int64_t kLargestExtent = 2600;  // extent

using Random = std::mt19937_64;

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* const text = std::getenv(variable);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

std::int64_t between(Random& random, std::int64_t low, std::int64_t high) {
  return std::uniform_int_distribution<std::int64_t>(low, high)(random);
}

/// 1, a few, any up to `most`, or one that many tiles divide.
std::int64_t random_extent(Random& random, std::int64_t most) {
  switch (between(random, 0, 9)) {
    case 0:
      return 1;
    case 1:
    case 2:
      return between(random, 2, 40);
    case 3:
    case 4:
    case 5:
      return 64 * between(random, 1, most / 64);
    default:
      return between(random, 41, most);
  }
}

template <class T>
const T& one_of(Random& random, const std::vector<T>& all) {
  return all[static_cast<std::size_t>(
      between(random, 0, static_cast<std::int64_t>(all.size()) - 1))];
}

/// Of several products: matrices lie one behind another, or row beside row, with gaps or without.
void add_distances(Random& random, const NamedValues& settings, NamedValues& sizes) {
  const std::int64_t m = sizes[0].value.integer(), n = sizes[1].value.integer(),
                     k = sizes[2].value.integer(), batch = between(random, 1, 5);
  const auto layout = std::ranges::find(settings, std::string("layout"), &NamedValue::name);
  const std::string letters = layout == settings.end() ? "NN" : layout->value.text();
  const auto gap = [&] { return one_of<std::int64_t>(random, {0, 0, 1, 8, 64}); };
  NamedValues strides;
  const auto add = [&](const std::string& name, std::int64_t lines, std::int64_t line) {
    const bool is_beside = between(random, 0, 3) == 0;
    const std::int64_t distance = (is_beside ? batch * line : line) + gap();
    sizes.push_back({"ld" + name, distance});
    strides.push_back({"stride_" + name, is_beside ? line : lines * distance + gap()});
  };
  sizes.push_back({"batch", batch});
  letters[0] == 'N' ? add("a", m, k) : add("a", k, m);
  letters[1] == 'N' ? add("b", k, n) : add("b", n, k);
  add("c", m, n);
  add("d", m, n);
  sizes.insert(sizes.end(), strides.begin(), strides.end());
}

const Target& gemm() {
  static const Target target =
      load_manifest(source_folder() / "kernel_sources/gemm/gemm.target.toml");
  return target;
}

const Target& gemm_grouped() {
  static const Target target =
      load_manifest(source_folder() / "kernel_sources/gemm_grouped/gemm_grouped.target.toml");
  return target;
}

/// A problem of a target with its variants, compiled.
struct Sample {
  const Target* target = &gemm();
  Problem problem;
  std::vector<Configuration> configurations;
  std::vector<CompiledKernel> kernels;
};

/// Types of products, which choose among the families.
enum class Kind : std::uint8_t { cores, split, bits16, i8, tf32, fp8, groups };

NamedValues types_of(Kind kind, Random& random) {
  const std::string bits16 = one_of<std::string>(random, {"f16", "bf16"});
  switch (kind) {
    case Kind::cores:  // mostly the default
      return {{"dtype", one_of<std::string>(random, {"f32", "f32", "f32", "f32", "f64", "i32"})}};
    case Kind::split:
      return {{"dtype", "f32"}};
    case Kind::groups: {
      const std::string dtype = one_of<std::string>(random, {bits16, bits16, "e4m3", "e5m2"});
      const bool is_fp8 = dtype != bits16;
      const std::string scales =
          is_fp8 ? one_of<std::string>(random, {"rows", "rows", "blocks"}) : "none";
      return {{"dtype", dtype},
              {"layout", is_fp8 ? "NT" : one_of<std::string>(random, {"NN", "NT"})},
              {"sums",
               scales == "rows" ? one_of<std::string>(random, {"promoted", "fast"}) : "promoted"},
              {"scales", scales},
              {"groups", one_of<std::string>(random, {"packed", "packed", "padded"})},
              {"draw", one_of<std::string>(random, {"lognormal", "uniform", "zipf"})}};
    }
    case Kind::bits16:
      return {{"dtype", bits16}, {"output", one_of<std::string>(random, {bits16, "f32"})}};
    case Kind::i8:
      return {{"dtype", "i8"}};
    case Kind::tf32:
      return {{"math", "tf32"}};
    case Kind::fp8: {
      const std::string scales =
          one_of<std::string>(random, {"none", "tensor", "rows", "rows", "blocks"});
      return {{"dtype", one_of<std::string>(random, {"e4m3", "e5m2"})},
              {"output", one_of<std::string>(random, {"bf16", "f16", "f32", "e4m3"})},
              {"sums",
               scales == "blocks" ? "promoted" : one_of<std::string>(random, {"promoted", "fast"})},
              {"scales", scales}};
    }
  }
  return {};
}

/// Integers have no epilogue, those of 8 bits no scale, and a bias takes the place of C. Results of
/// e4m3 have neither.
void keep_rules(Kind kind, NamedValues& settings) {
  const auto is_integer = [](const NamedValue& each) {
    return each.value == Value("i32") || each.value == Value("i8");
  };
  if (std::ranges::any_of(settings, is_integer)) {
    std::erase_if(settings, [&](const NamedValue& each) {
      return each.name == "epilogue" || (kind == Kind::i8 && each.name == "scale");
    });
  }
  const auto is_bias = [](const NamedValue& each) {
    return each.name == "epilogue" && each.value.text().starts_with("bias");
  };
  const Value* const output = find_value(settings, "output");
  if (output != nullptr && *output == Value("e4m3")) {
    std::erase_if(settings, [&](const NamedValue& each) {
      return is_bias(each) || each.value == Value("beta");
    });
  }
  if (std::ranges::none_of(settings, is_bias)) return;
  for (NamedValue& each : settings) {
    if (each.name == "scale" && each.value == Value("beta")) each.value = Value("alpha");
  }
}

class GemmVariants : public Gpu {
 protected:
  static NamedValues random_settings(Kind kind, Random& random) {
    NamedValues settings = types_of(kind, random);
    const bool has_pad = kind == Kind::cores || kind == Kind::split;
    for (const Setting& setting : gemm().settings) {
      for (const char* const name : {"layout", "scale", "epilogue", "pad"}) {
        if (setting.name != name || (setting.name == "pad" && !has_pad)) continue;
        settings.push_back({setting.name, one_of(random, setting.values)});
      }
    }
    keep_rules(kind, settings);
    return settings;
  }

  static Problem random_problem(Kind kind, Random& random) {
    const NamedValues settings = random_settings(kind, random);
    // Packing and large tiles begin near 1000, splitting the last tiles near 2000.
    const auto largest =
        static_cast<std::int64_t>(number_from("AUTOTUNE_TEST_LARGEST", kLargestExtent));
    const std::int64_t chance = between(random, 0, 9);
    const std::int64_t most = std::min(largest, chance == 0   ? kLargestExtent
                                                : chance <= 2 ? 1400
                                                              : 700);
    const std::int64_t least = std::min<std::int64_t>(largest, chance == 0   ? 2000
                                                               : chance <= 2 ? 950
                                                                             : 1);
    const std::int64_t m = std::max(least, random_extent(random, most));
    const std::int64_t n = std::max(least, random_extent(random, most));
    const std::int64_t deepest = m * n < 40000 ? 6 * most : most / 2;
    const std::int64_t k = std::max(least / 2, random_extent(random, deepest));
    NamedValues sizes{{"M", m}, {"N", n}, {"K", k}};
    const bool is_packed = kind == Kind::i8 || kind == Kind::tf32 || kind == Kind::fp8;
    if (!is_packed && between(random, 0, 2) > 0) {
      add_distances(random, settings, sizes);
    } else if (!is_packed) {
      sizes.push_back({"batch", between(random, 1, 9)});
    }
    Problem problem = problem_of(gemm(), sizes, settings);
    for (const NamedValue& each : sizes) {
      if (std::ranges::find(gemm().sizes, each.name) == gemm().sizes.end()) {
        problem.free.push_back(each);
      }
    }
    return problem;
  }

  /// On CUDA cores four of five are of the fast family, the others of the ladder.
  static std::string random_kernel(Kind kind, Random& random) {
    static const std::vector<std::string> ladder{"naive", "tiled", "tiled", "single_block"};
    if (kind == Kind::cores) return between(random, 0, 4) > 0 ? "fast" : one_of(random, ladder);
    if (kind == Kind::split) return one_of<std::string>(random, {"split", "streamed"});
    if (kind == Kind::fp8) return "wgmma_fp8";
    const bool is_hopper = device().info().compute_capability == 90;
    const std::string instruction = is_hopper && between(random, 0, 3) > 0 ? "wgmma" : "mma";
    return kind == Kind::bits16 ? instruction : instruction + "_along_k";
  }

  static Sample drawn(Kind kind, std::uint64_t seed) {
    Random random(seed);
    Sample sample;
    sample.problem = random_problem(kind, random);
    std::map<std::string, ParameterSpace> spaces;
    for (std::size_t i = 0; i < kVariantsAProblem; ++i) {
      const auto space_with = [&](const std::string& kernel) -> const ParameterSpace& {
        if (!spaces.contains(kernel)) {
          const Target held = with_fixed(gemm(), {{"KERNEL", kernel}});
          spaces.emplace(kernel, space_of(held, sample.problem, device().info()));
        }
        return spaces.at(kernel);
      };
      const std::string kernel = random_kernel(kind, random);
      const bool needs_alignment = kernel == "streamed" && space_with(kernel).empty();
      const ParameterSpace& space = space_with(needs_alignment ? "split" : kernel);
      if (space.empty()) continue;
      sample.configurations.push_back(space.at(random() % space.size()));
    }
    return sample;
  }

  /// Blocks of a cluster share copies: lines are multiples of 16 bytes, not of 32.
  static Sample with_shared_copies(Kind kind, std::uint64_t seed) {
    Random random(seed);
    const auto uneven = [&](std::int64_t least) { return 16 * between(random, least, 40) + 8; };
    const NamedValues cluster = one_of<NamedValues>(random, {{{"BESIDE", 2}, {"BELOW", 2}},
                                                             {{"BESIDE", 2}, {"BELOW", 4}},
                                                             {{"BESIDE", 4}, {"BELOW", 2}}});
    Sample sample;
    sample.problem = problem_of(gemm(), {{"M", uneven(16)}, {"N", uneven(16)}, {"K", uneven(4)}},
                                random_settings(kind, random));
    const Target held = with_fixed(with_fixed(gemm(), {{"KERNEL", "wgmma"}}), cluster);
    const ParameterSpace space = space_of(held, sample.problem, device().info());
    for (std::size_t i = 0; i < kVariantsAProblem && !space.empty(); ++i)
      sample.configurations.push_back(space.at(random() % space.size()));
    return sample;
  }

  /// Odd numbers of rows have empty groups, and groups of one row.
  static Sample with_groups(Kind kind, std::uint64_t seed) {
    Random random(seed);
    const NamedValues settings = types_of(kind, random);
    const std::int64_t groups = random_extent(random, 140), deepest = groups < 20 ? 2000 : 200;
    const bool has_blocks = *find_value(settings, "scales") == Value("blocks");
    Sample sample;
    sample.target = &gemm_grouped();
    sample.problem =
        problem_of(gemm_grouped(),
                   {{"G", groups},
                    {"N", has_blocks ? 128 * between(random, 1, 5) : 8 * between(random, 1, 80)},
                    {"K", 16 * between(random, 1, deepest / 16)},
                    {"M", random_extent(random, 2000)}},
                   settings);
    const ParameterSpace space = space_of(gemm_grouped(), sample.problem, device().info());
    for (std::size_t i = 0; i < kVariantsAProblem && !space.empty(); ++i)
      sample.configurations.push_back(space.at(random() % space.size()));
    return sample;
  }

  static bool is_fast(const Configuration& configuration) {
    return std::ranges::any_of(configuration, [](const auto& named) {
      return named.value == Value("fast") || named.value == Value("split") ||
             named.value == Value("streamed") || named.value == Value("wgmma") ||
             named.value == Value("wgmma_along_k") || named.value == Value("wgmma_fp8");
    });
  }

  /// The outcome, as the word that counts it; a wrong one is a failure of the test.
  static std::string judged(Workbench& bench, const Sample& sample, std::size_t i) {
    const Configuration& configuration = sample.configurations[i];
    const CompiledKernel& kernel = sample.kernels[i];
    SCOPED_TRACE(sample.problem.text() + ": " + to_text(configuration));
    try {
      if (kernel.outcome != Outcome::ok) throw KernelFailure(kernel.outcome, kernel.log);
      const LaunchPlan plan =
          launch_plan(*sample.target, sample.problem, configuration, device().info());
      const Verdict verdict = bench.load(kernel, plan)->verify(2);
      EXPECT_EQ(verdict.outcome, Outcome::ok) << verdict.message;
      return verdict.outcome == Outcome::ok ? "right" : "wrong";
    } catch (const KernelFailure& failure) {
      // Registers can be more than the manifest's estimate: a session makes a row of it. The ladder
      // has its slow ends.
      if (failure.outcome() == Outcome::launch_error) return "refused";
      const bool slow = failure.outcome() == Outcome::timeout && !is_fast(configuration);
      EXPECT_TRUE(slow) << failure.what();
      return slow ? "too slow" : "failed";
    }
  }

  static void verify_variants(Kind kind,
                              const std::function<Sample(Kind, std::uint64_t)>& draw = drawn) {
    const std::uint64_t count = number_from("AUTOTUNE_TEST_VARIANTS", 60);
    const std::uint64_t seed = number_from("AUTOTUNE_TEST_SEED", std::random_device{}());
    std::printf("AUTOTUNE_TEST_VARIANTS=%llu AUTOTUNE_TEST_SEED=%llu\n",
                static_cast<unsigned long long>(count), static_cast<unsigned long long>(seed));
    std::vector<Sample> samples((count + kVariantsAProblem - 1) / kVariantsAProblem);
    on_all_cores(samples.size(), [&](std::size_t i) { samples[i] = draw(kind, seed + i); });

    std::vector<std::pair<Sample*, std::size_t>> places;
    for (Sample& sample : samples) {
      sample.kernels.resize(sample.configurations.size());
      for (std::size_t i = 0; i < sample.configurations.size(); ++i)
        places.emplace_back(&sample, i);
    }
    on_all_cores(places.size(), [&](std::size_t at) {
      const auto [sample, i] = places[at];
      sample->kernels[i] = device().compile(source_unit(
          *sample->target, sample->problem, sample->configurations[i], device().info()));
    });

    const auto cache = std::make_shared<BuildCache>(folder() / "cache");
    const auto runner = std::getenv("AUTOTUNE_TEST_LOCAL") != nullptr
                            ? make_local_device("cuda:0", cache)
                            : make_worker_device("cuda:0", cache);
    std::map<std::string, int> outcomes;
    for (const Sample& sample : samples) {
      const auto bench = runner->open(workload_of(*sample.target, sample.problem, runner->info()));
      for (std::size_t i = 0; i < sample.configurations.size(); ++i) {
        ++outcomes[judged(*bench, sample, i)];
      }
    }
    std::string text;
    for (const auto& [outcome, times] : outcomes) text += format("{} {} ", times, outcome);
    figure(format("gemm, {} random variants", places.size()), text, "none wrong, none failed");
    EXPECT_GT(outcomes["right"], outcomes["refused"]);
  }
};

TEST_F(GemmVariants, AreRightAtRandomProblems) { verify_variants(Kind::cores); }

TEST_F(GemmVariants, OfSixteenBitsAreRightAtRandomProblems) {
  if (device().info().compute_capability < 80) GTEST_SKIP() << "only from compute capability 8.0";
  verify_variants(Kind::bits16);
}

TEST_F(GemmVariants, ThatShareCopiesAreRight) {
  if (device().info().compute_capability != 90) GTEST_SKIP() << "only with wgmma";
  verify_variants(Kind::bits16, with_shared_copies);
}

TEST_F(GemmVariants, OfTensorCoresAreRightAtRandomProblems) {
  if (device().info().compute_capability != 90) GTEST_SKIP() << "only with wgmma";
  verify_variants(Kind::split);
}

TEST_F(GemmVariants, OfEightBitsAreRightAtRandomProblems) {
  if (device().info().compute_capability < 80) GTEST_SKIP() << "only from compute capability 8.0";
  verify_variants(Kind::i8);
}

TEST_F(GemmVariants, OfE4m3AndE5m2AreRightAtRandomProblems) {
  if (device().info().compute_capability != 90) GTEST_SKIP() << "only with wgmma";
  verify_variants(Kind::fp8);
}

TEST_F(GemmVariants, OfGroupsAreRightAtRandomProblems) {
  if (device().info().compute_capability != 90) GTEST_SKIP() << "only with wgmma";
  verify_variants(Kind::groups, with_groups);
}

TEST_F(GemmVariants, InTf32AreRightAtRandomProblems) {
  if (device().info().compute_capability < 80) GTEST_SKIP() << "only from compute capability 8.0";
  verify_variants(Kind::tf32);
}

}  // namespace
}  // namespace autotune
