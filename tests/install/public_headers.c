/* SPDX-License-Identifier: Apache-2.0
 * Both public headers in one C program: no name of the one is taken by the other. */
#ifdef PLUGIN_FIRST
#include "plugins/sdk/autotune_plugin.h"
#endif

#include "tuner/runtime/autotune.h"

#ifdef RUNTIME_FIRST
#include "plugins/sdk/autotune_plugin.h"
#endif

_Static_assert(AUTOTUNE_FAILED == 4 && AUTOTUNE_PLUGIN_FAILED == 2, "two statuses, two names");
