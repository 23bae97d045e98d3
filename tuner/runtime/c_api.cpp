// SPDX-License-Identifier: Apache-2.0
// The C API's lookups: no exception leaves it.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <memory>
#include <new>

#include "tuner/answer/target_lookup.hpp"
#include "tuner/gpu/cuda_device.hpp"
#include "tuner/gpu/on_device.hpp"
#include "tuner/host/host_compiler.hpp"
#include "tuner/measure/policy.hpp"
#include "tuner/plugin/target_hooks.hpp"
#include "tuner/records/records.hpp"
#include "tuner/runtime/c_handle.hpp"
#include "tuner/runtime/library_folders.hpp"
#include "tuner/target/catalog.hpp"
#include "tuner/text/environment.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"
#include "tuner/text/printable.hpp"

using namespace autotune;
using namespace autotune::c_boundary;

namespace {

thread_local std::string message;

/// The size of autotune_answer in the first header.
constexpr std::size_t kFirstAnswer = offsetof(autotune_answer, baseline);

/// The size of autotune_options in the first header.
constexpr std::size_t kFirstOptions = offsetof(autotune_options, early_start);

/// Options that the program's header does not have are 0.
autotune_options known_part(const autotune_options& options) {
  require(options.size >= kFirstOptions, "autotune_options.size is not sizeof(autotune_options)");
  autotune_options known{};
  std::memcpy(&known, &options, std::min(options.size, sizeof known));
  return known;
}

std::string text_or(const char* text, const char* otherwise) { return text ? text : otherwise; }

std::vector<std::filesystem::path> installed_kernels() {
  std::vector<std::filesystem::path> folders;
  for (const auto& folder : folders_above_library()) {
    folders.push_back(folder / "share/autotune/kernel_sources");
  }
  return folders;
}

/// Looks for a name where the tool looks; what is installed with this library comes before what is
/// installed with the program.
Target target_called(const std::string& name) { return find_target_in(installed_kernels(), name); }

/// shipped.db beside the installed kernels; empty without an installation.
std::filesystem::path installed_database() {
  for (const auto& folder : folders_above_library()) {
    std::error_code none;
    const auto data = folder / "share/autotune";
    if (std::filesystem::exists(data / "kernel_sources", none)) return data / "shipped.db";
  }
  return {};
}

/// nullopt without a home.
std::optional<std::filesystem::path> user_database(const autotune_options& options) try {
  return options.user_database ? options.user_database : db::default_store_path();
} catch (const db::StoreError&) {
  return std::nullopt;
}

std::vector<db::Layer> layers_of(const autotune_options& options) {
  std::vector<db::Layer> layers;
  if (const auto user = user_database(options)) layers.push_back({*user, db::Mode::read_only});
  if (options.site_database) layers.push_back({options.site_database, db::Mode::read_only});
  if (!options.shipped_database) {
    if (const auto installed = installed_database(); !installed.empty()) {
      layers.push_back({installed, db::Mode::shipped, true});
    }
  } else if (*options.shipped_database != '\0') {
    layers.push_back({options.shipped_database, db::Mode::shipped});
  }
  return layers;
}

NamedValues settings_of(const autotune_options& options, const OldName* old) try {
  NamedValues settings = parse_named_values(text_or(options.settings, ""));
  for (const NamedValue& one : settings) {
    if (find_value(settings, one.name) == &one.value) continue;
    throw Error(format("{} is given twice: leave one out", one.name));
  }
  for (const NamedValue& one : parse_named_values(old ? old->settings : "")) {
    if (!find_value(settings, one.name)) settings.push_back(one);
  }
  return settings;
} catch (const Error& error) {
  throw UsageError(format("autotune_options.settings: {}", error.what()));
}

Policy policy_of(const autotune_options& options, DeviceKind kind) {
  Policy usual;
  usual.context = default_context(kind);
  const std::string wanted = options.policy ? options.policy : key_text(usual);
  for (const Policy& policy : stored_policies()) {
    if (key_text(policy) == wanted) return policy;
  }
  throw UsageError(
      format("autotune_options.policy is \"{}\": it must be `l2=hot launch=graph`, with l2=cold "
             "or launch=stream if so tuned, then objective=energy or objective=edp if so tuned, "
             "then context=between or context=alone if not in a chain",
             wanted));
}

/// The program's own, else those of plugins.
Libraries libraries_of(const autotune_options& options) {
  if (!options.library) return runtime_library_for;
  return [name = std::string(options.library)](const std::string&, const Workload&, bool) {
    return name;
  };
}

struct Chosen {
  DeviceInfo info;
  std::optional<int> ordinal;
};

std::optional<Chosen> gpu_here(const std::vector<DeviceInfo>& gpus, int ordinal,
                               const std::string& name) try {
  const std::optional<int> chosen = chosen_gpu(gpus, name, ordinal);
  if (!chosen) return std::nullopt;
  return Chosen{gpus[static_cast<std::size_t>(*chosen)], *chosen};
} catch (const Error& error) {
  throw NoDevice(error.what());
}

Chosen device_for(const autotune_options& options, const std::vector<db::Layer>& layers,
                  const std::string& target) {
  const std::string name = text_or(options.device, "");
  require(options.ordinal >= 0, "autotune_options.ordinal is negative: GPUs are numbered from 0");
  if (name == "host") return {cpu_info(), std::nullopt};
  if (const auto here = gpu_here(cuda_devices(), options.ordinal, name)) return *here;
  std::vector<std::string> remarks;
  if (const auto info = device_of_layers(layers, target, name, remarks)) {
    return {*info, std::nullopt};
  }
  const std::string why = remarks.empty() ? "" : format(" ({})", joined(remarks, "; "));
  throw NoDevice(name.empty()
                     ? format("there is no GPU here, and the databases hold nothing for {}{}: name "
                              "a device, or tune it first",
                              target, why)
                     : format("there is no device \"{}\" here, nor is {} tuned for one of that "
                              "name{}",
                              name, target, why));
}

/// The device of a lock. Without a GPU here, the lock of a GPU can be read. Throws Error if the
/// lock is for another device than the one that is here or named.
Chosen device_for(const autotune_options& options, const Lock& lock) {
  const db::DeviceRow& locked = lock.device;
  const std::string name = text_or(options.device, "");
  const bool is_host = locked.kind == name_of(DeviceKind::host);
  const auto refuse = [&](const std::string& other) {
    throw Error(
        format("{}: is for {} with {} multiprocessors, not for {}: make a lock for that "
               "device (autotune lock)",
               lock.path.string(), locked.name, locked.multiprocessors, other));
  };
  if (!name.empty() && name != locked.name && !(is_host && name == "host")) refuse(name);
  std::optional<Chosen> here;
  if (is_host) {
    here = {cpu_info(), std::nullopt};
  } else {
    const std::vector<DeviceInfo> gpus = cuda_devices_without_compiler();
    here = gpu_here(gpus, options.ordinal, locked.name);
    if (!here) here = gpu_here(gpus, 0, "");
  }
  if (!here) return {device_of(locked), std::nullopt};
  if (!db::is_same_device(device_row(here->info), locked)) {
    refuse(format("{} with {}", here->info.name, here->info.multiprocessors));
  }
  return *here;
}

/// There is no race for a GPU that is not in this machine.
void set_up_first_use(autotune_handle& handle, const autotune_options& options,
                      const Policy& policy) {
  if (options.first_use_ms < 0) {
    handle.lookup.warn(
        "autotune_options.first_use_ms is negative: it counts as 0, nothing is raced");
  }
  if (options.first_use_ms <= 0 || !handle.ordinal) return;
  if (policy.objective != Objective::time) {
    handle.lookup.warn("autotune_options.first_use_ms: a race is for time only, nothing is raced");
    return;
  }
  FirstUse::Options wanted;
  wanted.seconds = static_cast<double>(options.first_use_ms) * 1e-3;
  wanted.policy = policy;
  wanted.database = user_database(options);
  wanted.libraries = [&handle](const std::string& target) {
    if (handle.tuned_only) return std::vector<BaselineSource>();
    return runtime_baselines(target);
  };
  wanted.open_device = [ordinal = *handle.ordinal] {
    return make_cuda_device(ordinal, std::make_shared<BuildCache>(BuildCache::default_folder()),
                            open_plugin_baseline);
  };
  handle.first_use = std::make_unique<FirstUse>(std::move(wanted));
}

autotune_validity validity_of(db::Validity validity) {
  switch (validity) {
    case db::Validity::exact:
      return AUTOTUNE_VALID;
    case db::Validity::environment_drifted:
      return AUTOTUNE_ENVIRONMENT_DRIFTED;
    case db::Validity::alike:
      return AUTOTUNE_ALIKE_SETTINGS;
    case db::Validity::source_drifted:
      break;
  }
  return AUTOTUNE_SOURCE_DRIFTED;
}

void copy_out(autotune_answer& out, const LookupAnswer& answer, const Target& target) {
  out.configuration = answer.configuration.empty() ? "" : answer.configuration.data();
  out.provenance = answer.provenance.empty() ? "" : answer.provenance.data();
  out.origin = static_cast<autotune_origin>(answer.origin);
  out.validity = validity_of(answer.validity);
  out.median_ns = answer.median_ns;
  out.default_ns = answer.default_ns;
  out.factor = answer.distance == 0 ? 1 : std::exp2(answer.distance);
  if (out.size < offsetof(autotune_answer, target)) return;
  out.baseline = answer.baseline.empty() ? "" : answer.baseline.data();
  out.baseline_ns = answer.baseline_ns;
  if (out.size < offsetof(autotune_answer, expected_ns)) return;
  out.target = target.name.c_str();
  if (out.size < offsetof(autotune_answer, is_open)) return;
  out.expected_ns = answer.expected_ns;
  if (out.size < sizeof(autotune_answer)) return;
  out.is_open = answer.is_open() ? 1 : 0;
}

}  // namespace

