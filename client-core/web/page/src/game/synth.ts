/** A sound from oscillators and noise: built from a timbre, in any audio context. */

import type { Timbre } from "../core/voices.js";

const NOISE_S = 1;
const ATTACK_S = 0.008;
/** What many voices together are turned down to: browsers cut off what is above 1. */
const MASTER = { gain: 2.2, thresholdDb: -12, ratio: 14, attackS: 0.002, releaseS: 0.12 } as const;

const CURVE_STEPS = 1_025;

/** What all voices go through, so that many at once are not distorted. */
export function masterOf(context: BaseAudioContext): AudioNode {
  const limiter = new DynamicsCompressorNode(context, {
    threshold: MASTER.thresholdDb,
    knee: 6,
    ratio: MASTER.ratio,
    attack: MASTER.attackS,
    release: MASTER.releaseS,
  });
  const gain = new GainNode(context, { gain: MASTER.gain });
  // The first milliseconds are faster than the limiter: they are bent, not cut off.
  const bend = new WaveShaperNode(context, { curve: softCurve(), oversample: "2x" });
  gain.connect(limiter).connect(bend).connect(context.destination);
  return gain;
}

/** Straight where it is quiet, and never beyond 1. */
function softCurve(): Float32Array<ArrayBuffer> {
  const curve = new Float32Array(CURVE_STEPS);
  for (let step = 0; step < CURVE_STEPS; step += 1) {
    curve[step] = 0.95 * Math.tanh((2 * step) / (CURVE_STEPS - 1) - 1);
  }
  return curve;
}

export function noiseOf(context: BaseAudioContext): AudioBuffer {
  const noise = context.createBuffer(1, NOISE_S * context.sampleRate, context.sampleRate);
  const samples = noise.getChannelData(0);
  for (let at = 0; at < samples.length; at += 1) samples[at] = 2 * Math.random() - 1;
  return noise;
}

/** Sounds from `start` on; its tone, which ends with it, and its loudness. */
export function sound(
  context: BaseAudioContext,
  noise: AudioBuffer,
  into: AudioNode,
  timbre: Timbre,
  { start, volume, pan }: { start: number; volume: number; pan: number },
): { tone: OscillatorNode; gain: GainNode } {
  const end = start + timbre.ms / 1_000;
  const gain = context.createGain();
  gain.gain.setValueAtTime(0, start);
  gain.gain.linearRampToValueAtTime(volume, start + ATTACK_S);
  gain.gain.exponentialRampToValueAtTime(0.001, end);
  gain.connect(new StereoPannerNode(context, { pan })).connect(into);
  const tone = new OscillatorNode(context, { type: timbre.wave, frequency: timbre.fromHz });
  tone.frequency.setValueAtTime(timbre.fromHz, start);
  tone.frequency.exponentialRampToValueAtTime(timbre.toHz, end);
  tone.connect(new GainNode(context, { gain: 1 - timbre.noise })).connect(gain);
  const hiss = new AudioBufferSourceNode(context, { buffer: noise, loop: true });
  const filter = new BiquadFilterNode(context, { type: "lowpass", frequency: 8 * timbre.fromHz });
  filter.frequency.setValueAtTime(8 * timbre.fromHz, start);
  filter.frequency.exponentialRampToValueAtTime(4 * timbre.toHz, end);
  hiss.connect(filter).connect(new GainNode(context, { gain: timbre.noise })).connect(gain);
  for (const source of [tone, hiss]) {
    source.start(start);
    source.stop(end);
  }
  return { tone, gain };
}
