import assert from "node:assert/strict";
import { test } from "node:test";
import type { Choice, EventKind, GameEvent } from "../src/ambit/ambit.js";
import type { Point } from "../src/core/camera.js";
import {
  type Effect,
  type EffectForm,
  Effects,
  MAX_EFFECTS,
  MAX_PIECES,
  PIECE_FLOATS,
  SHAPES,
} from "../src/core/effects.js";
import { shownEffects } from "../src/core/event_effects.js";
import { PLAIN_CHOICE } from "./declared.js";
import { sentencesOf, textOf } from "../src/core/event_texts.js";
import { Moments } from "../src/core/moments.js";
import { MAX_VOICES, TIMBRES, Voices } from "../src/core/voices.js";

const FORMS: EffectForm[] = ["cast", "hit", "heal", "arrival", "death", "blast", "ring", "beam", "warning"];
const effect = (form: EffectForm, extra: Partial<Effect> = {}): Effect => ({
  form,
  colour: "#ff8000",
  size: 2,
  at: null,
  from: null,
  reach: null,
  due: null,
  ...extra,
});
const HERE: Point = { x: 10, y: 20, z: 0 };
const nowhere = () => false;

/** The pieces of a frame: place, width, way, shape, colour, strength. */
function piecesAt(effects: Effects, now: number): number[][] {
  effects.update(now, nowhere);
  const piece = (index: number) =>
    [...effects.pieces.subarray(PIECE_FLOATS * index, PIECE_FLOATS * (index + 1))];
  return Array.from({ length: effects.count }, (_, index) => piece(index));
}

test("each form shows something near its place, in its colour, and ends", () => {
  for (const form of FORMS) {
    const effects = new Effects();
    effects.play(100, effect(form), HERE);
    const pieces = piecesAt(effects, 200);
    assert.ok(pieces.length > 0, form);
    for (const [x = 0, y = 0, z = 0, , , , , , red, green, blue, strength = 0] of pieces) {
      assert.ok(Math.hypot(x - 10, y - 20) <= 2 * 1.3 && z >= 0 && z < 2 * 5, form);
      assert.deepEqual([red, Math.round((green as number) * 255), blue], [1, 128, 0]);
      assert.ok(strength > 0 && strength <= 1);
    }
    assert.deepEqual(piecesAt(effects, 1_200), [], form);
  }
});

test("a form that the page does not know is not shown", () => {
  const effects = new Effects();
  effects.play(0, effect("nova" as EffectForm), HERE);
  assert.deepEqual(piecesAt(effects, 1), []);
});

test("sparks from the same seed are the same on all screens", () => {
  const show = (seed: number) => {
    const effects = new Effects();
    effects.play(0, effect("blast"), HERE, -1, undefined, seed);
    return piecesAt(effects, 300);
  };
  assert.deepEqual(show(7), show(7));
  assert.notDeepEqual(show(7), show(8));
});

test("a warning is as large as what it warns of, and ends with it", () => {
  const kind: EventKind = {
    name: "tell",
    fields: [
      { name: "at", label: "", type: "position", optional: false },
      { name: "radius", label: "", type: "number", min: 0, max: 99, optional: false },
      { name: "due", label: "", type: "number", min: 0, max: 9_999, optional: false },
    ],
    effect: effect("warning", { reach: 1, due: 2 }),
    text: "",
    lead: "",
  };
  const event = { ev: "event", name: "tell", at: { x: 7, y: 8 }, radius: 35, due: 2_000 };
  const effects = new Effects();
  for (const { effect, at, ms } of shownEffects(kind, event as unknown as GameEvent, nowhere)) {
    effects.play(0, effect, at, -1, undefined, undefined, ms);
  }
  const radii = (now: number) =>
    piecesAt(effects, now).filter((piece) => piece[7] === SHAPES.ring).map((piece) => piece[3]);
  assert.deepEqual(radii(1_000), [3.5, 1.75]);
  assert.deepEqual([radii(1_999).length, radii(2_000).length], [2, 0]);
});

