"use strict";
// Opens runs of the server: one that may still go on, with its controls, or two side by side.

function openRun(view, base, whenState) {
  view.address = (name) => base + name;
  view.live = true;
  const source = new EventSource(base + "events");
  const of = (kind, handle) => source.addEventListener(kind, (message) => { handle(JSON.parse(message.data)); view.later(); });
  source.onmessage = (message) => {
    const event = JSON.parse(message.data);
    view.add(event);
    if (event.kind === "run_started") document.title = event.instruction;
  };
  of("folder", ({ folder, view: own }) => { view.folder = folder; view.own = own; });
  of("problem", (problem) => { view.problem = problem; });
  of("state", (state) => {
    view.live = state.live;
    if (whenState) whenState(state);
  });
  of("end", () => source.close());
  source.onerror = () => { if (source.readyState === EventSource.CLOSED) view.live = false; view.later(); };
}

// The controls of a run that goes on.
class Controls {
  constructor(view, base) {
    Object.assign(this, { view, base, shown: "" });
    openRun(view, base, (state) => this.take(state));
  }

  async order(what) {
    const answer = await fetch(this.base + "do", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(what) });
    if (answer.ok) this.take(await answer.json());
    else this.view.controls.append(node("span", { className: "bad-text" }, await answer.text()));
  }

  take(state) {
    const { view } = this, first = this.state === undefined;
    this.state = state;
    if (first && state.live !== false) Object.assign(view, { follow: true, mode: "live", screen: this.base + "screen" });
    if (state.live === false && view.screen) Object.assign(view, { screen: null, mode: "before", follow: false });
    const key = JSON.stringify(state);
    if (key !== this.shown) this.draw((this.shown = key) && state);
    view.later();
  }

  draw(state) {
    const { question } = state, button = (text, what, tone) => node("button", { className: tone || "", onclick: () => this.order(what) }, text);
    const answer = (value) => ({ do: "answer", number: question.number, value });
    const bar = this.view.controls;
    bar.className = "controls" + (question ? " asking" : "");
    if (state.live === false) return bar.replaceChildren();
    if (!state.orders) return bar.replaceChildren(node("span", { className: "dot" }), "This run goes on.",
      this.view.own ? node("a", { href: this.view.own }, "Its own view can pause, answer and stop it") : "");
    // A pointer stops by its press: the bar may be drawn anew before the release, and the click would be lost.
    const end = (event) => { if (event.type === "pointerdown" ? event.button === 0 : event.detail === 0) this.order({ do: "stop" }); };
    const stop = node("button", { className: "danger", onpointerdown: end, onclick: end }, "Stop");
    if (!question) return bar.replaceChildren(node("span", { className: "dot" }),
      state.pausing ? "Pausing after the current action ..." : state.stopping ? "Stopping ..." : "The agent works.",
      button("Pause", { do: "pause" }), button("Step by step", { do: "step" }), stop);
    const text = node("strong", { className: "said" }, question.text);
    if (question.kind === "confirm") return bar.replaceChildren(node("img", { src: question.picture, alt: "The target on the screen" }), text,
      button("Allow", answer(true), "good"), button("Refuse", answer(false)), stop);
    if (question.kind === "ask") {
      const input = node("input", { type: "text", required: true });
      input.setAttribute("aria-label", "Answer");
      const form = node("form", { onsubmit: (event) => { event.preventDefault(); this.order(answer(input.value)); } }, input, node("button", { className: "good" }, "Answer"));
      bar.replaceChildren(text, form, stop);
      return input.focus();
    }
    bar.replaceChildren(text, button("Next step", answer("step")), button("Continue", answer("continue"), "good"), ...this.typing(question), stop);
    return undefined;
  }

  // While the screen is the person's: clicks on the moving picture, and text and keys from a field.
  typing(question) {
    if (!this.state.input) return [];
    const send = (action) => this.order({ do: "act", number: question.number, action });
    const input = node("input", { type: "text", placeholder: "Type here, or keys such as ctrl+s" });
    const keys = () => input.value.split("+").map((key) => key.trim()).filter(Boolean);
    const given = (make) => () => { if (input.value) send(make()); input.value = ""; };
    this.view.shots.onclick = (event) => {
      const image = event.target.closest(".live img");
      if (!image || !this.state.question || this.state.question.number !== question.number) return;
      const box = image.getBoundingClientRect();
      const at = [((event.clientX - box.left) / box.width) * this.state.size[0], ((event.clientY - box.top) / box.height) * this.state.size[1]];
      send({ action: "click", at: at.map(Math.floor), num_clicks: event.detail > 1 ? 2 : 1 });
    };
    return [input, node("button", { onclick: given(() => ({ action: "type", text: input.value })) }, "Type"),
      node("button", { onclick: given(() => ({ action: "hotkey", keys: keys() })) }, "Press"),
      state_problem(this.state)];
  }
}

const state_problem = (state) => (state.problem ? node("span", { className: "bad-text" }, state.problem) : node("span", { className: "soft" }, "Click in the picture to click there."));

const single = document.getElementById("run"), pair = document.getElementById("pair");
if (single) {
  const view = new RunView(single, null);
  window.views = [view];
  new Controls(view, "");
}
if (pair) {
  const given = new URLSearchParams(location.search), views = [];
  for (const name of [given.get("left"), given.get("right")]) {
    const root = node("section", { className: "run" });
    pair.append(root);
    const view = new RunView(root, null, (number) => views.forEach((other) => other === view || other.selectStep(number)));
    views.push(view);
    openRun(view, "run/" + encodeURIComponent(name) + "/");
  }
  window.views = views;
}
