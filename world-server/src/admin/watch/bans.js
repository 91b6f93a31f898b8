// The list of bans: who does not come in, or may not chat.

import { addBan, unban } from "./actions.js";
import { el } from "./dom.js";
import { Table } from "./table.js";
import { words } from "./words.js";

const { columns, kinds, from, never, noReason } = words.bans;

export const needs = ["bans"];

/** `name:eve`, `address:192.0.2.0/24`, or an account. */
function targetOf(ban) {
  const [, kind, name] = /^(name|address|account):(.*)$/s.exec(ban.target) ?? [];
  return kind ? { kind, name } : { kind: "account", name: ban.target };
}

export function make(store, { refresh }) {
  const list = [
    {
      key: "target",
      label: columns.target,
      value: (ban) => ban.player || targetOf(ban).name,
      cell: (ban) => {
        const { name } = targetOf(ban);
        return ban.player ? [ban.player, " ", { soft: name }] : [name];
      },
    },
    {
      key: "kind",
      label: columns.kind,
      value: (ban) => targetOf(ban).kind,
      cell: (ban) => [{ badge: kinds[targetOf(ban).kind] }],
    },
    {
      key: "from",
      label: columns.from,
      value: (ban) => ban.from,
      cell: (ban) => [from[ban.from] ?? ban.from],
    },
    {
      key: "reason",
      label: columns.reason,
      value: (ban) => ban.reason || undefined,
      cell: (ban) => [ban.reason || { soft: noReason }],
    },
    {
      key: "made",
      label: columns.made,
      value: (ban) => ban.made_at,
      cell: (ban) => [{ at: ban.made_at }, ban.made_by && ` ${words.bans.by(ban.made_by)}`],
    },
    {
      key: "ends",
      label: columns.ends,
      value: (ban) => ban.ends_at,
      cell: (ban) => [ban.ends_at ? { at: ban.ends_at } : { soft: never }],
    },
    {
      key: "actions",
      label: "",
      cell: (ban) => {
        const { label, open } = unban(ban, ban.player || targetOf(ban).name);
        return [{ button: label, run: () => open(refresh) }];
      },
    },
  ];
  const table = new Table({
    columns: list.filter(({ key }) => key !== "actions" || store.may("moderate")),
    id: (ban) => `${ban.target} ${ban.from}`,
    text: (ban) => [ban.target, ban.player, ban.reason, ban.made_by].join(" "),
    search: columns.target,
    empty: words.bans.empty,
    sort: "target",
    label: words.views.bans,
  });
  const add = addBan();
  if (store.may(add.role)) {
    const open = { type: "button", class: "main", onclick: () => add.open(refresh) };
    table.bar.append(el("button", open, add.label));
  }
  return { root: table.root, update: () => table.show(store.bans) };
}
