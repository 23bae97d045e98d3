// SPDX-License-Identifier: Apache-2.0
// Plots of one problem's search: its trace, how good its configurations are, where the time went.

const kMostCurvePoints = 1000, kMostPredictions = 20000;
const kSlowest = 8;  // times of the best; slower trials are drawn at the top edge
const kFailed = (outcome) => outcome !== "ok" && outcome !== "pruned";

/// Best time so far at each trial, over those of the search.
function bestSoFar(trials, rows) {
  let best = Infinity;
  const steps = [];
  for (const row of rows) {
    if (trials.outcome[row] !== "ok" || !(trials.ns[row] < best)) continue;
    best = trials.ns[row];
    steps.push({row, ns: best});
  }
  return steps;
}

/// Trials over evaluations or seconds: times, predictions, failures at the top, best so far.
function drawTrace(box, problem, rows, over) {
  const trials = problem.table;
  const searched = rows.filter((row) => trials.stage[row] === "search");
  const timed = searched.filter((row) => trials.ns[row] > 0 && !kFailed(trials.outcome[row]));
  if (timed.length === 0) return empty(box);
  const failed = searched.filter((row) => kFailed(trials.outcome[row]));
  const predicted = thinned(searched.filter((row) => trials.predicted_ns[row] > 0), kMostPredictions);
  const frame = drawing(box, {top: 22});
  const order = new Float64Array(trials.count);
  searched.forEach((row, i) => { order[row] = i + 1; });
  const at = over === "seconds" ? (row) => trials.elapsed[row] : (row) => order[row];
  const x = d3.scaleLinear().range([0, frame.width])
    .domain([0, Math.max(1e-9, d3.max(searched, at)) * 1.01]);
  const least = d3.min(timed, (row) => trials.ns[row]);
  const y = logScale(timed.map((row) => Math.min(kSlowest * least, trials.ns[row]) * 1e-9), [frame.height, 0]);
  const ticks = ticksOf(x, Math.max(2, Math.floor(frame.width / 80)));
  axes(frame, x, y, {xLabel: over === "seconds" ? "seconds" : "evaluations", yLabel: "time of a call",
    yFormat: shortTime, xTicks: over === "seconds" ? ticks : ticks.filter(Number.isInteger)});
  const inside = (ns) => Math.max(0, Math.min(frame.height, y(ns * 1e-9)));
  dots(frame, predicted, {x: (row) => x(at(row)), y: (row) => inside(trials.predicted_ns[row]),
    kind: () => "predicted", radius: 1.5, title: (row) => trialText(problem, row)});
  dots(frame, timed, {x: (row) => x(at(row)), y: (row) => inside(trials.ns[row]),
    kind: (row) => (trials.outcome[row] === "ok" ? "ok" : "pruned"),
    title: (row) => trialText(problem, row)});
  drawFailures(frame, failed, (row) => x(at(row)), (row) => trialText(problem, row));
  const steps = bestSoFar(trials, searched);
  const last = steps.length > 0 ? {x: x.domain()[1], ns: steps[steps.length - 1].ns} : null;
  const points = steps.map(({row, ns}) => ({x: at(row), ns})).concat(last ? [last] : []);
  frame.plot.append("path").datum(points).attr("class", "line best")
    .attr("d", d3.line().curve(d3.curveStepAfter).x((p) => x(p.x)).y((p) => inside(p.ns)));
  legend(box, [["best", "best so far"], ["ok", "timed"]]
    .concat(timed.some((row) => trials.outcome[row] === "pruned") ? [["pruned", "stopped early"]] : [])
    .concat(predicted.length > 0 ? [["predicted", "predicted"]] : [])
    .concat(failed.length > 0 ? [["failed", "failed"]] : []));
}

/// Lines above the plot; where there are many, as one shape with a line a pixel.
function drawFailures(frame, failed, at, title) {
  const group = frame.plot.append("g");
  if (failed.length > kMostSvgDots) {
    const places = new Set(failed.map((row) => Math.round(at(row))));
    group.append("path").attr("class", "failed").attr("d", Array.from(places, (place) => `M${place},-14v10`).join(""));
    return;
  }
  group.selectAll("line").data(failed).enter().append("line").attr("class", "failed")
    .attr("x1", at).attr("x2", at).attr("y1", -14).attr("y2", -4);
  titled(group, title);
}

/// At most so many of the items, evenly taken, the last included.
function thinned(items, most) {
  const step = Math.ceil(items.length / most);
  return items.filter((item, i) => i % step === 0 || i === items.length - 1);
}

/// The share of timed configurations within a factor of the best.
function drawDistribution(box, problem, rows) {
  const times = fastestRows(problem, rows).map((row) => problem.table.ns[row]);
  if (times.length < 2) return empty(box);
  const frame = drawing(box);
  const shares = thinned(d3.range(times.length), kMostCurvePoints)
    .map((i) => ({share: times[0] / times[i], rank: (i + 1) / times.length}));
  const x = d3.scaleLinear().domain([1, Math.max(0, times[0] / times[times.length - 1] - 0.02)])
    .range([0, frame.width]);
  const y = d3.scaleLinear().domain([0, 1]).range([frame.height, 0]);
  const percent = (value) => `${Math.round(100 * value)} %`;
  axes(frame, x, y, {xLabel: "performance relative to the best", yLabel: "configurations at least as fast",
    xFormat: percent, yFormat: percent});
  frame.plot.append("path").datum(shares).attr("class", "line ok")
    .attr("d", d3.line().curve(d3.curveStepAfter).x((p) => x(p.share)).y((p) => y(p.rank)));
  const near = d3.bisectRight(times, times[0] * 1.05), tenth = d3.bisectRight(times, times[0] * 1.1);
  box.select("small").text(`Within 10 % of the best: ${tenth} of ${times.length} timed configurations; ` +
    `within 5 %: ${near}. A random choice of ${triesFor(near, times.length, 0.95)} holds one of these with ` +
    "95 % probability.");
}

