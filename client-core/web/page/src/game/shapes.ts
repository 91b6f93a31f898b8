/** The shapes of objects: of extent 1 along each axis, composed of a few simple ones each. */

import * as THREE from "three";
import { RoundedBoxGeometry } from "three/examples/jsm/geometries/RoundedBoxGeometry.js";
import { mergeGeometries } from "three/examples/jsm/utils/BufferGeometryUtils.js";
import type { MeshDescription } from "../core/look.js";
import {
  type Figure,
  type Outfit,
  outfitOf,
  type Sort,
  sortOf,
  type Thing,
  thingOf,
} from "../core/roles.js";
import { coloured, unshared } from "./three_parts.js";

/** A share of an object's own colour, or a colour that is the same on all objects. */
type Shade = number | readonly [red: number, green: number, blue: number];
const BRIGHT = 1;
const SHADED = 0.62;
const DARK = 0.16;
const STEEL: Shade = [0.62, 0.66, 0.72];
const SKIN: Shade = [0.8, 0.52, 0.38];
const WOOD: Shade = [0.2, 0.1, 0.045];
const GOLD: Shade = [1, 0.62, 0.16];
const WHITE: Shade = [0.95, 0.95, 1];
const NIGHT: Shade = [0.1, 0.08, 0.4];
const LEAVES: Shade = [0.07, 0.2, 0.06];
const RED: Shade = [0.7, 0.05, 0.04];
const BELLY: Shade = [0.78, 0.62, 0.44];
const PLATES: Shade = [0.85, 0.74, 0.5];
const BLACK: Shade = [0.02, 0.02, 0.03];

const box = (x: number, y: number, z: number) => new THREE.BoxGeometry(x, y, z);
const ball = (radius: number, across = 12, up = 8) => new THREE.SphereGeometry(radius, across, up);

/** The upper part of a ball, down to an angle. */
function cap(radius: number, across: number, up: number, down: number): THREE.BufferGeometry {
  const part = new THREE.SphereGeometry(radius, across, up, 0, 2 * Math.PI, 0, down);
  return part.rotateX(Math.PI / 2);
}

/** Upright. */
function rod(top: number, foot: number, high: number, sides: number): THREE.BufferGeometry {
  return new THREE.CylinderGeometry(top, foot, high, sides).rotateX(Math.PI / 2);
}

/** Upright. */
function cone(radius: number, high: number, sides: number): THREE.BufferGeometry {
  return new THREE.ConeGeometry(radius, high, sides).rotateX(Math.PI / 2);
}

/** What turns around the upright axis; an outline is of distances from it and heights. */
function turned(outline: readonly THREE.Vector2[], sides: number): THREE.BufferGeometry {
  return new THREE.LatheGeometry([...outline], sides).rotateX(Math.PI / 2);
}

function outlineOf(...points: readonly (readonly [x: number, y: number])[]): THREE.Vector2[] {
  return points.map(([x, y]) => new THREE.Vector2(x, y));
}

const staff = (): Part => [rod(0.035, 0.035, 1, 8).translate(0.2, -0.4, 0), WOOD];

/** The shape of a kind of this form and figure. What points, points along x. */
export function geometryOf(
  form: MeshDescription["form"],
  shown: Figure | null,
): THREE.BufferGeometry {
  switch (form) {
    case "cube":
      return thing(thingOf(shown));
    case "ball":
      return new THREE.SphereGeometry(0.5, 16, 12);
    case "creature":
      return creature(sortOf(shown));
    case "figure":
      return figure(outfitOf(shown));
    case "ship":
      return ship();
  }
}

/** What the attribute `state` of an instance says; without one, a shape is plain. */
export const STATES = { plain: 0, fallen: 1, veiled: 2 } as const;

/**
 * Lets parts of a shape keep their own colours on objects of any colour. A fallen figure has
 * little colour: eyes as well, which no colour of an instance changes. A veiled figure is pale,
 * and every other pixel shows what is behind: unlike glass, that needs no order of drawing.
 */
