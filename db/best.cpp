// SPDX-License-Identifier: Apache-2.0
#include "db/best.hpp"

#include <set>

#include "db/rows.hpp"

namespace autotune::db {
namespace {

/// A missing or damaged session counts as partial: its trials prove nothing.
SessionRow session_of(Connection& connection, const std::string& id) {
  SessionRow session;
  session.partial = true;
  each_usable<SessionRow>(
      connection, " AND id = ?", [&](SessionRow&& row) { session = std::move(row); }, id);
  return session;
}

std::optional<KernelRow> kernel_of(Connection& connection, const ProblemKey& key) {
  std::optional<KernelRow> kernel;
  each_usable<KernelRow>(
      connection, " AND id = ?", [&](KernelRow&& row) { kernel = std::move(row); }, key.kernel);
  return kernel;
}

/// The settings of the problem; empty if they cannot be told.
std::optional<std::string> settings_of(Connection& connection, const ProblemKey& key) {
  const auto kernel = kernel_of(connection, key);
  std::string_view rest = key.problem;
  if (kernel && take_sizes(rest, kernel->sizes)) return std::string(rest);
  if (const auto fault = fault_of_problem(connection, key)) {
    connection.leave_out("problem", key.problem, *fault);
  }
  return std::nullopt;
}

/// A leader without a playoff is compared with the default configuration of its own session.
void fill_default(Connection& connection, BestRow& best) {
  if (best.decided) return;
  best.default_configuration.clear();
  best.default_ns.reset();
  each_usable<TrialRow>(
      connection, std::string(kAndKey) + " AND session = ? AND is_default ORDER BY created_at, id",
      [&](TrialRow&& trial) {
        if (trial.stage != "search" || trial.outcome == "pruned") return;
        const bool correct = trial.outcome == "ok";
        best.default_configuration = correct ? trial.configuration : "";
        best.default_ns = correct ? trial.median_ns : std::nullopt;
      },
      best.key, best.session);
}

/// Derives the best from the facts of one problem.
class Derivation {
 public:
  Derivation(Connection& connection, const ProblemKey& key, const std::string& until)
      : connection_(connection),
        key_(key),
        until_(until),
        pin_(pin_of(connection, key, until)),
        refutations_(connection, key) {}

  std::optional<BestRow> best() {
    const std::optional<std::string> settings = settings_of(connection_, key_);
    if (!settings) return std::nullopt;
    each_usable<DecisionRow>(
        connection_, kAndKey,
        [&](const DecisionRow& row) { take(claim_of(row, session(row.session)), true); }, key_);
    const bool decided = best_ && best_->provenance == "measured";  // no trial outranks that
    if (!decided || pin_) take_trials();
    if (best_) fill_default(connection_, *best_);
    if (pin_ && stands(*pin_)) best_ = pinned_row(*pin_, tried_, best_);
    if (!best_) return std::nullopt;
    best_ = refutations_.without_refuted(*std::move(best_));
    best_->settings = *settings;
    return sealed(*std::move(best_));
  }

 private:
  void take_trials() {
    each_usable<TrialRow>(
        connection_, std::string(kAndKey) + " AND outcome = 'ok'",
        [&](const TrialRow& row) {
          const SessionRow& of = session(row.session);
          if (auto claim = claim_of(row, of)) take(*std::move(claim), !of.partial);
        },
        key_);
  }

  void take(BestRow claim, bool may_lead) {
    if (claim.created_at > until_ || refutations_.refute(claim)) return;
    const bool is_pinned = pin_ && claim.configuration == pin_->configuration;
    if (is_pinned && (!tried_ || outranks(claim, *tried_))) tried_ = claim;
    if (may_lead && (!best_ || outranks(claim, *best_))) best_ = std::move(claim);
  }

  /// A pin proves nothing. It counts if its configuration never failed, or a result does.
  bool stands(const PinRow& pin) {
    if (tried_ || !refutations_.refute(key_.problem, key_.policy, pin.configuration, "")) {
      return true;
    }
    connection_.leave_out(
        "pin", pin.id,
        format("{} failed for {}, whatever the policy", pin.configuration, key_.problem));
    return false;
  }

