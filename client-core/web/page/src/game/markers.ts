/** Rings on the ground: pending commands that count down, refusals, events, the aim. */

import * as THREE from "three";
import type { PendingCommand } from "../core/pending_commands.js";
import { remainingShare } from "../core/pending_commands.js";
import { seededUnits } from "../core/seeded.js";

const MAX_RINGS = 48;
const COLOURS = {
  sent: 0xffc21a,
  confirmed: 0x4fd06a,
  refused: 0xe5432f,
  event: 0x9a6bff,
  aim: 0xffffff,
};
const EVENT_MS = 600;

/** Sparks of a burst, and how far they fly. */
const SPARKS = 10;
const SPARKS_M = 4;

interface Pulse {
  x: number;
  y: number;
  z: number;
  at: number;
}

interface Burst {
  x: number;
  y: number;
  at: number;
  /** Where each spark ends, from the middle. */
  ends: readonly (readonly [x: number, y: number])[];
}

export class Markers {
  readonly mesh: THREE.InstancedMesh;
  readonly #matrix = new THREE.Matrix4();
  readonly #colour = new THREE.Color();
  readonly #pulses: Pulse[] = [];
  readonly #bursts: Burst[] = [];
  #count = 0;

  constructor() {
    const material = new THREE.MeshBasicMaterial({ transparent: true, opacity: 0.9 });
    material.depthTest = false;
    this.mesh = new THREE.InstancedMesh(new THREE.RingGeometry(0.82, 1, 40), material, MAX_RINGS);
    this.mesh.frustumCulled = false;
    this.mesh.renderOrder = 5;
  }

  /** Shows where something has happened. */
  pulse(now: number, x: number, y: number, z: number): void {
    if (this.#pulses.length >= MAX_RINGS / 2) this.#pulses.shift();
    this.#pulses.push({ x, y, z, at: now });
  }

  /** Shows a burst; from the same seed it is the same on all screens. */
  burst(now: number, x: number, y: number, seed: number): void {
    const unit = seededUnits(seed);
    const end = (): readonly [number, number] => {
      const [angle, metres] = [unit() * 2 * Math.PI, (0.3 + 0.7 * unit()) * SPARKS_M];
      return [metres * Math.cos(angle), metres * Math.sin(angle)];
    };
    if (this.#bursts.length >= 2) this.#bursts.shift();
    this.#bursts.push({ x, y, at: now, ends: Array.from({ length: SPARKS }, end) });
  }

  /** `aim` is shown if `isAiming`. `size` is the radius in metres that is well visible. */
  update(
    now: number,
    pending: readonly PendingCommand[],
    aim: { x: number; y: number; z: number },
    isAiming: boolean,
    size: number,
  ): void {
    this.#count = 0;
    for (const command of pending) {
      if (Number.isNaN(command.x)) continue;
      const radius = (0.25 + 0.75 * remainingShare(command, now)) * size;
      this.#add(command, radius, COLOURS[command.state]);
    }
    while (this.#pulses[0] && now > this.#pulses[0].at + EVENT_MS) this.#pulses.shift();
    for (const pulse of this.#pulses) {
      this.#add(pulse, (0.3 + (1.2 * (now - pulse.at)) / EVENT_MS) * size, COLOURS.event);
    }
    while (this.#bursts[0] && now > this.#bursts[0].at + EVENT_MS) this.#bursts.shift();
    for (const { x, y, at, ends } of this.#bursts) {
      const share = Math.sqrt((now - at) / EVENT_MS);
      for (const [dx, dy] of ends) {
        const spark = { x: x + dx * share, y: y + dy * share, z: 0 };
        this.#add(spark, 0.35 * (1 - share) + 0.05, COLOURS.event);
      }
    }
    if (isAiming) this.#add(aim, 0.6 * size, COLOURS.aim);
    this.mesh.count = this.#count;
    this.mesh.visible = this.#count > 0;
    this.mesh.instanceMatrix.needsUpdate = true;
    if (this.mesh.instanceColor) this.mesh.instanceColor.needsUpdate = true;
  }

  dispose(): void {
    this.mesh.geometry.dispose();
    (this.mesh.material as THREE.Material).dispose();
    this.mesh.dispose();
  }

  #add(at: { x: number; y: number; z: number }, radius: number, colour: number): void {
    if (this.#count >= MAX_RINGS) return;
    this.#matrix.makeScale(radius, radius, 1).setPosition(at.x, at.y, at.z + 0.05);
    this.mesh.setMatrixAt(this.#count, this.#matrix);
    this.mesh.setColorAt(this.#count, this.#colour.set(colour));
    this.#count += 1;
  }
}
