/** The shapes of objects: of extent 1 along each axis, composed of a few simple ones each. */

import * as THREE from "three";
import { RoundedBoxGeometry } from "three/examples/jsm/geometries/RoundedBoxGeometry.js";
import { mergeGeometries } from "three/examples/jsm/utils/BufferGeometryUtils.js";
import type { MeshDescription } from "../core/look.js";
import type { Outfit, Sort, Thing } from "../core/roles.js";

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

/** What points, points along x. */
export function geometryOf(form: MeshDescription["form"]): THREE.BufferGeometry {
  switch (form) {
    case "cube":
      return thing("block");
    case "ball":
      return new THREE.SphereGeometry(0.5, 16, 12);
    case "creature":
      return creature("round");
    case "figure":
      return figure("plain");
    case "ship":
      return ship();
  }
}

/** Whether a shape has colours of its own, which its kind's colour is multiplied with. */
export function hasParts(form: MeshDescription["form"]): boolean {
  return form === "creature" || form === "figure" || form === "ship";
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
    new THREE.ConeGeometry(0.09, 0.42, 8).rotateX(Math.PI / 2).translate(x, y, -0.26), STEEL,
  ]));
  return merged([new THREE.BoxGeometry(1, 1, 0.06).translate(0, 0, -0.47), BRIGHT], ...all);
}

/** Of wood and gold, with a round lid. */
function chest(): THREE.BufferGeometry {
  const lid = new THREE.CylinderGeometry(0.36, 0.36, 1.04, 16, 1, false, 0, Math.PI)
    .scale(1, 1, 0.7).rotateY(-Math.PI / 2).translate(0, 0, 0.06);
  const band = (y: number): Part[] => [
    [new THREE.BoxGeometry(0.78, 0.1, 0.58).translate(0, y, -0.22), GOLD],
    [new THREE.CylinderGeometry(0.385, 0.385, 0.1, 16, 1, false, 0, Math.PI)
      .scale(1, 1, 0.7).rotateY(-Math.PI / 2).translate(0, y, 0.06), GOLD],
  ];
  return merged(
    [new THREE.BoxGeometry(0.72, 1.04, 0.56).translate(0, 0, -0.22), WOOD],
    [lid, [0.3, 0.15, 0.06]],
    ...band(0.42), ...band(-0.42),
    [new THREE.BoxGeometry(0.76, 1.06, 0.06).translate(0, 0, 0.05), GOLD],
    [new THREE.BoxGeometry(0.06, 0.2, 0.22).translate(0.38, 0, 0), BRIGHT],
  );
}

/** A body with a head and a nose, and with what shows its role from afar. */
export function figure(outfit: Outfit): THREE.BufferGeometry {
  const isRobed = outfit === "mage" || outfit === "healer";
  const outline = [
    [0, -0.5],
    [isRobed ? 0.4 : 0.32, -0.5],
    [isRobed ? 0.4 : 0.34, -0.44],
    [isRobed ? 0.31 : 0.27, -0.2],
    [isRobed ? 0.2 : 0.24, 0.02],
    [0.17, 0.14],
    [0, 0.16],
  ].map(([x, y]) => new THREE.Vector2(x, y));
  const body = new THREE.LatheGeometry(outline, 20).rotateX(Math.PI / 2);
  const head = new THREE.SphereGeometry(0.17, 16, 12).translate(0, 0, 0.29);
  const nose = new THREE.ConeGeometry(0.08, 0.2, 10).rotateZ(-Math.PI / 2).translate(0.22, 0, 0.28);
  const arms = [1, -1].flatMap((side): Part[] => [
    [new THREE.CapsuleGeometry(0.07, 0.24, 4, 10).rotateX(Math.PI / 2).rotateX(-0.42 * side)
      .rotateY(-0.5).translate(0.07, 0.27 * side, -0.03), SHADED],
    [new THREE.SphereGeometry(0.075, 10, 8).translate(0.14, 0.33 * side, -0.17), SKIN],
  ]);
  const belt = new THREE.CylinderGeometry(0.265, 0.275, 0.07, 20).rotateX(Math.PI / 2)
    .translate(0, 0, -0.13);
  const feet = new THREE.ConeGeometry(0.2, 0.34, 3)
    .rotateZ(-Math.PI / 2)
    .scale(1, 1, 0.25)
    .translate(0.42, 0, -0.46);
  const all: Part[] = [[body, BRIGHT], [head, SKIN], [nose, SKIN], [feet, SHADED], [belt, WOOD], ...arms];
  return merged(...all, ...OUTFITS[outfit]()).scale(1, 1, 0.9).translate(0, 0, -0.05);
}

