// SPDX-License-Identifier: Apache-2.0
#include "tuner/answer/target_lookup.hpp"

#include "tuner/core/error.hpp"
#include "tuner/records/records.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"
#include "tuner/text/printable.hpp"

namespace autotune {
namespace {

LookupAnswer answer_of(const db::LookupRow& row, db::Origin origin, double distance) {
  LookupAnswer answer{row.configuration, row.provenance, origin,  row.validity,
                      row.median_ns,     row.default_ns, distance};
  answer.early_start = row.early_start;
  if (origin == db::Origin::exact) {  // only there were it and the library measured
    answer.expected_ns = row.median_ns;
    answer.baseline = row.baseline;
    answer.baseline_ns = row.baseline_ns;
  }
  return answer;
}

/// The answer for the default free sizes, where others are asked for. Times at these are expected,
/// and no library was timed.
LookupAnswer at_other_free_sizes(LookupAnswer answer) {
  if (answer.origin == db::Origin::exact) answer.origin = db::Origin::transferred;
  answer.expected_ns = answer.baseline_ns = 0;
  answer.baseline = {};
  answer.early_start = false;
  return answer;
}

/// Between the configuration and the vendor's library: by their times, or by a person.
bool is_settled(const db::LookupRow& row) {
  return row.same_device && (row.library_timed || row.is_pinned());
}

}  // namespace

TargetLookup::TargetLookup(Target target, const NamedValues& settings, DeviceInfo device,
                           std::string policy, Libraries libraries, std::vector<db::Layer> layers)
    : target_(std::move(target)),
      device_(std::move(device)),
      policy_(std::move(policy)),
      layers_(std::move(layers)),
      libraries_(std::move(libraries)),
      smallest_(problem_from(target_, 1, settings)),
      program_(target_, smallest_, device_, SizeBinding::given),
      tables_(db::LookupTable(target_.sizes.size(), {})) {}

TargetLookup::TargetLookup(Target target, const NamedValues& settings, DeviceInfo device,
                           std::string policy, std::vector<db::Layer> layers, Libraries libraries)
    : TargetLookup(std::move(target), settings, std::move(device), std::move(policy),
                   std::move(libraries), std::move(layers)) {
  db::PastTimes past = read_past(layers_);
  db::LookupRows read = read_rows(layers_, past);
  learn(std::move(past));
  take(std::move(read));
}

TargetLookup::TargetLookup(Target target, const NamedValues& settings, DeviceInfo device,
                           std::string policy, std::shared_ptr<const Lock> lock,
                           Libraries libraries)
    : TargetLookup(std::move(target), settings, std::move(device), std::move(policy),
                   std::move(libraries), {}) {
  locked_.emplace(std::move(lock), sized_, to_text(this->settings()), policy_);
  warnings_.store(&interned(""), std::memory_order_release);
  if (!locked_->warning().empty()) warn(locked_->warning());
}

NamedValues TargetLookup::settings() const {
  return {smallest_.values.begin() + static_cast<std::ptrdiff_t>(target_.sizes.size()),
          smallest_.values.end()};
}

/// Vendors' libraries are for GPUs. What they compute depends on the settings, not on the sizes,
/// and on whether there are free sizes to read.
const std::string& TargetLookup::offered_library(bool is_away) {
  const auto [offered, is_new] = offered_library_.try_emplace(is_away);
  if (!is_new || !libraries_ || device_.kind != DeviceKind::cuda) return offered->second;
  try {
    constexpr std::int64_t kAnySize = 64;
    const Problem problem = problem_from(target_, kAnySize, settings());
    const TargetProgram program(target_, problem, device_);
    Workload workload;
    workload.problem = problem.text();
    workload.buffers = program.buffers();
    workload.scalars = program.scalars();
    offered->second = libraries_(target_.name, workload, is_away);
  } catch (const Error&) {  // the target has no such problem
  }
  return offered->second;
}

/// A pin serves other free sizes, too, where it is valid.
std::optional<LookupAnswer> TargetLookup::pinned(std::span<const std::int64_t> sizes) const {
  const auto answer = [](std::string_view configuration) {
    return LookupAnswer{configuration, "pinned", db::Origin::exact, {}, 0, 0, 0};
  };
  const auto own = pins_.find(sizes);
  if (own != pins_.end()) return answer(own->second);
  const auto pin = pins_.find(sized_.key(sizes));
  if (pin == pins_.end() || !sized_.is_valid(levels_in(target_, pin->second), sizes))
    return std::nullopt;
  return answer(pin->second);
}

std::optional<LookupAnswer> TargetLookup::settled(std::span<const std::int64_t> key) const {
  const db::LookupRow* row = tables_.table().find(key);
  if (!row || !row->is_exact() || !is_settled(*row)) return std::nullopt;
  return answer_of(*row, db::Origin::exact, 0);
}

/// What the lock says of sizes that it does not hold as they are.
LookupAnswer TargetLookup::locked(std::span<const std::int64_t> sizes) {
  sized_.check(sizes);
  const Sizes away = sized_.away_from_defaults(sizes);
  const LookupAnswer* const answer = away.size() < sizes.size() ? locked_->find(away) : nullptr;
  return answer ? *answer : fallback(away);
}

LookupAnswer TargetLookup::fallback(std::span<const std::int64_t> sizes) {
  const std::lock_guard guard(mutex_);
  LookupAnswer answer;
  answer.is_locked = true;
  const bool is_vendor = lock()->fallback == LockFallback::vendor;
  if (is_vendor) answer.baseline = offered_library(sized_.is_away(sizes));
  if (!answer.baseline.empty()) return answer;
  throw Error(
      format("{}: holds no answer for {} {} on {}{}: make a lock that holds it (autotune "
             "lock), or open a database in place of the lock",
             lock()->path.string(), target_.name, problem_text(target_, sized_.problem_with(sizes)),
             device_.name,
             is_vendor ? ", and no vendor's library computes this here"
                       : ", and names no library for what it lacks"));
}

LookupAnswer TargetLookup::find(std::span<const std::int64_t> given) {
  const auto sizes = sized_.without_defaults(given);
  if (locked_) {
    const LookupAnswer* const answer = locked_->find(sizes);
    return answer ? *answer : locked(sizes);
  }
  if (has_pins_.load(std::memory_order_acquire)) {
    const std::lock_guard lock(mutex_);
    if (auto pin = pinned(sizes)) return *pin;
  }
  if (sizes.size() <= target_.sizes.size()) {
    if (auto exact = settled(sizes)) return *exact;
  }
  const std::lock_guard lock(mutex_);
  return transfer(sizes);
}

/// Computed once for each problem, then remembered.
LookupAnswer TargetLookup::transfer(std::span<const std::int64_t> sizes) {
  if (const auto raced = found_.find(sizes); raced != found_.end()) return raced->second;
  if (const auto known = remembered_.find(sizes); known != remembered_.end()) return known->second;
  sized_.check(sizes);
  const Sizes away = sized_.away_from_defaults(sizes);
  if (away.size() < sizes.size()) {
    const auto exact = away.size() == target_.sizes.size() ? settled(away) : std::nullopt;
    return remember(sizes, exact ? *exact : transfer(away));
  }
  if (const auto raced = found(sizes)) return remember(sizes, *raced);
  auto answer = stored(sizes);
  if (!answer) answer = chosen(sizes);
  if (!answer) {
    answer.emplace();
    answer->configuration = interned(known_default(sizes));
    answer->library_is_expected = true;
  }
  if (answer->expected_ns == 0) {
    const std::string configuration(answer->configuration);
    answer->expected_ns = experience_->expected_seconds(configuration, sizes) * 1e9;
  }
  if (sized_.is_away(sizes)) {
    weigh_away(*answer, sizes);
  } else if (answer->library_is_expected) {
    weigh_library(*answer, sizes);
  }
  return remember(sizes, *answer);
}

LookupAnswer TargetLookup::remember(std::span<const std::int64_t> sizes,
                                    const LookupAnswer& answer) {
  if (remembered_.size() >= kMostRemembered) remembered_.clear();
  return remembered_.emplace(Sizes(sizes.begin(), sizes.end()), answer).first->second;
}

/// Without evidence that ours is faster, the library answers.
void TargetLookup::weigh_library(LookupAnswer& answer, std::span<const std::int64_t> sizes) {
  const auto library = experience_->library_for(sizes, answer.expected_ns * 1e-9);
  answer.library_is_expected = library.has_value();
  if (!library || !library->answers) return;
  answer.baseline = interned(library->plugin);
  answer.baseline_ns = library->seconds * 1e9;
}

/// Times at the default free sizes tell whether the kernel or the library answers here, unless
/// lines are less aligned or another configuration is valid.
void TargetLookup::weigh_away(LookupAnswer& answer, std::span<const std::int64_t> sizes) {
  answer.library_is_expected = false;
  const std::string& library = offered_library(true);
  if (library.empty() || answer.is_pinned()) return;
  LookupAnswer there;
  try {
    const auto exact = settled(sized_.key(sizes));
    there = exact ? *exact : transfer(sized_.key(sizes));
  } catch (const NoConfiguration&) {  // there is one here only
  }
  if (there.configuration == answer.configuration &&
      sized_.line_alignment(sizes) >= sized_.line_alignment(sized_.key(sizes))) {
    answer.library_is_expected = there.is_open();
    answer.baseline = there.baseline;
    answer.baseline_ns = there.baseline_ns;
  } else {
    weigh_library(answer, sizes);
  }
  if (!answer.baseline.empty()) answer.baseline = library;  // its candidates may be others here
}

/// What this program found with lines that are as aligned, if it is valid here. What it found at
/// the default free sizes is found before.
std::optional<LookupAnswer> TargetLookup::found(std::span<const std::int64_t> sizes) const {
  if (!sized_.is_away(sizes) || found_.empty()) return std::nullopt;
  const auto raced = found_.find(sized_.class_of(sizes));
  if (raced == found_.end()) return std::nullopt;
  const bool is_here = sized_.is_valid(levels_in(target_, raced->second.configuration), sizes);
  return is_here ? std::optional(raced->second) : std::nullopt;
}

/// The row of exactly these sizes, if it is valid here: of a changed source or another device, one
/// beside which the library was not timed, or one of the default free sizes.
std::optional<LookupAnswer> TargetLookup::stored(std::span<const std::int64_t> sizes) const {
  const bool is_away = sized_.is_away(sizes);
  if (const auto raced = found_.find(sized_.key(sizes)); is_away && raced != found_.end()) {
    if (sized_.is_valid(levels_in(target_, raced->second.configuration), sizes)) {
      return at_other_free_sizes(raced->second);
    }
  }
  const db::LookupRow* row = tables_.table().find(sized_.key(sizes));
  if (!row) return std::nullopt;
  const std::optional<Levels> levels = levels_in(target_, row->configuration);
  if (!sized_.is_valid(levels, sizes) || experience_->failed(levels, sized_.key(sizes)))
    return std::nullopt;
  LookupAnswer answer =
      answer_of(*row, row->same_device ? db::Origin::exact : db::Origin::same_architecture, 0);
  if (is_away) return at_other_free_sizes(answer);
  answer.library_is_expected = !is_settled(*row);
  return answer;
}

/// Chosen from what is known at other sizes.
std::optional<LookupAnswer> TargetLookup::chosen(std::span<const std::int64_t> sizes) {
  const std::optional<Experience::Choice> choice = experience_->choose(sizes);
  const std::string_view bits = experience_->covers().by_bits(sized_.key(sizes));
  if (!bits.empty() && !(choice && choice->is_covered)) {
    throw Error(format(
        "{} for {}: no configuration of the choice by bits is valid there, and others give other "
        "bits: choose again with this size (autotune tune --bits), or take the choice back "
        "(autotune db unpin): {}",
        target_.name, problem_text(target_, sized_.problem_with(sizes)), bits));
  }
  if (!choice) return std::nullopt;
  LookupAnswer answer;
  answer.configuration = interned(choice->known.configuration);
  const bool is_bare_default = choice->is_standard && choice->is_model_only;
  if (!is_bare_default) answer.provenance = interned(choice->known.provenance);
  if (!choice->is_model_only) {
    answer.origin = choice->same_device ? db::Origin::transferred : db::Origin::same_architecture;
    answer.validity = choice->known.validity;
    answer.median_ns = choice->known.ns;
    answer.default_ns = choice->default_ns;
    answer.distance = choice->distance;
  }
  answer.expected_ns = choice->expected_seconds * 1e9;
  answer.library_is_expected = !choice->is_covered;
  return answer;
}

std::string TargetLookup::default_for(std::span<const std::int64_t> sizes) {
  const std::lock_guard lock(mutex_);
  return known_default(sizes);
}

std::string TargetLookup::known_default(std::span<const std::int64_t> sizes) const {
  const std::vector<Levels> defaults = program_.defaults(sizes);
  for (const Levels& each : defaults) {
    if (!sized_.is_valid(each, sizes) || experience_->failed(each, sized_.key(sizes))) continue;
    return to_text(configuration_of(target_.parameters, each));
  }
  const Problem problem = sized_.problem_for(sizes);
  const ParameterSpace space = space_of(target_, problem, device_);
  if (space.empty()) throw NoConfiguration(why_refused(target_, space));
  const auto index =
      default_index_without(defaults, space, experience_->failed_at(sized_.key(sizes)));
  if (index) return to_text(space.at(*index));
  throw NoConfiguration(
      format("{}: every configuration failed for {} on {}: tune it again with --retune",
             target_.name, problem_text(target_, problem), device_.name));
}

const std::string& TargetLookup::interned(const std::string& text) {
  return *texts_.insert(text).first;
}

std::vector<std::string> TargetLookup::likely(std::span<const std::int64_t> sizes,
                                              std::size_t count) {
  sized_.check(sizes);
  const std::lock_guard lock(mutex_);
  std::vector<std::string> configurations = experience_->likely(sizes, count);
  if (configurations.empty()) configurations.push_back(known_default(sizes));
  return configurations;
}

void TargetLookup::keep_found(std::span<const std::int64_t> given, const db::DecisionRow& found) {
  const std::lock_guard lock(mutex_);
  const Sizes sizes = sized_.away_from_defaults(sized_.without_defaults(given));
  LookupAnswer answer;
  answer.configuration = interned(found.configuration);
  answer.provenance = interned(found.provenance);
  answer.origin = sized_.is_away(sizes) ? db::Origin::transferred : db::Origin::exact;
  answer.median_ns = answer.expected_ns = found.median_ns.value_or(0);
  if (found.baseline.wins) {
    // Elsewhere with these lines, the candidates of the library may be others.
    answer.baseline =
        interned(sized_.is_away(sizes) ? found.baseline.plugin : found.baseline.text());
    answer.baseline_ns = found.baseline.ns.value_or(0);
  }
  answer.library_is_expected = !found.baseline.ns;  // it took no part
  if (answer.library_is_expected) weigh_library(answer, sizes);
  remembered_.clear();  // at other free sizes, it may answer
  found_[sized_.class_of(sizes)] = answer;
}

std::string TargetLookup::library(std::span<const std::int64_t> sizes) {
  const std::lock_guard lock(mutex_);
  return offered_library(sized_.is_away(sized_.away_from_defaults(sized_.without_defaults(sizes))));
}

void TargetLookup::keep_failures(std::span<const std::int64_t> sizes,
                                 std::vector<std::string> configurations) {
  const std::lock_guard lock(mutex_);
  failed_here_.push_back({Sizes(sizes.begin(), sizes.end()), std::move(configurations)});
  learn(read_past(layers_));
  remembered_.clear();
}

void TargetLookup::warn(const std::string& sentence) {
  const std::lock_guard lock(mutex_);
  const std::string all = warnings() + printable(sentence) + '\n';
  warnings_.store(&interned(all), std::memory_order_release);
}

void TargetLookup::pin(std::span<const std::int64_t> sizes, std::string_view configuration) {
  sized_.check(sizes);
  const std::string text(configuration);
  if (!text.empty() && !sized_.is_valid(levels_in(target_, text), sizes)) {
    throw Error(format("{}: {} is not valid for {} on {}", target_.name, text,
                       problem_text(target_, sized_.problem_for(sizes)), device_.name));
  }
  if (locked_) {
    if (text.empty() || find(sizes).configuration == text) return;
    throw Error(format("{}: has another answer for {} {}: a lock's answers cannot be pinned",
                       lock()->path.string(), target_.name,
                       problem_text(target_, sized_.problem_for(sizes))));
  }
  const std::lock_guard lock(mutex_);
  const Sizes where = sized_.away_from_defaults(sizes);
  if (text.empty()) {
    pins_.erase(where);
  } else {
    pins_[where] = interned(text);
  }
  has_pins_.store(!pins_.empty(), std::memory_order_release);
}

std::string TargetLookup::explain(std::span<const std::int64_t> sizes) {
  const Problem problem = sized_.problem_for(sizes);
  return explanation_of(target_, problem, device_, find(sizes));
}

}  // namespace autotune