test("an event is told in words; what cannot be said is left out", () => {
  const about: Choice[] = [{ ...PLAIN_CHOICE, label: "Bolt of fire" }, PLAIN_CHOICE];
  const spell: EventKind["fields"][number] = {
    name: "spell",
    label: "",
    type: "choice",
    choices: ["bolt", "ice-ball"],
    about,
    listed_in: "",
    marked_in: "",
    sets: "",
    optional: false,
  };
  const text = "{by} casts {spell}. {target} is hurt!";
  const kind: EventKind = { name: "hit", fields: [...FIELDS, spell], effect: null, text, lead: "" };
  const tell = (event: object) =>
    textOf(kind, { ...EVENT, ...event } as unknown as GameEvent, (id) =>
      id === 9 ? undefined : `<b>${id}</b>`,
    );
  assert.equal(tell({ spell: "bolt" }), "<b>3</b> casts Bolt of fire. <b>4</b> is hurt!");
  assert.equal(tell({ spell: "ice-ball", target: null }), "<b>3</b> casts ice ball.");
  assert.equal(tell({ by: 9, spell: "bolt", target: 9 }), undefined);
  // What is rare is said to be so.
  about[1] = { ...PLAIN_CHOICE, label: "Ice ball", rarity: "epic" };
  assert.equal(tell({ spell: "ice-ball", target: null }), "<b>3</b> casts Ice ball (epic).");
  // "Somebody is hurt" alone would say nothing.
  assert.equal(tell({ by: 9, spell: "bolt" }), undefined);
});

test("a sentence says which objects it names", () => {
  const text = "{target} has fallen. {by} did it.";
  const named = sentencesOf({ fields: FIELDS, text }, EVENT as unknown as GameEvent, (id) => `#${id}`);
  assert.deepEqual(named, [
    { text: "#4 has fallen.", objects: [4] }, { text: "#3 did it.", objects: [3] },
  ]);
});

test("at the start of a sentence a name of the game is capitalised, a player's is not", () => {
  const text = "{who} dies. The {who} is gone. {by} wins.";
  const fields = [
    { ...FIELDS[0], name: "who", type: "choice", choices: ["iron-rat"], about: [] },
    { ...FIELDS[0], name: "by", type: "object" },
  ] as unknown as EventKind["fields"];
  const kind: EventKind = { name: "end", fields, effect: null, text, lead: "" };
  const tell = (who: string) =>
    textOf(
      kind,
      { ev: "event", name: "end", t: 0, who, by: 3 } as unknown as GameEvent,
      (_, isFirst) => (isFirst ? "Brute" : "brute"),
    );
  assert.equal(tell("iron-rat"), "Iron rat dies. The iron rat is gone. Brute wins.");
  fields[0] = { ...fields[0], type: "text" } as (typeof fields)[number];
  assert.equal(tell("ann"), "ann dies. The ann is gone. Brute wins.");
});

test("a beam reaches from one place to the other", () => {
  const effects = new Effects();
  effects.play(0, effect("beam"), HERE, -1, { x: 13, y: 24, z: 0 });
  const [streak] = piecesAt(effects, 10).filter((piece) => piece[7] === SHAPES.streak);
  assert.deepEqual(streak?.slice(4, 7), [3, 4, 0]);
});

test("a beam that takes a time is a shot on its way, and over when it arrives", () => {
  const effects = new Effects();
  effects.play(0, effect("beam"), HERE, -1, { x: 18, y: 20, z: 0 }, undefined, 400);
  const [streak, ...heads] = piecesAt(effects, 200);
  assert.deepEqual([streak?.[0], streak?.[4]], [14, 3.5]);
  assert.deepEqual(heads.map(([x]) => x), [14]);
  assert.deepEqual(piecesAt(effects, 401), []);
});

