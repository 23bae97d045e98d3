// SPDX-License-Identifier: Apache-2.0
// autotune import kt and t4: results of other tuners, as rows of the database.
#include <chrono>
#include <filesystem>
#include <iostream>

#include "db/store.hpp"
#include "db/time_text.hpp"
#include "tuner/cli/import_actions.hpp"
#include "tuner/cli/imported_rows.hpp"
#include "tuner/cli/request.hpp"
#include "tuner/cli/tuned_entries.hpp"
#include "tuner/core/error.hpp"
#include "tuner/model/gpu_specs.hpp"
#include "tuner/records/records.hpp"
#include "tuner/target/catalog.hpp"
#include "tuner/text/format.hpp"

namespace autotune::cli {
namespace {

Problem problem_of_import(const Arguments& arguments, const Target& target) {
  const auto sizes = sizes_in(arguments.text("size"), target, "--size");
  if (sizes.size() > 1) throw UsageError("import takes one problem: give --size one item");
  return problem_of(target, sizes.front(), settings_of(arguments));
}

/// The database's device of this name, else the known GPU of this name.
db::DeviceRow device_called(const std::string& name, const db::TunedStore& store) {
  for (const db::DeviceRow& device : store.devices()) {
    if (device.name == name) return device;
  }
  DeviceInfo info = device_info(find_gpu(name));
  info.kind = DeviceKind::cuda;
  return device_row(info);
}

std::string device_name(const Arguments& arguments, const RecordedResults& results,
                        const std::string& file) {
  const std::string name = arguments.find("device").value_or(results.device);
  if (name.empty()) {
    throw UsageError(format("{}: does not name its device: name the GPU with --device", file));
  }
  return name;
}

/// The file's time, for results without a time of day: copies of a file that keep it give equal
/// rows.
std::string time_of(const std::filesystem::path& file) {
  const auto written = std::filesystem::last_write_time(file);
  return db::time_text(std::chrono::file_clock::to_sys(
      std::chrono::time_point_cast<std::chrono::microseconds>(written)));
}

void store_rows(db::TunedStore& store, ImportedRows rows, const db::DeviceRow& device,
                const Target& target, const std::string& command) {
  db::SessionRow session;
  session.started_at = rows.started_at;
  session.command = command;
  const std::string session_id = store.begin_session(session);
  const std::string device_id = store.add_device(device);
  const std::string kernel_id = store.add_kernel(kernel_row(target));
  const auto complete = [&](auto& row) {
    row.session = session_id;
    row.key.device = device_id;
    row.key.kernel = kernel_id;
  };
  for (db::TrialRow& trial : rows.trials) complete(trial);
  store.append(rows.trials);
  if (!rows.decision) return;
  complete(*rows.decision);
  store.add_decision(*rows.decision);
}

void import_file(const Arguments& arguments, const Target& target, const std::string& file,
                 db::TunedStore& store) {
  const RecordedResults results = read_recorded_results(file);
  const Problem problem = problem_of_import(arguments, target);
  const db::DeviceRow device = device_called(device_name(arguments, results, file), store);
  ImportedRows rows = [&] {
    try {
      return imported_rows(results, target, problem, device_of(device), time_of(file));
    } catch (const UsageError&) {
      throw;
    } catch (const Error& error) {
      throw Error(format("{}: {}", file, error.what()));
    }
  }();
  if (rows.trials.empty()) {
    throw Error(
        format("{}: none of its {} configurations is valid for {} {} on {}: autotune check "
               "shows those that are",
               file, results.results.size(), target.name, problem.text(), device.name));
  }
  std::cout << format("{}: {} trials of {} {} on {} imported", file, rows.trials.size(),
                      target.name, problem_text(target, problem), device.name);
  if (rows.left_out > 0) std::cout << format(", {} left out: not valid there", rows.left_out);
  std::cout << '\n';
  if (results.is_cut_off) {
    std::cerr << format("warning: {}: its end is missing; the last result is left out\n", file);
  }
  store_rows(store, std::move(rows), device, target,
             "import " + std::filesystem::path(file).filename().string());
}

}  // namespace

int import_results(const Arguments& arguments, const std::vector<std::string>& files) {
  const Target target = find_target(arguments.text("target"));
  arguments.text("size");
  db::TunedStore store = open_store(arguments, db::Mode::read_write);
  for (const std::string& file : files) import_file(arguments, target, file, store);
  return kDone;
}

}  // namespace autotune::cli
