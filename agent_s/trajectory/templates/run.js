"use strict";
// The view of one run. All texts become text nodes: nothing from a screen, a model or the web is read as HTML.

function node(tag, properties, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== ""));
  return made;
}

const seconds = (value) => (value >= 100 ? Math.round(value) : value.toFixed(value >= 10 ? 1 : 2)) + " s";
const plural = (number, word) => number + " " + word + (number === 1 ? "" : "s");
const chip = (text, tone) => node("span", { className: "chip " + tone }, text);
const list = (items) => (items.length ? node("ul", {}, items.map((item) => node("li", {}, item))) : null);
const PICTURE = /^(screens|sent)\/[\w.-]+$/;

// How each kind of event other than a step reads in the list: its title, its color, and what its details show.
const NOTES = {
  model_called: (e) => ["Call " + e.number + ": " + e.call, e.error ? "bad" : "plain"],
  knowledge_gathered: (e) => ["Knowledge" + (e.query ? ": " + e.query : ""), e.problems.length ? "bad" : "plain"],
  planned: (e) => [(e.replan ? "New plan" : "Plan") + ": " + plural(e.plan.subtasks.length, "subtask"), "plain"],
  subtask_started: (e) => [e.subtask.name, "plain"],
  replay_started: (e) => ["Replay of " + plural(e.steps, "step") + " from memory", "plain"],
  replay_stopped: (e) => ["Replay stopped: " + e.reason, "bad"],
  reflected: (e) => ["Reflector: " + e.reflection, "plain"],
  actions_dropped: (e) => [plural(e.actions.length, "action") + " dropped: " + e.reason, "plain"],
  probed: () => ["Read a file or setting", "plain"],
  verified: (e) => ["Check: " + (e.verdict.reason || "no reason given"),
    e.verdict.verified === null ? "plain" : e.verdict.verified ? "good" : "bad"],
  experience_stored: (e) => ["Stored in " + e.memory + " memory", "plain"],
  troubled: (e) => [e.problem, "bad"],
};

class RunView {
  // `address` turns the file name of a picture into an address; `whenSelected` is called with the number of a step.
  constructor(root, address, whenSelected) {
    this.address = address;
    this.whenSelected = whenSelected || (() => {});
    this.entries = [];
    this.steps = [];
    this.calls = [];
    this.pending = [];
    this.plan = null;
    this.subtask = null;
    this.seen = null;
    this.started = null;
    this.ended = null;
    this.usage = { calls: 0, tokens: 0, dollars: 0 };
    this.mode = "before";
    this.open = new Set(); // names of the sections that are unfolded, also on the next step
    this.follow = false;
    this.screen = null; // address of the moving picture of a run that goes on
    this.at = 0;
    this.build(root);
    this.overview = this.enter({ kind: "overview", title: "Overview", tone: "plain", at: 0, texts: [] });
    this.selected = this.overview;
  }

  build(root) {
    this.word = node("div", { className: "word" });
    this.name = node("h1");
    this.reason = node("p", { className: "said" });
    this.facts = node("dl", { className: "facts" });
    this.banner = node("header", { className: "banner plain" }, node("div", {}, this.word, this.name, this.reason), this.facts);
    this.controls = node("div", { className: "controls" });
    this.strip = node("div", { className: "strip" });
    this.search = node("input", { type: "search", placeholder: "Search texts, actions, prompts", oninput: () => this.sift() });
    this.search.setAttribute("aria-label", "Search");
    this.filter = node("select", { onchange: () => this.sift() },
      [["", "Everything"], ["step", "Steps"], ["model_called", "Model calls"], ["bad", "Problems"]].map(([value, text]) =>
        node("option", { value }, text)));
    this.filter.setAttribute("aria-label", "Show");
    this.found = node("div", { className: "soft found" });
    this.rows = node("ol", { className: "rows" });
    this.upcoming = node("ol", { className: "rows upcoming" });
    this.modes = node("div", { className: "modes" });
    this.shots = node("div", { className: "shots" });
    this.details = node("section", { className: "details" });
    this.list = node("nav", { className: "list" }, node("div", { className: "sift" }, this.search, this.filter),
      this.found, this.rows, this.upcoming);
    root.append(this.banner, this.controls, this.strip,
      node("div", { className: "work" }, this.list, node("section", { className: "stage" }, this.modes, this.shots), this.details));
  }

