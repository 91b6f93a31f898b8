/**
 * Gives commands: fills their fields one after the other, sends them, and notes them as pending.
 *
 * A place or an object comes from a click or from the keyboard; all other fields from a form.
 */

import type { Field, Game } from "../ambit/ambit.js";
import { type Action, CommandDraft } from "../core/actions.js";
import type { Point } from "../core/camera.js";
import type { PendingCommands } from "../core/pending_commands.js";
import { withinReach } from "../core/picking.js";

export interface CommanderHooks {
  /** What the player has to choose next; undefined for nothing. */
  onDraft(draft: CommandDraft | undefined): void;
  /** The command is on its way. */
  onGiven(action: Action): void;
  /** The command was not even sent. */
  onError(label: string, message: string): void;
  /** Asks for a field that is neither a place nor an object; undefined if the player cancels. */
  ask(label: string, field: Field): Promise<string | undefined>;
  /** From now to the effect, in milliseconds. */
  lagMs(): number;
  /** Where the avatar is. */
  avatarPlace(): Point;
}

export class Commander {
  #draft: CommandDraft | undefined;
  #place: Point | undefined;

  constructor(
    private readonly game: Game,
    private readonly pending: PendingCommands,
    private readonly hooks: CommanderHooks,
  ) {}

  get draft(): CommandDraft | undefined {
    return this.#draft;
  }

  /** From now to the effect of a command. */
  get lagMs(): number {
    return this.hooks.lagMs();
  }

  /** Begins a command. Pressed again, a button leaves out what is optional. */
  begin(action: Action): void {
    if (this.#draft?.action === action && this.#draft.skip()) return this.#goOn();
    this.#draft = new CommandDraft(action);
    this.#place = undefined;
    this.#goOn();
  }

  cancel(): void {
    this.#draft = undefined;
    this.hooks.onDraft(undefined);
  }

  /** Ends a command that is none of these; true if there was one. */
  keepOnly(offered: readonly Action[]): boolean {
    if (!this.#draft || offered.includes(this.#draft.action)) return false;
    this.cancel();
    return true;
  }

  /** The place nearest to this one that the command reaches. */
  givePlace(wanted: Point): void {
    if (this.#draft?.next?.type !== "position") return;
    const place = withinReach(wanted, this.hooks.avatarPlace(), this.#draft.action.reachM);
    this.#place = { ...place };
    this.#draft.fill([place.x, place.y, place.z]);
    this.#goOn();
  }

  giveObject(id: number): void {
    if (this.#draft?.next?.type !== "object") return;
    this.#draft.fill(id);
    this.#goOn();
  }

  #goOn(): void {
    const draft = this.#draft;
    const next = draft?.next;
    if (!draft) return;
    if (!next) {
      this.#draft = undefined;
      this.hooks.onDraft(undefined);
      return this.#send(draft);
    }
    this.hooks.onDraft(draft);
    if (next.type === "position" || next.type === "object") return;
    void this.hooks.ask(draft.action.label, next).then((value) => {
      if (this.#draft !== draft) return;
      if (value === undefined && !next.optional) return this.cancel();
      draft.fill(value ?? null);
      this.#goOn();
    });
  }

  #send({ action, values }: CommandDraft): void {
    const place = this.#place;
    const given = performance.now();
    this.hooks.onGiven(action);
    const note = (number: number) => {
      const pending = this.pending.give(given, number, action.label, this.hooks.lagMs());
      if (place) Object.assign(pending, place);
    };
    const fail = (thrown: unknown) => {
      const message = thrown instanceof Error ? thrown.message : String(thrown);
      this.hooks.onError(action.label, message);
    };
    this.game.send(action.command.name, values).then(note, fail);
  }
}