export function keepOwnColours(material: THREE.Material): void {
  material.onBeforeCompile = (shader) => {
    const declared = "attribute float tinted;\nattribute float state;\nvarying float isVeiled;";
    shader.vertexShader = `${declared}\n${shader.vertexShader}`.replace(
      "#include <color_vertex>",
      `#include <color_vertex>
      vColor.rgb = mix(color.rgb, vColor.rgb, tinted);
      isVeiled = step(${STATES.veiled - 0.5}, state);
      vColor.rgb = mix(vColor.rgb, vec3(0.75, 0.78, 1.0), 0.6 * isVeiled);
      if (state > ${STATES.fallen - 0.5} && isVeiled < 0.5) {
        vColor.rgb = 0.32 * mix(vec3(dot(vColor.rgb, vec3(0.33))), vColor.rgb, 0.55);
      }`,
    );
    shader.fragmentShader = `varying float isVeiled;\n${shader.fragmentShader}`.replace(
      "#include <color_fragment>",
      `if (isVeiled > 0.5 && mod(floor(gl_FragCoord.x) + floor(gl_FragCoord.y), 2.0) < 1.0) discard;
      #include <color_fragment>`,
    );
  };
}

/** What is a box for its rules; `toy` and `block` get their sides from `boxSides`. */
export function thing(what: Thing): THREE.BufferGeometry {
  if (what === "chest") return chest();
  if (what === "trap") return spikes();
  return new RoundedBoxGeometry(1, 1, 1, 3, what === "toy" ? 0.12 : 0.05);
}

/** Of steel, out of a plate in the floor. */
function spikes(): THREE.BufferGeometry {
  const rows = [-0.3, 0, 0.3];
  const all = rows.flatMap((x) => rows.map((y): Part => [
    cone(0.09, 0.42, 8).translate(x, y, -0.26), STEEL,
  ]));
  return merged([box(1, 1, 0.06).translate(0, 0, -0.47), BRIGHT], ...all);
}

/** Of wood and gold, with a round lid. */
function chest(): THREE.BufferGeometry {
  const arch = (radius: number, long: number) =>
    new THREE.CylinderGeometry(radius, radius, long, 16, 1, false, 0, Math.PI)
      .scale(1, 1, 0.7).rotateY(-Math.PI / 2);
  const band = (y: number): Part[] => [
    [box(0.78, 0.1, 0.58).translate(0, y, -0.22), GOLD],
    [arch(0.385, 0.1).translate(0, y, 0.06), GOLD],
  ];
  return merged(
    [box(0.72, 1.04, 0.56).translate(0, 0, -0.22), WOOD],
    [arch(0.36, 1.04).translate(0, 0, 0.06), [0.3, 0.15, 0.06]],
    ...band(0.42), ...band(-0.42),
    [box(0.76, 1.06, 0.06).translate(0, 0, 0.05), GOLD],
    [box(0.06, 0.2, 0.22).translate(0.38, 0, 0), BRIGHT],
  );
}

