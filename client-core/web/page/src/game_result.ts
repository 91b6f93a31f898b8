/** The end of a game: how it ended, the tables of all players, and a way on. */

import type { EndRow, EndTable, Ending } from "./core/ending.js";
import { forPlayers } from "./core/words.js";
import { showDialog } from "./dialogs.js";
import { button, div, el, span } from "./dom.js";
import { gamePicture } from "./lobby/game_picture.js";
import { texts } from "./texts.js";
import { showIfListed, showTopLists } from "./top_lists.js";

export interface Result {
  game: string;
  ending: Ending;
  /** All are on one side: no player is ranked before others. */
  isParty: boolean;
}

/** True if the player, whose name is `own`, wants another game of the same kind. */
export async function showResult({ game, ending, isParty }: Result, own: string): Promise<boolean> {
  const title = titleOf(ending);
  const lists = button(texts.top_lists, () => void showTopLists(game, own), { hidden: true });
  showIfListed(lists, game);
  const dialog = el(
    "dialog",
    { class: "result", "data-outcome": ending.outcome, "aria-label": title },
    el(
      "header",
      { class: "art" },
      gamePicture(game, "", "alone"),
      el("h2", {}, title),
      el("p", {}, [forPlayers(game), ...ending.facts.map(texts.fact), ending.reason].filter(Boolean).join(" · ")),
    ),
    div("tables", ...ending.tables.flatMap((table) => partsOf(table, isParty))),
    div(
      "buttons",
      lists,
      button(texts.to_the_lobby, () => dialog.close("")),
      button(texts.play_again, () => dialog.close("again"), { class: "main", autofocus: true }),
    ),
  );
  const closed = showDialog(dialog);
  // Of a long table the player sees its own place.
  dialog.querySelector("tr.own")?.scrollIntoView({ block: "nearest" });
  return (await closed) === "again";
}

function titleOf({ outcome, winner }: Ending): string {
  if (outcome === "won") return texts.game_won;
  if (outcome === "lost") return texts.game_lost;
  return winner ? texts.won_by(winner) : texts.game_over;
}

function partsOf({ title, columns, rows, own }: EndTable, isParty: boolean): HTMLElement[] {
  const head = columns.map((column) => el("th", { scope: "col" }, column));
  const place = el("th", { scope: "col", "aria-label": texts.place });
  const table = el(
    "table",
    {},
    el("caption", { class: "unseen" }, title),
    el("thead", {}, el("tr", {}, ...(isParty ? head : [place, ...head]))),
    el("tbody", {}, ...rows.map((row) => rowOf(row, isParty))),
  );
  const mine = rows.find((row) => row.own);
  if (!mine) return [table];
  const [points, column] = [mine.cells[1] ?? "", columns[1] ?? ""];
  const facts: (readonly [string, string])[] = [
    ...(isParty ? [] : [[texts.your_place, texts.place_of(mine.place, rows.length)] as const]),
    ...(points ? [[column, points] as const] : []),
    ...own,
  ];
  const summary = facts.map(([name, value]) =>
    el("div", {}, el("dt", {}, name), el("dd", {}, value)),
  );
  return [el("dl", { class: "mine" }, ...summary), table];
}

function rowOf({ place, cells, own }: EndRow, isParty: boolean): HTMLElement {
  const medal = el("td", {}, span(`medal place-${place}`, String(place)));
  const shown = cells.map((cell) => el("td", { title: cell }, cell));
  return el("tr", { class: own ? "own" : "" }, ...(isParty ? shown : [medal, ...shown]));
}
