/** Where small, fast objects have just been: the trail behind each. */

import { InSight } from "./in_sight.js";

/** Places of a trail; with one a frame a sixth of a second. */
export const TRAIL_PLACES = 10;
const FLOATS = 3 * TRAIL_PLACES;
/** A longer way in one frame is a jump, and not a flight. */
const JUMP_M = 16;

/** In sizes of a shot: half the width of its trail, and the light around it. */
const SHOT = { trail: 0.42, glow: 1.7 } as const;
/** In shares of the camera's distance: less is a thin line, whatever the shot's size is. */
const LEAST = { trail: 0.006, glow: 0.019 } as const;

/** Half the width of a shot's trail and the light at its head, in metres, so that both are seen. */
export function shotWidths(size: number, distanceM: number): { trail: number; glow: number } {
  return {
    trail: Math.max(SHOT.trail * size, LEAST.trail * distanceM),
    glow: Math.max(SHOT.glow * size, LEAST.glow * distanceM),
  };
}

interface Trail {
  /** The newest place first. */
  places: Float32Array;
  count: number;
  kind: number;
}

export class Trails {
  readonly #trails = new InSight<Trail>();

  /** A frame begins. */
  begin(): void {
    this.#trails.begin();
  }

  /** An object of a kind is here in this frame. */
  note(id: number, kind: number, x: number, y: number, z: number): void {
    const trail =
      this.#trails.see(id) ??
      this.#trails.add(id, { places: new Float32Array(FLOATS), count: 0, kind });
    const { places } = trail;
    const [dx, dy] = [x - (places[0] as number), y - (places[1] as number)];
    if (trail.count > 0 && dx * dx + dy * dy > JUMP_M * JUMP_M) trail.count = 0;
    places.copyWithin(3, 0, FLOATS - 3);
    places[0] = x;
    places[1] = y;
    places[2] = z;
    trail.count = Math.min(trail.count + 1, TRAIL_PLACES);
  }

  /**
   * A frame ends: forgets what is gone, and calls `draw` for the others, with where in `places` the
   * oldest place is; the newest one is at 0, and the only one of what has just come.
   */
  end(draw: (places: Float32Array, oldest: number, kind: number) => void): void {
    this.#trails.end(({ places, count, kind }) => draw(places, 3 * (count - 1), kind));
  }
}
