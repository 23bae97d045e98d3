// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/session_rows.hpp"

#include "tuner/records/records.hpp"

namespace autotune {

SessionRows begin_session(db::TunedStore* store, const Target& target, const Device& device,
                          const TuningRequest& request) {
  if (!store) return {};
  store->settle_leftovers();
  db::SessionRow session;
  session.started_at = db::now_text();
  session.tool_version = request.tool_version;
  session.environment = device.info().environment;
  session.command = request.command;
  session.strategy = request.strategy;
  session.seed = static_cast<std::int64_t>(request.seed);
  session.budget = request.budget_text;
  session.partial = request.partial;
  session.space = target.space_fingerprint;
  return {store->begin_session(session), store->add_device(device_row(device.info())),
          store->add_kernel(kernel_row(target))};
}

}  // namespace autotune
