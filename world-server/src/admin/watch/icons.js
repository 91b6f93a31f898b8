// Pictures of one colour, of 24 x 24, drawn with lines.

import { svg } from "./dom.js";

const PATHS = {
  overview: "M3 13h7V3H3zM14 21h7V11h-7zM14 7h7V3h-7zM3 21h7v-4H3z",
  players:
    "M9 11a4 4 0 1 0 0-8 4 4 0 0 0 0 8M2 21c0-4 3-6.5 7-6.5s7 2.5 7 6.5M16 3.5a4 4 0 0 1 0 7.2" +
    "M18 15c2.5.8 4 2.9 4 6",
  rooms: "M4 21V5l9-2v18M13 5h7v16M2 21h20M9 12h.01",
  hosts: "M3 4h18v7H3zM3 13h18v7H3zM7 7.5h.01M7 16.5h.01M12 7.5h5M12 16.5h5",
  events: "M4 6h16M4 12h16M4 18h10",
  bans: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18M5.7 5.7l12.6 12.6",
  server: "M12 3v9M6.3 6.8a8 8 0 1 0 11.4 0",
  close: "M5 5l14 14M19 5L5 19",
  search: "M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14M16 16l5 5",
  good: "M4 12.5l5.5 5.5L20 7",
  attention: "M12 3L2 20.5h20zM12 10v5M12 17.8h.01",
  lock: "M6 11h12v10H6zM8.5 11V7.5a3.5 3.5 0 0 1 7 0V11",
  leave: "M10 4H4v16h6M9 12h12M17 8l4 4-4 4",
};

export function icon(name) {
  const path = svg("path", { d: PATHS[name] });
  return svg("svg", { class: "icon", viewBox: "0 0 24 24", "aria-hidden": "true" }, path);
}
