// SPDX-License-Identifier: Apache-2.0
// The worker's side: serves its parent's requests on a device.
#pragma once

#include <filesystem>

#include "tuner/core/device.hpp"
#include "tuner/worker/channel.hpp"

namespace autotune {

/// Ends this process without destructors: a kernel may have damaged any of its state. Its keeper
/// kills what it started. No signal: that would mean that somebody else killed the worker.
[[noreturn]] void end_worker();

/// Returns when the other end is closed.
void serve_plugin(Channel& channel, const std::filesystem::path& file);

/// Returns when the other end is closed. Compiler programs run in this process's group.
void serve_compiler(Channel& channel);

/// Returns when the other end is closed.
void serve(Channel& channel, Device& device);

}  // namespace autotune
