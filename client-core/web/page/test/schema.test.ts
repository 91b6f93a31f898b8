import assert from "node:assert/strict";
import { test } from "node:test";
import type { Choice, CommandKind, Field, Kind, Look, Scenery, Schema } from "../src/ambit/ambit.js";
import {
  actionsOf,
  cardsOf,
  CommandDraft,
  countOf,
  giveDigits,
  groupsOf,
  isListed,
  isMarked,
  isOffered,
} from "../src/core/actions.js";
import { describeMesh, hidingFlagsOf, parseColour } from "../src/core/look.js";
import { PLAIN_CHOICE, PLAIN_COMPONENT } from "./declared.js";
import { hashOf, outfitOf, sortOf, thingOf, variantOf } from "../src/core/roles.js";

const [MAGE, HEALER] = [{ of: "class", is: "mage" }, { of: "class", is: "healer" }];
const [SHARE, MERCHANT] = [{ of: "phase", is: "share" }, { of: "phase", is: "merchant" }];
const PLACE: Field = { name: "to", label: "", type: "position", optional: false };
const AT: Field = { name: "at", label: "", type: "position", optional: true };
const SPELL: Field = choice({}, {});

function choice(...about: Partial<Choice>[]): Field {
  const choices = ["bolt", "heal", "sing", "aim"].slice(0, about.length);
  const texts = about.map((text) => ({ ...PLAIN_CHOICE, ...text }));
  return { name: "spell", label: "", type: "choice", choices, about: texts, listed_in: "",
    marked_in: "", sets: "", optional: false };
}

test("what walks stands on the ground, what is posed is centred", () => {
  const walker = describeMesh(kind("path", { shape: "box", size: 2 }));
  assert.deepEqual(walker.scale, [2, 2, 2]);
  assert.deepEqual([walker.form, walker.lift, walker.top], ["cube", 1, 2]);
  const body = describeMesh(kind("pose", { shape: "box", size: 2 }));
  assert.deepEqual([body.lift, body.top], [0, 1]);
});

test("each shape has its mesh", () => {
  const form = (shape: Look["shape"]) => describeMesh(kind("path", { shape }));
  assert.equal(form("disc").form, "creature");
  // With a text, and nothing that can be hurt, it is a thing.
  assert.equal(describeMesh(kind("path", { shape: "disc", label: 1 })).form, "ball");
  assert.equal(describeMesh(kind("path", { shape: "disc", label: 1, bar: 2 })).form, "creature");
  assert.equal(form("arrow").form, "figure");
  assert.equal(describeMesh(kind("pose", { shape: "arrow" })).form, "ship");
  // Drawn larger than it is for the rules: it is seen from far above.
  assert.deepEqual(describeMesh(kind("pose", { shape: "arrow", size: 3 })).scale.map(Math.round), [
    7,
    7,
    3,
  ]);
  assert.equal(form("point").form, "ball");
  assert.ok(form("point").keepsScreenSize && !form("disc").keepsScreenSize);
});

test("a colour is read, and a wrong one is grey", () => {
  assert.equal(parseColour("#3080ff"), 0x3080ff);
  assert.equal(parseColour("url(x)"), 0xa0a0a0);
});

test("a choice gives an action for each name, keys are suggested or digits", () => {
  const actions = actionsOf(
    schema([
      command("move", "click", [PLACE]),
      command("cast", null, [SPELL, AT]),
      command("dance", "Space", []),
      command("rest", null, []),
    ]),
  );
  assert.deepEqual(
    actions.map(({ name, key, isClick }) => [name, key, isClick]),
    [
      ["move", null, true],
      ["cast bolt", "1", false],
      ["cast heal", "2", false],
      ["dance", " ", false],
      ["rest", "3", false],
    ],
  );
});

