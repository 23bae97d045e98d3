// SPDX-License-Identifier: Apache-2.0
#include "db/lookup_source.hpp"

#include <map>

#include "db/best.hpp"
#include "db/connection.hpp"
#include "db/problem_distance.hpp"
#include "tuner/text/format.hpp"

namespace autotune::db {
namespace {

bool is_same_device(const DeviceRow& a, const DeviceRow& b) {
  return a.name == b.name && a.multiprocessors == b.multiprocessors &&
         a.mig_profile == b.mig_profile;
}

bool is_same_architecture(const DeviceRow& a, const DeviceRow& b) {
  return a.compute_capability > 0 && a.compute_capability == b.compute_capability;
}

/// What a key's ids stand for, as far as the rows of this request go.
struct Known {
  std::map<std::string, bool> same_device;     // devices that may be used at all
  std::map<std::string, bool> source_drifted;  // kernels of the target
  std::map<std::string, std::string> environments;
};

Known read_known(const TunedStore& store, const LookupRequest& request) {
  Known known;
  for (const DeviceRow& device : store.devices()) {
    const bool same = is_same_device(device, request.device);
    if (same || is_same_architecture(device, request.device)) {
      known.same_device.emplace(device.id, same);
    }
  }
  for (const KernelRow& kernel : store.kernels()) {
    if (kernel.target != request.target) continue;
    known.source_drifted.emplace(kernel.id, kernel.fingerprint != request.fingerprint);
  }
  Query query = store.connection().query("SELECT id, environment FROM session");
  while (query.step()) known.environments.emplace(query.text(0), query.text(1));
  return known;
}

/// The columns that best_crc() covers, and the session.
constexpr const char* kSelect =
    "SELECT problem, policy, configuration, provenance, default_configuration, median_ns, "
    "default_ns, crc, session FROM best WHERE device = ? AND kernel = ? AND policy = ?";

bool fill_sizes(const std::string& problem, const LookupRequest& request, LookupRow& row) {
  const ProblemText parts = ProblemText::parse(problem, request.size_names);
  if (parts.settings != request.settings || parts.sizes.size() > kMostSizes) return false;
  std::copy(parts.sizes.begin(), parts.sizes.end(), row.sizes.begin());
  return !parts.sizes.empty();
}

void read_key(const TunedStore& store, const LookupRequest& request, const Known& known,
              const std::pair<const std::string, bool>& device,
              const std::pair<const std::string, bool>& kernel, std::uint8_t layer, LookupRows& out,
              int& damaged) {
  Query query = store.connection().query(kSelect);
  query.bind(device.first, kernel.first, request.policy);
  while (query.step()) {
    BestRow best;
    query.read(0, best.key.problem);
    query.read(1, best.key.policy);
    query.read(2, best.configuration);
    query.read(3, best.provenance);
    query.read(4, best.default_configuration);
    query.read(5, best.median_ns);
    query.read(6, best.default_ns);
    if (best_crc(best) != query.integer(7)) {
      ++damaged;
      continue;
    }
    LookupRow row;
    if (!fill_sizes(best.key.problem, request, row)) continue;
    const auto session = known.environments.find(query.text(8));
    const bool same_environment = request.environment.empty() ||
                                  session == known.environments.end() ||
                                  session->second == request.environment;
    row.validity = kernel.second       ? Validity::source_drifted
                   : !same_environment ? Validity::environment_drifted
                                       : Validity::exact;
    row.configuration = std::move(best.configuration);
    row.provenance = std::move(best.provenance);
    row.median_ns = best.median_ns.value_or(0);
    row.default_ns = best.default_ns.value_or(0);
    row.layer = layer;
    row.same_device = device.second;
    out.rows.push_back(std::move(row));
  }
}

void read_layer(const Layer& layer, std::uint8_t number, const LookupRequest& request,
                LookupRows& out) {
  const TunedStore store(layer.path, layer.mode);
  int damaged = 0;
  guarded(layer.path, [&] {
    const Known known = read_known(store, request);
    for (const auto& device : known.same_device) {
      for (const auto& kernel : known.source_drifted) {
        read_key(store, request, known, device, kernel, number, out, damaged);
      }
    }
  });
  if (damaged > 0) {
    out.warnings.push_back(
        format("{}: {} of its rows are damaged and left out; run autotune db "
               "check",
               layer.path.string(), damaged));
  }
}

}  // namespace

LookupRows read_lookup_rows(std::span<const Layer> layers, const LookupRequest& request) {
  LookupRows all;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    std::error_code ignored;
    if (!std::filesystem::exists(layers[i].path, ignored)) continue;
    const std::size_t before = all.rows.size();
    try {
      read_layer(layers[i], static_cast<std::uint8_t>(i), request, all);
    } catch (const std::exception& error) {
      all.rows.resize(before);
      all.warnings.emplace_back(error.what());
    }
  }
  return all;
}

}  // namespace autotune::db
