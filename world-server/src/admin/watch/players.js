// The list of players.

import { roomLink } from "./details.js";
import { milliseconds, percent } from "./format.js";
import { Table } from "./table.js";
import { words } from "./words.js";

const { columns, away, muted, lobby } = words.players;

export const needs = ["players", "rooms"];

export function make(store) {
  const roomName = (player) => (player.room === null ? "" : (store.room(player.room)?.name ?? ""));
  const list = [
    {
      key: "name",
      label: columns.name,
      value: (player) => player.name.toLowerCase(),
      cell: (player) => [
        { href: `#player=${player.id}`, text: player.name },
        player.role ? { badge: words.roles[player.role], tone: "main" } : undefined,
        player.mute ? { badge: muted, tone: "warning" } : undefined,
        player.round_trip_ms === null ? { badge: away } : undefined,
      ],
    },
    {
      key: "room",
      label: columns.room,
      value: (player) => roomName(player) || undefined,
      cell: (player) => [player.room === null ? { soft: lobby } : roomLink(store, player.room)],
    },
    {
      key: "roundTrip",
      label: columns.roundTrip,
      isNumber: true,
      value: (player) => player.round_trip_ms,
      cell: (player) => [milliseconds(player.round_trip_ms)],
    },
    {
      key: "loss",
      label: columns.loss,
      isNumber: true,
      value: (player) => player.loss,
      cell: (player) => [percent(player.loss)],
    },
    {
      key: "client",
      label: columns.client,
      value: (player) => player.client,
      cell: (player) => [player.client || words.unknown],
    },
    {
      key: "address",
      label: columns.address,
      value: (player) => player.address,
      cell: (player) => [player.address ?? words.unknown],
    },
    {
      key: "since",
      label: columns.since,
      value: (player) => player.since,
      cell: (player) => [{ at: player.since }],
    },
  ];
  const table = new Table({
    columns: list.filter(({ key }) => key !== "address" || !store.me.guest),
    id: (player) => player.id,
    href: (player) => `#player=${player.id}`,
    text: (player) => [player.name, player.client, roomName(player), player.address].join(" "),
    search: words.table.search.players,
    empty: words.players.empty,
    sort: "name",
    label: words.views.players,
  });
  return { root: table.root, update: () => table.show(store.players) };
}
