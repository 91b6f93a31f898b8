import assert from "node:assert/strict";
import { test } from "node:test";
import { type Diorama, DIORAMA_FIELD_OF_VIEW, shotOf } from "../src/core/diorama_stage.js";
import { dioramaOf } from "../src/core/dioramas.js";
import { variantOf } from "../src/core/roles.js";

const SHIPPED = ["field", "cubes", "shooter", "deus"];
const GAMES = [...SHIPPED, "chess", "tanks", "", '"><script>'];
const ASPECTS = [390 / 520, 16 / 9, 3];

test("the same names give the same scene, another game or room another one", () => {
  const seen = new Set<string>();
  for (const game of GAMES) {
    for (const room of ["", "den", "meadow"]) {
      const scene = JSON.stringify(dioramaOf(game, room));
      assert.equal(scene, JSON.stringify(dioramaOf(game, room)));
      assert.ok(!seen.has(scene), `${game} ${room}`);
      seen.add(scene);
    }
  }
});

test("a scene has one own avatar, objects of its kinds, and no number that is none", () => {
  for (const game of GAMES) {
    const { objects, schema, obstacles, happenings, streaks } = dioramaOf(game, "den");
    assert.equal(objects.filter(({ isOwn }) => isOwn).length, 1, game);
    for (const { kind, turn } of objects) {
      assert.ok(schema.kinds[kind], `${game}: kind ${kind}`);
      assert.ok(Math.abs(Math.hypot(...turn) - 1) < 1e-9, `${game}: ${turn}`);
    }
    for (const { yaw } of obstacles) assert.ok(yaw >= 0 && yaw < Math.PI, `${game}: ${yaw}`);
    // A picture is drawn once, also where there is no graphics card.
    assert.ok(objects.length + obstacles.length < 120, game);
    const numbers = [
      ...objects.flatMap(({ at, turn }) => [...at, ...turn]),
      ...obstacles.flatMap(({ centre, half, yaw }) => [...centre, ...half, yaw]),
      ...happenings.flatMap(({ at, agoMs }) => [...at, agoMs]),
      ...streaks.flatMap(({ at, behind, wide, glow }) => [...at, ...behind, wide, glow]),
    ];
    assert.ok(numbers.every(Number.isFinite), game);
  }
});

test("roles of a scene are found by the rule that games have, too", () => {
  const { schema, objects } = dioramaOf("deus", "den");
  const [hero] = schema.kinds;
  const roles = objects.filter(({ kind }) => kind === 0).map(({ role }) => role);
  assert.ok(hero && roles.length === 4);
  for (const role of roles) assert.ok(variantOf(hero, role)?.figure, role);
});

test("the own avatar is in the picture, beside or above the words", () => {
  for (const game of SHIPPED) {
    for (const room of ["", "den", "meadow", "arena"]) {
      const scene = dioramaOf(game, room);
      for (const aspect of ASPECTS) {
        const [x, y] = onScreen(scene, aspect, "with_words");
        assert.ok(Math.abs(x) < 1 && Math.abs(y) < 1, `${game}/${room} ${aspect}: ${x} ${y}`);
        if (aspect > 2) assert.ok(x > -0.2, `${game}/${room}: ${x}`);
        else if (aspect < 1) assert.ok(y > -0.2, `${game}/${room}: ${y}`);
      }
      const [x, y] = onScreen(scene, 16 / 9, "alone");
      assert.ok(Math.abs(x) < 0.8 && Math.abs(y) < 0.8, `${game}/${room}: ${x} ${y}`);
    }
  }
});

/** Where the own avatar is, from -1 to 1 each way. */
function onScreen(scene: Diorama, aspect: number, framing: "alone" | "with_words") {
  const { eye, target } = shotOf(scene, aspect, framing);
  const own = scene.objects.find(({ isOwn }) => isOwn);
  assert.ok(own);
  const minus = (a: readonly number[], b: readonly number[]) =>
    a.map((part, axis) => part - (b[axis] as number)) as [number, number, number];
  const dot = (a: readonly number[], b: readonly number[]) =>
    a.reduce((sum, part, axis) => sum + part * (b[axis] as number), 0);
  const way = minus(target, eye);
  const level = Math.hypot(way[0], way[1]);
  const length = Math.hypot(level, way[2]);
  const forward = way.map((part) => part / length);
  const right = [way[1] / level, -way[0] / level, 0];
  const up = [
    (-way[0] * way[2]) / level / length, (-way[1] * way[2]) / level / length, level / length,
  ];
  const at = minus(own.at, eye);
  const reach = dot(at, forward) * Math.tan(DIORAMA_FIELD_OF_VIEW / 2);
  return [dot(at, right) / reach / aspect, dot(at, up) / reach] as const;
}
