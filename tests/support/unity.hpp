// SPDX-License-Identifier: Apache-2.0
// Precompiled with all tests, which are compiled many at a time: `testing::` in namespace autotune
// is GoogleTest's also behind a source that declares names of its own in autotune::testing.
#pragma once

namespace testing {}
namespace autotune::testing {
using namespace ::testing;
}
