// SPDX-License-Identifier: Apache-2.0
// Plots of one problem's parameters: what they do to the time.

const kLeastR2 = 0.3, kMostLines = 200, kMostStripDots = 60, kMostPairs = 4000;
const kLeastApart = 46;  // pixels between two axes

/// Parameters with several values among these rows, with their values in order.
function varied(problem, rows) {
  return problem.parameters.map((name) => {
    const {values, of} = problem.codes.get(name), occurs = new Uint8Array(values.length);
    for (const row of rows) occurs[of[row]] = 1;
    return {name, values: values.filter((value, code) => occurs[code] && value !== null).sort(byValue)};
  }).filter((one) => one.values.length > 1);
}

/// Numbers by size, words by letters.
function byValue(a, b) {
  const difference = Number(a) - Number(b);
  return Number.isNaN(difference) ? d3.ascending(a, b) : difference;
}

/// The most important first, as far as that is known.
function ranked(problem, parameters) {
  const found = problem.importance && problem.importance.r2 >= kLeastR2 ? problem.importance.parameters : [];
  const place = new Map(found.map((one, i) => [one.name, i]));
  const last = found.length;
  return parameters.slice().sort((a, b) =>
    (place.has(a.name) ? place.get(a.name) : last) - (place.has(b.name) ? place.get(b.name) : last));
}

function drawImportance(box, problem) {
  const importance = problem.importance;
  if (!importance) return tell(box, "Too few configurations were timed to tell.");
  const quality = `R² ${importance.r2.toFixed(2)} on ${importance.configurations} configurations that ` +
                  "the surrogate was not fitted to";
  if (importance.r2 < kLeastR2) {
    return tell(box, `The surrogate does not explain the times: ${quality}. Its importances would mislead.`);
  }
  box.select("small").text(`How much R² falls when a parameter's values are shuffled. ${quality}.`);
  const shown = importance.parameters.filter((one) => one.loss >= 0.005).slice(0, 12);
  const left = 12 + 7.5 * d3.max(shown, (one) => one.name.length);
  const frame = drawing(box, {height: 60 + 22 * shown.length, left, top: 4, right: 44});
  const x = d3.scaleLinear().domain([0, d3.max(shown, (one) => one.loss)]).range([0, frame.width]);
  const y = d3.scaleBand().domain(shown.map((one) => one.name)).range([0, frame.height]).padding(0.25);
  frame.plot.append("g").attr("class", "axis").attr("transform", `translate(0,${frame.height})`)
    .call(d3.axisBottom(x).ticks(4));
  frame.plot.append("g").attr("class", "axis").call(d3.axisLeft(y).tickSize(0));
  frame.plot.append("text").attr("class", "label").attr("x", frame.width / 2)
    .attr("y", frame.height + 36).attr("text-anchor", "middle").text("loss of R²");
  frame.plot.append("g").selectAll("rect").data(shown).enter().append("rect").attr("class", "part ok")
    .attr("y", (one) => y(one.name)).attr("width", (one) => Math.max(1, x(one.loss)))
    .attr("height", y.bandwidth());
  frame.plot.append("g").selectAll("text").data(shown).enter().append("text").attr("class", "tick-text")
    .attr("x", (one) => x(one.loss) + 4).attr("y", (one) => y(one.name) + y.bandwidth() / 2 + 4)
    .text((one) => one.loss.toFixed(2));
}

/// For each value of a parameter, the times over the best, and the best with this value.
function drawStrips(box, problem, rows) {
  const fastest = fastestRows(problem, rows);
  const parameters = ranked(problem, varied(problem, fastest)).slice(0, 12);
  if (parameters.length === 0) return tell(box, "No parameter has several values among the timed configurations.");
  const holder = box.select(".drawing");
  holder.selectAll("*").remove();
  const grid = holder.append("div").attr("class", "strips");
  const best = problem.table.ns[fastest[0]];
  const worst = d3.max(fastest, (row) => problem.table.ns[row] / best);
  for (const one of parameters) drawStrip(grid, problem, fastest, one, best, worst);
}

