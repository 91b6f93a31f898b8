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

const PLAIN = {
  isState: false, clock: "", phase: "", outcome: null, roles: [],
};

test("the end has all who were there, and what the state says", () => {
  const last = new LastTables();
  let id = 0;
  const row = (own: boolean, ...cells: string[]) => ({ cells, own, id: (id += 1) });
  const state = (outcome: "lost" | null, ...cells: string[]) => ({
    ...PLAIN, title: "Course", columns: ["Wave", "Phase", "Time left", "Monsters", "Why"],
    rows: [row(false, ...cells)], isState: true, clock: cells[2] ?? "", phase: cells[1] ?? "",
    outcome, roles: [null, null, null, null, "reason" as const],
  });
  const columns = ["Name", "Kills", "Gold", "Bag"];
  const table = { ...PLAIN, title: "Score", columns };
  const bob = row(false, "bob", "7", "", "");
  const ann = (kills: string, gold: string) => row(true, "ann", kills, gold, "");
  last.note([state(null, "1", "fight", "7:59", "3", ""), { ...table, rows: [bob, ann("2", "31")] }]);
  last.note([state("lost", "2", "doom", "0:05", "0", "All fell"), { ...table, rows: [ann("4", "40")] }]);
  last.note([]);
  const { outcome, facts, reason, tables } = last.ending();
  assert.deepEqual([outcome, facts, reason], ["lost", [["Wave", "2"]], "All fell"]);
  const [score] = tables;
  assert.deepEqual(score?.columns, ["Name", "Kills"]);
  const rows = score?.rows.map(({ cells, place }) => [place, ...cells]);
  assert.deepEqual(rows, [[1, "bob", "7"], [2, "ann", "4"]]);
  assert.deepEqual(score?.own, [["Gold", "40"]]);
});

test("whoever is the winner has won, and others read who it is", () => {
  const ending = (winner: string) => {
    const last = new LastTables();
    const state = { cells: [winner], own: false, id: 1 };
    const others = [["red", "3", "ann"], ["red", "5", "bob"]];
    const score = others.map((cells, at) => ({ cells, own: at === 0, id: 2 + at }));
    const winners = ["winner" as const];
    const roles = [null, null, "player" as const];
    last.note([
      { ...PLAIN, title: "Match", columns: ["Best"], rows: [state], isState: true, roles: winners },
      { ...PLAIN, title: "Score", columns: ["Team", "Points", "Name"], rows: score, roles },
    ]);
    return last.ending();
  };
  assert.equal(ending("ann").outcome, "won");
  assert.deepEqual([ending("bob").outcome, ending("bob").winner], ["over", "bob"]);
  // Two of a team are two, though the first column is the same.
  const names = ending("ann").tables[0]?.rows.map(({ cells }) => cells[2]);
  assert.deepEqual(names, ["bob", "ann"]);
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
    avatar: 0, count: 3, kindIndex: () => 0, kind: () => hero, label: (index: number) => `n${index}`,
    id: (index: number) => ids[index], indexOf: (id: number) => ids.indexOf(id),
    bar: (index: number) => bars[index], component: () => isAlive,
    x: (index: number) => [0, 9, 4][index], y: () => 0,
  } as unknown as WatchedFrame;
  const watching = new Watching([{ command: { only_for: { of: "alive", is: "" } } } as Action]);
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
    name: "phase-begins", lead: "Wave {wave}", text: "{phase}",
    fields: [{ name: "phase", type: "text" }, { name: "wave", type: "number" }],
  } as unknown as EventKind;
  const words = [{ is: "doom", label: "", outcome: "lost" }, { is: "share", label: "", outcome: null }];
  const part = (name: string, words: object[] = []) => ({ name, role: null, words });
  const states = [{ components: [part("wave"), part("phase", words)] }] as unknown as Kind[];
  const help = "Say what you need.";
  const command = { name: "want", label: "Need", help, only_for: { of: "phase", is: "share" } };
  const actions = [{ command }, { command }] as unknown as Action[];
  const of = (phase: string, kinds = states) => {
    const event = { phase, wave: 2 } as unknown as GameEvent;
    return announcementOf(kind, event, phase, kinds, actions);
  };
  assert.deepEqual(of("share"), { lead: "Wave 2", title: "Share", advice: help, outcome: null });
  // The word that means it is declared, and no other one does.
  assert.deepEqual([of("doom")?.outcome, of("lost")?.outcome], ["lost", null]);
  assert.deepEqual([of("doom")?.advice, of("share", [])], ["", undefined]);
});

test("whoever has won a round is announced as the player writes it", () => {
  const part = (name: string, role: string | null) => ({ name, role, words: [] });
  const kind = {
    name: "round-won", lead: "The round is over", fields: [{ name: "champion" }],
  } as unknown as EventKind;
  const event = { ev: "event", champion: "ann (15)" } as unknown as GameEvent;
  const of = (role: string | null) => {
    const states = [{ components: [part("round", null), part("champion", role)] }] as unknown as Kind[];
    return announcementOf(kind, event, "ann (15) has won.", states, []);
  };
  assert.deepEqual([of("winner")?.lead, of("winner")?.title], ["The round is over", "ann (15) has won."]);
  assert.equal(of(null)?.title, "Ann (15) has won.");
});

test("the end of a round is announced, with its number and who has won", () => {
  const named = (...names: string[]) =>
    names.map((name) => ({ name, type: "text", words: [], role: name === "winner" ? name : null }));
  const states = [{ components: named("round", "goal", "time_left", "winner") }] as unknown as Kind[];
  const text = "Round {round} is over. {winner} has won.";
  const kind = { name: "round-over", lead: "", text, fields: named("round", "winner") } as unknown as EventKind;
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