/** A body with a head and a nose, and with what shows its role from afar. */
export function figure(outfit: Outfit): THREE.BufferGeometry {
  const isRobed = outfit === "mage" || outfit === "healer";
  const [hem, knee, hip, waist] = isRobed ? [0.4, 0.4, 0.31, 0.2] : [0.32, 0.34, 0.27, 0.24];
  const outline = outlineOf(
    [0, -0.5], [hem, -0.5], [knee, -0.44], [hip, -0.2], [waist, 0.02], [0.17, 0.14], [0, 0.16],
  );
  const body = turned(outline, 20);
  const head = ball(0.17, 16, 12).translate(0, 0, 0.29);
  const nose = new THREE.ConeGeometry(0.08, 0.2, 10).rotateZ(-Math.PI / 2).translate(0.22, 0, 0.28);
  const arms = [1, -1].flatMap((side): Part[] => [
    [new THREE.CapsuleGeometry(0.07, 0.24, 4, 10).rotateX(Math.PI / 2).rotateX(-0.42 * side)
      .rotateY(-0.5).translate(0.07, 0.27 * side, -0.03), SHADED],
    [ball(0.075, 10, 8).translate(0.14, 0.33 * side, -0.17), SKIN],
  ]);
  const belt = rod(0.265, 0.275, 0.07, 20).translate(0, 0, -0.13);
  const feet = new THREE.ConeGeometry(0.2, 0.34, 3).rotateZ(-Math.PI / 2).scale(1, 1, 0.25)
    .translate(0.42, 0, -0.46);
  const all: Part[] = [[body, BRIGHT], [head, SKIN], [nose, SKIN], [feet, SHADED], [belt, WOOD], ...arms];
  return merged(...all, ...OUTFITS[outfit]()).scale(1, 1, 0.9).translate(0, 0, -0.05);
}

const OUTFITS: Readonly<Record<Outfit, () => Part[]>> = {
  /** Hair, a cape and a bundle: a traveller. */
  plain: () => [
    [cap(0.19, 16, 10, 1.65).rotateY(-0.35).translate(-0.03, 0, 0.31), [0.16, 0.08, 0.035]],
    [cape(), 0.78],
    [new THREE.CapsuleGeometry(0.085, 0.3, 4, 10).translate(-0.27, 0, 0.15), WOOD],
  ],
  /** A wide hat, an apron and a large pack with what is for sale. */
  trader: () => [
    [rod(0.38, 0.4, 0.04, 24).translate(0, 0, 0.38), [0.42, 0.26, 0.1]],
    [cap(0.2, 16, 8, Math.PI / 2).scale(1, 1, 0.8).translate(0, 0, 0.38), [0.42, 0.26, 0.1]],
    [new THREE.TorusGeometry(0.2, 0.025, 6, 20).translate(0, 0, 0.41), RED],
    [new RoundedBoxGeometry(0.36, 0.5, 0.62, 2, 0.1).translate(-0.42, 0, 0.04), WOOD],
    [new THREE.CapsuleGeometry(0.1, 0.5, 4, 10).translate(-0.42, 0, 0.42), [0.5, 0.42, 0.28]],
    [ball(0.11).translate(-0.4, 0.32, 0.1), [0.7, 0.1, 0.12]],
    [ball(0.1).translate(-0.4, -0.32, -0.06), [0.15, 0.4, 0.75]],
    [rod(0.035, 0.035, 0.16, 8).translate(-0.4, 0.32, 0.24), WHITE],
    [ball(0.1).scale(1, 1, 1.1).translate(0.3, 0.3, -0.16), GOLD],
  ],
  /** Helmet with a crest, shoulders, a shield and a sword. */
  knight: () => [
    [cap(0.2, 16, 10, 1.75).translate(-0.02, 0, 0.3), STEEL],
    [box(0.4, 0.07, 0.15).translate(-0.04, 0, 0.5), RED],
    [ball(0.14).translate(0, 0.25, 0.1), STEEL],
    [ball(0.14).translate(0, -0.25, 0.1), STEEL],
    [new THREE.CylinderGeometry(0.3, 0.3, 0.07, 20).rotateZ(Math.PI / 2).rotateZ(0.5)
      .translate(0.26, 0.36, -0.06), SHADED],
    [ball(0.1).translate(0.31, 0.39, -0.06), STEEL],
    [box(0.62, 0.06, 0.04).rotateY(-0.5).translate(0.46, -0.36, 0.12), WHITE],
    [box(0.06, 0.2, 0.06).translate(0.22, -0.36, -0.02), WOOD],
  ],
  /** A pointed hat with a wide brim, and a staff with a light. */
  mage: () => [
    [rod(0.4, 0.42, 0.04, 24).translate(0, 0, 0.36), NIGHT],
    [cone(0.22, 0.42, 16).rotateY(-0.25).translate(-0.05, 0, 0.56), NIGHT],
    [new THREE.TorusGeometry(0.21, 0.03, 6, 20).translate(0, 0, 0.4), GOLD],
    staff(),
    [new THREE.IcosahedronGeometry(0.12, 1).translate(0.2, -0.4, 0.55), [0.35, 0.8, 1.6]],
  ],
  /** A hood, a bow in the hand and a quiver on the back. */
  archer: () => [
    [ball(0.21, 16, 12).scale(1, 1, 1.05).translate(-0.05, 0, 0.3), LEAVES],
    [new THREE.ConeGeometry(0.15, 0.34, 12).rotateZ(Math.PI / 2).rotateY(0.5)
      .translate(-0.28, 0, 0.26), LEAVES],
    [new THREE.TorusGeometry(0.42, 0.035, 8, 20, Math.PI).rotateZ(-Math.PI / 2)
      .translate(0.22, 0, 0.02), WOOD],
    [box(0.015, 0.84, 0.015).translate(0.22, 0, 0.02), WHITE],
    [box(0.7, 0.03, 0.03).translate(0.34, 0, 0.03), STEEL],
    [rod(0.08, 0.07, 0.46, 10).rotateX(0.5).translate(-0.26, 0.05, 0.06), WOOD],
  ],
  /** A ring of light over the head, and a staff with a cross. */
  healer: () => [
    [cap(0.19, 16, 10, 1.5).translate(-0.03, 0, 0.3), WHITE],
    [new THREE.TorusGeometry(0.25, 0.035, 8, 24).translate(0, 0, 0.58), [1.8, 1.3, 0.4]],
    [rod(0.27, 0.34, 0.1, 20).translate(0, 0, -0.14), WHITE],
    staff(),
    [box(0.07, 0.4, 0.09).translate(0.2, -0.4, 0.46), GOLD],
    [box(0.07, 0.09, 0.36).translate(0.2, -0.4, 0.46), GOLD],
  ],
};