function drawStrip(grid, problem, fastest, {name, values}, best, worst) {
  const trials = problem.table, height = 170, left = 38, bottom = 44, width = 230;
  const svg = grid.append("svg").attr("width", width).attr("height", height).attr("class", "strip");
  svg.append("text").attr("class", "strip-name").attr("x", left).attr("y", 12).text(name);
  const plot = svg.append("g").attr("transform", `translate(${left},20)`);
  const x = d3.scalePoint().domain(values).range([0, width - left - 10]).padding(0.5);
  const y = d3.scaleLog().domain([0.97, Math.max(1.2, worst)]).range([height - 20 - bottom, 0]);
  plot.append("g").attr("class", "axis grid")
    .call(d3.axisLeft(y).tickValues(logTicks(y, 3)).tickFormat((t) => `${tickText(t)}x`).tickSize(-(width - left - 10)));
  const step = x.step ? x.step() : 20;
  const longest = d3.max(values, (value) => String(value).length);
  const turned = longest > 4 && longest * 7 > step;
  const ticks = plot.append("g").attr("transform", `translate(0,${height - 20 - bottom + 12})`)
    .selectAll("text").data(everyNth(values, (turned ? 11 : longest * 7 + 4) / step)).enter().append("text")
    .attr("class", "tick-text")
    .attr("transform", (value) => `translate(${x(value)},0) ${turned ? "rotate(35)" : ""}`)
    .attr("text-anchor", turned ? "start" : "middle");
  ticks.text((value) => (String(value).length > 9 ? `${String(value).slice(0, 8)}…` : value));
  ticks.append("title").text((value) => value);
  const codes = problem.codes.get(name), rowsOf = codes.values.map(() => []);
  for (const row of fastest) rowsOf[codes.of[row]].push(row);
  for (const value of values) {
    const here = rowsOf[codes.values.indexOf(value)];
    const group = plot.append("g");
    group.selectAll("circle").data(thinned(here, kMostStripDots)).enter().append("circle")
      .attr("class", "dot ok").attr("r", 2).attr("cx", x(value)).attr("cy", (row) => y(trials.ns[row] / best));
    titled(group, (row) => trialText(problem, row));
    const least = trials.ns[here[0]] / best;
    plot.append("line").attr("class", "least").attr("x1", x(value) - Math.min(9, step / 3))
      .attr("x2", x(value) + Math.min(9, step / 3)).attr("y1", y(least)).attr("y2", y(least))
      .append("title").text(`${name}=${value}: at best ${least.toFixed(3)}x, ${here.length} timed`);
  }
}

/// The best time over all others at each pair of values of two parameters.
function drawHeatMap(box, problem, rows, across, down, choose) {
  const trials = problem.table;
  const searched = rows.filter((row) => trials.stage[row] === "search");
  const parameters = ranked(problem, varied(problem, searched));
  if (parameters.length < 2) return tell(box, "Fewer than two parameters have several values.");
  const [first, second] = chosenPair(parameters, across, down) || richestPair(problem, searched, parameters);
  box.select(".controls").selectAll("*").remove();
  const options = parameters.map((one) => ({value: one.name, text: one.name}));
  // Who chooses the other one swaps them.
  choice(box, "across", options, first.name, (name) => choose(name, name === second.name ? first.name : second.name));
  choice(box, "down", options, second.name, (name) => choose(name === first.name ? second.name : first.name, name));
  const pair = pairOf(problem, first.name, second.name), cells = new Map();
  for (const row of searched) {
    const key = pair(row);
    if (!cells.has(key)) cells.set(key, {a: trials[first.name][row], b: trials[second.name][row], count: 0, ns: Infinity});
    const cell = cells.get(key);
    ++cell.count;
    if (trials.outcome[row] === "ok" && trials.ns[row] < cell.ns) cell.ns = trials.ns[row];
  }
  paintHeatMap(box, problem, Array.from(cells.values()).filter((cell) => cell.a !== null && cell.b !== null),
               first, second);
}

function chosenPair(parameters, across, down) {
  const pair = [across, down].map((name) => parameters.find((one) => one.name === name));
  return pair[0] && pair[1] && pair[0] !== pair[1] ? pair : null;
}

/// A number for each pair of values of two parameters.
function pairOf(problem, name, other) {
  const a = problem.codes.get(name), b = problem.codes.get(other);
  return (row) => a.of[row] * b.values.length + b.of[row];
}

