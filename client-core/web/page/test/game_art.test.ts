import assert from "node:assert/strict";
import { test } from "node:test";
import { ART_HEIGHT, ART_WIDTH, type ArtShape, artOf } from "../src/core/game_art.js";

const GAMES = ["field", "cubes", "shooter", "chess", ""];

test("the same names give the same picture, another game or room another one", () => {
  const seen = new Set<string>();
  for (const game of GAMES) {
    for (const room of ["den", "meadow"]) {
      const picture = JSON.stringify(artOf(game, room));
      assert.equal(picture, JSON.stringify(artOf(game, room)));
      assert.ok(!seen.has(picture), `${game} ${room}`);
      seen.add(picture);
    }
  }
});

test("a picture fills its frame and is small enough for a list of many rooms", () => {
  for (const game of GAMES) {
    const shapes = artOf(game, "den");
    const [ground] = shapes as [ArtShape];
    assert.equal(ground.tag, "rect");
    assert.equal(ground.attributes["width"], ART_WIDTH);
    assert.equal(ground.attributes["height"], ART_HEIGHT);
    assert.ok(shapes.length > 8 && shapes.length < 160, `${game}: ${shapes.length}`);
    // Numbers that are none would leave holes, without a word of the browser.
    assert.doesNotMatch(JSON.stringify(shapes), /NaN|null|Infinity|undefined/);
  }
});

test("names of others get into no attribute", () => {
  const evil = '"><script>';
  assert.doesNotMatch(JSON.stringify(artOf(evil, evil)), /script/);
});