const OUTFITS: Readonly<Record<Outfit, () => Part[]>> = {
  /** Hair, a cape and a bundle: a traveller. */
  plain: () => [
    [new THREE.SphereGeometry(0.19, 16, 10, 0, 2 * Math.PI, 0, 1.65).rotateX(Math.PI / 2)
      .rotateY(-0.35).translate(-0.03, 0, 0.31), [0.16, 0.08, 0.035]],
    [cape(), 0.78],
    [new THREE.CapsuleGeometry(0.085, 0.3, 4, 10).translate(-0.27, 0, 0.15), WOOD],
  ],
  /** A wide hat, an apron and a large pack with what is for sale. */
  trader: () => [
    [new THREE.CylinderGeometry(0.38, 0.4, 0.04, 24).rotateX(Math.PI / 2).translate(0, 0, 0.38),
      [0.42, 0.26, 0.1]],
    [new THREE.SphereGeometry(0.2, 16, 8, 0, 2 * Math.PI, 0, Math.PI / 2).rotateX(Math.PI / 2)
      .scale(1, 1, 0.8).translate(0, 0, 0.38), [0.42, 0.26, 0.1]],
    [new THREE.TorusGeometry(0.2, 0.025, 6, 20).translate(0, 0, 0.41), RED],
    [new RoundedBoxGeometry(0.36, 0.5, 0.62, 2, 0.1).translate(-0.42, 0, 0.04), WOOD],
    [new THREE.CapsuleGeometry(0.1, 0.5, 4, 10).translate(-0.42, 0, 0.42), [0.5, 0.42, 0.28]],
    [new THREE.SphereGeometry(0.11, 12, 8).translate(-0.4, 0.32, 0.1), [0.7, 0.1, 0.12]],
    [new THREE.SphereGeometry(0.1, 12, 8).translate(-0.4, -0.32, -0.06), [0.15, 0.4, 0.75]],
    [new THREE.CylinderGeometry(0.035, 0.035, 0.16, 8).rotateX(Math.PI / 2)
      .translate(-0.4, 0.32, 0.24), WHITE],
    [new THREE.SphereGeometry(0.1, 12, 8).scale(1, 1, 1.1).translate(0.3, 0.3, -0.16), GOLD],
  ],
  /** Helmet with a crest, shoulders, a shield and a sword. */
  knight: () => [
    [new THREE.SphereGeometry(0.2, 16, 10, 0, 2 * Math.PI, 0, 1.75).rotateX(Math.PI / 2)
      .translate(-0.02, 0, 0.3), STEEL],
    [new THREE.BoxGeometry(0.4, 0.07, 0.15).translate(-0.04, 0, 0.5), RED],
    [new THREE.SphereGeometry(0.14, 12, 8).translate(0, 0.25, 0.1), STEEL],
    [new THREE.SphereGeometry(0.14, 12, 8).translate(0, -0.25, 0.1), STEEL],
    [new THREE.CylinderGeometry(0.3, 0.3, 0.07, 20).rotateZ(Math.PI / 2).rotateZ(0.5)
      .translate(0.26, 0.36, -0.06), SHADED],
    [new THREE.SphereGeometry(0.1, 12, 8).translate(0.31, 0.39, -0.06), STEEL],
    [new THREE.BoxGeometry(0.62, 0.06, 0.04).rotateY(-0.5).translate(0.46, -0.36, 0.12), WHITE],
    [new THREE.BoxGeometry(0.06, 0.2, 0.06).translate(0.22, -0.36, -0.02), WOOD],
  ],
  /** A pointed hat with a wide brim, and a staff with a light. */
  mage: () => [
    [new THREE.CylinderGeometry(0.4, 0.42, 0.04, 24).rotateX(Math.PI / 2).translate(0, 0, 0.36),
      NIGHT],
    [new THREE.ConeGeometry(0.22, 0.42, 16).rotateX(Math.PI / 2).rotateY(-0.25)
      .translate(-0.05, 0, 0.56), NIGHT],
    [new THREE.TorusGeometry(0.21, 0.03, 6, 20).translate(0, 0, 0.4), GOLD],
    [new THREE.CylinderGeometry(0.035, 0.035, 1, 8).rotateX(Math.PI / 2).translate(0.2, -0.4, 0),
      WOOD],
    [new THREE.IcosahedronGeometry(0.12, 1).translate(0.2, -0.4, 0.55), [0.35, 0.8, 1.6]],
  ],
  /** A hood, a bow in the hand and a quiver on the back. */
  archer: () => [
    [new THREE.SphereGeometry(0.21, 16, 12).scale(1, 1, 1.05).translate(-0.05, 0, 0.3), LEAVES],
    [new THREE.ConeGeometry(0.15, 0.34, 12).rotateZ(Math.PI / 2).rotateY(0.5)
      .translate(-0.28, 0, 0.26), LEAVES],
    [new THREE.TorusGeometry(0.42, 0.035, 8, 20, Math.PI).rotateZ(-Math.PI / 2)
      .translate(0.22, 0, 0.02), WOOD],
    [new THREE.BoxGeometry(0.015, 0.84, 0.015).translate(0.22, 0, 0.02), WHITE],
    [new THREE.BoxGeometry(0.7, 0.03, 0.03).translate(0.34, 0, 0.03), STEEL],
    [new THREE.CylinderGeometry(0.08, 0.07, 0.46, 10).rotateX(Math.PI / 2).rotateX(0.5)
      .translate(-0.26, 0.05, 0.06), WOOD],
  ],
  /** A ring of light over the head, and a staff with a cross. */
  healer: () => [
    [new THREE.SphereGeometry(0.19, 16, 10, 0, 2 * Math.PI, 0, 1.5).rotateX(Math.PI / 2)
      .translate(-0.03, 0, 0.3), WHITE],
    [new THREE.TorusGeometry(0.25, 0.035, 8, 24).translate(0, 0, 0.58), [1.8, 1.3, 0.4]],
    [new THREE.CylinderGeometry(0.27, 0.34, 0.1, 20).rotateX(Math.PI / 2).translate(0, 0, -0.14),
      WHITE],
    [new THREE.CylinderGeometry(0.035, 0.035, 1, 8).rotateX(Math.PI / 2).translate(0.2, -0.4, 0),
      WOOD],
    [new THREE.BoxGeometry(0.07, 0.4, 0.09).translate(0.2, -0.4, 0.46), GOLD],
    [new THREE.BoxGeometry(0.07, 0.09, 0.36).translate(0.2, -0.4, 0.46), GOLD],
  ],
};

