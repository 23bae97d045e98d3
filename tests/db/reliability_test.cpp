// SPDX-License-Identifier: Apache-2.0
// What happens to the database when processes die, disks fill up and files are not what they seem.
// AUTOTUNE_KILLS sets how many writers are killed (default 40).
#include <SQLiteCpp/Database.h>
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <cerrno>
#include <chrono>
#include <cstdarg>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <random>
#include <set>
#include <thread>

#include "db/connection.hpp"
#include "tests/db/lookup_request.hpp"
#include "tests/support/matchers.hpp"

namespace autotune::db {
namespace {

/// Runs `work` in a child process, which ends with its result and no clean-up.
pid_t in_child(const std::function<int()>& work) {
  const pid_t pid = fork();
  if (pid == 0) {
    int status = 99;
    try {
      status = work();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "child: %s\n", error.what());
    }
    _exit(status);
  }
  return pid;
}

int status_of(pid_t pid) {
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

constexpr std::filesystem::perms kReadOnlyFolder{0555};

int kills() {
  const char* text = std::getenv("AUTOTUNE_KILLS");
  return text ? std::atoi(text) : 40;
}

/// While it lives, the file system has no file locks: asking for one gives this error.
class NoLocks {
 public:
  explicit NoLocks(int error) {
    refusal_ = error;
    vfs()->xSetSystemCall(vfs(), "fcntl", reinterpret_cast<sqlite3_syscall_ptr>(refusing));
  }
  ~NoLocks() { vfs()->xSetSystemCall(vfs(), "fcntl", nullptr); }
  NoLocks(const NoLocks&) = delete;
  NoLocks& operator=(const NoLocks&) = delete;

 private:
  static sqlite3_vfs* vfs() { return sqlite3_vfs_find(nullptr); }
  static int refusing(int file, int command, ...) {
    std::va_list arguments;
    va_start(arguments, command);
    void* const argument = va_arg(arguments, void*);
    va_end(arguments);
    const bool is_lock = command == F_SETLK || command == F_SETLKW || command == F_GETLK;
    if (!is_lock) return fcntl(file, command, argument);
    errno = refusal_;
    return -1;
  }
  static inline int refusal_ = 0;
};

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

class Reliability : public testing::Test {
 protected:
  const TemporaryFolder folder_;
  const std::filesystem::path path_ = folder_ / "t.db";
};

TEST_F(Reliability, WithoutFileLocksAReaderOpensAtOnceAndAWriterSaysWhy) {
  decide(path_, "BM=1", 1000);
  for (const int error : {ENOLCK, ENOSYS, EOPNOTSUPP, EPERM}) {
    const NoLocks none(error);
    EXPECT_LT(seconds_of([&] {
                const TunedStore store(path_, Mode::read_only);
                EXPECT_EQ(store.tuned({}).size(), 1u);
                EXPECT_EQ(store.mode(), Mode::read_only);
                EXPECT_THAT(store.warning(),
                            HasSubstr(" has no file locks, so it is read without"));
                EXPECT_THAT(store.warning(), HasSubstr(path_.parent_path().string()));
              }),
              2)
        << error;
    EXPECT_REFUSAL(StoreError, TunedStore store(path_),
                   " has no file locks, so it cannot be written");
    const std::vector<Layer> layers{{path_}};
    const LookupRows read = read_lookup_rows(layers, request());
    EXPECT_EQ(read.rows.size(), 1u);
    EXPECT_EQ(read.warnings.size(), 1u);
  }
  EXPECT_EQ(TunedStore(path_, Mode::read_only).warning(), "");
}

TEST_F(Reliability, ReadsOfLockedDatabasesWaitNoLongerThanAskedFor) {
  { const Sample sample(*std::make_unique<TunedStore>(path_)); }
  SQLite::Database other(path_.string(), SQLite::OPEN_READWRITE);
  other.exec("BEGIN EXCLUSIVE");
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(200);
  const Layer layer{path_, Mode::read_only, false, until};
  const std::vector<Layer> layers{layer, layer, layer};
  LookupRows read;
  const double seconds = seconds_of([&] { read = read_lookup_rows(layers, request()); });
  EXPECT_GE(seconds, 0.15);
  EXPECT_LT(seconds, 2);
  EXPECT_THAT(read.layers, testing::Each(LayerState::unreadable));
  EXPECT_THAT(read.warnings, testing::Each(HasSubstr("t.db: another process keeps it locked")));
}

TEST_F(Reliability, AKilledWriterLosesNothingThatItWasToldIsStored) {
  std::mt19937 random(1);
  std::set<std::string> acknowledged;
  for (int kill_number = 0; kill_number < kills(); ++kill_number) {
    int pipe_ends[2];
    ASSERT_EQ(pipe(pipe_ends), 0);
    const pid_t pid = in_child([&]() -> int {
      TunedStore store(path_);
      const Sample sample(store);
      for (int i = 0;; ++i) {
        const std::string configuration = format("BM={}-{}", kill_number, i);
        store.append(std::vector{sample.trial(configuration, 1000 + i)});
        const std::string line = configuration + "\n";
        if (write(pipe_ends[1], line.data(), line.size()) < 0) return 1;
      }
    });
    close(pipe_ends[1]);
    // After a few answers, or before the first, at any moment of the next.
    std::string text;
    char buffer[4096];
    const auto receive = [&] {
      const ssize_t got = read(pipe_ends[0], buffer, sizeof buffer);
      if (got > 0) text.append(buffer, static_cast<std::size_t>(got));
      return got > 0;
    };
    for (unsigned left = random() % 4; left > 0; --left) receive();
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 3000));
    kill(pid, SIGKILL);
    EXPECT_EQ(status_of(pid), -SIGKILL);
    while (receive()) {
    }
    close(pipe_ends[0]);
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) acknowledged.insert(line);
  }
  TunedStore store(path_);
  const Sample sample(store);
  EXPECT_THAT(store.check().damage, IsEmpty());
  std::set<std::string> stored;
  for (const TrialRow& trial : store.trials(sample.key)) stored.insert(trial.configuration);
  EXPECT_GT(acknowledged.size(), 0u);
  for (const std::string& configuration : acknowledged) {
    EXPECT_TRUE(stored.contains(configuration)) << configuration;
  }
}

