// SPDX-License-Identifier: Apache-2.0
// Waits for content, chooses in it, and looks again when there is more. `errors` is filled by the
// first script of the page.
const text = (selector) => document.querySelector(selector).textContent;
const seen = {notice: text(".notice")};

/// When this is so; the page asks its server every two seconds.
const when = (condition) => new Promise((done) => {
  const timer = setInterval(() => {
    if (!condition()) return;
    clearInterval(timer);
    done();
  }, 50);
});
const problems = () => document.querySelectorAll("#which option").length;
const times = () => Array.from(document.querySelectorAll("#verdicts tbody tr"), (row) => row.cells[1].textContent);

function brushBm() {
  const overlay = document.querySelector(".brush[data-parameter=BM] .overlay"), place = overlay.getBoundingClientRect();
  const mouse = (type, target, y) => target.dispatchEvent(new MouseEvent(type,
    {bubbles: true, view: window, clientX: place.left + 5, clientY: place.top + y}));
  mouse("mousedown", overlay, 1);
  mouse("mousemove", window, place.height / 2 - 5);
  mouse("mouseup", window, place.height / 2 - 5);
}

/// What a reader can choose, as the page shows it.
function choices() {
  const rect = document.querySelector(".brush[data-parameter=BM] .selection");
  return {
    problem: document.querySelector("#which").selectedOptions[0].textContent,
    article: text("article:not(.off) h3"),
    unchecked: Array.from(document.querySelectorAll("#filters input:not(:checked)"), (one) => one.dataset.value),
    over: document.querySelector("[data-plot=trace] select").value,
    across: document.querySelector("[data-plot=heatmap] select").value,
    brushed: rect.style.display !== "none" && Number(rect.getAttribute("height")) > 0,
    details: document.querySelector("details").open,
    sorted: text("#verdicts th[aria-sort=descending]")};
}

function choose256() {
  const pick = (selector, value) => {
    const select = document.querySelector(selector);
    select.value = value;
    select.dispatchEvent(new Event("change", {bubbles: true}));
  };
  pick("#which", "0");
  drawWaiting();
  document.querySelector("details").open = true;
  document.querySelector("input[data-parameter=BM][data-value='64']").click();
  pick("[data-plot=trace] select", "seconds");
  const best = () => Array.from(document.querySelectorAll("#verdicts th button")).find((one) => one.textContent === "best");
  best().click();
  best().click();
  drawWaiting();  // as time would
  brushBm();
  drawWaiting();
  pick("[data-plot=heatmap] select", "KIND");  // has been down
  drawWaiting();
}

async function drive() {
  await when(() => problems() === 2);
  seen.first = document.querySelector("#which").selectedOptions[0].textContent;
  choose256();
  Object.assign(seen, {chosen: choices(), shown: text("#shown"), order: times()});
  document.querySelector("#which").focus();
  scrollTo(0, 700);
  seen.scroll = scrollY;

  getSelection().selectAllChildren(document.querySelector("h1"));
  await new Promise((done) => setTimeout(done, 15000));
  seen.heldWhileSelected = problems() === 2;
  getSelection().removeAllRanges();
  document.querySelector("#which").focus();
  await when(() => problems() === 3);
  Object.assign(seen, {chosenAfter: choices(), shownAfter: text("#shown"), orderAfter: times(), scrollAfter: scrollY,
                       focusAfter: document.activeElement.id, errors});
  const pre = document.createElement("pre");
  pre.textContent = "SEEN" + JSON.stringify(seen) + "NEES";
  document.body.appendChild(pre);
}
drive();
