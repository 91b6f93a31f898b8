// A recorded room from above: play, pause, seek, speed, and through which client.

import { el, setAttribute, setText } from "./dom.js";
import { countdown } from "./format.js";
import { MapView } from "./map.js";
import { words } from "./words.js";

const text = words.replay;
const SPEEDS = [0.25, 0.5, 1, 2, 4, 8];
const STEP_MS = 5_000;

/** The room's time, as it is shown: it stands, or goes on at a speed. */
class Clock {
  constructor(from, to) {
    Object.assign(this, { from, to, at: from, speed: 1, since: undefined });
  }

  get isPlaying() {
    return this.since !== undefined;
  }

  now() {
    const passed = this.isPlaying ? (performance.now() - this.since) * this.speed : 0;
    const now = Math.min(this.at + passed, this.to);
    if (now === this.to && this.isPlaying) this.seek(now, false);
    return now;
  }

  seek(at, plays = this.isPlaying) {
    this.at = Math.min(Math.max(at, this.from), this.to);
    this.since = plays ? performance.now() : undefined;
  }

  /** From the end it begins again. */
  toggle() {
    const now = this.now();
    this.seek(now === this.to ? this.from : now, !this.isPlaying);
  }

  setSpeed(speed) {
    this.seek(this.now());
    this.speed = speed;
  }
}

async function read(path) {
  const answer = await fetch(path, { cache: "no-store" });
  const json = await answer.json().catch(() => ({}));
  if (answer.ok) return json;
  throw Object.assign(new Error(json.error ?? text.silent), { status: answer.status });
}

async function start() {
  const about = await read("/replay/frames");
  const clock = new Clock(about.from_ms, about.to_ms);
  clock.seek(about.from_ms, true);
  const query = (rest) => `at_ms=${Math.round(clock.now())}${rest.replace("?", "&")}`;
  const source = {
    map: () => read("/replay/map"),
    above: (_, rest) => read(`/replay/above?${query(rest)}`),
  };
  if (!location.hash.startsWith("#map=")) location.hash = `#map=${about.room}`;
  const view = new MapView({ maps: [], room: () => undefined }, source);

  const play = el("button", { type: "button", class: "main", onclick: () => clock.toggle() });
  const slider = el("input", {
    type: "range",
    min: about.from_ms,
    max: about.to_ms,
    step: 50,
    "aria-label": text.time,
    oninput: () => clock.seek(Number(slider.value)),
  });
  const time = el("output", { class: "time" });
  const choose = { "aria-label": text.speed, onchange: () => clock.setSpeed(Number(speed.value)) };
  const options = SPEEDS.map((value) => {
    return el("option", { value, selected: value === 1 }, text.times(value));
  });
  const speed = el("select", choose, ...options);
  document.body.append(
    el(
      "main",
      { class: "content" },
      el(
        "header",
        { class: "top" },
        el("h1", {}, text.title(about.room, about.game)),
        el("a", { href: "/?replay" }, text.asPlayer),
      ),
      about.full ? el("p", { class: "empty" }, text.full) : undefined,
      el("div", { class: "playback panel" }, play, slider, time, speed),
      view.root,
    ),
  );
  view.update();
  view.run();
  addEventListener("keydown", (event) => {
    if (event.target.closest("input, select, button, a")) return;
    const step = { ArrowLeft: -STEP_MS, ArrowRight: STEP_MS }[event.key];
    if (event.key === " ") clock.toggle();
    else if (step) clock.seek(clock.now() + step);
    else return;
    event.preventDefault();
  });
  const show = () => {
    const now = clock.now();
    setText(play, clock.isPlaying ? text.pause : text.play);
    setAttribute(play, "aria-pressed", clock.isPlaying);
    if (document.activeElement !== slider) slider.value = now;
    const seconds = (ms) => countdown((ms - about.from_ms) / 1_000);
    setText(time, `${seconds(now)} / ${seconds(about.to_ms)}`);
    requestAnimationFrame(show);
  };
  show();
}

start().catch((problem) => document.body.append(el("p", { class: "empty" }, problem.message)));
