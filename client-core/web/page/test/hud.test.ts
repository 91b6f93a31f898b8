/** What is over the picture: messages, tiles, the cross, the own place. */

import assert from "node:assert/strict";
import { test } from "node:test";

import type { Control, Game } from "../src/ambit/ambit.js";
import { tileOf } from "../src/core/action_tile.js";
import { LOOKS } from "../src/core/elements.js";
import type { Action } from "../src/core/actions.js";
import { PendingCommands } from "../src/core/pending_commands.js";
import { AvatarWatch } from "../src/core/avatar_watch.js";
import { padPlaceOf } from "../src/core/controls.js";
import { Notices } from "../src/core/notices.js";
import { placeOf } from "../src/core/score_tables.js";
import { Commander } from "../src/game/commander.js";

test("a message that is said again is counted, and stays for longer", () => {
  const notices = new Notices(2, 1_000);
  const shown = () => notices.list.map(({ text, times }) => `${text} ${times}`);
  for (const now of [0, 100, 200]) notices.add(now, "out of range");
  notices.add(300, "not ready");
  assert.deepEqual(shown(), ["out of range 3", "not ready 1"]);
  notices.expire(1_100);
  assert.deepEqual(shown(), ["out of range 3", "not ready 1"]);
  notices.expire(1_250);
  assert.deepEqual(shown(), ["not ready 1"]);
  // The oldest one makes room.
  notices.add(1_260, "no mana");
  notices.add(1_270, "no gold");
  assert.deepEqual(shown(), ["no mana 1", "no gold 1"]);
  // After its time it starts again at 1.
  notices.add(5_000, "no gold");
  assert.deepEqual(shown(), ["no gold 1"]);
});

test("a message about the player stays while there are others", () => {
  const notices = new Notices(2, 1_000);
  notices.add(0, "Wolf hits ann", true);
  for (const text of ["bob hits Wolf", "Wolf hits bob"]) notices.add(10, text);
  assert.deepEqual(notices.list.map(({ text }) => text), ["Wolf hits ann", "Wolf hits bob"]);
  for (const text of ["ann hits Wolf", "Wolf hunts ann"]) notices.add(20, text, true);
  assert.deepEqual(notices.list.map(({ text }) => text), ["ann hits Wolf", "Wolf hunts ann"]);
  notices.expire(1_020);
  assert.equal(notices.list.length, 0);
});

test("an avatar has fallen once its bar is empty, or it is gone", () => {
  const watch = new AvatarWatch();
  const falls = (isThere: boolean, bar?: number) => {
    watch.update(isThere, bar);
    return watch.hasFallen;
  };
  assert.equal(falls(false), false);
  assert.equal(falls(true, 1), false);
  assert.equal(falls(true, 0), true);
  assert.equal(falls(true, 0), false);
  assert.equal(watch.isUp, false);
  assert.equal(falls(true, 0.5), false);
  assert.equal(falls(false), true);
  // One without a bar.
  assert.equal(falls(true), false);
  assert.equal(falls(false), true);
});

test("a command that is not offered any more is not aimed any more", () => {
  const shown: (string | undefined)[] = [];
  const commander = new Commander({} as Game, new PendingCommands(), {
    onDraft: (draft) => shown.push(draft?.action.name),
    onGiven: () => {},
    onError: () => {},
    ask: async () => undefined,
    lagMs: () => 0,
    avatarPlace: () => ({ x: 0, y: 0, z: 0 }),
  });
  const action = (name: string) =>
    ({ name, preset: {}, asks: [{ type: "position" }] }) as unknown as Action;
  const [bolt, heal] = [action("bolt"), action("heal")];
  assert.equal(commander.keepOnly([heal]), false);
  commander.begin(bolt);
  assert.equal(commander.keepOnly([bolt, heal]), false);
  assert.equal(commander.keepOnly([heal]), true);
  assert.deepEqual([commander.draft, shown], [undefined, ["bolt", undefined]]);
});

test("a place out of reach becomes the nearest one within it", () => {
  const [sent, given]: [unknown[], number[]] = [[], []];
  const game = { send: async (_: string, values: unknown) => (sent.push(values), 1) };
  const commander = new Commander(game as unknown as Game, new PendingCommands(), {
    onDraft: () => {},
    // Before the game has it.
    onGiven: () => given.push(sent.length),
    onError: () => {},
    ask: async () => undefined,
    lagMs: () => 0,
    avatarPlace: () => ({ x: 10, y: 10, z: 0 }),
  });
  const action = (reachM: number) =>
    ({ command: {}, preset: {}, asks: [{ name: "at", type: "position" }], reachM }) as unknown as Action;
  for (const [reachM, x] of [[15.5, 40], [15.5, 20], [Infinity, 40]] as const) {
    commander.begin(action(reachM));
    commander.givePlace({ x, y: 10, z: 0 });
  }
  assert.deepEqual(sent, [{ at: [25, 10, 0] }, { at: [20, 10, 0] }, { at: [40, 10, 0] }]);
  assert.deepEqual(given, [0, 1, 2]);
});

test("the left thumb has directions, or what the arrow keys turn", () => {
  const control = (keys: string[], direction: Control["direction"] = null): Control =>
    ({ name: "", label: "", help: "", keys, tapped: false, direction, axis: null });
  const cross = [control(["w"], "north"), control(["space"]), control(["arrowleft"])];
  assert.deepEqual(cross.map((one) => padPlaceOf(one, cross)), ["north", null, null]);
  const keys = [["a", "arrowleft"], ["d", "arrowright"], ["w", "arrowup"]];
  const ship = keys.map((pair) => control(pair));
  assert.deepEqual(ship.map((one) => padPlaceOf(one, ship)), ["west", "east", null]);
});

test("a tile has the declared sign, and the colour of what it is made of", () => {
  const tile = (choice: string, label: string, sign: string | null = null, made_of: string | null = null) => {
    const field = { name: "spell", type: "choice", choices: [choice], about: [{ sign, made_of }] };
    const command = { name: "cast", sign: null, fields: [field] };
    return tileOf({ command, preset: { spell: choice }, label } as unknown as Action);
  };
  const ember = { sign: "fire", letters: "Em", colour: LOOKS.ice.colour };
  assert.deepEqual(tile("ember", "Ember", "fire", "ice"), ember);
  const unknown = tile("qwit", "Qwit");
  assert.deepEqual([unknown.sign, unknown.letters], [undefined, "Qw"]);
  assert.match(unknown.colour, /^hsl/);
  assert.notEqual(unknown.colour, tile("qwat", "Qwat").colour);
});

test("the own place in a table is shared by whoever has as many points", () => {
  const row = (name: string, points: string, own = false) => ({ cells: [name, points], own, id: 1 });
  const table = { title: "", columns: ["Name", "Kills"], isState: false, clock: "", phase: "", outcome: null, roles: [] };
  const rows = [row("a", "9"), row("b", "4"), row("c", "4", true)];
  assert.deepEqual(placeOf({ ...table, rows }), { place: 2, of: 3, points: "4", column: "Kills" });
  assert.equal(placeOf({ ...table, rows: [row("a", "9")] }), undefined);
});
