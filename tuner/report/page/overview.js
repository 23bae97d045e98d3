// SPDX-License-Identifier: Apache-2.0
// Plots over all problems: rate over size, and configurations at other problems.

/// The best rate that memory and the faster of CUDA and tensor cores allow; null where the roofs are unknown.
function roofOf(problem) {
  const roofs = problem.roofs;
  if (!roofs) return null;
  if (!(problem.flops > 0)) return roofs.memory || null;
  const byMemory = problem.bytes > 0 && roofs.memory > 0 ? problem.flops / problem.bytes * roofs.memory
                                                         : Infinity;
  return Math.min(Math.max(roofs.flops, roofs.tensor), byMemory);
}

function groupsOf(problems) {
  return d3.nest().key((one) => `${one.target} on ${one.device} (${one.policy})`).entries(problems);
}

function rateSeries(problems, work) {
  const rates = (seconds) => (one) => (seconds(one) > 0 ? work(one) / seconds(one) : null);
  return [
    {kind: "roof", name: "roof", rate: roofOf},
    {kind: "default", name: "default", rate: rates((one) => one.default)},
    {kind: "baseline", name: problems.map((one) => one.baseline).find((name) => name) || "",
     rate: rates((one) => one.baseline_median)},
    {kind: "cpu", name: "CPU", rate: rates((one) => one.cpu)},
    {kind: "best", name: "best", rate: rates((one) => one.median), isBest: true},
  ].map((series) => ({...series, points: problems
    .map((problem) => ({problem, rate: series.rate(problem)}))
    .filter((point) => point.rate > 0)})).filter((series) => series.points.length > 0);
}

/// Those that are at least so many pixels from the last one taken; the greatest is one of them.
function apart(values, scale, pixels) {
  const taken = [];
  for (const value of values.slice().reverse()) {
    const isFar = taken.length === 0 || scale(taken[taken.length - 1]) - scale(value) >= pixels;
    if (isFar) taken.push(value);
  }
  return taken;
}

/// One group's rates as they are drawn: over the size, or over the work of a call.
function ratesOf(problems) {
  const isFlops = problems.some((one) => one.flops > 0);
  const work = (one) => (isFlops ? one.flops : one.bytes);
  const bySide = problems.every((one) => one.side > 0) &&
                 new Set(problems.map((one) => one.side)).size === problems.length;
  const place = (one) => (bySide ? one.side : work(one));
  const series = rateSeries(problems.filter((one) => place(one) > 0), work);
  return {isFlops, bySide, work, place, series, points: d3.merge(series.map((one) => one.points))};
}

/// A rate at one size alone says no more than the table.
function hasCurve(problems) {
  const {points, place} = ratesOf(problems);
  return new Set(points.map((point) => place(point.problem))).size > 1;
}

/// One group's rates: best, default, baseline, CPU and roof.
function drawRate(box, problems, choose) {
  const {isFlops, bySide, work, place, series, points} = ratesOf(problems);
  const frame = drawing(box, {height: 340, left: 74});
  const x = logScale(points.map((point) => place(point.problem)), [0, frame.width]);
  const y = logScale(points.map((point) => point.rate), [frame.height, 0]);
  const text = isFlops ? rateText : bandwidthText;
  const sides = Array.from(new Set(problems.map(place))).sort(d3.ascending);
  axes(frame, x, y, {
    xLabel: bySide ? "size" : isFlops ? "FLOPs of one call" : "bytes of one call",
    yLabel: isFlops ? "rate (FLOP/s)" : "rate (bytes/s)",
    xTicks: bySide && sides.length < 40 ? apart(sides, x, 34) : null,
    yFormat: d3.format(".3~s"), xFormat: bySide ? String : d3.format(".3~s")});
  for (const one of series) {
    const at = (point) => x(place(point.problem)), up = (point) => y(point.rate);
    if (bySide) {
      frame.plot.append("path").datum(one.points).attr("class", `line ${one.kind}`)
        .attr("d", d3.line().x(at).y(up));
    }
    if (one.isBest) drawIntervals(frame, one.points, at, y, work);
    if (one.kind === "roof" && bySide) continue;
    dots(frame, one.points, {x: at, y: up, kind: () => one.kind, radius: one.isBest ? 4 : 3,
      title: (point) => `${point.problem.name}\n${one.name} ${text(point.rate)}`,
      pressed: (point) => choose(point.problem.place)});
  }
  legend(box, series.map((one) => [one.kind, one.name]));
}

