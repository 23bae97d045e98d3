// SPDX-License-Identifier: Apache-2.0
#include "tuner/measure/policy.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "tuner/text/format.hpp"

namespace autotune {
namespace {

constexpr std::array<std::string_view, 3> kObjectives = {"time", "energy", "edp"};

}  // namespace

std::string_view name_of(Objective objective) {
  return kObjectives[static_cast<std::size_t>(objective)];
}

std::optional<Objective> objective_of(std::string_view name) {
  const auto found = std::ranges::find(kObjectives, name);
  if (found == kObjectives.end()) return std::nullopt;
  return static_cast<Objective>(found - kObjectives.begin());
}

std::string key_text(const Policy& policy) {
  std::string key = format("l2={} launch={}", policy.l2 == L2State::hot ? "hot" : "cold",
                           policy.form == LaunchForm::graph ? "graph" : "stream");
  if (policy.objective != Objective::time)
    key += format(" objective={}", name_of(policy.objective));
  if (policy.context != CallContext::chain) key += format(" context={}", name_of(policy.context));
  return key;
}

std::vector<Policy> stored_policies() {
  std::vector<Policy> all;
  Policy policy;
  for (const L2State l2 : {L2State::hot, L2State::cold}) {
    policy.l2 = l2;
    for (const LaunchForm form : {LaunchForm::graph, LaunchForm::stream}) {
      policy.form = form;
      for (const Objective objective : {Objective::time, Objective::energy, Objective::edp}) {
        policy.objective = objective;
        for (const CallContext context :
             {CallContext::chain, CallContext::between, CallContext::alone}) {
          policy.context = context;
          all.push_back(policy);
        }
      }
    }
  }
  return all;
}

std::vector<CallContext> other_contexts(const Policy& policy) {
  if (policy.context == CallContext::chain) return {};
  std::vector<CallContext> all{CallContext::between, CallContext::chain, CallContext::in_order,
                               CallContext::alone};
  std::erase(all, policy.context);
  return all;
}

CallContext default_context(DeviceKind kind) {
  return kind == DeviceKind::cuda ? CallContext::between : CallContext::chain;
}

std::string_view name_of(CallContext context) {
  static constexpr std::array<std::string_view, 4> kNames{"chain", "in_order", "between", "alone"};
  return kNames[static_cast<std::size_t>(context)];
}

std::optional<CallContext> context_named(std::string_view name) {
  for (const CallContext one : {CallContext::chain, CallContext::between, CallContext::alone}) {
    if (name_of(one) == name) return one;
  }
  return std::nullopt;
}

CallContext search_context(const Policy& policy) {
  return policy.context == CallContext::chain ? CallContext::chain : CallContext::in_order;
}

int launches_for(double seconds, const Policy& policy) {
  if (!(seconds > 0)) return policy.most_launches;
  const double aimed_at = std::clamp(std::ceil(policy.batch_seconds / seconds),
                                     static_cast<double>(policy.fewest_launches),
                                     static_cast<double>(policy.most_launches));
  const double affordable = std::floor(policy.visit_seconds / policy.fewest_batches / seconds);
  return static_cast<int>(std::clamp(affordable, 1.0, aimed_at));
}

}  // namespace autotune
