/** A low wall with stripes around a court: where the map ends. One draw call. */

import * as THREE from "three";
import { mergeGeometries } from "three/examples/jsm/utils/BufferGeometryUtils.js";
import type { Extent } from "../core/map_view.js";
import { coloured } from "./three_parts.js";

const THICK_M = 0.7;
const HIGH_M = 0.9;
/** Of a stripe. */
const LONG_M = 2.5;
const STRIPES = [0xf2f4f6, 0xff7a4d] as const;
/** The court is a slab in the sea. */
const SLAB_M = 0.5;

export class Parapet {
  readonly mesh = new THREE.Mesh<THREE.BufferGeometry, THREE.MeshStandardMaterial>(
    new THREE.BufferGeometry(),
    new THREE.MeshStandardMaterial({ roughness: 0.5, vertexColors: true }),
  );

  constructor() {
    this.mesh.castShadow = this.mesh.receiveShadow = true;
  }

  setExtent({ west, south, width, height }: Extent): void {
    this.mesh.geometry.dispose();
    const [across, along] = [side(width + 2 * THICK_M), side(height + 2 * THICK_M)];
    const half = THICK_M / 2;
    const [middleX, middleY] = [west + width / 2, south + height / 2];
    this.mesh.geometry = mergeGeometries([
      across.clone().translate(middleX, south - half, 0),
      across.translate(middleX, south + height + half, 0),
      along.clone().rotateZ(Math.PI / 2).translate(west - half, middleY, 0),
      along.rotateZ(Math.PI / 2).translate(west + width + half, middleY, 0),
    ]);
  }
}

/** Boxes of both colours in a row along x. */
function side(length: number): THREE.BufferGeometry {
  const count = Math.max(1, Math.round(length / LONG_M));
  const long = length / count;
  const stripes = Array.from({ length: count }, (_, stripe) => {
    const box = new THREE.BoxGeometry(long, THICK_M, HIGH_M + SLAB_M);
    const colour = new THREE.Color(STRIPES[stripe % 2]).toArray();
    const middle = (stripe + 0.5) * long - length / 2;
    return coloured(box, () => colour).translate(middle, 0, (HIGH_M - SLAB_M) / 2);
  });
  return mergeGeometries(stripes);
}
