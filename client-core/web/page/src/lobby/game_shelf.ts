/**
 * The games as cards: each plays its game at once; a gear opens the dialog for a room of it, a cup
 * the lists of its best results.
 */

import type { GameListing } from "../ambit/ambit.js";
import { Changed } from "../core/changed.js";
import { forPlayers } from "../core/words.js";
import { button, div, el, setHidden, span } from "../dom.js";
import { icon } from "../game/icons.js";
import { translation } from "../language.js";
import { texts } from "../texts.js";
import { showIfListed } from "../top_lists.js";
import { gamePicture } from "./game_picture.js";

export class GameShelf {
  readonly element: HTMLElement;
  readonly #cards = div("games");
  readonly #shown = new Changed();

  constructor(
    private readonly play: (game: string) => void,
    private readonly host: (game: string) => void,
    private readonly showTopLists: (game: string) => void,
  ) {
    this.element = div("shelf", el("h2", {}, texts.to_host), this.#cards);
  }

  update(games: readonly GameListing[], isConnected: boolean): void {
    setHidden(this.element, games.length === 0 || !isConnected);
    if (!this.#shown.by(games.map(({ name }) => name))) return;
    this.#cards.replaceChildren(...games.map((game) => this.#card(game)));
  }

  #card({ name, description }: GameListing): HTMLElement {
    const card = button(
      span("art", gamePicture(name, "")),
      () => this.play(name),
      { class: "game-card", "aria-label": texts.play_game(forPlayers(name)) },
      el("strong", {}, forPlayers(name)),
      span("details", translation.of(`${name}.description`, description)),
    );
    const host = texts.host_game(forPlayers(name));
    const named = { class: "gear", "aria-label": host, title: host };
    const gear = button(icon("gear"), () => this.host(name), named);
    const lists = texts.top_lists_of(forPlayers(name));
    const cup = button(icon("cup"), () => this.showTopLists(name), {
      class: "cup",
      "aria-label": lists,
      title: lists,
      hidden: true,
    });
    showIfListed(cup, name);
    return div("game-place", card, cup, gear);
  }
}
