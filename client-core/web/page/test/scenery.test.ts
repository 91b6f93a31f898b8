import assert from "node:assert/strict";
import { test } from "node:test";
import type { Scenery, StaticObstacle } from "../src/ambit/ambit.js";
import { ViewCamera } from "../src/core/camera.js";
import { cloudsOf } from "../src/core/clouds.js";
import {
  corners,
  lineColour,
  mixed,
  obstacleColour,
} from "../src/core/scenery.js";
import { plantPlaces } from "../src/core/plants.js";
import { torchPlaces } from "../src/core/torch_places.js";

const SCENERY: Scenery = {
  camera: "above",
  place: "open",
  ground: "#101820",
  no_grid: true,
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

test("a colour is mixed of two", () => {
  assert.equal(mixed(0x000000, 0xff8000, 0.5), 0x804000);
});

test("torches are on both sides of walls, and not on what is low, short or round", () => {
  const wall: StaticObstacle = {
    shape: "box",
    centre: [10, 20, 1.5],
    half: [0.5, 12, 1.5],
    yaw: 0,
    look: null,
  };
  const places = torchPlaces([
    wall,
    { ...wall, half: [0.5, 12, 0.4] },
    { ...wall, half: [0.5, 1, 1.5] },
    { ...wall, shape: "cylinder" },
  ]);
  assert.equal(places.length, 4);
  for (const { x, y, z } of places) {
    assert.ok(Math.abs(Math.abs(x - 10) - 0.55) < 1e-6 && Math.abs(y - 20) <= 12 && z > 1 && z < 3);
  }
});

test("clouds are dark enough to play over, the same for all, and without a seam", () => {
  const pixels = 64;
  const clouds = cloudsOf(pixels, 5);
  assert.deepEqual(clouds, cloudsOf(pixels, 5));
  const sum = clouds.reduce((before, part, at) => before + (at % 4 < 3 ? part : 0), 0);
  const light = sum / (3 * pixels ** 2);
  assert.ok(light > 10 && light < 80, `${light}`);
  const step = (one: number, other: number) =>
    Math.abs((clouds[4 * one] as number) - (clouds[4 * other] as number));
  for (let row = 0; row < pixels; row += 1) {
    assert.ok(step(row * pixels, row * pixels + pixels - 1) < 24);
  }
});

test("plants are at walls, on what is as long as wide, and around the map", () => {
  const extent = { west: 0, south: 0, width: 40, height: 40 };
  const wall = box({ centre: [20, 20, 1], half: [6, 0.5, 1] });
  const tower = box({ centre: [8, 8, 1], half: [2, 2, 1] });
  const plants = plantPlaces(extent, [wall, tower]);
  const isInside = ({ x, y }: { x: number; y: number }) => x >= 0 && y >= 0 && x <= 40 && y <= 40;
  const trees = plants.filter(({ sort, ...at }) => sort !== "bush" && isInside(at));
  assert.deepEqual(trees.map(({ x, y, z }) => [x, y, z]), [[8, 8, 2]]);
  const atWall = ({ x, y }: { x: number; y: number }) => Math.abs(y - 20) < 1 && Math.abs(x - 20) < 7;
  assert.ok(plants.some(atWall));
  const outside = plants.filter((plant) => !isInside(plant));
  assert.ok(outside.length > 100);
  // No plant outside hangs over the map.
  assert.ok(outside.every(({ x, y }) => Math.max(-x, x - 40, -y, y - 40) >= 2.5));
  assert.deepEqual(plantPlaces(extent, [wall, tower]), plants);
  // A large map has no more of them than are worth their memory.
  const large = { west: 0, south: 0, width: 5_000, height: 5_000 };
  assert.equal(plantPlaces(large, []).length, 12_000);
});
