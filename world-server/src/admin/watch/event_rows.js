// Events as lines of text with links.

import { el } from "./dom.js";
import { plainCodes, requests, sentences } from "./event_words.js";
import { absolute, timeOfDay } from "./format.js";
import { words } from "./words.js";

/** What stands in a `$` of a sentence. */
const PLACE = /\$(\w+)/;
/** Fields that each event has. */
const COMMON = ["number", "at_ms", "event"];
const DAY_S = 86_400;

/** Of which kind an event is: `player`, `room`, `host`, `refused`, `operator` or `chat`. */
export function kindOf({ event }) {
  if (event === "client_fault" || event === "operator_refused") return "refused";
  return event.split("_")[0];
}

function toneOf({ event, problem }) {
  if (["host_lost", "host_overrun", "operator_refused"].includes(event) || problem)
    return "problem";
  return { refused: "warning", operator: "main", chat: undefined }[kindOf({ event })];
}

/** Whether an event is about a player, a room or a host. */
export function isAbout(event, kind, id) {
  if (event[kind] === id && !(kind === "host" && event.event.startsWith("room_kicked")))
    return true;
  const path = { player: "players", room: "rooms", host: "hosts" }[kind];
  return (
    kindOf(event) === "operator" && event.request?.split(" ")[1]?.startsWith(`/${path}/${id}/`)
  );
}

/** An event as plain text, for the search. */
export function eventText(store, event) {
  return `${event.event} ${sentence(store, event)
    .map((it) => it.textContent ?? it)
    .join("")}`;
}

/** A line for an event. */
export function eventRow(store, event) {
  const at = event.at_ms / 1_000;
  const isToday = Date.now() / 1_000 - at < DAY_S;
  const shown = isToday ? timeOfDay(at) : absolute(at);
  const iso = new Date(event.at_ms).toISOString();
  return el(
    "li",
    { "data-tone": toneOf(event) },
    el("time", { datetime: iso, title: absolute(at) }, shown),
    el("span", { class: "badge" }, words.events.badges[kindOf(event)] ?? event.event),
    el("span", { class: "text" }, ...sentence(store, event)),
  );
}

function sentence(store, event) {
  const isOnTime = event.event === "host_overrun" && event.rooms === 0;
  const text = sentences[isOnTime ? "host_on_time" : event.event];
  if (!text) return [plain(event)];
  if (event.event === "operator") return operatorSentence(event);
  const made = [];
  let rest = text.replace(/ \(\$why\)$/, (clause) =>
    plainCodes.includes(event.why) ? "" : clause,
  );
  for (let found = PLACE.exec(rest); found; found = PLACE.exec(rest)) {
    made.push(rest.slice(0, found.index), value(store, event, found[1]));
    rest = rest.slice(found.index + found[0].length);
  }
  return [...made, rest];
}

function operatorSentence({ by, role, request, body, problem }) {
  const target = decodeURIComponent(/\/\w+\/([^/]+)/.exec(request)?.[1] ?? "");
  const shape = request.replace(/\/(players|rooms|hosts|bans)\/[^/]+/, "/$1/{}");
  const what = requests[shape]?.replace("{}", target) ?? request;
  const given = bodyText(body);
  const end = problem ? ` (${problem})` : "";
  return [el("b", {}, by), ` (${words.roles[role] ?? role}) ${what}${given}${end}`];
}

/** The members of a body; one that was cut off is shown as it is. */
function bodyText(body) {
  if (!body) return "";
  let members;
  try {
    members = Object.entries(JSON.parse(body)).filter(([, value]) => value !== "");
  } catch {
    return `: ${body}`;
  }
  const shown = members.map(([name, value]) => `${name} ${value}`).join(", ");
  return shown && `: ${shown}`;
}

function value(store, event, name) {
  const shown = event[name];
  if (name === "player" && shown !== null && shown !== undefined) {
    return el("a", { href: `#player=${shown}` }, event.name ?? `#${shown}`);
  }
  if (name === "room" && shown !== null && shown !== undefined) {
    // Events of players in rooms have the player's name.
    const own = event.player === undefined || event.event === "room_made" ? event.name : undefined;
    const text = own ?? store.room(shown)?.name ?? words.details.room(shown);
    return el("a", { href: `#room=${shown}` }, text);
  }
  if (name === "host" && shown !== undefined) {
    const label = event.label ?? store.host(shown)?.label;
    return el("a", { href: `#host=${shown}` }, words.hosts.name(shown, label));
  }
  return String(shown ?? words.unknown);
}

function plain(event) {
  const fields = Object.entries(event).filter(([name]) => !COMMON.includes(name));
  return [event.event, ...fields.map(([name, value]) => `${name}=${value}`)].join(" ");
}
