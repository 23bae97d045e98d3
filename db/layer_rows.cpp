// SPDX-License-Identifier: Apache-2.0
#include "db/layer_rows.hpp"

#include <algorithm>

namespace autotune::db {

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
