/**
 * What a player can do, as buttons and keys: from the commands that a game declares.
 *
 * A command whose first field is a choice gives one action for each name, so that a spell is one
 * button. Keys: the one that the command suggests, otherwise the next free digit.
 */

import type {
  Choice, CommandKind, Condition, Cost, Field, Schema, Value,
} from "../ambit/ambit.js";
import { isMet, type Known } from "./known.js";
import { asWords, forPlayers, labelOf } from "./words.js";

export interface Action {
  command: CommandKind;
  /** Unique: the command, and the choice if there is one. */
  name: string;
  /** What players read instead of the name. */
  label: string;
  /** One line; may be empty. */
  help: string;
  /** For this time after it was done it is refused. */
  cooldownMs: number;
  /** The largest distance of a place from the avatar; Infinity for any distance. */
  reachM: number;
  /** What it costs, if anything. */
  cost: Cost | null;
  /** Only as long as one of these is met; empty for always. */
  onlyFor: readonly Condition[];
  /** Only as long as the counts with this name have its choice; empty for always. */
  listedIn: string;
  /** Values that the action has by itself. */
  preset: Readonly<Record<string, Value>>;
  /** The fields that are still to be filled, in order. */
  asks: readonly Field[];
  /** As `KeyboardEvent.key` in lower case, or null. {@link giveDigits} assigns digits again. */
  key: string | null;
  suggestedKey: string | null;
  /** Whether a click on the map gives it. */
  isClick: boolean;
}

/** A longer list of choices is asked for in a form, unless each of them is explained. */
const MAX_BUTTONS_OF_CHOICE = 24;
const DIGITS = "1234567890".split("");
/** The page's own. */
const RESERVED = new Set(["enter", "escape", "tab", "f2"]);

export function actionsOf(schema: Schema): Action[] {
  const click = schema.commands.find(isGivenByClick);
  const actions = schema.commands.flatMap((command) => {
    const isClick = command === click;
    return variants(command).map(({ choice, about, preset, asks }, _, all): Action => {
      const wanted = normaliseKey(command.key ?? "");
      const isUsable = all.length === 1 && !["", "click"].includes(wanted) && !RESERVED.has(wanted);
      const own = !isClick && isUsable ? wanted : null;
      const name = choice === undefined ? command.name : `${command.name} ${choice}`;
      const label = labelOfAction(command, choice, about?.label ?? "");
      const help = about?.help || command.help;
      const [cooldownMs, onlyFor] = [about?.cooldown_ms ?? 0, onlyForOf(command, about)];
      const reachM = about?.reach_cm ? about.reach_cm / 100 : Infinity;
      const cost = about?.cost ?? null;
      const keys = { key: own, suggestedKey: own };
      const listedIn = choice === undefined ? "" : listOf(command);
      return {
        command, name, label, help, cooldownMs, reachM, cost, onlyFor, listedIn, preset, asks, ...keys,
        isClick,
      };
    });
  });
  giveDigits(actions, schema);
  return actions;
}

/** Digits for those actions, of all that a player has now, for which the game suggests no key. */
export function giveDigits(actions: readonly Action[], schema: Schema): void {
  const suggested = schema.commands.map(({ key }) => normaliseKey(key ?? ""));
  const taken = [...suggested, ...schema.controls.flatMap(({ keys }) => keys)];
  const free = DIGITS.filter((digit) => !taken.includes(digit));
  for (const action of actions) {
    if (!action.isClick) action.key = action.suggestedKey ?? free.shift() ?? null;
  }
}

/** `own` is the label of the choice; a label of the command stands before it. */
function labelOfAction(command: CommandKind, choice: string | undefined, own: string): string {
  if (choice === undefined) return labelOf(command);
  const { name, label } = command;
  if (label) return `${label}: ${labelOf({ name: choice, label: own })}`;
  return own || forPlayers(`${name} ${choice}`);
}

