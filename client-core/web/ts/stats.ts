/** Statistics of a client, for pages that show them. */

/** Counters since the beginning, and measurements of the running game; null without one. */
export interface Stats {
  /** Round trip, without the wait for the host's tick. */
  rtt_ms: number | null;
  /** How unevenly datagrams arrive: a mean deviation. */
  jitter_ms: number | null;
  /** How far behind the room's time objects with poses are shown. */
  shown_behind_ms: number | null;
  /** So much later than over the fastest path may a datagram come, and still be in time. */
  buffer_ms: number | null;
  datagrams_down: number;
  /** Of the host's datagrams, those that did not arrive. */
  datagrams_lost: number;
  bytes_down: number;
  datagrams_up: number;
  bytes_up: number;
  enters: number;
  leaves: number;
  events: number;
  late_events: number;
  updates: number;
  /** Updates of what was already shown. */
  late_updates: number;
  /** The share of late events and updates, from 0 to 1. */
  late_share: number;
  commands: number;
  confirmed: number;
  refused: number;
  events_dropped: number;
  /** The objects that are simulated here. */
  simulated: number;
  simulation: SimulationStats;
  worker: WorkerStats;
}

/** The time that the client's worker has taken for this client so far, in milliseconds. */
export interface WorkerStats {
  /** Datagrams of the host. */
  decoding_ms: number;
  /** Pictures for the page, simulation included. */
  drawing_ms: number;
}

/** The client's own physics, and the host's corrections. */
export interface SimulationStats {
  /** Simulated frames, 60 a second. */
  steps: number;
  /** How far poses of the host moved bodies. */
  corrections: Lengths;
  /** Poses that came after their frame was drawn. */
  late_poses: number;
  /** Objects that were put back to their reported position at rest. */
  restored: number;
  /** How far the predicted position of the own avatar was corrected. */
  reconciled: Lengths;
  /** How far the host's poses of the own avatar were from what had been predicted for their time. */
  predicted: Lengths;
}

/** Lengths in centimetres. */
export interface Lengths {
  count: number;
  cm_p50: number | null;
  cm_p99: number | null;
}
