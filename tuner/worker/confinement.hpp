// SPDX-License-Identifier: Apache-2.0
// What a process may still reach once it runs code that nobody trusts.
#pragma once

#include <filesystem>
#include <span>
#include <string>

namespace autotune {

/// Confines this process and all that it starts, for good, as far as the system can (Landlock): it
/// reads system folders and `readable`, writes to no file, signals no process outside, and opens no
/// TCP connection. Where the system has no Landlock, nothing changes.
void confine(std::span<const std::filesystem::path> readable);

/// What confine() achieves on this system: `files, TCP, signals`; empty if nothing.
std::string confinement_here();

}  // namespace autotune
