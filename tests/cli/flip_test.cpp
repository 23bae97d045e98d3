// SPDX-License-Identifier: Apache-2.0
// One bit of a tuned database turns over, then every verb that reads a database is run:
// $AUTOTUNE_TEST_FLIPS times, with the seed $AUTOTUNE_TEST_SEED. scripts/flip_bits does it 1000
// times.
#include <gmock/gmock.h>

#include <random>

#include "tests/cli/undamaged.hpp"
#include "tests/support/how_often.hpp"
#include "tuner/text/format.hpp"

namespace autotune::testing {
namespace {

namespace fs = std::filesystem;

const char* const kWhole = "whole.db";
const char* const kFlipped = "flipped.db";  // for those that read
const char* const kWritten = "written.db";  // a copy, for those that write
const char* const kNew = "new.db";

class Flips : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string target = manifest_of("tiny");
    done(tune("tiny", "64,96,256", {"--budget", "100%", "--quiet", "--db", kWhole}));
    done({"db", "pin", "--db", kWhole, "--target", target, "--size", "96", "--config",
          "BLOCK=16 STEP=4"});
    done(tune("tiny", "256", {"--budget", "3", "--retune", "--quiet", "--db", kWhole}));
    const Ended query =
        sandbox_.run({"query", "--db", kWhole, "--json", "--target", target, "--size", "256"});
    done({"db", "retract", Json::parse(query.out)["results"][0]["fact"], "--reason", "a test",
          "--db", kWhole});
    bytes_ = file_bytes(sandbox_.folder() / kWhole);
    undamaged_.emplace(sandbox_, kWhole);
  }

  void done(const std::vector<std::string>& words) const {
    const Ended ended = sandbox_.run(words);
    ASSERT_EQ(ended.status, 0) << ended.err;
  }

  void write(const char* name, const std::string& bytes) const {
    for (const char* end : {"-journal", "-wal", "-shm", ""}) {
      fs::remove(sandbox_.folder() / (std::string(name) + end));
    }
    if (!bytes.empty()) sandbox_.write(name, bytes);
  }

  /// A documented end, and neither a signal nor a lack of time.
  static Ended judged(Ended ended) {
    EXPECT_THAT(ended.status, ::testing::AnyOf(0, 1, 3)) << ended.out << ended.err;
    return ended;
  }

  Ended run(std::vector<std::string> words, const char* database) const {
    words.insert(words.end(), {"--db", database});
    const ::testing::ScopedTrace trace(__FILE__, __LINE__, words[0] + ' ' + words[1]);
    return judged(sandbox_.run(words));
  }

  Ended look_up(const char* database) const {
    return judged(sandbox_.run_program({AUTOTUNE_BINARY_DIR "/tests/lookup_answers", database,
                                        manifest_of("tiny"), "64", "96", "256"}));
  }

  /// What the database said before.
  const Ended& before(const std::vector<std::string>& words) {
    const auto [found, is_new] = before_.try_emplace(words);
    if (is_new) found->second = run(words, kWhole);
    return found->second;
  }

  void read_all();
  void derive_anew() const;
  void write_all() const;

  Sandbox sandbox_;
  std::map<std::vector<std::string>, Ended> before_;
  std::string bytes_;
  std::optional<Undamaged> undamaged_;
};

void Flips::read_all() {
  const std::string target = manifest_of("tiny");
  const Undamaged& truth = *undamaged_;
  run({"query"}, kFlipped);
  EXPECT_EQ(truth.fault_of_all_answers(run({"query", "--json"}, kFlipped)), "");
  for (const char* size : {"64", "100"}) {
    const std::vector<std::string> words{"query", "--json", "--target", target, "--size", size};
    EXPECT_EQ(truth.fault_of_answers(run(words, kFlipped)), "");
  }
  static const std::vector<std::vector<std::string>> kExports{{"db", "export"},
                                                              {"db", "export", "--format", "cpp"}};
  for (const auto& words : kExports) {
    EXPECT_EQ(Undamaged::fault_of_lines(run(words, kFlipped), before(words)), "");
  }
  const std::vector<std::string> explain{"explain", "--target", target, "--size", "64"};
  EXPECT_EQ(Undamaged::fault_of_report(run(explain, kFlipped), before(explain)), "");
  static const Ended kFound = look_up(kWhole);
  EXPECT_EQ(Undamaged::fault_of_lines(look_up(kFlipped), kFound), "");
  run({"db", "check"}, kFlipped);
}

/// Answers that follow from the facts that are left.
void Flips::derive_anew() const {
  const std::string flipped = file_bytes(sandbox_.folder() / kFlipped);
  const auto answers = [&](const char* database) {
    return undamaged_->fault_of_derived(run({"query", "--json"}, database));
  };
  write(kWritten, flipped);
  run({"db", "compact"}, kWritten);
  EXPECT_EQ(answers(kWritten), "") << "after db compact";
  write(kNew, "");
  run({"db", "import", kFlipped}, kNew);
  EXPECT_EQ(answers(kNew), "") << "after db import";
  write(kNew, "");
  run({"db", "export", "--format", "sqlite", "--output", kNew}, kFlipped);
  if (fs::exists(sandbox_.folder() / kNew)) {
    EXPECT_EQ(answers(kNew), "") << "after db export";
  }
}

void Flips::write_all() const {
  write(kWritten, file_bytes(sandbox_.folder() / kFlipped));
  const std::string target = manifest_of("tiny");
  const std::string fact = undamaged_->facts().begin()->first;
  run({"db", "pin", "--target", target, "--size", "64", "--config", "BLOCK=1 STEP=64"}, kWritten);
  run({"db", "unpin", "--target", target, "--size", "64"}, kWritten);
  run({"db", "retract", fact, "--reason", "a test"}, kWritten);
  run({"db", "merge", kWhole}, kWritten);
}

TEST_F(Flips, ADamagedDatabaseServesNothingThatWasNotStored) {
  const int seed = how_often("AUTOTUNE_TEST_SEED", 1, 1);
  const int flips = how_often("AUTOTUNE_TEST_FLIPS", 5, 3);
  std::mt19937 random(static_cast<unsigned>(seed));
  for (int flip = 0; flip < flips; ++flip) {
    const std::size_t byte = random() % bytes_.size(), bit = random() % 8;
    SCOPED_TRACE(format("flip {} of seed {}: bit {} of byte {}", flip, seed, bit, byte));
    std::string flipped = bytes_;
    flipped[byte] ^= static_cast<char>(1 << bit);
    write(kFlipped, flipped);
    read_all();
    derive_anew();
    write_all();
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace autotune::testing
