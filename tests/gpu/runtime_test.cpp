// SPDX-License-Identifier: Apache-2.0
// libautotune on a GPU: the stored winner is launched, be it a kernel or the vendor's library, with
// scalars of the caller's own, and captured into graphs.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <utility>

#include "db/store.hpp"
#include "tests/gpu/gpu_fixture.hpp"
#include "tests/gpu/vendor_library.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/source_folder.hpp"
#include "tuner/core/target.hpp"
#include "tuner/gpu/cuda_handles.hpp"
#include "tuner/lock/lock.hpp"
#include "tuner/plugin/target_hooks.hpp"
#include "tuner/records/records.hpp"
#include "tuner/runtime/autotune.h"
#include "tuner/target/manifest.hpp"

namespace autotune {
namespace {

constexpr std::int64_t kSize = 64;

/// D = alpha A B + beta C at 64, where A = 1, B = 2 and C = 3 everywhere: 128 alpha + 3 beta.
class RuntimeOnGpu : public Gpu {
 protected:
  void SetUp() override {
    Gpu::SetUp();
    if (IsSkipped()) return;
    manifest_ = source_folder() / "kernel_sources/gemm/gemm.target.toml";
    setenv("AUTOTUNE_CACHE", (folder() / "cache").c_str(), 1);
    const std::int64_t bytes = kSize * kSize * std::int64_t{sizeof(float)};
    for (const float fill : {1.0F, 2.0F, 3.0F, 0.0F}) {
      memory_.emplace_back(bytes);
      const std::vector<float> values(kSize * kSize, fill);
      ASSERT_EQ(cudaMemcpy(memory_.back().get(), values.data(), values.size() * sizeof(float),
                           cudaMemcpyHostToDevice),
                cudaSuccess);
      buffers_.push_back(memory_.back().get());
    }
  }
  void TearDown() override {
    autotune_release(std::exchange(kernel_, nullptr));
    autotune_close(std::exchange(handle_, nullptr));
  }

  Problem problem_at(const Target& gemm) const {
    return problem_of(gemm, {{"M", kSize}, {"N", kSize}, {"K", kSize}}, {{"scale", "beta"}});
  }

  /// What the plugin itself calls its first way there.
  std::string first_way() const {
    const Target gemm = load_manifest(manifest_);
    const Workload workload = workload_of(gemm, problem_at(gemm), device().info());
    return open_plugin_baseline({cublas_plugin(), "gemm"}, workload, {})->names().at(0);
  }

  /// Stores a decision in which `way` of a plugin was faster, and prepares that problem.
  void prepare(const std::string& plugin, const std::string& way) {
    const Target gemm = load_manifest(manifest_);
    const std::string file = (folder() / (plugin + ".db")).string();
    std::filesystem::remove(file);
    {
      const DeviceInfo& info = device().info();
      db::TunedStore store(file);
      db::DecisionRow row;
      row.key.device =
          store.add_device({"", info.name, "cuda", info.id, info.compute_capability,
                            info.multiprocessors, info.l2_bytes, info.memory_bytes, ""});
      row.key.kernel = store.add_kernel({"", "gemm", gemm.fingerprint, "M N K batch"});
      row.key.problem = problem_at(gemm).text();
      row.key.policy = "l2=hot launch=graph";
      row.session = store.begin_session({});
      row.configuration = to_text(valid_default(gemm, problem_at(gemm), info));
      row.median_ns = 10000;
      row.baseline = {plugin, way, 9000, 8990, 9010, true};
      store.add_decision(row);
    }
    const std::string target = manifest_.string();
    autotune_options options{};
    options.size = sizeof options;
    options.target = target.c_str();
    options.settings = "scale=beta";
    options.user_database = file.c_str();
    ASSERT_EQ(autotune_open(&options, &handle_), AUTOTUNE_OK) << autotune_message();
    kernel_ = another_kernel();
    ASSERT_EQ(autotune_kernel_buffers(kernel_), buffers_.size());
  }

  /// A lock of one answer for this GPU: the kernel that is prepared or, if it is named, a library.
  Lock lock_of(const std::string& library) const {
    const Target gemm = load_manifest(manifest_);
    const NamedValues values = problem_at(gemm).values;
    Lock lock;
    lock.device = device_row(device().info());
    LockedTarget& target = lock.targets.emplace_back();
    target.target = "gemm";
    target.fingerprint = gemm.fingerprint;
    target.sizes = size_names(gemm);
    target.key_sizes = gemm.sizes.size();
    target.settings = to_text({values.begin() + std::ssize(gemm.sizes), values.end()});
    target.policy = "l2=hot launch=graph context=between";
    LockedAnswer& answer = target.answers.emplace_back();
    answer.sizes = {kSize, kSize, kSize, 1};
    answer.sizes.resize(target.sizes.size(), kDefaultSize);
    answer.last = kSize;
    answer.library = library;
    if (!library.empty()) return lock;
    answer.configuration = autotune_kernel_configuration(kernel_);
    std::size_t bytes = 0;
    const auto* const binary = static_cast<const char*>(autotune_kernel_binary(kernel_, &bytes));
    lock.kernels.push_back({"key", std::make_shared<const std::string>(binary, bytes)});
    return lock;
  }