interface Variant {
  choice: string | undefined;
  about: Choice | undefined;
  preset: Record<string, Value>;
  asks: Field[];
}

function variants({ fields }: CommandKind): Variant[] {
  const [first, ...rest] = fields;
  const isExplained = first?.type === "choice" && first.about.every(({ help }) => help !== "");
  const isButtons =
    first?.type === "choice" &&
    (isExplained || (!first.optional && first.choices.length <= MAX_BUTTONS_OF_CHOICE));
  if (!isButtons) {
    return [{ choice: undefined, about: undefined, preset: {}, asks: [...fields] }];
  }
  // Where some choices stand alone, the others need what comes next.
  const needed = rest.map((field, index) => (index === 0 ? { ...field, optional: false } : field));
  const others = first.about.some(({ alone }) => alone) ? needed : rest;
  const all: Variant[] = first.choices.map((choice, index) => ({
    choice,
    about: first.about[index],
    preset: { [first.name]: choice },
    asks: first.about[index]?.alone ? rest.filter(({ optional }) => !optional) : others,
  }));
  // Not to choose is a choice, too.
  const nothing = { choice: undefined, about: undefined, preset: { [first.name]: null }, asks: rest };
  return first.optional ? [...all, nothing] : all;
}

/** A click gives one place: other fields could not be filled by it. */
function isGivenByClick({ key, fields }: CommandKind): boolean {
  const [first, ...rest] = fields;
  return key === "click" && first?.type === "position" && rest.every((field) => field.optional);
}

/** `Space`, `space` and a blank are the same key. */
export function normaliseKey(key: string): string {
  const lower = key.toLowerCase();
  return lower === "space" || lower === "spacebar" ? " " : lower;
}

/** Whether a player has an action now. */
export function isOffered(
  action: Action,
  known: Pick<Known, "flags" | "texts" | "counts">,
): boolean {
  const { command, onlyFor } = action;
  if (!isMet(command.only_for, known)) return false;
  if (onlyFor.length > 0 && !onlyFor.some((condition) => isMet(condition, known))) return false;
  // What cannot be chosen now is in the tree, too.
  return isOfTree(command) || isListed(action, known);
}

/** Whether there is what an action chooses: always, unless the game counts it. */
export function isListed(action: Action, known: Pick<Known, "counts">): boolean {
  return action.listedIn === "" || countOf(action, known) > 0;
}

/** Whether the player has already what an action chooses: it is learned, or worn. */
export function isMarked(action: Action, { counts }: Pick<Known, "counts">): boolean {
  return (counts.get(markedIn(action.command))?.get(choiceOf(action)) ?? 0) > 0;
}

/** The counts of the marked ones among a command's choices; empty for none. */
export function markedIn({ fields: [field] }: CommandKind): string {
  return field?.type === "choice" ? field.marked_in : "";
}

/** Whether the choices of a command hang on each other. */
export function isOfTree({ fields: [field] }: Pick<CommandKind, "fields">): boolean {
  return field?.type === "choice" && field.about.some(({ needs }) => needs.length > 0);
}

/** How many there are of what an action chooses. */
export function countOf(action: Action, { counts }: Pick<Known, "counts">): number {
  return counts.get(action.listedIn)?.get(choiceOf(action)) ?? 0;
}

/** Whether a player has less than an action costs. */
export function isTooDear(
  { cost }: Pick<Action, "cost">,
  { numbers, gauges }: Pick<Known, "numbers" | "gauges">,
): boolean {
  const has = cost && (numbers.get(cost.of) ?? gauges.get(cost.of));
  return cost !== null && typeof has === "number" && has < cost.amount;
}

/** `10 mana`, `+12 gold`; empty if it costs nothing. */
export function costText({ cost }: Pick<Action, "cost">): string {
  if (cost === null) return "";
  const sign = cost.amount < 0 ? "+" : "";
  return `${sign}${Math.abs(cost.amount)} ${asWords(cost.of)}`;
}