  const SessionRow& session(const std::string& id) {
    const auto [found, is_new] = sessions_.try_emplace(id);
    if (is_new) found->second = session_of(connection_, id);
    return found->second;
  }

  Connection& connection_;
  const ProblemKey& key_;
  const std::string& until_;
  std::optional<PinRow> pin_;
  Refutations refutations_;
  std::unordered_map<std::string, SessionRow> sessions_;
  std::optional<BestRow> best_, tried_;  // of all, and of the pinned configuration
};

/// `claim` is that of a new fact. Without one, the fact may still be the default configuration that
/// `best` is compared with.
void consider_claim(Connection& connection, std::optional<BestRow> claim, BestRow best) {
  const bool outranked = claim && outranks(*claim, best);
  if (!outranked && best.decided) return;
  const Refutations refutations(connection, best.key);
  const bool leads = outranked && !refutations.refute(*claim);
  if (leads) {
    claim->settings = best.settings;
    best = *std::move(claim);
  }
  if (!leads && best.decided) return;
  fill_default(connection, best);
  connection.replace(sealed(refutations.without_refuted(std::move(best))));
}

/// Whether the stored row can be compared with a claim.
bool is_comparable(const std::optional<BestRow>& best) {
  return best && best->provenance != "pinned" && is_sealed(*best);
}

/// Whether a pin names this configuration, which may have failed until now.
bool has_pin(Connection& connection, const ProblemKey& key, const std::string& configuration) {
  Query query =
      connection.query(std::string("SELECT 1 FROM pin") + kOfKey + " AND configuration = ?");
  return query.bind(key, configuration).step();
}

bool names(const BestRow& best, const std::string& configuration) {
  return best.configuration == configuration || best.default_configuration == configuration ||
         ('\n' + best.ties).find('\n' + configuration + '\n') != std::string::npos;
}

/// Derives again what names the configuration of a trial that failed, under every policy.
void withdraw(Connection& connection, const TrialRow& failed) {
  std::vector<ProblemKey> keys;
  {
    Query query =
        connection.query(select_sql<BestRow>(" WHERE device = ? AND kernel = ? AND problem = ?"));
    query.bind(failed.key.device, failed.key.kernel, failed.key.problem);
    while (query.step()) {
      auto best = read_row<BestRow>(query);
      if (names(best, failed.configuration)) keys.push_back(std::move(best.key));
    }
  }
  for (const ProblemKey& key : keys) derive_again(connection, key);
}

std::vector<ProblemKey> keys_of(Query& query) {
  std::vector<ProblemKey> keys;
  while (query.step()) {
    keys.push_back({query.text(0), query.text(1), query.text(2), query.text(3)});
  }
  return keys;
}

std::vector<ProblemKey> own_keys_of_fact(Connection& connection, const std::string& id) {
  static const std::string kColumns = "SELECT device, kernel, problem, policy FROM ";
  Query query =
      connection.query(kColumns + "trial WHERE ?1 IN (id, session, device, kernel) UNION " +
                       kColumns + "decision WHERE ?1 IN (id, session, device, kernel) UNION " +
                       kColumns + "pin WHERE ?1 IN (id, device, kernel)");
  query.bind(id);
  return keys_of(query);
}

}  // namespace

std::optional<std::string> fault_of_problem(Connection& connection, const ProblemKey& key) {
  const auto kernel = kernel_of(connection, key);
  std::string_view rest = key.problem;
  if (!kernel || take_sizes(rest, kernel->sizes)) return std::nullopt;
  return format("the sizes of {} are {}", kernel->target, kernel->sizes);
}

void consider(Connection& connection, const TrialRow& trial) {
  if (is_failure(trial)) return withdraw(connection, trial);
  const std::optional<BestRow> best = stored_best(connection, trial.key);
  const SessionRow session = session_of(connection, trial.session);
  const auto claim = session.partial ? std::nullopt : claim_of(trial, session);
  const bool beside = trial.is_default && best && best->session == trial.session;
  const bool was_pinned = has_pin(connection, trial.key, trial.configuration);
  if (!claim && !beside && !was_pinned) return;
  if (was_pinned || !is_comparable(best) || !is_live(connection, trial)) {
    return derive_again(connection, trial.key);
  }
  consider_claim(connection, claim, *best);
}

void consider(Connection& connection, const DecisionRow& decision) {
  const std::optional<BestRow> best = stored_best(connection, decision.key);
  const bool was_pinned = has_pin(connection, decision.key, decision.configuration);
  if (was_pinned || !is_comparable(best) || !is_live(connection, decision)) {
    return derive_again(connection, decision.key);
  }
  consider_claim(connection, claim_of(decision, session_of(connection, decision.session)), *best);
}

std::optional<BestRow> stored_best(Connection& connection, const ProblemKey& key) {
  Query query = connection.query(select_sql<BestRow>(kOfKey));
  if (!query.bind(key).step()) return std::nullopt;
  return read_row<BestRow>(query);
}

std::optional<BestRow> usable(Connection& connection, BestRow best, const std::string& latest) {
  std::optional<std::string> fault = is_sealed(best) ? malformed(best) : kNotAsStored;
  const bool is_ahead = !fault && best.created_at > latest;
  if (is_ahead) {
    fault = format(
        "it is dated {}, ahead of this machine's clock, and counts from then on; is a clock wrong? "
        "autotune db retract {} takes it out",
        best.created_at, best.source);
  }
  if (fault) connection.leave_out("best of", best.key.problem, *fault);
  if (is_ahead) return derive(connection, best.key, latest);
  return fault ? std::nullopt : std::optional(std::move(best));
}

std::int64_t indexed_rows(Connection& connection, const std::string& device,
                          const std::string& kernel, const std::string& policy) {
  static const std::string kCount =
      "SELECT count(*) FROM best INDEXED BY best_settings WHERE device = ? AND kernel = ?";
  if (policy.empty()) {
    Query query = connection.query(kCount);
    return query.bind(device, kernel).step() ? query.integer(0) : 0;
  }
  Query query = connection.query(kCount + " AND policy = ?");
  return query.bind(device, kernel, policy).step() ? query.integer(0) : 0;
}

std::optional<PinRow> pin_of(Connection& connection, const ProblemKey& key,
                             const std::string& until) {
  std::optional<PinRow> latest;
  each_usable<PinRow>(
      connection, std::string(kAndKey) + " AND created_at <= ? ORDER BY created_at, id",
      [&](PinRow&& pin) { latest = std::move(pin); }, key, until);
  if (latest && latest->configuration.empty()) latest.reset();
  return latest;
}

std::optional<BestRow> derive(Connection& connection, const ProblemKey& key,
                              const std::string& until) {
  return Derivation(connection, key, until).best();
}

void derive_again(Connection& connection, const ProblemKey& key) {
  const std::optional<BestRow> best = derive(connection, key);
  if (best) {
    connection.replace(*best);
  } else {
    connection.query(std::string("DELETE FROM best") + kOfKey).bind(key).run();
  }
}

void derive_all_again(Connection& connection) {
  connection.query("DELETE FROM best").run();
  for (const ProblemKey& key : all_keys(connection)) derive_again(connection, key);
}

std::vector<ProblemKey> all_keys(Connection& connection) {
  Query query = connection.query(
      "SELECT device, kernel, problem, policy FROM trial "
      "UNION SELECT device, kernel, problem, policy FROM decision "
      "UNION SELECT device, kernel, problem, policy FROM pin");
  return keys_of(query);
}

std::vector<ProblemKey> keys_beside(Connection& connection, const ProblemKey& key) {
  static const std::string kSql = [] {
    std::string sql;
    for (const char* const table : {"trial", "decision", "pin"}) {
      if (!sql.empty()) sql += " UNION ";
      sql += std::string("SELECT device, kernel, problem, policy FROM ") + table +
             " WHERE device = ?1 AND kernel = ?2 AND problem = ?3";
    }
    return sql;
  }();
  Query query = connection.query(kSql);
  query.bind(key.device, key.kernel, key.problem);
  return keys_of(query);
}

std::vector<ProblemKey> keys_of_fact(Connection& connection, const std::string& id) {
  std::set<ProblemKey> keys;
  for (const ProblemKey& key : own_keys_of_fact(connection, id)) {
    if (keys.contains(key)) continue;
    for (ProblemKey& one : keys_beside(connection, key)) keys.insert(std::move(one));
  }
  return {keys.begin(), keys.end()};
}

}  // namespace autotune::db
