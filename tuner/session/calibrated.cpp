// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/calibrated.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>

#include "tuner/core/error.hpp"
#include "tuner/records/records.hpp"

namespace autotune {
namespace {

const std::string kGroupsOf = "groups_of_";
constexpr double kMostGroups = 1000;

/// The id under which the device is stored, or empty.
std::string id_of(const db::TunedStore& store, const DeviceInfo& info) {
  const db::DeviceRow wanted = device_row(info);
  for (db::DeviceRow each : store.devices()) {
    std::string id = std::move(each.id);
    each.id = wanted.id;
    if (each == wanted) return id;
  }
  return "";
}

bool is_stored(const db::TunedStore& store, const DeviceInfo& info) {
  const std::string id = id_of(store, info);
  return !id.empty() && !store.calibration(id).empty();
}

void keep(db::TunedStore& store, const DeviceInfo& info, const Calibration& calibration) {
  const std::string id = store.add_device(device_row(info));
  const auto add = [&](std::string name, double value) {
    db::CalibrationRow row;
    row.device = id;
    row.name = std::move(name);
    row.value = value;
    row.created_at = db::now_text();
    store.calibrate(row);
  };
  for (const CalibrationField& field : kCalibrationFields) {
    add(std::string(field.name), calibration.*field.value);
  }
  std::map<int, int> groups;
  for (const int size : calibration.cluster_groups) ++groups[size];
  for (const auto& [size, count] : groups) add(kGroupsOf + std::to_string(size), count);
}

/// `groups_of_16`, 5: five groups of 16 multiprocessors.
void take_groups(Calibration& calibration, const db::CalibrationRow& row) {
  if (!row.name.starts_with(kGroupsOf)) return;
  const int size = std::atoi(row.name.c_str() + kGroupsOf.size());
  const auto count = static_cast<std::size_t>(std::clamp(row.value, 0.0, kMostGroups));
  if (size > 0) calibration.cluster_groups.insert(calibration.cluster_groups.end(), count, size);
}

}  // namespace

Calibration stored_calibration(const db::TunedStore& store, const DeviceInfo& info) {
  Calibration calibration;
  const std::string id = id_of(store, info);
  if (id.empty()) return calibration;
  for (const db::CalibrationRow& row : store.calibration(id)) {
    for (const CalibrationField& field : kCalibrationFields) {
      if (field.name == row.name) calibration.*field.value = row.value;
    }
    take_groups(calibration, row);
  }
  std::ranges::sort(calibration.cluster_groups);
  return calibration;
}

bool needs_calibration(const db::TunedStore* store, const Device& device) {
  return device.info().kind == DeviceKind::cuda && !(store && is_stored(*store, device.info()));
}

Calibration calibration_of(db::TunedStore* store, Device& device) {
  if (device.info().kind != DeviceKind::cuda) return {};
  if (!needs_calibration(store, device)) return stored_calibration(*store, device.info());
  try {
    const Calibration measured = calibrate(device);
    if (store) keep(*store, device.info(), measured);
    return measured;
  } catch (const Error&) {
    return {};
  }
}

}  // namespace autotune