/** From the shoulders down the back, open in front. */
function cape(): THREE.BufferGeometry {
  const outline = outlineOf([0.22, 0.15], [0.29, -0.02], [0.36, -0.3], [0.41, -0.46]);
  const outside = new THREE.LatheGeometry(outline, 14, 0.75 * Math.PI, 1.5 * Math.PI * 0.6);
  const inside = new THREE.LatheGeometry([...outline].reverse(), 14, 0.75 * Math.PI, 0.9 * Math.PI);
  return mergeGeometries([outside, inside]).rotateX(Math.PI / 2).rotateZ(-Math.PI * 0.7);
}

/** A body with two eyes, and with what shows its sort from afar. */
export function creature(sort: Sort): THREE.BufferGeometry {
  const eye = (x: number, y: number, z: number): Part[] => [
    [ball(0.1, 10, 8).translate(x, y, z), [1.4, 1.2, 0.4]],
    [ball(0.05, 8, 6).translate(x + 0.075, y, z + 0.02), BLACK],
  ];
  if (sort === "beast") {
    // Lean and long: from above it differs from plump creatures.
    const leg = (x: number, y: number): Part => [
      rod(0.075, 0.045, 0.44, 8).translate(x, y, -0.29), SHADED,
    ];
    const ear = (y: number): Part => [
      cone(0.085, 0.3, 6).rotateX(-0.25 * Math.sign(y)).translate(0.36, y, 0.36), SHADED,
    ];
    const body = new THREE.CapsuleGeometry(0.19, 0.52, 6, 14).rotateZ(-Math.PI / 2)
      .scale(1, 0.95, 1.1).rotateY(-0.08);
    const chest = ball(0.24, 14, 10).scale(1, 0.95, 1.1);
    const head = ball(0.185, 16, 10).scale(1.25, 1, 0.95);
    const muzzle = new THREE.CylinderGeometry(0.06, 0.11, 0.3, 10).rotateZ(-Math.PI / 2);
    const tail = new THREE.CapsuleGeometry(0.075, 0.34, 4, 10).rotateZ(Math.PI / 2).rotateY(0.5);
    return merged(
      [body.translate(-0.1, 0, -0.02), BRIGHT],
      [chest.translate(0.2, 0, 0), SHADED],
      [head.translate(0.44, 0, 0.18), BRIGHT],
      [muzzle.translate(0.7, 0, 0.11), SHADED],
      [ball(0.05, 8, 6).translate(0.86, 0, 0.13), BLACK],
      [tail.translate(-0.66, 0, 0.1), SHADED],
      [new THREE.ConeGeometry(0.075, 0.16, 8).rotateZ(Math.PI / 2).rotateY(0.5)
        .translate(-0.87, 0, 0.21), BELLY],
      ear(0.11), ear(-0.11),
      leg(0.24, 0.15), leg(0.24, -0.15), leg(-0.34, 0.15), leg(-0.34, -0.15),
      ...eye(0.54, 0.1, 0.25), ...eye(0.54, -0.1, 0.25),
    );
  }
  if (sort === "robed") {
    const outline = outlineOf(
      [0, -0.5], [0.42, -0.5], [0.34, -0.2], [0.2, 0.12], [0.24, 0.3], [0, 0.56],
    );
    return merged(
      [turned(outline, 18), BRIGHT],
      [ball(0.17, 14, 10).translate(0.1, 0, 0.27), BLACK],
      staff(),
      [new THREE.OctahedronGeometry(0.13).translate(0.2, -0.4, 0.52), [1.2, 0.3, 1.6]],
      ...eye(0.21, 0.08, 0.3), ...eye(0.21, -0.08, 0.3),
    );
  }
  if (sort === "round") return round(eye);
  const dome = ball(0.46, 20, 14).scale(1, 1, 1.05).translate(0, 0, -0.05);
  const foot = rod(0.4, 0.5, 0.18, 20).translate(0, 0, -0.43);
  const parts: Part[] = [
    [dome, BRIGHT], [foot, SHADED], ...eye(0.36, 0.17, 0.16), ...eye(0.36, -0.17, 0.16),
  ];
  if (sort === "horned") {
    for (const side of [1, -1]) {
      parts.push([cone(0.1, 0.4, 10).rotateX(-0.7 * side).translate(0, 0.36 * side, 0.46), STEEL]);
      parts.push([ball(0.18).translate(0.2, 0.5 * side, -0.14), SHADED]);
    }
    parts.push([box(0.06, 0.36, 0.09).translate(0.43, 0, -0.1), DARK]);
  }
  return merged(...parts);
}

