// All about one player, room or host, beside the lists, with what can be done about it.

import { ofHost, ofPlayer, ofRoom } from "./actions.js";
import { el, renew, setText } from "./dom.js";
import { eventRow, isAbout } from "./event_rows.js";
import { amount, milliseconds, percent, relative } from "./format.js";
import { icon } from "./icons.js";
import { linkTo } from "./map.js";
import { parts, stamp } from "./table.js";
import { words } from "./words.js";

/** Events of one thing that are shown. */
const EVENTS = 12;

/** By kind: how it is found, its name, its facts (label and what is shown), its actions. */
const KINDS = {
  player: {
    find: (store, id) => store.player(id),
    title: (player) => player.name,
    kicker: words.details.player,
    facts: playerFacts,
    actions: ofPlayer,
    needs: ["players", "rooms", "maps", "hosts", "events"],
  },
  room: {
    find: (store, id) => store.room(id),
    title: (room) => room.name,
    kicker: words.details.room,
    facts: roomFacts,
    actions: ofRoom,
    needs: ["rooms", "maps", "players", "hosts", "events"],
  },
  host: {
    find: (store, id) => store.host(id),
    title: (host) => words.hosts.name(host.id, host.label),
    kicker: words.details.host,
    facts: hostFacts,
    actions: ofHost,
    needs: ["hosts", "rooms", "events"],
  },
};

export function roomLink(store, id) {
  return { href: `#room=${id}`, text: store.room(id)?.name ?? words.details.room(id) };
}

export function hostLink(store, id) {
  return { href: `#host=${id}`, text: words.hosts.name(id, store.host(id)?.label) };
}

/** Links with commas between them. */
function playerLinks(players) {
  return players.flatMap(({ id, name }, index) => {
    const link = { href: `#player=${id}`, text: name };
    return index > 0 ? [", ", link] : [link];
  });
}

function playerFacts(store, player) {
  const { columns, lobby, none } = words.players;
  const { mute } = player;
  const isOther = ({ id, address }) => id !== player.id && address === player.address;
  const others = player.address ? store.players.filter(isOther) : [];
  const ends = mute?.ends_at ? words.details.until(relative(mute.ends_at)) : words.details.forGood;
  return [
    [columns.room, [player.room === null ? { soft: lobby } : roomLink(store, player.room)]],
    player.host !== null && [words.hosts.columns.name, [hostLink(store, player.host)]],
    player.map !== null && [words.details.map, [String(player.map)]],
    ...mapOfPlayer(store, player),
    [columns.roundTrip, [milliseconds(player.round_trip_ms)]],
    [columns.loss, [percent(player.loss)]],
    [columns.client, [player.client || words.unknown]],
    [columns.since, [{ at: player.since }]],
    player.address !== undefined && [columns.address, [player.address ?? words.unknown]],
    others.length > 0 && [words.details.sameAddress, playerLinks(others)],
    player.account !== undefined && [words.details.account, [player.account ?? { soft: none }]],
    player.role && [words.details.role, [words.roles[player.role]]],
    mute && [words.details.mute, [words.details.muteText(mute.reason, ends)]],
  ];
}

/** Guests see no map: it has what players hide from each other. */
function mapsOfRoom(store, room) {
  const running = store.maps.filter((map) => map.room === room.id && map.running);
  if (store.me.guest || running.length === 0) return [];
  const links = running.flatMap(({ id, map }, index) => {
    const text = running.length > 1 ? words.map.linkOf(map) : words.map.link;
    const link = { href: linkTo(id), text };
    return index > 0 ? [", ", link] : [link];
  });
  return [[words.views.map, links]];
}

function mapOfPlayer(store, { id, room, map }) {
  const there = store.maps.find((it) => it.room === room && it.map === map && it.running);
  if (store.me.guest || !there) return [];
  return [[words.views.map, [{ href: linkTo(there.id, id), text: words.map.seesLink }]]];
}

function roomFacts(store, room) {
  const { columns, members, nobody, maps } = words.rooms;
  const there = store.players.filter((player) => player.room === room.id);
  const links = playerLinks(there);
  return [
    [columns.game, [room.game]],
    [columns.state, roomState(store, room)],
    [columns.players, [`${amount(room.players)} / ${amount(room.capacity)}`]],
    room.host !== null && [columns.host, [hostLink(store, room.host)]],
    [maps, [amount(room.maps)]],
    ...mapsOfRoom(store, room),
    [members, links.length > 0 ? links : [{ soft: nobody }]],
  ];
}

function hostFacts(store, host) {
  const { columns } = words.hosts;
  const rooms = store.rooms.filter((room) => room.host === host.id);
  const links = rooms.flatMap(({ id }, index) => {
    return index > 0 ? [", ", roomLink(store, id)] : [roomLink(store, id)];
  });
  return [
    [columns.state, hostState(host)],
    [columns.rooms, [`${amount(host.rooms)} / ${amount(host.capacity)}`]],
    [columns.players, [amount(host.players)]],
    [columns.cores, [amount(host.cores)]],
    [columns.lateness, [milliseconds(host.lateness_ms)]],
    [columns.build, [host.build || words.unknown]],
    host.address !== undefined && [columns.address, [host.address]],
    links.length > 0 && [words.views.rooms, links],
  ];
}

