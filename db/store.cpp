// SPDX-License-Identifier: Apache-2.0
#include "db/store.hpp"

#include <algorithm>
#include <map>

#include "db/best.hpp"
#include "db/facts.hpp"
#include "db/lookup_source.hpp"
#include "tuner/text/environment.hpp"
#include "tuner/text/format.hpp"

namespace autotune::db {
namespace {

constexpr std::size_t kTrialsPerTransaction = 64;
constexpr const char* kOfProblem = " AND device = ? AND kernel = ? AND problem = ?";
constexpr const char* kOfOurs = "policy NOT LIKE 'by=%'";  // see is_of_other_tuner()
/// Of facts of the same moment, a failure follows what it refutes, and a playoff its search.
constexpr const char* kInOrder =
    " ORDER BY created_at, outcome NOT IN ('ok', 'pruned'), stage DESC, id";

template <class Row>
std::string add(Connection& connection, const Row& row) {
  const Row clean = acceptable(connection, row);
  in_transaction(connection, [&] { connection.insert(clean); });
  return clean.id;
}

/// The usable ones of these facts.
template <class Row>
std::vector<Row> rows(Connection& connection, const std::string& condition, const auto&... bound) {
  return guarded(connection.path, [&] {
    std::vector<Row> all;
    each_usable<Row>(
        connection, condition, [&](Row&& row) { all.push_back(std::move(row)); }, bound...);
    return all;
  });
}

void store_trial(Connection& connection, const TrialRow& row) {
  const TrialRow trial = acceptable(connection, row);
  if (connection.insert(trial)) consider(connection, trial);
}

/// Throws StoreError if no table has a fact with this id.
void expect_fact(Connection& connection, const std::string& id) {
  bool found = false;
  each_fact_table([&]<class Row>() {
    Query query = connection.query(format("SELECT 1 FROM {} WHERE id = ?", Table<Row>::name));
    found = found || query.bind(id).step();
  });
  if (found) return;
  throw StoreError(
      format("{}: there is no fact with the id \"{}\"; autotune db check names those "
             "that are wrong, autotune query --json those that count",
             connection.path.string(), id));
}

}  // namespace

std::filesystem::path default_store_path() {
  const auto variable = [](const char* name) {
    return std::filesystem::path(environment_variable(name));
  };
  if (const auto file = variable("AUTOTUNE_DB"); !file.empty()) return file;
  if (const auto data = variable("XDG_DATA_HOME"); data.is_absolute()) {
    return data / "autotune/tuned.db";
  }
  if (const auto home = variable("HOME"); !home.empty()) {
    return home / ".local/share/autotune/tuned.db";
  }
  throw StoreError(
      "no place for the tuned database: neither AUTOTUNE_DB, XDG_DATA_HOME nor HOME is set; name a "
      "file with --db");
}

TunedStore::TunedStore(const std::filesystem::path& path, Mode mode, WaitUntil wait_until)
    : connection_(open_connection(path, mode, wait_until)) {}
TunedStore::~TunedStore() = default;
TunedStore::TunedStore(TunedStore&&) noexcept = default;
TunedStore& TunedStore::operator=(TunedStore&&) noexcept = default;

const std::filesystem::path& TunedStore::path() const { return connection_->path; }
Mode TunedStore::mode() const { return connection_->mode; }
const std::string& TunedStore::warning() const { return connection_->warning; }
const std::set<std::string>& TunedStore::left_out() const { return connection_->left_out; }
void TunedStore::leave_out(std::function<std::string(const TunedEntry&)> complaint) {
  connection_->complaint = std::move(complaint);
}

std::string TunedStore::add_device(const DeviceRow& device) { return add(*connection_, device); }
std::string TunedStore::add_kernel(const KernelRow& kernel) { return add(*connection_, kernel); }
std::string TunedStore::begin_session(const SessionRow& session) {
  return add(*connection_, session);
}
void TunedStore::calibrate(const CalibrationRow& figure) { add(*connection_, figure); }

void TunedStore::add_decision(const DecisionRow& row) {
  const DecisionRow decision = acceptable(*connection_, row);
  in_transaction(*connection_, [&] {
    if (connection_->insert(decision)) consider(*connection_, decision);
  });
}

void TunedStore::pin(const PinRow& row) {
  const PinRow pin = acceptable(*connection_, row);
  in_transaction(*connection_, [&] {
    connection_->insert(pin);
    derive_again(*connection_, pin.key);
  });
}

std::vector<ProblemKey> TunedStore::retract(const std::string& fact, const std::string& reason) {
  const RetractionRow retraction =
      acceptable(*connection_, RetractionRow{"", fact, reason, now_text()});
  return in_transaction(*connection_, [&] {
    expect_fact(*connection_, fact);
    connection_->insert(retraction);
    const std::vector<ProblemKey> keys = keys_of_fact(*connection_, fact);
    for (const ProblemKey& key : keys) derive_again(*connection_, key);
    return keys;
  });
}

std::optional<SessionRow> TunedStore::session(const std::string& id) const {
  std::vector<SessionRow> found = rows<SessionRow>(*connection_, " AND id = ?", id);
  return found.empty() ? std::nullopt : std::optional(std::move(found.front()));
}

std::optional<PinRow> TunedStore::pin_of(const std::string& id) const {
  std::vector<PinRow> found = rows<PinRow>(*connection_, " AND id = ?", id);
  return found.empty() ? std::nullopt : std::optional(std::move(found.front()));
}

std::vector<DeviceRow> TunedStore::devices() const {
  return rows<DeviceRow>(*connection_, " ORDER BY name, id");
}

std::vector<KernelRow> TunedStore::kernels() const {
  return rows<KernelRow>(*connection_, " ORDER BY target, id");
}

void TunedStore::append(std::span<const TrialRow> trials) {
  while (!trials.empty()) {
    const auto part = trials.first(std::min(trials.size(), kTrialsPerTransaction));
    in_transaction(*connection_, [&] {
      for (const TrialRow& trial : part) store_trial(*connection_, trial);
    });
    trials = trials.subspan(part.size());
  }
}

std::vector<TrialRow> TunedStore::trials(const ProblemKey& key) const {
  return rows<TrialRow>(*connection_, std::string(kAndKey) + kInOrder, key);
}

std::vector<TrialRow> TunedStore::history(const ProblemKey& key) const {
  return rows<TrialRow>(
      *connection_,
      std::string(kOfProblem) + " AND (policy = ? OR (" + kOfOurs + kFailed + "))" + kInOrder,
      key.device, key.kernel, key.problem, key.policy);
}

std::vector<TrialRow> TunedStore::standing(const ProblemKey& key) const {
  std::vector<TrialRow> all = trials(key);
  const Refutations refutations = guarded(path(), [&] { return Refutations(*connection_, key); });
  std::erase_if(all, [&](const TrialRow& trial) {
    return trial.outcome == "ok" &&
           refutations.refute(key.problem, key.policy, trial.configuration, trial.created_at);
  });
  return all;
}

std::function<std::string(const TunedEntry&)> TunedStore::refuter() const {
  struct Known {
    DeviceRow device;
    KernelRow kernel;
    Refutations refutations;
  };
  std::vector<Known> all;
  guarded(path(), [&] {
    each_pair(*this, {}, [&](const DeviceRow& device, const KernelRow& kernel) {
      Refutations refutations(*connection_, device.id, kernel.id);
      if (!refutations.empty()) all.push_back({device, kernel, std::move(refutations)});
    });
  });
  return [all, file = path().string()](const TunedEntry& entry) -> std::string {
    const auto refutes = [&](const Known& known) {
      return is_same_device(known.device, entry.device) &&
             known.kernel.target == entry.kernel.target &&
             known.kernel.fingerprint == entry.kernel.fingerprint &&
             known.refutations.refute(entry.best);
    };
    if (std::ranges::none_of(all, refutes)) return "";
    return format("{} failed since, as {} says; tune it again", entry.best.configuration, file);
  };
}

std::vector<Quarantined> TunedStore::quarantined(const ProblemKey& key) const {
  return guarded(path(), [&] {
    std::map<std::string, std::pair<Quarantined, int>> met;
    each_usable<TrialRow>(
        *connection_,
        std::string(kOfProblem) + " AND " + kOfOurs +
            " AND outcome IN ('crash', 'timeout') ORDER BY created_at, id",
        [&](TrialRow&& row) {
          auto& [last, times] = met[row.configuration];
          last = {row.configuration, row.outcome, row.message};
          ++times;
        },
        key.device, key.kernel, key.problem);
    std::vector<Quarantined> all;
    for (const auto& [configuration, one] : met) {
      if (one.second >= 2) all.push_back(one.first);
    }
    return all;
  });
}

std::vector<CalibrationRow> TunedStore::calibration(std::string_view device) const {
  std::vector<CalibrationRow> latest;
  for (CalibrationRow& row : rows<CalibrationRow>(
           *connection_, " AND device = ? ORDER BY name, created_at DESC, id DESC", device)) {
    if (latest.empty() || latest.back().name != row.name) latest.push_back(std::move(row));
  }
  return latest;
}

void TunedStore::rebuild_best() {
  in_transaction(*connection_, [&] {
    name_damage(*connection_);
    connection_->database.exec("REINDEX");  // restores index entries that are lost
    derive_all_again(*connection_);
  });
}

void TunedStore::compact() {
  guarded(path(), [&] { connection_->database.exec("VACUUM"); });
}

}  // namespace autotune::db
