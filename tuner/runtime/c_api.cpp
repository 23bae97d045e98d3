// SPDX-License-Identifier: Apache-2.0
// The C boundary: nothing is thrown past it.
#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <mutex>

#include "tuner/cache/build_cache.hpp"
#include "tuner/core/error.hpp"
#include "tuner/gpu/cuda_device.hpp"
#include "tuner/gpu/model_device.hpp"
#include "tuner/gpu/prepared_kernel.hpp"
#include "tuner/runtime/autotune.h"
#include "tuner/runtime/target_lookup.hpp"
#include "tuner/target/catalog.hpp"
#include "tuner/text/compiler_log.hpp"
#include "tuner/text/format.hpp"

using namespace autotune;

struct autotune_handle {
  TargetLookup lookup;
  std::optional<int> ordinal;  // of the GPU that is here
  std::shared_ptr<BuildCache> cache;
  std::once_flag device_made;
  std::unique_ptr<Device> device;  // compiles

  autotune_handle(Target target, const NamedValues& settings, DeviceInfo info, std::string policy,
                  std::vector<db::Layer> layers, std::optional<int> gpu)
      : lookup(std::move(target), settings, std::move(info), std::move(policy), std::move(layers)),
        ordinal(gpu) {}
};

struct autotune_kernel {
  std::string configuration;
  CompiledKernel compiled;
  LaunchPlan plan;
  std::vector<BufferSpec> buffers;
  std::optional<int> ordinal;  // of the GPU that is here
  std::once_flag loaded;
  std::unique_ptr<PreparedKernel> prepared;  // made by the first launch
};

namespace {

thread_local std::string message;

autotune_status failed(autotune_status status, const char* what) {
  try {
    message = what;
  } catch (...) {
    message.clear();
  }
  return status;
}

/// A missing device, thrown where a status of its own is due.
class NoDevice : public Error {
 public:
  using Error::Error;
};

template <class Work>
autotune_status guarded(Work&& work) noexcept {
  try {
    work();
    return AUTOTUNE_OK;
  } catch (const NoDevice& error) {
    return failed(AUTOTUNE_NO_DEVICE, error.what());
  } catch (const UsageError& error) {
    return failed(AUTOTUNE_WRONG_USAGE, error.what());
  } catch (const Error& error) {
    return failed(AUTOTUNE_NOT_FOUND, error.what());
  } catch (const std::exception& error) {
    return failed(AUTOTUNE_FAILED, error.what());
  } catch (...) {
    return failed(AUTOTUNE_FAILED, "something unknown was thrown");
  }
}

/// Throws UsageError when something required is null, or the caller's struct is older than ABI 1.
void require(bool condition, const char* what) {
  if (!condition) throw UsageError(what);
}

std::string text_or(const char* text, const char* otherwise) { return text ? text : otherwise; }

/// By name in share/autotune/kernel_sources beside this library, else as the tool finds it.
Target target_called(const std::string& name) {
  Dl_info self{};
  if (dladdr(reinterpret_cast<const void*>(&autotune_open), &self) != 0 && self.dli_fname) {
    std::error_code ignored;
    auto folder = std::filesystem::canonical(self.dli_fname, ignored).parent_path();
    for (int up = 0; up < 3 && folder.has_relative_path(); ++up, folder = folder.parent_path()) {
      const auto manifest =
          folder / "share/autotune/kernel_sources" / name / (name + ".target.json");
      if (std::filesystem::exists(manifest, ignored)) return find_target(manifest.string());
    }
  }
  return find_target(name);
}

std::vector<db::Layer> layers_of(const autotune_options& options) {
  std::vector<db::Layer> layers;
  if (options.user_database) {
    layers.push_back({options.user_database, db::Mode::read_only});
  } else {
    try {
      layers.push_back({db::default_store_path(), db::Mode::read_only});
    } catch (const db::StoreError&) {  // no home, no user's layer
    }
  }
  if (options.site_database) layers.push_back({options.site_database, db::Mode::read_only});
  if (options.shipped_database) layers.push_back({options.shipped_database, db::Mode::shipped});
  return layers;
}

struct Chosen {
  DeviceInfo info;
  std::optional<int> ordinal;
};

Chosen device_for(const autotune_options& options, const std::vector<db::Layer>& layers,
                  const std::string& target) {
  const std::string name = text_or(options.device, "");
  const std::vector<DeviceInfo> gpus = cuda_devices();
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    const bool wanted =
        name.empty() ? static_cast<int>(i) == options.ordinal : gpus[i].name == name;
    if (wanted) return {gpus[i], static_cast<int>(i)};
  }
  if (const auto info = device_of_layers(layers, target, name)) return {*info, std::nullopt};
  throw NoDevice(name.empty()
                     ? format("there is no GPU here, and the databases hold nothing for {}: name a "
                              "device, or tune it first",
                              target)
                     : format("there is no device \"{}\" here, nor is {} tuned for one of that "
                              "name",
                              name, target));
}

Device& compiler_of(autotune_handle& handle) {
  std::call_once(handle.device_made, [&] {
    handle.cache = std::make_shared<BuildCache>(BuildCache::default_folder());
    const DeviceInfo& info = handle.lookup.device();
    if (info.kind == DeviceKind::host || info.kind == DeviceKind::fake) {
      throw NoDevice(format("{} is no GPU: there is nothing to load a kernel on", info.name));
    }
    handle.device = handle.ordinal ? make_cuda_device(*handle.ordinal, handle.cache)
                                   : make_model_device(info, handle.cache);
  });
  return *handle.device;
}

