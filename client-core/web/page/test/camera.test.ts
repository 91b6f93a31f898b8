import assert from "node:assert/strict";
import { test } from "node:test";
import { type CameraMode, type Point, liftOver, ViewCamera } from "../src/core/camera.js";
import { knownM } from "../src/core/interest.js";
import { nearestFirst, pickObject } from "../src/core/picking.js";

test("a point of the ground is found again through the screen, for any view", () => {
  for (const mode of ["above", "around"] as CameraMode[]) {
    for (const yaw of [0, 1, -2, 3.1]) {
      const camera = look(mode, yaw);
      const [screen, ground] = [point(), point()];
      assert.ok(camera.project(53, 41, 0, screen));
      assert.ok(camera.groundPoint(screen.x, screen.y, 0, ground));
      close(ground.x, 53);
      close(ground.y, 41);
    }
  }
});

test("in a game in which players see far, the camera begins farther away", () => {
  const start = (sightM: number) => {
    const camera = new ViewCamera("above");
    camera.startFor(sightM);
    return camera.distance;
  };
  assert.equal(start(10), new ViewCamera("above").distance);
  assert.equal(Math.round(start(240)), 86);
  assert.equal(start(9_000), 240);
});

test("in a game in which players see near, figures are large, also where others are shown", () => {
  const camera = new ViewCamera("above");
  camera.startFor(10);
  camera.stepBack(Infinity);
  assert.ok(camera.pixelsPerMetre(camera.distance, 540) > 30);
});

test("at the border of the map the picture is not half empty, from above", () => {
  const camera = new ViewCamera("above");
  camera.setExtent({ west: 0, south: 0, width: 300, height: 300 });
  const centre = (x: number, y: number) => {
    camera.follow(x, y, 0, 1_000);
    camera.update();
    return [camera.centre.x, camera.centre.y].map(Math.round);
  };
  assert.deepEqual(centre(150, 140), [150, 140]);
  const inside = Math.round(camera.distance * Math.tan(Math.PI / 8) * 0.6);
  assert.deepEqual(centre(0, 299), [inside, 300 - inside]);
  // What it follows is still in the picture.
  const at = { x: 0, y: 0, z: 0 };
  assert.ok(camera.project(0, 299, 0, at) && Math.abs(at.x) < 1 && Math.abs(at.y) < 1);
  // A map that is smaller than the picture is in its middle.
  camera.setExtent({ west: 0, south: 0, width: 4, height: 300 });
  assert.deepEqual(centre(1, 150), [2, 150]);
});

test("a floor fills the picture, and not what is around it", () => {
  const camera = new ViewCamera("around", true);
  camera.aspect = 16 / 9;
  camera.setExtent({ west: 0, south: 0, width: 32, height: 32 });
  const at = point();
  const shareOfFloor = (x: number, y: number) => {
    camera.cut();
    camera.follow(x, y, 0, 1);
    camera.update();
    let inside = 0;
    for (let across = -0.95; across < 1; across += 0.1) {
      for (let up = -0.95; up < 1; up += 0.1) {
        const isGround = camera.groundPoint(across, up, 0, at);
        inside += Number(isGround && at.x >= 0 && at.x <= 32 && at.y >= 0 && at.y <= 32);
      }
    }
    return inside / 400;
  };
  assert.ok(shareOfFloor(16, 16) > 0.9);
  // What it follows is in the picture, too, in each corner.
  for (const [x, y] of [[2, 2], [30, 2], [2, 30], [30, 30], [16, 30]] as const) {
    assert.ok(shareOfFloor(x, y) > 0.55, `${x} ${y}: ${shareOfFloor(x, y)}`);
    assert.ok(camera.project(x, y, 0, at) && Math.abs(at.x) < 0.9 && Math.abs(at.y) < 0.9);
  }
});

test("a cut shows another place at once, as near as the player has chosen", () => {
  const camera = new ViewCamera("above");
  const chosen = camera.distance;
  camera.follow(50, 50, 0, 1);
  camera.keepShown({ x: 80, y: 50, z: 0 }, 9);
  assert.ok(camera.distance > 1.2 * chosen);
  camera.cut();
  // Without one, so near a place would be a slide.
  camera.follow(60, 50, 0, 0.016);
  assert.deepEqual([camera.target.x, camera.distance], [60, chosen]);
});

test("the target is in the middle, north is up, east is right", () => {
  const camera = look("above", 0);
  const screen = point();
  camera.project(50, 40, 0, screen);
  close(screen.x, 0);
  close(screen.y, 0);
  camera.project(50, 45, 0, screen);
  assert.ok(screen.y > 0.05);
  camera.project(55, 40, 0, screen);
  assert.ok(screen.x > 0.05);
});

