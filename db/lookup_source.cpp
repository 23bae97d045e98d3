// SPDX-License-Identifier: Apache-2.0
#include "db/lookup_source.hpp"

#include <algorithm>

#include "db/connection.hpp"
#include "db/rows.hpp"
#include "tuner/text/format.hpp"

namespace autotune::db {

SettingsMatch match_settings(const LookupRequest& request, std::string_view settings) {
  const bool own = settings == request.settings;
  return {own || request.alike.contains(settings), own, own || settings == request.plain};
}

bool is_same_device(const DeviceRow& a, const DeviceRow& b) {
  return a.name == b.name && a.multiprocessors == b.multiprocessors &&
         a.mig_profile == b.mig_profile;
}

bool is_same_architecture(const DeviceRow& a, const DeviceRow& b) {
  return a.compute_capability > 0 && a.compute_capability == b.compute_capability;
}

bool Layer::is_there() const {
  std::error_code ignored;
  return std::filesystem::status(path, ignored).type() != std::filesystem::file_type::not_found;
}

TunedStore Layer::open() const {
  TunedStore store(path, mode, wait_until);
  guarded(path, [&] { expect_whole_schema(store.connection().database, path); });
  return store;
}

namespace {

/// Reserves a lot: unused memory is never touched, and moving rows takes longer than reading some.
constexpr std::size_t kLikelyRows = 16384;

/// One layer of a request.
struct LayerReading {
  const LookupRequest& request;
  const LayerFailures& failures;
  std::size_t layer;
  LayerParts parts;
  std::int64_t damaged = 0, ahead = 0, refuted = 0;  // rows that are left out

  /// Adds the rows of one policy.
  void read(Connection& connection, const Part& part, const std::string& policy,
            std::vector<LookupRow>& out) {
    const UnusableRows unusable = each_best(connection, part, policy, [&](const StoredBest& best) {
      LookupRow row;
      std::string_view settings = best.view.problem;
      row.sizes.resize(size_count);
      if (!take_sizes(settings, request.size_names, row.sizes)) return;
      const SettingsMatch match = match_settings(request, settings);
      if (!match.fits || (!match.pins && best.view.provenance == "pinned")) return;
      if (!best.is_answer()) return;
      const std::string_view sizes =
          best.view.problem.substr(0, best.view.problem.size() - settings.size());
      const std::string own = format("{}{}", sizes, request.settings);
      const bool failed_with_own =  // at any time
          !match.own &&
          failures.refute(LayerFailures::kNoLayer, part, own, policy, best.view.configuration, "");
      if (failed_with_own || failures.refute(layer, part, best)) {
        ++refuted;
        return;
      }
      row.validity = parts.validity(part, best.session);
      if (!match.own) row.validity = std::max(row.validity, Validity::alike);
      row.configuration = best.view.configuration;
      row.provenance = best.view.provenance;
      row.median_ns = std::max(best.view.median_ns, 0.0);
      row.default_ns = std::max(best.view.default_ns, 0.0);
      row.library_timed = best.view.baseline_ns > 0;
      if (best.view.baseline_wins) {
        row.baseline.append(best.view.baseline).append(1, ' ').append(best.view.candidate);
        row.baseline_ns = std::max(best.view.baseline_ns, 0.0);
      }
      row.layer = static_cast<std::uint8_t>(layer);
      row.same_device = part.same_device;
      row.same_policy = policy == request.policy;
      row.early_start = stored_policy(policy).context == "chain";  // timed with it
      out.push_back(std::move(row));
    });
    damaged += unusable.damaged;
    ahead += unusable.ahead;
  }

