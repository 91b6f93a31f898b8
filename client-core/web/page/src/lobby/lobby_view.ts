/** The lobby: name, rooms, the own room, players, chat. */

import type { Client, PlayerListing, RoomListing } from "../ambit/ambit.js";
import { Changed } from "../core/changed.js";
import { forPlayers } from "../core/words.js";
import { button, div, el, labelled, panel, setHidden, setText, span } from "../dom.js";
import { texts } from "../texts.js";
import type { Addressee } from "./addressees.js";
import { ChatPanel } from "./chat_panel.js";
import { gamePicture } from "./game_picture.js";
import { GameShelf } from "./game_shelf.js";
import type { LobbyModel, WayIn } from "./lobby_model.js";
import { wordmark } from "./marks.js";
import { type PartyHooks, PartyPanel } from "./party_panel.js";
import { RoomList } from "./room_list.js";
import { type RoomHooks, RoomPanel } from "./room_panel.js";

export interface LobbyHooks extends RoomHooks, PartyHooks {
  rename(name: string): void;
  /** Shows the player's account. */
  account(): void;
  join(room: number): void;
  /** Asks for a new room, of this game at first. */
  create(game?: string): void;
  /** Plays this game at once: where it runs, or in a room that is made for it. */
  playGame(game: string): void;
  /** Shows the best results of this game. */
  topLists(game: string): void;
  /** Shows how others get here. */
  invite(): void;
  back(): void;
  say(to: Addressee, text: string): Promise<boolean>;
}

/** Of the id of an account: enough to tell a player's own ones apart. */
const SHOWN_DIGITS = 8;

/** `entering` also while the player waits for the room's host to start it. */
export type GameState = "none" | "entering" | "shown";

