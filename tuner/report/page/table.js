// SPDX-License-Identifier: Apache-2.0
// Tables of trials as they are packed in the page, and figures as the tool prints them.
"use strict";

const kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const kLetterBits = 6, kNumberBits = 24, kUnknown = 2 ** 24 - 1;
const kPlaces = new Uint8Array(128);  // by character code
[...kLetters].forEach((letter, place) => { kPlaces[letter.charCodeAt(0)] = place; });

function numberOfCode(code) {
  if (code === kUnknown) return null;
  const exponent = (code & 127) - 64, mantissa = code >>> 7;
  return exponent < 0 ? mantissa / 10 ** -exponent : mantissa * 10 ** exponent;
}

function bitsOf(column) {
  return column.values ? Math.ceil(Math.log2(Math.max(1, column.values.length))) : kNumberBits;
}

/// {table, keys} of a PackedTable (tuner/report/packed_table.hpp). The table is {count, NAME: [value,
/// …], …}. Rows have equal keys if they are equal in the first `keyColumns` columns.
function unpacked(packed, keyColumns) {
  const bits = packed.columns.map(bitsOf);
  const letters = Math.ceil(d3.sum(bits) / kLetterBits);
  const columns = packed.columns.map(() => new Array(packed.count));
  const keys = new Array(packed.count), key = new Array(keyColumns);
  for (let row = 0, at = 0; row < packed.count; ++row) {
    const end = at + letters;
    let held = 0, filled = 0;
    for (let c = 0; c < bits.length; ++c) {
      while (filled < bits[c]) {
        held = (held << kLetterBits) | kPlaces[packed.rows.charCodeAt(at++)];
        filled += kLetterBits;
      }
      filled -= bits[c];
      const code = held >>> filled;
      held &= (1 << filled) - 1;
      if (c < keyColumns) key[c] = code;
      columns[c][row] = packed.columns[c].values ? packed.columns[c].values[code]
                                                 : numberOfCode(code);
    }
    keys[row] = String.fromCharCode(...key);
    at = end;
  }
  const table = {count: packed.count};
  packed.columns.forEach((column, c) => { table[column.name] = columns[c]; });
  return {table, keys};
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
