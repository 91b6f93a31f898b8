/**
 * Which events are announcements to all: those that tell a change of the game's state, since all
 * their fields have the names of its components, such as `wave` and `phase`.
 */

import type { Component, EventKind, Frame, GameEvent, Kind, Outcome } from "../ambit/ambit.js";
import type { Action } from "./actions.js";
import { textOf } from "./event_texts.js";
import { forPlayers, labelOf } from "./words.js";

export interface Announcement {
  /** Above the title; may be empty. */
  lead: string;
  title: string;
  /** What players can do now that they could not do before. */
  advice: string;
  /** How the game has ended by this; null while it runs. */
  outcome: Outcome | null;
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
  const state = states.find(({ components }) =>
    fields.every((field) => components.some(({ name }) => name === field.name)),
  );
  if (fields.length === 0 || !state) return undefined;
  const values = event as Record<string, unknown>;
  const told = fields.flatMap(({ name }): [Component, string][] => {
    const component = state.components.find((one) => one.name === name);
    return component ? [[component, String(values[name] ?? "")]] : [];
  });
  // A player's name stays as the player writes it.
  const isByName = told.some(([{ role }, value]) => role !== null && text.startsWith(value));
  const commands = new Set(actions.map(({ command }) => command));
  const now = [...commands].filter(({ only_for }) =>
    told.some(([{ name }, value]) => only_for?.of === name && only_for.is === value));
  const [only] = now;
  const words = told.map(([component, value]) => component.words.find(({ is }) => is === value));
  return {
    lead: textOf({ ...kind, text: kind.lead }, event, () => undefined) ?? "",
    title: isByName ? text : forPlayers(text),
    advice: now.length === 1 && only ? only.help : now.map(labelOf).join(" · "),
    outcome: words.find((word) => word?.outcome)?.outcome ?? null,
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