TEST_F(Reliability, AFileThatIsTakenAwayWhileItIsOpenIsSaidToBe) {
  const auto failure_after = [&](const std::function<void()>& harm) {
    std::filesystem::remove(path_);
    TunedStore store(path_);
    const Sample sample(store);
    harm();
    return thrown_by([&] { store.append(std::vector{sample.trial("BM=1", 1000)}); });
  };
  EXPECT_THAT(failure_after([&] { std::filesystem::remove(path_); }),
              HasSubstr("was removed or replaced while it was in use"));
  EXPECT_THAT(failure_after([&] {
                const TunedStore other(folder_ / "other.db");
                std::filesystem::rename(folder_ / "other.db", path_);
              }),
              HasSubstr("was removed or replaced while it was in use"));
  EXPECT_THAT(failure_after([&] { std::filesystem::resize_file(path_, 0); }),
              HasSubstr("was emptied while it was in use"));
}

TEST_F(Reliability, EightWritersAtOnceStoreEverything) {
  std::vector<pid_t> writers;
  for (int writer = 0; writer < 8; ++writer) {
    writers.push_back(in_child([&] {
      TunedStore store(path_);
      const Sample sample(store);
      for (int i = 0; i < 25; ++i) {
        store.append(std::vector{sample.trial(format("BM={}-{}", writer, i), 1000 + i)});
      }
      return 0;
    }));
  }
  for (const pid_t pid : writers) EXPECT_EQ(status_of(pid), 0);
  TunedStore store(path_);
  EXPECT_EQ(store.trials(Sample(store).key).size(), 200u);
  EXPECT_THAT(store.check().damage, IsEmpty());
}

TEST_F(Reliability, SixteenProcessesCreateOneDatabase) {
  for (int round = 0; round < 3; ++round) {
    const TemporaryFolder folder;
    const auto path = folder / "deep/er/t.db";
    std::vector<pid_t> creators;
    for (int i = 0; i < 16; ++i) {
      creators.push_back(in_child([&] {
        TunedStore store(path);
        const Sample sample(store);
        return 0;
      }));
    }
    for (const pid_t pid : creators) EXPECT_EQ(status_of(pid), 0);
    TunedStore store(path);
    EXPECT_EQ(store.devices().size(), 1u);
    EXPECT_THAT(store.check().damage, IsEmpty());
  }
}

