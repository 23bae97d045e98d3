// SPDX-License-Identifier: Apache-2.0
// Linear layers of two families of models with a stable choice: rows of the output keep their bits
// for any M, and what that costs. Each size is tuned with the budget $AUTOTUNE_TEST_BUDGET (16),
// after what is shipped for the GPU. A layer takes one to two minutes a type: GTEST_TOTAL_SHARDS
// divides them among GPUs.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <iterator>
#include <random>
#include <span>
#include <tuple>

#include "tests/cli/tool.hpp"
#include "tests/gpu/gpu_fixture.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/source_folder.hpp"
#include "tuner/gpu/cuda_handles.hpp"
#include "tuner/gpu/kernel_launch.hpp"
#include "tuner/json/json.hpp"
#include "tuner/lock/lock.hpp"
#include "tuner/runtime/autotune.h"
#include "tuner/session/reduction_class.hpp"
#include "tuner/target/catalog.hpp"

namespace autotune {
namespace {

constexpr std::int64_t kMostRows = 8192;
constexpr int kPairs = 10'000;        // over all layers and types
constexpr int kNumbersOfRows = 1000;  // that are drawn for each layer
constexpr double kLongest = 1200;     // seconds of a search
constexpr double kMeanBar = 0.95, kLeastBar = 0.90;
constexpr std::array<std::int64_t, 5> kTuned{1, 16, 128, 1024, kMostRows};

struct Layer {
  const char* name;
  std::int64_t n, k;
};
/// GPT-2 (and BERT base), and Llama 3 8B.
constexpr std::array kLayers{Layer{"GPT2AttentionOutput", 768, 768},
                             Layer{"GPT2AttentionInput", 2304, 768},
                             Layer{"GPT2Up", 3072, 768},
                             Layer{"GPT2Down", 768, 3072},
                             Layer{"Llama3AttentionOutput", 4096, 4096},
                             Layer{"Llama3AttentionInput", 6144, 4096},
                             Layer{"Llama3Down", 4096, 14336},
                             Layer{"Llama3Gate", 14336, 4096}};
const std::array<std::string, 2> kTypes{"bf16", "f32"};
constexpr int kPairsOfALayer = kPairs / static_cast<int>(kLayers.size() * kTypes.size());

std::string variable(const char* name, const char* otherwise) {
  const char* const value = std::getenv(name);
  return value ? value : otherwise;
}

std::string sizes_text(const Layer& layer, std::span<const std::int64_t> rows) {
  std::string text;
  for (const std::int64_t m : rows) {
    text += format("{}{}x{}x{}", text.empty() ? "" : ",", m, layer.n, layer.k);
  }
  return text;
}

/// Half of them uniform, half with uniform logarithms; the tuned ones first.
std::vector<std::int64_t> drawn_rows(std::mt19937_64& random) {
  std::vector<std::int64_t> rows(kTuned.begin(), kTuned.end());
  std::uniform_int_distribution<std::int64_t> uniform(1, kMostRows);
  std::uniform_real_distribution<double> logarithm(0, std::log2(kMostRows));
  while (rows.size() < kNumbersOfRows) {
    rows.push_back(rows.size() % 2 == 0 ? uniform(random)
                                        : std::llround(std::exp2(logarithm(random))));
  }
  return rows;
}

/// One layer's product with buffers of the most rows, through libautotune and a lock.
class LockedLayer {
 public:
  LockedLayer(const std::string& lock, const Layer& layer, const std::string& dtype,
              std::mt19937_64& random)
      : layer_(layer), bytes_(dtype == "f32" ? 4 : 2), settings_("layout=NT dtype=" + dtype) {
    autotune_options options{};
    options.size = sizeof options;
    options.target = "gemm";
    options.settings = settings_.c_str();
    options.user_database = lock.c_str();
    if (autotune_open(&options, &handle_) != AUTOTUNE_OK) throw Error(autotune_message());
    a_ = filled(kMostRows * layer.k, random);
    b_ = filled(layer.n * layer.k, random);
    c_ = DeviceMemory(16);
    for (DeviceMemory& each : d_) each = DeviceMemory(kMostRows * layer.n * bytes_);
  }
  ~LockedLayer() {
    for (const auto& [rows, kernel] : kernels_) autotune_release(kernel);
    autotune_close(handle_);
  }
  LockedLayer(const LockedLayer&) = delete;
  LockedLayer& operator=(const LockedLayer&) = delete;

