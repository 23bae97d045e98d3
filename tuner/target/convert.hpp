// SPDX-License-Identifier: Apache-2.0
// Manifests of format 1, which are in JSON and no longer read: writes them in format 2.
#pragma once

#include <string>

#include "tuner/json/json.hpp"

namespace autotune {

/// The TOML text of a manifest of format 1. Comments are lost. Throws Error, without the file's
/// name, if this is no such manifest; its mistakes are found when the result is read.
std::string converted_manifest(const Json& manifest);

}  // namespace autotune