test("what a player first has to choose to be is shown as cards", () => {
  const be = command("be", null, [{ ...choice({}, {}), sets: "class" } as Field]);
  const actions = actionsOf(schema([command("cast", null, [SPELL]), be]));
  const cards = (texts: [string, string][]) =>
    cardsOf(actions, new Map(texts)).map(({ name }) => name);
  assert.deepEqual(cards([["name", "ann"], ["class", "newcomer"]]), ["be bolt", "be heal"]);
  assert.deepEqual(cards([["name", "ann"], ["class", "heal"]]), []);
  assert.deepEqual(cards([["name", "ann"]]), []);
});

test("choices that are explained and need no haste are behind one button", () => {
  const [bolt, heal] = [{ help: "8 mana." }, { help: "9 mana." }];
  const three = choice(bolt, heal, { help: "Sings." });
  const haste = choice(bolt, heal, { help: "Sings.", cooldown_ms: 600 });
  const grouped = (...commands: CommandKind[]) =>
    [...groupsOf(actionsOf(schema(commands))).values()].flat().map(({ name }) => name);
  const all = ["buy bolt", "buy heal", "buy sing"];
  assert.deepEqual(grouped(command("buy", null, [three])), all);
  assert.deepEqual(grouped(command("buy", null, [choice(bolt, heal)])), []);
  assert.deepEqual(grouped(command("buy", null, [three, AT])), []);
  assert.deepEqual(grouped(command("buy", null, [haste])), []);
});

test("a figure is that of the variant or of the kind, and no name says it", () => {
  const variants = [{ of: "tin-man", figure: "knight", size: 1.2, boss: true }] as const;
  const of = (value: unknown) => variantOf({ variants: [...variants] }, value);
  assert.deepEqual([of("tin-man")?.boss, of("wizard"), of(undefined)], [true, undefined, undefined]);
  assert.deepEqual([outfitOf("knight"), outfitOf("beast"), outfitOf(null)], ["knight", "plain", "plain"]);
  assert.deepEqual([sortOf("robed"), sortOf("mage"), sortOf(undefined)], ["robed", "round", "round"]);
  assert.deepEqual([thingOf("chest"), thingOf("knight"), thingOf(null)], ["chest", "block", "block"]);
  assert.notEqual(hashOf("ann"), hashOf("bob"));
});

test("the label of a command is shown instead of its words", () => {
  const labels = (commands: CommandKind[]) => actionsOf(schema(commands)).map(({ label }) => label);
  const [walk, cast] = [command("walk-to", null, [PLACE]), command("cast", null, [SPELL])];
  assert.deepEqual(labels([walk, cast]), ["Walk to", "Cast bolt", "Cast heal"]);
  assert.deepEqual(labels([{ ...walk, label: "Go there" }, { ...cast, label: "Magic" }]), [
    "Go there",
    "Magic: Bolt",
    "Magic: Heal",
  ]);
});

test("a choice says what it is called, what it does, and for whom it is", () => {
  const bolt = { label: "Bolt of fire", help: "8 mana.", cooldown_ms: 600, only_for: MAGE, reach_cm: 900 };
  const [heal, sing] = [{ only_for: HEALER }, { only_for: HEALER }];
  const actions = actionsOf(
    schema([command("cast", null, [choice(bolt, heal, sing, {})]), command("rest", null, [])]),
  );
  const [first] = actions;
  assert.deepEqual([first?.label, first?.help, first?.cooldownMs], ["Bolt of fire", "8 mana.", 600]);
  assert.deepEqual(actions.map(({ reachM }) => reachM), [9, ...Array(4).fill(Infinity)]);
  assert.deepEqual(actions.map(({ key }) => key), ["1", "2", "3", "4", "5"]);
  const offered = (...texts: [string, string][]) => {
    const known = { flags: new Set<string>(), texts: new Map(texts), counts: new Map() };
    return actions.filter((action) => isOffered(action, known)).map(({ name }) => name);
  };
  assert.deepEqual(offered(["name", "ann"], ["class", "mage"]), ["cast bolt", "cast aim", "rest"]);
  // A player who is called so has not the class.
  assert.deepEqual(offered(["name", "mage"]), ["cast aim", "rest"]);
  // A command that asks for a choice is there as long as one of the choices is.
  const need: Field = { ...choice({ only_for: SHARE }, { only_for: MERCHANT }), optional: true };
  const [want] = actionsOf(schema([command("want", null, [need])]));
  assert.deepEqual([want?.name, want?.onlyFor], ["want", [SHARE, MERCHANT]]);
  // What one has is on the first keys.
  giveDigits(actions.slice(3), schema([]));
  assert.deepEqual(actions.map(({ key }) => key), ["1", "2", "3", "1", "2"]);
});