  /// Multiplies `rows` rows of A from `first` on, into the output `to`.
  void run(std::int64_t first, std::int64_t rows, int to) {
    autotune_kernel*& kernel = kernels_[rows];
    const std::int64_t sizes[] = {rows, layer_.n, layer_.k};
    if (!kernel && autotune_prepare(handle_, sizes, 3, &kernel) != AUTOTUNE_OK) {
      throw Error(autotune_message());
    }
    void* const buffers[] = {a_.get() + first * layer_.k * bytes_, b_.get(), c_.get(),
                             d_.at(static_cast<std::size_t>(to)).get()};
    if (autotune_launch(kernel, buffers, 4, nullptr) != AUTOTUNE_OK) {
      throw Error(autotune_message());
    }
  }

  std::byte* row(int output, std::int64_t row) const {
    return d_.at(static_cast<std::size_t>(output)).get() + row * row_bytes();
  }
  std::int64_t row_bytes() const { return layer_.n * bytes_; }

 private:
  /// Numbers of mixed signs from 2^-4 to 2^4.
  DeviceMemory filled(std::int64_t count, std::mt19937_64& random) const {
    std::vector<std::byte> bytes(static_cast<std::size_t>(count * bytes_));
    for (std::int64_t i = 0; i < count; ++i) {
      const std::uint64_t drawn = random();
      const auto exponent = static_cast<std::uint32_t>(123 + drawn % 8);
      const std::uint32_t bits = static_cast<std::uint32_t>(drawn >> 63) << 31 | exponent << 23 |
                                 (static_cast<std::uint32_t>(drawn >> 32) & 0x7FFFFF);
      const std::uint32_t kept = bytes_ == 2 ? bits >> 16 : bits;  // bf16: the upper half
      std::memcpy(&bytes[static_cast<std::size_t>(i * bytes_)], &kept,
                  static_cast<std::size_t>(bytes_));
    }
    DeviceMemory memory = DeviceMemory(count * bytes_);
    check_cuda(cudaMemcpy(memory.get(), bytes.data(), bytes.size(), cudaMemcpyHostToDevice),
               "copy an operand");
    return memory;
  }

  const Layer layer_;
  const std::int64_t bytes_;
  const std::string settings_;
  autotune_handle* handle_ = nullptr;
  DeviceMemory a_, b_, c_;
  std::array<DeviceMemory, 2> d_;
  std::map<std::int64_t, autotune_kernel*> kernels_;
};

/// Counts words that differ, on the GPU.
class Comparison {
 public:
  explicit Comparison(Device& device) {
    SourceUnit unit;
    unit.name = "different.cu";
    unit.text = R"(
extern "C" __global__ void different(const unsigned short* a, const unsigned short* b,
                                     long long count, unsigned long long* found) {
  for (long long i = blockIdx.x * 256ll + threadIdx.x; i < count; i += gridDim.x * 256ll) {
    if (a[i] != b[i]) atomicAdd(found, 1ull);
  }
})";
    unit.entries = {"different"};
    compiled_ = device.compile(unit);
    if (compiled_.outcome != Outcome::ok) throw Error(compiled_.log);
    cubin_.emplace(*compiled_.binary);
    found_ = DeviceMemory(sizeof(std::uint64_t));
    check_cuda(cudaMemset(found_.get(), 0, sizeof(std::uint64_t)), "clear a counter");
  }

  /// Adds those of these bytes, after what runs.
  void add(const std::byte* a, const std::byte* b, std::int64_t bytes) {
    long long count = bytes / 2;
    std::byte* found = found_.get();
    void* arguments[] = {&a, &b, &count, &found};
    check_cuda(
        cudaLaunchKernel(cubin_->kernel("different"), dim3(528), dim3(256), arguments, 0, nullptr),
        "compare");
  }

