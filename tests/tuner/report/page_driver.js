// SPDX-License-Identifier: Apache-2.0
// Uses a report as a person does and leaves what it saw in <pre id="seen">. `errors` is filled by the
// first script of the page.
addEventListener("load", () => {
  const count = (selector) => document.querySelectorAll(selector).length;
  const text = (selector) => document.querySelector(selector).textContent;
  const seen = {plots: {}};
  drawWaiting();  // as time would
  for (const figure of document.querySelectorAll("figure")) {
    seen.plots[figure.dataset.plot] =
      figure.querySelectorAll("circle, rect.cell, rect.part, path.line, .lines path").length;
  }
  seen.all = text("#shown");
  seen.failures = count("[data-plot=trace] line.failed");
  seen.dots = count("[data-plot=trace] circle.ok");
  seen.painted = count("[data-plot=trace] svg image.painted");
  seen.counted = count("[data-plot=roofline] path.counted");

  const box = document.querySelector("input[data-parameter=BM][data-value='64']");
  box.click();
  drawWaiting();
  seen.filtered = text("#shown");
  seen.filteredDots = count("[data-plot=trace] circle.ok");
  document.querySelector("input[data-parameter=BM][data-value='64']").click();
  drawWaiting();
  seen.unfiltered = text("#shown");

  const best = Array.from(document.querySelectorAll("#verdicts th button")).find((b) => b.textContent === "best");
  const times = () => Array.from(document.querySelectorAll("#verdicts tbody tr"), (row) => row.cells[1].textContent);
  best.click();
  seen.ascending = times();
  best.click();
  seen.descending = times();

  const rows = () => Array.from(document.querySelectorAll("#verdicts tbody tr")).filter((row) => !row.hidden);
  seen.rows = rows().length;
  const words = document.querySelector("#words");
  if (words) {
    const search = (value) => {
      words.value = value;
      words.dispatchEvent(new Event("input"));
      return rows().length;
    };
    seen.found = search(rows()[7].cells[0].textContent);
    seen.again = search("");
  }

  // Last of what is pressed: d3 swallows clicks right after a brush.
  const overlay = document.querySelector(".brush[data-parameter=BM] .overlay");
  const place = overlay.getBoundingClientRect();
  const mouse = (type, target, y) => target.dispatchEvent(new MouseEvent(type,
    {bubbles: true, view: window, clientX: place.left + 5, clientY: place.top + y}));
  mouse("mousedown", overlay, 1);
  mouse("mousemove", window, place.height / 2 - 5);
  mouse("mouseup", window, place.height / 2 - 5);
  drawWaiting();
  seen.brushed = text("#shown");
  seen.linesOut = count(".lines path.out");

  const over = document.querySelector("[data-plot=trace] select");
  over.value = "seconds";
  over.dispatchEvent(new Event("change"));
  dispatchEvent(new Event("beforeprint"));
  seen.overSeconds = text("[data-plot=trace] .drawing").includes("seconds");

  seen.csv = trialLines().length;
  const which = document.querySelector("#which");
  which.value = "0";
  which.dispatchEvent(new Event("change"));
  drawWaiting();
  seen.shownArticles = Array.from(document.querySelectorAll("article:not(.off)"), (one) => one.dataset.problem);
  seen.afterChoice = text("#shown");
  document.querySelector("[data-plot=parallel]").style.width = "100px";
  drawAll();
  drawWaiting();
  seen.narrow = document.querySelector("[data-plot=parallel] svg").clientWidth;
  seen.tries = [triesFor(5, 5, 0.95), triesFor(2, 5, 0.85), triesFor(1, 5, 0.95)];
  seen.images = count("img");
  seen.errors = errors;
  const pre = document.createElement("pre");
  pre.id = "seen";
  pre.textContent = "SEEN" + JSON.stringify(seen) + "NEES";
  document.body.appendChild(pre);
});
