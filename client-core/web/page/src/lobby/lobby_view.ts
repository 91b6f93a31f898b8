/** The lobby: name, rooms, the own room, players, chat. */

import type { Client, PlayerListing, RoomListing } from "../ambit/ambit.js";
import { button, el, labelled, setHidden, setText } from "../dom.js";
import { texts } from "../texts.js";
import type { Addressee } from "./addressees.js";
import { ChatPanel } from "./chat_panel.js";
import type { LobbyModel } from "./lobby_model.js";
import { RoomList } from "./room_list.js";
import { type RoomHooks, RoomPanel } from "./room_panel.js";

export interface LobbyHooks extends RoomHooks {
  rename(name: string): void;
  join(room: number): void;
  create(): void;
  walk(): void;
  /** Shows how others get here. */
  invite(): void;
  back(): void;
  say(to: Addressee, text: string): Promise<boolean>;
}

/** `entering` also while the player waits for the room's host to start it. */
export type GameState = "none" | "entering" | "shown";

export class LobbyView {
  readonly element: HTMLElement;
  readonly #chat: ChatPanel;
  readonly #rooms: RoomList;
  readonly #room: RoomPanel;
  readonly #name = el("input", {
    type: "text",
    maxlength: "24",
    required: true,
    autocomplete: "nickname",
  });
  #shownName = "";
  readonly #back: HTMLButtonElement;
  readonly #state = el("p", { class: "state", role: "status" });
  readonly #lobby: HTMLElement;
  /** One way into a world, whatever there is. */
  readonly #welcome: HTMLElement;
  readonly #welcomeTitle = el("h2");
  readonly #enter: HTMLButtonElement;
  readonly #welcomeHint = el("small");
  #best: RoomListing | undefined;
  readonly #players = el("p", { class: "details players" });

  constructor(hooks: LobbyHooks) {
    this.#chat = new ChatPanel((to, text) => hooks.say(to, text));
    this.#rooms = new RoomList((room) => hooks.join(room));
    this.#room = new RoomPanel(hooks);
    const form = el(
      "form",
      { class: "name" },
      labelled(texts.name, this.#name),
      el("button", { type: "submit" }, texts.rename),
    );
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      hooks.rename(this.#name.value.trim());
    });
    // Whoever comes to it wants another name.
    this.#name.addEventListener("focus", () => this.#name.select());
    this.#back = button(texts.back, () => hooks.back(), { class: "back main", hidden: true });
    const enter = () => (this.#best ? hooks.join(this.#best.id) : hooks.walk());
    this.#enter = button(texts.walk_about, enter, { class: "main" });
    this.#welcome = el(
      "section",
      { class: "panel welcome", "aria-label": texts.play_now },
      this.#welcomeTitle,
      this.#enter,
      this.#welcomeHint,
    );
    this.#lobby = el(
      "section",
      { class: "panel", "aria-label": texts.rooms },
      el("h2", {}, texts.rooms),
      this.#rooms.element,
      el(
        "div",
        { class: "buttons" },
        button(texts.create_room, () => hooks.create()),
      ),
      el("h3", {}, texts.everybody),
      this.#players,
    );
    this.element = el(
      "div",
      { class: "lobby" },
      this.#back,
      el(
        "header",
        {},
        el("h1", {}, texts.title),
        this.#state,
        button(texts.invite, () => hooks.invite()),
        form,
      ),
      this.#welcome,
      el("main", {}, this.#lobby, this.#room.element, this.#chat.element),
    );
  }

  focusChat(): void {
    this.#chat.focus();
  }

  update(client: Client, model: LobbyModel, game: GameState): void {
    const room = client.room;
    setText(this.#state, client.isConnected || client.isClosed ? "" : texts.reconnecting);
    setHidden(this.#back, game !== "shown");
    // What is being typed is left alone, also on the way to the button; another name is shown.
    const isNaming = this.#name.form?.contains(document.activeElement) ?? false;
    if (!isNaming || client.name !== this.#shownName) this.#name.value = client.name;
    this.#shownName = client.name;
    setHidden(this.#lobby, room !== undefined);
    setHidden(this.#room.element, room === undefined);
    const rooms = model.sortedRooms();
    this.#rooms.update(rooms, !client.isClosed);
    this.#showWelcome(client, model);
    if (room) {
      const listing = model.rooms.get(room.id);
      this.#room.update(listing, model.members, client.player, game === "none");
    }
    const isOther = ({ id }: PlayerListing) => id !== client.player;
    setText(this.#players, model.everybody.map(({ name }) => name).join(", "));
    this.#chat.update(model.chat, model.everybody.filter(isOther), room !== undefined);
  }

  #showWelcome(client: Client, model: LobbyModel): void {
    const best = model.bestRoom();
    this.#best = best;
    const canWalk = client.games.some(({ name }) => name === "field");
    const isOut = client.room === undefined && !client.isClosed;
    setHidden(this.#welcome, !isOut || !(best || canWalk));
    const isEmpty = model.rooms.size === 0;
    setText(this.#welcomeTitle, best ? texts.jump_in : isEmpty ? texts.welcome : "");
    setText(this.#enter, best ? texts.play_now : texts.walk_about);
    const seats = best ? texts.seats(best.players, best.capacity) : "";
    const hint = best ? texts.plays(best.name, best.game, seats) : texts.walk_about_hint;
    setText(this.#welcomeHint, hint);
  }
}
