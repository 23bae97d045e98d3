// SPDX-License-Identifier: Apache-2.0
// Time to choose a configuration for sizes that were not tuned, for a GPU that need not be here. It
// is chosen from what is shipped for the GPU, or from another database.
//   choose_bench [--device NAME] [--count N] [--seed S] [--rounds N] [--target TARGET]
//                [--units any|fp32] [--db FILE] [--choices FILE]
// Draws the shapes of untuned_bench. In each round, a fresh handle looks each of them up once. A
// shape's time is the least of its rounds, in processor time. --choices writes the answers, to
// compare them with those of another build.
#include <time.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iostream>
#include <limits>
#include <map>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "tuner/core/error.hpp"
#include "tuner/runtime/autotune.h"
#include "tuner/text/format.hpp"

using namespace autotune;

namespace {

using Options = std::map<std::string, std::string>;
using Sizes = std::array<std::int64_t, 3>;
using Handle = std::unique_ptr<autotune_handle, decltype(&autotune_close)>;

Options options_of(int argc, char** argv) {
  Options options{{"--device", "NVIDIA H200"},
                  {"--count", "200"},
                  {"--seed", "1"},
                  {"--rounds", "3"},
                  {"--target", "gemm"},
                  {"--units", "any"},
                  {"--choices", ""},
                  {"--db", AUTOTUNE_BINARY_DIR "/share/autotune/shipped.db"}};
  for (int i = 1; i < argc; i += 2) {
    if (!options.contains(argv[i]) || i + 1 == argc) {
      throw UsageError(
          format("{}: it is unknown, or lacks its value; the head of {} lists the "
                 "options",
                 argv[i], "bench/lookup/choose_bench.cpp"));
    }
    options[argv[i]] = argv[i + 1];
  }
  return options;
}

std::vector<Sizes> drawn(int count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> log2_of_size(0, 12);
  std::vector<Sizes> shapes(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    for (std::int64_t& size : shapes[i]) {
      size = std::llround(std::exp2(log2_of_size(random)));
      if (i % 2 == 1 && size % 2 == 0) --size;
      size = std::max<std::int64_t>(size, 1);
    }
  }
  return shapes;
}

void check(autotune_status status) {
  if (status != AUTOTUNE_OK) throw Error(autotune_message());
}

double processor_ms() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

Handle opened(const Options& options) {
  autotune_options wanted{};
  wanted.size = sizeof wanted;
  wanted.target = options.at("--target").c_str();
  wanted.device = options.at("--device").c_str();
  wanted.user_database = options.at("--db").c_str();
  wanted.shipped_database = "";
  const std::string settings = "units=" + options.at("--units");
  wanted.settings = settings.c_str();
  autotune_handle* handle = nullptr;
  check(autotune_open(&wanted, &handle));
  return {handle, autotune_close};
}

autotune_answer found(autotune_handle* handle, const Sizes& sizes) {
  autotune_answer answer{};
  answer.size = sizeof answer;
  check(autotune_lookup(handle, sizes.data(), sizes.size(), &answer));
  return answer;
}

/// Times in hexadecimal, so that equal texts are equal answers.
void write(std::ostream& out, const Sizes& sizes, const autotune_answer& answer) {
  out << sizes[0] << ' ' << sizes[1] << ' ' << sizes[2] << ": " << answer.target << ' '
      << answer.configuration << "; " << answer.provenance << ' ' << answer.origin << ' '
      << answer.baseline << std::hexfloat;
  for (const double each : {answer.median_ns, answer.default_ns, answer.factor, answer.baseline_ns,
                            answer.expected_ns}) {
    out << ' ' << each;
  }
  out << std::defaultfloat << '\n';
}

void print(const char* what, std::vector<double> ms) {
  std::ranges::sort(ms);
  const auto at = [&](double share) {
    return ms[static_cast<std::size_t>(share * static_cast<double>(ms.size() - 1))];
  };
  std::printf("%-10s median %.2f ms, 95 %% at most %.2f ms, most %.2f ms\n", what, at(0.5),
              at(0.95), ms.back());
}

void run(const Options& options) {
  const std::vector<Sizes> shapes =
      drawn(std::stoi(options.at("--count")), std::stoull(options.at("--seed")));
  std::vector<double> least(shapes.size(), std::numeric_limits<double>::infinity());
  std::vector<double> opening, first, all;
  for (int round = std::stoi(options.at("--rounds")); round > 0; --round) {
    double before = processor_ms();
    const Handle handle = opened(options);
    opening.push_back(processor_ms() - before);
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      before = processor_ms();
      found(handle.get(), shapes[i]);
      all.push_back(processor_ms() - before);
      if (i == 0) first.push_back(all.back());
      least[i] = std::min(least[i], all.back());
    }
    if (round > 1 || options.at("--choices").empty()) continue;
    std::ofstream out(options.at("--choices"));
    for (const Sizes& sizes : shapes) write(out, sizes, found(handle.get(), sizes));
  }
  print("opening", opening);
  print("the first", first);
  print("each", all);
  print("least", least);
}

}  // namespace

int main(int argc, char** argv) try {
  run(options_of(argc, argv));
  return 0;
} catch (const std::exception& error) {
  std::cerr << "error: " << error.what() << '\n';
  return 1;
}
