// SPDX-License-Identifier: Apache-2.0
// What a program reads of a kernel through the C API.
#include <cstdint>

#include "tuner/core/launch.hpp"
#include "tuner/runtime/c_handle.hpp"

using namespace autotune;
using namespace autotune::c_boundary;

namespace {

autotune_use use_of(Role role) {
  switch (role) {
    case Role::input:
      return AUTOTUNE_READ;
    case Role::inout:
      return AUTOTUNE_READ_AND_WRITTEN;
    case Role::checked:
      return AUTOTUNE_NOT_USED;
    default:
      return AUTOTUNE_WRITTEN;
  }
}

}  // namespace

extern "C" {

autotune_engine autotune_kernel_engine(const autotune_kernel* kernel, const char** text) {
  autotune_engine engine =
      kernel ? kernel->engine.load(std::memory_order_acquire) : AUTOTUNE_TUNED_KERNEL;
  const bool has_both = engine == AUTOTUNE_VENDOR_LIBRARY && kernel->earned;
  if (has_both && kernel->earned->serves() == Way::kernel) engine = AUTOTUNE_TUNED_KERNEL;
  if (text) {
    *text = engine == AUTOTUNE_VENDOR_LIBRARY   ? kernel->baseline_name.c_str()
            : engine == AUTOTUNE_VENDOR_MISSING ? kernel->why_missing.c_str()
                                                : "";
  }
  return engine;
}

const char* autotune_kernel_configuration(const autotune_kernel* kernel) {
  return kernel ? kernel->configuration.c_str() : "";
}

const void* autotune_kernel_binary(const autotune_kernel* kernel, size_t* bytes) {
  const std::string* const binary = kernel ? kernel->compiled.binary.get() : nullptr;
  if (bytes) *bytes = binary ? binary->size() : 0;
  return binary ? binary->data() : nullptr;
}

size_t autotune_kernel_launches(const autotune_kernel* kernel) {
  return kernel ? kernel->plan.launches.size() : 0;
}

autotune_status autotune_kernel_geometry(const autotune_kernel* kernel, size_t index,
                                         autotune_geometry* geometry) {
  return guarded([&] {
    require(kernel && geometry && geometry->size >= sizeof(autotune_geometry) &&
                index < kernel->plan.launches.size(),
            "autotune_kernel_geometry needs a kernel, one of its launches, and a geometry whose "
            "size is set");
    const Launch& launch = kernel->plan.launches[index];
    const auto copy = [](const Dim3& from, uint32_t(&to)[3]) {
      to[0] = static_cast<uint32_t>(from.x);
      to[1] = static_cast<uint32_t>(from.y);
      to[2] = static_cast<uint32_t>(from.z);
    };
    geometry->entry = launch.entry.c_str();
    copy(launch.grid, geometry->grid);
    copy(launch.block, geometry->block);
    copy(launch.cluster, geometry->cluster);
    geometry->dynamic_shared_bytes = static_cast<uint64_t>(launch.dynamic_shared_bytes);
  });
}

size_t autotune_kernel_buffers(const autotune_kernel* kernel) {
  return kernel ? kernel->buffers.size() : 0;
}

const char* autotune_kernel_buffer(const autotune_kernel* kernel, size_t index, uint64_t* bytes) {
  const bool known = kernel && index < kernel->buffers.size();
  if (bytes) *bytes = known ? static_cast<uint64_t>(kernel->buffers[index].bytes()) : 0;
  return known ? kernel->buffers[index].name.c_str() : "";
}

autotune_status autotune_describe_buffer(const autotune_kernel* kernel, size_t index,
                                         autotune_buffer* buffer) {
  return guarded([&] {
    require(kernel && buffer && buffer->size >= sizeof(autotune_buffer) &&
                index < kernel->buffers.size(),
            "autotune_describe_buffer needs a kernel, the index of one of its buffers, and a "
            "buffer whose size is set");
    const BufferSpec& spec = kernel->buffers[index];
    buffer->name = spec.name.c_str();
    buffer->type = spec.members.empty() ? name_of(spec.type).data() : "struct";
    buffer->use = use_of(spec.role);
    buffer->length = static_cast<uint64_t>(spec.length);
  });
}

uint64_t autotune_kernel_workspace(const autotune_kernel* kernel) {
  uint64_t bytes = 0;
  if (!kernel) return bytes;
  for (const BufferSpec& spec : kernel->plan.workspace)
    bytes += static_cast<uint64_t>(spec.bytes());
  return bytes;
}

size_t autotune_kernel_scalars(const autotune_kernel* kernel) {
  return kernel ? kernel->scalars.size() : 0;
}

const char* autotune_kernel_scalar(const autotune_kernel* kernel, size_t index, double* value) {
  const bool known = kernel && index < kernel->scalars.size();
  if (value) *value = known ? value_of(kernel->scalars[index]) : 0;
  return known ? kernel->scalars[index].name.c_str() : "";
}

}  // extern "C"
