// The list of rooms.

import { hostLink, roomState } from "./details.js";
import { amount } from "./format.js";
import { Table } from "./table.js";
import { words } from "./words.js";

const { columns } = words.rooms;

export const needs = ["rooms", "hosts"];

export function make(store) {
  const table = new Table({
    columns: [
      {
        key: "name",
        label: columns.name,
        value: (room) => room.name.toLowerCase(),
        cell: (room) => [{ href: `#room=${room.id}`, text: room.name }],
      },
      {
        key: "game",
        label: columns.game,
        value: (room) => room.game,
        cell: (room) => [room.game],
      },
      {
        key: "players",
        label: columns.players,
        value: (room) => room.players,
        cell: (room) => [
          { meter: room.players / Math.max(room.capacity, 1) },
          `${amount(room.players)} / ${amount(room.capacity)}`,
        ],
      },
      {
        key: "state",
        label: columns.state,
        value: (room) => Number(room.running),
        cell: (room) => roomState(store, room),
      },
      {
        key: "host",
        label: columns.host,
        value: (room) => room.host,
        cell: (room) => [room.host === null ? words.unknown : hostLink(store, room.host)],
      },
    ],
    id: (room) => room.id,
    href: (room) => `#room=${room.id}`,
    text: (room) => [room.name, room.game, store.host(room.host)?.label].join(" "),
    search: words.table.search.rooms,
    empty: words.rooms.empty,
    sort: "-players",
    label: words.views.rooms,
  });
  return { root: table.root, update: () => table.show(store.rooms) };
}
