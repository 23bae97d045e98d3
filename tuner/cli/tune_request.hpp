// SPDX-License-Identifier: Apache-2.0
// Arguments that all tuning verbs have.
#pragma once

#include <string>

#include "tuner/cli/arguments.hpp"
#include "tuner/core/device.hpp"
#include "tuner/measure/policy.hpp"

namespace autotune::cli {

/// `--l2`, `--launch` and `--context`. Throws UsageError.
Policy policy_of(const Arguments& arguments, DeviceKind kind);
/// The budget without `--budget`.
std::string default_budget(DeviceKind kind, const std::string& strategy);
/// The command line, for the session's row.
std::string command_text(const Arguments& arguments);
/// The kind of device that the text of `--device` names.
DeviceKind kind_asked_for(const Arguments& arguments);

}  // namespace autotune::cli
