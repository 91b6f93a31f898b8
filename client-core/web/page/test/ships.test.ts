/** Ships: what is seen of the own one behind an obstacle, and of one that was hit. */

import assert from "node:assert/strict";
import { test } from "node:test";
import * as THREE from "three";

import { type Schema, OBJECT_NUMBERS } from "../src/ambit/ambit.js";
import { Wrecks, wreckFlagsOf } from "../src/core/wrecks.js";
import { PLANET_LOOK } from "../src/game/deep_space.js";
import { ObjectMeshes, type ShownObjects } from "../src/game/object_meshes.js";

const WRECKED = { name: "wrecked", type: "flag", effect: { form: "death" } };
const SHIP = {
  name: "ship",
  look: { shape: "arrow", size: 3, colour: "#60c0ff", material: "metal", label: null, bar: null,
    figure: null, by: null },
  variants: [],
  components: [{ name: "pose", type: "pose", effect: null }, WRECKED],
};
const SCHEMA = { kinds: [SHIP], commands: [] } as unknown as Schema;

/** Two ships on a line, the first one of which is the own one. */
function frameAt(x: number, isWreck: boolean) {
  const transforms = new Float32Array(2 * OBJECT_NUMBERS);
  transforms.set([x, 5, 0, 0, 0, 0, 1]);
  transforms.set([40, 5, 0, 0, 0, 0, 1], OBJECT_NUMBERS);
  return {
    age: () => 0,
    bar: () => undefined,
    component: (index: number, at: number) => at === 1 && index === 0 && isWreck,
    count: 2,
    id: (index: number) => 7 + index,
    isOwn: (index: number) => index === 0,
    kindIndex: () => 0,
    label: () => undefined,
    moves: () => true,
    time: 0,
    transforms,
  } satisfies ShownObjects & { bar: () => undefined };
}

/** The instances of ships, and the outline of the own one. */
function drawn(frame: ShownObjects, objects = new ObjectMeshes(SCHEMA)) {
  objects.update(frame, { eye: { x: 0, y: 0, z: 50 } }, false);
  const meshes = objects.group.children as THREE.Mesh<THREE.BufferGeometry, THREE.Material>[];
  const ships = meshes.find((mesh) => mesh instanceof THREE.InstancedMesh);
  assert.ok(ships);
  const outline = meshes.find(({ material }) => material.depthFunc === THREE.GreaterDepth);
  const xOf = (at: number) => ships.instanceMatrix.array[16 * at + 12];
  return { ships, outline, objects, xs: [xOf(0), xOf(1)] };
}

test("where something stands before the own ship, its outline is seen", () => {
  const { ships, outline } = drawn(frameAt(20, false));
  assert.ok(outline?.visible && !outline.material.depthWrite);
  assert.equal(outline.matrix.elements[12], 20);
  // After the obstacles, which are drawn first, and before the ships, which would hide it.
  assert.ok(outline.renderOrder > 0 && outline.renderOrder < ships.renderOrder);
  assert.ok(!outline.material.transparent);
});

test("a wreck stays where the ship was hit, until the ship is back elsewhere", () => {
  const { objects } = drawn(frameAt(20, false));
  const xsAt = (x: number, isWreck: boolean) => drawn(frameAt(x, isWreck), objects).xs;
  assert.deepEqual(xsAt(21, true), [21, 40]);
  assert.deepEqual(xsAt(26, true), [21, 40]);
  assert.equal(drawn(frameAt(27, true), objects).outline?.visible, false);
  assert.deepEqual(xsAt(140, false), [140, 40]);
  // The next time it is somewhere else.
  assert.deepEqual(xsAt(150, true), [150, 40]);
});

test("a flag whose effect is a death says that an object is a wreck, and lives no more", () => {
  const wrecks = new Wrecks(SCHEMA.kinds);
  assert.deepEqual(wreckFlagsOf(SCHEMA.kinds[0] as Schema["kinds"][0]), [1]);
  const lifeOf = (isWreck: boolean) => wrecks.lifeOf(frameAt(1, isWreck), 0);
  assert.deepEqual([lifeOf(false), lifeOf(true)], [1, 0]);
  const others = new Wrecks([{ components: [] }]);
  assert.equal(others.lifeOf(frameAt(1, false), 0), undefined);
});

test("the planet below is dimmer than rocks and has no edge", () => {
  assert.ok(PLANET_LOOK.day <= 0.4 && PLANET_LOOK.rim <= 0.2);
  assert.ok(PLANET_LOOK.opacity < 1 && PLANET_LOOK.edge >= 0.5);
});
