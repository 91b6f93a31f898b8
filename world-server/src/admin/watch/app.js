// The page: who looks, which view is shown, and when the server is asked.

import { forgetKey, keptKey, ask } from "./api.js";
import * as bans from "./bans.js";
import { Details } from "./details.js";
import { signIn, tell } from "./dialogs.js";
import { arrange, el, setAttribute, setText } from "./dom.js";
import * as events from "./events.js";
import { amount, countdown, duration, now } from "./format.js";
import * as hosts from "./hosts.js";
import { icon } from "./icons.js";
import * as map from "./map.js";
import * as overview from "./overview.js";
import * as players from "./players.js";
import * as rooms from "./rooms.js";
import * as server from "./server.js";
import { Store } from "./store.js";
import { words } from "./words.js";

const VIEWS = { overview, players, rooms, hosts, events, bans, server, map };
/** A view without a place among the others: it shows one thing of that list. */
const PART_OF = { map: "rooms" };
/** Which view is behind the details of a thing, if none is shown yet. */
const VIEW_OF = { player: "players", room: "rooms", host: "hosts" };
/** Between two answers and the next requests. */
const PAUSE_MS = 2_000;
/** A server that answers slowly is asked less often. */
const PAUSE_PER_ANSWER = 4;
/** Longer than one answer that is late. */
const SILENT_S = 6;

const store = new Store();
let current;
let details;
let wake = () => {};

const navigation = el("nav", { "aria-label": words.navigation });
const title = el("h1");
const state = el("p", { class: "state" });
const who = el("div", { class: "who" });
const place = el("main", { id: "view" });
const top = el("header", { class: "top" }, title, state);

start();

async function start() {
  document.body.append(
    el("div", { class: "side" }, el("p", { class: "brand" }, words.brand), navigation, who),
    el("div", { class: "content" }, top, place),
  );
  details = new Details(store, { close: () => (location.hash = PART_OF[current.name] ?? current.name), refresh });
  document.body.append(details.root);
  await enter();
  addEventListener("hashchange", route);
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) wake();
  });
  setInterval(showState, 1_000);
  for (;;) await turn();
}

/** Finds out who looks: the holder of the key that is kept, a guest, or one who has to sign in. */
async function enter(why) {
  // Until then nothing is asked or shown, and no other dialog for a key comes.
  store.forget();
  details.show(undefined);
  for (const part of [place, navigation, who]) part.replaceChildren();
  setText(state, "");
  for (;;) {
    try {
      store.me = await ask("GET", "whoami");
      break;
    } catch (problem) {
      if (problem.status === 401) {
        const had = keptKey() !== undefined;
        forgetKey();
        store.me = await signIn({ why: why ?? (had ? words.signIn.ended : undefined) });
        if (store.me) break;
      } else {
        setText(state, problem.message);
        await pause(PAUSE_MS);
      }
    }
  }
  showWho();
  showNavigation();
  current = undefined;
  route();
}

/** Asks once for what is shown, shows it, and waits. */
async function turn() {
  const began = performance.now();
  await refresh();
  if (store.me && store.problem?.status === 401) await enter(words.signIn.ended);
  const took = performance.now() - began;
  await pause(Math.max(PAUSE_MS, PAUSE_PER_ANSWER * took));
  // The page is hidden.
  while (document.hidden) await pause(60_000);
}

function pause(ms) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    wake = () => {
      clearTimeout(timer);
      resolve();
    };
  });
}

async function refresh() {
  if (!store.me) return;
  await store.refresh([...VIEWS[current.name].needs, ...details.needs]);
  if (store.me) show();
}

function show() {
  current.view.update();
  details.update();
  showState();
  showCounts();
}

/** `#players`, `#player=12`: a view, or the details of one thing beside the view of before. */
function route() {
  if (!store.me) return;
  const [name, id] = location.hash.slice(1).split("=");
  const isThing = name in VIEW_OF && /^\d+$/.test(id ?? "");
  if (name === "map") {
    open("map");
    details.show(undefined);
    return wake();
  }
  const wanted = isThing ? (current?.name ?? VIEW_OF[name]) : name;
  open(allowedViews().includes(wanted) ? wanted : "overview");
  details.show(isThing ? { kind: name, id: Number(id) } : undefined);
  wake();
}

function allowedViews() {
  const hidden = store.me.guest ? ["bans"] : [];
  return Object.keys(VIEWS).filter((name) => !hidden.includes(name));
}

function open(name) {
  if (current?.name === name) return;
  const view = VIEWS[name].make(store, { refresh });
  current = { name, view };
  setText(title, words.views[name]);
  document.title = words.title(words.views[name], location.host);
  arrange(place, [view.root]);
  scrollTo(0, 0);
  for (const link of navigation.children) {
    setAttribute(link, "aria-current", link.hash === `#${PART_OF[name] ?? name}` && "page");
  }
  view.update();
}

function showNavigation() {
  const listed = allowedViews().filter((name) => !(name in PART_OF));
  const links = listed.map((name) =>
    el(
      "a",
      { href: `#${name}`, "data-view": name },
      icon(name),
      el("span", {}, words.views[name]),
      el("span", { class: "number" }),
    ),
  );
  navigation.replaceChildren(...links);
}

function showCounts() {
  const { server } = store;
  const counts = { players: server?.players, rooms: server?.rooms };
  for (const link of navigation.children) {
    const number = counts[link.dataset.view];
    setText(link.lastChild, number === undefined ? "" : amount(number));
  }
}

function showWho() {
  const { me } = store;
  const leave = async () => {
    forgetKey();
    await enter();
  };
  const again = async () => {
    const other = await signIn({ canCancel: true });
    if (other) await enter();
  };
  const text = words.signIn;
  who.replaceChildren(
    el("strong", {}, me.guest ? words.guest : me.name),
    el("small", {}, me.guest ? words.guestRole : words.roles[me.role]),
    me.guest
      ? el("button", { type: "button", class: "small", onclick: again }, text.go)
      : el("button", { type: "button", class: "small", onclick: leave }, text.out),
  );
}

/** Once a second: a countdown, and whether the server is silent. */
function showState() {
  if (!store.me) return;
  const { server: known, problem } = store;
  const age = now() - store.answeredAt;
  const { state: text } = words;
  let [tone, shown] = ["good", text.service];
  if (problem && (age > SILENT_S || problem.status !== 0)) {
    [tone, shown] = [
      "problem",
      problem.status === 0 ? text.silent(duration(age)) : problem.message,
    ];
  } else if (!known) {
    [tone, shown] = ["", text.loading];
  } else if (known.draining) {
    [tone, shown] = ["problem", text.draining];
  } else if (known.shutdown) {
    [tone, shown] = ["warning", text.shutdown(countdown(known.shutdown.in_s - age))];
  }
  setText(state, shown);
  setAttribute(state, "data-tone", tone);
}

addEventListener("unhandledrejection", ({ reason }) => tell(String(reason), "problem"));
