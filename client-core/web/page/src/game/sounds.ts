/** Plays sounds, which are computed: there are no files. Silent until the player wants them. */

import type { Point, ViewCamera } from "../core/camera.js";
import type { EffectForm } from "../core/effects.js";
import { TIMBRES, type Voice, type VoiceForm, Voices } from "../core/voices.js";
import { texts } from "../texts.js";
import { icon, iconButton } from "./icons.js";
import { masterOf, noiseOf, sound } from "./synth.js";

const KEY = "ambit-sound";
/** A voice that makes room for another ends within this time, without a click. */
const RELEASE_S = 0.02;
const LOUDNESS_STEPS = 4;

export class Sounds {
  readonly button = iconButton("silence", texts.sound, () => this.toggle(), {
    class: "sound",
    "aria-pressed": "false",
    "aria-keyshortcuts": "m",
  });
  /** Called when the player begins to hear the game. */
  onHeard: () => void = () => {};
  /** Whether the player has never said whether to hear the game. */
  readonly isUndecided = localStorage.getItem(KEY) === null;
  readonly #voices = new Voices();
  readonly #playing = new Map<Voice, GainNode>();
  readonly #end = new AbortController();
  #context: AudioContext | undefined;
  #noise: AudioBuffer | undefined;
  #master: AudioNode | undefined;

  constructor() {
    this.#show();
    if (localStorage.getItem(KEY) !== "on") return;
    // Browsers let a page play sounds only after the user has done something in it.
    const start = () => this.#context ?? this.#start();
    const { signal } = this.#end;
    addEventListener("pointerdown", start, { signal, once: true });
    addEventListener("keydown", start, { signal, once: true });
  }

  /** An effect is heard from where it is. */
  play(now: number, form: EffectForm, { x, y, z }: Point, { target, right }: ViewCamera): void {
    const [dx, dy, dz] = [x - target.x, y - target.y, z - target.z];
    this.#begin(now, form, Math.hypot(dx, dy, dz), dx * right.x + dy * right.y);
  }

  /** What is heard and not seen: an angle on the map, and a loudness from 1 to 4. */
  hear(now: number, angle: number, loudness: number, { right }: ViewCamera): void {
    const distance = 10 * (1 + LOUDNESS_STEPS - loudness);
    const across = Math.cos(angle) * right.x + Math.sin(angle) * right.y;
    this.#begin(now, "blast", distance, across * distance);
  }

  /** What the player does, that it was refused, and what it has done: as near as can be. */
  answer(now: number, form: "press" | "refusal" | "felled"): void {
    this.#begin(now, form, 0, 0);
  }

  dispose(): void {
    this.#end.abort();
    void this.#context?.close();
  }

  toggle(): void {
    this.set(this.#context === undefined);
  }

  /** What the player wants, now and at the next visit. */
  set(isOn: boolean): void {
    localStorage.setItem(KEY, isOn ? "on" : "off");
    if (isOn === (this.#context !== undefined)) return;
    if (isOn) return this.#start();
    void this.#context?.close();
    this.#context = undefined;
    this.#playing.clear();
    this.#show();
  }

  #start(): void {
    const context = new AudioContext();
    this.#noise = noiseOf(context);
    this.#master = masterOf(context);
    this.#context = context;
    this.#show();
    this.onHeard();
  }

  #show(): void {
    const isOn = this.#context !== undefined;
    this.button.setAttribute("aria-pressed", String(isOn));
    this.button.querySelector("svg")?.replaceWith(icon(isOn ? "sound" : "silence"));
    this.button.title = isOn ? texts.sound_off : texts.sound_on;
  }

  #begin(now: number, form: VoiceForm, distanceM: number, right: number): void {
    const [context, noise, master] = [this.#context, this.#noise, this.#master];
    if (!context || !noise || !master || document.hidden) return;
    const begun = this.#voices.begin(now, form, distanceM, right);
    if (!begun) return;
    if (begun.ended) this.#cut(context, begun.ended);
    const { voice } = begun;
    const { volume, pan } = voice;
    const at = { start: context.currentTime, volume, pan };
    const { tone, gain } = sound(context, noise, master, TIMBRES[form], at);
    this.#playing.set(voice, gain);
    tone.addEventListener("ended", () => this.#playing.delete(voice));
  }

  #cut({ currentTime }: AudioContext, voice: Voice): void {
    const gain = this.#playing.get(voice)?.gain;
    gain?.cancelScheduledValues(currentTime);
    gain?.setTargetAtTime(0, currentTime, RELEASE_S / 3);
  }
}