test("there is no ground above the horizon, and nothing behind the viewer", () => {
  const camera = look("around", 0);
  camera.pitch = 0.1;
  camera.update();
  assert.equal(camera.groundPoint(0, 0.9, 0, point()), false);
  assert.equal(camera.project(50, -400, 0, point()), false);
});

test("the axes are unit vectors at right angles", () => {
  const { forward, up, right } = look("around", 0.7);
  for (const [a, b] of [[forward, up], [up, right], [right, forward]] as const) {
    close(a.x * b.x + a.y * b.y + a.z * b.z, 0);
    close(Math.hypot(a.x, a.y, a.z), 1);
  }
});

test("the target is followed smoothly, and jumps with a jump", () => {
  const camera = look("above", 0);
  camera.follow(51, 40, 0, 0.016);
  assert.ok(camera.target.x > 50 && camera.target.x < 51);
  camera.follow(150, 40, 0, 0.016);
  close(camera.target.x, 150);
});

test("zoom and pitch stay within their ranges", () => {
  const camera = look("around", 0);
  for (let turns = 0; turns < 50; turns += 1) {
    camera.zoom(2);
    camera.turn(0.3, 0.3);
  }
  assert.ok(camera.distance < 100 && camera.pitch < Math.PI / 2);
  assert.ok(Math.abs(camera.yaw) <= Math.PI);
});

test("the nearest allowed object on the screen is picked, none far away", () => {
  const camera = look("above", 0);
  const objects = row([[50, 40], [50.5, 40], [60, 40]]);
  const screen = point();
  camera.project(50.4, 40, 0, screen);
  assert.equal(pickObject(camera, objects, screen.x, screen.y, () => true), 1);
  assert.equal(pickObject(camera, objects, screen.x, screen.y, (index) => index !== 1), 0);
  assert.equal(pickObject(camera, objects, -0.9, 0.9, () => true), -1);
  assert.deepEqual(nearestFirst(objects, 59, 40, (index) => index !== 0), [2, 1]);
});

function look(mode: CameraMode, yaw: number): ViewCamera {
  const camera = new ViewCamera(mode);
  camera.aspect = 1.6;
  camera.yaw = yaw;
  camera.follow(50, 40, 0, 0);
  camera.update();
  return camera;
}

function row(places: [number, number][]) {
  return {
    count: places.length,
    x: (index: number) => (places[index] as [number, number])[0],
    y: (index: number) => (places[index] as [number, number])[1],
    z: () => 0,
  };
}

function point(): Point {
  return { x: NaN, y: NaN, z: NaN };
}

function close(got: number, expected: number): void {
  assert.ok(Math.abs(got - expected) < 1e-6, `${got} instead of ${expected}`);
}

test("over what covers a low screen from below, the target is in the middle of the rest", () => {
  assert.equal(liftOver(140, 800), 0);
  assert.equal(liftOver(105, 420), 0.25);
  assert.equal(liftOver(300, 420), 0.4);
  for (const mode of ["above", "around"] as const) {
    const camera = new ViewCamera(mode);
    camera.lift = 0.25;
    camera.follow(10, 20, 0, 1);
    camera.update();
    const at = { x: 0, y: 0, z: 0 };
    assert.ok(camera.project(10, 20, 0, at));
    assert.ok(Math.abs(at.x) < 1e-6 && Math.abs(at.y - 0.25) < 1e-6, `${at.x} ${at.y}`);
  }
});

test("what is higher by some pixels on the screen is where the camera shows it", () => {
  const camera = new ViewCamera("above");
  camera.follow(0, 0, 0, 1);
  camera.update();
  const [low, high] = [{ x: 0, y: 0, z: 0 }, { x: 0, y: 0, z: 0 }];
  camera.project(0, 0, 0, low);
  camera.project(0, 0, 18 * camera.metresUp(low.z, 600), high);
  const pixels = ((high.y - low.y) * 600) / 2;
  assert.ok(Math.abs(pixels - 18) < 1.5, `${pixels}`);
});

