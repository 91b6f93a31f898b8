/** What happens in a game: hands its events to the parts of the view that show them. */

import type { EventKind, Frame, Game, GameEvent, Schema } from "../ambit/ambit.js";
import { type Announcement, announcementOf, stateOf } from "../core/announcements.js";
import type { Action } from "../core/actions.js";
import { felledBy } from "../core/felled.js";
import type { DeclaredEvent, Sentence } from "../core/event_texts.js";
import { objectsOf, sentencesOf, textOf } from "../core/event_texts.js";
import { labelText } from "../core/look.js";
import type { PendingCommands } from "../core/pending_commands.js";
import type { PlannedPaths } from "../core/planned_paths.js";
import { isRoomWide } from "../core/score_tables.js";
import { labelOf } from "../core/words.js";
import { texts } from "../texts.js";
import type { Happenings } from "./happenings.js";

/** How long after a move to another map the game's state is announced if no event does. */
const MOVED_MS = 8_000;
/** The state is announced when it has not changed for this time: the first may be outdated. */
const SETTLED_MS = 1_000;
/** Events need no frame's precision, and reading them makes garbage. */
const PAUSE_MS = 40;

export interface EventHooks {
  /** There is another static map, or other rules. */
  onMap(): void;
  /** The host does not answer; it was heard `silentMs` ago. */
  onSilent(silentMs: number): void;
  /** The host is heard again. */
  onHeard(): void;
  /** The game's connection broke. */
  onInterrupted(): void;
  /** The game goes on, perhaps on another map. */
  onResumed(): void;
  /** A command was taken, by its label. */
  onConfirmed(label: string): void;
  /** A command was refused, perhaps after it was taken. */
  onRefused(label: string): void;
  /** Something has happened that the game has words for, perhaps to the own avatar or by it. */
  tell(text: string, isOwn: boolean): void;
  /** It has happened to the own avatar; perhaps that was its death. */
  tellOwn(text: string, isDeath: boolean): void;
  /** The own avatar has felled this object, which has this name. */
  felled(name: string, object: number): void;
  /** Something is different for all. */
  announce(announcement: Announcement): void;
  say(text: string, isProblem?: boolean): void;
  ended(code: string, message: string): void;
}

export class EventReader {
  readonly #states;
  #readAt = 0;
  /** What was announced last. */
  #announced: { kind: EventKind; event: DeclaredEvent } | undefined;
  #hasEnded = false;
  #isBroken = false;
  #movedAt = -Infinity;
  /** What the state has said since then, as a text. */
  #settling = "";
  #settlesAt = 0;

  constructor(
    private readonly game: Game,
    private readonly schema: Schema,
    private readonly actions: readonly Action[],
    private readonly pending: PendingCommands,
    private readonly paths: PlannedPaths,
    private readonly happenings: Happenings,
    private readonly hooks: EventHooks,
  ) {
    this.#states = schema.kinds.filter(isRoomWide);
  }

