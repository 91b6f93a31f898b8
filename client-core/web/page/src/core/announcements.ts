/**
 * Which events are announcements to all: those that tell a change of the game's state, since all
 * their fields have the names of its components, such as `wave` and `phase`.
 */

import type { EventKind, Frame, GameEvent, Kind } from "../ambit/ambit.js";
import { LOST, WINNER, WON } from "./ending.js";
import { forPlayers, labelOf } from "./words.js";
import type { Action } from "./actions.js";

export interface Announcement {
  /** Above the title; may be empty. */
  lead: string;
  title: string;
  /** What players can do now that they could not do before. */
  advice: string;
  tone: "won" | "lost" | "plain";
}

/** `states` are the room-wide kinds, `text` what the game says. */
export function announcementOf(
  kind: EventKind,
  event: GameEvent,
  text: string,
  states: readonly Kind[],
  actions: readonly Action[],
): Announcement | undefined {
  const { fields } = kind;
  const isState = states.some(({ components }) =>
    fields.every((field) => components.some(({ name }) => name === field.name)),
  );
  if (fields.length === 0 || !isState) return undefined;
  const values = fields.map(({ name }) => String((event as Record<string, unknown>)[name] ?? ""));
  const [first, rest] = [text.replace(/:.*$/, ""), text.replace(/^[^:]*:\s*/, "")];
  const hasLead = rest !== text;
  // A player's name stays as the player writes it.
  const isByName = fields.some(({ name }, at) =>
    WINNER.test(name) && values[at] !== "" && rest.includes(values[at] ?? ""),
  );
  const title = hasLead ? rest : text;
  const commands = new Set(actions.map(({ command }) => command));
  const now = [...commands].filter(({ only_for }) => only_for !== "" && values.includes(only_for));
  const [only] = now;
  const advice = now.length === 1 && only ? sentenceOf(only.help) : now.map(labelOf).join(" · ");
  return {
    lead: hasLead ? first : "",
    title: isByName ? title : forPlayers(title),
    advice,
    tone: values.some((value) => WON.test(value))
      ? "won"
      : values.some((value) => LOST.test(value)) ? "lost" : "plain",
  };
}

/** What the game's state has now for the fields of an announcement; undefined if it is unknown. */
export function stateOf(
  { fields }: EventKind,
  states: readonly Kind[],
  frame: Pick<Frame, "rows" | "component">,
): Record<string, number | boolean | string> | undefined {
  for (const { name, components } of states) {
    const [row, ...more] = frame.rows(name);
    if (row === undefined || more.length > 0) continue;
    const values = fields.map((field) => {
      const at = components.findIndex((component) => component.name === field.name);
      return [field.name, at < 0 ? undefined : frame.component(row, at)] as const;
    });
    const isKnown = values.every(([, value]) => value !== undefined && value !== "");
    if (isKnown) return Object.fromEntries(values) as Record<string, number | boolean | string>;
  }
  return undefined;
}

/** The first part of what a command does. */
export function sentenceOf(help: string): string {
  return help.replace(/[;.].*$/s, "");
}