namespace {

/// The lock that options name in place of the user's database; nullptr: they name none.
std::shared_ptr<const Lock> lock_of(const autotune_options& options) {
  const auto file = user_database(options);
  return file && is_lock(*file) ? opened_lock(*file) : nullptr;
}

/// nullptr: the options name no lock. What is wrong with a lock is AUTOTUNE_FAILED.
std::unique_ptr<autotune_handle> locked_handle_of(const autotune_options& options,
                                                  const Target& target,
                                                  const NamedValues& settings) try {
  const auto lock = lock_of(options);
  if (!lock) return nullptr;
  Chosen chosen = device_for(options, *lock);
  const std::string policy = key_text(policy_of(options, chosen.info.kind));
  return std::make_unique<autotune_handle>(target, settings, std::move(chosen.info), policy, lock,
                                           chosen.ordinal, libraries_of(options));
} catch (const NoDevice&) {
  throw;
} catch (const UsageError&) {
  throw;
} catch (const Error& error) {
  throw std::runtime_error(error.what());
}

std::unique_ptr<autotune_handle> handle_of(const autotune_options& options, Target target,
                                           const NamedValues& settings) {
  if (auto handle = locked_handle_of(options, target, settings)) return handle;
  const std::vector<db::Layer> layers = waiting_briefly(layers_of(options));
  Chosen chosen = device_for(options, layers, target.name);
  const Policy policy = policy_of(options, chosen.info.kind);
  auto made = std::make_unique<autotune_handle>(std::move(target), settings, std::move(chosen.info),
                                                key_text(policy), layers, chosen.ordinal,
                                                libraries_of(options));
  set_up_first_use(*made, options, policy);
  made->earns =
      options.earn != 0 && made->ordinal && policy.objective == Objective::time && may_earn();
  made->database = user_database(options);
  return made;
}

}  // namespace