/** The help of an action, after what it costs. */
export function helpOf(action: Pick<Action, "cost" | "help">): string {
  return [costText(action), action.help].filter(Boolean).join(". ");
}

/** The name that an action has chosen; empty if that is none. */
export function choiceOf({ command, preset }: Action): string {
  return String(preset[command.fields[0]?.name ?? ""] ?? "");
}

function listOf({ fields: [first] }: CommandKind): string {
  return first?.type === "choice" ? first.listed_in : "";
}

/** Tells cards from each other. */
export function cardName(action: Action): string {
  return `${action.command.name} ${choiceOf(action)}`;
}

/** More would not fit beside each other. */
const MOST_CARDS = 6;

/**
 * The actions that are shown as cards, since a player first has to choose what to be: those of a
 * command whose first field sets a text of the avatar, as long as that is none of the choices.
 * `texts` are those of the avatar, by their names. Empty if there is no such choice now.
 */
export function cardsOf(
  offered: readonly Action[],
  texts: ReadonlyMap<string, string>,
): readonly Action[] {
  const isOpen = ({ command: { fields: [field, ...rest] } }: Action) =>
    field?.type === "choice" &&
    rest.length === 0 &&
    texts.has(field.sets) &&
    !field.choices.includes(texts.get(field.sets) ?? "");
  const first = offered.find((action) => !action.isClick && isOpen(action));
  const cards = first ? offered.filter(({ command }) => command === first.command) : [];
  return cards.length > 1 && cards.length <= MOST_CARDS ? cards : [];
}

/** A command with fewer choices has buttons beside each other. */
const LEAST_IN_GROUP = 3;

/**
 * The actions that are behind one button, as cards: choices that a player reads about and makes at
 * leisure, such as what to buy. Each says what it is good for, and none has to cool down.
 */
export function groupsOf(offered: readonly Action[]): ReadonlyMap<CommandKind, readonly Action[]> {
  const groups = new Map<CommandKind, Action[]>();
  for (const action of offered) {
    const { command, help, preset } = action;
    const isChoice = Object.keys(preset).length > 0 && command.fields.length === 1;
    const isExplained = help !== command.help || choiceOf(action) === "";
    if (!isChoice || !isExplained) continue;
    groups.set(command, [...(groups.get(command) ?? []), action]);
  }
  // By all that there may be: what is listed comes and goes, and its button stays where it is.
  const isLong = ([{ fields: [field] }, actions]: [CommandKind, Action[]]) =>
    field?.type === "choice" &&
    field.choices.length >= LEAST_IN_GROUP &&
    field.about.every(({ cooldown_ms }) => cooldown_ms === 0) &&
    actions.some((action) => choiceOf(action) !== "");
  return new Map([...groups].filter(isLong));
}

/** Of a choice; of a command that asks for one, those of all its choices. */
function onlyForOf(command: CommandKind, about: Choice | undefined): Condition[] {
  const [first] = command.fields;
  if (about) return about.only_for ? [about.only_for] : [];
  if (first?.type !== "choice") return [];
  const all = first.about.map((choice) => choice.only_for);
  return all.includes(null) ? [] : all.filter((condition) => condition !== null);
}

/** A command that is being given: its fields are filled one after the other. */
export class CommandDraft {
  readonly values: Record<string, Value>;
  #filled = 0;

  constructor(readonly action: Action) {
    this.values = { ...action.preset };
  }

  /** The field to fill next; undefined when the command is complete. */
  get next(): Field | undefined {
    return this.action.asks[this.#filled];
  }

  fill(value: Value): void {
    const field = this.next;
    if (!field) return;
    this.values[field.name] = value;
    this.#filled += 1;
  }

  /** Leaves the next field without a value. False if it needs one. */
  skip(): boolean {
    if (!this.next?.optional) return false;
    this.fill(null);
    return true;
  }
}
