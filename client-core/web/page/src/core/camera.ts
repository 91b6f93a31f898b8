/**
 * Where the viewer stands, and what a point of the screen is in the world and the other way round.
 *
 * Coordinates of the world: x east, y north, z up, in metres. Coordinates of the screen: from -1 at
 * the left and at the bottom to 1. Angles are radians; yaw 0 looks north, pitch is the height of
 * the viewer above the horizon. Results go into fields and into arguments: no call makes garbage.
 */

import type { Scenery } from "../ambit/ambit.js";
import type { Extent } from "./map_view.js";

/** From above, at a fixed angle; around: the player turns and tilts it. The game declares it. */
export type CameraMode = Scenery["camera"];

export interface Point {
  x: number;
  y: number;
  z: number;
}

/** Vertical angle of view. */
export const FIELD_OF_VIEW = (45 * Math.PI) / 180;
/** Steep enough to judge distances; figures, walls and trees still show their sides. */
const PITCH_ABOVE = (58 * Math.PI) / 180;
const PITCH_AROUND = (38 * Math.PI) / 180;
/** So steep that a floor fills the picture, and not what is around it. */
const PITCH_FLOOR = (54 * Math.PI) / 180;
const MIN_PITCH = 0.08;
const MAX_PITCH = Math.PI / 2 - 0.02;
/** The drawn target covers 63 % of its way to the real one in this time. */
const FOLLOW_S = 0.12;
/** Farther away than that, the target has jumped: a gate, a new life. */
const JUMP_M = 25;
/** How far away it begins, as a share of how far players see. */
const SIGHT_SHARE = 0.36;

/** Well inside the picture: this share of its half. Buttons are along the edge. */
const SHOWN_SHARE = 0.72;
/** To show others, the camera may begin farther away by this factor. */
const STEP_BACK = 1.25;
/** In a game of ships, the nearest other one is kept within this share: its name has room. */
const KEPT_SHARE = 0.84;
/** Others that are farther away may leave the picture. */
export const KEPT_M = 90;
/** For that, the camera may be farther away than the player has chosen by this factor. */
const KEPT_BACK = 2.2;
/**
 * Below the target the picture shows least of the ground: the camera leans by this share towards
 * an object there.
 */
const KEPT_LEAN = 0.3;
const LEAN_S = 0.9;
/** The distance covers 63 % of its way in these times: out at once, and in when it is calm. */
const KEPT_S = { out: 0.45, in: 1.8 } as const;
/** The share of the picture's half that is map where the camera stops; the rest is border. */
const INSIDE_SHARE = 0.6;

/** On a higher screen nothing at its edge comes near the middle. */
const LOW_PX = 560;
const MOST_LIFT = 0.4;

/** How far above the middle the target is, for what covers so much of the screen from below. */
export function liftOver(coveredPx: number, heightPx: number): number {
  if (heightPx <= 0 || heightPx > LOW_PX) return 0;
  return Math.min(coveredPx / heightPx, MOST_LIFT);
}

/** Seen from right above, nothing rises on the screen. */
const MIN_UP = 0.25;

const RANGES = {
  above: { start: 17, min: 10, max: 240 },
  around: { start: 13, min: 4, max: 90 },
} as const;

export class ViewCamera {
  /** What it follows. */
  readonly target: Point = { x: 0, y: 0, z: 0 };
  /** What it looks at: the target, but not so near the border that half of the picture is empty. */
  readonly centre: Point = { x: 0, y: 0, z: 0 };
  readonly eye: Point = { x: 0, y: 0, z: 1 };
  /** Unit vectors. */
  readonly forward: Point = { x: 0, y: 1, z: 0 };
  readonly up: Point = { x: 0, y: 0, z: 1 };
  readonly right: Point = { x: 1, y: 0, z: 0 };
  yaw = 0;
  pitch: number;
  distance: number;
  /** Width by height of the screen. */
  aspect = 1;
  /** The target stays inside the map, so that the picture shows little of what is beyond. */
  readonly #staysInside: boolean;
  /** How far above the middle of the screen the target is, in halves of the screen. */
  lift = 0;
  #hasTarget = false;
  #startedAt = 0;
  /** What the player has chosen, and the start before: it is farther away to show others. */
  #chosen: number;
  /** How many metres it looks below the target, towards the screen's lower edge. */
  #lean = 0;
  #extent: Extent | undefined;
  /** Radius around the target in which all objects are known: the picture from above ends there. */
  #knownM = Infinity;
  /** The largest distance at which the picture shows no more than that. */
  #most: number;

