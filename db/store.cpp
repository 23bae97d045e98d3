// SPDX-License-Identifier: Apache-2.0
#include "db/store.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>

#include "db/best.hpp"
#include "db/connection.hpp"
#include "db/problem_distance.hpp"
#include "db/process.hpp"
#include "tuner/text/format.hpp"

namespace autotune::db {
namespace {

constexpr std::size_t kTrialsPerTransaction = 64;

template <class Row>
std::string add(Connection& connection, const Row& row) {
  const Row clean = cleaned(row);
  in_transaction(connection, [&] { connection.insert(clean); });
  return clean.id;
}

template <class Row>
std::vector<Row> rows(Connection& connection, const std::string& rest, const auto&... bound) {
  return guarded(connection.path, [&] {
    std::vector<Row> all;
    Query query = connection.query(select_sql<Row>(rest));
    query.bind(bound...);
    while (query.step()) all.push_back(read_row<Row>(query));
    return all;
  });
}

void store_trial(Connection& connection, const TrialRow& row) {
  const TrialRow trial = cleaned(row);
  connection
      .query(std::string("DELETE FROM inflight") + kOfKey +
             " AND session = ? AND configuration = ?")
      .bind(trial.key, trial.session, trial.configuration)
      .run();
  if (connection.insert(trial)) consider(connection, trial);
}

TrialRow crash_of(const InflightRow& inflight) {
  TrialRow trial;
  trial.session = inflight.session;
  trial.key = inflight.key;
  trial.configuration = inflight.configuration;
  trial.outcome = "crash";
  trial.message = "the process ended while this configuration was being run";
  trial.created_at = inflight.started_at;
  return cleaned(trial);
}

std::string tuned_sql() {
  return "SELECT " + column_list<BestRow>("best.") + ", " + column_list<DeviceRow>("device.") +
         ", " + column_list<KernelRow>("kernel.") + ", " + column_list<SessionRow>("session.") +
         " FROM best JOIN device ON device.id = best.device JOIN kernel ON kernel.id = best.kernel"
         " LEFT JOIN session ON session.id = best.session"
         " WHERE (?1 = '' OR device.name = ?1) AND (?2 = '' OR kernel.target = ?2)"
         " AND (?3 = '' OR best.problem = ?3) AND (?4 = '' OR best.policy = ?4)"
         " ORDER BY kernel.target, device.name, length(best.problem), best.problem, best.policy,"
         " best.created_at DESC";
}

}  // namespace

std::filesystem::path default_store_path() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::filesystem::path(value ? value : "");
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

std::string now_text() {
  const auto now = std::chrono::system_clock::now();
  const std::time_t seconds =
      std::chrono::system_clock::to_time_t(std::chrono::floor<std::chrono::seconds>(now));
  const auto milliseconds =
      std::chrono::floor<std::chrono::milliseconds>(now.time_since_epoch()).count() % 1000;
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  char text[24];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &utc);
  return format("{}.{:03}Z", text, milliseconds);
}

TunedStore::TunedStore(const std::filesystem::path& path, Mode mode)
    : connection_(open_connection(path, mode)) {}
TunedStore::~TunedStore() = default;
TunedStore::TunedStore(TunedStore&&) noexcept = default;
TunedStore& TunedStore::operator=(TunedStore&&) noexcept = default;

const std::filesystem::path& TunedStore::path() const { return connection_->path; }
Mode TunedStore::mode() const { return connection_->mode; }

std::string TunedStore::add_device(const DeviceRow& device) { return add(*connection_, device); }
std::string TunedStore::add_kernel(const KernelRow& kernel) { return add(*connection_, kernel); }
std::string TunedStore::begin_session(const SessionRow& session) {
  return add(*connection_, session);
}
void TunedStore::calibrate(const CalibrationRow& figure) { add(*connection_, figure); }

void TunedStore::add_decision(const DecisionRow& row) {
  const DecisionRow decision = cleaned(row);
  in_transaction(*connection_, [&] {
    if (connection_->insert(decision)) consider(*connection_, decision);
  });
}

