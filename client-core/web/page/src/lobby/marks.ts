/** Small drawings of the lobby: the name of the page, and a lock. */

import { svg } from "../dom.js";

/** The letters of "Ambit" as strokes, 60 high, between which a world goes round. */
const LETTERS = "M4 60 28 4 52 60M72 60V6L99 42 126 6V60" +
  "M150 58V8H174A12.5 12.5 0 0 1 174 33H150M174 33H177A12.5 12.5 0 0 1 177 58H150" +
  "M214 4V60M236 8H284M260 8V60";
/** Around the first letter, in front of it and behind it. */
const ORBIT = "M8 50C-16 64-8 70 18 60 44 50 66 34 60 28 56 25 50 26 44 29";

export function wordmark(): SVGElement {
  const letters = { d: LETTERS, stroke: "currentColor", "stroke-width": 9 };
  const orbit = { d: ORBIT, stroke: "#ffc94d", "stroke-width": 4.5 };
  const round = { fill: "none", "stroke-linecap": "round" };
  return drawing("wordmark", "-12 -6 304 78",
    svg("path", { ...round, ...letters, "stroke-linejoin": "round" }),
    svg("path", { ...round, ...orbit }),
    svg("circle", { cx: 43, cy: 29.5, r: 6.5, fill: "#ffc94d" }),
  );
}

/** A shackle and a body, since not every system has a character for it. */
export function lockIcon(): SVGElement {
  const shackle = { d: "M4.5 7V5a3.5 3.5 0 0 1 7 0v2", fill: "none" };
  return drawing("icon", "0 0 16 16",
    svg("path", { ...shackle, stroke: "currentColor", "stroke-width": 1.8 }),
    svg("rect", { x: 3, y: 7, width: 10, height: 8, rx: 1.5, fill: "currentColor" }),
  );
}

function drawing(name: string, viewBox: string, ...shapes: SVGElement[]): SVGElement {
  return svg("svg", { class: name, viewBox, "aria-hidden": "true" }, ...shapes);
}
