// SPDX-License-Identifier: Apache-2.0
#include "db/past_times.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

#include "db/facts.hpp"
#include "db/problem_text.hpp"

namespace autotune::db {
namespace {

/// The most problems of a device and a kernel. With more, there are winners enough.
constexpr std::int64_t kMostTrials = 50'000;
constexpr double kGoodRatio = 1.25;

/// The rows of one device, one kernel and one policy.
struct PartOfStore {
  const TunedStore& store;
  const LookupRequest& request;
  const std::string& device_id;
  const std::string& kernel_id;
  std::size_t device = 0;  // in PastTimes::devices
  std::string policy = {};

  Query query(const std::string& sql) const { return store.connection().query(sql); }
  void bind(Query& query) const { query.bind(device_id, kernel_id, policy); }
};

using Problems = std::map<std::string, PastProblem, std::less<>>;  // by their text

double time_or_0(double ns) { return std::isfinite(ns) && ns > 0 ? ns : 0; }

/// nullptr if the problem has other settings.
PastProblem* problem_of(const PartOfStore& part, std::string_view text, Problems& problems) {
  const auto known = problems.find(text);
  if (known != problems.end()) return &known->second;
  PastProblem problem;
  problem.device = part.device;
  std::string_view settings = text;
  if (!take_sizes(settings, part.request.size_names, problem.sizes) ||
      settings != part.request.settings) {
    return nullptr;
  }
  return &problems.emplace(text, std::move(problem)).first->second;
}

void read_best(const PartOfStore& part, Problems& problems) {
  Query rows = part.query(
      "SELECT problem, configuration, median_ns, default_configuration, default_ns, baseline, "
      "baseline_ns, provenance FROM best WHERE device = ? AND kernel = ? AND +policy = ?");
  part.bind(rows);
  while (rows.step()) {
    PastProblem* const problem = problem_of(part, rows.view(0), problems);
    if (problem == nullptr) continue;
    problem->good.push_back(
        {std::string(rows.view(1)), time_or_0(rows.number(2, 0)), std::string(rows.view(7))});
    problem->standard = {std::string(rows.view(3)), time_or_0(rows.number(4, 0)), "measured"};
    problem->baseline = rows.view(5);
    problem->baseline_ns = time_or_0(rows.number(6, 0));
  }
}

/// Marks the problems that covers have pinned.
void read_covers(const PartOfStore& part, Problems& problems) {
  Query rows = part.query(
      "SELECT best.problem, best.configuration, best.median_ns, pin.note FROM best JOIN pin ON "
      "pin.id = best.source WHERE best.device = ? AND best.kernel = ? AND best.policy = ?");
  part.bind(rows);
  while (rows.step()) {
    PastProblem* const problem = problem_of(part, rows.view(0), problems);
    if (problem == nullptr || !rows.view(3).starts_with(kCoverNote)) continue;
    problem->cover = rows.view(3);
    problem->pinned = {std::string(rows.view(1)), time_or_0(rows.number(2, 0)), "pinned"};
  }
}

bool has_few_trials(const PartOfStore& part) {
  Query count = part.query(format(
      "SELECT count(*) FROM (SELECT 1 FROM trial WHERE device = ? AND kernel = ? AND policy = ? "
      "LIMIT {})",
      kMostTrials + 1));
  part.bind(count);
  return count.step() && count.integer(0) <= kMostTrials;
}

void read_trials(const PartOfStore& part, Problems& problems) {
  if (!has_few_trials(part)) return;
  Query rows = part.query(
      "SELECT problem, configuration, median_ns FROM trial WHERE device = ? AND kernel = ? AND "
      "policy = ? AND outcome = 'ok' AND verified AND " +
      live_sql<TrialRow>());
  part.bind(rows);
  while (rows.step()) {
    PastProblem* const problem = problem_of(part, rows.view(0), problems);
    const double ns = time_or_0(rows.number(2, 0));
    if (problem && ns > 0) problem->good.push_back({std::string(rows.view(1)), ns, "measured"});
  }
}

bool is_before(const PastTime& a, const PastTime& b) {
  return b.ns == 0 ? a.ns > 0 : a.ns > 0 && a.ns < b.ns;
}

/// Keeps good configurations, each once.
void sort_out(PastProblem& problem) {
  std::vector<PastTime>& good = problem.good;
  std::ranges::stable_sort(good, is_before);
  const double worst = kGoodRatio * good.front().ns;
  std::vector<PastTime> kept;
  for (PastTime& each : good) {
    const bool known =
        std::ranges::find(kept, each.configuration, &PastTime::configuration) != kept.end();
    if (known || each.ns > worst || kept.size() == kMostGood) continue;
    kept.push_back(std::move(each));
  }
  good = std::move(kept);
}

/// Uses times of a chain for problems that have none of the requested policy.
Problems read_problems(PartOfStore part) {
  Problems all;
  for (const std::string& policy : policies_of(part.request)) {
    part.policy = policy;
    Problems problems;
    read_best(part, problems);
    read_trials(part, problems);
    read_covers(part, problems);
    std::erase_if(problems, [](const auto& one) { return one.second.good.empty(); });
    all.merge(problems);
  }
  return all;
}

void read_past(const PartOfStore& part, std::vector<PastProblem>& out) {
  for (auto& [text, problem] : read_problems(part)) {
    sort_out(problem);
    out.push_back(std::move(problem));
  }
}

PastTimes read_layer(const Layer& layer, const LookupRequest& request) {
  const TunedStore store(layer.path, layer.mode);
  PastTimes read;
  guarded(layer.path, [&] {
    const std::vector<KernelRow> kernels = store.kernels();
    for (const DeviceRow& device : store.devices()) {
      if (!is_same_device(device, request.device) &&
          !is_same_architecture(device, request.device)) {
        continue;
      }
      read.devices.push_back(device);
      for (const KernelRow& kernel : kernels) {
        if (kernel.target != request.target || kernel.sizes != request.size_names) continue;
        read_past({store, request, device.id, kernel.id, read.devices.size() - 1}, read.problems);
      }
    }
  });
  return read;
}

void append(PastTimes& all, PastTimes more) {
  for (PastProblem& problem : more.problems) {
    problem.device += all.devices.size();
    all.problems.push_back(std::move(problem));
  }
  std::ranges::move(more.devices, std::back_inserter(all.devices));
}

}  // namespace

PastTimes read_past_times(std::span<const Layer> layers, const LookupRequest& request) {
  PastTimes all;
  for (const Layer& layer : layers) {
    try {
      append(all, read_layer(layer, request));
    } catch (const std::exception&) {  // read_lookup_rows() says why
      continue;
    }
  }
  return all;
}

}  // namespace autotune::db
