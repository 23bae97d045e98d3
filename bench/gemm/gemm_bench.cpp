// SPDX-License-Identifier: Apache-2.0
// Our tuned gemm against cublasSgemm and cublasLt, side by side on GPU 0.
// usage: gemm_bench --db FILE [--units any|fp32] [--sizes S] [--json FILE] [--svg FILE]
//        [--seed N]
#include <cstdio>
#include <deque>
#include <filesystem>
#include <iostream>
#include <map>

#include "bench/copy_rate.hpp"
#include "bench/gemm/implementation.hpp"
#include "bench/gemm/tuned_call.hpp"
#include "bench/gemm/vendor_gemm.hpp"
#include "tuner/answer/target_lookup.hpp"
#include "tuner/core/deadline.hpp"
#include "tuner/core/error.hpp"
#include "tuner/file/replace_file.hpp"
#include "tuner/gpu/cuda_device.hpp"
#include "tuner/measure/batch.hpp"
#include "tuner/target/catalog.hpp"
#include "tuner/text/format.hpp"

using namespace autotune;
using namespace autotune::bench;

namespace {

constexpr const char* kAllSizes =
    "128..1024:64,2048,4096,8192,127,129,257,1000,1023,1025,1037x1031x1055,1x4096x4096,"
    "8x4096x4096,64x4096x4096,128x128x8192";

/// `--name value` pairs of the known names. Throws UsageError.
std::map<std::string, std::string> options_of(int argc, char** argv) {
  std::map<std::string, std::string> options{{"--db", ""},           {"--units", "any"},
                                             {"--sizes", kAllSizes}, {"--json", ""},
                                             {"--svg", ""},          {"--seed", "1"}};
  for (int i = 1; i < argc; i += 2) {
    const auto known = options.find(argv[i]);
    if (known == options.end() || i + 1 == argc) {
      throw UsageError(
          format("{} {}: usage: gemm_bench --db FILE [--units any|fp32] [--sizes S] "
                 "[--json FILE] [--svg FILE] [--seed N]",
                 argv[i], known == options.end() ? "is unknown" : "lacks its value"));
    }
    known->second = argv[i + 1];
  }
  if (!std::filesystem::exists(options["--db"])) {
    throw UsageError(
        format("--db {}: there is no such database; autotune --target gemm --sizes "
               "128..1024 --db FILE makes one",
               options["--db"]));
  }
  return options;
}

void write(const std::string& file, const std::string& text) {
  if (file.empty()) return;
  write_file(file, [&](std::ostream& stream) { stream << text; });
}

std::unique_ptr<CudaContext> open_gpu(const DeviceInfo& info) {
  const auto cache = std::make_shared<BuildCache>(BuildCache::default_folder());
  return std::make_unique<CudaContext>(0, info, CubinCompiler(info.compute_capability, cache),
                                       OpenBaseline{}, CountCalls{});
}

/// The policy that libautotune looks up.
Policy usual_policy() {
  Policy policy;
  policy.context = default_context(DeviceKind::cuda);
  return policy;
}

class Benchmark {
 public:
  Benchmark(const DeviceInfo& info, const std::string& units, const std::string& database,
            std::uint64_t seed)
      : context_(open_gpu(info)),
        kernels_(*context_),
        vendor_(context_->stream.get()),
        lookup_(find_target("gemm"), {{"units", units}}, info, key_text(usual_policy()),
                {db::Layer{database, db::Mode::read_only}}),
        seed_(seed) {
    std::cerr << lookup_.warnings();
    report_.device = info.name;
    report_.environment = info.environment;
  }

  /// The median of many runs, after half a second that raises the clocks.
  void measure_limits() {
    constexpr int kRounds = 300;
    double flops = 0;
    const BatchTimer& timer = *context_->timer;
    const Chain ffma{[&](cudaStream_t stream, int) { flops = kernels_.ffma(stream, kRounds); }, 4,
                     1};
    const Chain empty{[&](cudaStream_t stream, int) { context_->kernels->empty(stream); }, 512, 1};
    const GraphExec ffma_graph = timer.prepare(ffma), empty_graph = timer.prepare(empty);
    for (const double start = steady_seconds(); steady_seconds() - start < 0.5;)
      timer.replay(ffma_graph.get(), ffma);
    std::vector<double> ffma_times, empty_times;
    for (int i = 0; i < 21; ++i) {
      ffma_times.push_back(timer.replay(ffma_graph.get(), ffma).seconds);
      empty_times.push_back(timer.replay(empty_graph.get(), empty).seconds);
    }
    report_.ffma_flops = flops / median(ffma_times);
    report_.copy_bytes = copy_rate(std::size_t{1} << 29);
    report_.empty_seconds = median(empty_times);
  }

