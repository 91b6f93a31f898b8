/** What a game may declare, with nothing in it: for tests to fill in. */

import type { Choice, Component } from "../src/ambit/ambit.js";

export const PLAIN_CHOICE = {
  label: "", help: "", cooldown_ms: 0, only_for: null, outcome: null, alone: false, reach_cm: 0,
  cost: null, sign: null, made_of: null, thing: null, tint: null, raises: null,
  rarity: null, needs: [],
} as Choice;

/** Of any type. */
export const PLAIN_COMPONENT = {
  label: "", unit: "", sign: null, role: null, words: [], effect: null,
} satisfies Partial<Component>;
