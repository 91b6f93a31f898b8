/**
 * Pictures on cards, drawn as paths of a square of 64: things with light, shade and a shadow on the
 * ground, and emblems.
 */

import type {
  CardPicture,
  EmblemPicture,
  ThingPicture,
  ThingShape,
} from "../core/card_pictures.js";
import { el, span, svg } from "../dom.js";
import { icon } from "./icons.js";

/** `tint` is the colour of the thing; `gloss` and `shade` are drawn over the rest. */
type Paint =
  | "tint" | "metal" | "gold" | "wood" | "paper" | "glass" | "dark" | "gloss" | "shade" | "line"
  | "string";
type Part = readonly [paint: Paint, path: string];

const COLOURS: Readonly<Partial<Record<Paint, string>>> = {
  tint: "var(--tint)",
  metal: "#b9c5d0",
  gold: "#f2b93c",
  wood: "#8a5a33",
  paper: "#ead9ae",
};
/** Flat ones. */
const FLAT: Readonly<Partial<Record<Paint, string>>> = {
  glass: "rgb(214 236 255 / 32%)",
  dark: "#191418",
  gloss: "rgb(255 255 255 / 55%)",
  shade: "rgb(0 0 0 / 30%)",
};

const SHAFT = "M15 58L11 54L42 20L46 24z";

