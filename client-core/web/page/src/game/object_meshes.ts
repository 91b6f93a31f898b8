/**
 * The objects in sight: one instanced mesh for each kind, filled from a frame's arrays.
 *
 * A frame makes no garbage; a mesh is made again only when a kind has more objects than before.
 */

import * as THREE from "three";
import { type Frame, type Kind, type Schema, OBJECT_NUMBERS, type Variant } from "../ambit/ambit.js";
import { type Colour, colourByAge } from "../core/age_colour.js";
import type { ViewCamera } from "../core/camera.js";
import { describeMesh, hidingFlagsOf, type MeshDescription } from "../core/look.js";
import { Wrecks } from "../core/wrecks.js";
import { composeMatrix, layDown, layOnSide, MATRIX_FLOATS } from "../core/transforms.js";
import { type Figure, hashOf, thingOf, variantOf } from "../core/roles.js";
import { boxSides } from "./box_sides.js";
import { geometryOf, keepOwnColours, STATES } from "./shapes.js";
import { instances, noteChange } from "./three_parts.js";

const FIRST_CAPACITY = 32;
/** The own avatar is the only one of this colour, whatever its kind; so is the ring around it. */
const OWN_COLOUR = 0xffc94d;
export const OWN_RING = { red: 1, green: 0.79, blue: 0.3 };
/** Of the own ship, where something is before it. */
const OWN_SILHOUETTE = 0xd9a437;
/** Obstacles are drawn first, then what they hide of the own ship, then all objects. */
const ORDER = { silhouette: 1, objects: 2 } as const;
/** At this distance a point has the size that its look declares. */
const POINT_DISTANCE_M = 25;

/** Steps a second, and how high they are. */
const WALK = { figure: { steps: 3.4, lift: 0.07 }, creature: { steps: 4.6, lift: 0.11 } } as const;
/** There is nothing around that metal could mirror, so it keeps some of its own colour. */
const SURFACES = {
  matte: { roughness: 0.6, metalness: 0 },
  metal: { roughness: 0.34, metalness: 0.2 },
  glow: { roughness: 1, metalness: 0 },
} as const;

/** What is asked about objects: a frame knows it, and so does a scene of the lobby. */
export type ShownObjects = Pick<
  Frame,
  "age" | "component" | "count" | "id" | "isOwn" | "kindIndex" | "label" | "moves" | "time" |
    "transforms"
>;

class KindMesh {
  readonly description: MeshDescription;
  readonly geometry: THREE.BufferGeometry;
  readonly material: THREE.MeshStandardMaterial;
  readonly plain: THREE.Color;
  readonly foot: { radius: number; foot: number };
  mesh: THREE.InstancedMesh;
  count = 0;
  /** For each instance one of {@link STATES}. */
  #states = new THREE.InstancedBufferAttribute(new Float32Array(0), 1);

  constructor(kind: Kind) {
    this.description = describeMesh(kind);
    const { form, material, scale, lift } = this.description;
    const { figure } = kind.look;
    this.geometry = geometryOf(form, figure);
    this.foot = { radius: 0.8 * Math.max(scale[0], scale[1]), foot: scale[2] / 2 - lift };
    this.plain = new THREE.Color(this.description.colour);
    // Of parts, some of which have colours of their own.
    const isComposed = this.geometry.hasAttribute("tinted");
    this.material = new THREE.MeshStandardMaterial({
      ...SURFACES[material],
      vertexColors: isComposed,
      map: (form === "cube" ? boxSides(thingOf(figure)) : undefined) ?? null,
    });
    if (isComposed) keepOwnColours(this.material);
    if (material === "glow") this.material.emissive.copy(this.plain);
    this.mesh = this.#make(FIRST_CAPACITY);
  }

  get capacity(): number {
    return this.mesh.instanceMatrix.count;
  }

  grow(): void {
    const before = this.mesh;
    const states = this.#states.array;
    this.mesh = this.#make(2 * this.capacity);
    this.#states.array.set(states);
    this.mesh.instanceMatrix.array.set(before.instanceMatrix.array);
    this.#colours.array.set(before.instanceColor?.array ?? []);
    before.parent?.add(this.mesh);
    before.removeFromParent();
    before.dispose();
  }

  setColour(at: number, { r, g, b }: Colour): void {
    this.#colours.setXYZ(at, r, g, b);
  }

  setState(at: number, state: number): void {
    if (this.#states.getX(at) === state) return;
    this.#states.setX(at, state);
    this.#states.needsUpdate = true;
  }

  finish(): void {
    this.mesh.count = this.count;
    this.mesh.visible = this.count > 0;
    noteChange(this.mesh);
  }

  get #colours(): THREE.InstancedBufferAttribute {
    return this.mesh.instanceColor as THREE.InstancedBufferAttribute;
  }