  const std::size_t size_count = size_count_of(request.size_names);
};

/// The rows of one device and one kernel with the requested policy, then those of a chain. Times of
/// a chain are with an early start; those of the contexts that decide are in order.
void mark_early_starts(std::span<LookupRow> rows) {
  std::map<std::vector<std::int64_t>, const LookupRow*> chains;
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

void read_layer(const Layer& layer, std::size_t number, const LookupRequest& request,
                const LayerFailures& failures, LookupRows& out) {
  const TunedStore store = layer.open();
  LayerReading reading{request, failures, number, LayerParts(store, request)};
  guarded(layer.path, [&] {
    for (const Part& part : reading.parts.all()) {
      const std::size_t before = out.rows.size();
      for (const std::string& policy : policies_of(request)) {
        reading.read(store.connection(), part, policy, out.rows);
      }
      mark_early_starts(std::span(out.rows).subspan(before));
    }
  });
  if (!store.warning().empty()) out.warnings.push_back(store.warning());
  const auto damaged = reading.damaged + static_cast<std::int64_t>(store.left_out().size());
  if (damaged > 0) {
    out.warnings.push_back(
        format("{}: {} of its rows are damaged and left out; run autotune db check",
               layer.path.string(), damaged));
  }
  if (reading.ahead > 0) {
    out.warnings.push_back(
        format("{}: {} of its answers are left out, because they are dated ahead of this machine's "
               "clock; autotune query names them",
               layer.path.string(), reading.ahead));
  }
  if (reading.refuted > 0) {
    out.warnings.push_back(
        format("{}: {} of its answers are left out, because their configurations failed since, as "
               "another database says; tune these sizes again",
               layer.path.string(), reading.refuted));
  }
}

}  // namespace

std::vector<std::string> policies_of(const LookupRequest& request) {
  const std::string chain(stored_policy(request.policy).without_context);
  if (chain == request.policy) return {request.policy};
  return {request.policy, chain};
}

LookupRows read_lookup_rows(std::span<const Layer> layers, const LookupRequest& request) {
  LookupRows all;
  all.rows.reserve(kLikelyRows);
  const LayerFailures failures(layers, request);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    LayerState& state = all.layers.emplace_back(LayerState::missing);
    if (!layers[i].is_there()) {
      if (layers[i].expected) {
        all.warnings.push_back(
            format("{}: this part of the installation is missing: install it again",
                   layers[i].path.string()));
      }
      continue;
    }
    const std::size_t before = all.rows.size();
    try {
      read_layer(layers[i], i, request, failures, all);
      state = LayerState::read;
    } catch (const std::exception& error) {
      state = LayerState::unreadable;
      all.rows.resize(before);
      all.warnings.emplace_back(error.what());
    }
  }
  return all;
}

LayerParts::LayerParts(const TunedStore& store, const LookupRequest& request)
    : connection_(store.connection()),
      request_(request),
      devices_(store.devices()),
      kernels_(store.kernels()) {
  std::erase_if(devices_, [&](const DeviceRow& device) {
    return !is_same_device(device, request.device) && !is_same_architecture(device, request.device);
  });
  std::erase_if(kernels_, [&](const KernelRow& kernel) {
    return kernel.target != request.target || kernel.sizes != request.size_names;
  });
}

void LayerParts::read_environments() {
  environments_.emplace();
  each_usable<SessionRow>(connection_, "", [&](SessionRow&& session) {
    environments_->emplace(session.id, std::move(session.environment));
  });
}

std::vector<Part> LayerParts::all() const {
  std::vector<Part> parts;
  for (const DeviceRow& device : devices_) {
    for (const KernelRow& kernel : kernels_) {
      parts.push_back({device, kernel, is_same_device(device, request_.device),
                       kernel.fingerprint != request_.fingerprint});
    }
  }
  return parts;
}

/// Neighbouring rows are mostly of one session.
Validity LayerParts::validity(const Part& part, std::string_view session) {
  if (session != last_session_) {
    last_session_ = session;
    if (!environments_) read_environments();
    const auto found = environments_->find(session);
    const bool is_known = found != environments_->end();
    same_environment_ = request_.environment.empty() ||
                        (is_known ? found->second == request_.environment : session.empty());
  }
  return part.source_drifted ? Validity::source_drifted
         : same_environment_ ? Validity::exact
                             : Validity::environment_drifted;
}

LayerFailures::LayerFailures(std::span<const Layer> layers, const LookupRequest& request)
    : layers_(layers.size()) {
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (!layers[i].is_there()) continue;
    try {
      const TunedStore store = layers[i].open();
      guarded(layers[i].path, [&] {
        const LayerParts parts(store, request);
        for (const Part& part : parts.all()) {
          if (!part.is_exact()) continue;
          layers_[i].add(Refutations(store.connection(), part.device.id, part.kernel.id));
        }
      });
    } catch (const std::exception& error) {
      warnings_.emplace_back(error.what());
    }
  }
}

bool LayerFailures::refute(std::size_t layer, const Part& part, const StoredBest& best) const {
  return refute(layer, part, best.view.problem, best.view.policy, best.view.configuration,
                best.since);
}

bool LayerFailures::refute(std::size_t layer, const Part& part, std::string_view problem,
                           std::string_view policy, std::string_view configuration,
                           std::string_view since) const {
  if (!part.is_exact()) return false;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    if (i != layer && layers_[i].refute(problem, policy, configuration, since)) return true;
  }
  return false;
}

}  // namespace autotune::db