const PARTS: Readonly<Record<ThingShape, readonly Part[]>> = {
  whetstone: [
    ["tint", "M7 35L40 15L58 25L26 46z"],
    ["tint", "M7 35L26 46V56L7 45z"],
    ["shade", "M26 46L58 25V35L26 56z"],
    ["tint", "M26 46L58 25V35L26 56z"],
    ["shade", "M26 46L58 25V35L26 56z"],
    ["gloss", "M14 35L40 19L44 21L18 37z"],
    ["gold", "M48 4l2 7l7 2l-7 2l-2 7l-2-7l-7-2l7-2z"],
  ],
  ring: [
    ["tint", "M32 20a19 19 0 1 1 0 38a19 19 0 0 1 0-38zM32 27a12 12 0 1 0 0 24a12 12 0 0 0 0-24z"],
    ["gloss", "M17 34a16 16 0 0 1 8-9l1 2a14 14 0 0 0-7 8z"],
    ["gold", "M23 19h18l-4 8H27z"],
    ["metal", "M23 11l4-6h10l4 6l-9 12z"],
    ["gloss", "M27 6h6l-3 5h-6z"],
  ],
  amulet: [
    ["string", "M13 5C13 26 26 26 32 28C38 26 51 26 51 5"],
    ["gold", "M32 25a16 16 0 1 1 0 32a16 16 0 0 1 0-32z"],
    ["tint", "M32 31a10 10 0 1 1 0 20a10 10 0 0 1 0-20z"],
    ["gloss", "M25 40a8 8 0 0 1 8-7v3a6 6 0 0 0-5 5z"],
  ],
  crown: [
    ["tint", "M7 19L20 31L32 10L44 31L57 19L51 51H13z"],
    ["shade", "M13 42h39l-1 9H13z"],
    ["metal", "M32 43l5 4l-5 4l-5-4zM20 44l3 3l-3 3l-3-3zM44 44l3 3l-3 3l-3-3z"],
    ["gold", "M32 6a4 4 0 1 1 0 8a4 4 0 0 1 0-8zM7 15a4 4 0 1 1 0 8a4 4 0 0 1 0-8z"],
    ["gold", "M57 15a4 4 0 1 1 0 8a4 4 0 0 1 0-8z"],
    ["gloss", "M13 27l7 7l9-16l-7 24h-6z"],
  ],
  helm: [
    ["tint", "M13 52V30C13 15 21 7 32 7s19 8 19 23v22l-11 4V36H24v20z"],
    ["dark", "M17 30h30v6H17z"],
    ["gold", "M30 5h4v25h-4zM30 36h4v14h-4z"],
    ["gloss", "M18 27c0-8 4-13 9-15c-3 4-4 9-4 15z"],
  ],
  gloves: [
    ["tint", "M19 56V41L10 31c-3-4 3-9 7-5l5 5V12c0-5 6-5 6 0v13V9c0-5 6-5 6 0v16V11c0-5 6-5 6 0"
      + "v16V17c0-4 5-4 5 0v25l-3 14z"],
    ["gold", "M17 47h28v10H17z"],
    ["shade", "M27.5 26h1v13h-1zM33.5 26h1v13h-1zM39.5 28h1v11h-1z"],
    ["gloss", "M23 12c0-2 2-2 2 0v20h-2z"],
  ],
  belt: [
    ["tint", "M4 25c18-5 38-5 56 0v15c-18-5-38-5-56 0z"],
    ["gold", "M21 16h22v30H21zM27 23v16h10V23z"],
    ["metal", "M31 28h13v4H31z"],
    ["gloss", "M5 27c5-1 10-2 15-3v3c-5 0-10 1-15 2z"],
  ],
  cloak: [
    ["tint", "M22 9h20c2 16 12 30 15 45c-14 6-36 6-50 0C10 39 20 25 22 9z"],
    ["dark", "M27 11h10c-1 14-3 29-2 46h-6c1-17-1-32-2-46z"],
    ["gold", "M32 9a4.5 4.5 0 1 1 0 9a4.5 4.5 0 0 1 0-9z"],
    ["gloss", "M22 21c-2 11-7 20-10 29l4 1c3-9 7-18 8-28z"],
    ["shade", "M42 21c2 11 6 22 9 33l-6 1c-1-10-4-22-5-32z"],
  ],
  armour: [
    ["tint", "M20 9l6 4h12l6-4l13 9l-6 12l-3 25c-10 5-22 5-32 0L13 30L7 18z"],
    ["dark", "M25 11c1 11 13 11 14 0l-3 2h-8z"],
    ["shade", "M31 22h2v32h-2z"],
    ["gold", "M15 42c11 4 23 4 34 0l-1 6c-10 4-22 4-32 0z"],
    ["gloss", "M16 20l8-4c0 8 2 11 5 13c-5 2-9 1-12-2z"],
  ],
  shield: [
    ["gold", "M32 5l23 7v19c0 14-10 23-23 28C19 54 9 45 9 31V12z"],
    ["tint", "M32 11l17 5v15c0 10-7 17-17 21c-10-4-17-11-17-21V16z"],
    ["shade", "M32 11l17 5v15c0 10-7 17-17 21z"],
    ["gold", "M32 23a7 7 0 1 1 0 14a7 7 0 0 1 0-14z"],
    ["gloss", "M18 18l10-3v4l-7 2v9h-3z"],
  ],
  winged_boots: [
    ["paper", "M22 33C10 33 3 25 2 13c7 2 14 5 20 11zM23 40c-7 1-13-1-17-5c6-1 12-1 17 0z"],
    ["tint", "M23 8h18v28c5 4 16 6 16 15v4H20l2-19z"],
    ["dark", "M19 53h38v5H19z"],
    ["gold", "M21 7h22v8H21z"],
    ["gloss", "M26 17h5v18l-5 4z"],
  ],
  boots: [
    ["tint", "M9 12h15v40H6l3-14z"],
    ["shade", "M9 12h15v40H6l3-14z"],
    ["dark", "M5 51h16v5H5z"],
    ["tint", "M22 8h20v28c5 4 16 6 16 15v4H19l2-19z"],
    ["dark", "M18 53h40v5H18z"],
    ["gold", "M20 24h23v4H20z"],
    ["gloss", "M26 11h5v11h-5zM26 30h5v8l-5 4z"],
  ],
  dagger: [
    ["wood", "M24 38l5 5l-9 9l-5-5z"],
    ["tint", "M52 9l5-2l-2 5l-20 28l-8-8z"],
    ["gloss", "M53 10L31 34l-2-2z"],
    ["gold", "M20 29L36 45l-4 4L16 33z"],
    ["gold", "M16 46a5 5 0 1 1 0 10a5 5 0 0 1 0-10z"],
  ],
  axe: [
    ["wood", SHAFT],
    ["tint", "M37 14c7-7 17-6 22-2c3 9 0 21-9 28c0-9-4-13-12-13l-6-7z"],
    ["gloss", "M41 15c6-4 12-4 16-2c1 6 0 12-3 17c0-8-5-13-13-15z"],
    ["gold", "M34 17l12 12l-3 3L31 20z"],
  ],
  hammer: [
    ["wood", SHAFT],
    ["tint", "M28 16L40 4l20 20l-12 12z"],
    ["shade", "M28 16l4-4l20 20l-4 4z"],
    ["gloss", "M38 8l2-2l17 17l-2 2z"],
    ["gold", "M40 28l4-4l3 3l-4 4z"],
  ],
  spear: [
    ["wood", "M9 60L5 56L42 19l4 4z"],
    ["tint", "M40 17L60 4L47 25l-6-2z"],
    ["gloss", "M43 18L58 6L45 21z"],
    ["gold", "M36 22l4-4l7 7l-4 4z"],
  ],
  staff: [
    ["wood", "M16 60l-5-4l25-32l5 4z"],
    ["gold", "M33 29C27 15 35 5 43 4c-5 6-4 12 3 12s10-5 10-10c6 9 2 21-8 24c-6 2-11 2-15-1z"],
    ["tint", "M45 6a9 9 0 1 1 0 18a9 9 0 0 1 0-18z"],
    ["gloss", "M39 14a6 6 0 0 1 6-5v2a4 4 0 0 0-4 4z"],
  ],
  bow: [
    ["string", "M17 7L57 47"],
    ["tint", "M16 5C42 7 57 22 59 48l-5 0C52 27 37 12 16 10z"],
    ["wood", "M13 53l-2-2L40 22l2 2z"],
    ["metal", "M52 12l-5 16l-11-11z"],
    ["paper", "M9 55l1-8l4-4l7 7l-4 4z"],
    ["gloss", "M22 8c14 2 23 9 28 17C44 18 34 11 22 10z"],
  ],
  sword: [
    ["wood", "M20 40l4 4l-9 9l-4-4z"],
    ["tint", "M53 6l6-1l-1 6l-28 32l-9-9z"],
    ["gloss", "M57 6L26 37l-3-3z"],
    ["gold", "M15 29L35 49l-4 4L11 33z"],
    ["gold", "M12 48a5 5 0 1 1 0 10a5 5 0 0 1 0-10z"],
  ],
  potion: [
    ["glass", "M26 9h12v13c10 4 14 11 14 18c0 11-8 18-20 18s-20-7-20-18c0-7 4-14 14-18z"],
    ["tint", "M15 34h34c6 11 1 21-17 21S9 45 15 34z"],
    ["wood", "M25 4h14v9H25z"],
    ["gloss", "M18 36c1-5 4-8 8-10c-3 5-4 10-3 17c-3-1-5-4-5-7z"],
    ["gloss", "M40 42a2.5 2.5 0 1 1 0 5a2.5 2.5 0 0 1 0-5z"],
    ["gloss", "M34 48a1.5 1.5 0 1 1 0 3a1.5 1.5 0 0 1 0-3z"],
  ],
  scroll: [
    ["paper", "M14 12h36v40H14z"],
    ["shade", "M14 14h36v4H14z"],
    ["line", "M20 24h24M20 30h24M20 36h24M20 42h15"],
    ["tint", "M11 6h42c5 0 5 9 0 9H11c-5 0-5-9 0-9zM11 49h42c5 0 5 9 0 9H11c-5 0-5-9 0-9z"],
    ["gloss", "M12 8h40v2H12zM12 51h40v2H12z"],
  ],
  book: [
    ["paper", "M15 48h37v8H17c-6 0-6-8-2-8z"],
    ["tint", "M11 14c0-5 3-8 8-8h34v43H19c-4 0-5 3-5 6c-2-1-3-3-3-6z"],
    ["shade", "M11 14c0-4 2-7 6-8v43c-4 0-6 3-6 6z"],
    ["gold", "M35 15l9 12l-9 12l-9-12zM49 6h4v6zM49 49h4v-6z"],
    ["gloss", "M20 8h30v2H20z"],
  ],
  orb: [
    ["gold", "M19 44h26l6 13H13z"],
    ["tint", "M32 6a21 21 0 1 1 0 42a21 21 0 0 1 0-42z"],
    ["shade", "M32 48c12 0 21-9 21-21c-3 9-11 15-21 15s-18-6-21-15c0 12 9 21 21 21z"],
    ["gloss", "M18 24c1-8 7-13 14-13c-5 3-8 8-8 14c-3 2-5 1-6-1z"],
  ],
  coin: [
    ["tint", "M32 8a24 24 0 1 1 0 48a24 24 0 0 1 0-48z"],
    ["shade", "M32 14a18 18 0 1 1 0 36a18 18 0 0 1 0-36zM32 17a15 15 0 1 0 0 30a15 15 0 0 0 0-30z"],
    ["tint", "M32 20l4 8l8 1l-6 6l2 9l-8-5l-8 5l2-9l-6-6l8-1z"],
    ["gloss", "M14 28a19 19 0 0 1 16-16v3a16 16 0 0 0-13 13z"],
  ],
  leaf: [
    ["tint", "M13 52C6 26 24 8 57 7c0 32-15 48-39 44z"],
    ["line", "M10 58C18 42 28 30 44 19M24 38l2-12M24 38l14 1M33 28l1-9M33 28l11 1"],
    ["gloss", "M18 40c0-14 11-25 28-29c-14 6-23 15-26 29z"],
  ],
  fang: [
    ["tint", "M14 12c4-6 12-8 20-4c17 9 22 30 13 51c-6-16-18-24-31-32c-5-4-6-10-2-15z"],
    ["gold", "M12 14l10-9l9 22l-4 5L14 24z"],
    ["gloss", "M34 13c9 7 13 18 12 31c-4-12-9-20-14-26z"],
  ],
  charm: [
    ["tint", "M32 4l7 21l21 7l-21 7l-7 21l-7-21l-21-7l21-7z"],
    ["shade", "M32 32l7 7l-7 21zM32 32l7-7l21 7zM32 32l-7-7l7-21zM32 32l-7 7l-21-7z"],
    ["gold", "M32 26l6 6l-6 6l-6-6z"],
    ["gloss", "M32 8v19l-5-1z"],
  ],
  gem: [
    ["tint", "M19 9h26l13 17l-26 32L6 26z"],
    ["gloss", "M19 9l3 17H6z"],
    ["shade", "M42 26h16L32 58z"],
    ["gloss", "M25 11h12l3 13H24z"],
    ["shade", "M45 9l13 17H42z"],
    ["gloss", "M22 26h6l4 26z"],
  ],
  pouch: [
    ["tint", "M23 19C9 29 7 46 13 53c6 7 32 7 38 0c6-7 4-24-10-34z"],
    ["tint", "M20 8c6-4 8 2 12 0s8-4 12 0l-4 10H24z"],
    ["gold", "M22 16h20v5H22z"],
    ["shade", "M41 21c11 9 14 24 9 31c-3 4-10 5-16 5c14-6 16-22 7-36z"],
    ["gloss", "M17 40c1-7 5-12 9-15c-3 6-4 12-4 19c-3 1-5-1-5-4z"],
  ],
  relic: [
    ["gold", "M20 46h24l6 11H14z"],
    ["tint", "M32 4l14 13v21L32 52L18 38V17z"],
    ["gloss", "M32 4v18l-14-5z"],
    ["shade", "M32 22l14-5v21L32 52z"],
    ["gloss", "M20 20l10 4v10z"],
  ],
  box: [
    ["tint", "M9 29h46v26H9z"],
    ["tint", "M9 29C9 10 55 10 55 29z"],
    ["shade", "M9 29h46v4H9z"],
    ["gold", "M15 18h5v37h-5zM44 18h5v37h-5zM27 25h10v13H27z"],
    ["dark", "M32 28a2 2 0 0 1 1 4v3h-2v-3a2 2 0 0 1 1-4z"],
    ["gloss", "M22 19c4-2 12-3 18-1c-6 0-12 1-18 4z"],
  ],
  nothing: [["line", "M32 12a20 20 0 1 1 0 40a20 20 0 0 1 0-40zM18 46L46 18"]],
};

