// SPDX-License-Identifier: Apache-2.0
// `--device`: from its text to a Device, and what there is.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tuner/cli/arguments.hpp"
#include "tuner/cli/verb.hpp"
#include "tuner/core/device.hpp"

namespace autotune::cli {

/// The option that every verb with a device has.
extern const Option kDeviceOption;
/// The same for a verb that takes several.
extern const Option kDevicesOption;

/// How long compiling one kernel may take.
extern const Option kCompileLimitOption;
double compile_limit_of(const Arguments& arguments);

/// `auto` (the first GPU, else the host, which it says on stderr), `cuda`, `cuda:N`, `host`,
/// `model:NAME`. CUDA and host kernels run in a worker process. Throws UsageError for any other
/// text, Error when there is no such device here. Compilers run in processes of their own, and are
/// killed after `compile_seconds`.
std::unique_ptr<Device> open_device(const std::string& text, double compile_seconds);

/// Throws UsageError for a text that open_device() would not take anywhere; opens nothing.
void check_device(const std::string& text);

/// The same for several, as `cuda:all` (every GPU) or with commas between them. Throws UsageError
/// when they are not alike: what is stored is stored for one kind of device.
std::vector<std::unique_ptr<Device>> open_devices(const std::string& text, double compile_seconds);
void check_devices(const std::string& text);

struct ListedDevice {
  std::string option;  // what --device takes
  DeviceInfo info;
};
std::vector<ListedDevice> list_devices();

}  // namespace autotune::cli
