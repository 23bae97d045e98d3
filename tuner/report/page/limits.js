// SPDX-License-Identifier: Apache-2.0
// Plots of what limits one problem: roofline, and registers or occupancy against time.

/// Rates over the FLOPs per byte through L2, under the roofs.
function drawRoofline(box, problem, rows) {
  const trials = problem.table;
  if (!problem.roofs) return tell(box, "The roofs of this device are not known.");
  if (!trials.intensity) {
    return tell(box, "The target was not found, or its manifest says too little of its work.");
  }
  const fastest = fastestRows(problem, rows).filter((row) => trials.intensity[row] > 0);
  if (fastest.length === 0) return empty(box);
  const {l2, memory} = problem.roofs;
  const fma = problem.roofs.flops, flops = Math.max(fma, problem.roofs.tensor);
  const name = flops > fma ? "tensor core, FMA and L2 roofs" : "FMA and L2 roofs";
  const rate = (row) => problem.flops / (trials.ns[row] * 1e-9);
  const ridge = flops / l2;
  const counted = countedPoints(problem);
  const [low, high] = d3.extent(fastest.map((row) => trials.intensity[row])
    .concat(counted.map((one) => one.intensity), [ridge]));
  const frame = drawing(box, {left: 74});
  const x = d3.scaleLog().domain([low / 2, high * 2]).range([0, frame.width]);
  const y = logScale(fastest.map(rate).concat(counted.map((one) => one.rate), [flops * 1.3]), [frame.height, 0]);
  axes(frame, x, y, {xLabel: "FLOPs per byte through L2", yLabel: "rate (FLOP/s)", yFormat: d3.format(".3~s")});
  const start = Math.max(low / 2, y.domain()[0] / l2);
  roofLine(frame, x, y, [[start, start * l2], [ridge, flops], [high * 2, flops]],
    flops > fma ? "tensor core and L2 roofs" : name);
  if (flops > fma) roofLine(frame, x, y, [[fma / l2, fma], [high * 2, fma]], "FMA roof");
  const byMemory = problem.bytes > 0 ? problem.flops / problem.bytes * memory : 0;
  const isShown = byMemory > y.domain()[0] && byMemory < flops;
  if (isShown) roofLine(frame, x, y, [[low / 2, byMemory], [high * 2, byMemory]], "memory roof");
  dots(frame, fastest.slice(1), {x: (row) => x(trials.intensity[row]), y: (row) => y(rate(row)), kind: () => "ok",
    title: (row) => `${rateText(rate(row))}\n${trialText(problem, row)}`});
  dots(frame, fastest.slice(0, 1), {x: (row) => x(trials.intensity[row]), y: (row) => y(rate(row)),
    kind: () => "best", radius: 6, title: (row) => `${rateText(rate(row))}\n${trialText(problem, row)}`});
  drawCounted(frame, counted, x, y);
  legend(box, [["best", "fastest in the search"], ["ok", "timed"]]
    .concat(counted.length > 0 ? [["counted", "counted by the hardware"]] : []).concat([["roof", isShown ? `${name}, memory` : name]]));
}

/// Finalists where their counters put them.
function countedPoints(problem) {
  return problem.counted.map((one) => ({...one, rate: one.flops / one.seconds,
    intensity: one.flops / one.counters.l2_bytes}))
    .filter((one) => one.rate > 0 && one.rate < Infinity && one.intensity > 0 && one.intensity < Infinity);
}

function drawCounted(frame, counted, x, y) {
  const diamond = d3.symbol().type(d3.symbolDiamond).size(70)();
  frame.plot.append("g").selectAll("path").data(counted).enter().append("path")
    .attr("class", "mark counted").attr("d", diamond)
    .attr("transform", (one) => `translate(${x(one.intensity)},${y(one.rate)})`)
    .append("title").text((one) => `${one.role}, as counted: ${rateText(one.rate)}, ` +
      `${tickText(one.intensity)} FLOPs a byte through L2\n${one.configuration}`);
}

function roofLine(frame, x, y, points, name) {
  frame.plot.append("path").datum(points).attr("class", "line roof")
    .attr("d", d3.line().x((p) => x(p[0])).y((p) => y(p[1]))).append("title").text(name);
}

const kResources = [
  {value: "occupancy", text: "occupancy"}, {value: "registers", text: "registers"},
  {value: "shared_bytes", text: "shared bytes"}, {value: "local_bytes", text: "local bytes (spills)"},
  {value: "compile_seconds", text: "compile seconds"}];

/// Times over what the compiler and the launch say of a configuration.
function drawResources(box, problem, rows, over, choose) {
  const trials = problem.table;
  const fastest = fastestRows(problem, rows);
  const known = kResources.filter(({value}) => fastest.some((row) => trials[value][row] !== trials[value][fastest[0]]));
  box.select(".controls").selectAll("*").remove();
  if (known.length === 0) return tell(box, "Nothing is stored of the compiled kernels.");
  const chosen = known.find(({value}) => value === over) || known[0];
  choice(box, "over", known, chosen.value, choose);
  const shown = fastest.filter((row) => trials[chosen.value][row] !== null);
  const frame = drawing(box);
  const [low, high] = d3.extent(shown, (row) => trials[chosen.value][row]);
  const x = d3.scaleLinear().domain([Math.min(low, 0), high]).nice().range([0, frame.width]);
  const y = logScale(shown.map((row) => trials.ns[row] * 1e-9), [frame.height, 0]);
  axes(frame, x, y, {xLabel: chosen.text, yLabel: "time of a call", yFormat: shortTime,
    xFormat: chosen.value === "occupancy" ? (share) => `${Math.round(100 * share)} %` : tickText});
  dots(frame, shown, {x: (row) => x(trials[chosen.value][row]), y: (row) => y(trials.ns[row] * 1e-9),
    kind: (row) => (row === fastest[0] ? "best" : "ok"), title: (row) => trialText(problem, row)});
}