test("an effect stays at its object, and where that was when it has gone", () => {
  const effects = new Effects();
  effects.play(0, effect("ring"), HERE, 5);
  effects.update(10, (id, into) => {
    assert.equal(id, 5);
    into.x = 42;
    return true;
  });
  assert.equal(effects.pieces[0], 42);
  assert.equal(piecesAt(effects, 20)[0]?.[0], 42);
});

test("of too many effects the oldest ends, and that is counted", () => {
  const effects = new Effects();
  for (let x = 0; x < MAX_EFFECTS + 3; x += 1) {
    effects.play(x, effect("blast"), { x, y: 0, z: 0 });
  }
  assert.equal(effects.dropped, 3);
  const rings = piecesAt(effects, 100).filter((piece) => piece[7] === SHAPES.ring);
  const places = rings.map(([x]) => x as number).sort((one, other) => one - other);
  assert.deepEqual([places.length, places[0]], [MAX_EFFECTS, 3]);
  effects.ringAround(0, 0, 0, 1, { red: 1, green: 1, blue: 1 });
  assert.ok(effects.count <= MAX_PIECES && effects.pieces.length === PIECE_FLOATS * MAX_PIECES);
});

const FIELDS: EventKind["fields"] = [
  { name: "by", label: "", type: "object", optional: false },
  { name: "at", label: "", type: "position", optional: false },
  { name: "target", label: "", type: "object", optional: true },
];
const EVENT = { ev: "event", name: "hit", by: 3, at: { x: 7, y: 8 }, target: 4 };

function shown(declared: Effect | null, event: object = EVENT) {
  const locate = (id: number, into: Point) => {
    into.x = 100 + id;
    return id < 9;
  };
  const kind = { name: "hit", fields: FIELDS, effect: declared, text: "", lead: "" };
  return shownEffects(kind, event as unknown as GameEvent, locate);
}

test("an effect is at the field that it names, else at the first place or object", () => {
  const [first] = shown(effect("hit"));
  assert.deepEqual([first?.at, first?.object], [{ x: 7, y: 8, z: 0 }, -1]);
  const [named] = shown(effect("hit", { at: 2 }));
  assert.deepEqual([named?.at.x, named?.object], [104, 4]);
  assert.deepEqual(shown(effect("hit", { at: 2 }), { ...EVENT, target: 9 }), []);
  assert.deepEqual(shown(effect("hit", { at: 2 }), { ...EVENT, target: null }), []);
  const [beam] = shown(effect("beam", { at: 1 }));
  assert.deepEqual([beam?.from?.x, beam?.at.x], [103, 7]);
  const [back] = shown(effect("beam", { at: 0, from: 2 }), { ...EVENT, seed: 77 });
  assert.deepEqual([back?.from?.x, back?.at.x, back?.seed], [104, 103, 77]);
});

test("an event without an effect is a ring at all that it names, with a seed a burst", () => {
  assert.deepEqual(shown(null).map(({ effect: { form }, at }) => [form, at.x]), [
    ["ring", 103],
    ["ring", 7],
    ["ring", 104],
  ]);
  const forms = shown(null, { ...EVENT, seed: 1 }).map(({ effect: { form } }) => form);
  assert.deepEqual(forms, ["ring", "blast", "ring"]);
});

test("an object comes once; what is there at the start, or on another map, has not come", () => {
  const moments = new Moments();
  const frame = (now: number, ...ids: number[]) => {
    moments.begin(now);
    const come = ids.filter((id) => moments.comes(now, id));
    moments.end();
    return come;
  };
  assert.deepEqual(frame(0, 1, 2), []);
  assert.deepEqual(frame(500, 1, 2, 3), []);
  assert.deepEqual(frame(2_000, 1, 2, 3, 4), [4]);
  assert.deepEqual(frame(2_016, 1, 4), []);
  assert.deepEqual(frame(2_033, 1, 2, 4), [2]);
  moments.restart();
  assert.deepEqual(frame(3_000, 1, 2), []);
});