let lastId = 0;

export function cardPicture(picture: CardPicture): HTMLElement {
  const shown = picture.what === "thing" ? drawThing(picture) : drawEmblem(picture);
  return el("span", { class: `card-picture ${picture.what}`, "aria-hidden": "true" }, ...shown);
}

function drawThing({ shape, tint }: ThingPicture): Element[] {
  lastId += 1;
  const paints = svg("defs", {});
  const root = svg("svg", { viewBox: "0 0 64 64", "data-shape": shape });
  root.style.setProperty("--tint", tint);
  root.append(paints);
  const used = new Map<Paint, string>();
  const fillOf = (paint: Paint) => {
    const colour = COLOURS[paint];
    if (colour === undefined) return FLAT[paint] ?? "none";
    // Names of gradients are the page's: another thing has another colour.
    const id = used.get(paint) ?? `paint-${lastId}-${paint}`;
    if (!used.has(paint)) paints.append(gradient(id, colour));
    used.set(paint, id);
    return `url(#${id})`;
  };
  if (shape !== "nothing") root.append(svg("ellipse", { class: "ground", cx: "32", cy: "59",
    rx: "23", ry: "4" }));
  for (const [paint, d] of PARTS[shape]) {
    const fill = fillOf(paint);
    root.append(svg("path", { class: paint, d, "fill-rule": "evenodd", fill }));
  }
  return [root];
}

function drawEmblem({ sign, letters, colour, raises }: EmblemPicture): Element[] {
  const shown = sign ? icon(sign) : span("letters", letters);
  const disc = span("disc", shown);
  disc.style.setProperty("--tile", colour);
  return raises ? [disc, span("raises", icon(raises))] : [disc];
}

/** Light from above at the left. */
function gradient(id: string, colour: string): SVGElement {
  const made = svg("linearGradient", { id, x1: "0.1", y1: "0", x2: "0.8", y2: "1" });
  const stops = [`color-mix(in srgb, ${colour} 62%, white)`, colour,
    `color-mix(in srgb, ${colour} 58%, #120a10)`];
  for (const [index, shade] of stops.entries()) {
    const stop = svg("stop", { offset: String(index / 2) });
    stop.style.setProperty("stop-color", shade);
    made.append(stop);
  }
  return made;
}
