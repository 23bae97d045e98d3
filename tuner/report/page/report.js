// SPDX-License-Identifier: Apache-2.0
// The page: which problem is shown, filters, sorting, downloads.

const data = JSON.parse(document.getElementById("data").textContent);
data.problems.forEach((problem, place) => { problem.place = place; });

/// What a person has chosen; `excluded` and `brushes` hold values by parameter.
const chosen = {place: 0, excluded: new Map(), brushes: new Map(), over: "evaluations",
                across: null, down: null, resource: "occupancy"};

/// The problem with its trials unpacked, which is done when it is first shown.
function opened(place) {
  const problem = data.problems[place];
  if (!problem.table) {
    problem.table = unpacked(problem.trials);
    const texts = new Array(problem.table.count);
    problem.configuration = (row) => texts[row] = texts[row] || problem.parameters
      .filter((name) => problem.table[name][row] !== null)
      .map((name) => `${name}=${problem.table[name][row]}`).join(" ");
  }
  return problem;
}

/// Rows that no filter excludes; without `brushed`, whatever is brushed.
function visibleRows(problem, brushed = true) {
  const excluded = Array.from(chosen.excluded).filter(([name, values]) => values.size > 0 && problem.table[name]);
  return d3.range(problem.table.count).filter((row) =>
    excluded.every(([name, values]) => !values.has(problem.table[name][row])) &&
    (!brushed || passes(problem, row, chosen.brushes)));
}

const kPlots = [
  ["trace", "Search", `Every trial of the search. A line at the top is a failure; times over ${kSlowest}x the best are at the upper edge.`],
  ["distribution", "Relative performance", ""],
  ["importance", "Parameters that matter", ""],
  ["spent", "Where the time went", "Compilers run at the same time, so theirs may exceed what elapsed."],
  ["strips", "Effect of each value", "Times over the fastest; a bar is the best with this value."],
  ["heatmap", "Two parameters", "The best at each pair of values, in percent of the fastest."],
  ["parallel", "Fastest configurations", `Up to ${kMostLines} of the fastest. Drag along an axis to select; press it to undo.`],
  ["roofline", "Roofline", "Rates under the bounds of multiply-adds, L2 and memory."],
  ["resources", "Resources", "What compiler and launch say, against the time."]];

const boxes = new Map();

function drawSelection() {
  const problem = opened(chosen.place), rows = visibleRows(problem);
  drawTrace(boxes.get("trace"), problem, rows, chosen.over);
  drawDistribution(boxes.get("distribution"), problem, rows);
  drawStrips(boxes.get("strips"), problem, rows);
  drawHeatMap(boxes.get("heatmap"), problem, rows, chosen.across, chosen.down, (across, down) => {
    Object.assign(chosen, {across, down});
    drawSelection();
  });
  drawRoofline(boxes.get("roofline"), problem, rows);
  drawResources(boxes.get("resources"), problem, rows, chosen.resource, (resource) => {
    chosen.resource = resource;
    drawSelection();
  });
  d3.select("#shown").text(`${rows.length} of ${problem.table.count} trials`);
}

function drawProblem() {
  const problem = opened(chosen.place);
  drawImportance(boxes.get("importance"), problem);
  drawSpent(boxes.get("spent"), problem);
  drawParallel(boxes.get("parallel"), problem, visibleRows(problem, false), chosen.brushes, drawSelection);
  drawSelection();
}

/// Checkboxes for the values of each parameter.
function fillFilters(problem) {
  const list = d3.select("#filters");
  list.selectAll("*").remove();
  for (const {name, values} of varied(problem, d3.range(problem.table.count))) {
    const field = list.append("fieldset");
    field.append("legend").text(name);
    for (const value of values) {
      const label = field.append("label");
      label.append("input").attr("type", "checkbox").property("checked", true)
        .attr("data-parameter", name).attr("data-value", value).on("change", function () {
          const excluded = chosen.excluded.get(name) || new Set();
          this.checked ? excluded.delete(value) : excluded.add(value);
          chosen.excluded.set(name, excluded);
          drawProblem();
        });
      label.append("span").text(value);
    }
  }
}

function show(place) {
  Object.assign(chosen, {place, excluded: new Map(), brushes: new Map()});
  d3.selectAll("article").classed("off", function () { return Number(this.dataset.problem) !== place; });
  d3.select("#which").property("value", String(place));
  const article = d3.select(`article[data-problem="${place}"]`);
  article.select(".plots").node().appendChild(plots.node());
  const isSearched = data.problems[place].trials.count > 0;
  plots.style("display", isSearched ? null : "none");
  controls.selectAll(".of-trials").style("display", isSearched ? null : "none");
  if (!isSearched) return;
  fillFilters(opened(place));
  drawProblem();
}

