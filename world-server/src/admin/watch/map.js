// One map from above, as it is now: what is there, what a client has of it, and why.

import { ask } from "./api.js";
import { el, renew, setText } from "./dom.js";
import { amount, bytesPerSecond, milliseconds } from "./format.js";
import { HAS, MapPicture, OBJECT } from "./map_picture.js";
import { words } from "./words.js";

const text = words.map;
/** Between an answer and the next request; a server that answers slowly is asked less often. */
const PAUSE_MS = 250;
const PAUSE_PER_ANSWER = 4;
/** Rows of lists below the picture. */
const ROWS = 8;

export const needs = ["maps", "rooms", "players"];

/** Which `map` and which `player`, as the address says. */
export function readPlace(hash) {
  const query = new URLSearchParams(hash.replace(/^#/, ""));
  const number = (name) => {
    const value = query.get(name);
    return /^\d+$/.test(value ?? "") ? Number(value) : undefined;
  };
  return { map: number("map"), player: number("player") };
}

export function linkTo(map, player) {
  return player === undefined ? `#map=${map}` : `#map=${map}&player=${player}`;
}

/** A room that runs: what its host answers now. */
const live = {
  map: (map) => ask("GET", `maps/${map}`),
  above: (map, query) => ask("GET", `maps/${map}/above${query}`),
  why: (map, query) => ask("GET", `maps/${map}/why${query}`),
};

export function make(store) {
  if (store.me.guest) {
    const why = el("p", { class: "empty", role: "status" }, text.needsKey);
    return { root: el("section", { class: "panel" }, why), update() {} };
  }
  const view = new MapView(store, live);
  view.run();
  return view;
}

export class MapView {
  /** `source` answers what `live` does; `why` may be missing. */
  constructor(store, source) {
    Object.assign(this, { store, source });
    this.place = readPlace(location.hash);
    const canvas = el("canvas", { class: "above", role: "img", tabindex: 0 });
    this.canvas = canvas;
    this.picture = new MapPicture(canvas, { pick: (id) => this.#pick(id) });
    this.title = el("h2");
    this.problem = el("p", { class: "empty", role: "status" });
    this.figures = el("dl");
    this.clients = el("ul", { class: "clients" });
    this.kinds = el("ul", { class: "bars" });
    this.oldest = el("ul", { class: "bars" });
    this.object = el("dl");
    const button = (label, run) =>
      el("button", { type: "button", class: "small", onclick: run }, label);
    const load = button(text.load, () => {
      this.picture.showsLoad = !this.picture.showsLoad;
      load.setAttribute("aria-pressed", this.picture.showsLoad);
    });
    load.setAttribute("aria-pressed", false);
    const zoom = (factor) => () => this.picture.zoom(factor);
    const tools = el(
      "div",
      { class: "tools" },
      button(text.closer, zoom(1.5)),
      button(text.farther, zoom(1 / 1.5)),
      button(text.whole, () => this.picture.fit()),
      load,
    );
    const part = (title, list, note) =>
      el("section", {}, el("h3", {}, title), list, note && el("small", {}, note));
    this.objectPart = part(text.object, this.object);
    this.objectPart.hidden = true;
    this.oldestPart = part(text.oldest, this.oldest, text.streaks);
    this.root = el(
      "div",
      { class: "map" },
      el("section", { class: "panel" }, el("header", {}, this.title, tools), canvas, this.problem),
      el(
        "section",
        { class: "panel facts" },
        this.objectPart,
        part(text.clients, this.clients),
        this.figures,
        this.oldestPart,
        part(text.kinds, this.kinds, text.kindsNote),
      ),
    );
  }

  update() {
    const room = this.store.maps.find((map) => map.id === this.place.map);
    const name = room && this.store.room(room.room)?.name;
    const number = room && room.map > 0 ? room.map : undefined;
    setText(this.title, name ? text.title(name, number) : text.map(this.place.map));
  }

  /** Asks and draws for as long as it is shown. */
  async run() {
    await new Promise(requestAnimationFrame);
    const draw = () => {
      if (!this.root.isConnected) return;
      this.picture.draw();
      requestAnimationFrame(draw);
    };
    draw();
    while (this.root.isConnected) {
      const began = performance.now();
      try {
        await this.#turn();
        setText(this.problem, "");
      } catch (problem) {
        if (problem.status === undefined) throw problem;
        // Of a map that is not there nothing is shown.
        if (problem.status === 404) this.#forget();
        setText(this.problem, problem.message);
      }
      const took = performance.now() - began;
      this.pause = Math.max(PAUSE_MS, PAUSE_PER_ANSWER * took);
      await new Promise((resolve) => setTimeout(resolve, document.hidden ? 2_000 : this.pause));
    }
  }

  async #turn() {
    const place = readPlace(location.hash);
    if (place.map !== this.place.map) this.#forget();
    this.place = place;
    this.update();
    if (place.map === undefined) return;
    if (!this.map) {
      this.map = await this.source.map(place.map);
      this.picture.setMap(this.map);
    }
    const query = place.player === undefined ? "" : `?player=${place.player}`;
    const above = await this.source.above(place.map, query);
    this.above = above;
    this.picture.show(above, (this.pause ?? PAUSE_MS) + 50);
    const { selected } = this.picture;
    const isAsked = selected !== undefined && above.view && this.source.why;
    this.why = isAsked
      ? await this.source.why(place.map, `${query}&object=${selected}`)
      : undefined;
    this.#show();
  }

  #forget() {
    this.map = this.above = this.why = undefined;
    this.picture.setMap(undefined);
    this.picture.selected = undefined;
    this.objectPart.hidden = this.oldestPart.hidden = true;
    for (const list of [this.figures, this.clients, this.kinds]) renew(list, "", () => []);
  }

  #pick(id) {
    this.picture.selected = id;
    const object = this.above?.objects.find((object) => object[OBJECT.id] === id);
    // A click on an avatar looks through its client.
    const client = object && this.above.clients.find(({ avatar }) => avatar === id);
    if (client && this.place.player === undefined) {
      location.hash = linkTo(this.place.map, client.player);
    }
    this.why = undefined;
    this.#show();
  }

  #show() {
    const { above, map } = this;
    if (!above || !map) return;
    const { view } = above;
    const watched = above.clients.find(({ player }) => player === this.place.player);
    this.canvas.setAttribute(
      "aria-label",
      text.summary(above.objects.length + above.left_out, above.clients.length, watched?.name),
    );
    this.#showFigures(above, watched);
    this.#showClients(above.clients);
    this.#showKinds(above.bytes_by_kind);
    this.oldestPart.hidden = !view;
    if (view) this.#showOldest(view);
    this.#showObject();
  }

  #showFigures(above, watched) {
    const { view } = above;
    const away = this.place.player !== undefined && !view;
    const lines = [
      [text.objects, amount(above.objects.length + above.left_out)],
      away && [text.view, above.no_view ?? text.away],
      watched && [text.view, watched.name],
      watched && [text.follows, amount(watched.follows)],
      watched && [text.roundTrip, milliseconds(watched.round_trip_ms)],
      watched && [text.budget, bytesPerSecond(watched.budget)],
      // Of a recorded room these are not known.
      view && view.bytes !== null && [text.sent, bytesPerSecond(view.bytes)],
      view && view.waiting !== null && [text.waiting, amount(view.waiting)],
    ].filter(Boolean);
    renew(this.figures, lines.join(), () =>
      lines.flatMap(([label, value]) => [el("dt", {}, label), el("dd", {}, value)]),
    );
  }

  #showClients(clients) {
    const { map, player } = this.place;
    const stamp = clients.map(({ player, name }) => `${player} ${name}`).join() + player;
    renew(this.clients, stamp, () => {
      if (clients.length === 0) return [el("li", { class: "empty" }, text.nobody)];
      const link = (href, label, isChosen) =>
        el("li", {}, el("a", { href, "aria-current": isChosen ? "true" : undefined }, label));
      const all = link(linkTo(map), text.truth, player === undefined);
      return [
        all,
        ...clients.map((it) => link(linkTo(map, it.player), it.name, it.player === player)),
      ];
    });
  }

  #showKinds(bytes) {
    const rows = bytes.map((value, kind) => [this.map.kinds[kind]?.name, value]);
    const shown = rows.filter(([, value]) => value > 0).sort(([, a], [, b]) => b - a);
    this.#showBars(this.kinds, shown.slice(0, ROWS), bytesPerSecond, text.nothingSent);
  }

  #showOldest({ objects }) {
    const rows = objects.filter((has) => has[HAS.knownAge] !== null);
    rows.sort((a, b) => b[HAS.knownAge] - a[HAS.knownAge]);
    const moving = rows.filter((has) => has[HAS.waits] || has[HAS.age] < 2_000);
    const shown = moving.slice(0, ROWS).map((has) => [
      this.#nameOf(has[HAS.id]) + (has[HAS.waits] ? ` (${text.waits})` : ""),
      has[HAS.knownAge],
    ]);
    this.#showBars(this.oldest, shown, milliseconds, text.nothingMoves);
  }

  #showBars(list, rows, show, nothing) {
    const most = Math.max(1, ...rows.map(([, value]) => value));
    renew(list, JSON.stringify(rows), () => {
      if (rows.length === 0) return [el("li", { class: "empty" }, nothing)];
      return rows.map(([name, value]) =>
        el(
          "li",
          {},
          el("span", {}, name),
          el("progress", { max: most, value, "aria-hidden": "true" }),
          el("span", { class: "value" }, show(value)),
        ),
      );
    });
  }

  #nameOf(id) {
    const client = this.above.clients.find(({ avatar }) => avatar === id);
    const object = this.above.objects.find((object) => object[OBJECT.id] === id);
    const kind = object && this.map.kinds[object[OBJECT.kind]]?.name;
    return client?.name ?? text.named(kind ?? "", id);
  }

  #showObject() {
    const id = this.picture.selected;
    this.objectPart.hidden = id === undefined;
    if (id === undefined) return;
    const object = this.above.objects.find((object) => object[OBJECT.id] === id);
    const has = this.above.view?.objects.find((has) => has[HAS.id] === id);
    const at = object && object[OBJECT.x] !== null;
    const { why } = this;
    const lines = [
      [text.which, this.#nameOf(id)],
      !object && [text.state, text.gone],
      at && [text.place, text.at(amount(object[OBJECT.x]), amount(object[OBJECT.y]))],
      why && [text.why, text.rules[why.rule]?.(why) ?? why.rule],
      why?.at_client && [text.since, milliseconds(this.above.at_ms - why.at_client.since_ms)],
      why?.at_client && [text.known, why.at_client.known ? text.yes : text.notYet],
      has && has[HAS.age] !== null && [text.lastSent, milliseconds(has[HAS.age])],
      has && has[HAS.knownAge] !== null && [text.acked, milliseconds(has[HAS.knownAge])],
      has && has[HAS.class] !== null && [text.class, text.classes[has[HAS.class]]],
      why?.at_client?.pose && [text.priority, amount(why.at_client.pose.priority)],
      why?.at_client && [text.parts, text.unsent(why.at_client)],
      has && this.source.why && [text.sent, bytesPerSecond(has[HAS.bytes])],
      !this.above.view && [text.why, text.chooseClient],
    ].filter(Boolean);
    renew(this.object, lines.join(), () =>
      lines.flatMap(([label, value]) => [el("dt", {}, label), el("dd", {}, value)]),
    );
  }
}
