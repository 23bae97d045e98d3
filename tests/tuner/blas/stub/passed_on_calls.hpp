// SPDX-License-Identifier: Apache-2.0
// Calls of a program that must all reach cuBLAS. Each function returns 0 if they do.
#pragma once

/// Calls that cuBLAS itself refuses: all must reach it.
int invalid_calls();
/// A product that is served, then others with settings that no kernel obeys: all must reach cuBLAS.
int calls_with_settings();
/// One call of each function whose matrices are in arrays of addresses. Grouped calls have a group
/// of three products and one of two.
int calls_of_pointers();
/// A product that a plugin of autotune calls: it must reach cuBLAS.
int call_of_plugin();