  /// False if the GPU can no longer be used.
  bool run(const Shape& shape) {
    try {
      measure(shape);
    } catch (const std::exception& error) {
      report_.failed.push_back(format("{}: {}", shape.text(), error.what()));
      std::cout << report_.failed.back() << std::endl;
      const auto* const failure = dynamic_cast<const KernelFailure*>(&error);
      return failure == nullptr || failure->outcome() != Outcome::crash;
    }
    return true;
  }

  const Report& report() const { return report_; }

 private:
  void measure(const Shape& shape) {
    const LookupAnswer answer = lookup_.find(std::array{shape.m, shape.n, shape.k});
    if (answer.origin != db::Origin::exact) {
      report_.skipped.push_back(shape);
      return;
    }
    SizeResult result = raced(shape, answer);
    std::cout << launched_text(result) << std::flush;
    report_.sizes.push_back(std::move(result));
  }

  SizeResult raced(const Shape& shape, const LookupAnswer& answer) {
    const Configuration configuration = parse_named_values(answer.configuration);
    const EarlyStart early = answer.early_start ? EarlyStart::captured : EarlyStart::never;
    const Problem problem = lookup_.problem_for(std::array{shape.m, shape.n, shape.k});
    const Operands operands(*context_, kernels_, lookup_.target(), problem, shape);
    SizeResult result{shape, {}, {}, {}};
    std::vector<std::unique_ptr<Implementation>> implementations;
    const auto standing_in = [&](CallContext context, L2State l2, std::uint64_t seed) {
      std::deque<InContext> there;
      std::vector<Timer*> timers;
      for (const auto& implementation : implementations) {
        timers.push_back(&there.emplace_back(*implementation, context));
      }
      return standing_of(race(timers, l2, rules_, seed));
    };
    const auto enter = [&](const std::string& name, const std::string& choice, EnqueueOnce call) {
      auto implementation =
          std::make_unique<Implementation>(*context_, operands, name, choice, std::move(call));
      ImplementationInfo info = implementation->examined();
      if (!info.accuracy.is_right()) {
        throw KernelFailure(
            Outcome::wrong,
            format("{}: {} is wrong: {} elements, relative error {:.2g}", shape.text(), name,
                   info.accuracy.wrong, info.accuracy.frobenius));
      }
      implementations.push_back(std::move(implementation));
      result.implementations.push_back(std::move(info));
    };
    enter("ours", to_text(configuration),
          tuned_call(*context_, operands, lookup_.target(), problem, configuration, early));
    for (VendorCall& vendor : vendor_.calls(operands)) {
      try {
        enter(vendor.name, vendor.choice, std::move(vendor.call));
      } catch (const KernelFailure& failure) {
        if (implementations.size() <= kSgemm || failure.outcome() == Outcome::crash) throw;
        std::cout << "left out: " << failure.what() << '\n';  // a candidate that does not run here
      }
    }
    result.hot = standing_in(CallContext::chain, L2State::hot, seed_);
    result.cold = standing_in(CallContext::chain, L2State::cold, seed_ + 1);
    result.between = standing_in(CallContext::between, L2State::hot, seed_ + 2);
    result.alone = standing_in(CallContext::alone, L2State::hot, seed_ + 3);
    if (!shape.is_long()) return result;
    std::vector<Timer*> timers;
    for (const auto& implementation : implementations) timers.push_back(implementation.get());
    std::vector<std::size_t> chosen{kOurs, kSgemm};
    if (result.hot.lt_candidate) chosen.push_back(*result.hot.lt_candidate);
    result.rested = standing_of(rested(timers, chosen, SoloRules{}));
    result.sustained = standing_of(sustained(timers, chosen, SoloRules{}));
    return result;
  }

  std::unique_ptr<CudaContext> context_;
  BenchKernels kernels_;
  VendorGemm vendor_;
  TargetLookup lookup_;
  std::uint64_t seed_;
  RaceRules rules_;
  Report report_;
};

int run(int argc, char** argv) {
  auto options = options_of(argc, argv);
  const std::vector<DeviceInfo> devices = cuda_devices();
  if (devices.empty()) throw Error("there is no CUDA GPU here, or no driver for it");
  Benchmark benchmark(devices.front(), options["--units"], options["--db"],
                      std::stoull(options["--seed"]));
  benchmark.measure_limits();
  for (const NamedValues& sizes : parse_sizes(options["--sizes"], {"M", "N", "K"})) {
    if (!benchmark.run(
            {sizes[0].value.integer(), sizes[1].value.integer(), sizes[2].value.integer()})) {
      break;
    }
  }
  std::cout << '\n' << table_text(benchmark.report()) << std::flush;
  write(options["--json"], json_text(benchmark.report()));
  write(options["--svg"], svg_text(benchmark.report()));
  return benchmark.report().failed.empty() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const UsageError& error) {
    std::cerr << "error: " << error.what() << '\n';
    return 2;
  } catch (const std::exception& error) {
    std::cerr << "error: " << error.what() << '\n';
    return 1;
  }
}