/** Plump, with a back in plates, a snout, ears, a tail and four feet: from above it has a front. */
function round(eye: (x: number, y: number, z: number) => Part[]): THREE.BufferGeometry {
  const foot = (x: number, y: number): Part => [
    ball(0.13).scale(1.25, 1, 0.8).translate(x, y, -0.4), DARK,
  ];
  const ear = (y: number): Part => [
    cone(0.12, 0.26, 8).scale(0.6, 1, 1).rotateX(-0.7 * Math.sign(y)).translate(0.26, y, 0.36),
    SHADED,
  ];
  // Plates from the neck to the tail, the largest one in the middle.
  const plate = (x: number, z: number, size: number): Part => [
    cone(size, 2.1 * size, 4).scale(1, 0.45, 1).rotateY(0.9 * (x + 0.05)).translate(x, 0, z),
    PLATES,
  ];
  const spot = (x: number, y: number, z: number): Part => [
    ball(0.12).scale(1.1, 0.9, 0.45).rotateX(-0.75 * Math.sign(y)).translate(x, y, z), SHADED,
  ];
  return merged(
    [ball(0.42, 20, 14).scale(1.08, 0.98, 0.95).translate(-0.06, 0, -0.02), BRIGHT],
    [ball(0.33).scale(1, 0.9, 0.7).translate(0.04, 0, -0.2), BELLY],
    [ball(0.27).translate(0.3, 0, 0.06), BRIGHT],
    [ball(0.16).scale(0.9, 1.15, 0.8).translate(0.5, 0, -0.03), BELLY],
    [ball(0.055).scale(0.7, 1.3, 0.8).translate(0.63, 0, 0.03), BLACK],
    [new THREE.ConeGeometry(0.13, 0.42, 8).rotateZ(Math.PI / 2).rotateY(0.35)
      .translate(-0.58, 0, -0.04), SHADED],
    plate(0.16, 0.44, 0.11), plate(-0.05, 0.47, 0.15),
    plate(-0.26, 0.37, 0.13), plate(-0.42, 0.2, 0.1),
    spot(-0.12, 0.3, 0.22), spot(-0.12, -0.3, 0.22),
    spot(-0.32, 0.22, 0.16), spot(-0.32, -0.22, 0.16),
    ear(0.2), ear(-0.2),
    foot(0.2, 0.26), foot(0.2, -0.26), foot(-0.28, 0.26), foot(-0.28, -0.26),
    ...eye(0.44, 0.15, 0.17), ...eye(0.44, -0.15, 0.17),
  );
}

