// SPDX-License-Identifier: Apache-2.0
// What programs look up in the databases of tests/db/sample.hpp.
#pragma once

#include "db/lookup_source.hpp"
#include "tests/db/sample.hpp"

namespace autotune::db {

inline LookupRequest request() {
  LookupRequest request;
  request.target = "gemm";
  request.fingerprint = "f1";
  request.device = h200();
  request.environment = "driver 580.82, CUDA 13.0";
  request.size_names = "M N K";
  request.settings = "dtype=f32";
  return request;
}

}  // namespace autotune::db
