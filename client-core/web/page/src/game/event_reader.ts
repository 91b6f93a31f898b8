/** What happens in a game: hands its events to the parts of the view that show them. */

import type { Frame, Game, GameEvent } from "../ambit/ambit.js";
import type { PendingCommands } from "../core/pending_commands.js";
import type { PlannedPaths } from "../core/planned_paths.js";
import { texts } from "../texts.js";
import type { Happenings } from "./happenings.js";

/** Events need no frame's precision, and reading them makes garbage. */
const PAUSE_MS = 40;

export interface EventHooks {
  /** There is another static map, or other rules. */
  onMap(): void;
  /** The host does not answer; it was heard so long ago. */
  onSilent(silentMs: number): void;
  /** The host is heard again. */
  onHeard(): void;
  /** The game's connection broke. */
  onInterrupted(): void;
  /** The game goes on, perhaps on another map. */
  onResumed(): void;
  /** A command was taken, by its label. */
  onConfirmed(label: string): void;
  say(text: string, isProblem?: boolean): void;
  ended(code: string, message: string): void;
}

export class EventReader {
  readonly #game: Game;
  readonly #pending: PendingCommands;
  readonly #paths: PlannedPaths;
  readonly #happenings: Happenings;
  readonly #hooks: EventHooks;
  #readAt = 0;

  constructor(
    game: Game,
    pending: PendingCommands,
    paths: PlannedPaths,
    happenings: Happenings,
    hooks: EventHooks,
  ) {
    this.#game = game;
    this.#pending = pending;
    this.#paths = paths;
    this.#happenings = happenings;
    this.#hooks = hooks;
  }

  /** `frame` is the one that was shown last, at `shownAt`. */
  read(now: number, frame: Frame, shownAt: number): void {
    // The last event says why the game is over.
    if (now < this.#readAt + PAUSE_MS && !this.#game.isOver) return;
    this.#readAt = now;
    for (const event of this.#game.events()) this.#handle(now, event, frame, shownAt);
  }

  #handle(now: number, event: GameEvent, frame: Frame, shownAt: number): void {
    const { say } = this.#hooks;
    this.#paths.handle(event);
    switch (event.ev) {
      case "map":
        return this.#hooks.onMap();
      case "resumed":
        this.#hooks.onResumed();
        return say(`${texts.resumed} ${texts.map_number(event.map)}.`);
      case "confirmed": {
        const ahead = event.effect - (Number.isNaN(frame.time) ? event.t : frame.time);
        const command = this.#pending.confirm(event.command, shownAt + ahead);
        if (command) this.#hooks.onConfirmed(command.label);
        return;
      }
      case "refused":
        this.#pending.refuse(now, event.command);
        return say(event.message, true);
      case "event":
        return this.#happenings.handle(now, event, frame);
      case "silent":
        return this.#hooks.onSilent(event.silent_ms);
      case "heard":
        return this.#hooks.onHeard();
      case "interrupted":
        return this.#hooks.onInterrupted();
      case "missed":
        // Among what was dropped may have been `resumed` or `map`. One `interrupted` too many is
        // hidden, rather than one shown for ever.
        return this.#hooks.onResumed();
      case "error":
        return say(event.message, true);
      case "ended":
        return this.#hooks.ended(event.code, event.message);
    }
  }
}
