// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/exported_entries.hpp"

#include <algorithm>
#include <cctype>
#include <set>

#include "tuner/cli/compiled_answers.hpp"
#include "tuner/cli/request.hpp"
#include "tuner/core/error.hpp"
#include "tuner/measure/policy.hpp"
#include "tuner/text/format.hpp"

namespace autotune::cli {
namespace {

/// One entry for each problem and GPU: that of the default policy, else the first.
std::vector<db::TunedEntry> one_for_each_gpu(std::vector<db::TunedEntry> entries) {
  Policy policy;
  for (const CallContext context : {CallContext::chain, default_context(DeviceKind::cuda)}) {
    policy.context = context;  // the last one comes first
    std::stable_partition(entries.begin(), entries.end(), [&](const db::TunedEntry& entry) {
      return entry.best.key.policy == key_text(policy);
    });
  }
  std::set<std::pair<std::string, std::string>> seen;
  std::erase_if(entries, [&](const db::TunedEntry& entry) {
    return !seen.emplace(entry.device.id, entry.best.key.problem).second;
  });
  return entries;
}

void keep_gpus(std::vector<db::TunedEntry>& entries, const std::string& file) {
  const auto others = std::erase_if(
      entries, [](const db::TunedEntry& entry) { return entry.device.compute_capability == 0; });
  if (entries.empty()) throw Error(format("{}: nothing is tuned there on a GPU", file));
  if (others > 0)
    warn_of({format("{} left out: not of a GPU",
                    others == 1 ? "an answer is" : format("{} answers are", others))});
}

}  // namespace

std::vector<db::TunedEntry> exported_entries(const Arguments& arguments, Databases& databases,
                                             AnswerJudge& judge) {
  arguments.text("target");
  const std::string file = database_path(arguments).string();
  std::vector<db::TunedEntry> entries = databases.measured();
  if (entries.empty()) {
    throw Error(format(
        "{}{} is not tuned in {}: tune it, or name one of autotune query --target {}",
        arguments.text("target"), arguments.has("size") ? " of size " + arguments.text("size") : "",
        file, arguments.text("target")));
  }
  keep_current(entries, judge, file);
  keep_gpus(entries, file);
  return one_for_each_gpu(std::move(entries));
}

std::string identifier_of(std::string name) {
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return std::isdigit(static_cast<unsigned char>(name.front())) != 0 ? "_" + name : name;
}

}  // namespace autotune::cli