test("the nearest other ship stays in the picture, and without one the camera comes back", () => {
  const keep = (x: number, y: number, frames = 600) => {
    const camera = new ViewCamera("above");
    camera.aspect = 1.6;
    camera.startFor(240);
    const at = { x: 0, y: 0, z: 0 };
    camera.follow(0, 0, 0, 1);
    camera.update();
    let before = camera.distance;
    const show = (point: Point | undefined) => {
      camera.keepShown(point, 1 / 60);
      camera.update();
      // Smoothly: a frame changes little.
      assert.ok(Math.abs(camera.distance / before - 1) < 0.05);
      before = camera.distance;
    };
    for (let frame = 0; frame < frames; frame += 1) show({ x, y, z: 0 });
    // The own ship is in the picture, too.
    assert.ok(camera.project(0, 0, 0, at) && Math.abs(at.y) < 0.5);
    assert.ok(camera.project(x, y, 0, at));
    const shownAt = camera.distance;
    for (let frame = 0; frame < 1_200; frame += 1) show(undefined);
    return { at, shownAt, left: camera.distance };
  };
  for (const [x, y] of [[0, 90], [90, 0], [-63, 63], [64, -40], [0, -90]] as const) {
    const { at, shownAt, left } = keep(x, y);
    assert.ok(Math.max(Math.abs(at.x), Math.abs(at.y)) < 0.97, `${x} ${y}: ${at.x} ${at.y}`);
    assert.ok(shownAt > 86 && shownAt < 190, `${shownAt}`);
    assert.equal(Math.round(left), 86);
  }
  // Who is near enough needs nothing, and who is too far away is not followed for ever.
  assert.equal(Math.round(keep(10, 20).shownAt), 86);
  assert.equal(Math.round(keep(0, 2_000).shownAt), 190);
});

test("the player's own zoom is what the camera comes back to", () => {
  const camera = look("above", 0);
  const start = camera.distance;
  camera.zoom(1.5);
  for (let frame = 0; frame < 1_200; frame += 1) camera.keepShown(undefined, 1 / 60);
  close(camera.distance, 1.5 * start);
});

test("from above the picture shows nothing beyond what is known around the avatar", () => {
  const known = 20;
  for (const aspect of [2.4, 16 / 9, 1.2, 0.5]) {
    for (const lift of [0, 0.3]) {
      for (const yaw of [0, 0.4, Math.PI / 4, -2.5]) {
        const camera = new ViewCamera("above");
        Object.assign(camera, { aspect, lift, yaw });
        camera.setExtent({ west: 0, south: 0, width: 300, height: 300 });
        camera.setKnown(known);
        camera.startFor(known);
        // In the middle, and in a corner of the map, where the picture would rather show the map.
        for (const [x, y] of [[150, 150], [1, 299]] as const) {
          camera.follow(x, y, 0, 1_000);
          for (const factor of [1, 3, 0.7]) {
            camera.zoom(factor);
            camera.keepShown({ x: x + 60, y: y - 60, z: 0 }, 10);
            camera.update();
            const far = farthest(camera, x, y);
            const isLeast = Math.abs(camera.distance - 10) < 1e-9;
            assert.ok(far <= known + 1e-6 || isLeast, `${aspect} ${lift} ${yaw} ${far}`);
          }
        }
      }
    }
  }
  // It shows all that it may: nothing is lost to the bound.
  const camera = new ViewCamera("above");
  camera.aspect = 16 / 9;
  camera.setKnown(known);
  camera.zoom(9);
  camera.follow(150, 150, 0, 1_000);
  camera.update();
  close(farthest(camera, 150, 150), known);
  // A player who comes closer does so at once, however far out was asked for before.
  const before = camera.distance;
  camera.zoom(0.8);
  close(camera.distance, 0.8 * before);
});

test("around the avatar, and where the whole map is known, the camera is free", () => {
  for (const [mode, known] of [["around", 9], ["above", Infinity]] as const) {
    const camera = new ViewCamera(mode);
    camera.setKnown(known);
    camera.zoom(3);
    close(camera.distance, 3 * new ViewCamera(mode).distance);
  }
});

test("what is known follows from the zones, the margin and the map", () => {
  const settings = { cell: 7, inner: 3, outer: 4, marginM: 1 };
  assert.equal(knownM(settings, { width: 630, height: 630 }), 20);
  assert.equal(knownM(settings, { width: 28, height: 20 }), Infinity);
  assert.equal(knownM(settings, { width: 28.5, height: 20 }), 20);
});

/** How far east, west, north or south of a place the picture shows the ground. */
function farthest(camera: ViewCamera, x: number, y: number): number {
  const ground = point();
  let far = 0;
  for (const [right, up] of [[-1, -1], [1, -1], [-1, 1], [1, 1]] as const) {
    assert.ok(camera.groundPoint(right, up, 0, ground));
    far = Math.max(far, Math.abs(ground.x - x), Math.abs(ground.y - y));
  }
  return far;
}
