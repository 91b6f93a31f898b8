import assert from "node:assert/strict";
import { test } from "node:test";
import type { CommandKind, Control } from "../src/ambit/ambit.js";
import type { Action } from "../src/core/actions.js";
import {
  addHeld,
  directionBits,
  leverOf,
  type Pad,
  partsOf,
  planOf,
  stickOf,
  wayOf,
} from "../src/core/gamepad.js";

const control = (name: string, extra: Partial<Control> = {}): Control => ({
  name,
  label: "",
  help: "",
  keys: [],
  tapped: false,
  direction: null,
  axis: null,
  ...extra,
});
const action = (name: string, isClick = false): Action => ({
  command: { name } as CommandKind,
  name,
  label: "",
  help: "",
  cost: null,
  cooldownMs: 0,
  reachM: Infinity,
  onlyFor: [],
  listedIn: "",
  preset: {},
  asks: [],
  key: null,
  suggestedKey: null,
  isClick,
});
const pad = (axes: number[], ...pressed: number[]): Pad => ({
  axes,
  buttons: Array.from({ length: 17 }, (_, button) => ({ pressed: pressed.includes(button) })),
});
const stick = (axes: number[], ...pressed: number[]) => {
  const into = { x: 9, y: 9 };
  stickOf(pad(axes, ...pressed), false, into);
  return [into.x, into.y].map((value) => Math.round(value * 100) / 100);
};

const SHIP = [
  control("turn-left", { keys: ["a", "arrowleft"] }),
  control("turn-right", { keys: ["d", "arrowright"] }),
  control("accelerate", { keys: ["w", "arrowup"] }),
  control("fire", { keys: ["space"] }),
  control("shield", { label: "Raise the shield", keys: ["e"] }),
];
const CUBE = [
  control("left", { keys: ["arrowleft"], direction: "west" }),
  control("right", { keys: ["arrowright"], direction: "east" }),
  control("up", { keys: ["arrowup"], direction: "north" }),
  control("down", { keys: ["arrowdown"], direction: "south" }),
  control("jump", { keys: ["space"], tapped: true }),
];

test("a stick at rest is 0, the cross is a stick, and no way is longer than 1", () => {
  assert.deepEqual(stick([0.15, -0.1]), [0, 0]);
  assert.deepEqual(stick([0, -1]), [0, 1]);
  assert.deepEqual(stick([0.61, 0]), [0.5, 0]);
  assert.deepEqual(stick([1, -1]), [0.71, 0.71]);
  assert.deepEqual(stick([0, 0], 14), [-1, 0]);
  assert.deepEqual(stick([]), [0, 0]);
});

test("arrow keys are the left stick, all other controls buttons", () => {
  const plan = planOf(SHIP, []);
  const held = (given: Pad) => {
    const into = { x: 0, y: 0 };
    stickOf(given, false, into);
    const all = new Set<Control>();
    addHeld(plan, given, into, all);
    return [...all].map(({ name }) => name);
  };
  assert.deepEqual(held(pad([-1, 0])), ["turn-left"]);
  assert.deepEqual(held(pad([0.8, -0.8], 0)), ["turn-right", "accelerate", "fire"]);
  assert.deepEqual(held(pad([0, 0], 1, 2)), ["shield"]);
  assert.deepEqual(held(pad([0, 0])), []);
  assert.deepEqual(partsOf(plan), [
    ["←↑↓→ L", "Turn left, Turn right, Accelerate"],
    ["A", "Fire"],
    ["B", "Raise the shield"],
  ]);
});

test("directions are those of the screen, whatever the camera's yaw", () => {
  const plan = planOf(CUBE, []);
  const bits = (x: number, y: number, yaw: number) => directionBits(plan, { x, y }, yaw, CUBE);
  assert.equal(bits(1, 0, 0), 0b0010);
  assert.equal(bits(-0.7, 0.7, 0), 0b0101);
  assert.equal(bits(0.2, 0, 0), 0);
  // The camera looks to the west: up is west.
  assert.equal(bits(0, 1, Math.PI / 2), 0b0001);
  assert.equal(directionBits(planOf(SHIP, []), { x: 1, y: 0 }, 0, SHIP), 0);
  assert.deepEqual(partsOf(plan), [["L", "←↑↓→"], ["A", "Jump"]]);
});

test("axes are sticks: forward is up, and where the left one steers, the right one", () => {
  const thrust = control("thrust", { axis: "linear" });
  const heading = control("heading", { axis: "angle" });
  const plan = planOf([thrust, heading], []);
  assert.deepEqual([plan.levers, plan.angle], [[[1, thrust]], heading]);
  assert.equal(leverOf(pad([0, -1]), 1), 1);
  assert.equal(leverOf(pad([0, 0.1]), 1), 0);
  assert.equal(leverOf(pad([0.61]), 0).toFixed(2), "0.50");
  assert.deepEqual(planOf([...CUBE, thrust], []).levers, [[3, thrust]]);
  const way = wayOf({ x: 0, y: 1 }, Math.PI / 2);
  assert.deepEqual([Math.round(way.x), Math.round(way.y)], [-1, 0]);
});

test("in a game of commands the left stick walks, and commands have buttons", () => {
  const actions = [action("move", true), action("cast bolt"), action("cast heal")];
  const plan = planOf([], actions);
  assert.equal(plan.walk, actions[0]);
  assert.deepEqual(plan.buttons, [[0, actions[1]], [1, actions[2]]]);
  assert.deepEqual(partsOf(plan)[0], ["←↑↓→ L", "Move"]);
  const held = new Set<Control>();
  addHeld(plan, pad([1, 0], 0), { x: 1, y: 0 }, held);
  assert.equal(held.size, 0);
  assert.equal(planOf(SHIP, actions).walk, undefined);
});