void TunedStore::pin(const PinRow& row) {
  const PinRow pin = cleaned(row);
  in_transaction(*connection_, [&] {
    connection_->insert(pin);
    derive_again(*connection_, pin.key);
  });
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
  return rows<TrialRow>(*connection_, std::string(kOfKey) + " ORDER BY rowid", key);
}

void TunedStore::dispatch(const InflightRow& inflight) {
  const InflightRow clean = cleaned(inflight);
  in_transaction(*connection_, [&] { connection_->replace(clean); });
}

std::vector<TrialRow> TunedStore::settle_leftovers() {
  const auto is_left = [](const InflightRow& row) { return !process_lives(row.process); };
  const auto seen = rows<InflightRow>(*connection_, "");
  if (std::none_of(seen.begin(), seen.end(), is_left)) return {};
  return in_transaction(*connection_, [&] {
    std::vector<TrialRow> crashes;
    for (const InflightRow& inflight : rows<InflightRow>(*connection_, "")) {
      if (!is_left(inflight)) continue;
      crashes.push_back(crash_of(inflight));
      store_trial(*connection_, crashes.back());
    }
    return crashes;
  });
}

std::vector<Quarantined> TunedStore::quarantined(const ProblemKey& key) const {
  return guarded(path(), [&] {
    std::vector<Quarantined> all;
    // With max(), SQLite takes the other columns from the row that has it.
    Query query = connection_->query(
        std::string("SELECT configuration, message, max(rowid), count(*) FROM trial") + kOfKey +
        " AND outcome IN ('crash', 'timeout') GROUP BY configuration HAVING count(*) >= 2"
        " ORDER BY configuration");
    query.bind(key);
    while (query.step()) all.push_back({query.text(0), query.text(1)});
    return all;
  });
}

std::optional<BestRow> TunedStore::best(const ProblemKey& key) const {
  return guarded(path(), [&] { return stored_best(*connection_, key); });
}

std::vector<TunedEntry> TunedStore::tuned(const TunedFilter& filter) const {
  return guarded(path(), [&] {
    std::vector<TunedEntry> all;
    static const std::string kSql = tuned_sql();
    Query query = connection_->query(kSql);
    query.bind(filter.device_name, filter.target, filter.problem, filter.policy);
    while (query.step()) {
      int column = 0;
      TunedEntry entry;
      entry.best = read_row<BestRow>(query, column);
      entry.device = read_row<DeviceRow>(query, column += column_count<BestRow>());
      entry.kernel = read_row<KernelRow>(query, column += column_count<DeviceRow>());
      entry.session = read_row<SessionRow>(query, column += column_count<KernelRow>());
      all.push_back(std::move(entry));
    }
    return all;
  });
}

std::vector<NearEntry> TunedStore::nearest(const TunedFilter& filter, std::string_view problem,
                                           std::size_t count) const {
  std::vector<NearEntry> near;
  for (TunedEntry& entry : tuned(filter)) {
    const std::string& sizes = entry.kernel.sizes;
    const auto distance = problem_distance(ProblemText::parse(entry.best.key.problem, sizes),
                                           ProblemText::parse(problem, sizes));
    if (distance) near.push_back({std::move(entry), *distance});
  }
  std::stable_sort(near.begin(), near.end(),
                   [](const NearEntry& a, const NearEntry& b) { return a.distance < b.distance; });
  if (near.size() > count) near.resize(count);
  return near;
}

std::vector<CalibrationRow> TunedStore::calibration(std::string_view device) const {
  std::vector<CalibrationRow> latest;
  for (CalibrationRow& row : rows<CalibrationRow>(
           *connection_, " WHERE device = ? ORDER BY name, created_at DESC, id DESC", device)) {
    if (latest.empty() || latest.back().name != row.name) latest.push_back(std::move(row));
  }
  return latest;
}

void TunedStore::rebuild_best() {
  in_transaction(*connection_, [&] {
    connection_->database.exec("DELETE FROM best");
    for (const ProblemKey& key : all_keys(*connection_)) derive_again(*connection_, key);
  });
}

void TunedStore::compact() {
  guarded(path(), [&] { connection_->database.exec("VACUUM"); });
}

}  // namespace autotune::db