  /** `isFloor`: all that there is to see is on a floor, and the picture shows little besides. */
  constructor(readonly mode: CameraMode, isFloor = false) {
    this.#staysInside = mode === "above" || isFloor;
    if (mode === "above") this.pitch = PITCH_ABOVE;
    else this.pitch = isFloor ? PITCH_FLOOR : PITCH_AROUND;
    this.distance = this.#chosen = RANGES[mode].start;
    this.#most = RANGES[mode].max;
    this.update();
  }

  /** The map. */
  setExtent(extent: Extent): void {
    this.#extent = extent;
  }

  /** Sets the radius around the target in which all objects are known: none appears within it. */
  setKnown(metres: number): void {
    this.#knownM = metres;
    this.update();
  }

  /** Moves the target towards a point; jumps if that is far away, or the first one. */
  follow(x: number, y: number, z: number, seconds: number): void {
    const { target } = this;
    const away = Math.hypot(x - target.x, y - target.y, z - target.z);
    const share = this.#hasTarget && away < JUMP_M ? 1 - Math.exp(-seconds / FOLLOW_S) : 1;
    this.#hasTarget = true;
    target.x += (x - target.x) * share;
    target.y += (y - target.y) * share;
    target.z += (z - target.z) * share;
  }

  /** The next target is elsewhere: jumps to it, as near as the player has chosen. */
  cut(): void {
    this.#hasTarget = false;
    this.#lean = 0;
    this.distance = this.#chosen;
  }

  /** Turns by a movement over the screen, where the whole height is 1. From above: yaw only. */
  turn(across: number, upwards: number): void {
    this.yaw = wrapAngle(this.yaw - across * Math.PI);
    if (this.mode === "above") return;
    const pitch = this.pitch + upwards * Math.PI;
    this.pitch = Math.min(Math.max(pitch, MIN_PITCH), MAX_PITCH);
  }