/// How many of `count` configurations must be chosen at random to hold one of `near`.
function triesFor(near, count, probability) {
  let missed = 1, tries = 0;
  for (; missed > 1 - probability; ++tries) missed *= (count - near - tries) / (count - tries);
  return tries;
}

/// Elapsed time by stage, and the compilers' time by outcome.
function drawSpent(box, problem) {
  const trials = problem.table, elapsed = new Map(), compiled = new Map();
  const add = (sums, key, value) => sums.set(key, (sums.get(key) || 0) + value);
  for (let row = 0; row < trials.count; ++row) {
    if (row > 0) add(elapsed, trials.stage[row], Math.max(0, trials.elapsed[row] - trials.elapsed[row - 1]));
    if (trials.stage[row] !== "playoff") add(compiled, trials.outcome[row], trials.compile_seconds[row] || 0);
  }
  const bars = [["elapsed", elapsed], ["of all compilers", compiled]].map(([name, sums]) => {
    let start = 0;
    return {name, parts: Array.from(sums, ([key, seconds]) => {
      const part = {key, seconds, start};
      start += seconds;
      return part;
    }), total: start};
  });
  const longest = d3.max(bars, (bar) => bar.total);
  if (!(longest > 0)) return empty(box);
  const frame = drawing(box, {height: 150, left: 118, top: 4});
  const x = d3.scaleLinear().domain([0, longest]).range([0, frame.width]);
  const y = d3.scaleBand().domain(bars.map((bar) => bar.name)).range([0, frame.height]).padding(0.3);
  frame.plot.append("g").attr("class", "axis").attr("transform", `translate(0,${frame.height})`)
    .call(d3.axisBottom(x).ticks(6));
  frame.plot.append("g").attr("class", "axis").call(d3.axisLeft(y).tickSize(0));
  frame.plot.append("text").attr("class", "label").attr("x", frame.width / 2)
    .attr("y", frame.height + 38).attr("text-anchor", "middle").text("seconds");
  const kinds = {search: "ok", playoff: "best", audit: "baseline", ok: "ok", pruned: "pruned"};
  const kindOf = (part) => kinds[part.key] || "failed";
  const fits = (part) => x(part.seconds) > 8 * part.key.length + 12;
  for (const bar of bars) {
    const parts = frame.plot.append("g").selectAll("g").data(bar.parts).enter().append("g");
    parts.append("rect").attr("class", (part) => `part ${kindOf(part)}`)
      .attr("x", (part) => x(part.start)).attr("y", y(bar.name))
      .attr("width", (part) => x(part.seconds)).attr("height", y.bandwidth())
      .append("title").text((part) => `${bar.name}, ${part.key}: ${timeText(part.seconds)}`);
    parts.filter(fits).append("text")
      .attr("class", "in-part").attr("x", (part) => x(part.start) + 6)
      .attr("y", y(bar.name) + y.bandwidth() / 2 + 4).text((part) => part.key);
  }
  const unnamed = d3.merge(bars.map((bar) => bar.parts)).filter((part) => x(part.seconds) >= 1 && !fits(part));
  if (unnamed.length > 0) legend(box, unnamed.map((part) => [kindOf(part), part.key]));
}

/// Rows with a time, each configuration once with its latest, fastest first. The last answer is kept:
/// several plots of one selection ask for it.
function fastestRows(problem, rows) {
  if (problem.fastest && problem.fastest.rows === rows) return problem.fastest.found;
  const trials = problem.table, latest = new Map();
  for (const row of rows) {
    if (trials.stage[row] === "search") latest.set(problem.keys[row], row);
  }
  const found = Array.from(latest.values())
    .filter((row) => trials.outcome[row] === "ok" && trials.ns[row] > 0)
    .sort((a, b) => trials.ns[a] - trials.ns[b]);
  problem.fastest = {rows, found};
  return found;
}

/// `1.2 us`: a tick's label.
function shortTime(seconds) {
  const [size, name] = [[1, "s"], [1e-3, "ms"], [1e-6, "us"], [1e-9, "ns"]]
    .find(([unit]) => seconds >= unit * 0.9999) || [1e-9, "ns"];
  return `${Number((seconds / size).toPrecision(3))} ${name}`;
}

/// A trial as the tooltip has it.
function trialText(problem, row) {
  const trials = problem.table, lines = [problem.configuration(row)];
  const time = trials.ns[row] > 0 ? `, ${timeText(trials.ns[row] * 1e-9)}` : "";
  lines.unshift(trials.outcome[row] + time);
  if (trials.predicted_ns[row] > 0) lines.push(`predicted ${timeText(trials.predicted_ns[row] * 1e-9)}`);
  if (trials.registers[row] !== null) lines.push(`${trials.registers[row]} registers`);
  if (trials.occupancy[row] !== null) lines.push(`occupancy ${percentText(trials.occupancy[row])}`);
  if (trials.message[row]) lines.push(trials.message[row]);
  return lines.join("\n");
}

function empty(box) {
  const holder = box.select(".drawing");
  holder.selectAll("*").remove();
  holder.append("p").attr("class", "empty").text("No timed trials to show.");
}
