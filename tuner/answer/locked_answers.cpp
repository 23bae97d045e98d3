// SPDX-License-Identifier: Apache-2.0
#include "tuner/answer/locked_answers.hpp"

#include <utility>

#include "tuner/core/error.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

LookupAnswer answer_of(const LockedAnswer& locked, db::Validity validity) {
  LookupAnswer answer{locked.configuration, locked.provenance, locked.origin,  validity,
                      locked.median_ns,     locked.default_ns, locked.distance};
  answer.baseline = locked.library;
  answer.baseline_ns = locked.library_ns;
  answer.early_start = locked.early_start;
  answer.library_is_expected = locked.library_is_expected;
  answer.expected_ns = locked.expected_ns;
  answer.is_locked = true;
  answer.locked = &locked;
  return answer;
}

}  // namespace

LockedAnswers::LockedAnswers(std::shared_ptr<const Lock> lock, const SizedTarget& sized,
                             const std::string& settings, const std::string& policy)
    : lock_(std::move(lock)),
      key_sizes_(sized.target.sizes.size()),
      all_sizes_(key_sizes_ + sized.target.free_sizes.size()) {
  const LockedTarget* const held = lock_->find(sized.target.name, settings, policy);
  if (!held) return;
  if (held->fingerprint != sized.target.fingerprint || held->sizes != size_names(sized.target)) {
    throw Error(
        format("{}: its kernels are of another version of {} than the one here: install "
               "that version, or make the lock again (autotune lock)",
               lock_->path.string(), sized.target.name));
  }
  // A program with a lock does not load NVRTC, so its environment lacks that version.
  const std::string& here = sized.device.environment;
  auto validity = db::Validity::exact;
  if (!lock_->environment.empty() && !here.empty() && !lock_->environment.starts_with(here)) {
    validity = db::Validity::environment_drifted;
    warning_ = format(
        "{}: was made with {}, and here is {}: autotune lock --verify says which of its "
        "answers still hold",
        lock_->path.string(), lock_->environment, here);
  }
  table_.emplace(*held);
  for (const LockedAnswer& each : held->answers) answers_.push_back(answer_of(each, validity));
  first_ = held->answers.data();
}

const LookupAnswer* LockedAnswers::find(std::span<const std::int64_t> sizes) const {
  if (!table_) return nullptr;
  const LockedAnswer* answer = nullptr;
  if (sizes.size() <= key_sizes_) {
    answer = table_->find(sizes);
  } else {
    std::vector<std::int64_t> whole(sizes.begin(), sizes.end());
    whole.resize(all_sizes_, kDefaultSize);
    answer = table_->find(whole);
  }
  return answer ? &answers_[static_cast<std::size_t>(answer - first_)] : nullptr;
}

}  // namespace autotune