/// Of the most important parameters, the two of which most pairs of values were timed.
function richestPair(problem, rows, parameters) {
  const trials = problem.table, candidates = parameters.slice(0, 7);
  const pairs = d3.merge(candidates.map((one, i) => candidates.slice(i + 1).map((other) => [one, other])));
  const timed = thinned(rows.filter((row) => trials.outcome[row] === "ok"), kMostPairs);
  const richness = ([one, other]) => new Set(timed.map(pairOf(problem, one.name, other.name))).size;
  const counts = pairs.map(richness);
  return pairs[counts.indexOf(d3.max(counts))];
}

function paintHeatMap(box, problem, cells, first, second) {
  const best = d3.min(cells, (cell) => cell.ns);
  const turned = d3.max(first.values, (value) => String(value).length) > 8;
  const left = 22 + 7 * Math.min(12, d3.max(second.values, (value) => String(value).length));
  const bottom = turned ? 90 : 44;
  const frame = drawing(box, {height: 20 + bottom + Math.max(60, Math.min(300, 30 * second.values.length)),
                              left: left + 22, bottom});
  const x = d3.scaleBand().domain(first.values).range([0, Math.min(frame.width, 90 * first.values.length)]);
  const y = d3.scaleBand().domain(second.values).range([0, frame.height]);
  const shade = d3.scaleSequential(d3.interpolateViridis).domain([0.3, 1]);
  const isTimed = (cell) => cell.ns < Infinity;
  box.select("small").text("The best at each pair of values, in percent of the fastest." +
    (cells.every(isTimed) ? "" : " Dashed: tried, but never timed to the end."));
  const drawn = frame.plot.append("g").selectAll("rect").data(cells).enter().append("rect")
    .attr("class", (cell) => (isTimed(cell) ? "cell" : "cell only-failed"))
    .attr("x", (cell) => x(cell.a)).attr("y", (cell) => y(cell.b))
    .attr("width", x.bandwidth()).attr("height", y.bandwidth())
    .attr("fill", (cell) => (isTimed(cell) ? shade(Math.max(0.3, best / cell.ns)) : null));
  drawn.append("title").text((cell) => `${first.name}=${cell.a} ${second.name}=${cell.b}\n` +
    (isTimed(cell) ? `best ${timeText(cell.ns * 1e-9)}, ${percentText(best / cell.ns)} of the best\n`
                   : "none was timed to the end\n") + `${cell.count} tried`);
  if (x.bandwidth() > 30 && y.bandwidth() > 13) {
    frame.plot.append("g").selectAll("text").data(cells.filter(isTimed)).enter()
      .append("text").attr("class", "in-cell").attr("text-anchor", "middle")
      .attr("x", (cell) => x(cell.a) + x.bandwidth() / 2).attr("y", (cell) => y(cell.b) + y.bandwidth() / 2 + 4)
      .attr("fill", (cell) => (best / cell.ns > 0.7 ? "#000" : "#fff"))
      .text((cell) => Math.floor(100 * best / cell.ns));
  }
  const short = (value) => (String(value).length > 12 ? `${String(value).slice(0, 11)}…` : value);
  const longest = Math.min(12, d3.max(first.values, (value) => String(value).length));
  const below = frame.plot.append("g").attr("class", "axis").attr("transform", `translate(0,${frame.height})`)
    .call(d3.axisBottom(x).tickSize(0).tickPadding(7).tickFormat(short)
      .tickValues(everyNth(first.values, (turned ? 12 : longest * 7 + 4) / x.step())));
  if (turned) below.selectAll("text").attr("transform", "rotate(50)").attr("text-anchor", "start").attr("dx", 6).attr("dy", 0);
  frame.plot.append("g").attr("class", "axis").call(d3.axisLeft(y).tickSize(0).tickPadding(7)
    .tickFormat(short).tickValues(everyNth(second.values, 12 / y.step())));
  frame.plot.append("text").attr("class", "label").attr("x", x.range()[1] / 2).attr("y", frame.height + bottom - 6)
    .attr("text-anchor", "middle").text(first.name);
  frame.plot.append("text").attr("class", "label").attr("transform", "rotate(-90)")
    .attr("x", -frame.height / 2).attr("y", -left - 6).attr("text-anchor", "middle").text(second.name);
}