test("what is listed can be chosen, and nothing as well", () => {
  const about = { help: "Raises damage.", only_for: { of: "alive", is: "" } };
  const items = { ...choice(about, about, about), choices: ["stone", "red-stone", "ring"] };
  const listed = { ...items, listed_in: "bag" } as Field;
  const sell = { ...command("sell", null, [listed]), only_for: MERCHANT };
  const want = command("want", null, [{ ...listed, listed_in: "offer", optional: true } as Field]);
  const ready = { ...command("ready", null, []), only_for: MERCHANT };
  const actions = actionsOf(schema([sell, want, ready]));
  type Pairs = [string, number][];
  const offered = (phase: string, isAlive: boolean, bag: Pairs, offer: Pairs) => {
    const known = {
      flags: new Set(isAlive ? ["alive"] : []),
      texts: new Map([["phase", phase]]),
      counts: new Map([["bag", new Map(bag)], ["offer", new Map(offer)]]),
    };
    return actions.filter((action) => isOffered(action, known));
  };
  const names = (...args: Parameters<typeof offered>) => offered(...args).map(({ name }) => name);
  const two: Pairs = [["red-stone", 2]];
  assert.deepEqual(names("merchant", true, two, []), ["sell red-stone", "want", "ready"]);
  assert.deepEqual(names("merchant", false, two, []), ["ready"]);
  const three: Pairs = [["stone", 1], ["ring", 3]];
  assert.deepEqual(names("share", true, [["ring", 1]], three), ["want stone", "want ring", "want"]);
  const known = { counts: new Map([["bag", new Map(two)]]) };
  const counted = actions.filter(({ listedIn }) => listedIn === "bag").map((it) => countOf(it, known));
  assert.deepEqual(counted, [0, 2, 0]);
  // All of as many as there may be.
  const many = Array.from({ length: 64 }, (_, at) => `${at}-item-of-a-long-name-xy`);
  const long = { ...choice(...many.map(() => about)), choices: many, listed_in: "bag" } as Field;
  const full = { counts: new Map([["bag", new Map(many.map((name, at) => [name, at + 1]))]]) };
  const all = actionsOf(schema([{ ...command("sell", null, [long]), only_for: MERCHANT }]));
  const merchant = { ...full, flags: new Set(["alive"]), texts: new Map([["phase", "merchant"]]) };
  const sold = all.filter((action) => isOffered(action, merchant));
  assert.deepEqual(sold.map((action) => countOf(action, full)), many.map((_, at) => at + 1));
  // One of three that there may be is behind the same button, and nothing alone behind none.
  const groups = (...args: Parameters<typeof offered>) =>
    [...groupsOf(offered(...args))].map(([{ name }, { length }]) => [name, length]);
  assert.deepEqual(groups("share", true, [], [["ring", 1]]), [["want", 2]]);
  assert.deepEqual(groups("share", true, [], []), []);
});

test("what hangs on others is offered before it can be chosen", () => {
  const [first, next] = [{ help: "Hurts." }, { help: "Hurts more.", needs: ["bolt"] }];
  const talents = { ...choice(first, next, first), listed_in: "open", marked_in: "learned" } as Field;
  const actions = actionsOf(schema([command("learn", null, [talents])]));
  const counts = new Map([["open", new Map([["sing", 1]])], ["learned", new Map([["bolt", 1]])]]);
  const known = { flags: new Set<string>(), texts: new Map<string, string>(), counts };
  const shown = actions.filter((action) => isOffered(action, known));
  assert.deepEqual(shown, actions);
  assert.deepEqual(actions.map((action) => isListed(action, known)), [false, false, true]);
  assert.deepEqual(actions.map((action) => isMarked(action, known)), [true, false, false]);
  assert.equal([...groupsOf(shown)].length, 1);
});

