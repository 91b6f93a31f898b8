/**
 * Which sounds are heard: how loud, from which side, and which one ends when there are too many.
 *
 * At most {@link MAX_VOICES} sound at once; the oldest ends for a new one. Several of a kind at
 * almost the same time are one.
 */

import type { EffectForm } from "./effects.js";

export const MAX_VOICES = 12;
/** At this distance a sound is half as loud. */
const HALF_M = 14;
/** What is quieter is not heard. */
const LEAST_VOLUME = 0.04;
const TOGETHER_MS = 45;

/** A tone that glides from one pitch to another, and a share of noise. */
export interface Timbre {
  ms: number;
  wave: OscillatorType;
  fromHz: number;
  toHz: number;
  /** From 0 to 1; the noise is filtered at the pitch of the tone. */
  noise: number;
  volume: number;
}

/** What is heard: effects, a command of the player, its refusal, and that the player has felled. */
export type VoiceForm = EffectForm | "press" | "refusal" | "felled";

export const TIMBRES: Readonly<Record<VoiceForm, Timbre>> = {
  press: { ms: 70, wave: "triangle", fromHz: 620, toHz: 480, noise: 0.2, volume: 0.22 },
  refusal: { ms: 200, wave: "square", fromHz: 190, toHz: 120, noise: 0.2, volume: 0.25 },
  felled: { ms: 420, wave: "triangle", fromHz: 520, toHz: 1_180, noise: 0.05, volume: 0.5 },
  cast: { ms: 220, wave: "triangle", fromHz: 420, toHz: 940, noise: 0.1, volume: 0.35 },
  hit: { ms: 130, wave: "square", fromHz: 210, toHz: 70, noise: 0.7, volume: 0.6 },
  heal: { ms: 520, wave: "sine", fromHz: 520, toHz: 1_040, noise: 0, volume: 0.4 },
  arrival: { ms: 600, wave: "sine", fromHz: 180, toHz: 720, noise: 0.15, volume: 0.4 },
  death: { ms: 700, wave: "sawtooth", fromHz: 260, toHz: 40, noise: 0.4, volume: 0.5 },
  blast: { ms: 520, wave: "triangle", fromHz: 150, toHz: 35, noise: 0.9, volume: 0.7 },
  ring: { ms: 260, wave: "sine", fromHz: 660, toHz: 500, noise: 0, volume: 0.25 },
  warning: { ms: 420, wave: "sine", fromHz: 150, toHz: 240, noise: 0.05, volume: 0.3 },
  beam: { ms: 240, wave: "sawtooth", fromHz: 1_300, toHz: 300, noise: 0.1, volume: 0.3 },
};

export interface Voice {
  form: VoiceForm;
  /** From 0 to 1, with that of its timbre. */
  volume: number;
  /** From -1, left, to 1. */
  pan: number;
  endsAt: number;
}

export class Voices {
  readonly #voices: Voice[] = [];
  readonly #lastAt = new Map<VoiceForm, number>();

  /**
   * The voice of a sound at `distanceM`, `right` metres of which to the right; and the one that
   * ends for it. Undefined if it is not heard.
   */
  begin(
    now: number,
    form: VoiceForm,
    distanceM: number,
    right: number,
  ): { voice: Voice; ended: Voice | undefined } | undefined {
    const timbre = TIMBRES[form];
    const loud = 1 / (1 + (distanceM / HALF_M) ** 2);
    // A form of a newer server has none.
    if (!timbre || loud < LEAST_VOLUME) return undefined;
    if (now < (this.#lastAt.get(form) ?? -Infinity) + TOGETHER_MS) return undefined;
    this.#lastAt.set(form, now);
    for (let at = this.#voices.length - 1; at >= 0; at -= 1) {
      if ((this.#voices[at] as Voice).endsAt <= now) this.#voices.splice(at, 1);
    }
    const ended = this.#voices.length >= MAX_VOICES ? this.#voices.shift() : undefined;
    const pan = distanceM > 0 ? (0.8 * right) / Math.max(distanceM, HALF_M / 2) : 0;
    const volume = loud * timbre.volume;
    const voice = { form, volume, pan: Math.min(Math.max(pan, -1), 1), endsAt: now + timbre.ms };
    this.#voices.push(voice);
    return { voice, ended };
  }
}
