/**
 * The objects in sight: one instanced mesh for each kind, filled from a frame's arrays.
 *
 * A frame makes no garbage; a mesh is made anew only when a kind has more objects than before.
 */

import * as THREE from "three";
import { type Frame, type Kind, type Schema, TRANSFORM_FLOATS } from "../ambit/ambit.js";
import { colourByAge } from "../core/age_colour.js";
import type { ViewCamera } from "../core/camera.js";
import { describeMesh, type MeshDescription } from "../core/look.js";
import { composeMatrix, MATRIX_FLOATS } from "../core/transforms.js";
import { geometryOf, hasParts } from "./shapes.js";

const FIRST_CAPACITY = 32;
/** The own avatar is the only one of this colour, whatever its kind. */
const OWN_COLOUR = 0xffc94d;
/** At this distance a point has the size that its look declares. */
const POINT_DISTANCE_M = 25;

class KindMesh {
  readonly description: MeshDescription;
  readonly geometry: THREE.BufferGeometry;
  readonly material: THREE.MeshStandardMaterial;
  readonly plain: THREE.Color;
  mesh: THREE.InstancedMesh;
  count = 0;

  constructor(kind: Kind) {
    this.description = describeMesh(kind);
    this.geometry = geometryOf(this.description.form);
    this.plain = new THREE.Color(this.description.colour);
    const { form, keepsScreenSize } = this.description;
    this.material = new THREE.MeshStandardMaterial({
      roughness: 0.55,
      metalness: form === "ship" ? 0.35 : 0,
      vertexColors: hasParts(form),
    });
    // What is small on any screen glows.
    if (keepsScreenSize) this.material.emissive.copy(this.plain).multiplyScalar(0.7);
    this.mesh = this.#make(FIRST_CAPACITY);
  }

  get capacity(): number {
    return this.mesh.instanceMatrix.count;
  }

  grow(): void {
    const before = this.mesh;
    this.mesh = this.#make(2 * this.capacity);
    (this.mesh.instanceMatrix.array as Float32Array).set(before.instanceMatrix.array);
    this.#colours().set(before.instanceColor?.array ?? []);
    before.parent?.add(this.mesh);
    before.removeFromParent();
    before.dispose();
  }

  setColour(at: number, { r, g, b }: { r: number; g: number; b: number }): void {
    const colours = this.#colours();
    colours[3 * at] = r;
    colours[3 * at + 1] = g;
    colours[3 * at + 2] = b;
  }

  finish(): void {
    this.mesh.count = this.count;
    this.mesh.visible = this.count > 0;
    this.mesh.instanceMatrix.needsUpdate = true;
    if (this.mesh.instanceColor) this.mesh.instanceColor.needsUpdate = true;
  }

  #colours(): Float32Array {
    return this.mesh.instanceColor?.array as Float32Array;
  }

  #make(capacity: number): THREE.InstancedMesh {
    const mesh = new THREE.InstancedMesh(this.geometry, this.material, capacity);
    mesh.instanceColor = new THREE.InstancedBufferAttribute(new Float32Array(3 * capacity), 3);
    mesh.instanceMatrix.setUsage(THREE.DynamicDrawUsage);
    // The extents of the instances are not known, so they cannot be culled.
    mesh.frustumCulled = false;
    mesh.castShadow = true;
    mesh.receiveShadow = true;
    return mesh;
  }
}

export class ObjectMeshes {
  readonly group = new THREE.Group();
  #kinds: KindMesh[] = [];
  readonly #colour = { r: 0, g: 0, b: 0 };
  readonly #ownColour = new THREE.Color(OWN_COLOUR);

  setSchema(schema: Schema): void {
    this.dispose();
    this.#kinds = schema.kinds.map((kind) => new KindMesh(kind));
    for (const kind of this.#kinds) this.group.add(kind.mesh);
  }

  /** How far above an object's position its top is. */
  topOf(kind: number): number {
    return this.#kinds[kind]?.description.top ?? 1;
  }

  update(frame: Frame, camera: ViewCamera, showsAges: boolean): void {
    for (const kind of this.#kinds) kind.count = 0;
    const { transforms, kinds, ages } = frame;
    for (let index = 0; index < frame.count; index += 1) {
      const kind = this.#kinds[kinds[index] as number];
      if (!kind) continue;
      if (kind.count >= kind.capacity) kind.grow();
      const { description } = kind;
      const from = index * TRANSFORM_FLOATS;
      composeMatrix(
        transforms,
        from,
        description.scale,
        description.keepsScreenSize ? this.#pointFactor(transforms, from, camera) : 1,
        description.lift,
        kind.mesh.instanceMatrix.array as Float32Array,
        kind.count * MATRIX_FLOATS,
      );
      if (showsAges) {
        // About what is at rest there may be nothing to tell for seconds.
        colourByAge(frame.moves(index) ? (ages[index] as number) : NaN, this.#colour);
        kind.setColour(kind.count, this.#colour);
      } else if (frame.isOwn(index)) {
        kind.setColour(kind.count, this.#ownColour);
      } else {
        kind.setColour(kind.count, kind.plain);
      }
      kind.count += 1;
    }
    for (const kind of this.#kinds) kind.finish();
  }

  dispose(): void {
    for (const { mesh, geometry, material } of this.#kinds) {
      mesh.removeFromParent();
      mesh.dispose();
      geometry.dispose();
      material.dispose();
    }
    this.#kinds = [];
  }

  #pointFactor(transforms: Float32Array, from: number, { eye }: ViewCamera): number {
    const dx = (transforms[from] as number) - eye.x;
    const dy = (transforms[from + 1] as number) - eye.y;
    const dz = (transforms[from + 2] as number) - eye.z;
    return Math.sqrt(dx * dx + dy * dy + dz * dz) / POINT_DISTANCE_M;
  }
}
