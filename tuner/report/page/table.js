// SPDX-License-Identifier: Apache-2.0
// Tables of trials, and figures as the tool prints them.
"use strict";

/// {table, keys, codes} of a problem's trials (tuner/report/page.hpp). The table is {count, NAME:
/// [value, …], …}. Rows have equal keys if they are equal in the first `keyColumns` columns. `codes`
/// has {values, of} by name for columns of texts: row i has values[of[i]].
function tableOf({count, columns}, keyColumns) {
  const table = {count}, codes = new Map(), keyed = columns.slice(0, keyColumns);
  for (const {name, values, cells} of columns) {
    table[name] = values ? cells.map((place) => values[place]) : cells;
    if (values) codes.set(name, {values, of: cells});
  }
  return {table, codes, keys: d3.range(count).map((row) => keyed.map(({cells}) => cells[row]).join())};
}

function inUnits(value, units) {
  const [size, name] = units.find(([size]) => Math.abs(value) >= size * 0.99995) ||
                       units[units.length - 1];
  return `${(value / size).toPrecision(4)} ${name}`;
}
const timeText = (seconds) => inUnits(seconds, [[1, "s"], [1e-3, "ms"], [1e-6, "us"], [1e-9, "ns"]]);
const rateText = (rate) => inUnits(rate, [[1e12, "TFLOP/s"], [1e9, "GFLOP/s"], [1e6, "MFLOP/s"]]);
const bandwidthText = (rate) => inUnits(rate, [[1e12, "TB/s"], [1e9, "GB/s"], [1e6, "MB/s"]]);
const percentText = (share) => `${(100 * share).toPrecision(3)} %`;

/// A tick's label: the shortest form, with the unit's prefix for large numbers.
function tickText(value) {
  if (value >= 1e5) return d3.format(".3~s")(value);
  return String(Number(value.toPrecision(4)));
}

/// One line of a CSV file.
function csvLine(values) {
  return values.map((value) => {
    const text = value === null || value === undefined ? "" : String(value);
    return /[",\n\r]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
  }).join(",");
}
