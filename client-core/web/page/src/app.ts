/** The page of a connected player: the lobby, and the game over it. */

import type {
  Client,
  Game,
  GameDescription,
  GameRules,
  LobbyEvent,
  Room,
  RoomListing,
} from "./ambit/ambit.js";
import { showAccount } from "./account.js";
import { handle } from "./ambit/handle.js";
import { forgetSignIn, type Session } from "./ambit/session.js";
import { codeOf, problemOf } from "./core/problems.js";
import { parameterOf, type RoomSettings } from "./core/room_settings.js";
import { askInDialog } from "./dialogs.js";
import { el, setHidden } from "./dom.js";
import { invite } from "./invitation.js";
import { GameView } from "./game/game_view.js";
import type { Addressee } from "./lobby/addressees.js";
import { askForRoom } from "./lobby/create_dialog.js";
import { format } from "./lobby/chat_panel.js";
import { pictures } from "./lobby/game_picture.js";
import { LobbyModel } from "./lobby/lobby_model.js";
import { LobbyView } from "./lobby/lobby_view.js";
import { type Result, showResult } from "./game_result.js";
import { endPassingProblem, endProblem, showError, showProblem } from "./problem_banner.js";
import { translation } from "./language.js";
import { texts } from "./texts.js";
import { showTopLists } from "./top_lists.js";

/** Where the name is kept for the next visit. */
type Left = Extract<LobbyEvent, { ev: "left" }>;

export const NAME_KEY = "ambit-name";
/** Where the tab keeps which rooms have removed its player: a page that is loaded anew knows. */
const BARRED_KEY = "ambit-barred";
/** With these words the lobby closes the room of a game that has come to its end. */
const GAME_OVER = "game_over";
/** There are no events about players who come and go. */
const PLAYERS_MS = 10_000;
/** A margin of the zones of interest, if the game does not say it. */
const DEFAULT_MARGIN_M = 1;

export class App {
  readonly #model = new LobbyModel();
  readonly #lobby: LobbyView;
  private readonly client: Client;
  /** The session ends because the player wants another one. */
  #isLeaving = false;
  readonly #descriptions = new Map<string, Promise<GameDescription>>();
  #view: GameView | undefined;
  #playing: Room | undefined;
  /** As the player's room was listed: once it has closed, it is in no list. */
  #listing: RoomListing | undefined;
  /** Of a game that has ended, until the lobby says why. */
  #result: Result | undefined;
  /** Lines of chat since the lobby was last beside the game. */
  #unread = 0;
  /** So many attempts to get into a game are under way; some in rooms that were left since. */
  #entering = 0;
  readonly #timer: ReturnType<typeof setInterval>;

