/** The picture of a game as an element. It says nothing that the text beside it does not say. */

import { ART_HEIGHT, ART_WIDTH, type ArtShape, artOf } from "../core/game_art.js";

const SVG = "http://www.w3.org/2000/svg";

/** A shackle and a body, since not every system has a character for it. */
const LOCK: ArtShape[] = [
  {
    tag: "path",
    attributes: { d: "M4.5 7V5a3.5 3.5 0 0 1 7 0v2", fill: "none", stroke: "currentColor",
      "stroke-width": 1.8 },
  },
  { tag: "rect", attributes: { x: 3, y: 7, width: 10, height: 8, rx: 1.5, fill: "currentColor" } },
];

export function gamePicture(game: string, room: string): SVGElement {
  const picture = draw("game-art", ART_WIDTH, ART_HEIGHT, artOf(game, room));
  // It fills whatever room it is given.
  picture.setAttribute("preserveAspectRatio", "xMidYMid slice");
  return picture;
}

export function lockIcon(): SVGElement {
  return draw("icon", 16, 16, LOCK);
}

function draw(
  className: string,
  width: number,
  height: number,
  shapes: readonly ArtShape[],
): SVGElement {
  const picture = document.createElementNS(SVG, "svg");
  picture.setAttribute("class", className);
  picture.setAttribute("viewBox", `0 0 ${width} ${height}`);
  picture.setAttribute("aria-hidden", "true");
  for (const { tag, attributes } of shapes) {
    const shape = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) shape.setAttribute(name, `${value}`);
    picture.append(shape);
  }
  return picture;
}
