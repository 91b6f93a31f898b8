/** The shapes of objects: of extent 1 along each axis, composed of a few simple ones each. */

import * as THREE from "three";
import { RoundedBoxGeometry } from "three/examples/jsm/geometries/RoundedBoxGeometry.js";
import { mergeGeometries } from "three/examples/jsm/utils/BufferGeometryUtils.js";
import type { MeshDescription } from "../core/look.js";

/** Shares of an object's own colour. */
const BRIGHT = 1;
const SHADED = 0.62;
const DARK = 0.16;

/** What points, points along x. */
export function geometryOf(form: MeshDescription["form"]): THREE.BufferGeometry {
  switch (form) {
    case "cube":
      return new RoundedBoxGeometry(1, 1, 1, 2, 0.07);
    case "ball":
      return new THREE.SphereGeometry(0.5, 16, 12);
    case "creature":
      return creature();
    case "figure":
      return figure();
    case "ship":
      return ship();
  }
}

/** Whether a shape has colours of its own, which its kind's colour is multiplied with. */
export function hasParts(form: MeshDescription["form"]): boolean {
  return form === "creature" || form === "figure" || form === "ship";
}

/** A body with a head and a nose. */
function figure(): THREE.BufferGeometry {
  const outline = [
    [0, -0.5],
    [0.34, -0.5],
    [0.36, -0.44],
    [0.3, -0.25],
    [0.2, 0.02],
    [0.15, 0.14],
    [0, 0.14],
  ].map(([x, y]) => new THREE.Vector2(x, y));
  const body = new THREE.LatheGeometry(outline, 20).rotateX(Math.PI / 2);
  const head = new THREE.SphereGeometry(0.19, 16, 12).translate(0, 0, 0.31);
  const nose = new THREE.ConeGeometry(0.09, 0.24, 10).rotateZ(-Math.PI / 2).translate(0.24, 0, 0.3);
  const feet = new THREE.ConeGeometry(0.2, 0.34, 3)
    .rotateZ(-Math.PI / 2)
    .scale(1, 1, 0.25)
    .translate(0.42, 0, -0.46);
  return merged([body, BRIGHT], [head, BRIGHT], [nose, SHADED], [feet, SHADED]);
}

/** A dome with two eyes. */
function creature(): THREE.BufferGeometry {
  const dome = new THREE.SphereGeometry(0.5, 20, 14).scale(1, 1, 1.05).translate(0, 0, -0.05);
  const eye = (y: number) =>
    new THREE.SphereGeometry(0.09, 10, 8).translate(0.4, y, 0.16);
  const foot = new THREE.CylinderGeometry(0.42, 0.5, 0.18, 20)
    .rotateX(Math.PI / 2)
    .translate(0, 0, -0.43);
  return merged([dome, BRIGHT], [eye(0.17), DARK], [eye(-0.17), DARK], [foot, SHADED]);
}

/** A hull with swept wings, a cockpit and an engine. */
function ship(): THREE.BufferGeometry {
  const wings = new THREE.Shape();
  wings.moveTo(0.35, 0);
  wings.lineTo(-0.45, 0.5);
  wings.lineTo(-0.3, 0.12);
  wings.lineTo(-0.3, -0.12);
  wings.lineTo(-0.45, -0.5);
  const flat = new THREE.ExtrudeGeometry(wings, {
    depth: 0.14,
    bevelThickness: 0.05,
    bevelSize: 0.03,
    bevelSegments: 1,
  }).translate(0, 0, -0.12);
  const hull = new THREE.ConeGeometry(0.17, 1.05, 8)
    .rotateZ(-Math.PI / 2)
    .scale(1, 1, 1.6)
    .translate(0.08, 0, 0.05);
  const cockpit = new THREE.SphereGeometry(0.11, 12, 8).scale(1.6, 1, 1.7).translate(0.12, 0, 0.24);
  const engine = new THREE.CylinderGeometry(0.12, 0.15, 0.16, 10)
    .rotateZ(Math.PI / 2)
    .scale(1, 1, 1.5)
    .translate(-0.46, 0, 0.05);
  return merged([flat, SHADED], [hull, BRIGHT], [cockpit, DARK], [engine, DARK]);
}

function merged(...parts: readonly [THREE.BufferGeometry, number][]): THREE.BufferGeometry {
  const prepared = parts.map(([geometry, shade]) => {
    const plain = geometry.index ? geometry.toNonIndexed() : geometry;
    plain.deleteAttribute("uv");
    const count = plain.getAttribute("position").count;
    const colours = new Float32Array(3 * count).fill(shade);
    plain.setAttribute("color", new THREE.BufferAttribute(colours, 3));
    return plain;
  });
  return mergeGeometries(prepared);
}