TEST_F(Reliability, AFullDiskIsOneSentenceAndLosesNothing) {
  const pid_t pid = in_child([&] {
    TunedStore store(path_);
    const Sample sample(store);
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{200'000, 200'000};
    setrlimit(RLIMIT_FSIZE, &limit);
    int stored = 0;
    try {
      for (; stored < 10'000; ++stored) {
        store.append(std::vector{sample.trial(format("BM={}", stored), 1000)});
      }
    } catch (const StoreError& error) {
      std::ofstream(folder_ / "said") << stored << ' ' << error.what();
      // It still reads.
      return store.trials(sample.key).size() == static_cast<std::size_t>(stored) ? 0 : 2;
    }
    return 1;
  });
  ASSERT_EQ(status_of(pid), 0);
  std::ifstream said(folder_ / "said");
  std::size_t stored = 0;
  said >> stored;
  std::string message;
  std::getline(said, message);
  EXPECT_THAT(message, HasSubstr("what was stored before is kept"));
  TunedStore store(path_);
  EXPECT_EQ(store.trials(Sample(store).key).size(), stored);
  EXPECT_THAT(store.check().damage, IsEmpty());
}

/// Runs `work` as a user who may not do everything, and gives what it threw.
std::string message_as_nobody(const TemporaryFolder& folder, const std::function<void()>& work) {
  const auto said = folder / "said";
  std::ofstream(said).close();
  std::filesystem::permissions(said, std::filesystem::perms::all);
  const pid_t pid = in_child([&] {
    if (geteuid() == 0 && setuid(65534) != 0) return 1;
    std::ofstream(said) << thrown_by(work);
    return 0;
  });
  EXPECT_EQ(status_of(pid), 0);
  return file_bytes(said);
}

TEST_F(Reliability, FilesAndFoldersThatMayNotBeWrittenAreSaidAtOnceAndCanBeRead) {
  namespace fs = std::filesystem;
  fs::permissions(folder_ / "", fs::perms::all);
  fs::create_directory(folder_ / "locked");
  const auto path = folder_ / "locked/t.db";
  { Sample sample = Sample(*std::make_unique<TunedStore>(path)); }
  fs::permissions(path, fs::perms::owner_read | fs::perms::group_read | fs::perms::others_read);
  fs::permissions(folder_ / "locked", fs::perms::all);
  EXPECT_THAT(message_as_nobody(folder_, [&] { TunedStore store(path); }),
              HasSubstr("t.db: cannot be written: the file or its folder is read-only"));
  fs::permissions(path, fs::perms::all);
  fs::permissions(folder_ / "locked", kReadOnlyFolder);
  EXPECT_THAT(message_as_nobody(folder_, [&] { TunedStore store(path); }),
              HasSubstr("t.db: cannot be written: the file or its folder is read-only"));
  EXPECT_THAT(message_as_nobody(folder_, [&] { TunedStore store(folder_ / "locked/new/t.db"); }),
              HasSubstr("its folder cannot be created: Permission denied"));
  EXPECT_EQ(message_as_nobody(folder_, [&] { TunedStore(path, Mode::read_only).devices().at(0); }),
            "nothing was thrown");
  fs::permissions(path, fs::perms::owner_read);
  fs::permissions(folder_ / "locked", fs::perms::all);
  if (geteuid() == 0) {
    EXPECT_THAT(message_as_nobody(folder_, [&] { TunedStore store(path, Mode::read_only); }),
                HasSubstr("t.db: cannot be opened"));
  }
  fs::create_symlink("loop.db", folder_ / "loop.db");
  EXPECT_THAT(
      message_as_nobody(folder_, [&] { TunedStore(folder_ / "loop.db", Mode::read_only); }),
      HasSubstr("loop.db: cannot be opened: Too many levels of symbolic links; name another"));
}

TEST_F(Reliability, AFileLeftHalfWrittenIsReadAsItWasBefore) {
  const auto path = folder_ / "t.db", left = folder_ / "left.db";
  {
    TunedStore store(path);
    const Sample sample(store);
    store.append(std::vector{sample.trial("BM=1", 1000)});
  }
  {
    // Pages go to the file before the commit; a copy is what a crash leaves.
    SQLite::Database database(path.string(), SQLite::OPEN_READWRITE);
    database.exec("PRAGMA cache_size = 1");
    database.exec("BEGIN IMMEDIATE");
    database.exec("UPDATE trial SET message = hex(randomblob(20000))");
    for (int i = 0; i < 20; ++i) {
      database.exec(format("INSERT INTO meta VALUES ('x{}', hex(randomblob(4000)))", i));
    }
    for (const char* end : {"", "-journal"}) {
      std::filesystem::copy_file(path.string() + end, left.string() + end);
    }
  }
  ASSERT_GT(std::filesystem::file_size(left.string() + "-journal"), 512u);
  if (geteuid() != 0) {
    std::filesystem::permissions(left, std::filesystem::perms::owner_read);
    EXPECT_THROW(TunedStore(left, Mode::read_only), StoreError);
    std::filesystem::permissions(left, std::filesystem::perms::owner_all);
  }
  const TunedStore store(left, Mode::read_only);
  EXPECT_THAT(store.check().damage, IsEmpty());
  EXPECT_FALSE(std::filesystem::exists(left.string() + "-journal"));
}