std::unique_ptr<autotune_kernel> compile(autotune_handle& handle, const Problem& problem,
                                         const std::string& configuration) {
  const Target& target = handle.lookup.target();
  const DeviceInfo& info = handle.lookup.device();
  const NamedValues values = parse_named_values(configuration);
  auto kernel = std::make_unique<autotune_kernel>();
  kernel->configuration = configuration;
  kernel->compiled = compiler_of(handle).compile(source_unit(target, problem, values, info));
  kernel->plan = launch_plan(target, problem, values, info);
  kernel->buffers = buffers_of(target, problem, info);
  kernel->ordinal = handle.ordinal;
  return kernel;
}

void copy_out(autotune_answer& out, const LookupAnswer& answer) {
  out.configuration = answer.configuration.data();
  out.provenance = answer.provenance.empty() ? "" : answer.provenance.data();
  out.origin = static_cast<autotune_origin>(answer.origin);
  out.validity = static_cast<autotune_validity>(answer.validity);
  out.median_ns = answer.median_ns;
  out.default_ns = answer.default_ns;
  out.factor = answer.distance == 0 ? 1 : std::exp2(answer.distance);
}

}  // namespace

extern "C" {

const char* autotune_message(void) { return message.c_str(); }
int32_t autotune_abi(void) { return AUTOTUNE_ABI; }

autotune_status autotune_open(const autotune_options* options, autotune_handle** handle) {
  return guarded([&] {
    require(options && handle, "autotune_open needs options and a place for the handle");
    require(options->size >= sizeof(autotune_options),
            "autotune_options.size is not sizeof(autotune_options)");
    require(options->target, "autotune_options.target is missing, such as \"gemm\"");
    Target target = target_called(options->target);
    std::vector<db::Layer> layers = layers_of(*options);
    Chosen chosen = device_for(*options, layers, target.name);
    *handle =
        new autotune_handle(std::move(target), parse_named_values(text_or(options->settings, "")),
                            std::move(chosen.info), text_or(options->policy, "l2=hot launch=graph"),
                            std::move(layers), chosen.ordinal);
  });
}

void autotune_close(autotune_handle* handle) { delete handle; }

const char* autotune_device(const autotune_handle* handle) {
  return handle ? handle->lookup.device().name.c_str() : "";
}

const char* autotune_warnings(const autotune_handle* handle) {
  return handle ? handle->lookup.warnings().c_str() : "";
}

autotune_status autotune_lookup(autotune_handle* handle, const int64_t* sizes, size_t count,
                                autotune_answer* answer) {
  return guarded([&] {
    require(handle && sizes && answer && answer->size >= sizeof(autotune_answer),
            "autotune_lookup needs a handle, sizes, and an answer whose size is set");
    copy_out(*answer, handle->lookup.find({sizes, count}));
  });
}

autotune_status autotune_explain(autotune_handle* handle, const int64_t* sizes, size_t count,
                                 char* text, size_t capacity) {
  return guarded([&] {
    require(handle && sizes && text && capacity > 0,
            "autotune_explain needs a handle, sizes and room for the text");
    const std::string explanation = handle->lookup.explain({sizes, count});
    const std::size_t length = std::min(explanation.size(), capacity - 1);
    std::memcpy(text, explanation.data(), length);
    text[length] = '\0';
  });
}

autotune_status autotune_pin(autotune_handle* handle, const int64_t* sizes, size_t count,
                             const char* configuration) {
  return guarded([&] {
    require(handle && sizes, "autotune_pin needs a handle and sizes");
    handle->lookup.pin({sizes, count}, text_or(configuration, ""));
  });
}

autotune_status autotune_refresh(autotune_handle* handle) {
  return guarded([&] {
    require(handle, "autotune_refresh needs a handle");
    handle->lookup.refresh();
  });
}

autotune_status autotune_prepare(autotune_handle* handle, const int64_t* sizes, size_t count,
                                 autotune_kernel** kernel) {
  return guarded([&] {
    require(handle && sizes && kernel, "autotune_prepare needs a handle, sizes and a kernel");
    const Problem problem = handle->lookup.problem_for({sizes, count});
    const std::string first(handle->lookup.find({sizes, count}).configuration);
    auto made = compile(*handle, problem, first);
    if (made->compiled.outcome != Outcome::ok) {
      const std::string fallback = handle->lookup.default_for(problem);
      if (fallback != first) made = compile(*handle, problem, fallback);
    }
    if (made->compiled.outcome != Outcome::ok) {
      throw std::runtime_error(format("{} {} does not compile: {}", problem.text(),
                                      made->configuration, first_error(made->compiled.log)));
    }
    *kernel = made.release();
  });
}

void autotune_release(autotune_kernel* kernel) { delete kernel; }

const char* autotune_kernel_configuration(const autotune_kernel* kernel) {
  return kernel ? kernel->configuration.c_str() : "";
}

const void* autotune_kernel_binary(const autotune_kernel* kernel, size_t* bytes) {
  if (bytes) *bytes = kernel ? kernel->compiled.binary->size() : 0;
  return kernel ? kernel->compiled.binary->data() : nullptr;
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

autotune_status autotune_launch(autotune_kernel* kernel, void* const* buffers, size_t count,
                                void* stream) {
  return guarded([&] {
    require(kernel && buffers && count == kernel->buffers.size(),
            "autotune_launch needs a kernel and an address for each of its buffers");
    if (!kernel->ordinal) throw NoDevice("there is no GPU here to launch on");
    std::call_once(kernel->loaded, [&] {
      kernel->prepared = std::make_unique<PreparedKernel>(
          *kernel->ordinal, *kernel->compiled.binary, kernel->plan, kernel->buffers);
    });
    kernel->prepared->launch({buffers, count}, stream);
  });
}

}  // extern "C"
