/**
 * A small picture of a game, for the cards of the lobby: shapes for an SVG of {@link ART_WIDTH} by
 * {@link ART_HEIGHT}.
 *
 * The lobby does not know what a room looks like: a game tells its scenery and the looks of its
 * objects to those who join. So the games that are shipped have a picture here, with the colours
 * that they declare, and any other game has one that is drawn from its name alone. The name of the
 * room moves what lies about, so that rooms of a game can be told apart. The same names always give
 * the same picture. Shapes that the page paints darker for whom prefers that have a `data-part`.
 */

import { seededUnits } from "./seeded.js";

/** Numbers from 0 to below 1. */
type Units = () => number;

export const ART_WIDTH = 320;
export const ART_HEIGHT = 180;

export interface ArtShape {
  tag: "rect" | "circle" | "ellipse" | "path";
  attributes: Record<string, string | number>;
}

/** A point on the ground or above it, in steps of a grid; x and y grow towards the viewer. */
type Point = readonly [x: number, y: number, z: number];

/** The colours that the games declare for their kinds. */
const AVATAR = 0x3080ff;
const WANDERER = 0xc06030;
const BOLT = 0xffd020;
const SMALL_CUBE = 0xd09040;
const SHIP = 0x60c0ff;
const OTHER_SHIP = 0xff7a6a;
const MISSILE = 0xffc040;
const ASTEROID = 0x907860;
const WALL = 0x4a6a90;
const SPACE = 0x181c26;
const CELLAR = 0x2a2622;
const STONE = 0x6a625a;
const GOBLIN = 0x509040;
/** Of the page itself: of ground and obstacles that a game leaves to it. */
const GROUND = 0xb9ccaa;
const OBSTACLE = 0x9aa3ad;
const RING = 0x9366f5;

/** Pixels of a step of the grid, across and downwards, and of its height. */
const STEP_X = 17;
const STEP_Y = 9.5;
const STEP_Z = 19;

/** The picture of a game; `room` is the name of the room. */
export function artOf(game: string, room: string): ArtShape[] {
  const random = seededUnits(hash(`${game}/${room}`));
  switch (game) {
    case "field":
      return field(random);
    case "cubes":
      return cubes(random);
    case "shooter":
      return shooter(random);
    case "deus":
      return cellar(random);
    default:
      return unknown(seededUnits(hash(game)), random);
  }
}

function field(random: Units): ArtShape[] {
  const shapes = ground(GROUND);
  const things: [depth: number, shapes: ArtShape[]][] = [];
  const put = ([x, y]: readonly [number, number], made: ArtShape[]) => things.push([x + y, made]);
  const jitter = () => (random() - 0.5) * 1.3;
  for (const [x, y, along, across] of [
    [-5.5, -1.5, 2.6, 0.9],
    [0.4, -6.2, 0.9, 2.8],
    [5.2, -2.6, 1, 1],
    [-3.4, 5.4, 1.2, 1.2],
    [3.2, 4.6, 2.4, 0.8],
  ] as const) {
    const at: Point = [x + jitter(), y + jitter(), 0];
    put([at[0] + along, at[1] + across], box(at, [along, across, 1.1], OBSTACLE));
  }
  for (const [x, y] of [[-3.6, 2], [-1.6, -3.4], [3.8, 1.4], [1.4, -2.2]] as const) {
    const at = [x + jitter(), y + jitter()] as const;
    put(at, creature(at, WANDERER));
  }
  for (const [x, y, turn] of [[-5, 1.4, 0.6], [4.4, -0.4, 2.7]] as const) {
    const at = [x + jitter(), y + jitter()] as const;
    put(at, figure(at, turn, AVATAR));
  }
  // The one whom the picture is about casts a bolt.
  const [from, to] = [project([0.2, 0.4, 0.6]), project([3.6 + jitter(), -2.4 + jitter(), 0.5])];
  put([0.1, 0.1], [...ring(project([0, 0.4, 0]), 25, RING), ...figure([0, 0.4], -0.75, AVATAR, 1.5)]);
  things.sort(([one], [other]) => one - other);
  shapes.push(...things.flatMap(([, made]) => made));
  const middle = [(from[0] + to[0]) / 2, (from[1] + to[1]) / 2 - 20] as const;
  shapes.push(
    path(`M${at(from)}Q${at(middle)} ${at(to)}`, {
      fill: "none", stroke: colour(BOLT), "stroke-width": 2, "stroke-dasharray": "1 6",
      "stroke-linecap": "round",
    }),
    ...glow(to, 4, BOLT),
  );
  return shapes;
}

