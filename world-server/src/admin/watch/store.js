// What the page knows of the server, asked again and again.

import { ApiProblem, ask } from "./api.js";
import { now } from "./format.js";

/** Events that the page keeps. */
const MAX_EVENTS = 2_000;
/** The server takes a sample so often. */
const HISTORY_S = 10;

/** Lists by their names; each is the answer to the request of the same name. */
export class Store {
  /** Whose key it is: `name`, `role`, `guest`. */
  me;
  server;
  players = [];
  rooms = [];
  maps = [];
  hosts = [];
  bans = [];
  history;
  /** Newest first. */
  events = [];
  newestEvent = 0;
  missedEvents = 0;
  hasEvents = true;
  /** Seconds since 1970 of the last answer. */
  answeredAt = now();
  /** The last problem, until an answer comes. */
  problem;
  #historyAt = 0;

  /** Asks for the server's state and these lists, all at once. */
  async refresh(names) {
    try {
      await Promise.all(["server", ...new Set(names)].map((name) => this.#renew(name)));
      this.answeredAt = now();
      this.problem = undefined;
    } catch (problem) {
      if (!(problem instanceof ApiProblem)) throw problem;
      this.problem = problem;
    }
  }

  /** Who looked has signed out: nothing that the key has shown stays. */
  forget() {
    const lists = { players: [], rooms: [], maps: [], hosts: [], bans: [], events: [] };
    const numbers = { newestEvent: 0, missedEvents: 0, hasEvents: true, answeredAt: now() };
    const rest = { me: undefined, server: undefined, history: undefined, problem: undefined };
    Object.assign(this, lists, numbers, rest);
    this.#historyAt = 0;
  }

  player(id) {
    return this.players.find((player) => player.id === id);
  }

  room(id) {
    return this.rooms.find((room) => room.id === id);
  }

  host(id) {
    return this.hosts.find((host) => host.id === id);
  }

  may(role) {
    const roles = ["look", "moderate", "operate"];
    return !this.me?.guest && roles.indexOf(this.me?.role) >= roles.indexOf(role);
  }

  async #renew(name) {
    if (name === "events") return this.#renewEvents();
    if (name === "history") {
      if (now() - this.#historyAt < HISTORY_S) return;
      this.#historyAt = now();
    }
    const answer = await ask("GET", name);
    this[name] = name === "server" || name === "history" ? answer : answer[name];
  }

  async #renewEvents() {
    if (!this.hasEvents) return;
    let answer;
    try {
      answer = await ask("GET", `events?after=${this.newestEvent}`);
    } catch (problem) {
      // A server without events.
      if (problem.status !== 404) throw problem;
      this.hasEvents = false;
      return;
    }
    // The numbers of another server, or of one that has started again, begin at 1.
    if (answer.newest < this.newestEvent) this.events = [];
    this.newestEvent = answer.newest;
    this.missedEvents += this.events.length > 0 || answer.missed === 0 ? answer.missed : 0;
    const known = new Set(this.events.map((event) => event.number));
    const fresh = answer.events.filter((event) => !known.has(event.number)).reverse();
    this.events = [...fresh, ...this.events].slice(0, MAX_EVENTS);
  }
}