/** From the shoulders down the back, open in front. */
function cape(): THREE.BufferGeometry {
  const outline = [[0.22, 0.15], [0.29, -0.02], [0.36, -0.3], [0.41, -0.46]].map(
    ([x, y]) => new THREE.Vector2(x, y),
  );
  const outside = new THREE.LatheGeometry(outline, 14, 0.75 * Math.PI, 1.5 * Math.PI * 0.6);
  const inside = new THREE.LatheGeometry([...outline].reverse(), 14, 0.75 * Math.PI, 0.9 * Math.PI);
  return mergeGeometries([outside, inside]).rotateX(Math.PI / 2).rotateZ(-Math.PI * 0.7);
}

/** A body with two eyes, and with what shows its sort from afar. */
export function creature(sort: Sort): THREE.BufferGeometry {
  const eye = (x: number, y: number, z: number): Part[] => [
    [new THREE.SphereGeometry(0.1, 10, 8).translate(x, y, z), [1.4, 1.2, 0.4]],
    [new THREE.SphereGeometry(0.05, 8, 6).translate(x + 0.075, y, z + 0.02), BLACK],
  ];
  if (sort === "beast") {
    // Lean and long: from above it differs from plump creatures.
    const leg = (x: number, y: number): Part => [
      new THREE.CylinderGeometry(0.075, 0.045, 0.44, 8).rotateX(Math.PI / 2)
        .translate(x, y, -0.29), SHADED,
    ];
    const ear = (y: number): Part => [
      new THREE.ConeGeometry(0.085, 0.3, 6).rotateX(Math.PI / 2).rotateX(-0.25 * Math.sign(y))
        .translate(0.36, y, 0.36), SHADED,
    ];
    const body = new THREE.CapsuleGeometry(0.19, 0.52, 6, 14).rotateZ(-Math.PI / 2)
      .scale(1, 0.95, 1.1).rotateY(-0.08);
    const chest = new THREE.SphereGeometry(0.24, 14, 10).scale(1, 0.95, 1.1);
    const head = new THREE.SphereGeometry(0.185, 16, 10).scale(1.25, 1, 0.95);
    const muzzle = new THREE.CylinderGeometry(0.06, 0.11, 0.3, 10).rotateZ(-Math.PI / 2);
    const tail = new THREE.CapsuleGeometry(0.075, 0.34, 4, 10).rotateZ(Math.PI / 2).rotateY(0.5);
    return merged(
      [body.translate(-0.1, 0, -0.02), BRIGHT],
      [chest.translate(0.2, 0, 0), SHADED],
      [head.translate(0.44, 0, 0.18), BRIGHT],
      [muzzle.translate(0.7, 0, 0.11), SHADED],
      [new THREE.SphereGeometry(0.05, 8, 6).translate(0.86, 0, 0.13), BLACK],
      [tail.translate(-0.66, 0, 0.1), SHADED],
      [new THREE.ConeGeometry(0.075, 0.16, 8).rotateZ(Math.PI / 2).rotateY(0.5)
        .translate(-0.87, 0, 0.21), BELLY],
      ear(0.11), ear(-0.11),
      leg(0.24, 0.15), leg(0.24, -0.15), leg(-0.34, 0.15), leg(-0.34, -0.15),
      ...eye(0.54, 0.1, 0.25), ...eye(0.54, -0.1, 0.25),
    );
  }
  if (sort === "robed") {
    const outline = [[0, -0.5], [0.42, -0.5], [0.34, -0.2], [0.2, 0.12], [0.24, 0.3], [0, 0.56]];
    const robe = new THREE.LatheGeometry(outline.map(([x, y]) => new THREE.Vector2(x, y)), 18);
    return merged(
      [robe.rotateX(Math.PI / 2), BRIGHT],
      [new THREE.SphereGeometry(0.17, 14, 10).translate(0.1, 0, 0.27), BLACK],
      [new THREE.CylinderGeometry(0.035, 0.035, 1, 8).rotateX(Math.PI / 2).translate(0.2, -0.4, 0),
        WOOD],
      [new THREE.OctahedronGeometry(0.13).translate(0.2, -0.4, 0.52), [1.2, 0.3, 1.6]],
      ...eye(0.21, 0.08, 0.3), ...eye(0.21, -0.08, 0.3),
    );
  }
  if (sort === "round") return round(eye);
  const dome = new THREE.SphereGeometry(0.46, 20, 14).scale(1, 1, 1.05).translate(0, 0, -0.05);
  const foot = new THREE.CylinderGeometry(0.4, 0.5, 0.18, 20)
    .rotateX(Math.PI / 2)
    .translate(0, 0, -0.43);
  const parts: Part[] = [
    [dome, BRIGHT], [foot, SHADED], ...eye(0.36, 0.17, 0.16), ...eye(0.36, -0.17, 0.16),
  ];
  if (sort === "horned") {
    for (const side of [1, -1]) {
      const horn = new THREE.ConeGeometry(0.1, 0.4, 10).rotateX(Math.PI / 2).rotateX(-0.7 * side);
      parts.push([horn.translate(0, 0.36 * side, 0.46), STEEL]);
      const arm = new THREE.SphereGeometry(0.18, 12, 8).translate(0.2, 0.5 * side, -0.14);
      parts.push([arm, SHADED]);
    }
    parts.push([new THREE.BoxGeometry(0.06, 0.36, 0.09).translate(0.43, 0, -0.1), DARK]);
  }
  return merged(...parts);
}

