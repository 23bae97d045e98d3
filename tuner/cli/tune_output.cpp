// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/tune_output.hpp"

#include <algorithm>
#include <iostream>
#include <utility>

#include "tuner/cli/interrupt.hpp"
#include "tuner/cli/tune_request.hpp"
#include "tuner/cli/tuning_report.hpp"
#include "tuner/cli/verb.hpp"

namespace autotune::cli {
namespace {

int status_of(const TuningReport& report) {
  if (report.interrupted) return kInterrupted;
  const bool all = std::ranges::all_of(report.problems, [](const ProblemReport& one) {
    return one.decision.best.has_value() || one.out_of_time;
  });
  return all ? kDone : kNoCorrectConfiguration;
}

}  // namespace

TuneOutput::TuneOutput(const Arguments& arguments, const Target& target,
                       const TuningRequest& request, std::filesystem::path database)
    : target_(target),
      database_(std::move(database)),
      json_(arguments.has("json")),
      display_(arguments.has("quiet"), request.budget, request.started) {}

void TuneOutput::show(const DeviceInfo& device, const ProblemReport& report) {
  display_.problem_done(target_, report);
  if (!json_) std::cout << text_of(target_, device, report) << std::flush;
}

void TuneOutput::warn_of(const std::string& sentence) {
  if (!sentence.empty()) display_.warn(sentence);
}

int TuneOutput::end(const std::vector<DeviceReport>& reports) {
  Json documents = Json::array();
  int status = kDone;
  for (const auto& [device, report] : reports) {
    documents.push_back(json_of(target_, device, database_.string(), report));
    status = std::max(status, status_of(report));
  }
  if (json_) std::cout << json_text(documents.size() == 1 ? documents[0] : documents) << '\n';
  if (status == kInterrupted) {
    display_.warn("interrupted: every trial is kept; the same command continues from here");
  }
  return status;
}

}  // namespace autotune::cli
