// SPDX-License-Identifier: Apache-2.0
// What all plots share: a figure with axes, dots, a legend.

const kMostSvgDots = 5000;

/// A figure with a heading and a line that says how to read it. `controls` may add to its head.
function figure(parent, id, title, note) {
  const box = d3.select(parent).append("figure").attr("data-plot", id);
  const caption = box.append("figcaption");
  caption.append("strong").text(title);
  caption.append("span").attr("class", "controls");
  caption.append("small").text(note);
  box.append("div").attr("class", "drawing");
  return box;
}

/// An empty drawing of the figure: {svg, plot, width, height}; width and height are those inside
/// the margins. One that needs more width than there is scrolls.
function drawing(box, {height = 300, left = 62, right = 16, top = 12, bottom = 46, least = 280} = {}) {
  const holder = box.select(".drawing");
  holder.selectAll("*").remove();
  const outer = Math.max(least, holder.node().clientWidth || 600);
  const svg = holder.append("svg").attr("width", outer).attr("height", height)
    .attr("viewBox", `0 0 ${outer} ${height}`).attr("role", "img").attr("aria-label", box.select("strong").text());
  const plot = svg.append("g").attr("transform", `translate(${left},${top})`);
  return {holder, svg, plot, left, top, width: outer - left - right, height: height - top - bottom};
}

/// A logarithmic scale over the positive values with some room at both ends.
function logScale(values, range) {
  const [low, high] = d3.extent(values.filter((value) => value > 0));
  const room = Math.max(1.05, Math.pow(high / low, 0.04));
  return d3.scaleLog().domain([low / room, high * room]).range(range);
}

/// Few round ticks of a logarithmic scale: decades, or 1-2-5, or linear ones where it is short.
function logTicks(scale, count) {
  const [low, high] = scale.domain();
  const decades = Math.log10(high / low);
  if (decades < 0.7) return d3.ticks(low, high, count);
  const steps = decades > count ? [1] : decades > count / 3 ? [1, 3] : [1, 2, 5];
  const ticks = [];
  for (let e = Math.floor(Math.log10(low)); e <= Math.ceil(Math.log10(high)); ++e) {
    for (const step of steps) ticks.push(step * 10 ** e);
  }
  const shown = ticks.filter((tick) => tick >= low * 0.999 && tick <= high * 1.001);
  const skip = Math.ceil(shown.length / (count + 1));
  return shown.filter((tick, i) => i % skip === 0);
}

/// Values whose labels find room: the first, and one of each `n`, rounded up.
function everyNth(values, n) {
  return values.filter((value, i) => i % Math.ceil(n) === 0);
}

function ticksOf(scale, count) {
  return scale.base ? logTicks(scale, count) : scale.ticks(count);
}

function axes(frame, x, y, {xLabel, yLabel, xFormat = tickText, yFormat = tickText, xTicks, yTicks}) {
  const {plot, width, height} = frame;
  const below = xTicks || ticksOf(x, Math.max(2, Math.floor(width / 80)));
  const beside = yTicks || ticksOf(y, 6);
  plot.append("g").attr("class", "axis").attr("transform", `translate(0,${height})`)
    .call(d3.axisBottom(x).tickValues(below).tickFormat(xFormat).tickSizeOuter(0));
  plot.append("g").attr("class", "axis grid")
    .call(d3.axisLeft(y).tickValues(beside).tickFormat(yFormat).tickSize(-width));
  plot.append("text").attr("class", "label").attr("x", width / 2).attr("y", height + 38)
    .attr("text-anchor", "middle").text(xLabel);
  plot.append("text").attr("class", "label").attr("transform", "rotate(-90)")
    .attr("x", -height / 2).attr("y", -50).attr("text-anchor", "middle").text(yLabel);
}

/// A colour of the style sheet.
function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

/// Dots at `x(item)`, `y(item)` of the class `kind(item)`; painted where there are many.
function dots(frame, items, {x, y, kind, radius = 3, title, pressed}) {
  if (items.length > kMostSvgDots) return paintedDots(frame, items, {x, y, kind, radius});
  const group = frame.plot.append("g").attr("class", "dots");
  const drawn = group.selectAll("circle").data(items)
    .enter().append("circle").attr("class", (item) => `dot ${kind(item)}`)
    .attr("r", radius).attr("cx", x).attr("cy", y);
  if (title) titled(group, title);
  if (pressed) drawn.classed("press", true).on("click", pressed);
}

/// Gives a mark of the group its title when the pointer comes: thousands of them would be slow.
function titled(group, title) {
  group.on("mouseover", () => {
    const mark = d3.select(d3.event.target);
    if (mark.datum() !== undefined && mark.select("title").empty()) mark.append("title").text(title(mark.datum()));
  });
}

/// As an image in the drawing: it goes wherever the drawing goes, on paper, too.
function paintedDots(frame, items, {x, y, kind, radius}) {
  const scale = window.devicePixelRatio || 1, canvas = document.createElement("canvas");
  Object.assign(canvas, {width: frame.width * scale, height: frame.height * scale});
  const brush = canvas.getContext("2d");
  brush.scale(scale, scale);
  brush.globalAlpha = 0.5;
  const colours = new Map();
  let last = null;
  for (const item of items) {
    const name = kind(item);
    if (!colours.has(name)) colours.set(name, colour(name));
    if (name !== last) brush.fillStyle = colours.get(name);
    last = name;
    brush.fillRect(x(item) - radius / 2, y(item) - radius / 2, radius, radius);
  }
  frame.plot.append("image").attr("class", "painted").attr("data-dots", items.length)
    .attr("width", frame.width).attr("height", frame.height).attr("href", canvas.toDataURL());
}

/// [[class, name], …] above the plot, as many a line as fit.
function legend(box, entries) {
  const list = box.select(".drawing").insert("div", ":first-child").attr("class", "legend");
  for (const [kind, name] of entries) {
    const entry = list.append("span");
    entry.append("i").attr("class", `key ${kind}`);
    entry.append("span").text(name);
  }
}

/// A labelled <select> in the figure's head.
function choice(box, label, options, chosen, changed) {
  const holder = box.select(".controls").append("label").text(`${label} `);
  const select = holder.append("select").on("change", function () { changed(this.value); });
  select.selectAll("option").data(options).enter().append("option")
    .attr("value", (option) => option.value).property("selected", (o) => o.value === chosen)
    .text((option) => option.text);
}
