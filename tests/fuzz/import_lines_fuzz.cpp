// SPDX-License-Identifier: Apache-2.0
// Any text as the JSON lines of `autotune db import`: what comes in is whole, can be read, and goes
// out and in again.
#include <sstream>

#include "db/connection.hpp"
#include "db/exchange.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tuner/text/format.hpp"

namespace autotune::fuzz {
namespace {

using db::TunedStore;

/// A database in memory. Its statements stay prepared from input to input.
class Scratch {
 public:
  TunedStore& emptied() {
    for (const char* table : {"best", "retraction", "calibration", "pin", "decision", "trial",
                              "session", "kernel", "device"}) {
      store_.connection().query(format("DELETE FROM {}", table)).run();
    }
    return store_;
  }

 private:
  TunedStore store_{":memory:"};
};

db::ImportReport import(TunedStore& store, const std::string& lines) {
  std::istringstream in(lines);
  return db::import_json_lines(store, in, "lines");
}

std::string exported(const TunedStore& store) {
  std::ostringstream out;
  require(db::export_json_lines(store, out) == 0, "a row that was imported is damaged");
  return out.str();
}

/// Every question that the command line asks.
void ask(const TunedStore& store) {
  std::ostringstream out;
  db::export_header(store.tuned({}), out);
  for (const db::TunedOn& on : store.tuned_on()) {
    store.nearest({.device_name = on.device_name, .target = on.target}, "M=64 N=64 K=64");
  }
  for (const db::TunedEntry& entry : store.tuned({})) {
    store.trials(entry.best.key);
    store.quarantined(entry.best.key);
    require(store.best(entry.best.key) == entry.best, "two readers give two answers");
  }
  for (const db::DeviceRow& device : store.devices()) store.calibration(device.id);
}

}  // namespace

void feed(std::string_view input) {
  static Scratch first, second;
  TunedStore& store = first.emptied();
  import(store, std::string(input));
  for (const std::string& damage : store.check().damage) require(false, damage);
  ask(store);
  const std::string lines = exported(store);
  TunedStore& copy = second.emptied();
  require(import(copy, lines).refused.empty(), "an export is refused");
  require(exported(copy) == lines, "an export of an import differs");
}

}  // namespace autotune::fuzz