  constructor(
    private readonly page: HTMLElement,
    private readonly session: Session,
    /** The connection is closed for good: says so, and connects again. */
    private readonly reconnect: (code: string, message: string) => void,
    /** Begins another session, with a sign-in. */
    private readonly signIn: () => void,
  ) {
    const { client } = session;
    this.client = client;
    const act = (does: () => Promise<unknown>) => {
      endPassingProblem();
      this.#try(does);
    };
    this.#lobby = new LobbyView({
      rename: (name) => act(() => this.#rename(name)),
      account: () => act(() => this.#showAccount()),
      join: (room) => act(() => this.#join(room)),
      create: (game) => act(() => this.#create(game)),
      playGame: (game) => act(() => this.#playGame(game)),
      topLists: (game) => act(() => showTopLists(game, client.name)),
      invite: () => act(() => invite(client.room?.id)),
      back: () => this.#toggleLobby(),
      say: (to, text) => this.#say(to, text),
      ready: (isReady) => act(async () => client.room?.setReady(isReady)),
      start: () => act(() => this.#start()),
      play: () => act(async () => client.room && this.#rejoin(client.room)),
      leave: () => act(() => this.#leave()),
      kick: (player) => act(async () => client.room?.kick(player)),
      askIntoParty: (name) => act(() => client.invite(name)),
      joinParty: (party) => act(() => this.#joinParty(party)),
      declineParty: () => this.#declineParty(),
      leaveParty: (member) => act(() => client.leaveParty(member)),
    });
    pictures.describe = async (game) => (await this.#describe(game)).schema;
    handle.client = client;
    this.#recallBarred();
    page.replaceChildren(this.#lobby.element);
    // A resumed player gets the picture at once, unless the game has not begun.
    setHidden(this.#lobby.element, client.room !== undefined);
    this.#lobby.element.addEventListener("keydown", ({ key }) => {
      if (key === "Escape" && this.#view) this.#toggleLobby();
    });
    this.#timer = setInterval(() => void this.#readPlayers(), PLAYERS_MS);
    addEventListener("hashchange", this.#follow);
    this.#update();
    void this.#run();
  }

  async #run(): Promise<void> {
    const { room } = this.client;
    if (room) this.#try(() => this.#enter(room));
    this.#try(async () => {
      this.#model.setRooms(await this.client.watchRooms(true));
      const isRunning = room && this.#model.rooms.get(room.id)?.running;
      if (!isRunning) setHidden(this.#lobby.element, false);
      await this.#follow();
      await this.#readPlayers();
    });
    for (;;) {
      const event = await this.client.nextEvent();
      if (!event) break;
      this.#handle(event);
      this.#update();
    }
    clearInterval(this.#timer);
    removeEventListener("hashchange", this.#follow);
    this.#closeGame();
  }

  /** The address may name a room: who is given the link gets into it. */
  readonly #follow = async (): Promise<void> => {
    const id = roomOf(location.hash);
    const { room } = this.client;
    if (room && id === undefined) return this.#leave();
    // Who is in a room goes on with it, and its address comes back.
    if (room) return showAddress(room.id);
    if (id === undefined) return;
    if (this.#model.rooms.has(id)) return this.#try(() => this.#join(id));
    showAddress(undefined);
    showProblem("no_such_room", texts.no_such_room);
  };

  #handle(event: LobbyEvent): void {
    this.#model.handle(event, this.client.room?.id);
    switch (event.ev) {
      case "joined":
      case "created":
        if (this.client.room) this.#try(() => this.#enter(this.client.room as Room));
        return;
      case "left":
        const result = this.#view?.result() ?? this.#result;
        const name = this.#listing?.name;
        this.#closeGame();
        showAddress(undefined);
        // The game has come to its end, which is no problem.
        if (event.reason === GAME_OVER) return void this.#showResult(result);
        // Without a reason the player has left.
        if (event.reason && event.reason !== "error_unspecified" && event.reason !== "left") {
          void this.#tellOut(event, name);
        }
        return;
      case "error":
        return showProblem(event.code, event.message);
      case "chat":
        return this.#showChat();
      case "closed":
        this.#model.forget();
        if (this.#isLeaving) return;
        return this.reconnect(event.code || "server_gone", event.message);
      case "welcome":
        endProblem();
        // The session was lost, and the page does not keep what the player has signed in with.
        if (this.session.signedIn && !event.account) return this.#try(() => this.#signInAgain());
        if (!event.resumed) this.#try(() => this.client.watchRooms(true));
        return;
    }
  }

  /** Why the player is out of a room, and the way back if it is still there. */
  async #tellOut({ room: id, reason: code, message }: Left, name?: string): Promise<void> {
    showProblem(code, message);
    if (problemOf(code) !== "seat_lost" && problemOf(code) !== "idle") return;
    const rooms = await this.client.watchRooms(true).catch(() => undefined);
    if (!rooms || this.client.room) return;
    this.#model.setRooms(rooms);
    this.#update();
    const room = this.#model.rooms.get(id);
    // A server that was started again counts its rooms from the beginning.
    if (!room || room.name !== name) return;
    if (this.#model.actionOf(room, this.client.games) !== "join") return;
    const back = () => this.#try(() => this.#join(id));
    showProblem(code, message, back, texts.back_into(room.name));
  }

  /** The player has a seat: shows the room, and its game as soon as it runs. */
  async #enter(room: Room): Promise<void> {
    if (this.#playing?.id === room.id) return;
    this.#playing = room;
    this.#model.enterRoom(room.id);
    this.#listing = this.#model.rooms.get(room.id);
    showAddress(room.id);
    void this.#play(room);
    this.#model.members = await room.players();
    this.#update();
  }

  async #play(room: Room): Promise<void> {
    this.#entering += 1;
    try {
      const game = await room.play();
      if (this.#playing === room) await this.#open(room, game);
    } catch (thrown) {
      if (this.#playing !== room) return;
      this.#closeGame();
      // That the player has left by itself is no problem.
      if (this.client.room) showError(thrown, () => this.#try(() => this.#rejoin(room)));
    } finally {
      this.#entering -= 1;
      this.#update();
    }
  }

  async #open(room: Room, game: Game): Promise<void> {
    handle.game = game;
    const { schema } = game;
    if (!schema || this.#view) return;
    translation.schema(schema);
    const description = await this.#describe(schema.game).catch(() => undefined);
    if (game.isOver || this.#view) return;
    this.#view = new GameView(this.client, game, schema, {
      settingsOf: (rules) => this.#settingsOf(room, rules, description),
      toggleLobby: () => this.#toggleLobby(),
      closeLobby: () => {
        if (this.#lobby.element.hidden) return false;
        this.#toggleLobby();
        return true;
      },
      read: () => this.#markRead(),
      say: (text) => void this.#say({ channel: "room" }, text),
      leave: () => this.#try(() => this.#leave()),
      ended: (code, message) => this.#ended(room, code, message),
    });
    endPassingProblem();
    this.page.append(this.#view.element);
    this.page.classList.add("playing");
    // Who is writing something goes on with it, beside the game.
    if (this.#isTyping()) return;
    setHidden(this.#lobby.element, true);
    this.#view.focus();
  }

  /** What everybody has won, and a way on. */
  async #showResult(result: Result | undefined): Promise<void> {
    if (!result) return;
    this.#result = undefined;
    if (!(await showResult(result, this.client.name))) return;
    const ended = this.#listing;
    // Whoever chooses a password is asked again: it is nowhere.
    if (ended?.game !== result.game || ended.password) return this.#create(result.game);
    const made = this.#model.madeAgain(ended, this.client.games);
    if (made) return void (await this.#join(made.id));
    const { name, game, capacity, parameters } = ended;
    void this.#enter(await this.client.createRoom(name, game, { capacity, parameters }));
  }

  #ended(room: Room, code: string, message: string): void {
    this.#result = this.#view?.result();
    this.#closeGame();
    this.#update();
    if (code === "left" || code === "" || code === GAME_OVER) return;
    const isMember = this.client.room?.id === room.id;
    // The lobby says why a player is out of the room.
    if (isMember) showProblem(code, message, () => this.#try(() => this.#rejoin(room)));
  }

  async #joinParty(party: number): Promise<void> {
    this.#declineParty();
    await this.client.joinParty(party);
  }

  #declineParty(): void {
    this.#model.invitation = undefined;
    this.#update();
  }

  /** A game that could not be reached is entered again only with another seat. */
  async #rejoin(room: Room): Promise<void> {
    const present = this.client.room;
    // An old banner offers it, too, when the player is in another room or plays again.
    if (this.#view || (present && present.id !== room.id)) return;
    if (present) await room.leave();
    this.#closeGame();
    await this.#join(room.id);
  }

  #closeGame(): void {
    this.#view?.dispose();
    this.#view = undefined;
    this.#playing = undefined;
    this.#unread = 0;
    handle.game = undefined;
    this.page.classList.remove("playing");
    setHidden(this.#lobby.element, false);
  }

  #toggleLobby(): void {
    const { element } = this.#lobby;
    setHidden(element, !element.hidden);
    if (element.hidden) return this.#view?.focus();
    this.#markRead();
    this.#lobby.focusChat();
  }

  #markRead(): void {
    this.#view?.showUnread(0);
    this.#unread = 0;
  }

  /** Somebody has said something: who plays reads it in the picture. */
  #showChat(): void {
    const line = this.#model.chat.at(-1);
    if (!this.#view || !line || !this.#lobby.element.hidden) return;
    this.#view.showChat(format(line));
    if (line.from === this.client.name) return;
    this.#unread += 1;
    this.#view.showUnread(this.#unread);
  }

  #settingsOf(
    { id }: Room,
    rules: GameRules,
    description: GameDescription | undefined,
  ): RoomSettings {
    const chosen = this.#model.rooms.get(id)?.parameters ?? {};
    const marginM = parameterOf(chosen, description, "margin");
    const budgetKbit = parameterOf(chosen, description, "budget");
    const budgetBytes = (budgetKbit * 1_000) / 8;
    return { ...rules, marginM: Number.isNaN(marginM) ? DEFAULT_MARGIN_M : marginM, budgetBytes };
  }

  #describe(game: string): Promise<GameDescription> {
    let description = this.#descriptions.get(game);
    if (!description) {
      description = this.client.describeGame(game);
      description.catch(() => this.#descriptions.delete(game));
      this.#descriptions.set(game, description);
    }
    return description;
  }

  async #rename(name: string): Promise<void> {
    await this.client.rename(name);
    localStorage.setItem(NAME_KEY, this.client.name);
  }

  /** Another account needs another session. */
  async #showAccount(): Promise<void> {
    switch (await showAccount(this.session)) {
      case "sign_in":
        return this.#signInAgain();
      case "erase":
        return this.#eraseAccount();
      case "sign_out":
        forgetSignIn();
        return this.#loadAgain();
      case "changed":
        return this.#loadAgain();
    }
  }

  async #signInAgain(): Promise<void> {
    this.#isLeaving = true;
    await this.client.quit();
    this.signIn();
  }

  async #loadAgain(): Promise<void> {
    this.#isLeaving = true;
    await this.client.quit();
    location.reload();
  }

  /** The player's own name confirms it. */
  async #eraseAccount(): Promise<void> {
    const { client } = this;
    const label = texts.account_erase_confirm(client.name);
    for (let problem = ""; ; problem = texts.account_erase_other) {
      const input = el("input", { type: "text", autocomplete: "off", required: true });
      if (!(await askInDialog(texts.account_erase_title, label, input, problem))) return;
      if (input.value.trim() === client.name) break;
    }
    if (client.room) await this.#leave();
    this.#isLeaving = true;
    try {
      await client.eraseAccount();
    } catch (thrown) {
      this.#isLeaving = false;
      throw thrown;
    }
    forgetSignIn();
    location.reload();
  }

  async #join(id: number): Promise<void> {
    const listed = this.#model.rooms.get(id);
    // A full room is no reason to ask for its password.
    const isLocked = listed?.password && listed.players < listed.capacity;
    try {
      for (let problem = ""; ; problem = texts.problems.wrong_password) {
        const password = isLocked ? await this.#askPassword(listed.name, problem) : "";
        if (password === undefined) return;
        try {
          return await this.#enter(await this.client.joinRoom(id, { password }));
        } catch (thrown) {
          if (!isLocked || codeOf(thrown) !== "wrong_password") throw thrown;
        }
      }
    } catch (thrown) {
      if (codeOf(thrown) === "kicked") this.#model.bar(id);
      this.#update();
      // No seat: a link to it does not stay in the address.
      if (!this.client.room) showAddress(undefined);
      throw thrown;
    }
  }

  /** Undefined if the player cancels. */
  async #askPassword(room: string, problem: string): Promise<string | undefined> {
    const input = el("input", { type: "password", autocomplete: "off", autofocus: true });
    const isOk = await askInDialog(texts.password_of(room), texts.password, input, problem);
    return isOk ? input.value : undefined;
  }

  /** Bans are about the session: another player of this tab is not concerned. */
  #recallBarred(): void {
    try {
      const kept: unknown = JSON.parse(sessionStorage.getItem(BARRED_KEY) ?? "null");
      const { player, rooms } = kept as { player: number; rooms: number[] };
      if (player === this.client.player) rooms.forEach((room) => this.#model.bar(room));
    } catch {
      // Nothing is known, or not in this form: the server says it again.
    }
  }

  #keepBarred(): void {
    const rooms = this.#model.barred;
    if (rooms.length === 0) return sessionStorage.removeItem(BARRED_KEY);
    sessionStorage.setItem(BARRED_KEY, JSON.stringify({ player: this.client.player, rooms }));
  }

  async #create(game?: string): Promise<void> {
    const { games, name } = this.client;
    const describe = (game: string) => this.#describe(game);
    const suggestedName = texts.own_room(name);
    await askForRoom(games, suggestedName, game, describe, async (wanted) => {
      const room = await this.client.createRoom(wanted.name, wanted.game, wanted.settings);
      void this.#enter(room);
    });
  }

  /** Where it runs, or in a room that is made for it, as the game declares. */
  async #playGame(game: string): Promise<void> {
    const client = this.client;
    const running = this.#model.runningRoomOf(game, client.games);
    if (running) return this.#join(running.id);
    const listed = client.games.find(({ name }) => name === game);
    const parameters = listed?.quick_start ?? {};
    const room = await client.createRoom(texts.own_room(client.name), game, { parameters });
    await this.#enter(room);
    // One that needs more players waits for them.
    if ((listed?.min_players ?? 1) <= 1) await room.start();
  }

