/** The sides of boxes, as textures that an object's colour is multiplied with. */

import * as THREE from "three";
import type { Thing } from "../core/roles.js";
import { seededUnits } from "../core/seeded.js";
import { canvasOf } from "./three_parts.js";

const PIXELS = 128;
const BOARDS = 4;

/** Boards in a frame for a box that is moved about, a face for a player's. */
export function boxSides(what: Thing): THREE.Texture | undefined {
  if (what === "chest" || what === "trap") return undefined;
  const [canvas, context] = canvasOf(PIXELS);
  (what === "toy" ? face : boards)(context);
  const texture = new THREE.CanvasTexture(canvas);
  texture.colorSpace = THREE.SRGBColorSpace;
  texture.anisotropy = 4;
  return texture;
}

function boards(context: CanvasRenderingContext2D): void {
  const unit = seededUnits(5);
  const wide = PIXELS / BOARDS;
  for (let board = 0; board < BOARDS; board += 1) {
    const grey = 205 + Math.round(30 * unit());
    context.fillStyle = `rgb(${grey} ${grey} ${grey})`;
    context.fillRect(board * wide, 0, wide, PIXELS);
    context.fillStyle = "rgb(0 0 0 / 12%)";
    for (let grain = 0; grain < 5; grain += 1) {
      context.fillRect(board * wide + wide * unit(), 0, 1, PIXELS);
    }
    context.fillStyle = "rgb(60 30 10 / 75%)";
    context.fillRect(board * wide - 1, 0, 2, PIXELS);
  }
  const frame = 17;
  context.lineWidth = frame;
  context.strokeStyle = "#f4f4f4";
  context.strokeRect(frame / 2, frame / 2, PIXELS - frame, PIXELS - frame);
  context.lineWidth = 2;
  context.strokeStyle = "rgb(60 30 10 / 55%)";
  context.strokeRect(frame, frame, PIXELS - 2 * frame, PIXELS - 2 * frame);
  context.fillStyle = "rgb(40 25 15 / 70%)";
  for (const [x, y] of [[8, 8], [PIXELS - 8, 8], [8, PIXELS - 8], [PIXELS - 8, PIXELS - 8]]) {
    context.beginPath();
    context.arc(x as number, y as number, 3, 0, 2 * Math.PI);
    context.fill();
  }
}

/** Two eyes and a smile. */
function face(context: CanvasRenderingContext2D): void {
  context.fillStyle = "#f0f0f0";
  context.fillRect(0, 0, PIXELS, PIXELS);
  context.fillStyle = "rgb(255 255 255 / 90%)";
  context.beginPath();
  context.roundRect(13, 13, PIXELS - 26, PIXELS - 26, 22);
  context.fill();
  for (const x of [0.34, 0.66]) {
    ellipse(context, x * PIXELS, 0.43 * PIXELS, 10, 15, "#1c2430");
    ellipse(context, x * PIXELS + 3, 0.385 * PIXELS, 3.6, 5, "#ffffff");
    ellipse(context, x * PIXELS + (x < 0.5 ? -11 : 11), 0.6 * PIXELS, 8, 5, "rgb(255 90 90 / 40%)");
  }
  context.strokeStyle = "#1c2430";
  context.lineWidth = 5;
  context.lineCap = "round";
  context.beginPath();
  context.arc(0.5 * PIXELS, 0.56 * PIXELS, 15, 0.15 * Math.PI, 0.85 * Math.PI);
  context.stroke();
}

function ellipse(
  context: CanvasRenderingContext2D,
  x: number,
  y: number,
  wide: number,
  high: number,
  colour: string,
): void {
  context.fillStyle = colour;
  context.beginPath();
  context.ellipse(x, y, wide, high, 0, 0, 2 * Math.PI);
  context.fill();
}
