// SPDX-License-Identifier: Apache-2.0
#include "db/connection.hpp"

#include <SQLiteCpp/Backup.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cerrno>
#include <limits>
#include <thread>

#include "tuner/file/replace_file.hpp"
#include "tuner/hash/hash.hpp"
#include "tuner/text/file_text.hpp"
#include "tuner/text/format.hpp"
#include "tuner/text/printable.hpp"

namespace autotune::db {
namespace {

constexpr std::chrono::seconds kWaitForOneLock{20};

/// `file:/a%20b.db?immutable=1`, with every special character of the path escaped.
std::string immutable_uri(const std::filesystem::path& path) {
  std::string uri = "file:";
  for (const char letter : std::filesystem::absolute(path).string()) {
    if (std::string_view("%?# ").find(letter) != std::string_view::npos) {
      uri += format("%{:02X}", static_cast<int>(letter));
    } else {
      uri += letter;
    }
  }
  return uri + "?immutable=1";
}

/// Called by SQLite right after it did not get a lock. Returns 1 if it shall try again.
int wait_for_lock(void* context, int tries) {
  // SQLite takes this for a lock of another process (NFS without a lock daemon).
  const bool has_none = std::exchange(errno, 0) == ENOLCK;
  auto& wait = *static_cast<LockWait*>(context);
  wait.refused = wait.refused || has_none;
  const auto now = std::chrono::steady_clock::now();
  if (tries == 0) wait.started = now;
  if (wait.refused || now >= wait.until.value_or(wait.started + kWaitForOneLock)) return 0;
  std::this_thread::sleep_for(std::chrono::milliseconds(tries < 10 ? 1 : 10));
  return 1;
}

/// A file may be anybody's.
void defend(SQLite::Database& database) {
  for (const auto& [option, value] : {std::pair{SQLITE_DBCONFIG_DEFENSIVE, 1},
                                      {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
                                      {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
                                      {SQLITE_DBCONFIG_ENABLE_VIEW, 0}}) {
    sqlite3_db_config(database.getHandle(), option, value, nullptr);
  }
}

SQLite::Database open_with(const std::string& name, int flags, LockWait& wait) {
  // Only one thread at a time uses a store, so SQLite need not lock for each column.
  SQLite::Database database(name, flags | SQLite::OPEN_NOMUTEX);
  sqlite3_busy_handler(database.getHandle(), wait_for_lock, &wait);
  defend(database);
  return database;
}

SQLite::Database open_file(const std::filesystem::path& path, Mode mode, LockWait& wait) {
  switch (mode) {
    case Mode::shipped:
      return open_with(immutable_uri(path), SQLite::OPEN_READONLY | SQLite::OPEN_URI, wait);
    case Mode::read_only:
      return open_with(path.string(), SQLite::OPEN_READONLY, wait);
    case Mode::read_write:
      break;
  }
  return open_with(path.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE, wait);
}

/// Whether the file system refused a lock that no other process has.
bool lacks_locks(const SQLite::Exception& error, const LockWait& wait) {
  switch (error.getExtendedErrorCode()) {
    case SQLITE_IOERR_LOCK:
    case SQLITE_IOERR_RDLOCK:
    case SQLITE_IOERR_CHECKRESERVEDLOCK:
    case SQLITE_PERM:
      return true;
    default:
      return wait.refused;
  }
}

struct Header {
  int application_id = 0;
  int version = 0;
  bool empty = true;
};

Header read_header(SQLite::Database& database) {
  Header header;
  // One statement, so that another process sees all of the creation or nothing.
  SQLite::Statement query(database,
                          "SELECT (SELECT count(*) FROM sqlite_schema), "
                          "(SELECT * FROM pragma_application_id), "
                          "(SELECT * FROM pragma_user_version)");
  query.executeStep();
  header.empty = query.getColumn(0).getInt() == 0;
  header.application_id = query.getColumn(1).getInt();
  header.version = query.getColumn(2).getInt();
  return header;
}

void create_if_empty(SQLite::Database& database) {
  SQLite::Transaction transaction(database, SQLite::TransactionBehavior::IMMEDIATE);
  const Header header = read_header(database);
  if (header.empty && header.application_id == 0) create_schema(database);
  transaction.commit();
}

int minimum_reader(SQLite::Database& database) {
  SQLite::Statement query(database, "SELECT value FROM meta WHERE name = 'minimum_reader'");
  return query.executeStep() ? query.getColumn(0).getInt() : kSchemaVersion + 1;
}

void check_header(const std::filesystem::path& path, SQLite::Database& database, Mode mode) {
  const Header header = read_header(database);
  if (header.application_id != kApplicationId) {
    throw StoreError(
        header.empty
            ? format("{}: is empty, there is nothing in it to read; tune something first",
                     path.string())
            : format("{}: is the SQLite database of another program; name a file of its own "
                     "for tuned results",
                     path.string()));
  }
  if (header.version < kSchemaVersion) {
    throw StoreError(format(
        "{0}: has the older schema {1}, which this autotune does not read (it has {2}); write "
        "the facts with the autotune that made it, `autotune db export --db {0} --output "
        "facts.jsonl`, and read them with this one, `autotune db import facts.jsonl`",
        path.string(), header.version, kSchemaVersion));
  }
  if (header.version > kSchemaVersion) {
    const bool readable = minimum_reader(database) <= kSchemaVersion;
    if (mode == Mode::read_write || !readable) {
      throw StoreError(
          format("{}: was written by a newer autotune (schema {}, this one has {}) and "
                 "can{} be written by this one; update autotune or name another file",
                 path.string(), header.version, kSchemaVersion,
                 readable ? " be read but not" : " neither be read nor"));
    }
  }
}

/// SQLite silently opens a file read-only if it may not be written. Report it at once.
void check_writable(const std::filesystem::path& path, SQLite::Database& database) {
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  if (sqlite3_db_readonly(database.getHandle(), "main") != 0 ||
      access(folder.c_str(), W_OK | X_OK) != 0) {
    throw store_error(path, SQLite::Exception("", SQLITE_READONLY));
  }
}

void set_up(const std::filesystem::path& path, SQLite::Database& database, Mode mode) {
  if (mode == Mode::read_write) {
    check_writable(path, database);
    const Header header = read_header(database);
    if (header.empty && header.application_id == 0) create_if_empty(database);
  }
  check_header(path, database, mode);
  if (mode == Mode::read_write) {
    database.exec("PRAGMA journal_mode = DELETE");
    database.exec("PRAGMA synchronous = FULL");
    database.exec("PRAGMA foreign_keys = ON");
  }
}

std::unique_ptr<Connection> open_as(const std::filesystem::path& path, Mode mode,
                                    const std::shared_ptr<LockWait>& wait) {
  SQLite::Database file = open_file(path, mode, *wait);
  const Header header = read_header(file);
  if (header.application_id == kApplicationId && header.version >= kSchemaVersion) {
    expect_own_schema(file, path, header.version);
  }
  auto connection = std::make_unique<Connection>(path, mode, std::move(file), wait);
  set_up(path, connection->database, mode);
  return connection;
}

std::filesystem::path journal_of(const std::filesystem::path& path) {
  return path.string() + "-journal";
}

/// A process that ended while it wrote leaves a half-written file, and the old pages in a journal.
/// Reading restores them, but only with permission to write.
void roll_back(const std::filesystem::path& path, LockWait& wait) {
  try {
    SQLite::Database database = open_with(path.string(), SQLite::OPEN_READWRITE, wait);
    read_header(database);
  } catch (const SQLite::Exception&) {
    throw StoreError(
        format("{}: a process ended while it wrote, and this user may not undo that; run `autotune "
               "db check` once as a user who may write it",
               path.string()));
  }
}

/// `tuned.db: the file system of /home/me (NFS) has no file locks`.
std::string why_no_locks(const std::filesystem::path& path) {
  const std::string_view name = shared_file_system(path);
  return format("{}: the file system of {}{} has no file locks", path.string(),
                std::filesystem::absolute(path).parent_path().string(),
                name.empty() ? "" : format(" ({})", name));
}

void check_path(const std::filesystem::path& path, Mode mode) {
  if (path.extension() == ".lock") {  // programs open each file that is called so as one
    throw StoreError(format(
        "{}: is a lock, which programs open in place of a database, and which `autotune lock "
        "--verify` and `--diff` read; name a database by --db or AUTOTUNE_DB",
        path.string()));
  }
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (std::filesystem::exists(status)) {
    const std::string why = why_unreadable(path, std::numeric_limits<std::uint64_t>::max());
    if (why.empty()) return;
    throw StoreError(format("{}: {}; name a file for tuned results", path.string(), why));
  }
  if (mode != Mode::read_write) {
    const bool missing = !error || error == std::errc::no_such_file_or_directory;
    if (missing) {
      throw StoreError(
          format("{}: there is no such file; tune something first or name another database",
                 path.string()));
    }
    const bool is_denied = error == std::errc::permission_denied;
    throw StoreError(format("{}: cannot be opened: {}; {}name another database", path.string(),
                            error.message(), is_denied ? "change its permissions or " : ""));
  }
  if (!path.has_parent_path()) return;
  std::filesystem::create_directories(path.parent_path(), error);
  if (error) {
    throw StoreError(format("{}: its folder cannot be created: {}; name another file",
                            path.string(), error.message()));
  }
}

/// What happened to the file behind an open database; "" if it is still there.
std::string_view loss_of(const std::filesystem::path& path, const SQLite::Exception& error) {
  if (error.getExtendedErrorCode() == SQLITE_READONLY_DBMOVED) return "removed or replaced";
  std::error_code unknown;
  const bool lacks_tables = error.getErrorCode() == SQLITE_ERROR;
  return lacks_tables && std::filesystem::file_size(path, unknown) == 0 ? "emptied" : "";
}

}  // namespace

std::string clean_text(std::string_view text) {
  std::string clean;
  clean.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const bool valid = length > 0 && text[0] != '\0';
    clean += valid ? text.substr(0, length) : std::string_view("?");
    text.remove_prefix(valid ? length : 1);
  }
  return clean;
}

double clean_number(double number) {
  if (!(number - number == 0)) return 0;
  return number + 0.0;  // SQLite keeps no negative zero
}

void Connection::leave_out(const std::string& table, const std::string& id,
                           const std::string& why) {
  left_out.insert(format("{}: {} {} is left out: {}", path.string(), table, printable(id), why));
}

std::string row_id(std::string_view json) { return hash128(json); }

SQLite::Database copy_of(SQLite::Database& database) {
  SQLite::Database copy(":memory:",
                        SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE | SQLite::OPEN_NOMUTEX);
  const int code = SQLite::Backup(copy, database).executeStep();
  if (code != SQLITE_DONE) throw SQLite::Exception(database.getHandle(), code);
  return copy;
}

StoreError damaged(const std::filesystem::path& path, const std::string& why) {
  return StoreError(
      format("{}: is damaged{}; move it away, then save what can be read with `autotune db import` "
             "from it or restore a backup",
             path.string(), why.empty() ? "" : format(" ({})", why)));
}

StoreError store_error(const std::filesystem::path& path, const SQLite::Exception& error) {
  const int code = error.getErrorCode() & 0xFF;
  const auto sentence = [&](std::string_view what) {
    return StoreError(format("{}: {}", path.string(), what));
  };
  if (const std::string_view loss = loss_of(path, error); !loss.empty()) {
    return sentence(
        format("was {} while it was in use, with what was stored in it; run the same "
               "again, or restore it from a backup",
               loss));
  }
  switch (code) {
    case SQLITE_NOTADB:
      return sentence("is not a database of tuned results; name another file");
    case SQLITE_CORRUPT:
      return damaged(path);
    case SQLITE_ERROR:  // such as a table that is not there
      return damaged(path, error.what());
    case SQLITE_CANTOPEN:
      return sentence(
          "cannot be opened: the file or its folder may not be read or written by this "
          "user; change its permissions or name another file");
    case SQLITE_PERM:
    case SQLITE_READONLY:
      return sentence(
          "cannot be written: the file or its folder is read-only; change its "
          "permissions or name another file");
    case SQLITE_FULL:
      return sentence(
          "no space is left where it lies; what was stored before is kept, free some "
          "space and run the same again");
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return sentence("another process keeps it locked; wait for that one or end it");
    case SQLITE_IOERR:
      return sentence(
          format("cannot be read or written ({}); what was stored before is kept, see "
                 "that its disk is well and not full",
                 error.what()));
    default:
      return sentence(error.what());
  }
}

std::unique_ptr<Connection> open_connection(const std::filesystem::path& path, Mode mode,
                                            WaitUntil wait_until) {
  check_path(path, mode);
  const auto wait = std::make_shared<LockWait>(LockWait{wait_until});
  /// With the promise that nobody writes the file, which needs no locks.
  const auto open_unlocked = [&] {
    auto connection = guarded(path, [&] { return open_as(path, Mode::shipped, wait); });
    connection->mode = mode;
    return connection;
  };
  try {
    return open_as(path, mode, wait);
  } catch (const SQLite::Exception& error) {
    if (lacks_locks(error, *wait)) {
      const std::string why = why_no_locks(path);
      if (mode == Mode::read_write) {
        throw StoreError(why +
                         ", so it cannot be written; keep it on another, such as a local disk");
      }
      auto connection = open_unlocked();
      connection->warning =
          why + ", so it is read without; rows may be missing while it is written";
      return connection;
    }
    const int code = error.getErrorCode() & 0xFF;
    if (mode == Mode::read_only && (code == SQLITE_CANTOPEN || code == SQLITE_READONLY)) {
      if (std::filesystem::exists(journal_of(path))) {
        roll_back(path, *wait);
        return guarded(path, [&] { return open_as(path, mode, wait); });
      }
      return open_unlocked();  // in a read-only folder, a file in WAL mode opens only like this
    }
    throw store_error(path, error);
  }
}

}  // namespace autotune::db
