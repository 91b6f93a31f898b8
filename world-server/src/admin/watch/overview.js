// What one looks at first: numbers, the last hour, what needs attention, the newest events.

import { callOff } from "./actions.js";
import { Chart } from "./charts.js";
import { roomState } from "./details.js";
import { el, renew } from "./dom.js";
import { eventRow } from "./event_rows.js";
import { amount, bytesPerSecond, duration, milliseconds } from "./format.js";
import { icon } from "./icons.js";
import { parts } from "./table.js";
import { words } from "./words.js";

const EVENTS = 8;
const BUSIEST = 6;
/** More refusals a second than players cause by mistake. */
const MANY_REFUSED = 5;

export const needs = ["hosts", "rooms", "history", "events"];

export function make(store, { refresh }) {
  const text = words.overview;
  const charts = makeCharts(text);
  const attention = el("ul", { class: "attention" });
  const events = el("ul", { class: "events" });
  const busiest = el("ul", { class: "busiest" });
  const root = el(
    "div",
    { class: "overview" },
    el("section", { class: "panel", "aria-label": text.attention, role: "status" }, attention),
    el("div", { class: "charts" }, ...Object.values(charts).map((chart) => chart.root)),
    el(
      "div",
      { class: "pair" },
      el(
        "section",
        { class: "panel" },
        el("header", {}, el("h2", {}, text.newest), el("a", { href: "#events" }, text.allEvents)),
        events,
      ),
      el("section", { class: "panel" }, el("header", {}, el("h2", {}, text.busiest)), busiest),
    ),
  );

  function update() {
    if (!store.server) return;
    updateCharts(store, charts, text);
    const points = attentionPoints(store);
    const stamp = points.map(({ tone, text, href }) => `${tone} ${text} ${href}`).join();
    renew(attention, stamp, () =>
      points.length > 0
        ? points.map((point) => attentionLine(store, point, refresh))
        : [el("li", { "data-tone": "good" }, icon("good"), text.fine)],
    );
    const newest = store.events.slice(0, EVENTS);
    renew(events, newest.map((event) => event.number).join(), () =>
      newest.length > 0
        ? newest.map((event) => eventRow(store, event))
        : [el("li", { class: "empty" }, noEvents(store))],
    );
    const rooms = store.rooms.toSorted((a, b) => b.players - a.players || a.id - b.id);
    const shown = rooms.slice(0, BUSIEST);
    renew(busiest, JSON.stringify(shown.map((room) => [room, roomState(store, room)])), () =>
      shown.length > 0
        ? shown.map((room) => busyLine(store, room))
        : [el("li", { class: "empty" }, text.noRooms)],
    );
  }

  return { root, update };
}

function noEvents(store) {
  return store.hasEvents ? words.events.empty : words.events.unavailable;
}

function makeCharts(text) {
  const chart = (name, lines, show, floor, unit) => new Chart({ name, lines, show, floor, unit });
  return {
    players: chart(text.players, ["players"], amount, 10),
    rooms: chart(text.rooms, ["rooms"], amount, 5),
    cores: chart(text.cores, ["cores"], amount, 0.5, text.coresUnit),
    lateness: chart(text.lateness, ["lateness_ms"], milliseconds, 2),
    traffic: chart(text.traffic, ["out", "in"], bytesPerSecond, 10_000),
    refused: chart(text.refused, ["refused"], amount, 1, text.refusedUnit),
  };
}

function updateCharts(store, charts, text) {
  const { server, hosts, history } = store;
  const newest = (name) => history?.[name]?.at(-1);
  const cores = hosts.reduce((sum, host) => sum + host.cores, 0);
  const lateness = hosts.map((host) => host.lateness_ms ?? 0);
  const away = text.playersNote(server.players_away);
  charts.players.update(amount(server.players), server.players ? away : "", history);
  charts.rooms.update(amount(server.rooms), text.roomsNote(server.rooms_running), history);
  charts.cores.update(amount(cores), text.coresNote(hosts.length), history);
  charts.lateness.update(milliseconds(Math.max(0, ...lateness)), text.latenessNote, history);
  const note = text.trafficNote(bytesPerSecond(newest("in")));
  charts.traffic.update(bytesPerSecond(newest("out")), note, history);
  charts.refused.update(amount(newest("refused")), text.refusedNote, history);
}

/** What an operator has to know now: a tone, a text, and where one reads more. */
function attentionPoints(store) {
  const { server, hosts, history } = store;
  const text = words.attention;
  const points = [];
  const add = (tone, said, href) => points.push({ tone, text: said, href });
  if (server.draining) add("problem", text.draining);
  if (server.shutdown) {
    const { in_s, reason } = server.shutdown;
    points.push({
      tone: "warning",
      text: text.shutdown(duration(in_s), reason),
      isShutdown: true,
    });
  }
  if (hosts.length === 0) add("problem", text.noHost, "#hosts");
  const isUsable = (host) => !host.drained && !host.leaving;
  const isFull = (host) => host.rooms >= host.capacity;
  const usable = hosts.filter(isUsable);
  if (usable.length > 0 && usable.every(isFull)) add("problem", text.full, "#hosts");
  for (const host of hosts) {
    const name = words.hosts.name(host.id, host.label);
    const href = `#host=${host.id}`;
    if (host.late_rooms > 0) add("problem", text.late(name, host.late_rooms), href);
    if (host.drained && host.rooms > 0) add("warning", text.drainGoes(name, host.rooms), href);
    if (host.drained && host.rooms === 0) add("good", text.drainDone(name), href);
  }
  const builds = Map.groupBy(Object.values(server.waiting_rooms), (build) => build);
  for (const [build, rooms] of builds) add("warning", text.waiting(rooms.length, build), "#rooms");
  const refused = history?.refused?.at(-1) ?? 0;
  if (refused >= MANY_REFUSED) add("warning", text.refused(amount(refused)), "#events");
  return points;
}

function attentionLine(store, { tone, text, href, isShutdown }, refresh) {
  const line = el("li", { "data-tone": tone }, icon(tone === "good" ? "good" : "attention"));
  line.append(href ? el("a", { href }, text) : text);
  const { label, role, open } = callOff();
  if (isShutdown && store.may(role)) {
    const attributes = { type: "button", class: "small", onclick: () => open(refresh) };
    line.append(el("button", attributes, label));
  }
  return line;
}

function busyLine(store, room) {
  const { players, capacity } = room;
  const share = { meter: players / Math.max(capacity, 1) };
  return el(
    "li",
    {},
    el("a", { href: `#room=${room.id}` }, room.name),
    el("span", { class: "soft" }, room.game),
    el("span", { class: "badges" }, ...parts(roomState(store, room))),
    el("span", { class: "share" }, ...parts([share, `${amount(players)} / ${amount(capacity)}`])),
  );
}
