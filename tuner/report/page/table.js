// SPDX-License-Identifier: Apache-2.0
// Tables of trials as they are packed in the page, and figures as the tool prints them.
"use strict";

const kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const kLetterBits = 6, kNumberBits = 24, kUnknown = 2 ** 24 - 1;
const kPlaces = new Uint8Array(128);  // by character code
[...kLetters].forEach((letter, place) => { kPlaces[letter.charCodeAt(0)] = place; });

const kPowers = Array.from({length: 65}, (unused, exponent) => 10 ** exponent);

function numberOfCode(code) {
  if (code === kUnknown) return null;
  const exponent = (code & 127) - 64, mantissa = code >>> 7;
  return exponent < 0 ? mantissa / kPowers[-exponent] : mantissa * kPowers[exponent];
}

function bitsOf(column) {
  return column.values ? Math.ceil(Math.log2(Math.max(1, column.values.length))) : kNumberBits;
}

/// A column's bits of each row, which start at the bit `from`.
function codesOf(places, {count, letters, from, bits}) {
  const codes = new Uint32Array(count), mask = 2 ** bits - 1;
  const first = Math.floor(from / kLetterBits), last = Math.floor((from + bits - 1) / kLetterBits);
  const spare = (last + 1) * kLetterBits - from - bits;
  for (let row = 0, start = 0; row < count; ++row, start += letters) {
    let held = 0;
    for (let at = start + first; at <= start + last; ++at) held = (held << kLetterBits) | places[at];
    codes[row] = (held >>> spare) & mask;
  }
  return codes;
}

/// A text for each row. Texts are equal if the rows are equal in their first `bits` bits.
function keysOf(rows, places, {count, letters, bits}) {
  const keys = new Array(count), whole = Math.floor(bits / kLetterBits);
  const spare = kLetterBits - bits % kLetterBits;
  for (let row = 0, start = 0; row < count; ++row, start += letters) {
    keys[row] = rows.substr(start, whole) + (places[start + whole] >>> spare);
  }
  return keys;
}

/// {table, keys, codes} of a PackedTable (tuner/report/script_data.hpp). The table is {count, NAME:
/// [value, …], …}. Rows have equal keys if they are equal in the first `keyColumns` columns. `codes`
/// has {values, of} by name for columns with few values: row i has values[of[i]].
function unpacked({count, columns, rows}, keyColumns) {
  const bits = columns.map(bitsOf), letters = Math.ceil(d3.sum(bits) / kLetterBits);
  const places = new Uint8Array(rows.length);
  for (let at = 0; at < places.length; ++at) places[at] = kPlaces[rows.charCodeAt(at)];
  const table = {count}, codes = new Map();
  let from = 0;
  columns.forEach(({name, values}, c) => {
    const of = codesOf(places, {count, letters, from, bits: bits[c]}), column = new Array(count);
    for (let row = 0; row < count; ++row) column[row] = values ? values[of[row]] : numberOfCode(of[row]);
    table[name] = column;
    if (values) codes.set(name, {values, of});
    from += bits[c];
  });
  const keyBits = d3.sum(bits.slice(0, keyColumns));
  return {table, codes, keys: keysOf(rows, places, {count, letters, bits: keyBits})};
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
