// SPDX-License-Identifier: Apache-2.0
// How times are taken and when they are believed: every figure of docs/measuring.md, once.
#pragma once

#include <string>

#include "tuner/core/device.hpp"

namespace autotune {

struct Policy {
  // What a number means: part of the key under which results are stored.
  L2State l2 = L2State::hot;
  LaunchForm form = LaunchForm::graph;

  // One batch.
  double batch_seconds = 500e-6;  // aimed at
  int fewest_launches = 8;        // fewer only where a visit would otherwise outlast its cap
  int most_launches = 1024;

  // One visit to a configuration.
  int fewest_batches = 4;
  int most_batches = 12;
  double visit_seconds = 40e-3;  // no batch is begun after this
  double precision = 0.005;      // stop when the 99 % interval's half-width is below it

  // Against the best so far.
  double hopeless_ratio = 3;            // of one launch, less the allowance: no batch is timed
  double single_launch_excess = 20e-6;  // what timing one launch alone may add to it
  double first_launch_excess = 20e-3;   // what loading it may add to the very first launch
  double screen_ratio = 1.5;            // the faster of two batches is slower than this: pruned
  double race_margin = 0.03;
  double race_standard_errors = 3.3;
  double confirm_margin = 0.03;  // a lead by more than this takes a second visit

  // The device over time.
  double anchor_seconds = 0.1;    // between two measurements of the anchor
  double anchor_share = 0.05;     // of the time, at most, for an anchor that is slow
  double throttled_clock = 0.90;  // of the session's reference
  int throttled_repeats = 2;      // of one batch
  double warm_up_seconds = 1;     // at most
  double warm_up_window = 10e-3;  // three of them must agree
  double warm_up_agreement = 0.01;

  // Several devices.
  double devices_alike = 0.01;  // the default takes both as long: they may share a problem

  // The playoff.
  double finalist_margin = 0.03;
  int most_finalists = 10;
  int fewest_blocks = 15;
  int most_blocks = 40;
  int other_l2_blocks = 7;
  double playoff_seconds = 2;  // no block is begun after this, but two are always run
  double tie_margin = 0.005;
  double replace_margin = 0.01;
};

/// `l2=hot launch=graph`: what is stored in the key.
std::string key_text(const Policy& policy);

/// Launches in a batch of a kernel that takes about `seconds`.
int launches_for(double seconds, const Policy& policy);

}  // namespace autotune
