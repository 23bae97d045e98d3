// SPDX-License-Identifier: Apache-2.0
// Runs the built binary as a user does: a process with its own home, database and streams.
#pragma once

#include <gtest/gtest.h>
#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/processes.hpp"
#include "tests/support/scratch_folder.hpp"
#include "tuner/json/json.hpp"

namespace autotune::testing {

/// The words of a command. A text is split as by a shell: at spaces, but for those between two ';
/// `@tiny` is the manifest `tiny` of these tests.
struct Words : std::vector<std::string> {
  Words() = default;
  Words(std::initializer_list<std::string> words) : vector(words) {}
  Words(std::vector<std::string> words) : vector(std::move(words)) {}
  Words(const std::string& text);
  Words(const char* text) : Words(std::string(text)) {}
  Words& operator+=(const Words& more) {
    insert(end(), more.begin(), more.end());
    return *this;
  }
  friend Words operator+(Words words, const Words& more) { return words += more; }
};

/// The result of a run of the tool.
struct Ended {
  int status = 0;  // as in a shell: 128 + signal if a signal ended it
  std::string out, err;
};

/// Called in the new process before the tool: sets limits, closes streams.
using Preparation = std::function<void()>;

/// A run of a program, usually the tool. Its destructor kills it and everything that it started.
class Running {
 public:
  /// `words` begin with the program's path.
  Running(const std::filesystem::path& folder, const Words& words,
          const std::map<std::string, std::string>& environment, const Preparation& prepare);
  ~Running();
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  pid_t pid() const { return pid_; }
  bool ended();
  void signal(int number) const;
  /// Waits for its end. A run that takes longer than the limit is killed and has failed.
  Ended wait(double limit_seconds = 240);

 private:
  void note(int wait_status);

  pid_t pid_ = 0;
  std::optional<int> status_;
  std::filesystem::path out_, err_;
};

/// A folder that is removed at the end: working folder, home and database of a new user. Only the
/// cache of compiled kernels is shared by all tests.
class Sandbox {
 public:
  Sandbox();

  const std::filesystem::path& folder() const { return folder_.path(); }
  /// The tool's default database.
  std::filesystem::path database() const { return folder_ / "data/autotune/tuned.db"; }
  std::filesystem::path write(const std::string& name, const std::string& text) const {
    return folder_.write(name, text);
  }
  /// Sets an environment variable for later runs.
  void set(const std::string& name, const std::string& value) { environment_[name] = value; }
  void unset(const std::string& name) { environment_.erase(name); }

  Ended run(const Words& arguments, const Preparation& prepare = {}) const;
  /// What the tool prints. Throws unless its status is 0.
  std::string done(const Words& arguments, const Preparation& prepare = {}) const;
  /// The document that the tool prints with --json.
  Json json(const Words& arguments) const { return Json::parse(done(arguments + "--json")); }
  /// Runs another program, given by its path.
  Ended run_program(const Words& words) const;
  std::unique_ptr<Running> start(const Words& arguments) const;

 private:
  const ScratchFolder folder_;
  std::map<std::string, std::string> environment_;
};

struct InSandbox : ::testing::Test {
  Sandbox sandbox;
};

/// The path of a manifest of these tests: `tiny`.
std::string manifest_of(const std::string& name);
/// Arguments of `autotune tune` for a target of these tests on the host device.
Words tune(const std::string& target, const std::string& sizes, const Words& more = {});

/// Live processes with this name, of one parent or of any.
std::vector<pid_t> processes_called(const std::string& name, std::optional<pid_t> parent = {});

}  // namespace autotune::testing