  async #start(): Promise<void> {
    const { room } = this.client;
    await room?.start();
    // After a game that has failed, nobody waits for the next one.
    if (room) await this.#enter(room);
  }

  async #leave(): Promise<void> {
    await this.client.room?.leave();
    this.#model.leaveRoom();
    this.#closeGame();
    showAddress(undefined);
  }

  async #say(to: Addressee, text: string): Promise<boolean> {
    const { room } = this.client;
    try {
      if (to.channel === "whisper") await this.client.whisper(to.to, text);
      else if (to.channel === "room" && room) await room.say(text);
      else if (to.channel === "party") await this.client.sayToParty(text);
      else await this.client.say(text);
      return true;
    } catch (thrown) {
      showError(thrown);
      return false;
    }
  }

  async #readPlayers(): Promise<void> {
    if (document.hidden || !this.client.isConnected) return;
    try {
      this.#model.everybody = await this.client.players();
      this.#update();
    } catch {
      // The next time.
    }
  }

  #try(act: () => Promise<unknown>): void {
    act().then(
      () => {
        this.#update();
        this.#lobby.keepFocus();
      },
      (thrown) => showError(thrown),
    );
  }

  #update(): void {
    this.#keepBarred();
    const game = this.#view ? "shown" : this.#entering > 0 ? "entering" : "none";
    this.#lobby.update(this.client, this.#model, game);
  }

  /** Whether there is an unfinished text in the field that has the focus. */
  #isTyping(): boolean {
    const { activeElement } = document;
    if (!(activeElement instanceof HTMLInputElement)) return false;
    return activeElement.value !== "" && activeElement.value !== this.client.name;
  }
}

/** The room that an address names. */
function roomOf(hash: string): number | undefined {
  const [, id] = /^#room=(\d{1,15})$/.exec(hash) ?? [];
  return id ? Number(id) : undefined;
}

/**
 * Puts the link to a room into the address bar. A room is a step of the browser's history, so that
 * the way back from it leads to the lobby.
 */
function showAddress(room: number | undefined): void {
  const { pathname, search } = location;
  if (room === roomOf(location.hash)) return;
  const address = `${pathname}${search}${room ? `#room=${room}` : ""}`;
  if (room && roomOf(location.hash) === undefined) history.pushState(null, "", address);
  else history.replaceState(null, "", address);
}
