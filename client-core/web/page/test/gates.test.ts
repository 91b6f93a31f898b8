import assert from "node:assert/strict";
import { test } from "node:test";
import type * as THREE from "three";
import { GateMeshes } from "../src/game/gate_meshes.js";

test("a gate is drawn over its area, and gone on a map without gates", () => {
  const gates = new GateMeshes();
  gates.show([
    { low: [0, 10], high: [2, 14], map: 1 },
    { low: [58, 28], high: [60, 32], map: 2 },
  ]);
  const [mesh, ...others] = gates.group.children as THREE.InstancedMesh[];
  assert.ok(mesh && others.length === 0, "one draw call for all");
  assert.equal(mesh.count, 2);
  const [scaleX, scaleY] = [mesh.instanceMatrix.array[0], mesh.instanceMatrix.array[5]];
  const [x, y] = mesh.instanceMatrix.array.slice(12, 14);
  assert.deepEqual([scaleX, scaleY, x, y], [2, 4, 1, 12]);
  gates.show([]);
  assert.equal(gates.group.children.length, 0);
});