namespace autotune::c_boundary {

autotune_status failed(autotune_status status, const char* what) noexcept {
  try {
    message = printable(what);
  } catch (...) {
    message.clear();
  }
  return status;
}

void require(bool condition, const char* what) {
  if (!condition) throw UsageError(what);
}

std::vector<std::int64_t> in_new_order(const autotune_handle& handle,
                                       std::span<const std::int64_t> given) {
  const OldName& old = *handle.old;
  if (given.size() != old.sizes.size()) {
    throw UsageError(format("{} has {} sizes, not {}", old.name, old.sizes.size(), given.size()));
  }
  std::vector<std::int64_t> sizes;
  for (const std::string& name : size_names(handle.lookup.target())) {
    const auto from = std::ranges::find(old.sizes, name, &OldSize::is);
    const bool is_given = from != old.sizes.end() && (!from->only_for_beta || handle.reads_c);
    sizes.push_back(is_given ? given[static_cast<std::size_t>(from - old.sizes.begin())]
                             : kDefaultSize);
  }
  return sizes;
}

}  // namespace autotune::c_boundary

extern "C" {

const char* autotune_message(void) { return message.c_str(); }
int32_t autotune_abi(void) { return AUTOTUNE_ABI; }

autotune_status autotune_open(const autotune_options* options, autotune_handle** handle) {
  return guarded([&] {
    require(options && handle, "autotune_open needs options and a place for the handle");
    const autotune_options given = known_part(*options);
    require(given.target, "autotune_options.target is missing, such as \"gemm\"");
    require(!given.alternative,
            "autotune_options.alternative must be NULL: for FP32 units only, add units=fp32 to the "
            "settings of gemm");
    const OldName* const old = old_name(given.target, installed_kernels());
    Target target = target_called(old ? std::string(old->now) : given.target);
    const NamedValues settings = settings_of(given, old);
    auto made = handle_of(given, std::move(target), settings);
    if (old && !old->sizes.empty()) made->old = old;
    const Value* const scale = find_value(settings, "scale");
    made->reads_c = scale && *scale == Value("beta");
    made->tuned_only = given.tuned_only != 0;
    if (given.early_start != 0) made->early_start = EarlyStart::everywhere;
    made->calls_library = given.library != nullptr;
    *handle = made.release();
  });
}

void autotune_close(autotune_handle* handle) {
  std::optional<OnDevice> on_device;  // for what a race has left there
  if (handle && handle->first_use) on_device.emplace(*handle->ordinal, std::nothrow);
  delete handle;
}

const char* autotune_device(const autotune_handle* handle) {
  return handle ? handle->lookup.device().name.c_str() : "";
}

const char* autotune_warnings(const autotune_handle* handle) {
  return handle ? handle->lookup.warnings().c_str() : "";
}

int32_t autotune_place(const autotune_handle* handle) {
  if (!handle) return AUTOTUNE_NOWHERE;
  if (handle->ordinal) return *handle->ordinal;
  const DeviceInfo& info = handle->lookup.device();
  const bool is_here = info.kind == DeviceKind::host && info.name == cpu_info().name;
  return is_here ? AUTOTUNE_ON_HOST : AUTOTUNE_NOWHERE;
}

size_t autotune_sizes(const autotune_handle* handle) {
  if (!handle) return 0;
  return handle->old ? handle->old->sizes.size() : needed_sizes(handle->lookup.target());
}

size_t autotune_all_sizes(const autotune_handle* handle) {
  if (!handle) return 0;
  if (handle->old) return handle->old->sizes.size();
  const Target& target = handle->lookup.target();
  return target.sizes.size() + target.free_sizes.size();
}

const char* autotune_size_name(const autotune_handle* handle, size_t index) {
  if (index >= autotune_all_sizes(handle)) return "";
  if (handle->old) return handle->old->sizes[index].was;
  const Target& target = handle->lookup.target();
  const std::size_t key = target.sizes.size();
  return (index < key ? target.sizes[index] : target.free_sizes[index - key].name).c_str();
}

autotune_status autotune_lookup(autotune_handle* handle, const int64_t* sizes, size_t count,
                                autotune_answer* answer) {
  return guarded([&] {
    require(handle && sizes && answer && answer->size >= kFirstAnswer,
            "autotune_lookup needs a handle, sizes, and an answer whose size is set");
    const CallSizes all(*handle, sizes, count);
    TargetLookup& lookup = handle->lookup;
    copy_out(*answer, lookup.find(all), lookup.target());
  });
}

autotune_status autotune_is_faster(autotune_handle* other, const int64_t* other_sizes,
                                   size_t other_count, autotune_handle* handle,
                                   const int64_t* sizes, size_t count, int32_t* faster) {
  return guarded([&] {
    require(other && other_sizes && handle && sizes && faster,
            "autotune_is_faster needs two handles, their sizes, and a place for the result");
    const LookupAnswer others = other->lookup.find(CallSizes(*other, other_sizes, other_count));
    const LookupAnswer own = handle->lookup.find(CallSizes(*handle, sizes, count));
    *faster = is_faster(others, own, engines_of(*handle)) ? 1 : 0;
  });
}

autotune_status autotune_explain(autotune_handle* handle, const int64_t* sizes, size_t count,
                                 char* text, size_t capacity) {
  return guarded([&] {
    require(handle && sizes && text && capacity > 0,
            "autotune_explain needs a handle, sizes and room for the text");
    const CallSizes all(*handle, sizes, count);
    const std::string explanation = printable(handle->lookup.explain(all));
    const std::size_t length = std::min(explanation.size(), capacity - 1);
    std::memcpy(text, explanation.data(), length);
    text[length] = '\0';
  });
}

autotune_status autotune_pin(autotune_handle* handle, const int64_t* sizes, size_t count,
                             const char* configuration) {
  return guarded([&] {
    require(handle && sizes, "autotune_pin needs a handle and sizes");
    handle->lookup.pin(CallSizes(*handle, sizes, count), text_or(configuration, ""));
  });
}

autotune_status autotune_refresh(autotune_handle* handle) {
  return guarded([&] {
    require(handle, "autotune_refresh needs a handle");
    handle->lookup.refresh();
  });
}

}  // extern "C"