function download(name, lines) {
  const url = URL.createObjectURL(new Blob([lines.join("\r\n") + "\r\n"], {type: "text/csv"}));
  const link = d3.select("body").append("a").attr("href", url).attr("download", name);
  link.node().click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

/// The selected trials of the shown problem.
function trialLines() {
  const problem = opened(chosen.place), {count, ...columns} = problem.table;
  const names = Object.keys(columns);
  return [csvLine(names)].concat(visibleRows(problem).map((row) => csvLine(names.map((name) => columns[name][row]))));
}

function resultLines() {
  const names = ["target", "device", "policy", "name", "best", "median", "low", "high", "default", "rival",
                 "rival_median", "rival_low", "rival_high", "cpu", "flops", "bytes"];
  return [csvLine(names)].concat(data.problems.map((problem) => csvLine(names.map((name) => problem[name]))));
}

function sortable(table) {
  const body = table.querySelector("tbody");
  table.querySelectorAll("th").forEach((head, column) => {
    const button = d3.select(head).text("").append("button").attr("type", "button").text(head.textContent || "");
    button.text(head.dataset.name);
    button.on("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      table.querySelectorAll("th").forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const keys = new Map(Array.from(body.rows, (row) => {
        const cell = row.cells[column];
        return [row, cell.dataset.key === undefined ? cell.textContent : Number(cell.dataset.key)];
      }));
      const order = Array.from(body.rows).sort((a, b) => d3.ascending(keys.get(a), keys.get(b)));
      for (const row of down ? order.reverse() : order) body.appendChild(row);
    });
  });
}

// What follows runs once.
document.documentElement.classList.add("scripted");
document.querySelectorAll("table.sortable").forEach((table) => {
  table.querySelectorAll("th").forEach((head) => { head.dataset.name = head.textContent; });
  sortable(table);
  table.querySelectorAll("tbody tr").forEach((row, place) => {
    d3.select(row).classed("press", true).on("click", () => choose(place));
  });
});

function choose(place) {
  show(place);
  document.getElementById("problem").scrollIntoView();
}

const controls = d3.select("#problem").insert("div", "article").attr("class", "problem-controls");
const which = controls.append("label").text("Problem ").append("select").attr("id", "which")
  .on("change", function () { show(Number(this.value)); });
const severalGroups = new Set(data.problems.map((one) => one.target + one.device + one.policy)).size > 1;
which.selectAll("option").data(data.problems).enter().append("option").attr("value", (one) => one.place)
  .text((one) => (severalGroups ? `${one.target} on ${one.device}: ${one.name} (${one.policy})` : one.name));
controls.append("span").attr("id", "shown").attr("class", "of-trials");
controls.append("button").attr("type", "button").attr("id", "csv-trials").attr("class", "of-trials")
  .text("Trials as CSV").on("click", () => download("trials.csv", trialLines()));
controls.append("button").attr("type", "button").attr("id", "csv-results").text("Results as CSV")
  .on("click", () => download("results.csv", resultLines()));
const details = controls.append("details").attr("class", "of-trials");
details.append("summary").text("Filter by values");
details.append("div").attr("id", "filters");

const plots = d3.create("div").attr("class", "plot-grid");
for (const [id, title, note] of kPlots) boxes.set(id, figure(plots.node(), id, title, note));
choice(boxes.get("trace"), "over", [{value: "evaluations", text: "evaluations"}, {value: "seconds", text: "seconds"}],
       "evaluations", (over) => {
  chosen.over = over;
  drawSelection();
});

const rateBoxes = groupsOf(data.problems).map(({key, values}) => ({values, box: figure(
  document.getElementById("rate"), "rate", key, "The roof is the lower of the f32 multiply-add peak and the memory's rate.")}));
const matrixBoxes = data.portability.map((one) => ({one, box: figure(
  document.getElementById("portability"), "portability", one.target,
  "Rows: the best configuration of each problem. Columns: problems. In percent of the best there; empty where it was not timed.")}));

function drawOverview() {
  for (const {values, box} of rateBoxes) drawRate(box, values, choose);
  for (const {one, box} of matrixBoxes) drawPortability(box, one, data.problems, choose);
}

function drawAll() {
  drawOverview();
  if (data.problems[chosen.place].trials.count > 0) drawProblem();
}

drawOverview();
show(Math.max(0, data.problems.length - 1 - data.problems.slice().reverse().findIndex((one) => one.trials.count > 0)));
let width = window.innerWidth, redrawn = null;
window.addEventListener("resize", () => {
  if (window.innerWidth === width) return;
  width = window.innerWidth;
  clearTimeout(redrawn);
  redrawn = setTimeout(drawAll, 150);
});