/** Plump, with a back in plates, a snout, ears, a tail and four feet: from above it has a front. */
function round(eye: (x: number, y: number, z: number) => Part[]): THREE.BufferGeometry {
  const ball = (radius: number) => new THREE.SphereGeometry(radius, 12, 8);
  const foot = (x: number, y: number): Part => [
    ball(0.13).scale(1.25, 1, 0.8).translate(x, y, -0.4), DARK,
  ];
  const ear = (y: number): Part => [
    new THREE.ConeGeometry(0.12, 0.26, 8).rotateX(Math.PI / 2).scale(0.6, 1, 1)
      .rotateX(-0.7 * Math.sign(y)).translate(0.26, y, 0.36), SHADED,
  ];
  // Plates from the neck to the tail, the largest one in the middle.
  const plates = [[0.16, 0.44, 0.11], [-0.05, 0.47, 0.15], [-0.26, 0.37, 0.13], [-0.42, 0.2, 0.1]];
  const back = plates.map(([x, z, size]): Part => [
    new THREE.ConeGeometry(size, 2.1 * (size ?? 0), 4).rotateX(Math.PI / 2)
      .scale(1, 0.45, 1).rotateY(0.9 * ((x ?? 0) + 0.05)).translate(x ?? 0, 0, z ?? 0),
    PLATES,
  ]);
  const spot = (x: number, y: number, z: number): Part => [
    ball(0.12).scale(1.1, 0.9, 0.45).rotateX(-0.75 * Math.sign(y)).translate(x, y, z), SHADED,
  ];
  return merged(
    [new THREE.SphereGeometry(0.42, 20, 14).scale(1.08, 0.98, 0.95).translate(-0.06, 0, -0.02),
      BRIGHT],
    [ball(0.33).scale(1, 0.9, 0.7).translate(0.04, 0, -0.2), BELLY],
    [ball(0.27).translate(0.3, 0, 0.06), BRIGHT],
    [ball(0.16).scale(0.9, 1.15, 0.8).translate(0.5, 0, -0.03), BELLY],
    [ball(0.055).scale(0.7, 1.3, 0.8).translate(0.63, 0, 0.03), BLACK],
    [new THREE.ConeGeometry(0.13, 0.42, 8).rotateZ(Math.PI / 2).rotateY(0.35)
      .translate(-0.58, 0, -0.04), SHADED],
    ...back,
    spot(-0.12, 0.3, 0.22), spot(-0.12, -0.3, 0.22),
    spot(-0.32, 0.22, 0.16), spot(-0.32, -0.22, 0.16),
    ear(0.2), ear(-0.2),
    foot(0.2, 0.26), foot(0.2, -0.26), foot(-0.28, 0.26), foot(-0.28, -0.26),
    ...eye(0.44, 0.15, 0.17), ...eye(0.44, -0.15, 0.17),
  );
}

