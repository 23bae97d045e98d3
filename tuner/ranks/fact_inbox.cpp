// SPDX-License-Identifier: Apache-2.0
#include "tuner/ranks/fact_inbox.hpp"

#include <sstream>
#include <utility>

#include "db/exchange.hpp"

namespace autotune {
namespace {

constexpr double kLongestWait = 0.1;  // seconds
constexpr std::size_t kMostBytes = std::size_t{4} << 20;

}  // namespace

FactInbox::FactInbox(db::TunedStore& store, std::function<void(const std::string&)> warn)
    : store_(store), warn_(std::move(warn)) {}

void FactInbox::add(std::string_view lines, double now) {
  if (lines_.empty()) first_came_ = now;
  lines_ += lines;
}

void FactInbox::store_due(double now) {
  if (now - first_came_ >= kLongestWait || lines_.size() >= kMostBytes) store_all();
}

void FactInbox::store_all() {
  if (lines_.empty()) return;
  std::istringstream text(lines_);
  const db::ImportReport report = db::import_json_lines(store_, text, "results of another rank");
  lines_.clear();
  if (!report.refused.empty()) warn_(report.refused.front());
}

}  // namespace autotune
