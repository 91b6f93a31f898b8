/** The end of a game: what everybody has, and a way on. */

import { forPlayers } from "./core/words.js";
import { button, el } from "./dom.js";
import { texts } from "./texts.js";

export interface Result {
  game: string;
  /** The last state and the tables of the game. */
  score: HTMLElement;
}

/** True if the player wants another game of the same kind. */
export function showResult({ game, score }: Result): Promise<boolean> {
  const dialog = el(
    "dialog",
    { class: "result", "aria-label": texts.game_over },
    el("h2", {}, `${texts.game_over}: ${forPlayers(game)}`),
    score,
    el(
      "div",
      { class: "buttons" },
      button(texts.to_the_lobby, () => dialog.close("")),
      button(texts.play_again, () => dialog.close("again"), { class: "main", autofocus: true }),
    ),
  );
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue === "again");
    });
  });
}