/** A hull with swept wings, a cockpit, guns at the wings' tips and two engines. */
function ship(): THREE.BufferGeometry {
  const wings = new THREE.Shape();
  wings.moveTo(0.2, 0);
  wings.lineTo(0.1, 0.14);
  wings.lineTo(-0.26, 0.5);
  wings.lineTo(-0.46, 0.5);
  wings.lineTo(-0.36, 0.14);
  wings.lineTo(-0.36, -0.14);
  wings.lineTo(-0.46, -0.5);
  wings.lineTo(-0.26, -0.5);
  wings.lineTo(0.1, -0.14);
  const flat = new THREE.ExtrudeGeometry(wings, {
    depth: 0.1,
    bevelThickness: 0.05,
    bevelSize: 0.02,
    bevelSegments: 1,
  }).translate(0, 0, -0.12);
  const hull = new THREE.ConeGeometry(0.15, 1.05, 8)
    .rotateZ(-Math.PI / 2)
    .scale(1, 1, 1.7)
    .translate(0.06, 0, 0.05);
  const cockpit = new THREE.SphereGeometry(0.1, 12, 8).scale(1.9, 0.9, 1.7).translate(0.1, 0, 0.2);
  const spine = new THREE.BoxGeometry(0.4, 0.045, 0.3).translate(-0.26, 0, 0.24);
  const sides = [1, -1].flatMap((side): Part[] => [
    [new THREE.BoxGeometry(0.34, 0.045, 0.12).translate(-0.26, 0.5 * side, 0), STEEL],
    // A stripe across the wing, by which the side of a ship is seen from above.
    [new THREE.BoxGeometry(0.1, 0.24, 0.05).rotateZ(-0.75 * side)
      .translate(-0.16, 0.3 * side, 0.06), BRIGHT],
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
    const plain = geometry.index ? geometry.toNonIndexed() : geometry;
    plain.deleteAttribute("uv");
    const count = plain.getAttribute("position").count;
    const colours = new Float32Array(3 * count);
    const isShare = typeof shade === "number";
    const channels = isShare ? [shade, shade, shade] : shade;
    for (let corner = 0; corner < count; corner += 1) colours.set(channels, 3 * corner);
    plain.setAttribute("color", new THREE.BufferAttribute(colours, 3));
    const tinted = new Float32Array(count).fill(isShare ? 1 : 0);
    plain.setAttribute("tinted", new THREE.BufferAttribute(tinted, 1));
    return plain;
  });
  return mergeGeometries(prepared);
}
