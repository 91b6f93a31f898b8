/**
 * Mouse and touch over the picture: a press, a held press, turning, zooming.
 *
 * Places are those of the screen, from -1 to 1. One finger presses; two turn and zoom.
 */

import type { ViewCamera } from "../core/camera.js";

export interface PointerHooks {
  press(): void;
  release(): void;
  move(): void;
}

const WHEEL_ZOOM = 0.0012;

export class PointerInput {
  /** The pointer's place. */
  x = 0;
  y = 0;
  /** Before it has moved, it points at nothing. */
  isKnown = false;
  /** Whether it presses. */
  isHeld = false;
  readonly #touches = new Map<number, { x: number; y: number }>();
  #isTurning = false;

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly camera: ViewCamera,
    private readonly hooks: PointerHooks,
    /** Ends it. */
    signal: AbortSignal,
  ) {
    canvas.addEventListener("pointerdown", (event) => this.#down(event), { signal });
    canvas.addEventListener("pointermove", (event) => this.#move(event), { signal });
    // A capture that is lost has no `pointerup`; one that ends has both, which does no harm.
    for (const end of ["pointerup", "pointercancel", "lostpointercapture"] as const) {
      canvas.addEventListener(end, (event) => this.#up(event), { signal });
    }
    canvas.addEventListener("contextmenu", (event) => event.preventDefault(), { signal });
    canvas.addEventListener("wheel", (event) => this.#wheel(event), { signal, passive: false });
  }

  /** Forgets what is held. */
  clear(): void {
    this.#touches.clear();
    this.#isTurning = false;
    this.#release();
  }

  #down(event: PointerEvent): void {
    this.canvas.focus();
    this.canvas.setPointerCapture(event.pointerId);
    this.#touches.set(event.pointerId, { x: event.clientX, y: event.clientY });
    this.#place(event);
    if (this.#touches.size > 1 || event.button !== 0) {
      this.#isTurning = true;
      this.#release();
      return;
    }
    this.isHeld = true;
    this.hooks.press();
  }

  #move(event: PointerEvent): void {
    const before = this.#touches.get(event.pointerId);
    if (before && this.#isTurning) this.#turn(event, before);
    if (before) {
      before.x = event.clientX;
      before.y = event.clientY;
    }
    if (this.#touches.size < 2) this.#place(event);
    this.hooks.move();
  }

  #turn(event: PointerEvent, before: { x: number; y: number }): void {
    const height = this.canvas.clientHeight;
    const share = 1 / Math.max(1, this.#touches.size);
    const across = ((event.clientX - before.x) / height) * share;
    this.camera.turn(across, ((event.clientY - before.y) / height) * share);
    for (const [id, other] of this.#touches) {
      if (id === event.pointerId) continue;
      const apart = Math.hypot(before.x - other.x, before.y - other.y);
      const now = Math.hypot(event.clientX - other.x, event.clientY - other.y);
      if (now > 1) this.camera.zoom(apart / now);
    }
  }

  #up(event: PointerEvent): void {
    this.#touches.delete(event.pointerId);
    if (this.#touches.size === 0) this.#isTurning = false;
    this.#release();
  }

  #release(): void {
    if (!this.isHeld) return;
    this.isHeld = false;
    this.hooks.release();
  }

  #wheel(event: WheelEvent): void {
    event.preventDefault();
    this.camera.zoom(Math.exp(event.deltaY * WHEEL_ZOOM));
  }

  #place(event: PointerEvent): void {
    this.isKnown = true;
    this.x = (event.offsetX / this.canvas.clientWidth) * 2 - 1;
    this.y = 1 - (event.offsetY / this.canvas.clientHeight) * 2;
  }
}
