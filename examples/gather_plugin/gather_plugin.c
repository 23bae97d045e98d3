/* SPDX-License-Identifier: Apache-2.0 */
/* A target whose inputs no manifest can describe: indices must lie inside a table. The plugin draws
 * them itself, and knows the right answer without a reference kernel. Valid as C and as C++; built
 * with nothing but the installed header, next to gather.cu:
 *   cc -shared -fPIC -I/usr/local/include gather_plugin.c -o gather_plugin.so
 *   autotune tune --plugin ./gather_plugin.so --target gather --sizes 65536 */
#include <autotune/autotune_plugin.h>
#include <stdint.h>
#include <string.h>

static const char kManifest[] =
    "manifest = 2\n"
    "name = \"gather\"\n"
    "description = \"out[i] = table[where[i]]\"\n"
    "source = \"gather.cu\"\n"
    "sizes = [\"N\"]\n"
    "parameters.BLOCK = [1, 32, 128, 256]\n"
    "parameters.ITEMS = [1, 4, 256]\n"
    "constraints = \"BLOCK <= device.max_threads\"\n"
    "default = { BLOCK = 32 }\n"
    "arguments.table = { type = \"f32\", length = \"N\" }\n"
    "arguments.where = { type = \"i32\", length = \"N\" }\n"
    "arguments.out = { type = \"f32\", length = \"N\", role = \"output\" }\n"
    "launch.arguments = [\"table\", \"where\", \"out\", \"N\"]\n"
    "kernels.gather = { grid = \"ceil_div(N, BLOCK * ITEMS)\", block = \"BLOCK\" }\n"
    "reference.configuration = \"default\"\n"
    "work.bytes = \"12 * N\"\n";

static const autotune_buffer_v1* find(uint32_t count, const autotune_buffer_v1* buffers,
                                      const char* name) {
  for (uint32_t i = 0; i < count; ++i) {
    if (strcmp(buffers[i].name, name) == 0) return &buffers[i];
  }
  return 0;
}

/* A linear congruential generator is random enough for addresses. */
static const char* fill(const char* problem, uint64_t seed, uint32_t count,
                        const autotune_buffer_v1* buffers) {
  const autotune_buffer_v1* where = find(count, buffers, "where");
  int32_t* to;
  (void)problem;
  if (where == 0) return "the problem has no buffer `where`";
  to = (int32_t*)where->data;
  for (int64_t i = 0; i < where->length; ++i) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    to[i] = (int32_t)((seed >> 33) % (uint64_t)where->length);
  }
  return 0;
}

static const char* reference(const char* problem, uint32_t count,
                             const autotune_buffer_v1* buffers) {
  const autotune_buffer_v1* table = find(count, buffers, "table");
  const autotune_buffer_v1* where = find(count, buffers, "where");
  const autotune_buffer_v1* out = find(count, buffers, "out");
  (void)problem;
  if (table == 0 || where == 0 || out == 0) return "the problem lacks a buffer";
  for (int64_t i = 0; i < out->length; ++i) {
    ((float*)out->data)[i] = ((const float*)table->data)[((const int32_t*)where->data)[i]];
  }
  return 0;
}

static const autotune_target_v1 kTarget = {kManifest, 0, fill, reference};
static const autotune_targets_v1 kTargets = {1, &kTarget};

static const void* facet(const char* id) {
  return strcmp(id, AUTOTUNE_FACET_TARGETS) == 0 ? &kTargets : 0;
}

static const autotune_plugin_v1 kPlugin = {
    AUTOTUNE_PLUGIN_ABI, "gather", "1.0", "Gathering from a table, with indices of its own", facet};

AUTOTUNE_PLUGIN_EXPORT const autotune_plugin_v1* autotune_plugin(void) { return &kPlugin; }
