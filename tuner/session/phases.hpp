// SPDX-License-Identifier: Apache-2.0
// How the time of a run is spent.
#pragma once

namespace autotune {

/// Seconds spent on one problem.
struct Phases {
  double compile_wait = 0;  // waiting for compile threads, with nothing else to do
  double open = 0;          // buffers and the reference
  double verify = 0;        // loading and verifying on the device
  double measure = 0;       // timing on the device
  double decide = 0;        // verification of finalists and the playoff
  double record = 0;        // the database
};

}  // namespace autotune
