// The list of hosts, with their load.

import { ofHost } from "./actions.js";
import { hostState } from "./details.js";
import { amount, milliseconds } from "./format.js";
import { Table } from "./table.js";
import { words } from "./words.js";

const { columns } = words.hosts;

export const needs = ["hosts"];

export function make(store, { refresh }) {
  // As the host is when the button is pressed.
  const act = ({ id }) => ofHost(store.host(id))[0].open(refresh);
  const list = [
    {
      key: "name",
      label: columns.name,
      value: (host) => words.hosts.name(host.id, host.label),
      cell: (host) => [{ href: `#host=${host.id}`, text: words.hosts.name(host.id, host.label) }],
    },
    { key: "state", label: columns.state, cell: hostState },
    {
      key: "rooms",
      label: columns.rooms,
      value: (host) => host.rooms,
      cell: (host) => [
        { meter: host.rooms / Math.max(host.capacity, 1) },
        `${amount(host.rooms)} / ${amount(host.capacity)}`,
      ],
    },
    {
      key: "players",
      label: columns.players,
      isNumber: true,
      value: (host) => host.players,
      cell: (host) => [amount(host.players)],
    },
    {
      key: "cores",
      label: columns.cores,
      isNumber: true,
      value: (host) => host.cores,
      cell: (host) => [amount(host.cores)],
    },
    {
      key: "lateness",
      label: columns.lateness,
      isNumber: true,
      value: (host) => host.lateness_ms,
      cell: (host) => [milliseconds(host.lateness_ms)],
    },
    {
      key: "build",
      label: columns.build,
      value: (host) => host.build,
      cell: (host) => [host.build || words.unknown],
    },
    {
      key: "address",
      label: columns.address,
      value: (host) => host.address,
      cell: (host) => [host.address ?? words.unknown],
    },
    {
      key: "actions",
      label: "",
      cell: (host) =>
        ofHost(host)
          .filter(({ role }) => store.may(role))
          .map(({ label }) => ({ button: label, run: () => act(host) })),
    },
  ];
  const isShown = ({ key }) => {
    if (key === "address") return !store.me.guest;
    return key !== "actions" || store.may("operate");
  };
  const table = new Table({
    columns: list.filter(isShown),
    id: (host) => host.id,
    href: (host) => `#host=${host.id}`,
    empty: words.hosts.empty,
    sort: "name",
    label: words.views.hosts,
  });
  return { root: table.root, update: () => table.show(store.hosts) };
}