TEST_F(Reliability, AShippedFileInWalModeOpensInAReadOnlyFolder) {
  namespace fs = std::filesystem;
  fs::permissions(folder_ / "", fs::perms::all);
  fs::create_directory(folder_ / "shipped");
  const auto path = folder_ / "shipped/a b?#%.db";
  { Sample sample = Sample(*std::make_unique<TunedStore>(path)); }
  execute(path, "PRAGMA journal_mode = WAL");
  fs::permissions(folder_ / "shipped", kReadOnlyFolder);
  for (const Mode mode : {Mode::shipped, Mode::read_only}) {
    EXPECT_EQ(message_as_nobody(folder_, [&] { TunedStore(path, mode).devices().at(0); }),
              "nothing was thrown");
  }
  fs::permissions(folder_ / "shipped", fs::perms::all);
}

TEST_F(Reliability, WhatIsNoDatabaseOfOursIsRefusedInOneSentenceAndLeftAlone) {
  std::ofstream(folder_ / "text.db") << std::string(5000, 'x');
  SQLite::Database((folder_ / "foreign.db").string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE)
      .exec("CREATE TABLE songs (title TEXT)");
  std::ofstream(folder_ / "empty.db").close();
  for (const Mode mode : {Mode::read_write, Mode::read_only, Mode::shipped}) {
    EXPECT_REFUSAL(StoreError, TunedStore store(folder_ / "text.db", mode),
                   "text.db: is not a database");
    EXPECT_REFUSAL(StoreError, TunedStore store(folder_ / "foreign.db", mode),
                   "is the SQLite database of another program");
    EXPECT_REFUSAL(StoreError, TunedStore store(folder_ / "", mode), "is a folder");
    EXPECT_REFUSAL(StoreError, TunedStore store(folder_ / "app.lock", mode),
                   "app.lock: is a lock, which programs open in place of a database");
  }
  EXPECT_REFUSAL(StoreError, TunedStore store(folder_ / "none.db", Mode::read_only),
                 "none.db: there is no such file; tune something first");
  EXPECT_REFUSAL(StoreError, TunedStore store(folder_ / "empty.db", Mode::read_only),
                 "empty.db: is empty");
  EXPECT_EQ(std::filesystem::file_size(folder_ / "text.db"), 5000u);
}

TEST_F(Reliability, EveryFlippedBitOfARowIsFoundAndNoneCrashes) {
  {
    TunedStore store(path_);
    const Sample sample(store);
    for (int i = 0; i < 40; ++i) {
      store.append(std::vector{sample.trial(format("BM={}", i), 1000 + i)});
    }
    store.add_decision(sample.decision("BM=3", 900));
  }
  const std::string good = file_bytes(path_), facts = facts_of(TunedStore(path_));
  std::mt19937 random(3);
  for (int i = 0; i < 150; ++i) {
    std::string bad = good;
    bad[random() % bad.size()] ^= static_cast<char>(1 << random() % 8);
    const auto bad_path = folder_ / "bad.db";
    std::ofstream(bad_path, std::ios::binary) << bad;
    bool noticed = false;
    std::string exported;
    try {
      const TunedStore store(bad_path, Mode::read_only);
      noticed = !store.check().damage.empty();
      for (const TunedEntry& entry : store.tuned({})) store.trials(entry.best.key);
      exported = facts_of(store);
    } catch (const StoreError&) {
      continue;
    }
    // A flip in unused space changes nothing; any other is noticed.
    EXPECT_TRUE(noticed || exported == facts) << "flip " << i;
    TunedStore rescued(folder_ / "rescued.db");
    merge(rescued, TunedStore(bad_path, Mode::read_only));
  }
  EXPECT_EQ(facts_of(TunedStore(folder_ / "rescued.db")), facts);
}

}  // namespace
}  // namespace autotune::db