/// The fastest configurations as lines over their parameters. A brush on an axis selects.
function drawParallel(box, problem, rows, brushes, brushed) {
  const trials = problem.table;
  const fastest = fastestRows(problem, rows).slice(0, kMostLines);
  const parameters = ranked(problem, varied(problem, fastest)).slice(0, 14);
  if (parameters.length === 0) return tell(box, "No parameter has several values among the timed configurations.");
  const names = parameters.map((one) => one.name).concat(["time"]), left = 44, right = 76;
  const least = left + right + kLeastApart * (names.length - 1);
  const frame = drawing(box, {height: 340, left, right, top: 56, bottom: 12, least});
  const x = d3.scalePoint().domain(names).range([0, frame.width]);
  const scales = new Map(parameters.map((one) => [one.name,
    d3.scalePoint().domain(one.values).range([frame.height, 0]).padding(0.3)]));
  const time = logScale(fastest.map((row) => trials.ns[row] * 1e-9), [frame.height, 0]);
  // Neither end of the colours may be lost on the page.
  const [slow, fast] = matchMedia("(prefers-color-scheme: dark)").matches ? [0.3, 1] : [0, 0.9];
  const shade = d3.scaleSequential((t) => d3.interpolateViridis(slow + (fast - slow) * t))
    .domain([fastest.length, 0]);
  const path = (row) => d3.line()(names.map((name) => [x(name),
    name === "time" ? time(trials.ns[row] * 1e-9) : scales.get(name)(trials[name][row]) || 0]));
  const lines = frame.plot.append("g").attr("class", "lines").selectAll("path")
    .data(fastest.slice().reverse()).enter().append("path").attr("d", path)
    .attr("stroke", (row) => shade(fastest.indexOf(row)));
  lines.append("title").text((row) => trialText(problem, row));
  const show = () => lines.classed("out", (row) => !passes(problem, row, brushes));
  for (const one of parameters) drawBrushedAxis(frame, one, x(one.name), scales.get(one.name), brushes, () => {
    show();
    brushed();
  });
  const axis = frame.plot.append("g").attr("class", "axis").attr("transform", `translate(${x("time")},0)`);
  axis.call(d3.axisRight(time).tickValues(logTicks(time, 5)).tickFormat(shortTime));
  axis.append("text").attr("class", "axis-name").attr("y", -12).text("time");
  show();
}

function drawBrushedAxis(frame, {name, values}, place, scale, brushes, changed) {
  const axis = frame.plot.append("g").attr("class", "axis parallel").attr("transform", `translate(${place},0)`);
  axis.call(d3.axisLeft(scale).tickValues(everyNth(values, 12 / Math.max(1, scale.step()))).tickSize(4)
    .tickFormat((value) => (String(value).length > 8 ? `${String(value).slice(0, 7)}…` : value)));
  axis.append("text").attr("class", "axis-name").attr("y", -12).attr("transform", "rotate(-18)").text(name);
  const brush = d3.brushY().extent([[-12, 0], [12, frame.height]]);
  const area = axis.append("g").attr("class", "brush").attr("data-parameter", name).call(brush);
  const places = values.filter((value) => brushes.has(name) && brushes.get(name).has(value)).map(scale);
  const half = scale.step() / 2;
  if (places.length > 0) area.call(brush.move, [Math.max(0, d3.min(places) - half), Math.min(frame.height, d3.max(places) + half)]);
  brush.on("end", () => {
    const range = d3.event.selection;
    if (range) brushes.set(name, new Set(values.filter((v) => scale(v) >= range[0] && scale(v) <= range[1])));
    else brushes.delete(name);
    changed();
  });
}

/// Whether the row has a brushed value on every axis with a brush.
function passes(problem, row, brushes) {
  for (const [name, values] of brushes) {
    if (problem.table[name] && !values.has(problem.table[name][row])) return false;
  }
  return true;
}

function tell(box, sentence) {
  const holder = box.select(".drawing");
  holder.selectAll("*").remove();
  holder.append("p").attr("class", "empty").text(sentence);
}