test("a flag shows its effect as long as it is set, a gauge when it falls at once", () => {
  const moments = new Moments();
  const happens = (now: number, value: unknown) => {
    moments.begin(now);
    moments.comes(now, 1);
    const does = moments.happens(now, 1, typeof value === "number" ? 0 : 1, value);
    moments.end();
    return does;
  };
  assert.deepEqual([happens(0, true), happens(16, true), happens(616, true)], [true, false, true]);
  assert.deepEqual([happens(630, false), happens(640, true)], [false, true]);
  assert.deepEqual([happens(0, 80), happens(1, 79.5), happens(2, 60)], [false, false, true]);
  assert.deepEqual([happens(3, 90), happens(4, undefined)], [false, false]);
});

test("a flag that lasts begins once, and again after it was not set", () => {
  const moments = new Moments();
  const begins = (isSet: boolean) => {
    moments.begin(0);
    moments.comes(0, 1);
    const does = moments.begins(1, 2, isSet);
    moments.end();
    return does;
  };
  assert.deepEqual([true, true, false, true].map(begins), [true, false, false, true]);
  assert.equal(moments.begins(9, 2, true), false);
});

test("a bubble is around its object, pulses slowly, and never goes beyond the buffer", () => {
  const effects = new Effects();
  const colour = { red: 0.4, green: 0.8, blue: 1 };
  const widths = [0, 425, 1_275].map((now) => {
    effects.update(now, () => false);
    effects.bubble(now, { x: 1, y: 2, z: 3 }, 4, colour);
    const pieces = Array.from({ length: effects.count }, (_, at) =>
      effects.pieces.subarray(at * PIECE_FLOATS, (at + 1) * PIECE_FLOATS),
    );
    assert.deepEqual(pieces.map((piece) => piece[7]), [SHAPES.bubble, SHAPES.ring]);
    assert.deepEqual([...(pieces[0] ?? [])].slice(0, 3), [1, 2, 3]);
    return pieces[0]?.[3] ?? 0;
  });
  const [middle = 0, most = 0, least = 0] = widths;
  assert.ok(most > middle && middle > least && least > 3.6, `${widths}`);
  for (let more = 0; more < MAX_PIECES; more += 1) {
    effects.bubble(0, { x: 0, y: 0, z: 0 }, 1, colour);
  }
  assert.ok(effects.count < MAX_PIECES);
});

test("a sound is quieter far away, from its side, and not heard beyond", () => {
  const volume = (distance: number) => new Voices().begin(0, "hit", distance, 0)?.voice.volume;
  assert.equal(volume(0), TIMBRES.hit.volume);
  assert.equal(volume(14), TIMBRES.hit.volume / 2);
  assert.ok((volume(40) ?? 1) < (volume(20) ?? 0));
  assert.equal(volume(200), undefined);
  const pan = (right: number) => new Voices().begin(0, "hit", 20, right)?.voice.pan;
  assert.deepEqual([pan(-20), pan(0), pan(20)], [-0.8, 0, 0.8]);
});

test("of too many voices the oldest ends; two of a kind at once are one", () => {
  const voices = new Voices();
  const first = voices.begin(0, "death", 1, 0)?.voice;
  assert.ok(first);
  assert.equal(voices.begin(10, "death", 1, 0), undefined);
  for (let n = 1; n < MAX_VOICES; n += 1) {
    const form = (["death", "heal", "arrival"] as const)[n % 3] as EffectForm;
    assert.equal(voices.begin(16 * n, form, 1, 0)?.ended, undefined);
  }
  assert.equal(voices.begin(300, "blast", 1, 0)?.ended, first);
  // Later all have ended by themselves.
  assert.equal(voices.begin(9_000, "blast", 1, 0)?.ended, undefined);
});
