/**
 * The page as a spectator of a recorded room: it shows what one of its clients was sent.
 *
 * The server has the list of the clients and what each was sent. To go back, a client's core begins
 * again and is handed in all until then; so it does for another client. Nothing of what the player
 * does gets into the game.
 */

import {
  type GameRules,
  movedTo,
  openReplay,
  positionOf,
  type Replay,
  type ReplayClock,
  withSpeed,
} from "../ambit/ambit.js";
import { handle } from "../ambit/handle.js";
import { nextSpeed, REPLAY_KEYS, type ReplayKey } from "../core/replay_time.js";
import type { RoomSettings } from "../core/room_settings.js";
import { GameView } from "../game/game_view.js";
import { translation } from "../language.js";
import { showError } from "../problem_banner.js";
import { texts } from "../texts.js";
import { type RecordedClient, ReplayBar } from "./replay_bar.js";

/** How far an arrow key leads. */
const STEP_MS = 5_000;
/** A margin of the zones of interest, and the budget, which no recording says. */
const MARGIN_M = 1;
const BUDGET_BYTES = 32_000;

/** What the server says of the recording. */
interface RecordedRoom {
  room: number;
  game: string;
  clients: RecordedClient[];
}

/** Whether the page is opened as one. */
export function isReplay(): boolean {
  return new URLSearchParams(location.search).has("replay");
}

export async function showReplay(page: HTMLElement): Promise<void> {
  try {
    const answer = await fetch("/replay/clients", { cache: "no-store" });
    if (!answer.ok) throw new Error(texts.no_replay);
    const room = (await answer.json()) as RecordedRoom;
    const [first] = room.clients;
    if (!first) throw new Error(texts.replay_without_clients);
    new ReplayPage(page, room, first);
  } catch (thrown) {
    page.replaceChildren();
    showError(thrown);
  }
}

class ReplayPage {
  readonly #bar: ReplayBar;
  #client: RecordedClient;
  #clock: ReplayClock;
  #speed = 1;
  /** While a view is made, time stands; it runs then, if the replay plays. */
  #isOpening = false;
  #plays = true;
  #messages: { of: RecordedClient; bytes: ArrayBuffer } | undefined;
  #replay: Replay | undefined;
  #view: GameView | undefined;
  /** The number of the last one that was opened: an older one that comes late counts no more. */
  #opened = 0;

  constructor(
    private readonly page: HTMLElement,
    { room, game, clients }: RecordedRoom,
    first: RecordedClient,
  ) {
    this.#client = first;
    this.#clock = this.#clockAt(first.from_ms);
    this.#bar = new ReplayBar(texts.replay_of(game, room), clients, {
      toggle: () => this.#toggle(),
      seek: (ms) => this.#seek(ms),
      setSpeed: (speed) => this.#setSpeed(speed),
      choose: (client) => this.#choose(client),
    });
    page.classList.add("replaying");
    page.replaceChildren(this.#bar.element);
    // Before the game's own keys, which do nothing here.
    addEventListener("keydown", this.#press, { capture: true });
    addEventListener("keyup", (event) => event.stopImmediatePropagation(), { capture: true });
    this.#open(first.from_ms);
    const update = () => {
      this.#bar.update(this.#at, this.#isPlaying, this.#speed);
      requestAnimationFrame(update);
    };
    update();
  }

  get #at(): number {
    return positionOf(this.#clock, Date.now());
  }

  get #isPlaying(): boolean {
    return this.#plays && this.#at < this.#clock.end;
  }

  /** A clock that stands. */
  #clockAt(at: number): ReplayClock {
    return { at, since: Date.now(), speed: 0, end: this.#client.to_ms };
  }

  #toggle(): void {
    const isOver = this.#plays && !this.#isPlaying;
    this.#plays = isOver || !this.#plays;
    if (isOver) return this.#open(this.#client.from_ms);
    this.#run();
  }

  #setSpeed(speed: number): void {
    this.#speed = speed;
    this.#run();
  }

  /** Time runs, if it is to. */
  #run(): void {
    const speed = this.#plays && !this.#isOpening ? this.#speed : 0;
    this.#setClock(withSpeed(this.#clock, Date.now(), speed));
  }

  #seek(ms: number): void {
    const at = Math.min(Math.max(ms, this.#client.from_ms), this.#client.to_ms);
    if (at < this.#at) this.#open(at);
    else this.#setClock(movedTo(this.#clock, Date.now(), at));
  }

  #choose(client: RecordedClient): void {
    const at = Math.min(Math.max(this.#at, client.from_ms), client.to_ms);
    this.#client = client;
    this.#open(at);
  }

  #setClock(clock: ReplayClock): void {
    this.#clock = clock;
    this.#replay?.setClock(clock);
  }

  /** Begins the client's core again, and hands in all until then. */
  #open(at: number): void {
    this.#opened += 1;
    const opened = this.#opened;
    this.#bar.show(this.#client);
    this.#isOpening = true;
    this.#clock = this.#clockAt(at);
    this.#load(opened).catch((thrown) => showError(thrown));
  }

  async #load(opened: number): Promise<void> {
    const messages = await this.#read(this.#client);
    if (opened !== this.#opened) return;
    const replay = await openReplay(messages, this.#clock);
    if (opened !== this.#opened) return replay.close();
    this.#close();
    this.#replay = replay;
    replay.setClock(this.#clock);
    const { client } = replay;
    const game = await client.room?.play();
    const schema = game?.schema;
    if (!game || !schema || opened !== this.#opened) return;
    translation.schema(schema);
    handle.client = client;
    handle.game = game;
    const nothing = () => {};
    this.#view = new GameView(client, game, schema, {
      settingsOf: (rules) => settingsOf(rules),
      toggleLobby: nothing,
      closeLobby: () => false,
      read: nothing,
      say: nothing,
      leave: nothing,
      ended: nothing,
    });
    this.page.append(this.#view.element);
    this.page.classList.add("playing");
    this.#isOpening = false;
    this.#run();
  }

  async #read(client: RecordedClient): Promise<ArrayBuffer> {
    if (this.#messages?.of !== client) {
      const answer = await fetch(`/replay/clients/${client.id}`);
      if (!answer.ok) throw new Error(texts.no_replay);
      this.#messages = { of: client, bytes: await answer.arrayBuffer() };
    }
    return this.#messages.bytes;
  }

  #close(): void {
    this.#view?.dispose();
    this.#view = undefined;
    this.#replay?.close();
    this.#replay = undefined;
  }

  readonly #press = (event: KeyboardEvent): void => {
    event.stopImmediatePropagation();
    const isForField = event.target instanceof Element && event.target.matches("input, select");
    const asked = isForField && event.key !== " " ? undefined : REPLAY_KEYS.get(event.key);
    if (!asked || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    this.#do(asked);
  };

  #do(asked: ReplayKey): void {
    switch (asked) {
      case "toggle":
        return this.#toggle();
      case "back":
        return this.#seek(this.#at - STEP_MS);
      case "ahead":
        return this.#seek(this.#at + STEP_MS);
      case "faster":
      case "slower":
        return this.#setSpeed(nextSpeed(this.#speed, asked === "faster"));
    }
  }
}

function settingsOf(rules: GameRules): RoomSettings {
  return { ...rules, marginM: MARGIN_M, budgetBytes: BUDGET_BYTES };
}
