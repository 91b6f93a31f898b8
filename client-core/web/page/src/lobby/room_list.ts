/** The rooms as cards, with live counts. Cards are kept, so that the focus stays where it is. */

import type { RoomListing } from "../ambit/ambit.js";
import { forPlayers } from "../core/words.js";
import { button, div, el, setHidden, setText, span } from "../dom.js";
import { texts } from "../texts.js";
import { gamePicture } from "./game_picture.js";
import type { RoomAction } from "./lobby_model.js";
import { lockIcon } from "./marks.js";

export class RoomList {
  readonly element: HTMLElement;
  readonly #list = el("ul", { class: "rooms" });
  readonly #empty = el("p", { class: "empty" }, texts.no_rooms);
  readonly #cards = new Map<number, Card>();

  constructor(private readonly join: (room: number) => void) {
    this.element = el("div", {}, this.#empty, this.#list);
  }

  update(
    rooms: readonly RoomListing[],
    actionOf: (room: RoomListing) => RoomAction,
    isConnected: boolean,
  ): void {
    setText(this.#empty, isConnected ? texts.no_rooms : texts.no_connection);
    setHidden(this.#empty, rooms.length > 0);
    const present = new Set(rooms.map(({ id }) => id));
    for (const [id, card] of this.#cards) {
      if (present.has(id)) continue;
      card.element.remove();
      this.#cards.delete(id);
    }
    rooms.forEach((room, index) => {
      const card = this.#cards.get(room.id) ?? cardOf(room, () => this.join(room.id));
      this.#cards.set(room.id, card);
      show(card, room, actionOf(room));
      const there = this.#list.children[index];
      if (there === card.element) return;
      // The card at this place belongs farther back. Only it moves: moving loses the focus.
      if (there && there.nextElementSibling === card.element) this.#list.append(there);
      else this.#list.insertBefore(card.element, there ?? null);
    });
  }
}

type Card = ReturnType<typeof cardOf>;

function cardOf(room: RoomListing, act: () => void) {
  const card = {
    element: el("li", { class: "room-card" }),
    state: span("badge"),
    lock: span("badge lock", lockIcon(), texts.locked),
    name: el("strong"),
    details: span("details"),
    seats: span("details seats"),
    taken: el("meter", { min: "0", "aria-hidden": "true" }),
    join: button(texts.join, act),
    removed: el("p", { class: "removed" }, texts.removed),
  };
  const { element, state, lock, name, details, seats, taken, join, removed } = card;
  element.append(
    div("art", gamePicture(room.game, room.name), state, lock),
    div("about", name, details, taken, seats),
    join,
    removed,
  );
  return card;
}

function show(card: Card, room: RoomListing, action: RoomAction): void {
  const { maps } = room.parameters;
  setText(card.state, room.running ? texts.running : texts.waiting);
  card.state.dataset["running"] = String(room.running);
  setHidden(card.lock, !room.password);
  setText(card.name, room.name);
  const several = maps !== undefined && maps !== "1" ? texts.maps(maps) : "";
  const details = [forPlayers(room.game), several];
  setText(card.details, details.filter(Boolean).join(" · "));
  setText(card.seats, texts.seats(room.players, room.capacity));
  if (card.taken.max !== room.capacity) card.taken.max = room.capacity;
  if (card.taken.value !== room.players) card.taken.value = room.players;
  setHidden(card.join, action === "removed");
  setHidden(card.removed, action !== "removed");
  if (action === "removed") return;
  setText(card.join, texts.room_actions[action]);
  card.join.disabled = action !== "join";
  const label = action === "join" ? texts.join_room(room.name) : texts.room_actions[action];
  if (card.join.ariaLabel !== label) card.join.ariaLabel = label;
}
