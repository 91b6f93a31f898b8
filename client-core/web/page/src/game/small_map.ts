/** The small map: the static map, the objects in sight, and what the camera looks at. */

import type { Frame, StaticBox } from "../ambit/ambit.js";
import { type Extent, MapView } from "../core/map_view.js";
import { el } from "../dom.js";
import { texts } from "../texts.js";

const PIXELS = 168;
const PAUSE_MS = 150;

export class SmallMap {
  readonly element: HTMLCanvasElement;
  readonly #context: CanvasRenderingContext2D;
  readonly #view = new MapView();
  #boxes: readonly StaticBox[] = [];
  #extent: Extent = { west: 0, south: 0, width: 1, height: 1 };
  #drawnAt = -Infinity;

  constructor() {
    this.element = el("canvas", { class: "small-map", role: "img", "aria-label": texts.small_map });
    const ratio = Math.min(devicePixelRatio, 2);
    this.element.width = this.element.height = PIXELS * ratio;
    this.#context = this.element.getContext("2d") as CanvasRenderingContext2D;
    this.#context.scale(ratio, ratio);
  }

  setMap(extent: Extent, boxes: readonly StaticBox[]): void {
    this.#extent = extent;
    this.#boxes = boxes;
  }

  update(now: number, frame: Frame, x: number, y: number): void {
    if (now < this.#drawnAt + PAUSE_MS) return;
    this.#drawnAt = now;
    const [view, context] = [this.#view, this.#context];
    const { west, south, width, height } = this.#extent;
    view.fit(this.#extent, PIXELS, x, y);
    context.fillStyle = "#10151a";
    context.fillRect(0, 0, PIXELS, PIXELS);
    context.fillStyle = "#2c3a33";
    this.#fill(west, south, width, height);
    context.fillStyle = "#7d8a96";
    for (const { centre, half } of this.#boxes) {
      this.#fill(centre[0] - half[0], centre[1] - half[1], 2 * half[0], 2 * half[1]);
    }
    for (let index = 0; index < frame.count; index += 1) {
      const isOwn = index === frame.avatar;
      context.fillStyle = isOwn ? "#ffffff" : frame.kind(index).look.colour;
      const size = isOwn ? 5 : 3;
      const across = view.across(frame.x(index));
      context.fillRect(across - size / 2, view.down(frame.y(index)) - size / 2, size, size);
    }
  }

  #fill(west: number, south: number, width: number, height: number): void {
    const { scale } = this.#view;
    const across = this.#view.across(west);
    const down = this.#view.down(south + height);
    this.#context.fillRect(across, down, Math.max(1, width * scale), Math.max(1, height * scale));
  }
}