/** Heroes round a fire of theirs, monsters round them, walls, and a chest. */
function cellar(random: Units): ArtShape[] {
  const shapes: ArtShape[] = [rect(0, 0, ART_WIDTH, ART_HEIGHT, CELLAR)];
  for (let line = -9; line <= 9; line += 1) {
    const [one, other] = [project([line, -9, 0]), project([line, 9, 0])];
    const [left, right] = [project([-9, line, 0]), project([9, line, 0])];
    const d = `M${at(one)}L${at(other)}M${at(left)}L${at(right)}`;
    shapes.push(path(d, { stroke: "#000", "stroke-width": 1, opacity: 0.22, fill: "none" }));
  }
  shapes.push(circle(project([0.4, 0, 0]), 105, 0xffa040, 0.1), circle(project([0.4, 0, 0]), 62, 0xffb050, 0.13));
  const things: [depth: number, shapes: ArtShape[]][] = [];
  const put = ([x, y]: readonly [number, number], made: ArtShape[]) => things.push([x + y, made]);
  const jitter = () => (random() - 0.5) * 0.9;
  for (const [x, y, along, across] of [[-7, -3, 3.4, 0.8], [-2, -7.4, 0.8, 3.6], [5.4, -4, 2.6, 0.8], [-5.4, 4, 0.8, 2.4]] as const) {
    put([x + along, y + across], box([x, y, 0], [along, across, 1.5], STONE));
  }
  put([3.6, 3.2], box([3.2, 2.6, 0], [1.1, 0.8, 0.7], 0xd0a030));
  for (const [x, y] of [[-3.6, 1.4], [-2.4, -2.6], [1.4, -3.4], [4.6, -0.6], [0.8, 3.8]] as const) {
    const where = [x + jitter(), y + jitter()] as const;
    put(where, creature(where, GOBLIN));
  }
  put([-0.9, 0.4], figure([-0.9, 0.4], 0.6, 0xb05040, 1.25));
  put([1.2, -0.6], figure([1.2, -0.6], 2.6, AVATAR, 1.25));
  put([0.6, 1.6], [...ring(project([0.6, 1.6, 0]), 22, RING), ...figure([0.6, 1.6], -0.7, 0x50a060, 1.4)]);
  things.sort(([one], [other]) => one - other);
  shapes.push(...things.flatMap(([, made]) => made), ...glow(project([2.7, -1.9, 0.5]), 4, 0xff8020));
  return shapes;
}

function cubes(random: Units): ArtShape[] {
  const shapes = ground(GROUND);
  const things: [depth: number, shapes: ArtShape[]][] = [];
  const put = (corner: Point, size: number, of: number) => {
    const [x, y, z] = corner;
    const shadow = z === 0 ? shade(corner, size) : [];
    things.push([x + y + size + z, [...shadow, ...box(corner, [size, size, size], of)]]);
  };
  // A heap that has been pushed together, and some that have rolled away.
  for (const [x, y, z] of [
    [2.4, -1.9, 0], [3.3, -1.6, 0], [2.7, -0.8, 0], [3.6, -0.6, 0], [2.9, -1.4, 0.72],
    [1.9, -2.8, 0], [3.2, -0.9, 0.72], [4.4, -1.1, 0], [2.9, 0.3, 0], [3.1, -1.1, 1.44],
  ] as const) {
    put([x + random() * 0.15, y + random() * 0.15, z], 0.72, SMALL_CUBE);
  }
  for (let count = 0; count < 17; count += 1) {
    const [x, y] = [(random() - 0.5) * 17, (random() - 0.5) * 17];
    const isFree = Math.abs(x - y) < 17 && Math.hypot(x, y) > 3.4 && Math.hypot(x - 3, y + 1) > 2.6;
    if (isFree) put([x, y, 0], 0.62, SMALL_CUBE);
  }
  put([-1.2, -1.1, 0], 2.1, AVATAR);
  put([-6.6 + random(), 1.6, 0], 1.5, AVATAR);
  things.sort(([one], [other]) => one - other);
  shapes.push(...things.flatMap(([, made]) => made));
  return shapes;
}

