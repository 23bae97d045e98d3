// SPDX-License-Identifier: Apache-2.0
// Processor time of a database with many decisions: importing them, a query for one size, opening
// it in a program, and a pin. `store_bench 100000 DECISIONS.jsonl` keeps the imported file.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "db/exchange.hpp"
#include "db/json.hpp"
#include "db/lookup_source.hpp"
#include "tuner/hash/hash.hpp"
#include "tuner/text/format.hpp"

namespace autotune::db {
namespace {

const DeviceRow kDevice{"", "NVIDIA H200", "cuda", "", 90, 132, 0, 0, ""};
const KernelRow kKernel{"", "gemm", "0123456789abcdef0123456789abcdef", "M N K"};
const std::string kSettings = "dtype=f32 layout=nn scale=one pad=0";

/// Processor time, because other programs may use the machine too.
template <class Work>
double seconds_of(const Work& work) {
  const std::clock_t start = std::clock();
  work();
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

/// The median of eleven runs.
template <class Work>
double median_seconds(const Work& work) {
  std::vector<double> times;
  for (int i = 0; i < 11; ++i) times.push_back(seconds_of(work));
  std::ranges::sort(times);
  return times[times.size() / 2];
}

std::string sizes_of(int number) {
  return format("M={} N={} K={}", number % 100 * 16 + 16, number / 100 % 100 * 16 + 16,
                number / 10'000 * 128 + 128);
}

/// A device, a target, a session, and one decision for each of `count` sizes.
std::string json_lines(int count) {
  const std::string now = now_text();
  DeviceRow device = kDevice;
  KernelRow kernel = kKernel;
  SessionRow session;
  session.started_at = now;
  std::string lines;
  const auto add = [&](auto& row) {
    const std::string line = to_json(row);
    row.id = hash128(line);
    lines += line + '\n';
  };
  add(device);
  add(kernel);
  add(session);
  DecisionRow row;
  row.session = session.id;
  row.key = {device.id, kernel.id, "", "l2=hot launch=graph"};
  row.configuration = "KERNEL=tiles BM=64 BN=64 BK=16 TM=8 TN=8 STAGES=3 SPLIT_K=1";
  row.default_configuration = "KERNEL=tiles BM=32 BN=32 BK=16 TM=4 TN=4 STAGES=2 SPLIT_K=1";
  row.median_ns = 1000;
  row.default_ns = 2000;
  row.verified = true;
  row.created_at = now;
  for (int i = 0; i < count; ++i) {
    row.key.problem = sizes_of(i) + ' ' + kSettings;
    add(row);
  }
  return lines;
}

void print(const char* what, double seconds) {
  std::printf("%-48s %10.2f ms\n", what, 1e3 * seconds);
}

void run(int count, const char* keep) {
  const std::string lines = json_lines(count);
  if (keep != nullptr) std::ofstream(keep) << lines;
  const std::filesystem::path path = format("/dev/shm/store_bench.{}.db", getpid());
  {
    TunedStore store(path);
    std::istringstream in(lines);
    const double seconds = seconds_of([&] { import_json_lines(store, in, "lines"); });
    std::printf("%d decisions\n", count);
    print("importing them", seconds);
  }
  const TunedFilter all{"", "gemm", "", "", ""};
  print("opening, the nearest to one size", median_seconds([&] {
          TunedStore(path, Mode::read_only).nearest(all, "M=1037 N=1031 K=1055");
        }));
  LookupRequest request;
  request.target = kKernel.target;
  request.fingerprint = kKernel.fingerprint;
  request.device = kDevice;
  request.size_names = kKernel.sizes;
  request.settings = kSettings;
  const Layer layer{path};
  print("opening, all of them into a lookup table", median_seconds([&] {
          const LookupTable table(3, read_lookup_rows({&layer, 1}, request).rows);
          if (table.size() != static_cast<std::size_t>(count)) throw StoreError("rows are missing");
        }));
  TunedStore store(path);
  PinRow pin;
  pin.key = store.nearest(all, sizes_of(count / 2)).front().entry.best.key;
  pin.configuration = "KERNEL=tiles BM=32 BN=32 BK=16 TM=4 TN=4 STAGES=2 SPLIT_K=1";
  print("a pin", median_seconds([&] {
          pin.created_at = now_text();
          store.pin(pin);
        }));
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace autotune::db

int main(int argc, char** argv) try {
  autotune::db::run(argc > 1 ? std::atoi(argv[1]) : 100'000, argc > 2 ? argv[2] : nullptr);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return 1;
}
