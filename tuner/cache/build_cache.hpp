// SPDX-License-Identifier: Apache-2.0
// The build cache: compiled cubins and shared objects on disk, by content address; the interface of
// what runs compilers.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace autotune {

struct CompiledKernel;

/// The compiler's result for one key.
struct Build {
  std::shared_ptr<const std::string> binary;  // null if the compiler refused the source
  std::string log;                            // the compiler's output
  bool keep = true;     // false: do not store, another attempt may end differently
  bool cached = false;  // set by BuildCache: found, not compiled
  bool late = false;    // the compiler ran out of time
  /// Files that the compiler read; nullopt if it does not list them.
  std::optional<std::vector<std::filesystem::path>> read = {};
};

/// A folder of builds with mode 0700, shared by any number of threads and processes. Files are
/// written under another name and then renamed. Each has its own hash, and may be deleted at any
/// time. A folder of root or the user is read if nobody else may write to it. If nothing can be
/// stored or read, everything else works, and warning() has the reason.
class BuildCache {
 public:
  /// $AUTOTUNE_CACHE, else $XDG_CACHE_HOME/autotune, else $HOME/.cache/autotune. Empty if none of
  /// them is set.
  static std::filesystem::path default_folder();

  static constexpr std::int64_t kMostBytes = std::int64_t{2} << 30;

  /// An empty folder means memory only. Above `most_bytes`, builds unused for longest are deleted.
  explicit BuildCache(std::filesystem::path folder, std::int64_t most_bytes = kMostBytes);
  BuildCache(const BuildCache&) = delete;
  BuildCache& operator=(const BuildCache&) = delete;

  /// The build under `key` (hexadecimal digits), made by `make` if there is none. Threads that ask
  /// for one key at the same time make it once. An exception of `make` reaches all of them. A
  /// binary that is in use is found without the folder.
  Build find_or_make(const std::string& key, const std::function<Build()>& make);
  /// The same as a kernel, whose resources are not known yet.
  CompiledKernel compiled(const std::string& key, const std::function<Build()>& make);

  /// The build under `key` if it is on disk and whole.
  std::optional<Build> find(const std::string& key);

  /// Whether there is a file under `key`, valid or not. Does not read it.
  bool contains(const std::string& key) const;

  /// One sentence if nothing is stored, which may be read all the same; else empty.
  std::string warning() const;
  const std::filesystem::path& folder() const { return folder_; }

 private:
  void store(const std::string& key, const Build& build);
  void evict_down_to(std::int64_t bytes);
  enum class Use : std::uint8_t { nothing, reading, storing };
  void keep_in_memory(const std::string& key, const Build& build);
  std::optional<Build> find_in_memory(const std::string& key) const;
  /// From now on, the folder is used like this.
  void restrict_to(Use use, const std::string& why);
  bool may(Use use) const;

  const std::filesystem::path folder_;
  const std::int64_t most_bytes_;
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_future<Build>> in_flight_;
  struct InUse {
    std::weak_ptr<const std::string> binary;
    std::string log;
  };
  std::map<std::string, InUse> in_use_;
  std::int64_t stored_bytes_ = -1;  // on disk, as last counted; -1 before the first count
  Use use_ = Use::storing;
  std::string warning_;
};

// One build as a file: a header line with key, hash and sizes, the log, the binary. The file's name
// is its key.

/// nullopt if there is no such file, if it is damaged, or if it was made under another key.
std::optional<Build> read_build(const std::filesystem::path& path);

/// As write_private_file(). Returns its bytes, or -1 with errno set.
std::int64_t write_build(const std::filesystem::path& path, const Build& build);

/// Whether the file begins as builds of any version do.
bool is_build(const std::filesystem::path& path);

// Runs compilers, in this process or in others that can be killed.

/// One source for one compiler. With a folder, `program` is run in it as it is, with `options`; it
/// writes a program to the file that takes the place of `{program}` in them.
struct CompileTask {
  std::string program;  // the path of a C++ compiler; empty: NVRTC
  std::string name;     // of the source, in messages
  std::string source;
  std::vector<std::string> options;
  std::vector<std::string> kernels = {};      // of NVRTC: those whose names and types it gives
  std::vector<std::string> cooperative = {};  // of these: those that may wait for the whole grid
  std::filesystem::path folder = {};
};

class CompilerRunner {
 public:
  virtual ~CompilerRunner() = default;

  /// Thread-safe. A refused source gives a Build without binary; its log has the reason. Throws
  /// NotCompiled if the machine is to blame, Error if nothing can be compiled at all.
  virtual Build run(const CompileTask& task) = 0;

  /// Ends running compilers; from then on run() throws NotCompiled.
  virtual void stop() {}
};

}  // namespace autotune