export class LobbyView {
  readonly element: HTMLElement;
  readonly #chat: ChatPanel;
  readonly #rooms: RoomList;
  readonly #shelf: GameShelf;
  readonly #room: RoomPanel;
  readonly #party: PartyPanel;
  readonly #name = el("input", {
    type: "text",
    maxlength: "24",
    required: true,
    // A browser would write an older name into it: that of a page that was left.
    autocomplete: "off",
  });
  readonly #nameLimit = el("small", { role: "status", hidden: true }, texts.name_limit);
  #shownName = "";
  readonly #account: HTMLButtonElement;
  readonly #back: HTMLButtonElement;
  readonly #state = el("p", { class: "state", role: "status" });
  readonly #lobby: HTMLElement;
  /** One way into a world, whatever there is. */
  readonly #welcome: HTMLElement;
  readonly #welcomeTitle = el("h2");
  readonly #enter: HTMLButtonElement;
  readonly #welcomeHint = el("small");
  readonly #welcomePicture = div("art");
  readonly #shownPicture = new Changed();
  #wayIn: WayIn = { to: "create" };
  readonly #create: HTMLButtonElement;
  readonly #players = el("ul", { class: "players" });
  readonly #shownPlayers = new Changed();

  constructor(private readonly hooks: LobbyHooks) {
    this.#chat = new ChatPanel((to, text) => hooks.say(to, text));
    this.#rooms = new RoomList((room) => hooks.join(room));
    this.#shelf = new GameShelf(
      (game) => hooks.playGame(game),
      (game) => hooks.create(game),
      (game) => hooks.topLists(game),
    );
    this.#room = new RoomPanel(hooks);
    this.#party = new PartyPanel(hooks);
    this.#account = button("", () => hooks.account(), { class: "account" });
    const form = el(
      "form",
      { class: "name" },
      labelled(texts.name, this.#name),
      el("button", { type: "submit" }, texts.rename),
      this.#account,
      this.#nameLimit,
    );
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      hooks.rename(this.#name.value.trim());
    });
    // The browser cuts off what is too long, without a word.
    let isCut = false;
    this.#name.addEventListener("beforeinput", ({ data, isComposing }) => {
      const { value, maxLength, selectionStart, selectionEnd } = this.#name;
      const kept = value.length - ((selectionEnd ?? 0) - (selectionStart ?? 0));
      isCut = !isComposing && kept + (data?.length ?? 0) > maxLength;
      if (isCut) setHidden(this.#nameLimit, false);
    });
    this.#name.addEventListener("input", () => {
      const { value } = this.#name;
      const isBlank = value !== "" && value.trim() === "";
      setHidden(this.#nameLimit, !isCut && !isBlank);
    });
    this.#name.addEventListener("blur", () => setHidden(this.#nameLimit, true));
    // A player who focuses the name wants another one.
    this.#name.addEventListener("focus", () => this.#name.select());
    this.#back = button(texts.back, () => hooks.back(), { class: "back main", hidden: true });
    const enter = () => {
      const way = this.#wayIn;
      if (way.to === "room") return hooks.join(way.room.id);
      return way.to === "game" ? hooks.playGame(way.game) : hooks.create();
    };
    this.#enter = button("", enter, { class: "main" });
    this.#create = button(texts.create_room, () => hooks.create(), { class: "create-room" });
    this.#welcome = el(
      "section",
      { class: "welcome", "aria-label": texts.play_now },
      this.#welcomeTitle,
      this.#welcomeHint,
      this.#enter,
    );
    this.#lobby = el(
      "section",
      { class: "places", "aria-label": texts.rooms },
      div("heading", el("h2", {}, texts.rooms), this.#create),
      this.#rooms.element,
      this.#shelf.element,
    );
    const people = panel("section", "people", texts.everybody, this.#players);
    this.element = div(
      "lobby",
      this.#back,
      div(
        "title-page",
        this.#welcomePicture,
        el(
          "header",
          {},
          div(
            "brand",
            el("h1", {}, wordmark(), span("unseen", texts.title)),
            el("p", { class: "tagline" }, texts.tagline),
          ),
          this.#state,
          button(texts.invite, () => hooks.invite(), { class: "invite" }),
          form,
        ),
        this.#welcome,
      ),
      el("main", {}, this.#lobby, this.#room.element, div("side", this.#party.element, people, this.#chat.element)),
    );
  }

  /** What was in focus is gone: the one thing to do has it. */
  keepFocus(): void {
    if (document.activeElement !== document.body || this.element.hidden) return;
    const isShown = (it: HTMLElement) => it.offsetParent !== null;
    [...this.element.querySelectorAll<HTMLElement>("button.main")].find(isShown)?.focus();
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
    const id = client.account?.slice(0, SHOWN_DIGITS);
    setText(this.#account, id === undefined ? texts.no_account : texts.account_of(id));
    setHidden(this.#lobby, room !== undefined);
    setHidden(this.#room.element, room === undefined);
    const rooms = model.sortedRooms();
    const actionOf = (other: RoomListing) => model.actionOf(other, client.games);
    this.#rooms.update(rooms, actionOf, !client.isClosed);
    this.#shelf.update(client.games, client.isConnected);
    this.#create.disabled = !client.isConnected;
    const why = client.isConnected ? "" : texts.create_unconnected;
    if (this.#create.title !== why) this.#create.title = why;
    this.#showWelcome(client, model);
    if (room) {
      const listing = model.rooms.get(room.id);
      this.#room.update(listing, model.members, client.player, game === "none");
    }
    const isOther = ({ id }: PlayerListing) => id !== client.player;
    this.#party.update(model.party, model.invitation, client.player);
    const { party } = model;
    const mayAsk = !party || party.leader === client.player;
    const fellows = new Set(party?.members.map(({ id }) => id));
    const canAsk = ({ id }: PlayerListing) => mayAsk && id !== client.player && !fellows.has(id);
    this.#showPlayers(model.everybody, client.player, canAsk);
    const present = { isInRoom: room !== undefined, isInParty: party !== undefined };
    this.#chat.update(model.chat, model.everybody.filter(isOther), present);
  }

  #showPlayers(
    everybody: readonly PlayerListing[],
    own: number,
    canAsk: (player: PlayerListing) => boolean,
  ): void {
    const shown = everybody.map((player) => [player.id, player.name, canAsk(player)]);
    if (!this.#shownPlayers.by(own, shown)) return;
    const ask = (name: string) =>
      button("+", () => this.hooks.askIntoParty(name), {
        class: "ask",
        "aria-label": texts.party_ask(name),
        title: texts.party_ask(name),
      });
    const chip = (player: PlayerListing) => {
      const attributes = player.id === own ? { class: "own" } : {};
      return el("li", attributes, player.name, canAsk(player) ? ask(player.name) : undefined);
    };
    this.#players.replaceChildren(...everybody.map(chip));
  }

  /** The one way into a world. A player who has a seat has it in the room's panel. */
  #showWelcome(client: Client, model: LobbyModel): void {
    const isOut = client.room === undefined && !client.isClosed;
    setHidden(this.#welcome, !isOut);
    setHidden(this.#welcomePicture, !isOut);
    if (!isOut) return;
    const way = model.wayIn(client.games);
    this.#wayIn = way;
    const title = model.rooms.size === 0 ? texts.welcome : texts.play_alone;
    switch (way.to) {
      case "room": {
        const { name, game, players, capacity, running } = way.room;
        const hint = texts.plays(name, forPlayers(game), texts.seats(players, capacity));
        const enter = running ? texts.play_now : texts.join;
        this.#offer(running ? texts.jump_in : texts.waits, enter, hint, game, name);
        break;
      }
      case "game":
        this.#offer(title, texts.play_game(forPlayers(way.game)), texts.play_game_hint, way.game);
        break;
      case "create": {
        const hint = client.games.length > 0 ? texts.create_hint : texts.no_games;
        this.#offer(title, texts.create_room, hint, client.games[0]?.name ?? "");
      }
    }
    // To begin a game makes a room, too.
    this.#enter.disabled =
      way.to !== "room" && (!client.isConnected || client.games.length === 0);
    // The same button is not offered twice.
    setHidden(this.#create, way.to === "create");
  }

  #offer(title: string, enter: string, hint: string, game: string, room = ""): void {
    setText(this.#welcomeTitle, title);
    setText(this.#enter, enter);
    setText(this.#welcomeHint, hint);
    if (!this.#shownPicture.by(game, room)) return;
    this.#welcomePicture.replaceChildren(gamePicture(game, room, "with_words"));
  }
}
