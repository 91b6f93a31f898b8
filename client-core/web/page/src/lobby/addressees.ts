/** To whom a message can go. No DOM. */

import type { PlayerListing } from "../ambit/ambit.js";
import { texts } from "../texts.js";

/** To whom a message goes. */
export type Addressee = { channel: "lobby" | "room" | "party" } | { channel: "whisper"; to: string };

const LOBBY = "lobby";
/** The value of the player's room. */
export const ROOM = "room";
const PARTY = "party";
const PLAYER = "player:";

/**
 * The addressees; `chosen` is the present one's value. A player who was chosen stays in the list
 * after having left or taken another name, as gone: otherwise a whisper would go to the first in
 * the list.
 */
export function addresseesOf(
  others: readonly PlayerListing[],
  { isInRoom, isInParty }: { isInRoom: boolean; isInParty: boolean },
  chosen: string,
) {
  const options = [{ value: LOBBY, label: texts.to_lobby, isGone: false }];
  if (isInRoom) options.unshift({ value: ROOM, label: texts.to_room, isGone: false });
  if (isInParty) options.push({ value: PARTY, label: texts.to_party, isGone: false });
  for (const { name } of others) {
    options.push({ value: PLAYER + name, label: texts.to_player(name), isGone: false });
  }
  if (chosen.startsWith(PLAYER) && !options.some(({ value }) => value === chosen)) {
    const label = texts.to_gone_player(chosen.slice(PLAYER.length));
    options.push({ value: chosen, label, isGone: true });
  }
  return options;
}

export function addresseeOf(value: string): Addressee {
  if (value.startsWith(PLAYER)) return { channel: "whisper", to: value.slice(PLAYER.length) };
  return { channel: value === ROOM || value === PARTY ? value : "lobby" };
}