  /// Opens it in place of what is open.
  autotune_status open_lock(const Lock& lock) {
    TearDown();
    const std::string file = (folder() / "app.lock").string(), target = manifest_.string();
    std::ofstream(file, std::ios::binary) << lock_text(lock);
    autotune_options options{};
    options.size = sizeof options;
    options.target = target.c_str();
    options.settings = "scale=beta";
    options.user_database = file.c_str();
    options.earn = 1;
    options.first_use_ms = 1000;
    return autotune_open(&options, &handle_);
  }

  /// One more of that problem; the caller's.
  autotune_kernel* another_kernel() const {
    autotune_kernel* kernel = nullptr;
    const std::int64_t sizes[] = {kSize, kSize, kSize};
    EXPECT_EQ(autotune_prepare(handle_, sizes, 3, &kernel), AUTOTUNE_OK) << autotune_message();
    return kernel;
  }

  float launched(std::vector<double> scalars) {
    const autotune_status status =
        scalars.empty() ? autotune_launch(kernel_, buffers_.data(), buffers_.size(), nullptr)
                        : autotune_launch_with(kernel_, buffers_.data(), buffers_.size(),
                                               scalars.data(), scalars.size(), nullptr);
    EXPECT_EQ(status, AUTOTUNE_OK) << autotune_message();
    return result();
  }

  /// Captures a launch, and what `first` does, in the strictest mode; runs it as a graph, twice.
  float captured(const std::function<void()>& first = [] {}) {
    const Stream stream = make_stream();
    EXPECT_EQ(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeGlobal), cudaSuccess);
    first();
    EXPECT_EQ(autotune_launch(kernel_, buffers_.data(), buffers_.size(), stream.get()), AUTOTUNE_OK)
        << autotune_message();
    cudaGraph_t made = nullptr;
    EXPECT_EQ(cudaStreamEndCapture(stream.get(), &made), cudaSuccess);
    const Graph graph(made);
    cudaGraphExec_t executable = nullptr;
    EXPECT_EQ(cudaGraphInstantiate(&executable, graph.get(), 0), cudaSuccess);
    const GraphExec exec(executable);
    for (int run = 0; run < 2; ++run) {
      EXPECT_EQ(cudaMemsetAsync(buffers_[3], 0xFF, kSize * kSize * sizeof(float), stream.get()),
                cudaSuccess);
      EXPECT_EQ(cudaGraphLaunch(exec.get(), stream.get()), cudaSuccess);
    }
    EXPECT_EQ(cudaStreamSynchronize(stream.get()), cudaSuccess);
    return result();
  }

  /// Every element of it, which must be one value.
  float result() const {
    std::vector<float> got(kSize * kSize);
    EXPECT_EQ(
        cudaMemcpy(got.data(), buffers_[3], got.size() * sizeof(float), cudaMemcpyDeviceToHost),
        cudaSuccess);
    EXPECT_THAT(got, testing::Each(got.front()));
    return got.front();
  }

  void expect_right_results() {
    EXPECT_EQ(launched({}), 128 * 3 - 2 * 3) << "with the scalars that it was tuned with";
    EXPECT_EQ(launched({1, 0}), 128);
    EXPECT_EQ(launched({0.5, 4}), 64 + 12);
  }