function shooter(random: Units): ArtShape[] {
  const shapes: ArtShape[] = [rect(0, 0, ART_WIDTH, ART_HEIGHT, SPACE)];
  for (let count = 0; count < 46; count += 1) {
    const [x, y] = [random() * ART_WIDTH, random() * ART_HEIGHT];
    const r = 0.4 + random() * 0.8;
    shapes.push(circle([x, y], r, 0xdfe8ff, 0.25 + random() * 0.6));
  }
  // A far planet and the lines of the ground.
  shapes.push(circle([262, 34], 58, 0x26324d), circle([270, 28], 47, 0x2d3c5c));
  for (let line = -6; line <= 6; line += 1) {
    const d = `M${160 + line * 14} 96L${160 + line * 62} ${ART_HEIGHT}`;
    shapes.push(path(d, { stroke: colour(WALL), "stroke-width": 0.7, opacity: 0.35 }));
  }
  for (const y of [104, 118, 138, 164]) {
    const d = `M0 ${y}H${ART_WIDTH}`;
    shapes.push(path(d, { stroke: colour(WALL), "stroke-width": 0.7, opacity: 0.35 }));
  }
  for (const [x, y, r] of [[48, 44, 17], [276, 128, 23], [112, 20, 8], [26, 128, 10]] as const) {
    const place = [x + (random() - 0.5) * 22, y + (random() - 0.5) * 14] as const;
    shapes.push(...asteroid(place, r, random));
  }
  const [own, other] = [[128, 118], [206, 66]] as const;
  const way = Math.atan2(other[1] - own[1], other[0] - own[0]);
  for (const [share, size] of [[0.38, 2.6], [0.56, 2.6], [0.74, 2.6]] as const) {
    const x = own[0] + (other[0] - own[0]) * share;
    const y = own[1] + (other[1] - own[1]) * share;
    const tail = `M${at([x - 9 * Math.cos(way), y - 9 * Math.sin(way)])}L${at([x, y])}`;
    shapes.push(
      path(tail, { stroke: colour(MISSILE), "stroke-width": 2, opacity: 0.5 }),
      circle([x, y], size, MISSILE),
    );
  }
  const turn = way + 0.4 + random();
  shapes.push(
    ...glow([other[0] - 3, other[1] + 3], 6, MISSILE),
    ...ship(other, turn, 13, OTHER_SHIP),
    ...ship([66 + random() * 16, 88], -0.3, 10, OTHER_SHIP),
    ...ring(own, 27, RING),
    ...ship(own, way, 19, SHIP),
  );
  return shapes;
}

/** Of a game that is not known here: what its name says by chance, seen from above. */
function unknown(ofGame: Units, ofRoom: Units): ArtShape[] {
  const hue = Math.floor(ofGame() * 360);
  const tint = (lightness: number, turn = 0) => `hsl(${(hue + turn) % 360} 42% ${lightness}%)`;
  const shapes: ArtShape[] = [
    { tag: "rect", attributes: { width: ART_WIDTH, height: ART_HEIGHT, fill: tint(26) } },
  ];
  const middle = [110 + ofGame() * 100, 70 + ofGame() * 40] as const;
  for (const [radius, lightness] of [[150, 30], [108, 35], [68, 41], [32, 48]] as const) {
    const [cx, cy] = middle;
    shapes.push({ tag: "circle", attributes: { cx, cy, r: radius, fill: tint(lightness) } });
  }
  const isRound = ofGame() < 0.5;
  for (let count = 0; count < 13; count += 1) {
    const [x, y] = [ofRoom() * ART_WIDTH, ofRoom() * ART_HEIGHT];
    const size = 4 + ofGame() * 9;
    const fill = tint(62 + ofGame() * 22, ofGame() < 0.3 ? 150 : 20);
    if (Math.hypot(x - middle[0], y - middle[1]) < 26) continue;
    shapes.push(
      isRound
        ? { tag: "circle", attributes: { cx: x, cy: y, r: size, fill } }
        : { tag: "rect", attributes: { x, y, width: size * 1.8, height: size * 1.8, rx: 3, fill } },
    );
  }
  const [cx, cy] = middle;
  const around = { cx, cy, r: 17, fill: "none", stroke: "#fff", "stroke-width": 2.5 };
  shapes.push(circle(middle, 6, 0xffffff), { tag: "circle", attributes: around });
  return shapes;
}

