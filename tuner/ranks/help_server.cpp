// SPDX-License-Identifier: Apache-2.0
#include "tuner/ranks/help_server.hpp"

#include <string>

#include "tuner/worker/wire_value.hpp"

namespace autotune {

void HelpServer::take(int from, const Message& message) {
  const std::string what = WireValue(message.header.at("say"));
  if (what == say::kHelpBegin) return begin(from, message);
  if (what == say::kHelpEnd) return end(WireValue(message.header.at("owner")));
  // One that was lost may be back, while this rank helps another.
  if (!help_ || help_->owner != from) return post_(from, packed({{"say", say::kHelpGone}}));
  if (what == say::kHelpMeasure) return measure(message);
  if (what == say::kHelpCompare) {
    help_->helper.compare_with(WireValue(message.header.at("seconds")));
  }
}

void HelpServer::begin(int owner, const Message& message) {
  const std::size_t number = WireValue(message.header.at("number"));
  help_.emplace(owner, job_, job_.request().problems.at(number));
  const double seconds = help_->helper.time_default(loadable_in(message));
  post_(owner, packed({{"say", say::kHelpTime}, {"seconds", seconds}}));
}

void HelpServer::measure(const Message& message) {
  Trial trial;
  help_->helper.measure(trial, loadable_in(message), WireValue(message.header.at("best_seconds")));
  post_(help_->owner, help_trial(trial));
}

void HelpServer::end(int owner) {
  if (help_ && help_->owner == owner) help_.reset();
  post_(0, packed(wire_of(Free{owner, job_.device().busy_seconds()})));
}

}  // namespace autotune