/** A hull with swept wings, a cockpit, guns at the wings' tips and two engines. */
function ship(): THREE.BufferGeometry {
  const wings = new THREE.Shape(outlineOf(
    [0.2, 0], [0.1, 0.14], [-0.26, 0.5], [-0.46, 0.5], [-0.36, 0.14],
    [-0.36, -0.14], [-0.46, -0.5], [-0.26, -0.5], [0.1, -0.14],
  ));
  const flat = new THREE.ExtrudeGeometry(wings, {
    depth: 0.1,
    bevelThickness: 0.05,
    bevelSize: 0.02,
    bevelSegments: 1,
  }).translate(0, 0, -0.12);
  const hull = new THREE.ConeGeometry(0.15, 1.05, 8).rotateZ(-Math.PI / 2).scale(1, 1, 1.7)
    .translate(0.06, 0, 0.05);
  const cockpit = ball(0.1).scale(1.9, 0.9, 1.7).translate(0.1, 0, 0.2);
  const spine = box(0.4, 0.045, 0.3).translate(-0.26, 0, 0.24);
  const sides = [1, -1].flatMap((side): Part[] => [
    [box(0.34, 0.045, 0.12).translate(-0.26, 0.5 * side, 0), STEEL],
    // A stripe across the wing, by which the side of a ship is seen from above.
    [box(0.1, 0.24, 0.05).rotateZ(-0.75 * side).translate(-0.16, 0.3 * side, 0.06), BRIGHT],
    [new THREE.CylinderGeometry(0.085, 0.1, 0.3, 10).rotateZ(Math.PI / 2).scale(1, 1, 1.5)
      .translate(-0.4, 0.15 * side, 0.02), DARK],
    [new THREE.CylinderGeometry(0.07, 0.07, 0.03, 10).rotateZ(Math.PI / 2).scale(1, 1, 1.5)
      .translate(-0.56, 0.15 * side, 0.02), [0.9, 1.4, 2]],
  ]);
  return merged([flat, 0.45], [hull, BRIGHT], [cockpit, [0.03, 0.08, 0.2]], [spine, 0.8], ...sides);
}

type Part = readonly [geometry: THREE.BufferGeometry, shade: Shade];

function merged(...parts: readonly Part[]): THREE.BufferGeometry {
  const prepared = parts.map(([geometry, shade]) => {
    const isShare = typeof shade === "number";
    const channels = isShare ? [shade, shade, shade] : shade;
    const plain = coloured(unshared(geometry), () => channels);
    const tinted = new Float32Array(plain.getAttribute("position").count).fill(isShare ? 1 : 0);
    plain.setAttribute("tinted", new THREE.BufferAttribute(tinted, 1));
    return plain;
  });
  return mergeGeometries(prepared);
}
