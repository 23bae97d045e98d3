// SPDX-License-Identifier: Apache-2.0
#include "db/best.hpp"

#include <bit>
#include <tuple>

#include "tuner/hash/hash.hpp"

namespace autotune::db {
namespace {

int rank_of(std::string_view provenance) {
  if (provenance == "pinned") return 3;
  if (provenance == "measured") return 2;
  return provenance == "imported" ? 1 : 0;
}

std::string started_at(Connection& connection, const std::string& session) {
  Query query = connection.query("SELECT started_at FROM session WHERE id = ?");
  return query.bind(session).step() ? query.text(0) : "";
}

/// nullopt when the trial cannot lead: it failed, or nobody has checked its result.
std::optional<BestRow> claim_of(const TrialRow& trial, const std::string& session_started_at) {
  const bool measured = trial.median_ns && trial.verified;
  const bool predicted = !trial.median_ns && trial.predicted_ns;
  if (trial.outcome != "ok" || trial.stage != "search" || !(measured || predicted)) {
    return std::nullopt;
  }
  BestRow row;
  row.key = trial.key;
  row.provenance = measured ? "measured" : "predicted";
  row.session = trial.session;
  row.session_started_at = session_started_at;
  row.configuration = trial.configuration;
  row.median_ns = measured ? trial.median_ns : trial.predicted_ns;
  row.low_ns = trial.low_ns;
  row.high_ns = trial.high_ns;
  row.samples = trial.samples;
  row.gflops = trial.gflops;
  row.verified = trial.verified;
  row.binary_key = trial.binary_key;
  row.created_at = trial.created_at;
  row.source = trial.id;
  return row;
}

BestRow claim_of(const DecisionRow& decision, const std::string& session_started_at) {
  BestRow row;
  row.key = decision.key;
  row.provenance = decision.provenance;
  row.decided = true;
  row.session = decision.session;
  row.session_started_at = session_started_at;
  row.configuration = decision.configuration;
  row.median_ns = decision.median_ns;
  row.low_ns = decision.low_ns;
  row.high_ns = decision.high_ns;
  row.samples = decision.samples;
  row.gflops = decision.gflops;
  row.default_configuration = decision.default_configuration;
  row.default_ns = decision.default_ns;
  row.noise_floor = decision.noise_floor;
  row.cold_ns = decision.cold_ns;
  row.ties = decision.ties;
  row.verified = decision.verified;
  row.binary_key = decision.binary_key;
  row.created_at = decision.created_at;
  row.baseline = decision.baseline;
  row.source = decision.id;
  return row;
}

/// A leader that no playoff has judged stands beside the default of its own session.
void fill_default(Connection& connection, BestRow& row) {
  if (row.decided) return;
  Query query =
      connection.query(std::string("SELECT configuration, median_ns FROM trial") + kOfKey +
                       " AND session = ? AND is_default AND outcome = 'ok' AND stage = 'search' "
                       "ORDER BY id LIMIT 1");
  row.default_configuration.clear();
  row.default_ns.reset();
  if (!query.bind(row.key, row.session).step()) return;
  query.read(0, row.default_configuration);
  query.read(1, row.default_ns);
}

BestRow sealed(BestRow row) {
  row = cleaned(std::move(row));
  row.crc = best_crc({row.key.problem, row.key.policy, row.configuration, row.provenance,
                      row.default_configuration, row.median_ns.value_or(-1),
                      row.default_ns.value_or(-1), row.baseline.plugin, row.baseline.candidate,
                      row.baseline.ns.value_or(-1), row.baseline.wins});
  return row;
}

std::optional<PinRow> pin_of(Connection& connection, const ProblemKey& key) {
  Query query = connection.query(
      select_sql<PinRow>(std::string(kOfKey) + " ORDER BY created_at DESC, id DESC LIMIT 1"));
  if (!query.bind(key).step()) return std::nullopt;
  PinRow pin = read_row<PinRow>(query);
  if (pin.configuration.empty()) return std::nullopt;
  return pin;
}

/// The pinned configuration with the best claim's figures for it, if it was ever tried.
BestRow pinned_row(const PinRow& pin, const std::optional<BestRow>& tried,
                   const std::optional<BestRow>& best) {
  BestRow row;
  if (tried) row = *tried;
  row.key = pin.key;
  row.provenance = "pinned";
  row.decided = true;
  row.configuration = pin.configuration;
  row.baseline = {};  // whoever pins a configuration wants that one
  if (best) {
    row.default_configuration = best->default_configuration;
    row.default_ns = best->default_ns;
  }
  row.created_at = pin.created_at;
  row.source = pin.id;
  return row;
}

template <class Claim>
void consider_claim(Connection& connection, const Claim& fact) {
  std::optional<BestRow> best = stored_best(connection, fact.key);
  if (best && best->provenance == "pinned") return derive_again(connection, fact.key);
  std::optional<BestRow> claim = claim_of(fact, started_at(connection, fact.session));
  const bool leads = claim && (!best || outranks(*claim, *best));
  if (leads) best = std::move(claim);
  const bool same_session = best && best->session == fact.session;
  if (!leads && !(same_session && !best->decided)) return;
  fill_default(connection, *best);
  connection.replace(sealed(std::move(*best)));
}

}  // namespace

bool outranks(const BestRow& a, const BestRow& b) {
  const auto standing = [](const BestRow& row) {
    return std::make_tuple(rank_of(row.provenance), row.decided);
  };
  if (standing(a) != standing(b)) return standing(a) > standing(b);
  if (a.decided) return std::tie(a.created_at, a.source) > std::tie(b.created_at, b.source);
  const auto session = [](const BestRow& row) {
    return std::tie(row.session_started_at, row.session);
  };
  if (session(a) != session(b)) return session(a) > session(b);
  const double a_ns = a.median_ns.value_or(0), b_ns = b.median_ns.value_or(0);
  return std::tie(a_ns, a.configuration, a.source) < std::tie(b_ns, b.configuration, b.source);
}

std::int64_t best_crc(const BestView& row) {
  const auto bytes_of = [](const double& number) {
    return std::string_view(reinterpret_cast<const char*>(&number), sizeof number);
  };
  std::uint64_t hash = 0;
  for (const std::string_view text :
       {row.problem, row.policy, row.configuration, row.provenance, row.default_configuration}) {
    hash = hash64(text, hash);
  }
  for (const double& number : {row.median_ns, row.default_ns}) {
    hash = hash64(bytes_of(number), hash);
  }
  if (!row.baseline.empty()) {  // rows without one have the check that they always had
    hash = hash64(row.baseline, hash);
    hash = hash64(row.candidate, hash);
    hash = hash64(bytes_of(row.baseline_ns), hash) + row.baseline_wins;
  }
  return std::bit_cast<std::int64_t>(hash);
}

void consider(Connection& connection, const TrialRow& trial) {
  const bool matters = trial.outcome == "ok" || trial.is_default;
  if (matters) consider_claim(connection, trial);
}

void consider(Connection& connection, const DecisionRow& decision) {
  consider_claim(connection, decision);
}

std::optional<BestRow> stored_best(Connection& connection, const ProblemKey& key) {
  Query query = connection.query(select_sql<BestRow>(kOfKey));
  if (!query.bind(key).step()) return std::nullopt;
  return read_row<BestRow>(query);
}

std::optional<BestRow> derive(Connection& connection, const ProblemKey& key) {
  const std::optional<PinRow> pin = pin_of(connection, key);
  std::optional<BestRow> best, tried;
  const auto take = [&](std::optional<BestRow> claim) {
    if (!claim) return;
    if (pin && claim->configuration == pin->configuration && (!tried || outranks(*claim, *tried))) {
      tried = claim;
    }
    if (!best || outranks(*claim, *best)) best = std::move(claim);
  };
  std::unordered_map<std::string, std::string> starts;
  const auto start_of = [&](const std::string& session) -> const std::string& {
    const auto [found, is_new] = starts.try_emplace(session);
    if (is_new) found->second = started_at(connection, session);
    return found->second;
  };
  {
    Query query = connection.query(select_sql<DecisionRow>(kOfKey));
    query.bind(key);
    while (query.step()) {
      const auto decision = read_row<DecisionRow>(query);
      take(claim_of(decision, start_of(decision.session)));
    }
  }
  if (!best || pin || best->provenance != "measured") {  // else no trial can change it
    Query query =
        connection.query(select_sql<TrialRow>(std::string(kOfKey) + " AND outcome = 'ok'"));
    query.bind(key);
    while (query.step()) {
      const auto trial = read_row<TrialRow>(query);
      take(claim_of(trial, start_of(trial.session)));
    }
  }
  if (best) fill_default(connection, *best);
  if (pin) best = pinned_row(*pin, tried, best);
  if (best) best = sealed(std::move(*best));
  return best;
}

void derive_again(Connection& connection, const ProblemKey& key) {
  const std::optional<BestRow> best = derive(connection, key);
  if (best) {
    connection.replace(*best);
  } else {
    connection.query(std::string("DELETE FROM best") + kOfKey).bind(key).run();
  }
}

std::vector<ProblemKey> all_keys(Connection& connection) {
  std::vector<ProblemKey> keys;
  Query query = connection.query(
      "SELECT device, kernel, problem, policy FROM trial "
      "UNION SELECT device, kernel, problem, policy FROM decision "
      "UNION SELECT device, kernel, problem, policy FROM pin");
  while (query.step()) {
    keys.push_back({query.text(0), query.text(1), query.text(2), query.text(3)});
  }
  return keys;
}

}  // namespace autotune::db
