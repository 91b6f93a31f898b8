/** The small map: the static map, the objects in sight, and what the camera looks at. */

import type { Frame, GateArea, Scenery, StaticObstacle } from "../ambit/ambit.js";
import { parseColour } from "../core/look.js";
import { type Extent, MapView } from "../core/map_view.js";
import { corners, obstacleColour } from "../core/scenery.js";
import { el } from "../dom.js";
import { texts } from "../texts.js";

const PIXELS = 168;
const PAUSE_MS = 150;
const GROUND = 0x2c3a33;
const OBSTACLE = 0x7d8a96;
const GATE = 0x63c7ff;

export class SmallMap {
  readonly element: HTMLCanvasElement;
  readonly #context: CanvasRenderingContext2D;
  readonly #view = new MapView();
  readonly #scenery: Scenery;
  #obstacles: readonly StaticObstacle[] = [];
  #gates: readonly GateArea[] = [];
  #extent: Extent = { west: 0, south: 0, width: 1, height: 1 };
  #drawnAt = -Infinity;

  constructor(scenery: Scenery) {
    this.#scenery = scenery;
    this.element = el("canvas", { class: "small-map", role: "img", "aria-label": texts.small_map });
    const ratio = Math.min(devicePixelRatio, 2);
    this.element.width = this.element.height = PIXELS * ratio;
    this.#context = this.element.getContext("2d") as CanvasRenderingContext2D;
    this.#context.scale(ratio, ratio);
  }

  setMap(
    extent: Extent,
    obstacles: readonly StaticObstacle[],
    gates: readonly GateArea[],
  ): void {
    this.#extent = extent;
    this.#gates = gates;
    this.#obstacles = obstacles;
  }

  update(now: number, frame: Frame, x: number, y: number): void {
    if (now < this.#drawnAt + PAUSE_MS) return;
    this.#drawnAt = now;
    const [view, context] = [this.#view, this.#context];
    const { west, south, width, height } = this.#extent;
    view.fit(this.#extent, PIXELS, x, y);
    context.fillStyle = "#10151a";
    context.fillRect(0, 0, PIXELS, PIXELS);
    const { ground } = this.#scenery;
    context.fillStyle = css(ground === null ? GROUND : parseColour(ground));
    this.#fill(west, south, width, height);
    for (const obstacle of this.#obstacles) {
      context.fillStyle = css(obstacleColour(this.#scenery, obstacle) ?? OBSTACLE);
      this.#fillObstacle(obstacle);
    }
    context.fillStyle = css(GATE);
    for (const { low, high } of this.#gates) {
      this.#fill(low[0], low[1], high[0] - low[0], high[1] - low[1]);
    }
    for (let index = 0; index < frame.count; index += 1) {
      const isOwn = index === frame.avatar;
      context.fillStyle = isOwn ? "#ffffff" : frame.kind(index).look.colour;
      const size = isOwn ? 5 : 3;
      const across = view.across(frame.x(index));
      context.fillRect(across - size / 2, view.down(frame.y(index)) - size / 2, size, size);
    }
  }

  /** No obstacle is narrower than a pixel. */
  #fillObstacle(obstacle: StaticObstacle): void {
    const [view, context] = [this.#view, this.#context];
    context.beginPath();
    if (obstacle.shape === "cylinder") {
      const [x, y] = obstacle.centre;
      const radius = Math.max(0.5, obstacle.half[0] * view.scale);
      context.arc(view.across(x), view.down(y), radius, 0, 2 * Math.PI);
    } else {
      for (const [x, y] of corners(obstacle, 1 / view.scale)) {
        context.lineTo(view.across(x), view.down(y));
      }
    }
    context.fill();
  }

  #fill(west: number, south: number, width: number, height: number): void {
    const { scale } = this.#view;
    const across = this.#view.across(west);
    const down = this.#view.down(south + height);
    this.#context.fillRect(across, down, Math.max(1, width * scale), Math.max(1, height * scale));
  }
}

function css(colour: number): string {
  return `#${colour.toString(16).padStart(6, "0")}`;
}
