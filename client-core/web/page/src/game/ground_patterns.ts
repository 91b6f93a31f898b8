/** What is drawn on the ground, as textures that repeat: patches of grass, or slabs of stone. */

import * as THREE from "three";
import { seededUnits } from "../core/seeded.js";

/** After so much the patterns repeat. */
export const PATCHES_M = 9;
export const SLABS_M = 14;
const PATCH_PIXELS = 128;
const SLAB_PIXELS = 512;
/** Slabs in a row of the pattern. */
const SLABS = 7;

/** Soft patches of light and shade, the same everywhere: what moves over them is seen to move. */
export function patches(): THREE.CanvasTexture {
  const [canvas, context] = canvasOf(PATCH_PIXELS);
  context.fillStyle = "#e9e9e9";
  context.fillRect(0, 0, PATCH_PIXELS, PATCH_PIXELS);
  const unit = seededUnits(7);
  for (let patch = 0; patch < 240; patch += 1) {
    const [x, y] = [unit() * PATCH_PIXELS, unit() * PATCH_PIXELS];
    const radius = 1 + 6 * unit() * unit();
    const isLight = unit() < 0.5;
    context.fillStyle = isLight ? "rgba(255, 255, 255, 0.12)" : "rgba(130, 130, 130, 0.07)";
    // It repeats, so what goes over an edge comes in at the other one.
    for (const dx of [-PATCH_PIXELS, 0, PATCH_PIXELS]) {
      for (const dy of [-PATCH_PIXELS, 0, PATCH_PIXELS]) {
        context.beginPath();
        context.ellipse(x + dx, y + dy, radius, 0.6 * radius, 0, 0, 2 * Math.PI);
        context.fill();
      }
    }
  }
  return textureOf(canvas);
}

/** Slabs of stone, each of another shade, with light on one edge and some cracks. */
export function slabs(): THREE.CanvasTexture {
  const [canvas, context] = canvasOf(SLAB_PIXELS);
  context.fillStyle = "#a29c95";
  context.fillRect(0, 0, SLAB_PIXELS, SLAB_PIXELS);
  const unit = seededUnits(17);
  const wide = SLAB_PIXELS / SLABS;
  for (let row = 0; row < SLABS; row += 1) {
    for (let column = 0; column < SLABS; column += 1) {
      const chance = unit();
      const grey = Math.round(200 + 46 * chance);
      const [warm, cool] = [Math.round(6 * unit()), Math.round(8 * unit())];
      const [crack, cracks] = [unit(), unit() < 0.16];
      const [x, y] = [column * wide, row * wide];
      context.fillStyle = `rgb(${grey + warm}, ${grey}, ${grey - cool})`;
      context.fillRect(x + 2, y + 2, wide - 4, wide - 4);
      context.fillStyle = "rgba(255, 255, 255, 0.16)";
      context.fillRect(x + 2, y + 2, wide - 4, 2);
      context.fillRect(x + 2, y + 2, 2, wide - 4);
      context.fillStyle = "rgba(0, 0, 0, 0.1)";
      context.fillRect(x + 2, y + wide - 4, wide - 4, 2);
      context.fillRect(x + wide - 4, y + 2, 2, wide - 4);
      if (!cracks) continue;
      context.strokeStyle = "rgba(0, 0, 0, 0.28)";
      context.lineWidth = 1.4;
      context.beginPath();
      context.moveTo(x + crack * wide, y + 3);
      context.lineTo(x + (0.3 + 0.4 * crack) * wide, y + 0.5 * wide);
      context.lineTo(x + (1 - crack) * wide, y + wide - 3);
      context.stroke();
    }
  }
  for (let speck = 0; speck < 1_400; speck += 1) {
    context.fillStyle = unit() < 0.5 ? "rgba(255, 255, 255, 0.08)" : "rgba(0, 0, 0, 0.09)";
    context.fillRect(unit() * SLAB_PIXELS, unit() * SLAB_PIXELS, 1 + 3 * unit(), 1 + 3 * unit());
  }
  return textureOf(canvas);
}

function canvasOf(pixels: number): [HTMLCanvasElement, CanvasRenderingContext2D] {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = pixels;
  return [canvas, canvas.getContext("2d") as CanvasRenderingContext2D];
}

function textureOf(canvas: HTMLCanvasElement): THREE.CanvasTexture {
  const texture = new THREE.CanvasTexture(canvas);
  texture.colorSpace = THREE.SRGBColorSpace;
  texture.wrapS = texture.wrapT = THREE.RepeatWrapping;
  texture.anisotropy = 4;
  return texture;
}
