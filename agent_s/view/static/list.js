"use strict";
// The list of runs, or of an evaluation's episodes. `node` of run.js makes all texts text nodes.

const root = document.getElementById("list");
const title = node("h1"), counts = node("p", { className: "soft" });
const search = node("input", { type: "search", placeholder: "Search tasks and models", oninput: () => draw() });
const tones = node("select", { onchange: () => draw() }, [["", "All runs"], ["live", "Running"], ["good", "Good"], ["plain", "Undecided"], ["bad", "Problems"]]
  .map(([value, text]) => node("option", { value }, text)));
const compare = node("button", { disabled: true, onclick: () => {
  const [left, right] = [...chosen];
  location.href = "compare?" + new URLSearchParams({ left, right });
} }, "Compare");
const body = node("tbody"), chosen = new Set();
let rows = [], shown = "";
search.setAttribute("aria-label", "Search");
tones.setAttribute("aria-label", "Show");
root.append(node("header", { className: "head" }, node("div", {}, title, counts), node("div", { className: "sift" }, search, tones, compare)),
  node("div", { className: "card table" }, node("table", {}, node("thead", {}, node("tr", {},
    ["", "", "Task", "Result", "Steps", "Calls", "Time", "Started"].map((name, n) => node("th", n > 3 && n < 7 ? { className: "figure" } : {}, name)))), body)));

function draw() {
  const words = search.value.toLowerCase(), tone = tones.value;
  const kept = rows.filter((row) => (!tone || row.tone === tone) && (!words || JSON.stringify(row).toLowerCase().includes(words)));
  const live = rows.filter((row) => row.tone === "live").length, good = rows.filter((row) => row.tone === "good").length;
  counts.textContent = rows.length + (rows.length === 1 ? " run, " : " runs, ") + good + " good" + (live ? ", " + live + " going on" : "") +
    (kept.length < rows.length ? ", " + kept.length + " shown" : "") + ". Choose two to compare them.";
  body.replaceChildren(...(kept.length ? kept.map(line) : [node("tr", {}, node("td", { colSpan: 8, className: "soft" }, rows.length ? "There is no such run." : "No run is recorded here yet."))]));
}

function line(row) {
  const address = row.name && "run/" + encodeURIComponent(row.name) + "/";
  const box = node("input", { type: "checkbox", checked: chosen.has(row.name), onchange: () => {
    if (box.checked) chosen.add(row.name);
    else chosen.delete(row.name);
    compare.disabled = chosen.size !== 2;
  } });
  box.setAttribute("aria-label", "Compare this run");
  const link = (...content) => (address ? node("a", { href: address }, content) : node("span", {}, content));
  const picture = row.picture ? link(node("img", { src: address + row.picture, alt: "", loading: "lazy" })) : "";
  const figure = (value) => node("td", { className: "figure" }, value === null ? "" : String(value));
  return node("tr", {}, node("td", {}, address ? box : ""), node("td", { className: "mini" }, picture),
    node("td", { className: "task" }, link(row.task || row.name), node("div", { className: "soft" }, [row.model, row.note].filter(Boolean).join(" · "))),
    node("td", {}, node("span", { className: "chip " + row.tone }, row.word)), figure(row.steps), figure(row.calls),
    figure(row.seconds === null ? null : row.seconds.toFixed(1) + " s"), node("td", { className: "when" }, row.started));
}

async function refresh() {
  if (!document.hidden) {
    const answer = await fetch("rows").catch(() => null); // the server may have ended
    const text = answer && (await answer.text());
    if (!answer || !answer.ok) counts.textContent = answer ? text : "The server has ended.";
    else if (text !== shown) {
      shown = text;
      const read = JSON.parse(text);
      rows = read.rows;
      title.textContent = read.folder;
      document.title = read.folder;
      draw();
    }
  }
  setTimeout(refresh, 2000);
}
refresh();