test("a choice that stands alone asks for nothing, and stays in the bar", () => {
  const [bolt, heal] = [{ help: "8 mana." }, { help: "9 mana.", alone: true }];
  const times: Field = { name: "times", label: "", type: "number", min: 1, max: 9, optional: false };
  const cast = command("cast", null, [choice(bolt, heal, heal), AT]);
  const actions = actionsOf(schema([cast, command("sing", null, [choice(heal), AT, times])]));
  const asked = actions.map(({ asks }) => asks.map(({ name }) => name));
  assert.deepEqual(asked, [["at"], [], [], ["times"]]);
  // Where one stands alone, another needs its place.
  assert.deepEqual(actions[0]?.asks.map(({ optional }) => optional), [false]);
  const [, healing] = actions;
  assert.ok(healing);
  const draft = new CommandDraft(healing);
  assert.deepEqual([draft.next, draft.values], [undefined, { spell: "heal" }]);
  // Buttons of one command stay together, wherever they act.
  assert.deepEqual([...groupsOf(actions)], []);
});

test("a key of the page's own is replaced, and a taken digit skipped", () => {
  const actions = actionsOf(
    schema([command("one", "1", []), command("chat", "Enter", []), command("x", null, [])]),
  );
  assert.deepEqual(actions.map(({ key }) => key), ["1", "2", "3"]);
});

test("a draft is filled field by field; only optional fields can be left out", () => {
  const [bolt] = actionsOf(schema([command("cast", null, [SPELL, AT])]));
  assert.ok(bolt);
  const draft = new CommandDraft(bolt);
  assert.equal(draft.next?.name, "at");
  draft.fill([3, 4]);
  assert.equal(draft.next, undefined);
  assert.deepEqual(draft.values, { spell: "bolt", at: [3, 4] });
  const without = new CommandDraft(bolt);
  assert.ok(without.skip());
  assert.deepEqual(without.values, { spell: "bolt", at: null });
  const [move] = actionsOf(schema([command("move", "click", [PLACE])]));
  assert.ok(move);
  assert.equal(new CommandDraft(move).skip(), false);
});

function kind(type: "path" | "pose", look: Partial<Look>): Kind {
  const plain = { glyph: "o", shape: "disc", colour: "#a0a0a0", material: "matte", size: 1, bar: null, figure: null,
    by: null } as const;
  const place = type === "pose" ? ({ type, turn: "free" } as const) : { type };
  return {
    name: "thing",
    label: "",
    components: [{ ...PLAIN_COMPONENT, name: "place", ...place }],
    variants: [],
    effect: null,
    simulated: false,
    look: { ...plain, label: null, ...look },
  };
}

function command(name: string, key: string | null, fields: Field[]): CommandKind {
  const hints = { newest_only: false, only_for: null, walk: null, sign: null };
  return { name, label: "", usage: name, help: "", key, ...hints, fields };
}

function schema(commands: CommandKind[]): Schema {
  const empty = { kinds: [], events: [], refusals: [], controls: [] };
  const scenery: Scenery = { camera: "around", place: "open", ground: null, no_grid: false, party: false, obstacles: [] };
  return { game: "test", ...empty, commands, avatar: null, scenery };
}

test("a flag with the sign for it hides its object from others, and no name does", () => {
  const component = (name: string, sign: string | null, type = "flag") => ({ name, sign, type });
  const components = [
    component("hidden", null),
    component("mist", "hide"),
    component("cloaked", "hide"),
    component("unseen", "hide", "text"),
    component("shielded", "shield"),
  ];
  assert.deepEqual(hidingFlagsOf({ components } as unknown as Kind), [1, 2]);
});
