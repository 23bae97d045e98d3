// SPDX-License-Identifier: Apache-2.0
// `--device`: converts its text to devices, and lists devices.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tuner/cli/arguments.hpp"
#include "tuner/cli/verb.hpp"
#include "tuner/core/device.hpp"

namespace autotune::cli {

/// `--device` of verbs with one device.
extern const Option kDeviceOption;
/// `--device` of verbs with several devices.
extern const Option kDevicesOption;

/// `--compile-limit`.
extern const Option kCompileLimitOption;
double compile_limit_of(const Arguments& arguments);
/// One for each core.
int usual_compile_threads();
/// `--jobs`, else the usual ones.
int compile_threads_of(const Arguments& arguments);

/// Opens `auto` (the first GPU, else the host, with a note on stderr), `cuda`, `cuda:N`, a GPU by
/// its name, `host` or `model:NAME`. CUDA and host kernels run in a worker process. Compilers run
/// in their own processes and are killed after `compile_seconds`. A worker of kernels that nobody
/// trusts is confined to `readable` folders: see confine(). Throws UsageError for other texts,
/// Error if there is no such device.
std::unique_ptr<Device> open_device(const std::string& text, double compile_seconds,
                                    const std::vector<std::string>& readable = {});

/// Compiles for a GPU that need not be here, and runs nothing.
std::unique_ptr<Device> open_model(const DeviceInfo& gpu, double compile_seconds);
/// Throws UsageError for a text that is invalid on every machine; opens nothing.
void check_device(const std::string& text);

/// Opens several devices: `cuda:all` (every GPU), or a list with commas. Throws UsageError if they
/// are not alike, because results are stored for a kind of device.
std::vector<std::unique_ptr<Device>> open_devices(const std::string& text, double compile_seconds);
void check_devices(const std::string& text);

/// The GPU `cuda:N` of this machine, or any GPU by its name, such as h200. Throws Error if there is
/// no such GPU.
DeviceInfo gpu_named(const std::string& text);

/// That GPU as one that is there, not as a model of it; or the `host`. Throws Error.
DeviceInfo device_named(const std::string& text);

struct ListedDevice {
  std::string option;  // text for --device
  DeviceInfo info;
};
std::vector<ListedDevice> list_devices();

}  // namespace autotune::cli
