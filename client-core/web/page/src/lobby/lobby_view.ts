/** The lobby: name, rooms, the own room, players, chat. */

import type { Client, PlayerListing } from "../ambit/ambit.js";
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
  readonly #welcome: HTMLElement;
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
    this.#back = button(texts.back, () => hooks.back(), { class: "back main", hidden: true });
    this.#welcome = el(
      "section",
      { class: "panel welcome", "aria-label": texts.walk_about },
      el("h2", {}, texts.welcome),
      button(texts.walk_about, () => hooks.walk(), { class: "main" }),
      el("small", {}, texts.walk_about_hint),
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
      el("header", {}, el("h1", {}, texts.title), this.#state, form),
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
    const isEmpty = rooms.length === 0 && room === undefined && !client.isClosed;
    setHidden(this.#welcome, !isEmpty || !client.games.some(({ name }) => name === "field"));
    if (room) {
      const listing = model.rooms.get(room.id);
      this.#room.update(listing, model.members, client.player, game === "none");
    }
    const isOther = ({ id }: PlayerListing) => id !== client.player;
    setText(this.#players, model.everybody.map(({ name }) => name).join(", "));
    this.#chat.update(model.chat, model.everybody.filter(isOther), room !== undefined);
  }
}
