// SPDX-License-Identifier: Apache-2.0
// The page: which problem is shown, filters, sorting, downloads.

let data = null;

function take(json) {
  data = JSON.parse(json);
  data.problems.forEach((problem, place) => { problem.place = place; });
}

/// What a person has chosen; `excluded` and `brushes` hold values by parameter. `problem` is a key,
/// null until a person chooses; `place` is where it is among the problems.
const chosen = {problem: null, place: 0, excluded: new Map(), brushes: new Map(), over: "evaluations",
                across: null, down: null, resource: "occupancy", sorting: null, words: "", page: 0};

const keyOf = (one) => JSON.stringify([one.target, one.device, one.policy, one.name]);

/// Of the chosen problem; else of the one that was searched last.
function placeOfChosen() {
  const place = data.problems.findIndex((one) => keyOf(one) === chosen.problem);
  if (place >= 0) return place;
  const latest = d3.max(data.problems, (one) => one.latest);
  return Math.max(0, data.problems.map((one) => one.latest).lastIndexOf(latest));
}

/// The problem with its trials as a table, which is made when it is first shown.
function opened(place) {
  const problem = data.problems[place];
  if (!problem.table) {
    Object.assign(problem, tableOf(problem.trials, problem.parameters.length));
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

/// Plots that wait to be drawn, by name. Each has a task of its own: the page answers meanwhile.
const waiting = new Map();

function drawSoon(name, draw) {
  if (waiting.size === 0) setTimeout(drawNext);
  waiting.set(name, () => draw(boxes.get(name)));
}

function drawNext() {
  const next = waiting.entries().next();
  if (next.done) return;
  const [name, draw] = next.value;
  waiting.delete(name);
  if (waiting.size > 0) setTimeout(drawNext);
  draw();
}

function drawWaiting() {
  while (waiting.size > 0) drawNext();
}
window.addEventListener("beforeprint", drawWaiting);

function drawSelection(rows = visibleRows(opened(chosen.place))) {
  const problem = opened(chosen.place);
  drawSoon("trace", (box) => drawTrace(box, problem, rows, chosen.over));
  drawSoon("distribution", (box) => drawDistribution(box, problem, rows));
  drawSoon("strips", (box) => drawStrips(box, problem, rows));
  drawSoon("heatmap", (box) => drawHeatMap(box, problem, rows, chosen.across, chosen.down, (across, down) => {
    Object.assign(chosen, {across, down});
    drawSelection();
  }));
  drawSoon("roofline", (box) => drawRoofline(box, problem, rows));
  drawSoon("resources", (box) => drawResources(box, problem, rows, chosen.resource, (resource) => {
    chosen.resource = resource;
    drawSelection();
  }));
  d3.select("#shown").text(`${rows.length} of ${problem.table.count} trials`);
}

function drawProblem() {
  const problem = opened(chosen.place);
  const rows = visibleRows(problem, false);
  drawSelection(chosen.brushes.size > 0 ? visibleRows(problem) : rows);
  drawSoon("importance", (box) => drawImportance(box, problem));
  drawSoon("spent", (box) => drawSpent(box, problem));
  drawSoon("parallel", (box) => drawParallel(box, problem, rows, chosen.brushes, () => drawSelection()));
}

/// Checkboxes for the values of each parameter.
function fillFilters(problem) {
  const list = d3.select("#filters");
  list.selectAll("*").remove();
  for (const name of problem.parameters) {
    const values = problem.codes.get(name).values.filter((value) => value !== null).sort(byValue);
    if (values.length < 2) continue;
    const field = list.append("fieldset");
    field.append("legend").text(name);
    for (const value of values) {
      const label = field.append("label");
      label.append("input").attr("type", "checkbox").property("checked", !(chosen.excluded.has(name) && chosen.excluded.get(name).has(value)))
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

/// Shows the tables and plots of the problem at `chosen.place`.
function showProblem() {
  const {place} = chosen;
  d3.selectAll("article").classed("off", function () { return Number(this.dataset.problem) !== place; });
  which.property("value", String(place));
  d3.select(`article[data-problem="${place}"] .plots`).node().appendChild(plots.node());
  const isSearched = data.problems[place].trials.count > 0;
  const isTimed = isSearched && opened(place).table.ns.some((ns) => ns > 0);
  plots.style("display", isTimed ? null : "none");
  controls.selectAll(".of-trials").style("display", isSearched ? null : "none");
  if (!isSearched) return;
  fillFilters(opened(place));
  drawProblem();
}

function choose(place) {
  Object.assign(chosen, {problem: keyOf(data.problems[place]), place, excluded: new Map(), brushes: new Map()});
  showProblem();
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
  const names = ["target", "device", "policy", "name", "best", "median", "low", "high", "default",
                 "baseline", "baseline_median", "baseline_low", "baseline_high", "cpu", "flops", "bytes"];
  return [csvLine(names)].concat(data.problems.map((problem) => csvLine(names.map((name) => problem[name]))));
}

/// Sorts by the column of this name, which `down` turns round.
function sortBy(table, {name, down}) {
  const heads = Array.from(table.querySelectorAll("th")), column = heads.findIndex((one) => one.textContent === name);
  if (column < 0) return;
  heads.forEach((one) => one.removeAttribute("aria-sort"));
  heads[column].setAttribute("aria-sort", down ? "descending" : "ascending");
  const body = table.querySelector("tbody");
  const keyOfRow = (row) => {
    const cell = row.cells[column];
    return cell.dataset.key === undefined ? cell.textContent : Number(cell.dataset.key);
  };
  const order = Array.from(body.rows).sort((a, b) => d3.ascending(keyOfRow(a), keyOfRow(b)));
  for (const row of down ? order.reverse() : order) body.appendChild(row);
}

const kRowsOfPage = 25;

/// Shows one page of the rows that have all words of the filter.
function showPage(table) {
  const words = chosen.words.toLowerCase().split(/\s+/);
  const rows = Array.from(table.querySelectorAll("tbody tr"));
  const found = rows.filter((row) => words.every((word) => row.textContent.toLowerCase().includes(word)));
  const pages = Math.max(1, Math.ceil(found.length / kRowsOfPage));
  chosen.page = Math.max(0, Math.min(chosen.page, pages - 1));
  const shown = new Set(found.slice(chosen.page * kRowsOfPage, (chosen.page + 1) * kRowsOfPage));
  for (const row of rows) row.hidden = !shown.has(row);
  d3.select("#page").text(`${found.length} of ${rows.length} results, page ${chosen.page + 1} of ${pages}`);
}

/// A filter and pages above a table that is long.
function addPager(table) {
  if (table.querySelectorAll("tbody tr").length <= kRowsOfPage) return;
  const pager = d3.create("div").attr("class", "pager");
  pager.append("label").text("Only rows with ").append("input").attr("id", "words").attr("type", "search")
    .property("value", chosen.words).on("input", function () {
      Object.assign(chosen, {words: this.value, page: 0});
      showPage(table);
    });
  for (const [text, step] of [["Previous", -1], ["Next", 1]]) {
    pager.append("button").attr("type", "button").text(text).on("click", () => {
      chosen.page += step;
      showPage(table);
    });
  }
  pager.append("span").attr("id", "page");
  table.before(pager.node());
  showPage(table);
}

/// The table of results: press a head to sort, a row to show its problem.
function enliven(table) {
  table.querySelectorAll("th").forEach((head) => {
    const name = head.textContent;
    d3.select(head).text("").append("button").attr("type", "button").text(name).on("click", () => {
      chosen.sorting = {name, down: head.getAttribute("aria-sort") === "ascending"};
      sortBy(table, chosen.sorting);
      showPage(table);
    });
  });
  table.querySelectorAll("tbody tr").forEach((row, place) => {
    d3.select(row).classed("press", true).on("click", () => goTo(place));
  });
  if (chosen.sorting) sortBy(table, chosen.sorting);
  addPager(table);
}

function goTo(place) {
  choose(place);
  document.getElementById("problem").scrollIntoView();
}

// Controls and plots of a problem are made once and go into each content.
const controls = d3.create("div").attr("class", "problem-controls");
const which = controls.append("label").text("Problem ").append("select").attr("id", "which")
  .on("change", function () { choose(Number(this.value)); });
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

function listProblems() {
  const severalGroups = new Set(data.problems.map((one) => one.target + one.device + one.policy)).size > 1;
  which.selectAll("option").remove();
  which.selectAll("option").data(data.problems).enter().append("option").attr("value", (one) => one.place)
    .text((one) => (severalGroups ? `${one.target} on ${one.device}: ${one.name} (${one.policy})` : one.name));
}

const kMostColumns = 64;  // of a matrix that can be read
let rateBoxes = [], matrixBoxes = [];

function makeOverview() {
  const rate = document.getElementById("rate");
  const roof = "The roof is the lower of the multiply-add peak (of f32, or of the tensor cores that a trial uses) and the memory's rate.";
  rateBoxes = groupsOf(data.problems).filter(({values}) => hasCurve(values))
    .map(({key, values}) => ({values, box: figure(rate, "rate", key, values.some(roofOf) ? roof : "")}));
  rate.hidden = rateBoxes.length === 0;
  matrixBoxes = data.portability.filter((one) => one.problems.length <= kMostColumns).map((one) => ({one, box: figure(
    document.getElementById("portability"), "portability", one.target,
    "Rows: the best configuration of each problem. Columns: problems. In percent of the best there; empty where it was not timed.")}));
}

function drawOverview() {
  for (const {values, box} of rateBoxes) drawRate(box, values, goTo);
  for (const {one, box} of matrixBoxes) drawPortability(box, one, data.problems, goTo);
}

/// Adds to the tables of the document what the script does.
function showContent() {
  if (data.problems.length === 0) return;
  document.querySelectorAll("table.sortable").forEach(enliven);
  d3.select("#problem").insert(() => controls.node(), "article");
  listProblems();
  makeOverview();
  drawOverview();
  chosen.place = placeOfChosen();
  showProblem();
}

function drawAll() {
  if (data.problems.length === 0) return;
  drawOverview();
  if (data.problems[chosen.place].trials.count > 0) drawProblem();
}

document.documentElement.classList.add("scripted");
take(document.getElementById("data").textContent);
showContent();
let width = window.innerWidth, redrawn = null;
window.addEventListener("resize", () => {
  if (window.innerWidth === width) return;
  width = window.innerWidth;
  clearTimeout(redrawn);
  redrawn = setTimeout(drawAll, 150);
});
