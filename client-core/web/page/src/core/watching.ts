/**
 * Whom a player who is out watches: an object of the own kind in sight that is still up, the
 * nearest one unless the player picks another. A player is out whose avatar was up once and has
 * lost a flag that the game's commands need: games without such flags bring their players back by
 * themselves.
 */

import type { Action } from "./actions.js";
import type { Frame, Kind } from "../ambit/ambit.js";

/** First the player sees what has happened. */
const PAUSE_MS = 2_200;

export type WatchedFrame = Pick<
  Frame,
  | "avatar" | "bar" | "component" | "count" | "id" | "indexOf" | "kind" | "kindIndex" | "label"
  | "x" | "y"
>;

export class Watching {
  readonly #flags: ReadonlySet<string>;
  /** Whether the player is out for now. */
  isOut = false;
  #wasUp = false;
  #outAt = 0;
  #watched = -1;

  constructor(actions: readonly Action[]) {
    const conditions = actions.map(({ command }) => command.only_for);
    this.#flags = new Set(conditions.flatMap((it) => (it && it.is === "" ? [it.of] : [])));
  }

  /** Whether objects of a kind can be out: then its game has a view for that. */
  isFor({ components }: Pick<Kind, "components">): boolean {
    return components.some(({ name, type }) => type === "flag" && this.#flags.has(name));
  }

  update(now: number, frame: WatchedFrame): void {
    const { avatar } = frame;
    if (avatar < 0) return;
    const isUp = this.#isUp(frame, avatar);
    if (isUp) this.#wasUp = true;
    const isOut = this.#wasUp && !isUp;
    if (isOut !== this.isOut) [this.#outAt, this.#watched] = [now, -1];
    this.isOut = isOut;
    if (!isOut || now < this.#outAt + PAUSE_MS || this.indexIn(frame) !== avatar) return;
    this.#watched = this.#nearest(frame);
  }

  pick(id: number): void {
    if (this.isOut) this.#watched = id;
  }

  /** Whom the camera follows; the avatar itself if there is no other. */
  indexIn(frame: WatchedFrame): number {
    const index = this.isOut && this.#watched >= 0 ? frame.indexOf(this.#watched) : -1;
    return index >= 0 && isStanding(frame, index) ? index : frame.avatar;
  }

  #isUp(frame: WatchedFrame, avatar: number): boolean {
    const { components } = frame.kind(avatar);
    let hasFlag = false;
    for (let index = 0; index < components.length; index += 1) {
      const component = components[index];
      if (component?.type !== "flag" || !this.#flags.has(component.name)) continue;
      hasFlag = true;
      if (frame.component(avatar, index) === true) return true;
    }
    return !hasFlag;
  }

  #nearest(frame: WatchedFrame): number {
    const { avatar } = frame;
    let [nearest, found] = [Infinity, -1];
    for (let index = 0; index < frame.count; index += 1) {
      if (index === avatar || frame.kindIndex(index) !== frame.kindIndex(avatar)) continue;
      if (frame.label(index) === undefined || !isStanding(frame, index)) continue;
      const [dx, dy] = [frame.x(index) - frame.x(avatar), frame.y(index) - frame.y(avatar)];
      const away = Math.hypot(dx, dy);
      if (away < nearest) [nearest, found] = [away, frame.id(index)];
    }
    return found;
  }
}

function isStanding(frame: WatchedFrame, index: number): boolean {
  return (frame.bar(index) ?? 1) > 0;
}
