/** The course of a game: announcements, who is out, what is cast, and the end. */

import assert from "node:assert/strict";
import { test } from "node:test";

import type { EventKind, GameEvent, Kind, Schema } from "../src/ambit/ambit.js";
import type { Action } from "../src/core/actions.js";
import { announcementOf, stateOf } from "../src/core/announcements.js";
import { elementsOf, NamedDeeds } from "../src/core/elements.js";
import { textOf } from "../src/core/event_texts.js";
import { LastTables } from "../src/core/ending.js";
import { type WatchedFrame, Watching } from "../src/core/watching.js";

test("the end has all who were there, and what the state says", () => {
  const last = new LastTables();
  const row = (own: boolean, ...cells: string[]) => ({ cells, own });
  const state = (...cells: string[]) => ({
    title: "Course", columns: ["Wave", "Phase", "Time left", "Monsters"],
    rows: [row(false, ...cells)], isState: true, clock: cells[2] ?? "",
  });
  const columns = ["Name", "Kills", "Gold", "Bag"];
  const table = { title: "Score", columns, isState: false, clock: "" };
  const bob = row(false, "bob", "7", "", "");
  const ann = (kills: string, gold: string) => row(true, "ann", kills, gold, "ring");
  last.note([state("1", "fight", "7:59", "3"), { ...table, rows: [bob, ann("2", "31")] }]);
  last.note([state("2", "lost", "0:05", "0"), { ...table, rows: [ann("4", "40")] }]);
  last.note([]);
  const { outcome, facts, tables } = last.ending();
  assert.deepEqual([outcome, facts], ["lost", [["Wave", "2"]]]);
  const [score] = tables;
  assert.deepEqual(score?.columns, ["Name", "Kills"]);
  const rows = score?.rows.map(({ cells, place }) => [place, ...cells]);
  assert.deepEqual(rows, [[1, "bob", "7"], [2, "ann", "4"]]);
  assert.deepEqual(score?.own, [["Gold", "40"]]);
});

test("whoever is the winner has won, and others read who it is", () => {
  const ending = (winner: string) => {
    const last = new LastTables();
    const [state, score] = [{ cells: [winner], own: false }, { cells: ["ann", "3"], own: true }];
    const common = { title: "Match", clock: "" };
    last.note([
      { ...common, columns: ["Winner"], rows: [state], isState: true },
      { ...common, title: "Score", columns: ["Name", "Points"], rows: [score], isState: false },
    ]);
    return last.ending();
  };
  assert.equal(ending("ann").outcome, "won");
  assert.deepEqual([ending("bob").outcome, ending("bob").winner], ["over", "bob"]);
});

test("what a spell is made of is declared, and holds for what was named before", () => {
  const about = [{ label: "Breath of frost", made_of: "ice" }, { label: "", made_of: null }];
  const field = { type: "choice", choices: ["breath", "firebolt"], about };
  const elements = elementsOf({ commands: [{ fields: [field] }] } as unknown as Schema);
  const found = ["breath", "Breath of frost", "firebolt"].map((name) => elements.get(name));
  assert.deepEqual(found, ["ice", "ice", undefined]);
  const deeds = new NamedDeeds();
  deeds.note(0, 7, "ice");
  assert.equal(deeds.take(100, 8), undefined);
  assert.equal(deeds.take(100, 7), "ice");
  assert.equal(deeds.take(100, 7), undefined, "once");
  deeds.note(0, 7, "ice");
  assert.equal(deeds.take(60_000, 7), undefined, "long ago");
});

