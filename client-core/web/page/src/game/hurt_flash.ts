/** A red arc on the side from which the own avatar is hurt; without a side, a flash at the edge. */

import type { Frame, Kind, Schema } from "../ambit/ambit.js";
import type { ViewCamera } from "../core/camera.js";
import type { Attackers } from "../core/edge.js";
import { HurtWatch, type Way } from "../core/hurt.js";
import { describeMesh } from "../core/look.js";
import { div, el } from "../dom.js";

const SHOWN_MS = 800;

export class HurtFlash {
  readonly #arc = div("hurt-arc");
  readonly #edge = div("hurt-edge");
  readonly element = el("div", { class: "hurt", "aria-hidden": "true" }, this.#edge, this.#arc);
  readonly #watch = new HurtWatch();
  readonly #isShot: readonly boolean[];
  readonly #attacker: Way = { dx: 0, dy: 0 };

  constructor({ kinds }: Schema, private readonly attackers: Attackers) {
    this.#isShot = kinds.map(isShot);
  }

  update(now: number, frame: Frame, { right, yaw }: ViewCamera): void {
    const { avatar } = frame;
    if (avatar < 0) return void this.#watch.update(now, undefined, undefined);
    const [x, y] = [frame.x(avatar), frame.y(avatar)];
    for (let index = 0; index < frame.count; index += 1) {
      if (!this.#isShot[frame.kindIndex(index)]) continue;
      this.#watch.noteShot(now, frame.id(index), frame.x(index) - x, frame.y(index) - y);
    }
    const way = this.#watch.update(now, frame.bar(avatar), this.#attackerFrom(now, frame));
    if (!way) return;
    const isKnown = way.dx !== 0 || way.dy !== 0;
    const across = way.dx * right.x + way.dy * right.y;
    const up = -way.dx * Math.sin(yaw) + way.dy * Math.cos(yaw);
    if (isKnown) this.#arc.style.rotate = `${Math.atan2(across, up).toFixed(3)}rad`;
    const shown = isKnown ? this.#arc : this.#edge;
    shown.animate([{ opacity: 1 }, { opacity: 0.8, offset: 0.3 }, { opacity: 0 }], SHOWN_MS);
  }

  #attackerFrom(now: number, frame: Frame): Way | undefined {
    const index = frame.indexOf(this.attackers.newest(now));
    if (index < 0) return undefined;
    this.#attacker.dx = frame.x(index) - frame.x(frame.avatar);
    this.#attacker.dy = frame.y(index) - frame.y(frame.avatar);
    return this.#attacker;
  }
}

/** What glows and has no bar. */
function isShot(kind: Kind): boolean {
  return describeMesh(kind).material === "glow" && kind.look.bar === null;
}
