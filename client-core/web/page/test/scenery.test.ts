import assert from "node:assert/strict";
import { test } from "node:test";
import type { Scenery, StaticObstacle } from "../src/ambit/ambit.js";
import { ViewCamera } from "../src/core/camera.js";
import { corners, lineColour, obstacleColour } from "../src/core/scenery.js";

const SCENERY: Scenery = {
  camera: "above",
  ground: "#101820",
  grid: true,
  party: false,
  obstacles: [{ glyph: "O", colour: "#907860" }],
};

test("the camera is the declared one", () => {
  assert.equal(new ViewCamera(SCENERY.camera).mode, "above");
  const around = new ViewCamera("around");
  assert.ok(around.pitch < new ViewCamera("above").pitch);
});

test("an obstacle has the colour of its look, others that of the page", () => {
  assert.equal(obstacleColour(SCENERY, box({ look: 0 })), 0x907860);
  assert.equal(obstacleColour(SCENERY, box({ look: null })), undefined);
  assert.equal(obstacleColour(SCENERY, box({ look: 7 })), undefined);
});

test("lines are lighter than a dark ground and darker than a light one", () => {
  assert.equal(lineColour(0x000000), 0x474747);
  assert.equal(lineColour(0xffffff), 0xb8b8b8);
});

test("the corners of a box turn with it, and it never vanishes", () => {
  const round = (places: [number, number][]) => places.map((place) => place.map(Math.round));
  assert.deepEqual(round(corners(box({}), 0)), [[14, 21], [6, 21], [6, 19], [14, 19]]);
  const north = corners(box({ yaw: Math.PI / 2 }), 0);
  assert.deepEqual(round(north), [[9, 24], [9, 16], [11, 16], [11, 24]]);
  assert.deepEqual(round(corners(box({ half: [4, 0, 1] }), 2))[0], [14, 21]);
});

function box(other: Partial<StaticObstacle>): StaticObstacle {
  return { shape: "box", centre: [10, 20, 1], half: [4, 1, 1], yaw: 0, look: null, ...other };
}