  /** At the start of a game in which players see `sightM` far: not closer than usual. */
  startFor(sightM: number): void {
    const { start } = RANGES[this.mode];
    this.distance = Math.min(Math.max(start, sightM * SIGHT_SHARE), this.#most);
    this.#startedAt = this.#chosen = this.distance;
  }

  /** From how far away a point is well inside the picture. */
  distanceToShow(x: number, y: number, z: number): number {
    const at = { x: 0, y: 0, z: 0 };
    if (!this.project(x, y, z, at)) return Infinity;
    const out = Math.max(Math.abs(at.x), Math.abs(at.y)) / SHOWN_SHARE;
    return this.distance * Math.max(out, 1);
  }

  /** At the start: steps back, but keeps all well visible. */
  stepBack(distance: number): void {
    const most = Math.max(this.distance, STEP_BACK * this.#startedAt);
    this.distance = Math.max(this.distance, Math.min(distance, most, this.#most));
    this.#chosen = this.distance;
  }

  /**
   * From above: goes smoothly back until a point is well inside the picture, within a bound, and
   * comes closer again when that is enough; without a point, to what the player has chosen.
   */
  keepShown(point: Point | undefined, seconds: number): void {
    const most = Math.min(KEPT_BACK * this.#chosen, this.#most);
    const needed = point ? this.#distanceFor(point) : 0;
    const chosen = Math.min(this.#chosen, this.#most);
    const wanted = Math.max(chosen, Math.min(needed, most));
    const time = wanted > this.distance ? KEPT_S.out : KEPT_S.in;
    const { target, yaw } = this;
    const below = point
      ? (point.x - target.x) * Math.sin(yaw) - (point.y - target.y) * Math.cos(yaw)
      : 0;
    const lean = KEPT_LEAN * Math.max(0, Math.min(below, KEPT_M));
    this.#lean += (lean - this.#lean) * (1 - Math.exp(-seconds / LEAN_S));
    this.distance += (wanted - this.distance) * (1 - Math.exp(-seconds / time));
  }

  /** The distance at which a point is at the kept share of the picture's half. */
  #distanceFor({ x, y, z }: Point): number {
    const { centre, forward, up, right } = this;
    const [dx, dy, dz] = [x - centre.x, y - centre.y, z - centre.z];
    const along = (axis: Point) => dx * axis.x + dy * axis.y + dz * axis.z;
    const out = Math.max(Math.abs(along(up)), Math.abs(along(right)) / this.aspect);
    const depth = out / (KEPT_SHARE * Math.tan(FIELD_OF_VIEW / 2));
    return (depth - along(forward)) / this.#stretch;
  }

  /** An upright screen would show a narrow strip; from farther away it shows as much. */
  get #stretch(): number {
    return Math.sqrt(Math.max(1, 1 / this.aspect));
  }

  /** Called when the player comes closer or goes farther. */
  onZoom: () => void = () => {};

  /** A factor below 1 comes closer. */
  zoom(factor: number): void {
    this.onZoom();
    const { min } = RANGES[this.mode];
    this.distance = Math.min(Math.max(this.distance * factor, min), this.#most);
    this.#chosen = Math.min(Math.max(this.#chosen * factor, min), this.#most);
  }

  /** Computes the eye and the axes. */
  update(): void {
    const { centre, eye, forward, up, right } = this;
    const sinYaw = Math.sin(this.yaw);
    const cosYaw = Math.cos(this.yaw);
    const sinPitch = Math.sin(this.pitch);
    const cosPitch = Math.cos(this.pitch);
    set(right, cosYaw, sinYaw, 0);
    set(forward, -sinYaw * cosPitch, cosYaw * cosPitch, -sinPitch);
    set(up, -sinYaw * sinPitch, cosYaw * sinPitch, cosPitch);
    const shown = this.#shownShare();
    const { min, max } = RANGES[this.mode];
    this.#most = Math.min(max, Math.max(min, this.#knownM / (shown * this.#stretch)));
    this.distance = Math.min(this.distance, this.#most);
    const away = this.distance * this.#stretch;
    this.#chooseCentre(away, Math.max(0, this.#knownM - shown * away));
    const low = this.lift * away * Math.tan(FIELD_OF_VIEW / 2);
    set(centre, centre.x - up.x * low, centre.y - up.y * low, centre.z - up.z * low);
    set(eye, centre.x - forward.x * away, centre.y - forward.y * away, centre.z - forward.z * away);
  }

  /**
   * How far east, west, north or south of the target the picture shows the ground, from a metre
   * away; 0 where that is not limited.
   */
  #shownShare(): number {
    if (this.mode !== "above") return 0;
    const { forward, up } = this;
    const low = this.lift * Math.tan(FIELD_OF_VIEW / 2);
    const [x, y] = [-up.x * low - forward.x, -up.y * low - forward.y];
    const high = -up.z * low - forward.z;
    const corner: Point = { x: 0, y: 0, z: 0 };
    let share = 0;
    for (const across of [-1, 1]) {
      for (const upwards of [-1, 1]) {
        this.direction(across, upwards, corner);
        const times = -high / corner.z;
        const [east, north] = [x + corner.x * times, y + corner.y * times];
        share = Math.max(share, Math.abs(east), Math.abs(north));
      }
    }
    return share;
  }

  /** The target, or up to `free` metres beside it. */
  #chooseCentre(away: number, free: number): void {
    const { target, centre, mode } = this;
    const [south, east] = [this.#lean * Math.cos(this.yaw), this.#lean * Math.sin(this.yaw)];
    set(centre, target.x + east, target.y - south, target.z);
    this.#keepInMap(away);
    if (mode !== "above") return;
    centre.x = Math.min(Math.max(centre.x, target.x - free), target.x + free);
    centre.y = Math.min(Math.max(centre.y, target.y - free), target.y + free);
  }

  #keepInMap(away: number): void {
    const { centre, aspect } = this;
    const map = this.#extent;
    if (!this.#staysInside || !map) return;
    const high = away * Math.tan(FIELD_OF_VIEW / 2) * INSIDE_SHARE;
    const wide = high * aspect;
    // Turned, the picture's sides are not the map's: by the share of each.
    const [sin, cos] = [Math.abs(Math.sin(this.yaw)), Math.abs(Math.cos(this.yaw))];
    const [across, along] = [wide * cos + high * sin, wide * sin + high * cos];
    centre.x = keptInside(centre.x, map.west, map.width, across);
    centre.y = keptInside(centre.y, map.south, map.height, along);
  }

  /** The direction from the eye through a point of the screen; not of length 1. */
  direction(screenX: number, screenY: number, into: Point): void {
    const { forward, up, right } = this;
    const high = Math.tan(FIELD_OF_VIEW / 2) * screenY;
    const wide = Math.tan(FIELD_OF_VIEW / 2) * this.aspect * screenX;
    set(
      into,
      forward.x + right.x * wide + up.x * high,
      forward.y + right.y * wide + up.y * high,
      forward.z + right.z * wide + up.z * high,
    );
  }

  /** The point of the plane at `height` behind a point of the screen. False above the horizon. */
  groundPoint(screenX: number, screenY: number, height: number, into: Point): boolean {
    const { eye } = this;
    this.direction(screenX, screenY, into);
    const share = (height - eye.z) / into.z;
    if (!(share > 0) || !Number.isFinite(share)) return false;
    set(into, eye.x + into.x * share, eye.y + into.y * share, height);
    return true;
  }

  /** How many pixels a metre is at a depth. */
  pixelsPerMetre(depth: number, heightPx: number): number {
    return heightPx / (2 * depth * Math.tan(FIELD_OF_VIEW / 2));
  }

  /** How much higher in the world a pixel higher on the screen is, at a depth. */
  metresUp(depth: number, heightPx: number): number {
    const metres = (2 * depth * Math.tan(FIELD_OF_VIEW / 2)) / Math.max(heightPx, 1);
    return metres / Math.max(this.up.z, MIN_UP);
  }

  /** The place on the screen (x, y) and the depth in metres (z). False behind the viewer. */
  project(x: number, y: number, z: number, into: Point): boolean {
    const { eye, forward, up, right } = this;
    const dx = x - eye.x;
    const dy = y - eye.y;
    const dz = z - eye.z;
    const depth = dx * forward.x + dy * forward.y + dz * forward.z;
    if (depth <= 0) return false;
    const scale = 1 / (depth * Math.tan(FIELD_OF_VIEW / 2));
    const across = (dx * right.x + dy * right.y + dz * right.z) * scale;
    set(into, across / this.aspect, (dx * up.x + dy * up.y + dz * up.z) * scale, depth);
    return true;
  }
}

/** The place nearest to `at` that is `inside` from both ends; the middle if that is too much. */
function keptInside(at: number, from: number, length: number, inside: number): number {
  if (length <= 2 * inside) return from + length / 2;
  return Math.min(Math.max(at, from + inside), from + length - inside);
}

/** From -π to π. */
export function wrapAngle(angle: number): number {
  return angle - 2 * Math.PI * Math.round(angle / (2 * Math.PI));
}

export function set(point: Point, x: number, y: number, z: number): void {
  point.x = x;
  point.y = y;
  point.z = z;
}
