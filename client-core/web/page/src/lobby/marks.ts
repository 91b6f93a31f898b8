/** Small drawings of the lobby: the name of the page, and a lock. */

const SVG = "http://www.w3.org/2000/svg";

type Attributes = Readonly<Record<string, string | number>>;

/** The letters of "Ambit" as strokes, 60 high, between which a world goes round. */
const LETTERS = "M4 60 28 4 52 60M72 60V6L99 42 126 6V60" +
  "M150 58V8H174A12.5 12.5 0 0 1 174 33H150M174 33H177A12.5 12.5 0 0 1 177 58H150" +
  "M214 4V60M236 8H284M260 8V60";
/** Around the first letter, in front of it and behind it. */
const ORBIT = "M8 50C-16 64-8 70 18 60 44 50 66 34 60 28 56 25 50 26 44 29";

export function wordmark(): SVGElement {
  return drawing("wordmark", "-12 -6 304 78", [
    ["path", { d: LETTERS, fill: "none", stroke: "currentColor", "stroke-width": 9,
      "stroke-linecap": "round", "stroke-linejoin": "round" }],
    ["path", { d: ORBIT, fill: "none", stroke: "#ffc94d", "stroke-width": 4.5,
      "stroke-linecap": "round" }],
    ["circle", { cx: 43, cy: 29.5, r: 6.5, fill: "#ffc94d" }],
  ]);
}

/** A shackle and a body, since not every system has a character for it. */
export function lockIcon(): SVGElement {
  return drawing("icon", "0 0 16 16", [
    ["path", { d: "M4.5 7V5a3.5 3.5 0 0 1 7 0v2", fill: "none", stroke: "currentColor",
      "stroke-width": 1.8 }],
    ["rect", { x: 3, y: 7, width: 10, height: 8, rx: 1.5, fill: "currentColor" }],
  ]);
}

function drawing(
  className: string,
  viewBox: string,
  shapes: readonly (readonly [tag: string, attributes: Attributes])[],
): SVGElement {
  const picture = document.createElementNS(SVG, "svg");
  picture.setAttribute("class", className);
  picture.setAttribute("viewBox", viewBox);
  picture.setAttribute("aria-hidden", "true");
  for (const [tag, attributes] of shapes) {
    const shape = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) shape.setAttribute(name, `${value}`);
    picture.append(shape);
  }
  return picture;
}
