// SPDX-License-Identifier: Apache-2.0
#include "db/facts.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <ctime>
#include <sstream>
#include <tuple>
#include <utility>

#include "db/store.hpp"
#include "tuner/hash/hash.hpp"
#include "tuner/json/json.hpp"

namespace autotune::db {
namespace {

using Clock = std::chrono::system_clock;
using std::chrono::microseconds;

}  // namespace

std::string time_text(Clock::time_point time) {
  const auto second = std::chrono::floor<std::chrono::seconds>(time);
  const std::time_t seconds = Clock::to_time_t(second);
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  char text[24];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &utc);
  return format("{}.{:06}Z", text, std::chrono::floor<microseconds>(time - second).count());
}

std::string now_text() {
  static std::atomic<microseconds::rep> last{0};
  const auto now = std::chrono::floor<microseconds>(Clock::now().time_since_epoch()).count();
  microseconds::rep before = last.load(), next = 0;
  do {
    next = std::max(now, before + 1);
  } while (!last.compare_exchange_weak(before, next));
  return time_text(Clock::time_point(microseconds(next)));
}

namespace {

bool is_printable(char letter) {
  const auto code = static_cast<unsigned char>(letter);
  return code >= 0x20 && code != 0x7F;
}

/// As created_at is written.
std::string time_after_now(std::chrono::minutes ahead) {
  return time_text(std::chrono::system_clock::now() + ahead);
}

}  // namespace

std::string excerpt(std::string_view text) {
  constexpr std::size_t kShown = 60;
  const bool cut = text.size() > kShown;
  return Json(std::string(text.substr(0, kShown)) + (cut ? "…" : ""))
      .dump(-1, ' ', false, Json::error_handler_t::replace);
}

bool is_named_values(std::string_view text) {
  if (!std::ranges::all_of(text, is_printable)) return false;
  while (!text.empty()) {
    const std::string_view item = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), item.size() + 1));
    if (item.empty()) continue;
    const std::size_t equals = item.find('=');
    if (equals == std::string_view::npos || equals == 0) return false;
  }
  return true;
}

std::optional<std::string> fault_of_text(std::string_view column, std::string_view text) {
  const bool lines = column == "ties";
  const bool values = column == "problem" || column == "configuration" ||
                      column == "default_configuration" || column == "figures";
  if (!lines && !values) return std::nullopt;
  while (!text.empty()) {
    const std::string_view line = lines ? text.substr(0, text.find('\n')) : text;
    if (!is_named_values(line)) {
      return format("the {} {} is not of the form NAME=VALUE, such as BM=128", column,
                    excerpt(line));
    }
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
  return std::nullopt;
}

std::optional<std::string> fault_of_date(std::string_view column, std::string_view text) {
  const bool date = column == "created_at" || column == "started_at";
  if (!date || text <= time_after_now(std::chrono::days(1))) return std::nullopt;
  return format("it is dated {}, more than a day ahead; is a clock wrong?", excerpt(text));
}

std::optional<std::string> fault_of_number(std::string_view column, double number) {
  constexpr double kMost = 1e30;
  const bool is_possible = column.ends_with("_ns") ? number > 0 : number >= 0;
  if (is_possible && number <= kMost) return std::nullopt;
  return format("the {} {} is not possible", column, number);
}

std::string latest_time() { return time_after_now(std::chrono::minutes(5)); }

bool is_retracted(Connection& connection, const std::string& id) {
  Query query = connection.query("SELECT 1 FROM retraction WHERE fact = ?");
  return query.bind(id).step();
}

namespace {

int strength_of(std::string_view provenance) {
  if (provenance == "pinned") return 4;
  if (provenance == "measured" || provenance == "in use") return 3;
  if (provenance == "imported") return 2;
  return provenance == "first use" ? 1 : 0;
}

/// The hash of all columns but itself.
std::int64_t row_hash(BestRow row) {
  row.row_hash = 0;
  return std::bit_cast<std::int64_t>(hash64(to_json(row)));
}

}  // namespace

std::optional<BestRow> claim_of(const TrialRow& trial, const SessionRow& session) {
  const bool measured = trial.median_ns && trial.verified;
  const bool predicted = !trial.median_ns && trial.predicted_ns;
  if (trial.outcome != "ok" || trial.stage != "search" || !(measured || predicted)) {
    return std::nullopt;
  }
  BestRow row;
  row.key = trial.key;
  row.provenance = measured ? "measured" : "predicted";
  row.session = trial.session;
  row.session_started_at = session.started_at;
  row.configuration = trial.configuration;
  static_cast<Times&>(row) = trial;
  if (predicted) row.median_ns = trial.predicted_ns;
  row.gflops = trial.gflops;
  row.verified = trial.verified;
  row.binary_key = trial.binary_key;
  row.created_at = trial.created_at;
  row.source = trial.id;
  return row;
}

BestRow claim_of(const DecisionRow& decision, const SessionRow& session) {
  BestRow row;
  row.key = decision.key;
  row.provenance = decision.provenance;
  row.decided = true;
  row.session = decision.session;
  row.session_started_at = session.started_at;
  static_cast<Figures&>(row) = decision;
  row.source = decision.id;
  return row;
}

BestRow pinned_row(const PinRow& pin, const std::optional<BestRow>& tried,
                   const std::optional<BestRow>& best) {
  BestRow row;
  if (tried) row = *tried;
  row.key = pin.key;
  row.provenance = "pinned";
  row.decided = true;
  row.configuration = pin.configuration;
  row.baseline = {};  // a pinned configuration is launched whatever the library takes
  if (best) {
    row.default_configuration = best->default_configuration;
    row.default_ns = best->default_ns;
  }
  row.created_at = pin.created_at;
  row.source = pin.id;
  return row;
}

bool outranks(const BestRow& a, const BestRow& b) {
  const auto standing = [](const BestRow& row) {
    return std::make_tuple(strength_of(row.provenance), row.decided);
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

BestView view_of(const BestRow& row) {
  return {row.key.problem,
          row.key.policy,
          row.configuration,
          row.provenance,
          row.default_configuration,
          row.median_ns.value_or(-1),
          row.default_ns.value_or(-1),
          row.baseline.plugin,
          row.baseline.candidate,
          row.baseline.ns.value_or(-1),
          row.baseline.wins};
}

bool has_possible_times(const BestView& row) {
  constexpr double kAbsent = -1;
  const auto is_possible = [](double ns) { return !fault_of_number("median_ns", ns); };
  return (row.median_ns == kAbsent || is_possible(row.median_ns)) &&
         (row.default_ns == kAbsent || is_possible(row.default_ns)) &&
         (row.baseline_ns == kAbsent ? !row.baseline_wins : is_possible(row.baseline_ns));
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
  if (!row.baseline.empty()) {  // so that rows without one keep their hash
    hash = hash64(row.baseline, hash);
    hash = hash64(row.candidate, hash);
    hash = hash64(bytes_of(row.baseline_ns), hash) + row.baseline_wins;
  }
  return std::bit_cast<std::int64_t>(hash);
}

BestRow sealed(BestRow row) {
  row = cleaned(std::move(row));
  row.crc = best_crc(view_of(row));
  row.row_hash = row_hash(row);
  return row;
}

bool is_sealed(const BestRow& row) { return row_hash(row) == row.row_hash; }

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
