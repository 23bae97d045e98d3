// SPDX-License-Identifier: Apache-2.0
// What a TargetLookup reads from its databases, at first and in refresh().
#include "tuner/answer/target_lookup.hpp"

#include <utility>

#include "db/store.hpp"
#include "tuner/core/error.hpp"
#include "tuner/records/records.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"
#include "tuner/text/printable.hpp"

namespace autotune {
namespace {

/// Leaves out pins of the plain settings for sizes that have a pin of their own.
void prefer_own_pins(std::vector<db::LookupRow>& rows) {
  std::set<std::vector<std::int64_t>> pinned;
  for (const db::LookupRow& row : rows) {
    if (row.is_pinned() && !row.is_pinned_alike()) pinned.insert(row.sizes);
  }
  std::erase_if(rows, [&](const db::LookupRow& row) {
    return row.is_pinned_alike() && pinned.contains(row.sizes);
  });
}

}  // namespace

std::vector<db::Layer> waiting_briefly(std::vector<db::Layer> layers) {
  const auto until = std::chrono::steady_clock::now() + kLongestWait;
  for (db::Layer& layer : layers) layer.wait_until = until;
  return layers;
}

db::LookupRequest TargetLookup::request() const {
  db::LookupRequest request;
  request.target = target_.name;
  request.fingerprint = target_.fingerprint;
  request.device = device_row(device_);
  request.environment = device_.environment;
  request.size_names = kernel_row(target_).sizes;
  request.settings = to_text(settings());
  for (const NamedValues& each : alike_settings(target_, settings())) {
    request.alike.insert(to_text(each));
  }
  request.plain = to_text(plain_settings(target_, settings()));
  request.policy = policy_;
  return request;
}

db::PastTimes TargetLookup::read_past(std::span<const db::Layer> layers) const {
  return db::read_past_times(layers, request());
}

/// With the sentences about these times among its own, each once.
db::LookupRows TargetLookup::read_rows(std::span<const db::Layer> layers,
                                       const db::PastTimes& past) const {
  db::LookupRows read = db::read_lookup_rows(layers, request());
  std::vector<std::string>& all = read.warnings;
  for (const std::string& one : past.warnings) {
    if (std::ranges::find(all, one) == all.end()) all.push_back(one);
  }
  drop_invalid(read);
  prefer_own_pins(read.rows);
  return read;
}

/// Drops invalid rows that find() would return unchecked. transfer() checks the others.
void TargetLookup::drop_invalid(db::LookupRows& read) const {
  std::unordered_map<std::string, std::optional<Levels>> levels;  // by text; most rows share a few
  std::map<std::uint8_t, std::vector<db::LookupRow>> dropped;     // of each layer
  const auto is_wrong = [&](const db::LookupRow& row) {
    if (!row.is_exact()) return false;
    const auto [found, is_new] = levels.try_emplace(row.configuration);
    if (is_new) found->second = levels_in(target_, row.configuration);
    if (sized_.is_valid(found->second, row.sizes)) return false;
    dropped[row.layer].push_back(row);
    return true;
  };
  std::erase_if(read.rows, is_wrong);
  for (const auto& [layer, rows] : dropped) {
    read.warnings.push_back(format(
        "{}: {} of its answers for {} on {} are left out, as they are not valid there, such as "
        "\"{}\" for {}; tune these sizes again, or take back what was pinned (autotune db unpin)",
        layers_[layer].path.string(), rows.size(), target_.name, device_.name,
        rows.front().configuration,
        problem_text(target_, sized_.problem_with(rows.front().sizes))));
  }
}

void TargetLookup::take(db::LookupRows read) {
  std::erase_if(read.rows, [&](const db::LookupRow& row) {
    return experience_->covers().forbids(row.sizes, row.is_pinned());
  });
  std::string warnings = printable(joined(read.warnings, "\n"));
  if (!warnings.empty()) warnings += '\n';
  warnings_.store(&interned(warnings), std::memory_order_release);
  layer_states_ = std::move(read.layers);
  tables_.swap({target_.sizes.size(), std::move(read.rows)});
  remembered_.clear();
}

void TargetLookup::learn(db::PastTimes past) {
  past.failed.insert(past.failed.end(), failed_here_.begin(), failed_here_.end());
  experience_ = std::make_unique<Experience>(sized_, std::move(past),
                                             [this] { return offered_library(false); });
}

void TargetLookup::refresh() {
  if (locked_) return;
  const std::vector<db::Layer> layers = waiting_briefly(layers_);
  db::PastTimes past = read_past(layers);
  db::LookupRows read = read_rows(layers, past);
  const std::lock_guard lock(mutex_);
  const bool is_whole = keep_lost_layers(read);
  const std::string sentences = joined(read.warnings, "; ");
  if (is_whole) learn(std::move(past));
  take(std::move(read));
  if (!is_whole)
    throw db::StoreError("databases that cannot be read keep their previous rows: " + sentences);
  pins_.clear();
  has_pins_.store(false, std::memory_order_release);
}

/// Keeps the previous rows of each layer that can no longer be read. False if there is such a
/// layer.
bool TargetLookup::keep_lost_layers(db::LookupRows& read) const {
  bool is_whole = true;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const db::LayerState before = layer_states_[i];
    const bool is_gone =
        read.layers[i] == db::LayerState::missing && before == db::LayerState::read;
    if (is_gone) read.warnings.push_back(layers_[i].path.string() + ": is gone; put it back");
    if (!is_gone && read.layers[i] != db::LayerState::unreadable) continue;
    is_whole = false;
    read.layers[i] = before;
    for (const db::LookupRow& row : tables_.table().rows()) {
      if (row.layer == i) read.rows.push_back(row);
    }
  }
  return is_whole;
}

std::optional<DeviceInfo> device_of_layers(std::span<const db::Layer> layers,
                                           const std::string& target, const std::string& name,
                                           std::vector<std::string>& remarks) {
  std::map<std::string, std::pair<std::size_t, db::DeviceRow>> found;
  for (const db::Layer& layer : layers) {
    try {
      const db::TunedStore store = layer.open();
      for (const db::TunedEntry& entry : store.tuned({name, target, "", ""})) {
        auto& [count, row] = found[entry.device.name];
        ++count;
        row = entry.device;
      }
    } catch (const std::exception& error) {
      remarks.emplace_back(error.what());
    }
    if (!found.empty()) break;
  }
  const auto most = std::max_element(found.begin(), found.end(), [](const auto& a, const auto& b) {
    return a.second.first < b.second.first;
  });
  if (most == found.end()) return std::nullopt;
  return device_of(most->second.second);
}

std::optional<int> chosen_gpu(std::span<const DeviceInfo> gpus, const std::string& name,
                              int ordinal) {
  const auto is_meant = [&](const DeviceInfo& gpu) { return name.empty() || gpu.name == name; };
  const auto first = std::ranges::find_if(gpus, is_meant);
  if (first == gpus.end()) return std::nullopt;
  if (ordinal == 0) return static_cast<int>(first - gpus.begin());
  if (std::cmp_greater_equal(ordinal, gpus.size())) {
    throw Error(format("there is no GPU {} here: the last one is {}", ordinal, gpus.size() - 1));
  }
  const DeviceInfo& gpu = gpus[static_cast<std::size_t>(ordinal)];
  if (is_meant(gpu)) return ordinal;
  throw Error(format("GPU {} here is called {}, not {}: leave out the name or the ordinal", ordinal,
                     gpu.name, name));
}

}  // namespace autotune