/** The ground with its grid, up to beyond the edges of the picture. */
function ground(of: number): ArtShape[] {
  const whole = rect(0, 0, ART_WIDTH, ART_HEIGHT, of);
  const shapes: ArtShape[] = [{ ...whole, attributes: { ...whole.attributes, ...part("ground") } }];
  const line = mix(of, 0, 0.16);
  const reach = 20;
  for (let step = -reach; step <= reach; step += 2) {
    const d = `M${at(project([step, -reach, 0]))}L${at(project([step, reach, 0]))}` +
      `M${at(project([-reach, step, 0]))}L${at(project([reach, step, 0]))}`;
    const stroke = { stroke: colour(line), "stroke-width": 0.8, fill: "none" };
    shapes.push(path(d, { ...stroke, ...part("grid") }));
  }
  return shapes;
}

/** The three sides that can be seen of a box on the ground. */
function box([x, y, z]: Point, [w, d, h]: Point, of: number): ArtShape[] {
  const side = (points: readonly Point[], fill: number) =>
    path(`M${points.map((point) => at(project(point))).join("L")}Z`, { fill: colour(fill) });
  const [right, front, top] = [x + w, y + d, z + h];
  return [
    side([[x, y, top], [right, y, top], [right, front, top], [x, front, top]], mix(of, 0xffffff, 0.2)),
    side([[x, front, top], [right, front, top], [right, front, z], [x, front, z]], of),
    side([[right, y, top], [right, front, top], [right, front, z], [right, y, z]], mix(of, 0, 0.3)),
  ];
}

/** The shadow of a cube, to its right. */
function shade([x, y]: Point, size: number): ArtShape[] {
  const corners: Point[] = [
    [x + size, y, 0],
    [x + size * 1.5, y - size * 0.15, 0],
    [x + size * 1.5, y + size * 0.8, 0],
    [x + size, y + size, 0],
  ];
  const d = `M${corners.map((corner) => at(project(corner))).join("L")}Z`;
  return [path(d, { fill: "#000", opacity: 0.22 })];
}

/** What stands on the ground and walks about. */
function creature([x, y]: readonly [number, number], of: number): ArtShape[] {
  const [px, py] = project([x, y, 0]);
  return [
    ellipse([px + 3, py], 9, 3.6, 0, 0.2),
    path(`M${at([px - 6.5, py - 1])}v-9a6.5 6.5 0 0 1 13 0v9a6.5 2.8 0 0 1 -13 0z`, {
      fill: colour(of),
    }),
    ellipse([px, py - 10.5], 6.5, 4.6, mix(of, 0xffffff, 0.25), 1),
  ];
}

/** What stands on the ground and points somewhere. */
/** A person: a coat and a head, as the game draws them. */
function figure(
  [x, y]: readonly [number, number],
  turn: number,
  of: number,
  size = 1.1,
): ArtShape[] {
  const [left, top] = project([x, y, 0]);
  const unit = 11 * size;
  const [wide, high] = [0.62 * unit, 1.75 * unit];
  const body = `M${at([left - wide, top])}Q${at([left - wide, top - high])} ${at([left, top - high])}` +
    `Q${at([left + wide, top - high])} ${at([left + wide, top])}` +
    `Q${at([left, top + 0.5 * unit])} ${at([left - wide, top])}Z`;
  const lit = `M${at([left, top + 0.25 * unit])}L${at([left, top - high])}` +
    `Q${at([left + wide, top - high])} ${at([left + wide, top])}` +
    `Q${at([left + 0.5 * wide, top + 0.25 * unit])} ${at([left, top + 0.25 * unit])}Z`;
  const face = 0.16 * unit * Math.cos(turn);
  return [
    ellipse([left + 0.25 * unit, top + 0.1 * unit], 0.95 * unit, 0.42 * unit, 0, 0.2),
    path(body, { fill: colour(mix(of, 0, 0.28)) }),
    path(lit, { fill: colour(mix(of, 0xffffff, 0.08)) }),
    circle([left, top - high - 0.12 * unit], 0.46 * unit, mix(of, 0xffffff, 0.62)),
    circle([left + face, top - high - 0.14 * unit], 0.24 * unit, 0xffffff, 0.55),
  ];
}

