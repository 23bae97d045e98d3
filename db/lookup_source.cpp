// SPDX-License-Identifier: Apache-2.0
#include "db/lookup_source.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>

#include "db/best.hpp"
#include "db/facts.hpp"
#include "db/problem_text.hpp"
#include "tuner/text/format.hpp"

namespace autotune::db {

bool is_same_device(const DeviceRow& a, const DeviceRow& b) {
  return a.name == b.name && a.multiprocessors == b.multiprocessors &&
         a.mig_profile == b.mig_profile;
}

bool is_same_architecture(const DeviceRow& a, const DeviceRow& b) {
  return a.compute_capability > 0 && a.compute_capability == b.compute_capability;
}

namespace {

constexpr std::string_view kContext = " context=";  // a chain's policy has none

/// The meaning of the ids of keys, as far as this request needs it.
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
  each_usable<SessionRow>(store.connection(), "", [&](SessionRow&& session) {
    known.environments.emplace(session.id, std::move(session.environment));
  });
  return known;
}

/// Reserves a lot: unused memory is never touched, and moving rows takes longer than reading some.
constexpr std::size_t kLikelyRows = 16384;

/// The columns of best_crc(), and the session. `+` makes SQLite read in the order of the table,
/// because the index that starts with the policy lacks the other columns.
constexpr const char* kSelect =
    "SELECT problem, configuration, provenance, default_configuration, median_ns, default_ns, crc, "
    "session, baseline, baseline_candidate, baseline_ns, baseline_wins FROM best "
    "WHERE device = ? AND kernel = ? AND +policy = ?";

/// All rows of one device, one kernel and one policy.
struct Part {
  const std::string& device;
  const std::string& kernel;
  const std::string& policy;
  bool same_device;
  bool source_drifted;
  std::uint8_t layer;
};

std::int64_t read_part(const TunedStore& store, const LookupRequest& request, const Known& known,
                       const Part& part, std::vector<LookupRow>& out) {
  std::int64_t damaged = 0, read = 0;
  std::string session;
  bool same_environment = true;
  Query query = store.connection().query(kSelect);
  query.bind(part.device, part.kernel, part.policy);
  for (; query.step(); ++read) {
    BestView best{query.view(0), part.policy,         query.view(1),       query.view(2),
                  query.view(3), query.number(4, -1), query.number(5, -1), query.view(8)};
    if (!best.baseline.empty()) {
      best.candidate = query.view(9);
      best.baseline_ns = query.number(10, -1);
      best.baseline_wins = query.integer(11) != 0;
    }
    if (best_crc(best) != query.integer(6)) {
      ++damaged;
      continue;
    }
    LookupRow row;
    std::string_view settings = best.problem;
    if (!take_sizes(settings, request.size_names, row.sizes) || settings != request.settings) {
      continue;
    }
    if (query.view(7) != session) {
      session = query.view(7);
      const auto found = known.environments.find(session);
      const bool is_known = found != known.environments.end();
      same_environment = request.environment.empty() ||
                         (is_known ? found->second == request.environment : session.empty());
    }
    row.validity = part.source_drifted ? Validity::source_drifted
                   : same_environment  ? Validity::exact
                                       : Validity::environment_drifted;
    row.configuration = best.configuration;
    row.provenance = best.provenance;
    row.median_ns = std::max(best.median_ns, 0.0);
    row.default_ns = std::max(best.default_ns, 0.0);
    if (best.baseline_wins) {
      row.baseline.append(best.baseline).append(1, ' ').append(best.candidate);
      row.baseline_ns = std::max(best.baseline_ns, 0.0);
    }
    row.layer = part.layer;
    row.same_device = part.same_device;
    row.same_policy = part.policy == request.policy;
    row.early_start = part.policy.find(kContext) == std::string::npos;  // timed with it
    out.push_back(std::move(row));
  }
  const std::int64_t rows = indexed_rows(store.connection(), part.device, part.kernel, part.policy);
  return damaged + std::abs(rows - read);
}

/// The rows of one device and one kernel with the requested policy, then those of a chain. Times of
/// a chain are with an early start; those of the contexts that decide are in order.
void mark_early_starts(std::span<LookupRow> rows) {
  std::map<std::array<std::int64_t, kMostSizes>, const LookupRow*> chains;
  for (const LookupRow& row : rows) {
    if (!row.same_policy) chains.emplace(row.sizes, &row);
  }
  for (LookupRow& row : rows) {
    const auto chain = row.early_start ? chains.end() : chains.find(row.sizes);
    if (chain == chains.end() || chain->second->configuration != row.configuration) continue;
    const double ns = chain->second->median_ns;
    row.early_start = ns > 0 && ns <= row.median_ns;
  }
}

void read_layer(const Layer& layer, std::uint8_t number, const LookupRequest& request,
                LookupRows& out) {
  const TunedStore store(layer.path, layer.mode);
  const std::vector<std::string> policies = policies_of(request);
  std::int64_t damaged = 0;
  guarded(layer.path, [&] {
    const Known known = read_known(store, request);
    for (const auto& [device, same_device] : known.same_device) {
      for (const auto& [kernel, source_drifted] : known.source_drifted) {
        const std::size_t before = out.rows.size();
        for (const std::string& policy : policies) {
          damaged +=
              read_part(store, request, known,
                        {device, kernel, policy, same_device, source_drifted, number}, out.rows);
        }
        mark_early_starts(std::span(out.rows).subspan(before));
      }
    }
  });
  damaged += static_cast<std::int64_t>(store.left_out().size());
  if (damaged > 0) {
    out.warnings.push_back(
        format("{}: {} of its rows are damaged and left out; run autotune db check",
               layer.path.string(), damaged));
  }
}

}  // namespace

std::vector<std::string> policies_of(const LookupRequest& request) {
  const std::size_t context = request.policy.find(kContext);
  if (context == std::string::npos) return {request.policy};
  return {request.policy, request.policy.substr(0, context)};
}

LookupRows read_lookup_rows(std::span<const Layer> layers, const LookupRequest& request) {
  LookupRows all;
  all.rows.reserve(kLikelyRows);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    LayerState& state = all.layers.emplace_back(LayerState::missing);
    std::error_code ignored;
    const auto status = std::filesystem::status(layers[i].path, ignored);
    if (status.type() == std::filesystem::file_type::not_found) {
      if (layers[i].expected) {
        all.warnings.push_back(
            format("{}: this part of the installation is missing: install it again",
                   layers[i].path.string()));
      }
      continue;
    }
    const std::size_t before = all.rows.size();
    try {
      read_layer(layers[i], static_cast<std::uint8_t>(i), request, all);
      state = LayerState::read;
    } catch (const std::exception& error) {
      state = LayerState::unreadable;
      all.rows.resize(before);
      all.warnings.emplace_back(error.what());
    }
  }
  return all;
}

}  // namespace autotune::db