  std::uint64_t found() const {
    std::uint64_t found = 0;
    check_cuda(cudaMemcpy(&found, found_.get(), sizeof found, cudaMemcpyDeviceToHost),
               "read a counter");
    return found;
  }

 private:
  CompiledKernel compiled_;
  std::optional<LoadedCubin> cubin_;
  DeviceMemory found_;
};

class StableBits : public Gpu {
 protected:
  void SetUp() override {
    Gpu::SetUp();
    if (IsSkipped()) return;
    for (const auto& file : std::filesystem::directory_iterator(source_folder() / "db/shipped")) {
      if (file.path().extension() == ".jsonl") tool({"db", "import", file.path().string()});
    }
  }

  testing::Ended tool(std::vector<std::string> words) {
    testing::Ended ended = sandbox_.run(words);
    EXPECT_EQ(ended.status, 0) << ended.err << ended.out;
    return ended;
  }

  testing::Ended tune(const Layer& layer, const std::string& dtype, const std::string& budget,
                      std::vector<std::string> more) const {
    std::vector<std::string> words{
        "tune",  "--target",       "gemm",   "--sizes",   sizes_text(layer, kTuned),
        "--set", "dtype=" + dtype, "--set",  "layout=NT", "--budget",
        budget,  "--json",         "--quiet"};
    std::ranges::move(more, std::back_inserter(words));
    return sandbox_.start(words)->wait(kLongest);
  }

  testing::Sandbox sandbox_;
};

using LayerAndType = std::tuple<Layer, std::string>;

class StableLayer : public StableBits, public ::testing::WithParamInterface<LayerAndType> {};

TEST_P(StableLayer, RowsAreTheSameForAnyNumberOfRows) {
  const auto& [layer, dtype] = GetParam();
  const testing::Ended chosen =
      tune(layer, dtype, variable("AUTOTUNE_TEST_BUDGET", "16"), {"--bits", "stable"});
  ASSERT_EQ(chosen.status, 0) << chosen.err;
  const Json groups = Json::parse(chosen.out).at("groups");
  ASSERT_EQ(groups.size(), 1u);
  std::string ratios;
  for (const Json& served : groups[0].at("serves")) {
    std::printf("%s %s %s: %.3f, %s\n", layer.name, dtype.c_str(),
                served.at("problem").at("M").dump().c_str(), 1 / served.at("ratio").get<double>(),
                served.at("config").dump().c_str());
    ratios += format(" {:.2f}", 1 / served.at("ratio").get<double>());
  }
  const auto figure_of = [&](const char* what, const char* name, double bar) {
    figure(format("{} {}: stable over free, {}", layer.name, dtype, what),
           format("{:.3f} ({})", 1 / groups[0].at(name).get<double>(), ratios.substr(1)),
           format("{}", bar));
  };
  figure_of("mean", "mean_ratio", kMeanBar);
  figure_of("least", "worst_ratio", kLeastBar);

  std::mt19937_64 random(46);
  const std::vector<std::int64_t> rows = drawn_rows(random);
  const testing::Ended locked = tool(
      {"lock", "--target", "gemm", "--sizes", sizes_text(layer, rows), "--set", "dtype=" + dtype,
       "--set", "layout=NT", "--bits", "class", "--fallback", "error", "--output", "app.lock"});
  EXPECT_THAT(locked.out, HasSubstr("bits: 1 of 1 group have one class")) << locked.out;
  LockedLayer product((sandbox_.folder() / "app.lock").string(), layer, dtype, random);
  Comparison comparison(device());
  for (int pair = 0; pair < kPairsOfALayer; ++pair) {
    const std::int64_t one = rows[random() % rows.size()], other = rows[random() % rows.size()];
    const std::int64_t firsts = std::min(one, kMostRows - other + 1);
    const auto first = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(firsts));
    product.run(0, one, 0);
    product.run(first, other, 1);
    comparison.add(product.row(0, first), product.row(1, 0),
                   std::min(one - first, other) * product.row_bytes());
  }
  EXPECT_EQ(comparison.found(), 0u) << "elements differ";
  figure(format("{} {}: pairs of M", layer.name, dtype), format("{}", kPairsOfALayer));
}