function ship([x, y]: readonly [number, number], turn: number, size: number, of: number) {
  const corner = (angle: number, reach: number) =>
    at([x + reach * size * Math.cos(turn + angle), y + reach * size * Math.sin(turn + angle)]);
  const [nose, left, tail, right] = [corner(0, 1), corner(2.45, 0.85), corner(Math.PI, 0.3),
    corner(-2.45, 0.85)];
  return [
    path(`M${corner(2.9, 0.5)}L${corner(Math.PI, 1.25)}L${corner(-2.9, 0.5)}Z`, {
      fill: colour(MISSILE), opacity: 0.75,
    }),
    path(`M${nose}L${left}L${tail}Z`, { fill: colour(of) }),
    path(`M${nose}L${tail}L${right}Z`, { fill: colour(mix(of, 0, 0.35)) }),
  ];
}

function asteroid([x, y]: readonly [number, number], r: number, random: Units): ArtShape[] {
  const corners = Array.from({ length: 9 }, (_, corner) => {
    const angle = (corner / 9) * 2 * Math.PI;
    const reach = r * (0.82 + random() * 0.3);
    return at([x + reach * Math.cos(angle), y + reach * Math.sin(angle)]);
  });
  return [
    path(`M${corners.join("L")}Z`, { fill: colour(ASTEROID) }),
    ellipse([x - r * 0.22, y - r * 0.25], r * 0.52, r * 0.45, mix(ASTEROID, 0xffffff, 0.16), 1),
    ellipse([x + r * 0.35, y + r * 0.3], r * 0.2, r * 0.15, mix(ASTEROID, 0, 0.28), 1),
  ];
}

function ring([cx, cy]: readonly [number, number], r: number, of: number): ArtShape[] {
  const common = { cx, cy, fill: "none", stroke: colour(of) };
  return [
    { tag: "ellipse", attributes: { ...common, rx: r, ry: r * 0.62, "stroke-width": 2.5 } },
    { tag: "ellipse",
      attributes: { ...common, rx: r * 1.3, ry: r * 0.8, "stroke-width": 1, opacity: 0.45 } },
  ];
}

function glow(where: readonly [number, number], r: number, of: number): ArtShape[] {
  return [circle(where, 2.6 * r, of, 0.22), circle(where, 1.7 * r, of, 0.4), circle(where, r, of)];
}

function project([x, y, z]: Point): [number, number] {
  return [
    ART_WIDTH / 2 + (x - y) * STEP_X,
    ART_HEIGHT * 0.53 + (x + y) * STEP_Y - z * STEP_Z,
  ];
}

function part(name: "ground" | "grid"): Record<string, string> {
  return { "data-part": name };
}

function path(d: string, attributes: Record<string, string | number>): ArtShape {
  return { tag: "path", attributes: { d, ...attributes } };
}

function rect(x: number, y: number, width: number, height: number, of: number): ArtShape {
  return { tag: "rect", attributes: { x, y, width, height, fill: colour(of) } };
}

function circle([cx, cy]: readonly [number, number], r: number, of: number, opacity = 1): ArtShape {
  return { tag: "circle", attributes: { cx, cy, r, fill: colour(of), opacity } };
}

function ellipse(
  [cx, cy]: readonly [number, number],
  rx: number,
  ry: number,
  of: number,
  opacity: number,
): ArtShape {
  return { tag: "ellipse", attributes: { cx, cy, rx, ry, fill: colour(of), opacity } };
}

function at([x, y]: readonly [number, number]): string {
  return `${x.toFixed(1)} ${y.toFixed(1)}`;
}

function colour(of: number): string {
  return `#${of.toString(16).padStart(6, "0")}`;
}

/** A colour between two, as 0xRRGGBB. */
function mix(one: number, other: number, share: number): number {
  const channel = (bits: number) => {
    const [a, b] = [(one >> bits) & 0xff, (other >> bits) & 0xff];
    return Math.round(a + (b - a) * share) << bits;
  };
  return channel(16) | channel(8) | channel(0);
}

/** FNV-1a, of UTF-16. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  }
  return value >>> 0;
}