  #make(capacity: number): THREE.InstancedMesh {
    const mesh = instances(this.geometry, this.material, capacity, true);
    mesh.instanceColor = new THREE.InstancedBufferAttribute(new Float32Array(3 * capacity), 3);
    mesh.instanceMatrix.setUsage(THREE.DynamicDrawUsage);
    this.#states = new THREE.InstancedBufferAttribute(new Float32Array(capacity), 1);
    this.geometry.setAttribute("state", this.#states);
    // The extents of the instances are not known, so they cannot be culled.
    mesh.renderOrder = ORDER.objects;
    return mesh;
  }
}

/** No two objects side by side look cast from one mould: each is a little lighter or darker. */
function shade(plain: THREE.Color, id: number, into: Colour): void {
  const share = 0.7 + 0.6 * ((id * 0.618034) % 1);
  into.r = plain.r * share;
  into.g = plain.g * share;
  into.b = plain.b * share;
}

/** The colour of an object with a name: its own, mixed with that of its kind. */
function tint(plain: THREE.Color, id: number, into: Colour): void {
  const turn = 2 * Math.PI * ((id * 0.618034) % 1);
  const channel = (of: number, shift: number) =>
    0.45 * of + 0.32 * (1 + Math.cos(turn + shift)) * 0.5;
  into.r = channel(plain.r, 0);
  into.g = channel(plain.g, 2.1);
  into.b = channel(plain.b, 4.2);
}

/** How far up a step lifts a walker, in its heights: faster for small ones. */
function stepOf(frame: ShownObjects, index: number, form: MeshDescription["form"]): number {
  const walker = form === "figure" ? WALK.figure : form === "creature" ? WALK.creature : undefined;
  if (!walker || !frame.moves(index)) return 0;
  const turns = (frame.time / 1_000) * walker.steps + frame.id(index) * 0.37;
  return walker.lift * Math.abs(Math.sin(Math.PI * turns));
}

/** The meshes of a kind: one, or one for each role or sort that has been in sight. */
class KindMeshes {
  readonly plain: KindMesh;
  readonly all: KindMesh[];
  /** The component that is the bar. */
  readonly bar: number | null;
  readonly #hiding: readonly number[];
  readonly #byFigure = new Map<Figure, KindMesh>();

  constructor(private readonly kind: Kind, private readonly group: THREE.Group) {
    this.bar = kind.look.bar;
    this.#hiding = hidingFlagsOf(kind);
    this.plain = new KindMesh(kind);
    this.all = [this.plain];
    group.add(this.plain.mesh);
  }

  /** Whether others do not see it, as far as is known here. */
  isHidden(frame: ShownObjects, index: number): boolean {
    return this.#hiding.some((component) => frame.component(index, component) === true);
  }

  variantOf(frame: ShownObjects, index: number): Variant | undefined {
    const { by } = this.kind.look;
    return by === null ? undefined : variantOf(this.kind, frame.component(index, by));
  }

  /** Whether it is one of the variants, where its kind has some. */
  hasRole(frame: ShownObjects, index: number): boolean {
    return this.kind.variants.length === 0 || this.variantOf(frame, index) !== undefined;
  }

  sizeOf(value: string): number {
    return variantOf(this.kind, value)?.size ?? 1;
  }

  /** Makes one only for a figure that was not seen before. */
  of(frame: ShownObjects, index: number): KindMesh {
    const figure = this.variantOf(frame, index)?.figure ?? null;
    if (figure === null || figure === this.kind.look.figure) return this.plain;
    return this.#byFigure.get(figure) ?? this.#learn(figure);
  }

  #learn(figure: Figure): KindMesh {
    const kind = { ...this.kind, look: { ...this.kind.look, figure } };
    const mesh = new KindMesh(kind);
    this.#byFigure.set(figure, mesh);
    this.all.push(mesh);
    this.group.add(mesh.mesh);
    return mesh;
  }
}

export class ObjectMeshes {
  readonly group = new THREE.Group();
  readonly #kinds: readonly KindMeshes[];
  readonly #colour = { r: 0, g: 0, b: 0 };
  readonly #ownColour = new THREE.Color(OWN_COLOUR);
  /** What stands before the own ship does not hide it. */
  readonly #silhouette = new Silhouette();
  /** Where they are as of the last {@link update}. */
  readonly wrecks: Wrecks;

