/** The small map: the static map, the objects in sight, and what the camera looks at. */

import type { Frame, Scenery, StaticObstacle } from "../ambit/ambit.js";
import { parseColour } from "../core/look.js";
import { type Square, ViewerCell } from "../core/interest.js";
import { type Extent, MapView } from "../core/map_view.js";
import { extentOf, type RoomSettings } from "../core/room_settings.js";
import { corners, obstacleColour } from "../core/scenery.js";
import { el } from "../dom.js";
import { texts } from "../texts.js";

const PIXELS = 168;
const PAUSE_MS = 150;
const GROUND = 0x2c3a33;
const OBSTACLE = 0x7d8a96;
const GATE = 0x63c7ff;
/** As on the ground: things come into sight in the inner zone, and leave it beyond the outer. */
const ZONES = { inner: "#6fd0ff", outer: "#2f8fff" } as const;

export class SmallMap {
  readonly element: HTMLCanvasElement;
  readonly #context: CanvasRenderingContext2D;
  readonly #view = new MapView();
  #obstacles: readonly StaticObstacle[] = [];
  #settings: RoomSettings | undefined;
  #cell = new ViewerCell();
  readonly #square: Square = { west: 0, south: 0, edge: 0 };
  #drawnAt = -Infinity;

  constructor(private readonly scenery: Scenery) {
    this.element = el("canvas", { class: "small-map", role: "img", "aria-label": texts.small_map });
    const ratio = Math.min(devicePixelRatio, 2);
    this.element.width = this.element.height = PIXELS * ratio;
    this.#context = this.element.getContext("2d") as CanvasRenderingContext2D;
    this.#context.scale(ratio, ratio);
  }

  setMap(settings: RoomSettings, obstacles: readonly StaticObstacle[]): void {
    this.#settings = settings;
    this.#cell = new ViewerCell();
    this.#obstacles = obstacles;
  }

  update(now: number, frame: Frame, x: number, y: number): void {
    const settings = this.#settings;
    if (!settings || now < this.#drawnAt + PAUSE_MS) return;
    this.#drawnAt = now;
    const [view, context] = [this.#view, this.#context];
    const extent = extentOf(settings);
    view.fit(extent, PIXELS, x, y);
    context.fillStyle = "#10151a";
    context.fillRect(0, 0, PIXELS, PIXELS);
    const { ground } = this.scenery;
    context.fillStyle = css(ground === null ? GROUND : parseColour(ground));
    this.#fill(extent);
    for (const obstacle of this.#obstacles) {
      context.fillStyle = css(obstacleColour(this.scenery, obstacle) ?? OBSTACLE);
      this.#fillObstacle(obstacle);
    }
    context.fillStyle = css(GATE);
    for (const { low: [west, south], high } of settings.gates) {
      this.#fill({ west, south, width: high[0] - west, height: high[1] - south });
    }
    const { avatar } = frame;
    if (avatar >= 0) this.#drawZones(frame.x(avatar), frame.y(avatar), settings);
    for (let index = 0; index < frame.count; index += 1) {
      const isOwn = index === avatar;
      context.fillStyle = isOwn ? "#ffffff" : frame.kind(index).look.colour;
      const size = isOwn ? 7 : 4;
      const across = view.across(frame.x(index));
      context.fillRect(across - size / 2, view.down(frame.y(index)) - size / 2, size, size);
    }
  }

  /** Zones beyond the map are not drawn: the small map ends where the map ends. */
  #drawZones(x: number, y: number, settings: RoomSettings): void {
    const [view, context, square] = [this.#view, this.#context, this.#square];
    this.#cell.follow(x, y, settings);
    for (const zone of ["outer", "inner"] as const) {
      this.#cell.zone(settings[zone], settings.cell, square);
      const edge = square.edge * view.scale;
      const [across, down] = [view.across(square.west), view.down(square.south + square.edge)];
      context.strokeStyle = ZONES[zone];
      context.strokeRect(Math.round(across) + 0.5, Math.round(down) + 0.5, edge, edge);
      context.globalAlpha = 0.06;
      context.fillStyle = ZONES[zone];
      context.fillRect(across, down, edge, edge);
      context.globalAlpha = 1;
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

  #fill({ west, south, width, height }: Extent): void {
    const { scale } = this.#view;
    const across = this.#view.across(west);
    const down = this.#view.down(south + height);
    this.#context.fillRect(across, down, Math.max(1, width * scale), Math.max(1, height * scale));
  }
}

function css(colour: number): string {
  return `#${colour.toString(16).padStart(6, "0")}`;
}
