// SPDX-License-Identifier: Apache-2.0
// Databases in which BM=64 was the fastest answer for 512 once, and is no answer now. Every reader
// is asked for the same: it never gives BM=64.
#pragma once

#include <SQLiteCpp/Database.h>

#include <functional>
#include <vector>

#include "db/past_times.hpp"
#include "tests/db/sample.hpp"

namespace autotune::db {

inline const std::string kNoAnswer = "BM=64";

struct HostileDatabase {
  const char* name;
  std::function<void(TunedStore& store, const Sample& sample)> fill;
  std::string damage = {};       // SQL that follows
  std::string answer = "BM=32";  // for 512; empty if none is left
};

inline std::string at_second(int second) { return format("2026-03-01T12:00:{:02}.000Z", second); }

/// Fills a new database at `path`.
inline void make(const HostileDatabase& hostile, const std::filesystem::path& path) {
  {
    TunedStore store(path);
    const Sample sample(store);
    store.add_decision(sample.decision("BM=32", 2000, at_second(1)));
    TrialRow good = sample.trial("BM=32", 2010);
    good.created_at = at_second(1);
    store.append({&good, 1});
    hostile.fill(store, sample);
  }
  if (hostile.damage.empty()) return;
  execute(path, hostile.damage);
}

/// BM=64 was right at second 2, as a trial and as a decision.
inline void win(TunedStore& store, const Sample& sample) {
  TrialRow trial = sample.trial(kNoAnswer, 1010);
  trial.created_at = at_second(2);
  store.append({&trial, 1});
  store.add_decision(sample.decision(kNoAnswer, 1000, at_second(2)));
}

inline void fail(TunedStore& store, const Sample& sample, const char* outcome, int second,
                 const std::string& policy = "") {
  TrialRow trial = sample.failure(kNoAnswer, outcome);
  trial.created_at = at_second(second);
  if (!policy.empty()) trial.key.policy = policy;
  store.append({&trial, 1});
}

inline void pin(TunedStore& store, const Sample& sample, const std::string& note, int second) {
  store.pin({"", sample.key, kNoAnswer, note, at_second(second)});
}

inline std::vector<HostileDatabase> hostile_databases() {
  const std::string cold = "l2=cold launch=graph";
  std::vector<HostileDatabase> all;
  for (const char* const outcome : {"wrong", "crash", "nondeterministic", "timeout", "launch_error",
                                    "compile_error", "invalid"}) {
    all.push_back({outcome, [=](TunedStore& store, const Sample& sample) {
                     win(store, sample);
                     fail(store, sample, outcome, 3);
                   }});
  }
  all.push_back({"the failure is stored first", [](TunedStore& store, const Sample& sample) {
                   fail(store, sample, "wrong", 3);
                   win(store, sample);
                 }});
  all.push_back({"failed under another policy", [=](TunedStore& store, const Sample& sample) {
                   win(store, sample);
                   fail(store, sample, "wrong", 3, cold);
                 }});
  all.push_back(
      {"failed under another policy, stored first", [=](TunedStore& store, const Sample& sample) {
         fail(store, sample, "wrong", 3, cold);
         win(store, sample);
       }});
  all.push_back({"failed in the playoff", [](TunedStore& store, const Sample& sample) {
                   win(store, sample);
                   TrialRow trial = sample.failure(kNoAnswer, "crash");
                   trial.created_at = at_second(3);
                   trial.stage = "playoff";
                   store.append({&trial, 1});
                 }});
  all.push_back({"pinned, then it failed", [](TunedStore& store, const Sample& sample) {
                   win(store, sample);
                   pin(store, sample, "by hand", 3);
                   fail(store, sample, "wrong", 4);
                 }});
  all.push_back({"it failed, then it was pinned", [=](TunedStore& store, const Sample& sample) {
                   fail(store, sample, "wrong", 2, cold);
                   pin(store, sample, "by hand", 3);
                 }});
  all.push_back({"pinned by a cover", [=](TunedStore& store, const Sample& sample) {
                   win(store, sample);
                   pin(store, sample, std::string(kCoverNote) + "256..1024", 3);
                   fail(store, sample, "wrong", 4, cold);
                 }});
  all.push_back({"the default configuration failed", [](TunedStore& store, const Sample& sample) {
                   DecisionRow decision = sample.decision("BM=32", 2000, at_second(2));
                   decision.default_configuration = kNoAnswer;
                   decision.ties = "BM=48\n" + kNoAnswer + '\n';
                   store.add_decision(decision);
                   fail(store, sample, "wrong", 3);
                 }});
  all.push_back({"retracted", [](TunedStore& store, const Sample& sample) {
                   win(store, sample);
                   const std::string decision = store.best(sample.key)->source;
                   for (const TrialRow& trial : store.trials(sample.key)) {
                     if (trial.configuration == kNoAnswer)
                       store.retract(trial.id, "a busy machine");
                   }
                   store.retract(decision, "a busy machine");
                 }});
  all.push_back({"a damaged trial",
                 [](TunedStore& store, const Sample& sample) {
                   TrialRow trial = sample.trial("BM=48", 2500);
                   trial.created_at = at_second(2);
                   store.append({&trial, 1});
                 },
                 "UPDATE trial SET configuration = 'BM=64', median_ns = 1 WHERE median_ns = 2500"});
  all.push_back({"a damaged answer", [](TunedStore&, const Sample&) {},
                 "UPDATE best SET configuration = 'BM=64', median_ns = 1", ""});
  return all;
}

}  // namespace autotune::db
