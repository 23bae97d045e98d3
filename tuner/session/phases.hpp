// SPDX-License-Identifier: Apache-2.0
// Where the time of a run goes.
#pragma once

namespace autotune {

/// Where the seconds of one problem went.
struct Phases {
  double compile_wait = 0;  // for the compile threads, with nothing else to do
  double open = 0;          // buffers and the reference
  double verify = 0;        // loading and verifying, on the device
  double measure = 0;       // judging by the clock, on the device
  double decide = 0;        // the finalists: harder verification and the playoff
  double record = 0;        // the database
};

}  // namespace autotune
