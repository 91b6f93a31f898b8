/** The games as cards: each plays its game at once; a gear opens the dialog for a room of it. */

import type { GameListing } from "../ambit/ambit.js";
import { forPlayers } from "../core/words.js";
import { el, setHidden } from "../dom.js";
import { translation } from "../language.js";
import { texts } from "../texts.js";
import { icon } from "../game/icons.js";
import { gamePicture } from "./game_picture.js";

export class GameShelf {
  readonly element: HTMLElement;
  readonly #cards = el("div", { class: "games" });
  readonly #play: (game: string) => void;
  readonly #host: (game: string) => void;
  #shown: readonly GameListing[] = [];

  constructor(play: (game: string) => void, host: (game: string) => void) {
    this.#play = play;
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
      { type: "button", class: "game-card", "aria-label": texts.play_game(forPlayers(name)) },
      el("span", { class: "art" }, gamePicture(name, "")),
      el("strong", {}, forPlayers(name)),
      el("span", { class: "details" }, translation.of(`${name}.description`, description)),
    );
    card.addEventListener("click", () => this.#play(name));
    const host = texts.host_game(forPlayers(name));
    const gear = el("button", { type: "button", class: "gear", "aria-label": host, title: host });
    gear.append(icon("gear"));
    gear.addEventListener("click", () => this.#host(name));
    return el("div", { class: "game-place" }, card, gear);
  }
}