test("whoever is out watches the nearest who is up, or whom the player picks", () => {
  const hero = { name: "hero", components: [{ name: "alive", type: "flag" }] };
  const ids = [10, 20, 30];
  const bars = [1, 1, 1];
  let isAlive = false;
  const frame = {
    avatar: 0, count: 3, kinds: [0, 0, 0], kind: () => hero, label: (index: number) => `n${index}`,
    id: (index: number) => ids[index], indexOf: (id: number) => ids.indexOf(id),
    bar: (index: number) => bars[index], component: () => isAlive,
    x: (index: number) => [0, 9, 4][index], y: () => 0,
  } as unknown as WatchedFrame;
  const watching = new Watching([{ command: { only_for: "alive" } } as Action]);
  const at = (now: number) => {
    watching.update(now, frame);
    return watching.indexIn(frame);
  };
  assert.deepEqual([at(0), watching.isOut], [0, false], "who never was up is not out");
  isAlive = true;
  at(100);
  isAlive = false;
  assert.deepEqual([at(200), watching.isOut], [0, true]);
  assert.equal(at(5_000), 2);
  watching.pick(20);
  assert.equal(at(5_100), 1);
  bars[1] = 0;
  assert.equal(at(5_200), 2);
  isAlive = true;
  assert.deepEqual([at(5_300), watching.isOut], [0, false]);
});

test("a change of the game's state is announced, with what can be done then", () => {
  const kind = {
    name: "phase-begins", text: "Wave {wave}: {phase}",
    fields: [{ name: "phase", type: "text" }, { name: "wave", type: "number" }],
  } as unknown as EventKind;
  const states = [{ components: [{ name: "wave" }, { name: "phase" }] }] as unknown as Kind[];
  const help = "Say what you need; or not.";
  const command = { name: "want", label: "Need", help, only_for: "share" };
  const actions = [{ command }, { command }] as unknown as Action[];
  const of = (phase: string, kinds = states) => {
    const event = { phase, wave: 2 } as unknown as GameEvent;
    return announcementOf(kind, event, `Wave 2: ${phase}`, kinds, actions);
  };
  const share = { lead: "Wave 2", title: "Share", advice: "Say what you need", tone: "plain" };
  assert.deepEqual(of("share"), share);
  assert.deepEqual([of("won")?.tone, of("lost")?.tone, of("won")?.advice], ["won", "lost", ""]);
  assert.equal(of("share", []), undefined);
});

test("whoever has won a round is announced as the player writes it", () => {
  const named = (...names: string[]) => names.map((name) => ({ name }));
  const states = [{ components: named("round", "time_left", "last_winner") }] as Kind[];
  const kind = { name: "round-won", fields: named("last_winner") } as unknown as EventKind;
  const event = { ev: "event", last_winner: "ann (15)" } as unknown as GameEvent;
  const text = "The round is over: ann (15) has won.";
  const { lead, title } = announcementOf(kind, event, text, states, []) ?? {};
  assert.deepEqual([lead, title], ["The round is over", "ann (15) has won."]);
});

test("the end of a round is announced, with its number and who has won", () => {
  const named = (...names: string[]) => names.map((name) => ({ name, type: "text" }));
  const states = [{ components: named("round", "goal", "time_left", "winner") }] as Kind[];
  const text = "Round {round} is over. {winner} has won.";
  const kind = { name: "round-over", text, fields: named("round", "winner") } as unknown as EventKind;
  const titleOf = (winner: string) => {
    const event = { ev: "event", round: 3, winner } as unknown as GameEvent;
    const told = textOf(kind, event, () => undefined);
    return announcementOf(kind, event, told ?? "", states, [])?.title;
  };
  assert.equal(titleOf("pilot 2"), "Round 3 is over. pilot 2 has won.");
  assert.equal(titleOf(""), "Round 3 is over.");
});

test("the state of the game says what is to be announced now", () => {
  const component = (name: string) => ({ name }) as Kind["components"][number];
  const components = ["wave", "phase"].map(component);
  const course = { name: "course", components } as Kind;
  const fields = [{ name: "phase" }, { name: "wave" }];
  const begins = { name: "phase-begins", fields } as unknown as EventKind;
  const of = (rows: number[], ...values: (string | number)[]) =>
    stateOf(begins, [course], { rows: () => rows, component: (_, at) => values[at] });
  assert.deepEqual(of([7], 2, "merchant"), { phase: "merchant", wave: 2 });
  assert.equal(of([], 2, "merchant"), undefined, "not there yet");
  assert.equal(of([7], 2, ""), undefined);
  assert.equal(of([7, 8], 2, "fight"), undefined, "a table is no state");
});