function drawIntervals(frame, points, at, y, work) {
  frame.plot.append("g").selectAll("line")
    .data(points.filter(({problem}) => problem.low > 0 && problem.high > 0))
    .enter().append("line").attr("class", "interval")
    .attr("x1", at).attr("x2", at)
    .attr("y1", ({problem}) => y(work(problem) / problem.low))
    .attr("y2", ({problem}) => y(work(problem) / problem.high));
}

/// Rows: the best configurations of all problems; columns: the problems. The colour is the share of
/// the best rate there.
function drawPortability(box, one, problems, choose) {
  const columns = one.problems.map((place) => problems[place]);
  const count = one.configurations.length;
  const cell = Math.max(5, Math.min(26, 460 / count));
  const frame = drawing(box, {height: count * cell + 100, left: 48, bottom: 88, top: 8});
  const x = d3.scaleBand().domain(d3.range(columns.length)).range([0, Math.min(frame.width, columns.length * 60)]);
  const y = d3.scaleBand().domain(d3.range(count)).range([0, count * cell]);
  const shade = d3.scaleSequential(d3.interpolateViridis).domain([0.5, 1]);
  const cells = d3.merge(one.share.map((row, r) => row.map((share, c) => ({r, c, share}))))
    .filter((each) => each.share > 0);
  const text = (each) => `${one.configurations[each.r]}\nat ${columns[each.c].name}: ` +
                         `${percentText(each.share)} of the best`;
  frame.plot.append("rect").attr("class", "untimed").attr("width", x.range()[1])
    .attr("height", y.range()[1]);
  const drawn = frame.plot.append("g").selectAll("rect").data(cells).enter().append("rect")
    .attr("class", "cell press").attr("x", (each) => x(each.c)).attr("y", (each) => y(each.r))
    .attr("width", x.bandwidth()).attr("height", y.bandwidth())
    .attr("fill", (each) => shade(Math.max(0.5, each.share)))
    .on("click", (each) => choose(columns[each.c].place));
  drawn.append("title").text(text);
  if (x.bandwidth() > 34 && cell > 14) {
    frame.plot.append("g").selectAll("text").data(cells).enter().append("text")
      .attr("class", "in-cell").attr("x", (each) => x(each.c) + x.bandwidth() / 2)
      .attr("y", (each) => y(each.r) + cell / 2 + 4).attr("text-anchor", "middle")
      .attr("fill", (each) => (each.share > 0.8 ? "#000" : "#fff"))
      .text((each) => Math.floor(100 * each.share));
  }
  const skip = Math.ceil(11 / x.bandwidth());
  frame.plot.append("g").selectAll("text").data(columns.map((problem, c) => ({problem, c}))
    .filter(({c}) => c % skip === 0)).enter().append("text").attr("class", "tick-text")
    .attr("transform", ({c}) => `translate(${x(c) + x.bandwidth() / 2 + 3},${y.range()[1] + 8}) rotate(60)`)
    .text(({problem}) => shortName(problem));
  frame.plot.append("text").attr("class", "label").attr("transform", "rotate(-90)")
    .attr("x", -y.range()[1] / 2).attr("y", -20).attr("text-anchor", "middle")
    .text(count > 4 ? "best configurations" : "");
}

/// `512`, `861x347x9` or what identifies it.
function shortName(problem) {
  if (problem.side) return String(problem.side);
  const sizes = problem.name.split(" ").map((part) => part.split("=")[1])
    .filter((value) => /^[0-9]+$/.test(value || ""));
  const name = sizes.length > 0 ? sizes.join("x") : problem.name;
  return name.length > 16 ? `${name.slice(0, 15)}…` : name;
}
