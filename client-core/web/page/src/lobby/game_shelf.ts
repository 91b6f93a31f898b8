/** The games of which a player can make a room, as cards: each opens the dialog for it. */

import type { GameListing } from "../ambit/ambit.js";
import { forPlayers } from "../core/words.js";
import { el, setHidden } from "../dom.js";
import { texts } from "../texts.js";
import { gamePicture } from "./game_picture.js";

export class GameShelf {
  readonly element: HTMLElement;
  readonly #cards = el("div", { class: "games" });
  readonly #host: (game: string) => void;
  #shown: readonly GameListing[] = [];

  constructor(host: (game: string) => void) {
    this.#host = host;
    this.element = el("div", { class: "shelf" }, el("h2", {}, texts.to_host), this.#cards);
  }

  update(games: readonly GameListing[], isConnected: boolean): void {
    setHidden(this.element, games.length === 0 || !isConnected);
    const names = (list: readonly GameListing[]) => JSON.stringify(list.map(({ name }) => name));
    if (names(games) === names(this.#shown)) return;
    this.#shown = games;
    this.#cards.replaceChildren(...games.map((game) => this.#card(game)));
  }

  #card({ name, description }: GameListing): HTMLElement {
    const card = el(
      "button",
      { type: "button", class: "game-card", "aria-label": texts.host_game(forPlayers(name)) },
      el("span", { class: "art" }, gamePicture(name, "")),
      el("strong", {}, forPlayers(name)),
      el("span", { class: "details" }, description),
    );
    card.addEventListener("click", () => this.#host(name));
    return card;
  }
}
