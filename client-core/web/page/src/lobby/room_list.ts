/** The rooms, with live counts. Rows are kept, so that the focus stays where it is. */

import type { RoomListing } from "../ambit/ambit.js";
import { button, el, setHidden, setText } from "../dom.js";
import { texts } from "../texts.js";

interface Row {
  element: HTMLElement;
  name: HTMLElement;
  details: HTMLElement;
}

export class RoomList {
  readonly element: HTMLElement;
  readonly #list = el("ul", { class: "rooms" });
  readonly #empty = el("p", { class: "empty" }, texts.no_rooms);
  readonly #rows = new Map<number, Row>();
  readonly #join: (room: number) => void;

  constructor(join: (room: number) => void) {
    this.#join = join;
    this.element = el("div", {}, this.#empty, this.#list);
  }

  update(rooms: readonly RoomListing[], isConnected: boolean): void {
    setText(this.#empty, isConnected ? texts.no_rooms : texts.no_connection);
    setHidden(this.#empty, rooms.length > 0);
    const present = new Set(rooms.map(({ id }) => id));
    for (const [id, row] of this.#rows) {
      if (present.has(id)) continue;
      row.element.remove();
      this.#rows.delete(id);
    }
    rooms.forEach((room, index) => {
      const row = this.#rows.get(room.id) ?? this.#make(room);
      setText(row.name, room.name);
      setText(row.details, describe(room));
      const there = this.#list.children[index];
      if (there === row.element) return;
      // The one that is there belongs farther back. It moves alone: what moves loses the focus.
      if (there && there.nextElementSibling === row.element) this.#list.append(there);
      else this.#list.insertBefore(row.element, there ?? null);
    });
  }

  #make(room: RoomListing): Row {
    const name = el("strong");
    const details = el("span", { class: "details" });
    const join = button(texts.join, () => this.#join(room.id), {
      "aria-label": texts.join_room(room.name),
    });
    const element = el("li", {}, el("div", {}, name, details), join);
    const row = { element, name, details };
    this.#rows.set(room.id, row);
    return row;
  }
}

function describe(room: RoomListing): string {
  const { maps } = room.parameters;
  return [
    room.game,
    texts.seats(room.players, room.capacity),
    room.running ? texts.running : texts.waiting,
    maps !== undefined && maps !== "1" ? texts.maps(maps) : "",
    room.password ? texts.locked : "",
  ]
    .filter(Boolean)
    .join(" · ");
}
