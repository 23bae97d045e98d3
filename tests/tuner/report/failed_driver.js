// SPDX-License-Identifier: Apache-2.0
// What a report of failures shows. `errors` is filled by the first script of the page.
addEventListener("load", () => {
  drawWaiting();
  const text = (selector) => document.querySelector(selector).textContent;
  const pre = document.createElement("pre");
  pre.textContent = "SEEN" + JSON.stringify({errors, sentence: text(".sentence"), shown: text("#shown"),
    plots: getComputedStyle(document.querySelector(".plot-grid")).display}) + "NEES";
  document.body.appendChild(pre);
});
