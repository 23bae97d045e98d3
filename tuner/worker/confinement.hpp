// SPDX-License-Identifier: Apache-2.0
// What a process may still reach once it runs code that nobody trusts.
#pragma once

#include <filesystem>
#include <span>
#include <string>

namespace autotune {

/// Confines this thread and all that it starts, for good, as far as the system can (Landlock): it
/// reads system folders, those of LD_LIBRARY_PATH, and `readable`; writes to no file, but to
/// NVIDIA's devices if it `uses_gpu`; signals no process outside; opens no TCP connection. Call it
/// before a driver starts threads of its own. Where the system has no Landlock, nothing changes.
void confine(std::span<const std::filesystem::path> readable, bool uses_gpu,
             std::span<const std::filesystem::path> writable = {});

/// What confine() achieves on this system: `files, TCP, signals`; empty if nothing.
std::string confinement_here();
/// What it does not achieve, as a sentence; empty if it is everything.
std::string missing_confinement();

}  // namespace autotune
