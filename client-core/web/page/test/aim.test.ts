/** Where a command acts that a key gives. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { ViewCamera } from "../src/core/camera.js";
import { Aim } from "../src/game/aim.js";

function scene(yaw: number) {
  const camera = new ViewCamera("around");
  camera.yaw = yaw;
  camera.follow(50, 50, 0, 1_000);
  camera.update();
  const pointer = { x: 0, y: 0, isKnown: false };
  const aim = new Aim(camera, pointer);
  aim.setExtent({ west: 0, south: 0, width: 100, height: 100 });
  return { aim, pointer };
}

test("before the pointer has moved, a key acts ahead of the avatar, never at it", () => {
  const { aim, pointer } = scene(0);
  const { x, y } = aim.resolve();
  assert.ok(Math.abs(x - 50) < 0.01 && Math.abs(y - 56) < 0.01, `${x} ${y}`);
  pointer.isKnown = true;
  const under = { x: 0, y: 0, z: 0 };
  assert.equal(aim.underPointer(under), true);
  assert.deepEqual(aim.resolve(), under);
});

test("a button's aim begins ahead as the screen shows it, the arrow keys' at the avatar", () => {
  const west = scene(Math.PI / 2).aim;
  west.show();
  assert.ok(Math.abs(west.place.x - 44) < 0.01 && Math.abs(west.place.y - 50) < 0.01);
  const { aim } = scene(0);
  aim.move(new Set(["arrowright"]), 0.1);
  assert.ok(aim.place.x > 51 && Math.abs(aim.place.y - 50) < 0.01);
});