  /** `frame` is the one that was shown last, at `shownAt`. */
  read(now: number, frame: Frame, shownAt: number): void {
    // The last event says why the game is over.
    if (now < this.#readAt + PAUSE_MS && !this.game.isOver) return;
    this.#readAt = now;
    for (const event of this.game.events()) this.#handle(now, event, frame, shownAt);
    if (now < this.#movedAt + MOVED_MS) this.#announceState(now, frame);
  }

  #handle(now: number, event: GameEvent, frame: Frame, shownAt: number): void {
    const { say } = this.hooks;
    this.paths.handle(event);
    switch (event.ev) {
      case "map":
        this.#movedAt = now;
        return this.hooks.onMap();
      case "started":
        this.hooks.onResumed();
        this.#movedAt = now;
        // A player who has only gone to another map sees that.
        if (this.#isBroken && !this.#hasEnded) say(texts.resumed);
        this.#isBroken = false;
        return;
      case "confirmed": {
        const ahead = event.effect - (Number.isNaN(frame.time) ? event.t : frame.time);
        const command = this.pending.confirm(event.command, shownAt + ahead);
        if (command) {
          this.happenings.noteDeed(now, frame, command.label);
          this.hooks.onConfirmed(command.label);
        }
        return;
      }
      case "refused": {
        const command = this.pending.refuse(now, event.command);
        // What it was is for a console: players read its label.
        if (command) this.hooks.onRefused(command.label);
        const declared = this.schema.refusals.find(({ name }) => name === event.code)?.text;
        const reason = declared ?? event.message;
        return say(texts.refused(command?.label ?? event.what, reason), true);
      }
      case "event": {
        const kind = this.schema.events.find(({ name }) => name === event.name);
        if (!kind) return;
        this.#tell(kind, event, frame);
        return this.happenings.handle(now, kind, event, frame);
      }
      case "silent":
        return this.hooks.onSilent(event.silent_ms);
      case "heard":
        return this.hooks.onHeard();
      case "interrupted":
        this.#isBroken = true;
        return this.hooks.onInterrupted();
      case "missed":
        // Among what was dropped may have been `started` or `map`. One `interrupted` too many is
        // hidden, rather than one shown for ever.
        return this.hooks.onResumed();
      case "error":
        return say(event.message, true);
      case "ended":
        return this.hooks.ended(event.code, event.message);
    }
  }

  #tell(kind: EventKind, event: DeclaredEvent, frame: Frame): void {
    const nameOf = (object: number, isFirst: boolean) => nameIn(frame, object, isFirst);
    const sentences = kind.text ? sentencesOf(kind, event, nameOf) : [];
    if (sentences.length === 0) return;
    const joined = (some: readonly Sentence[]) => some.map(({ text }) => text).join(" ");
    const text = joined(sentences);
    const lead = textOf({ ...kind, text: kind.lead }, event, () => undefined);
    const own = frame.id(frame.avatar);
    const objects = objectsOf(kind, event);
    this.hooks.tell(lead ? texts.led(lead, text) : text, objects.includes(own));
    // An event is about the first one that it names. That it was the player is known to the player.
    const isAboutOwn = objects.length > 0 && objects[0] === own;
    const others = sentences.filter((sentence) => !sentence.objects.includes(own));
    const told = joined(others.length > 0 ? others : sentences);
    if (isAboutOwn) this.hooks.tellOwn(told, kind.effect?.form === "death");
    const other = felledBy(kind, event, own);
    if (other !== undefined) this.hooks.felled(nameIn(frame, other, true) ?? "", other);
    this.#announce(kind, event, text);
  }

  #announce(kind: EventKind, event: DeclaredEvent, text: string): void {
    const announcement = announcementOf(kind, event, text, this.#states, this.actions);
    if (!announcement) return;
    this.#announced = { kind, event };
    this.#movedAt = -Infinity;
    this.#hasEnded = announcement.outcome !== null;
    this.hooks.announce(announcement);
  }

  /** On another map the game may be further than the last announcement says, without an event. */
  #announceState(now: number, frame: Frame): void {
    if (!this.#announced) return;
    const { kind, event } = this.#announced;
    const state = stateOf(kind, this.#states, frame);
    const shown = JSON.stringify(state) ?? "";
    if (shown !== this.#settling) [this.#settling, this.#settlesAt] = [shown, now + SETTLED_MS];
    if (!state || now < this.#settlesAt) return;
    this.#movedAt = -Infinity;
    if (kind.fields.every(({ name }) => state[name] === event[name])) return;
    const since = { ...event, ...state };
    // All that is in a state can be said without an object.
    const text = textOf(kind, since, () => undefined);
    if (text) this.#announce(kind, since, text);
  }
}

function nameIn(frame: Frame, object: number, isFirst: boolean): string | undefined {
  const index = frame.indexOf(object);
  if (index < 0) return undefined;
  const [label, of] = [frame.label(index), frame.kind(index)];
  if (label === undefined) return labelOf(of);
  return isFirst ? labelText(of, label) : label;
}
