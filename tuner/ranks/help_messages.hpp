// SPDX-License-Identifier: Apache-2.0
// What a rank says to another that helps with its search: configurations there, trials back.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "tuner/core/trial.hpp"
#include "tuner/ranks/messages.hpp"
#include "tuner/session/bench.hpp"

namespace autotune {

/// Sends a packet to a rank. Thread-safe.
using Post = std::function<void(int to, std::string bytes)>;

/// Begins help with a problem: the helper times its default configuration.
std::string help_begin(std::size_t number, const Loadable& default_configuration);
std::string help_measure(const Loadable& configuration, double best_seconds);
std::string help_end(int owner);
/// The configuration that a message brings. Throws WireError or Json::exception.
Loadable loadable_in(const Message& message);

/// What Bench::measure() says of a trial, as a message; and into the trial. Throws as above.
std::string help_trial(const Trial& measured);
void note_measured(Trial& trial, const Message& message);

}  // namespace autotune
