/** Rings on the ground: pending commands that count down, refusals, the aim, how far it reaches. */

import * as THREE from "three";
import type { Point } from "../core/camera.js";
import { type PendingCommand, remainingShare } from "../core/pending_commands.js";
import { instances, noteChange } from "./three_parts.js";

const MAX_RINGS = 48;
const COLOURS = { sent: 0xffc21a, confirmed: 0x4fd06a, refused: 0xe5432f, aim: 0xffffff };

export class Markers {
  readonly mesh: THREE.InstancedMesh;
  readonly reach: THREE.Mesh;
  readonly #matrix = new THREE.Matrix4();
  readonly #colour = new THREE.Color();
  #count = 0;

  constructor() {
    const material = new THREE.MeshBasicMaterial({ transparent: true, opacity: 0.9 });
    material.depthTest = false;
    this.mesh = instances(new THREE.RingGeometry(0.82, 1, 40), material, MAX_RINGS, false);
    this.mesh.renderOrder = 5;
    const faint = material.clone();
    faint.opacity = 0.55;
    this.reach = new THREE.Mesh(new THREE.RingGeometry(0.988, 1, 96), faint);
    this.reach.renderOrder = 5;
    this.reach.visible = false;
  }

  /** A circle round the avatar as long as a command with this reach is aimed. */
  showReach(avatar: Point, reachM: number): void {
    this.reach.visible = Number.isFinite(reachM);
    if (!this.reach.visible) return;
    this.reach.position.set(avatar.x, avatar.y, avatar.z + 0.05);
    this.reach.scale.setScalar(reachM);
  }

  /** `aim` is shown, if there is one. `size` is the radius in metres that is well visible. */
  update(
    now: number,
    pending: readonly PendingCommand[],
    aim: Point | undefined,
    size: number,
  ): void {
    this.#count = 0;
    for (const command of pending) {
      if (Number.isNaN(command.x)) continue;
      const radius = (0.25 + 0.75 * remainingShare(command, now)) * size;
      this.#add(command, radius, COLOURS[command.state]);
    }
    if (aim) this.#add(aim, 0.6 * size, COLOURS.aim);
    this.mesh.count = this.#count;
    this.mesh.visible = this.#count > 0;
    noteChange(this.mesh);
  }

  #add(at: Point, radius: number, colour: number): void {
    if (this.#count >= MAX_RINGS) return;
    this.#matrix.makeScale(radius, radius, 1).setPosition(at.x, at.y, at.z + 0.05);
    this.mesh.setMatrixAt(this.#count, this.#matrix);
    this.mesh.setColorAt(this.#count, this.#colour.set(colour));
    this.#count += 1;
  }
}