  constructor({ kinds }: Schema) {
    this.#kinds = kinds.map((kind) => new KindMeshes(kind, this.group));
    this.wrecks = new Wrecks(kinds);
    this.group.add(this.#silhouette.mesh);
  }

  /** How far above an object's position its top is. */
  topOf(kind: number, label?: string): number {
    const meshes = this.#kinds[kind];
    const { top = 1 } = meshes?.plain.description ?? {};
    return label === undefined ? top : top * (meshes?.sizeOf(label) ?? 1);
  }

  /** The radius of an object on the ground, and how far below its position that is. */
  footOf(kind: number): { radius: number; foot: number } {
    return this.#kinds[kind]?.plain.foot ?? { radius: 1, foot: 0 };
  }

  /** Draws all but one. Own figures are raised by a share of their heights. */
  update(
    frame: ShownObjects,
    camera: Pick<ViewCamera, "eye">,
    showsAges: boolean,
    leftOut = -1,
    ownRise = 0,
  ): void {
    for (const { all } of this.#kinds) for (const mesh of all) mesh.count = 0;
    const { transforms } = frame;
    this.wrecks.update(frame, OBJECT_NUMBERS);
    this.#silhouette.mesh.visible = false;
    for (let index = 0; index < frame.count; index += 1) {
      const meshes = this.#kinds[frame.kindIndex(index)];
      const kind = meshes?.of(frame, index);
      if (!kind || index === leftOut) continue;
      if (kind.count >= kind.capacity) kind.grow();
      const { description } = kind;
      const from = index * OBJECT_NUMBERS;
      const rise = frame.isOwn(index) ? ownRise : 0;
      const step = rise + (description.walks ? stepOf(frame, index, description.form) : 0);
      const growth = meshes?.variantOf(frame, index)?.size ?? 1;
      const wreck = this.wrecks.transformOf(frame.id(index));
      composeMatrix(
        wreck ?? transforms,
        wreck ? 0 : from,
        description.scale,
        description.keepsScreenSize ? this.#pointFactor(transforms, from, camera) : growth,
        growth * description.lift + step * description.scale[2],
        kind.mesh.instanceMatrix.array as Float32Array,
        kind.count * MATRIX_FLOATS,
      );
      const hasFallen = description.walks && this.#hasFallen(frame, index);
      if (hasFallen) this.#layDown(kind, growth);
      const isDown = hasFallen || wreck !== undefined;
      if (description.form === "ship" && frame.isOwn(index) && !isDown) this.#silhouette.show(kind);
      if (showsAges) {
        // About what is at rest there may be nothing to tell for seconds.
        colourByAge(frame.moves(index) ? frame.age(index) : NaN, this.#colour);
        kind.setColour(kind.count, this.#colour);
      } else if (frame.isOwn(index)) {
        kind.setColour(kind.count, this.#ownColour);
      } else {
        const label = frame.label(index);
        if (label === undefined) shade(kind.plain, frame.id(index), this.#colour);
        else tint(kind.plain, hashOf(label), this.#colour);
        kind.setColour(kind.count, this.#colour);
      }
      const isVeiled = !isDown && meshes?.isHidden(frame, index);
      kind.setState(kind.count, isDown ? STATES.fallen : STATES[isVeiled ? "veiled" : "plain"]);
      kind.count += 1;
    }
    for (const { all } of this.#kinds) for (const mesh of all) mesh.finish();
  }

  #layDown({ description: { form, lift, scale }, mesh, count }: KindMesh, growth: number): void {
    const [matrices, to] = [mesh.instanceMatrix.array as Float32Array, count * MATRIX_FLOATS];
    if (form === "figure") layDown(matrices, to, scale, lift);
    if (form === "creature") layOnSide(matrices, to, scale, growth, growth * lift);
  }

  /** Its bar is empty, and it has a role: an object without a role has not begun to play. */
  #hasFallen(frame: ShownObjects, index: number): boolean {
    const kind = this.#kinds[frame.kindIndex(index)];
    const bar = kind?.bar ?? -1;
    if (!kind || bar < 0 || !kind.hasRole(frame, index)) return false;
    const value = frame.component(index, bar);
    return typeof value === "number" && value <= 0;
  }

  #pointFactor(transforms: Float32Array, from: number, { eye }: Pick<ViewCamera, "eye">): number {
    const dx = (transforms[from] as number) - eye.x;
    const dy = (transforms[from + 1] as number) - eye.y;
    const dz = (transforms[from + 2] as number) - eye.z;
    return Math.sqrt(dx * dx + dy * dy + dz * dz) / POINT_DISTANCE_M;
  }
}

/** The outline of one object in a plain colour, where something is before it. */
class Silhouette {
  readonly mesh = new THREE.Mesh<THREE.BufferGeometry, THREE.MeshBasicMaterial>(
    undefined,
    new THREE.MeshBasicMaterial({
      color: OWN_SILHOUETTE,
      depthFunc: THREE.GreaterDepth,
      depthWrite: false,
      fog: false,
      toneMapped: false,
    }),
  );

  constructor() {
    this.mesh.renderOrder = ORDER.silhouette;
    this.mesh.frustumCulled = false;
    this.mesh.matrixAutoUpdate = false;
    this.mesh.visible = false;
  }

  /** That of the instance which a kind's mesh gets next. */
  show({ geometry, mesh, count }: KindMesh): void {
    this.mesh.geometry = geometry;
    this.mesh.matrix.fromArray(mesh.instanceMatrix.array, count * MATRIX_FLOATS);
    this.mesh.matrixWorldNeedsUpdate = true;
    this.mesh.visible = true;
  }
}
