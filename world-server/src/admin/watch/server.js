// The server itself: what it is, a message to all, its end.

import { callOff, message, reload, shutDown } from "./actions.js";
import { el, renew, setText } from "./dom.js";
import { amount, countdown, duration } from "./format.js";
import { words } from "./words.js";

export const needs = [];

export function make(store, { refresh }) {
  const text = words.server;
  const facts = el("dl");
  const planned = el("p", { class: "planned", "data-tone": "warning", hidden: true });
  const buttons = el("div", { class: "buttons" });
  const button = ({ label, tone, open }) =>
    el("button", { type: "button", class: tone ?? "main", onclick: () => open(refresh) }, label);
  const toAll = message({}, words.actions.everybody);
  const link = (href, shown) => el("li", {}, el("a", { href, target: "_blank" }, shown));
  const root = el(
    "div",
    { class: "server" },
    el("section", { class: "panel" }, facts),
    store.may(toAll.role) &&
      el(
        "section",
        { class: "panel" },
        el("h2", {}, text.message),
        el("p", { class: "soft" }, text.messageAbout),
        el("div", { class: "buttons" }, button(toAll)),
      ),
    store.may("operate") &&
      el(
        "section",
        { class: "panel" },
        el("h2", {}, text.shutdown),
        el("p", { class: "soft" }, text.shutdownAbout),
        planned,
        buttons,
      ),
    store.may("operate") &&
      el(
        "section",
        { class: "panel" },
        el("h2", {}, text.files),
        el("p", { class: "soft" }, text.filesAbout),
        el("div", { class: "buttons" }, button({ ...reload(), tone: "" })),
      ),
    el(
      "section",
      { class: "panel" },
      el("h2", {}, text.more),
      el("ul", {}, link("status", text.links.status), link("metrics", text.links.metrics)),
    ),
  );

  function update() {
    const { server, me } = store;
    if (!server) return;
    const lines = [
      [text.facts.version, server.version],
      [text.facts.uptime, duration(server.uptime_s)],
      [text.facts.connections, amount(server.connections)],
      [text.facts.players, amount(server.players)],
      [text.facts.rooms, amount(server.rooms)],
      [text.facts.address, location.host],
      [text.facts.who, me.guest ? words.guest : `${me.name}, ${words.roles[me.role]}`],
    ];
    renew(facts, JSON.stringify(lines), () =>
      lines.flatMap(([label, value]) => [el("dt", {}, label), el("dd", {}, value)]),
    );
    const { shutdown } = server;
    planned.hidden = !shutdown;
    setText(planned, shutdown ? text.planned(countdown(shutdown.in_s), shutdown.reason) : "");
    const offered = [shutdown ? callOff() : undefined, shutDown(server.players)].filter(Boolean);
    renew(buttons, `${offered.length} ${server.players}`, () => offered.map(button));
  }

  return { root, update };
}
