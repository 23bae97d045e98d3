// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/tune_request.hpp"

#include "tuner/core/error.hpp"
#include "tuner/text/format.hpp"

namespace autotune::cli {
namespace {

CallContext context_of(const Arguments& arguments, DeviceKind kind) {
  const auto name = arguments.find("context");
  if (!name) return default_context(kind);
  const auto context = context_named(*name);
  if (!context) {
    throw UsageError("--context is between, chain or alone, not \"" + *name + "\"");
  }
  if (*context != CallContext::chain && kind != DeviceKind::cuda) {
    throw UsageError("--context " + *name + " needs a CUDA GPU; other devices know chain only");
  }
  return *context;
}

}  // namespace

/// Only guided estimates what is left to gain, so only it has the budget `auto`.
std::string default_budget(DeviceKind kind, const std::string& strategy) {
  if (kind == DeviceKind::host) return "40";
  return strategy == "guided" ? "auto" : "128";
}

Policy policy_of(const Arguments& arguments, DeviceKind kind) {
  Policy policy;
  const std::string l2 = arguments.text("l2");
  const std::string form = arguments.text("launch");
  if (l2 != "hot" && l2 != "cold") throw UsageError("--l2 is hot or cold, not \"" + l2 + "\"");
  if (form != "graph" && form != "stream") {
    throw UsageError("--launch is graph or stream, not \"" + form + "\"");
  }
  const std::string objective = arguments.find("objective").value_or("time");
  if (!objective_of(objective)) {
    throw UsageError("--objective is time, energy or edp, not \"" + objective + "\"");
  }
  policy.objective = *objective_of(objective);
  if (policy.objective != Objective::time) policy.finalist_margin = policy.energy_margin;
  policy.l2 = l2 == "hot" ? L2State::hot : L2State::cold;
  policy.form = form == "graph" ? LaunchForm::graph : LaunchForm::stream;
  policy.context = context_of(arguments, kind);
  return policy;
}

std::string command_text(const Arguments& arguments) {
  std::string text(arguments.verb().name);
  for (const Option& option : arguments.verb().options) {
    for (const std::string& value : arguments.all(option.name)) {
      text += format(" --{}{}{}", option.name, value.empty() ? "" : " ", value);
    }
  }
  return text;
}

DeviceKind kind_asked_for(const Arguments& arguments) {
  const std::string device = arguments.text("device");
  return device.starts_with("host")    ? DeviceKind::host
         : device.starts_with("model") ? DeviceKind::model
                                       : DeviceKind::cuda;
}

}  // namespace autotune::cli
