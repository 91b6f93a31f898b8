/** Signs on buttons, drawn: not every system has characters for them. Beside each is its name. */

import type { TileSign } from "../core/action_tile.js";
import { button, span, svg } from "../dom.js";

/** Lines of a square of 24. */
const LINES = {
  lobby: "M4 5h16v11H10l-5 4v-4H4z",
  network: "M5 20v-5M10 20v-9M15 20V7M20 20V3",
  sound: "M4 9v6h4l5 4V5L8 9zM17 9a4 4 0 0 1 0 6M19.5 6.5a8 8 0 0 1 0 11",
  silence: "M4 9v6h4l5 4V5L8 9zM17 9.5l5 5M22 9.5l-5 5",
  log: "M9 6h11M9 12h11M9 18h11M4.5 6h.01M4.5 12h.01M4.5 18h.01",
  gear:
    "M12 9a3 3 0 1 1 0 6 3 3 0 0 1 0-6zM12 2.5v3M12 18.5v3M2.5 12h3M18.5 12h3M5.3 5.3l2.1 2.1" +
    "M16.6 16.6l2.1 2.1M18.7 5.3l-2.1 2.1M7.4 16.6l-2.1 2.1M12 5.5a6.5 6.5 0 1 1 0 13 6.5 6.5 0 0 1 0-13z",
  cup:
    "M7 4h10v6a5 5 0 0 1-10 0zM7 5.5H3.5V7A3.5 3.5 0 0 0 7 10.5M17 5.5h3.5V7a3.5 3.5 0 0 1-3.5 3.5" +
    "M12 15v4M8 20h8",
  help: "M8.5 9a3.5 3.5 0 1 1 5.4 3c-1.2.8-1.9 1.4-1.9 3M12 19h.01",
  leave: "M13 4H5v16h8M10 12h11M17 8l4 4-4 4",
  north: "M12 19V5M6 11l6-6 6 6",
  south: "M12 5v14M6 13l6 6 6-6",
  west: "M19 12H5M11 6l-6 6 6 6",
  east: "M5 12h14M13 6l6 6-6 6",
  turn_west: "M5 4v6h6M5.5 10A8 8 0 1 1 5 16",
  turn_east: "M19 4v6h-6M18.5 10A8 8 0 1 0 19 16",
  fire: "M12 3c1 4 6 6 6 11a6 6 0 0 1-12 0c0-3 2-4 2.5-6.5C10 9 11 10 11 11c1.5-2 1.5-5 1-8z",
  burst:
    "M12 2v5M12 17v5M2 12h5M17 12h5M5 5l3.5 3.5M15.5 15.5L19 19M19 5l-3.5 3.5" +
    "M8.5 15.5L5 19M12 10a2 2 0 1 1 0 4 2 2 0 0 1 0-4z",
  frost: "M12 2v20M3.5 7l17 10M20.5 7l-17 10M9.5 3.5L12 6l2.5-2.5M9.5 20.5L12 18l2.5 2.5",
  heal: "M9.5 4h5v5.5H20v5h-5.5V20h-5v-5.5H4v-5h5.5z",
  renew: "M12 20C5 15 3 12 3 8.5 3 4 9 3 12 7.5 15 3 21 4 21 8.5c0 3.5-2 6.5-9 11.5z",
  shield: "M12 3l8 3v5c0 5-3.5 8.5-8 10-4.5-1.5-8-5-8-10V6z",
  hide: "M3 12c4-7 14-7 18 0-4 7-14 7-18 0zM12 9.5a2.5 2.5 0 1 1 0 5 2.5 2.5 0 0 1 0-5zM4 20L20 4",
  dash: "M3 6l6 6-6 6M9 6l6 6-6 6M15 6l6 6-6 6",
  sword: "M20 4l-1 5-8 8-4-4 8-8zM5 13l6 6M8 16l-5 5",
  arrow: "M4 20L19 5M13 4h7v7M4 15v5h5",
  bolt: "M14 2L5 14h6l-2 8 10-13h-6z",
  call: "M12 3a4 4 0 1 1 0 8 4 4 0 0 1 0-8zM5 21c0-9 14-9 14 0M12 11v3M3 9l2 1M21 9l-2 1",
  trap: "M3 18h18M4 18c0-11 16-11 16 0M7 18l1.5-5 1.5 5M14 18l1.5-5 1.5 5",
  roar: "M4 10v4h4l7 5V5l-7 5zM18 9l3-2M18.5 12H22M18 15l3 2",
  light:
    "M12 8a4 4 0 1 1 0 8 4 4 0 0 1 0-8zM12 2v3M12 19v3M2 12h3M19 12h3M5 5l2 2" +
    "M17 17l2 2M19 5l-2 2M7 17l-2 2",
  drop: "M12 3c4 5 6 8 6 11a6 6 0 0 1-12 0c0-3 2-6 6-11z",
  whirl: "M12 12a2 2 0 1 1 2 2 4 4 0 1 1 2-5M12 12a6 6 0 1 0 8 0 9 9 0 1 0-4 7",
  push: "M12 9V3M9 5l3-3 3 3M12 15v6M9 19l3 3 3-3M9 12H3M5 9l-3 3 3 3M15 12h6M19 9l3 3-3 3",
  ready: "M4 13l5 6L20 5",
  share:
    "M4 11h16v9H4zM3 7h18v4H3zM12 7v13M12 7C8 7 7 3 9.5 3S12 7 12 7z" +
    "M12 7c4 0 5-4 2.5-4S12 7 12 7z",
  hourglass: "M6 3h12M6 21h12M7.5 3c0 5 9 6 9 10.5V21M16.5 3c0 5-9 6-9 10.5V21",
  clock: "M12 3a9 9 0 1 1 0 18a9 9 0 0 1 0-18zM12 7.5V12l3.5 2.5",
  box: "M12 3l8 4.5v9L12 21l-8-4.5v-9zM4 7.5l8 4.5l8-4.5M12 12v9",
  target: "M12 5a7 7 0 1 1 0 14a7 7 0 0 1 0-14zM12 2v6M12 16v6M2 12h6M16 12h6",
} as const satisfies Record<TileSign, string> & Record<string, string>;

export type IconName = keyof typeof LINES;

export function icon(name: IconName): SVGElement {
  const attributes = { class: "icon", viewBox: "0 0 24 24", "aria-hidden": "true" };
  return svg("svg", attributes, svg("path", { d: LINES[name] }));
}

/** A button that shows a sign; its name is read by screen readers, and shown beside the pointer. */
export function iconButton(
  name: IconName,
  label: string,
  act: () => void,
  attributes: Record<string, string> = {},
): HTMLButtonElement {
  const named = { "aria-label": label, title: label, ...attributes };
  return button(icon(name), act, named, span("unseen", label));
}
