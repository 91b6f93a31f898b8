/** The best results of a game in a dialog: a list for each board and each period. */

import { PERIODS, type Period, TopLists, topRow, type TopRow } from "./core/top_lists.js";
import { forPlayers } from "./core/words.js";
import { showDialog } from "./dialogs.js";
import { button, div, el, labelled, setHidden, setText, span } from "./dom.js";
import { translation } from "./language.js";
import { texts } from "./texts.js";

const READ_TIMEOUT_MS = 10_000;
/** Long enough to have results, short enough that a newcomer can get into it. */
const FIRST_PERIOD: Period = "week";

export const topLists = new TopLists((address) => {
  const signal = AbortSignal.timeout(READ_TIMEOUT_MS);
  return fetch(address, { cache: "no-store", signal });
});

/** Shows a button as soon as it is known that the game has lists; a failure leaves it hidden. */
export function showIfListed(button: HTMLButtonElement, game: string): void {
  topLists.boards(game).then(
    ({ length }) => setHidden(button, length === 0),
    () => undefined,
  );
}

/** `own` is the name of the player, whose rows are marked. */
export async function showTopLists(game: string, own: string): Promise<void> {
  const boards = await topLists.boards(game).catch(() => []);
  const title = texts.top_lists_of(forPlayers(game));
  const board = el("select", {}, ...boards.map((name) => boardOf(game, name)));
  const line = el("p", { role: "status" });
  const rows = el("tbody");
  const table = tableOf(rows);
  let period = FIRST_PERIOD;
  let asked = 0;
  const say = (text: string) => {
    setText(line, text);
    setHidden(line, text === "");
    setHidden(table, text !== "");
  };
  const show = async () => {
    asked += 1;
    const number = asked;
    say(texts.loading);
    const read = topLists.results(game, board.value, period);
    const results = await read.catch(() => undefined);
    // The player has chosen another list since.
    if (number !== asked) return;
    if (results === undefined) return say(texts.top_list_failed);
    if (results.length === 0) return say(texts.top_list_empty[period]);
    const { lang } = document.documentElement;
    const now = Date.now() / 1_000;
    rows.replaceChildren(...results.map((result) => rowOf(topRow(result, own, now, lang))));
    say("");
  };
  board.addEventListener("change", () => void show());
  const periods = periodsOf((chosen) => {
    period = chosen;
    void show();
  });
  const dialog = el(
    "dialog",
    { class: "top-lists", "aria-label": title },
    el("h2", {}, title),
    boards.length > 1 ? labelled(texts.top_list, board) : undefined,
    periods,
    div("tables", line, table),
    div("buttons", button(texts.close, () => dialog.close(), { class: "main" })),
  );
  if (boards.length > 0) void show();
  else say(texts.top_list_failed);
  await showDialog(dialog);
}

function boardOf(game: string, board: string): HTMLElement {
  const label = translation.of(`${game}.boards.${board}.label`, forPlayers(board));
  return el("option", { value: board }, label);
}

function periodsOf(choose: (period: Period) => void): HTMLElement {
  const choices = PERIODS.map((period) => {
    const isFirst = period === FIRST_PERIOD;
    const input = el("input", { type: "radio", name: "period", value: period, autofocus: isFirst });
    input.checked = isFirst;
    input.addEventListener("change", () => choose(period));
    return el("label", {}, input, texts.periods[period]);
  });
  const legend = el("legend", { class: "unseen" }, texts.period);
  return el("fieldset", { class: "periods" }, legend, ...choices);
}

function tableOf(rows: HTMLElement): HTMLElement {
  const head = (text: string) => el("th", { scope: "col" }, text);
  const place = el("th", { scope: "col", "aria-label": texts.place });
  const others = [texts.player, texts.score, texts.when].map(head);
  return el("table", {}, el("thead", {}, el("tr", {}, place, ...others)), rows);
}

function rowOf({ place, player, score, when, exact, own }: TopRow): HTMLElement {
  const name = player || texts.deleted_player;
  return el(
    "tr",
    { class: own ? "own" : "" },
    el("td", {}, span(`medal place-${place}`, String(place))),
    el("td", { title: name }, player === "" ? el("em", {}, name) : name),
    el("td", {}, score),
    el("td", { title: exact }, when),
  );
}
