/** A client of a recorded room: what it was sent, again. */

import { Client } from "./client.js";
import { openPort, workerOf } from "./connect.js";
import { AmbitError } from "./errors.js";
import type { ReplayClock } from "./replay_clock.js";

export * from "./replay_clock.js";

export interface Replay {
  /** It is in the room; all requests fail. */
  readonly client: Client;
  /** Another speed, or a later time. For an earlier one, open it again. */
  setClock(clock: ReplayClock): void;
  close(): void;
}

/** Opens what a client was sent, at the time of the clock. */
export async function openReplay(messages: ArrayBuffer, clock: ReplayClock): Promise<Replay> {
  const port = openPort(workerOf(undefined), () => {});
  await port.replay({ settings: JSON.stringify({ replay: true }), messages, clock, wasm: true });
  const client = new Client(port);
  for (;;) {
    const event = await client.nextEvent();
    if (event?.ev === "joined") break;
    if (!event) throw new AmbitError("closed", "the recording could not be read");
  }
  return {
    client,
    setClock: (clock) => port.setClock(clock),
    close: () => port.leave(true),
  };
}