  std::filesystem::path manifest_;
  std::vector<DeviceMemory> memory_;
  std::vector<void*> buffers_;
  autotune_handle* handle_ = nullptr;
  autotune_kernel* kernel_ = nullptr;
};

/// The same where the plugin of the vendor's library is built, which needs its headers.
class VendorsLibraryOnGpu : public RuntimeOnGpu {
 protected:
  void SetUp() override {
    RuntimeOnGpu::SetUp();
    if (IsSkipped()) return;
    if (!std::filesystem::exists(cublas_plugin())) GTEST_SKIP() << "there is no cublas.so";
    setenv("AUTOTUNE_PLUGIN_PATH", cublas_plugin().parent_path().c_str(), 1);
  }
};

TEST_F(RuntimeOnGpu, WhereTheVendorsLibraryIsMissingTheTunedKernelIsLaunchedAndSaysSo) {
  prepare("missing", "some way");
  const char* text = nullptr;
  EXPECT_EQ(autotune_kernel_engine(kernel_, &text), AUTOTUNE_VENDOR_MISSING);
  EXPECT_THAT(text, HasSubstr("missing some way: there is no plugin missing"));
  expect_right_results();
}

TEST_F(VendorsLibraryOnGpu, WhereTheVendorsLibraryIsFasterItIsLaunched) {
  prepare("cublas", "no such way");
  const char* text = nullptr;
  EXPECT_EQ(autotune_kernel_engine(kernel_, &text), AUTOTUNE_VENDOR_MISSING);
  EXPECT_THAT(text, HasSubstr("it no longer offers \"no such way\""));
  expect_right_results();
  TearDown();

  prepare("cublas", first_way());
  EXPECT_EQ(autotune_kernel_engine(kernel_, &text), AUTOTUNE_VENDOR_LIBRARY);
  EXPECT_THAT(text, HasSubstr("cublas cublasLt"));
  expect_right_results();
}

TEST_F(RuntimeOnGpu, ALockAnswersWithItsKernelAndNothingElse) {
  prepare("missing", "some way");
  const Lock lock = lock_of("");
  setenv("AUTOTUNE_CACHE", (folder() / "no_cache").c_str(), 1);
  ASSERT_EQ(open_lock(lock), AUTOTUNE_OK) << autotune_message();
  EXPECT_STREQ(autotune_warnings(handle_), "");
  kernel_ = another_kernel();
  EXPECT_EQ(autotune_kernel_engine(kernel_, nullptr), AUTOTUNE_TUNED_KERNEL);
  EXPECT_EQ(autotune_kernel_earns(kernel_), 0);
  expect_right_results();
  EXPECT_EQ(captured(), 128 * 3 - 2 * 3);
  EXPECT_FALSE(std::filesystem::exists(folder() / "no_cache"));
}

TEST_F(RuntimeOnGpu, ALockOfAnotherGpuIsRefusedAndOneOfAnotherDriverWarns) {
  prepare("missing", "some way");
  Lock lock = lock_of("");
  lock.environment = "driver 1.0, CUDA 1.0, NVRTC 1.0";
  ASSERT_EQ(open_lock(lock), AUTOTUNE_OK) << autotune_message();
  EXPECT_THAT(autotune_warnings(handle_), HasSubstr("was made with driver 1.0"));
  lock.device.multiprocessors += 1;
  EXPECT_NE(open_lock(lock), AUTOTUNE_OK);
  EXPECT_THAT(autotune_message(), HasSubstr("app.lock: is for "));
}

TEST_F(VendorsLibraryOnGpu, ALockNamesItForItsOwnSizesAndForOthers) {
  prepare("cublas", first_way());
  ASSERT_EQ(open_lock(lock_of("cublas " + first_way())), AUTOTUNE_OK) << autotune_message();
  kernel_ = another_kernel();
  EXPECT_EQ(autotune_kernel_engine(kernel_, nullptr), AUTOTUNE_VENDOR_LIBRARY);
  expect_right_results();
  const std::int64_t others[] = {32, 32, 32};
  autotune_answer answer{};
  answer.size = sizeof answer;
  ASSERT_EQ(autotune_lookup(handle_, others, 3, &answer), AUTOTUNE_OK) << autotune_message();
  EXPECT_STREQ(answer.configuration, "");
  EXPECT_STREQ(answer.baseline, "cublas");
  EXPECT_EQ(answer.is_open, 0);
}

TEST_F(RuntimeOnGpu, TheFirstUseIsRacedStoredAndRight) {
  const std::string target = manifest_.string(), file = (folder() / "first_use.db").string();
  std::filesystem::remove(file);
  autotune_options options{};
  options.size = sizeof options;
  options.target = target.c_str();
  options.settings = "scale=beta";
  options.user_database = file.c_str();
  options.shipped_database = "";
  options.first_use_ms = 20'000;  // with an empty cache on a busy machine, too
  const std::int64_t sizes[] = {kSize, kSize, kSize};
  autotune_answer answer{};
  answer.size = sizeof answer;
  for (int start = 0; start < 2; ++start) {
    ASSERT_EQ(autotune_open(&options, &handle_), AUTOTUNE_OK) << autotune_message();
    ASSERT_EQ(autotune_lookup(handle_, sizes, 3, &answer), AUTOTUNE_OK);
    EXPECT_EQ(answer.origin, start == 0 ? AUTOTUNE_DEFAULT : AUTOTUNE_EXACT);
    kernel_ = another_kernel();
    ASSERT_EQ(autotune_lookup(handle_, sizes, 3, &answer), AUTOTUNE_OK);
    EXPECT_EQ(answer.origin, AUTOTUNE_EXACT);
    EXPECT_STREQ(answer.provenance, "first use");
    EXPECT_GT(answer.median_ns, 0);
    EXPECT_STREQ(autotune_warnings(handle_), "");
    expect_right_results();
    TearDown();
    options.first_use_ms = 0;
  }
}

TEST_F(RuntimeOnGpu, AFirstUseWithTooLittleTimeIsAnsweredWithAWarning) {
  const std::string target = manifest_.string(), file = (folder() / "too_late.db").string();
  autotune_options options{};
  options.size = sizeof options;
  options.target = target.c_str();
  options.settings = "scale=beta";
  options.user_database = file.c_str();
  options.shipped_database = "";
  options.first_use_ms = 1;
  ASSERT_EQ(autotune_open(&options, &handle_), AUTOTUNE_OK) << autotune_message();
  kernel_ = another_kernel();
  EXPECT_THAT(autotune_warnings(handle_), HasSubstr("raise autotune_options.first_use_ms"));
  EXPECT_FALSE(std::filesystem::exists(file));
  expect_right_results();
}

TEST_F(RuntimeOnGpu, TheFirstLaunchMayBeCaptured) {
  prepare("missing", "some way");
  EXPECT_EQ(captured(), 128 * 3 - 2 * 3);
}

TEST_F(VendorsLibraryOnGpu, TheFirstLaunchOfTheVendorsLibraryMayBeCaptured) {
  prepare("cublas", first_way());
  EXPECT_EQ(captured(), 128 * 3 - 2 * 3);
  EXPECT_EQ(autotune_kernel_engine(kernel_, nullptr), AUTOTUNE_VENDOR_LIBRARY);
}

TEST_F(VendorsLibraryOnGpu, ManyKernelsShareItsMemory) {
  prepare("cublas", first_way());
  launched({});
  const auto free_bytes = [] {
    std::size_t free = 0, all = 0;
    EXPECT_EQ(cudaMemGetInfo(&free, &all), cudaSuccess);
    return free;
  };
  const std::size_t before = free_bytes();
  std::vector<autotune_kernel*> kernels;
  for (int i = 0; i < 20; ++i) {
    kernels.push_back(kernel_);
    kernel_ = another_kernel();
    EXPECT_EQ(launched({}), 128 * 3 - 2 * 3);
  }
  EXPECT_EQ(autotune_kernel_engine(kernel_, nullptr), AUTOTUNE_VENDOR_LIBRARY);
  EXPECT_LT(before - std::min(before, free_bytes()), std::size_t{64} << 20);
  for (autotune_kernel* const kernel : kernels) autotune_release(kernel);
}

TEST_F(RuntimeOnGpu, KernelsMayBeMadeAndReleasedWhileAStreamIsCaptured) {
  prepare("missing", "some way");
  launched({});
  EXPECT_EQ(captured([&] {
              autotune_kernel* const made = another_kernel();
              autotune_release(std::exchange(kernel_, made));
            }),
            128 * 3 - 2 * 3);
}

TEST_F(VendorsLibraryOnGpu, AVendorsLibraryMayBeOpenedWhileAStreamIsCaptured) {
  prepare("cublas", first_way());
  autotune_kernel* const closed_later = kernel_;
  EXPECT_EQ(captured([&] { kernel_ = another_kernel(); }), 128 * 3 - 2 * 3);
  EXPECT_EQ(autotune_kernel_engine(kernel_, nullptr), AUTOTUNE_VENDOR_LIBRARY);
  autotune_release(closed_later);
}

TEST_F(VendorsLibraryOnGpu, ABrokenCaptureIsSaidAndNothingIsGivenUpForIt) {
  const std::string way = first_way();
  for (const char* plugin : {"missing", "cublas"}) {
    prepare(plugin, way);
    const autotune_engine engine = autotune_kernel_engine(kernel_, nullptr);
    const Stream stream = make_stream();
    ASSERT_EQ(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeGlobal), cudaSuccess);
    EXPECT_NE(cudaStreamSynchronize(stream.get()), cudaSuccess) << "this breaks it";
    EXPECT_EQ(autotune_launch(kernel_, buffers_.data(), buffers_.size(), stream.get()),
              AUTOTUNE_FAILED);
    EXPECT_THAT(autotune_message(), HasSubstr("the capture of this stream into a graph is broken"));
    cudaGraph_t none = nullptr;
    EXPECT_NE(cudaStreamEndCapture(stream.get(), &none), cudaSuccess);
    cudaGetLastError();
    EXPECT_EQ(autotune_kernel_engine(kernel_, nullptr), engine);
    expect_right_results();
    TearDown();
  }
}

}  // namespace
}  // namespace autotune
