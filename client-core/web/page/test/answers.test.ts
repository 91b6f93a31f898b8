import assert from "node:assert/strict";
import { test } from "node:test";

import { Answers } from "../src/core/answers.js";
import { Voices } from "../src/core/voices.js";

test("a command is answered in the frame after the key, before the host has it", () => {
  const answers = new Answers();
  assert.equal(answers.of(1_000, "Heal"), undefined);
  answers.give(1_000, "Heal");
  assert.deepEqual([answers.of(1_016, "Heal"), answers.of(1_016, "Bolt")], ["given", undefined]);
  assert.ok(answers.rise(1_016) > 0.03 && answers.rise(1_090) > answers.rise(1_016));
  assert.equal(answers.rise(1_200), 0);
  answers.take("Heal");
  assert.deepEqual([answers.of(1_040, "Heal"), answers.of(1_200, "Heal")], ["given", undefined]);
});

test("a refusal takes the answer back visibly, and silence ends it", () => {
  const answers = new Answers();
  answers.give(0, "Bolt");
  answers.refuse(60, "Bolt");
  assert.deepEqual([answers.of(61, "Bolt"), answers.rise(61)], ["refused", 0]);
  assert.deepEqual([answers.of(700, "Bolt"), answers.of(800, "Bolt")], ["refused", undefined]);
  // It is given again at once.
  answers.give(100, "Bolt");
  assert.equal(answers.of(116, "Bolt"), "given");
  assert.equal(answers.of(3_000, "Bolt"), undefined);
});

test("a command and a refusal have sounds of their own", () => {
  const voices = new Voices();
  const [press, refusal] = [voices.begin(0, "press", 0, 0), voices.begin(16, "refusal", 0, 0)];
  assert.ok(press && refusal && press.voice.volume < 0.5);
});
