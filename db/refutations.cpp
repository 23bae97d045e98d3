// SPDX-License-Identifier: Apache-2.0
#include "db/refutations.hpp"

#include <algorithm>
#include <sstream>
#include <utility>

#include "db/facts.hpp"

namespace autotune::db {
namespace {

/// The failures of what `where` selects. Most stores have no retraction, which then costs nothing.
std::string failures_sql(Connection& connection, const std::string& where) {
  const bool any_retracted = connection.query("SELECT 1 FROM retraction LIMIT 1").step();
  return "SELECT problem, policy, configuration, max(created_at) FROM trial WHERE " + where +
         kFailed + (any_retracted ? " AND " + live_sql<TrialRow>() : "") +
         " GROUP BY problem, configuration, policy";
}

/// The key of Failures.
std::string failure_key(std::string_view configuration, std::string_view policy) {
  std::string key(configuration);
  if (is_of_other_tuner(policy)) key.append(1, '\n').append(policy);
  return key;
}

}  // namespace

bool is_failure(const TrialRow& trial) {
  return trial.outcome != "ok" && trial.outcome != "pruned";
}

Refutations::Refutations(Connection& connection, const ProblemKey& key) {
  Query query =
      connection.query(failures_sql(connection, "device = ? AND kernel = ? AND problem = ?"));
  query.bind(key.device, key.kernel, key.problem);
  read(query);
}

Refutations::Refutations(Connection& connection, const std::string& device,
                         const std::string& kernel) {
  Query query = connection.query(failures_sql(connection, "device = ? AND kernel = ?"));
  query.bind(device, kernel);
  read(query);
}

void Refutations::read(Query& query) {
  while (query.step()) {
    std::string& latest = failures_[query.text(0)][failure_key(query.view(2), query.view(1))];
    latest = std::max(latest, query.text(3));
  }
}

bool Refutations::refute(std::string_view problem, std::string_view policy,
                         std::string_view configuration, std::string_view since) const {
  const auto here = failures_.find(problem);
  if (here == failures_.end()) return false;
  const auto failed_since = [&](std::string_view key) {
    const auto failure = here->second.find(key);
    return failure != here->second.end() && failure->second >= since;
  };
  return failed_since(configuration) ||
         (is_of_other_tuner(policy) && failed_since(failure_key(configuration, policy)));
}

bool Refutations::refute(const BestRow& best) const {
  // What speaks for a pin is the session that tried its configuration.
  const bool is_pinned = best.provenance == "pinned";
  return refute(best.key.problem, best.key.policy, best.configuration,
                is_pinned ? best.session_started_at : best.created_at);
}

BestRow Refutations::without_refuted(BestRow best) const {
  const auto failed = [&](const std::string& configuration) {
    return refute(best.key.problem, best.key.policy, configuration, best.created_at);
  };
  if (failed(best.default_configuration)) {
    best.default_configuration.clear();
    best.default_ns.reset();
    best.default_joules.reset();
  }
  std::istringstream ties(std::exchange(best.ties, ""));
  for (std::string tie; std::getline(ties, tie);) {
    if (!failed(tie)) best.ties += tie + '\n';
  }
  return best;
}

void Refutations::add(const Refutations& others) {
  for (const auto& [problem, failures] : others.failures_) {
    Failures& own = failures_[problem];
    for (const auto& [key, time] : failures) {
      std::string& latest = own[key];
      latest = std::max(latest, time);
    }
  }
}

}  // namespace autotune::db