/** Badges for the state of a room. */
export function roomState(store, room) {
  const { rooms } = words;
  const waits = room.id in (store.server?.waiting_rooms ?? {});
  const state = waits
    ? { badge: rooms.waitsForHost, tone: "warning" }
    : room.running
      ? { badge: rooms.running, tone: "good" }
      : { badge: rooms.waits };
  return [
    state,
    room.locked ? { badge: rooms.locked, tone: "warning" } : undefined,
    room.has_password ? { badge: rooms.password } : undefined,
  ].filter(Boolean);
}

/** Badges for the state of a host. */
export function hostState(host) {
  const { hosts } = words;
  const isFull = host.rooms >= host.capacity;
  const badges = [
    host.late_rooms > 0 ? { badge: hosts.late, tone: "problem" } : undefined,
    host.drained ? { badge: hosts.drained, tone: "warning" } : undefined,
    host.leaving ? { badge: hosts.leaving, tone: "warning" } : undefined,
    isFull ? { badge: hosts.full, tone: "warning" } : undefined,
  ].filter(Boolean);
  return badges.length > 0 ? badges : [{ badge: hosts.ready, tone: "good" }];
}

/** The panel: at the right of the lists, or over them on a phone. */
export class Details {
  constructor(store, { close, refresh }) {
    Object.assign(this, { store, refresh });
    this.kicker = el("p", { class: "kicker" });
    this.title = el("h2", { id: "details-title" });
    const shut = { type: "button", class: "close", "aria-label": words.close, onclick: close };
    this.actions = el("div", { class: "buttons" });
    this.gone = el("p", { class: "empty", hidden: true }, words.details.gone);
    this.facts = el("dl");
    this.events = el("ul", { class: "events" });
    this.root = el(
      "aside",
      { class: "details", "aria-labelledby": "details-title", tabindex: -1, hidden: true },
      el("header", {}, el("div", {}, this.kicker, this.title), el("button", shut, icon("close"))),
      this.gone,
      this.actions,
      this.facts,
      el("h3", {}, words.details.events),
      this.events,
    );
    document.addEventListener("keydown", (event) => {
      const isFree = !document.querySelector("dialog[open]");
      if (event.key === "Escape" && this.shown && isFree) close();
    });
  }

  get needs() {
    return this.shown ? KINDS[this.shown.kind].needs : [];
  }

  /** Shows `{ kind, id }`, or nothing. The focus goes there, and back. */
  show(shown) {
    const isOther = shown?.kind !== this.shown?.kind || shown?.id !== this.shown?.id;
    if (!isOther) return;
    if (shown && !this.shown) this.from = document.activeElement;
    this.shown = shown;
    this.last = undefined;
    this.root.hidden = !shown;
    document.body.classList.toggle("has-details", Boolean(shown));
    if (shown) {
      this.update();
      this.root.scrollTop = 0;
      this.root.focus({ preventScroll: true });
    } else if (this.from?.isConnected) {
      this.from.focus({ preventScroll: true });
    }
  }

  update() {
    if (!this.shown) return;
    const { id, kind } = this.shown;
    const { find, title, kicker, facts, actions } = KINDS[kind];
    const found = find(this.store, id);
    // One that is gone stays to be read.
    this.last = found ?? this.last;
    this.gone.hidden = Boolean(found) || this.store.answeredAt < this.store.startedAt;
    setText(this.kicker, kicker(id));
    setText(this.title, this.last ? title(this.last) : kicker(id));
    const offered = found ? actions(found).filter(({ role }) => this.store.may(role)) : [];
    const shape = JSON.stringify([id, kind, found && title(found), offered.map((it) => it.label)]);
    renew(this.actions, shape, () => offered.map((it) => this.#button(it)));
    const lines = this.last ? facts(this.store, this.last).filter(Boolean) : [];
    const factsStamp = lines.map(([label, items]) => label + stamp(items)).join();
    renew(this.facts, factsStamp, () =>
      lines.flatMap(([label, items]) => [el("dt", {}, label), el("dd", {}, ...parts(items))]),
    );
    const events = this.store.events.filter((it) => isAbout(it, kind, id)).slice(0, EVENTS);
    const times = events.map((event) => `${event.number} ${relative(event.at_ms / 1_000)}`);
    renew(this.events, times.join(), () =>
      events.length > 0
        ? events.map((event) => eventRow(this.store, event))
        : [el("li", { class: "empty" }, words.details.noEvents)],
    );
  }

  /** The button of what is there now: a name may change while it is shown. */
  #button({ label, tone }) {
    const { id, kind } = this.shown;
    const onclick = () => {
      const { find, actions } = KINDS[kind];
      const found = find(this.store, id);
      const wanted = found && actions(found).find((it) => it.label === label);
      wanted?.open(this.refresh);
    };
    return el("button", { type: "button", class: tone, onclick }, label);
  }
}
