/** Connecting, in the way of this page. */

import type { LineConditions } from "../core/bad_line.js";
import { type Client, connect, type ConnectOptions } from "./ambit.js";
import { PageLineShaper } from "./line_shaper.js";

/** What is bad about the line now: the overlay's sliders change it. */
export const lineConditions: LineConditions = { delayMs: 0, jitterMs: 0, lossPercent: 0 };

let seed = 1;

export function openSession(name: string): Promise<Client> {
  const options: ConnectOptions = {
    keepSession: true,
    wasm: new URL("ambit.wasm", import.meta.url),
    physics: { cubes: true },
    predict: true,
    shapeLine: () => {
      // Each shaper takes two: one for each direction.
      seed += 2;
      return new PageLineShaper(seed, lineConditions);
    },
  };
  if (name) options.name = name;
  return connect(options);
}
