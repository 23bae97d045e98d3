// SPDX-License-Identifier: Apache-2.0
// A live page asks its server for newer content and shows it without losing what the reader has
// chosen.

const kPeriod = 2000;      // milliseconds between two questions
const kReading = 5000;     // an opened list of choices is left alone for so long
let version = document.body.dataset.version, listOpened = -Infinity;

for (const type of ["mousedown", "keydown"]) {
  document.addEventListener(type, ({target}) => { if (target.matches("select")) listOpened = Date.now(); });
}
document.addEventListener("change", () => { listOpened = -Infinity; });

/// Whether new content would disturb: something is dragged, selected or being chosen.
function isBusy() {
  return document.querySelector("main :active") !== null || !getSelection().isCollapsed ||
         Date.now() - listOpened < kReading;
}

/// Says above everything that the server does not answer; empty: it does.
function announce(text) {
  const header = document.querySelector("header"), before = header.querySelector(".lost");
  if (before) before.remove();
  if (text === "") return;
  const notice = header.appendChild(document.createElement("p"));
  notice.className = "notice lost";
  notice.textContent = text;
}

const kRecent = 30e3, kLost = 300e3;  // milliseconds since the last trial

/// Says whether a run is active, finished or dead, by the age of its last trial.
function stateText() {
  const latest = Math.max(...data.problems.map((one) => Date.parse(one.latest) || 0));
  if (!(latest > 0)) return "";
  const age = Date.now() - latest, minutes = Math.round(age / 60e3);
  const open = data.problems.filter((one) => one.best === "" && one.trials.count > 0).length;
  const ago = `the last trial is ${minutes < 1 ? "less than a minute" : `${minutes} min`} old`;
  if (age < kRecent || (open > 0 && age < kLost)) return `Active: ${ago}.`;
  if (open === 0) return `Finished: every problem is decided; ${ago}.`;
  return `Ended early or dead: ${open} not decided, and ${ago}. The same tune command continues.`;
}

function showState() {
  const header = document.querySelector("header");
  const line = header.querySelector(".state") || header.appendChild(document.createElement("p"));
  line.className = "state";
  line.textContent = stateText();
}

/// Places of an element and its ancestors among their siblings, below <main>.
function pathOf(element) {
  const path = [];
  for (; element && element.parentElement && element.tagName !== "MAIN"; element = element.parentElement) {
    path.unshift(Array.from(element.parentElement.children).indexOf(element));
  }
  return path;
}

function elementAt(path) {
  return path.reduce((element, place) => element && element.children[place], document.querySelector("main"));
}

function replaceContent(html) {
  const fresh = new DOMParser().parseFromString(html, "text/html");
  const {scrollX, scrollY} = window, focused = document.activeElement, path = pathOf(focused);
  for (const part of ["header", "main"]) document.querySelector(part).replaceWith(fresh.querySelector(part));
  take(fresh.getElementById("data").textContent);
  showContent();
  showState();
  drawWaiting();  // before the focus and the place on the page come back
  const again = focused.isConnected ? focused : elementAt(path);
  if (again && again.tagName === focused.tagName) again.focus({preventScroll: true});
  scrollTo(scrollX, scrollY);
}

async function ask() {
  try {
    const answer = await fetch(`content${location.search}`,
                               {cache: "no-store", headers: {"If-None-Match": version}});
    if (answer.status === 200) {
      const html = await answer.text();
      if (isBusy()) return;
      replaceContent(html);
      version = answer.headers.get("ETag");
    } else {
      announce(answer.status === 304 ? "" : `autotune watch answers ${answer.status}.`);
    }
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;  // fetch throws one if nobody answers
    announce("autotune watch has ended. This is what it showed last.");
  }
}

/// A page that nobody sees asks nothing: what it costs, a tuning run on this machine does not have.
async function follow() {
  if (!document.hidden && !isBusy()) await ask();
  showState();
  setTimeout(follow, kPeriod);
}
showState();
setTimeout(follow, kPeriod);
