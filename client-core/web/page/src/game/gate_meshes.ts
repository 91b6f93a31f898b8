/** Gates to other maps: curtains of light, one draw call for all. */

import * as THREE from "three";
import type { GateArea } from "../ambit/ambit.js";
import { instances } from "./three_parts.js";

const HEIGHT_M = 3;
const COLOUR = 0x63c7ff;

export class GateMeshes {
  readonly group = new THREE.Group();
  readonly #geometry = new THREE.BoxGeometry(1, 1, 1);
  readonly #material = new THREE.MeshBasicMaterial({
    color: COLOUR,
    transparent: true,
    opacity: 0.4,
    depthWrite: false,
  });
  #mesh: THREE.InstancedMesh | undefined;

  show(gates: readonly GateArea[]): void {
    this.group.clear();
    this.#mesh?.dispose();
    this.#mesh = undefined;
    if (gates.length === 0) return;
    this.#mesh = instances(this.#geometry, this.#material, gates.length, false);
    const [matrix, place] = [new THREE.Matrix4(), new THREE.Vector3()];
    for (const [index, { low, high }] of gates.entries()) {
      place.set((low[0] + high[0]) / 2, (low[1] + high[1]) / 2, HEIGHT_M / 2);
      matrix.makeScale(high[0] - low[0], high[1] - low[1], HEIGHT_M).setPosition(place);
      this.#mesh.setMatrixAt(index, matrix);
    }
    this.group.add(this.#mesh);
  }
}

/** The middle of a gate's upper edge. */
export function topOf({ low, high }: GateArea): { x: number; y: number; z: number } {
  return { x: (low[0] + high[0]) / 2, y: (low[1] + high[1]) / 2, z: HEIGHT_M };
}