std::string name_of_layer(const ::testing::TestParamInfo<LayerAndType>& instance) {
  const auto& [layer, dtype] = instance.param;
  return layer.name + ("_" + dtype);
}

INSTANTIATE_TEST_SUITE_P(Layers, StableLayer,
                         ::testing::Combine(::testing::ValuesIn(kLayers),
                                            ::testing::ValuesIn(kTypes)),
                         name_of_layer);

/// The same number of parts of k, by blocks of a cluster, by a block in turn, and by warps.
TEST_F(StableBits, FamiliesAddPartsOfKInOneOrder) {
  const Target target = find_target("gemm");
  for (const int parts : {2, 4}) {
    std::vector<std::string> configurations;
    const auto add = [&](const std::string& chosen) {
      Configuration all;
      const NamedValues given = parse_named_values(chosen);
      for (const Parameter& each : target.parameters) {
        const Value* const value = find_value(given, each.name);
        all.push_back({each.name, value ? *value : each.values.front()});
      }
      configurations.push_back(to_text(all));
    };
    const std::string tile = "KERNEL=wgmma ROWS=64 COLUMNS=64 SLAB_BYTES=128 STAGES=4 ";
    add(format("{} K_PARTS={} IN_TURN=1", tile, parts));
    add(format("{} K_PARTS={} IN_TURN=1 SWAP=1", tile, parts));
    add(format("KERNEL=skinny K_GROUPS={} WHOLE_PARTS=1 UNROLL=2", parts));
    if (parts == 2) add(tile + " K_PARTS=2");  // with more, a block begins with its own
    for (const std::int64_t k : {768, 3072}) {
      const Problem problem =
          problem_of(target, {{"M", Value(16)}, {"N", Value(768)}, {"K", Value(k)}},
                     {{"dtype", Value("bf16")}, {"layout", Value("NT")}});
      const std::vector<std::string> classes = reduction_classes(
          device(), target, problem, builds_of(device(), target, problem, configurations, 4));
      EXPECT_THAT(classes, ::testing::Each(classes.front())) << parts << " parts of " << k;
      EXPECT_EQ(classes.front().size(), 16u);
    }
  }
}

TEST_F(StableBits, ALibrarysBitsAreFoundOrMissedWithASentence) {
  const testing::Ended ended =
      tune(kLayers[4], "bf16", variable("AUTOTUNE_TEST_BUDGET", "16"), {"--bits", "like=cublas"});
  ASSERT_TRUE(ended.status == 0 || ended.status == 1) << ended.err;
  const Json found = Json::parse(ended.out);
  EXPECT_EQ(found.at("serves").size() + found.at("without").size(), kTuned.size());
  EXPECT_EQ(ended.status, found.at("without").empty() ? 0 : 1);
  for (const Json& one : found.at("without")) {
    EXPECT_THAT(one.at("why").get<std::string>(), HasSubstr("cublas"));
  }
  figure("sizes with a configuration that has cublas' bits",
         format("{} of {}", found.at("serves").size(), kTuned.size()));
  std::printf("%s\n", ended.out.c_str());

  tool({"lock", "--target", "gemm", "--sizes", sizes_text(kLayers[4], kTuned), "--set",
        "dtype=bf16", "--set", "layout=NT", "--bits", "like=cublas", "--output", "like.lock"});
  const Lock lock = read_lock(sandbox_.folder() / "like.lock");
  const auto& answers = lock.targets.at(0).answers;
  EXPECT_EQ(answers.size(), kTuned.size());
  const auto by_library = std::ranges::count_if(
      answers, [](const LockedAnswer& answer) { return answer.configuration.empty(); });
  EXPECT_EQ(static_cast<std::size_t>(by_library), found.at("without").size());
}

}  // namespace
}  // namespace autotune