  // Take the next event.
  add(event) {
    this.at = event.at;
    const handler = this["on_" + event.kind];
    if (handler) handler.call(this, event);
    else if (NOTES[event.kind]) this.note(event);
    this.later();
  }

  // Draw once for all events that arrive together.
  later() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.head();
      this.ahead();
      this.select(this.follow && this.steps.length ? this.steps[this.steps.length - 1] : this.selected, true);
      if (this.search.value || this.filter.value) this.sift();
    });
  }

  on_run_started(event) { this.started = event; }

  on_run_ended(event) { this.ended = event; }

  on_observed(event) {
    this.seen = event;
    for (const step of this.steps) if (step.performed && !step.after) step.after = event;
  }

  on_model_called(event) {
    this.usage.calls += 1;
    this.usage.tokens += event.usage.input_tokens + event.usage.output_tokens;
    this.usage.dollars = event.usage.dollars === null || this.usage.dollars === null ? null : this.usage.dollars + event.usage.dollars;
    this.calls.push(event);
    this.pending.push(event);
    this.note(event);
  }

  on_planned(event) {
    this.plan = { subtasks: event.plan.subtasks, done: 0 };
    this.note(event);
  }

  on_subtask_started(event) {
    if (this.plan) this.plan.done = this.plan.subtasks.findIndex((one) => one.name === event.subtask.name) + 1 || this.plan.done;
    this.subtask = this.note(event);
    this.subtask.row.classList.add("subtask");
    this.mark(this.subtask, "now", "plain");
  }

  on_subtask_ended(event) {
    if (!this.subtask) return;
    this.subtask.ended = event;
    this.mark(this.subtask, event.ok ? "done" : "failed", event.ok ? "good" : "bad");
  }

  on_action_chosen(event) {
    const step = this.enter({ kind: "step", title: event.words, tone: "plain", at: event.at, number: event.step, chosen: event,
      before: this.seen, calls: this.pending, subtask: this.subtask, texts: [event, this.seen && this.seen.text] });
    this.pending = [];
    this.steps.push(step);
    if (location.hash === "#" + event.step) this.selected = step;
    step.thumb = node("button", { className: "thumb plain", title: event.step + ". " + event.words, onclick: () => this.select(step) },
      this.picture(step.before && step.before.screenshot, event.boxes), node("span", {}, event.step));
    this.strip.append(step.thumb);
  }

  on_action_performed(event) {
    const step = this.steps[this.steps.length - 1];
    if (!step || step.number !== event.step) return;
    step.performed = event;
    this.result(step, event);
  }

  on_effect_seen(event) {
    const step = [...this.steps].reverse().find((one) => one.number === event.step && one.performed);
    if (step) this.result(step, event);
  }

  result(step, event) {
    step.result = event;
    step.texts.push(event);
    const tone = event.ok ? "good" : "bad";
    this.mark(step, event.ok ? (step.chosen.replayed ? "↻" : "") : "refused", tone);
    step.thumb.className = "thumb " + tone;
  }

  note(event) {
    const [title, tone] = NOTES[event.kind](event);
    return this.enter({ kind: event.kind, title, tone, at: event.at, event, texts: [event], before: this.seen });
  }

  enter(entry) {
    entry.tail = node("span", { className: "tail" });
    const number = entry.number ? node("span", { className: "number" }, entry.number) : "";
    const label = node("button", { onclick: () => this.select(entry) }, number, node("span", { className: "title" }, entry.title),
      entry.tail, node("span", { className: "time" }, entry.kind === "overview" ? "" : seconds(entry.at)));
    entry.row = node("li", { className: entry.kind + " " + entry.tone }, label);
    this.rows.append(entry.row);
    this.entries.push(entry);
    return entry;
  }

  mark(entry, word, tone) {
    entry.row.classList.remove(entry.tone);
    entry.row.classList.add((entry.tone = tone));
    entry.tail.replaceChildren(word ? chip(word, tone) : "");
  }

  select(entry, byItself) {
    if (!byItself) this.follow = false;
    if (this.drawn !== entry) this.details.scrollTop = 0;
    this.selected = this.drawn = entry;
    for (const [list, chosen] of [[this.list, entry.row], [this.strip, entry.thumb]]) {
      for (const old of list.querySelectorAll(".selected")) old.classList.remove("selected");
      if (!chosen) continue;
      chosen.classList.add("selected");
      // Only these two lists scroll, never the page.
      if (list === this.strip) list.scrollLeft = chosen.offsetLeft - list.clientWidth / 2 + chosen.clientWidth / 2;
      else if (chosen.offsetTop < list.scrollTop || chosen.offsetTop > list.scrollTop + list.clientHeight - 60)
        list.scrollTop = chosen.offsetTop - list.clientHeight / 2;
    }
    this.show();
    if (!byItself && entry.kind === "step") this.whenSelected(entry.number);
    if (!byItself && window.views.length === 1) history.replaceState(null, "", entry.kind === "step" ? "#" + entry.number : "#");
  }

  selectStep(number) {
    const step = this.steps.find((one) => one.number === number);
    if (step) this.select(step, true);
  }

  move(by) {
    const shown = this.entries.filter((entry) => !entry.row.hidden);
    const next = shown[shown.indexOf(this.selected) + by];
    if (next) this.select(next);
  }

  sift() {
    const words = this.search.value.toLowerCase(), kind = this.filter.value;
    let count = 0;
    for (const entry of this.entries) {
      entry.row.hidden = Boolean((words && !(entry.title + JSON.stringify(entry.texts)).toLowerCase().includes(words)) ||
        (kind && entry.kind !== kind && !(kind === "bad" && entry.tone === "bad")));
      if (entry.thumb) entry.thumb.hidden = entry.row.hidden;
      count += !entry.row.hidden;
    }
    this.found.textContent = words || kind ? count + " of " + this.entries.length : "";
    this.show();
  }

  head() {
    if (this.started) this.name.textContent = this.name.title = this.started.instruction;
    const end = this.ended;
    this.banner.className = "banner " + (end ? end.tone : this.live ? "plain" : "bad");
    this.word.textContent = end ? end.heading + (end.replayed ? " · replayed from memory" : "")
      : this.live ? "Running" : "Cut off";
    this.reason.textContent = end ? end.reason : this.problem || "";
    const dollars = end ? end.usage.dollars : this.usage.dollars;
    const cost = dollars === null ? "unknown" : "$" + dollars.toFixed(dollars && dollars < 0.1 ? 4 : 2);
    const facts = [["Steps", this.steps.length], ["Model calls", this.usage.calls], ["Time", seconds(this.at)], ["Cost", cost],
      ["Tokens", this.usage.tokens.toLocaleString("en")], ["Model", this.started ? this.started.model : ""]];
    this.facts.replaceChildren(...facts.map(([name, value]) => node("div", {}, node("dt", {}, name), node("dd", {}, value))));
  }

  // The subtasks of the current plan that have not begun.
  ahead() {
    const rest = this.plan && !this.ended ? this.plan.subtasks.slice(this.plan.done) : [];
    this.upcoming.replaceChildren(...rest.map((one) => node("li", {}, node("span", { className: "title" }, one.name))));
  }

  show() {
    const entry = this.selected, step = entry.kind === "step" ? entry : null;
    const modes = [...(step ? ["before", "after", "both"] : []), ...(this.screen ? ["live"] : [])];
    const mode = modes.includes(this.mode) ? this.mode : modes[0];
    const before = entry.kind === "overview" ? this.seen : entry.before;
    this.modes.replaceChildren(...(modes.length > 1 ? modes : []).map((name) => node("button", { className: name === mode ? "chosen" : "",
      onclick: () => { this.mode = name; this.show(); } }, name[0].toUpperCase() + name.slice(1))));
    const key = mode === "live" ? "live" : JSON.stringify([mode, before && before.screenshot, step && step.chosen.boxes, step && step.after && step.after.screenshot]);
    if (this.shots.dataset.key !== key) {
      this.shots.dataset.key = key;
      this.shots.className = "shots " + (mode === "both" ? "two" : "");
      const after = () => this.picture(step.after && step.after.screenshot, [], "after the step");
      const first = () => this.picture(before && before.screenshot, step ? step.chosen.boxes : [], "before the step");
      this.shots.replaceChildren(...(mode === "live" ? [this.moving()] : mode === "after" ? [after()] : mode === "both" ? [first(), after()] : [first()]));
    }
    // Drawn anew only if something changed, so that what a person reads or selects stays as it is.
    const state = [this.entries.indexOf(entry), entry.texts.length, entry.ended, this.search.value, this.live];
    if (entry.kind === "overview") state.push(this.entries.length, this.ended);
    if (this.details.dataset.key === (this.details.dataset.key = JSON.stringify(state))) return;
    const body = step ? this.ofStep(step) : entry.kind === "overview" ? this.ofRun() : this.ofNote(entry);
    this.details.replaceChildren(...body.filter(Boolean));
  }

  moving() {
    const picture = node("img", { src: this.screen, alt: "The screen as it is now", draggable: false });
    return node("div", { className: "shot live" }, picture);
  }

  // A picture with frames around targets; a click opens it alone.
  picture(name, boxes, words) {
    const address = name && PICTURE.test(name) ? this.address(name) : null;
    if (!address) return node("div", { className: "shot missing" }, "no screenshot");
    const frame = node("div", { className: "shot" });
    const image = node("img", { alt: "The screen " + (words || ""), loading: words ? "eager" : "lazy" });
    let tries = 3; // the picture of a run that goes on may come a moment after its event
    image.onerror = () => (this.live && tries-- ? setTimeout(() => { image.src = address; }, 400)
      : frame.replaceWith(node("div", { className: "shot missing" }, "no screenshot")));
    image.onload = () => {
      frame.style.aspectRatio = image.naturalWidth + " / " + image.naturalHeight;
      for (const old of frame.querySelectorAll(".box")) old.remove();
      for (const box of boxes || []) {
        const drawn = node("span", { className: "box" });
        const [x, y, width, height] = box, share = (part, whole) => (100 * part) / whole + "%";
        Object.assign(drawn.style, { left: share(x, image.naturalWidth), top: share(y, image.naturalHeight),
          width: share(width, image.naturalWidth), height: share(height, image.naturalHeight) });
        frame.append(drawn);
      }
    };
    image.src = address;
    frame.append(image);
    return frame;
  }

  // Point at the place on the screen that a line of its text names.
  pin(line) {
    const place = /@(-?\d+),(-?\d+)/.exec(line || ""), frame = this.shots.querySelector(".shot:not(.missing)");
    for (const old of this.shots.querySelectorAll(".pin")) old.remove();
    if (!place || !frame) return;
    const image = frame.querySelector("img"), made = node("span", { className: "pin" });
    made.style.left = (100 * place[1]) / image.naturalWidth + "%";
    made.style.top = (100 * place[2]) / image.naturalHeight + "%";
    frame.append(made);
  }

  // Text with the words that are searched for marked.
  marked(text) {
    const words = this.search.value.toLowerCase(), lower = String(text).toLowerCase(), parts = [];
    let from = 0;
    for (let at; words && (at = lower.indexOf(words, from)) >= 0; from = at + words.length)
      parts.push(text.slice(from, at), node("mark", {}, text.slice(at, at + words.length)));
    return [...parts, String(text).slice(from)];
  }

  block(text) { return node("pre", {}, this.marked(text)); }

  section(name, title, ...content) {
    const made = node("details", { open: this.open.has(name) }, node("summary", {}, title), ...content);
    made.addEventListener("toggle", () => (made.open ? this.open.add(name) : this.open.delete(name)));
    return made;
  }

  pairs(rows) {
    return node("dl", { className: "parts" }, rows.filter(([, value]) => value !== "" && value !== null && value !== undefined)
      .map(([name, value]) => [node("dt", {}, name), node("dd", {}, value instanceof Node ? value : this.marked(value))]));
  }

  ofStep(step) {
    const { chosen, result, performed } = step;
    const state = !result ? chip(this.live ? "now" : "cut off", this.live ? "plain" : "bad") : chip(result.ok ? "ok" : "refused", result.ok ? "good" : "bad");
    return [
      node("div", { className: "head" }, node("h3", {}, node("span", { className: "number" }, chosen.step), this.marked(chosen.words)),
        node("span", {}, chosen.replayed ? chip("replayed", "plain") : "", state)),
      this.pairs([["Last action", chosen.previous_action_check], ["Screen", chosen.observation_analysis],
        ["Next action", chosen.next_action], ["Result", result && result.words], ["Effect", result && result.effect],
        ["Time", performed && seconds(performed.seconds) + "; the screen settled after " + seconds(performed.settled)],
        ["Subtask", step.subtask && step.subtask.title]]),
      node("div", { className: "label" }, "Action"),
      this.block(JSON.stringify(chosen.action)),
      ...step.calls.map((call) => this.section("calls", "Call " + call.number + ": " + call.call, ...this.ofCall(call))),
      this.screenText(step.before),
    ];
  }

  screenText(seen) {
    if (!seen || !seen.text) return null;
    const lines = seen.text.split("\n").map((line) => node("div", { onmouseenter: () => this.pin(line), onmouseleave: () => this.pin("") }, this.marked(line) , "\n"));
    return this.section("screen", "Screen as text (" + plural(seen.elements, "element") + ", read in " + seconds(seen.seconds) + ")",
      list(seen.notes), node("pre", { className: "screen" }, lines));
  }

  ofCall(call) {
    const said = [node("p", { className: "soft" }, call.model + ", " + seconds(call.seconds) + (call.cost ? ", " + call.cost : ""))];
    for (const prompt of call.prompts) {
      if (prompt.system) said.push(node("div", { className: "label" }, "Instructions"), this.block(prompt.system));
      if (prompt.schema) said.push(this.section("schema", "Schema of the answer", this.block(prompt.schema)));
      const like = prompt.like && this.entries.find((entry) => entry.kind === "model_called" && entry.event.number === prompt.like);
      if (like) said.push(node("p", { className: "soft" }, "Instructions and the first " + prompt.repeated + " parts: as in ",
        node("button", { onclick: () => this.select(like) }, "call " + prompt.like)));
      for (const part of prompt.parts) said.push(node("div", { className: "label" }, part.role),
        part.picture === undefined ? this.block(part.text) : this.picture(part.picture, [], "that was sent"));
      said.push(node("div", { className: "label" }, "Answer" + (prompt.stop ? " (" + prompt.stop + ")" : "")), this.block(prompt.reply || "(none)"));
      if (prompt.problem) said.push(node("p", { className: "said" }, prompt.problem));
    }
    if (!call.prompts.length) said.push(node("p", { className: "soft" }, "There is no prompt: this model reads the values themselves."));
    if (call.answer) said.push(node("div", { className: "label" }, "Answer"), this.block(call.answer));
    if (call.error) said.push(node("p", { className: "said bad" }, call.error));
    return said;
  }

  ofNote(entry) {
    const event = entry.event, title = node("h3", {}, this.marked(entry.title));
    if (event.kind === "model_called") return [title, ...this.ofCall(event)];
    if (event.kind === "subtask_started") return [title, this.pairs([["Info", event.subtask.info],
      ["Ended", entry.ended && (entry.ended.ok ? "done" : "failed") + (entry.ended.reason ? ": " + entry.ended.reason : "")],
      ["Memory used", event.experiences.join(", ")]]), this.screenText(entry.before)];
    return [title, ...this.ofEvent(event)];
  }

  ofEvent(event) {
    const verdict = event.verdict, aims = event.aims || (event.plan && event.plan.aims);
    const { kind, at, plan, ...others } = event;
    return [
      verdict && this.pairs([["Verified", verdict.verified === null ? "could not be checked" : verdict.verified ? "yes" : "no"], ["By", verdict.by],
        ["Evidence", list(verdict.evidence)]]),
      this.pairs([["Reason", event.reason], ["Trouble", event.trouble], ["Summary", event.summary], ["Experience", event.experience_id],
        ["Guideline", plan && plan.guideline], ["Web", event.web && list(event.web)], ["Memory used", event.narratives && event.narratives.join(", ")],
        ["No answer", event.problems && list(event.problems)], ["Criteria", aims && list(aims.criteria)], ["Constraints", aims && list(aims.constraints)],
        ["From", plan && { model: "the model", memory: "verified memory", task: "the task itself" }[plan.source]],
        ["Dropped", event.actions && list(event.actions)],
        ["Result", event.result && JSON.stringify(event.result, null, 1)]]),
      plan && node("ol", { className: "plan" }, plan.subtasks.map((one) => node("li", {}, this.marked(one.name),
        one.info && one.info !== one.name ? node("span", { className: "soft" }, " — ", this.marked(one.info)) : ""))),
    ];
  }

  ofRun() {
    const of = (kind) => this.entries.filter((entry) => entry.kind === kind);
    const part = (title, kind) => of(kind).flatMap((entry) => [node("h2", {}, title), ...this.ofNote(entry)]);
    const phases = Object.entries((this.ended && this.ended.usage.seconds) || {}).sort((a, b) => b[1] - a[1]);
    const start = this.started;
    return [
      ...part("Verification", "verified"), ...part("Problem", "troubled"), ...part("Plan", "planned"), ...part("Knowledge", "knowledge_gathered"),
      ...(of("experience_stored").length ? [node("h2", {}, "Stored in memory"), this.pairs(of("experience_stored").map((entry) =>
        [entry.event.memory, entry.event.summary]))] : []),
      ...(phases.length ? [node("h2", {}, "Where the time went"), this.bars(phases)] : []),
      ...(this.calls.length ? [node("h2", {}, "Model calls"), this.table()] : []),
      start && node("footer", {}, "Run " + start.run_id + ", started " + start.started + (start.desktop ? ", on " + start.desktop : "") + "." +
        (this.folder ? " Recorded in " + this.folder + "." : "")),
    ];
  }

  bars(phases) {
    return node("table", {}, phases.map(([phase, spent]) => {
      const bar = node("div", { className: "bar" });
      bar.style.width = (100 * spent) / phases[0][1] + "%";
      return node("tr", {}, node("td", {}, phase), node("td", { className: "figure" }, seconds(spent)), node("td", { className: "wide" }, bar));
    }));
  }

  table() {
    const kinds = [...new Set(this.calls.map((call) => call.call))], figure = { className: "figure" };
    return node("table", {}, node("tr", {}, ["Kind", "Calls", "Time", "In", "Cached", "Out"].map((name, n) => node("th", n ? figure : {}, name))),
      kinds.map((kind) => {
        const same = this.calls.filter((call) => call.call === kind);
        const sum = (of) => same.reduce((total, call) => total + of(call), 0);
        const cells = [same.length, seconds(sum((c) => c.seconds)), sum((c) => c.usage.input_tokens), sum((c) => c.usage.cached_tokens), sum((c) => c.usage.output_tokens)];
        return node("tr", {}, node("td", {}, kind), cells.map((cell) => node("td", figure, cell)));
      }));
  }
}

document.addEventListener("keydown", (event) => {
  if (!window.views || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) || event.ctrlKey || event.altKey || event.metaKey) return;
  const by = { ArrowRight: 1, ArrowDown: 1, j: 1, ArrowLeft: -1, ArrowUp: -1, k: -1 }[event.key];
  if (event.key === "/") window.views[0].search.focus();
  else if (by) window.views[0].move(by);
  else return;
  event.preventDefault();
});

// A page that carries its run with it.
if (document.getElementById("data")) {
  const run = JSON.parse(document.getElementById("data").textContent);
  const view = new RunView(document.getElementById("run"), (name) => (run.pictures ? run.pictures[name] : name));
  window.views = [view];
  Object.assign(view, { folder: run.folder, problem: run.problem });
  for (const event of run.events) view.add(event);
  view.later();
}
