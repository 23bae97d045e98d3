// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/calibrated.hpp"

#include "tuner/core/error.hpp"
#include "tuner/session/records.hpp"

namespace autotune {
namespace {

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
  for (const CalibrationField& field : kCalibrationFields) {
    db::CalibrationRow row;
    row.device = id;
    row.name = field.name;
    row.value = calibration.*field.value;
    row.created_at = db::now_text();
    store.calibrate(row);
  }
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
  }
  return calibration;
}

Calibration calibration_of(db::TunedStore* store, Device& device) {
  const DeviceInfo& info = device.info();
  if (info.kind != DeviceKind::cuda) return {};
  if (store && is_stored(*store, info)) return stored_calibration(*store, info);
  try {
    const Calibration measured = calibrate(device);
    if (store) keep(*store, info, measured);
    return measured;
  } catch (const Error&) {
    return {};
  }
}

}  // namespace autotune
